"""A reader written only from docs/ctg.md agrees with Tabia, so the page is complete."""

import csv
import json
import tempfile
from pathlib import Path

import ctg_reader
from paths import ROOT, STARTER
from procs import run_ok
from runner import case


@case(limit=120)
def a_reader_written_from_the_page_agrees_over_the_whole_starter_book():
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "book.jsonl"
        run_ok("convert", STARTER, text, limit=60)
        first, *ours = map(json.loads, text.read_text().splitlines())
    book = ctg_reader.Book(STARTER)
    entries = list(book.entries())
    assert first["games"] == book.games
    assert len(ours) == len(entries) > 30_000
    for mine, entry in zip(ours, entries):
        shown = ctg_reader.shown(entry)
        assert shown == mine, (shown, mine)
        board = ctg_reader.Board.of_fen(shown["fen"])
        assert board.key() == entry.key, shown["fen"]
    for entry in entries[::7]:
        assert book.find(entry.key) == entry, entry.key.hex()
    return f"{len(entries)} positions the same, {len(entries[::7])} found by the index"


@case()
def the_page_gives_every_key_and_hash_of_the_vectors():
    with open(ROOT / "crates/book/tests/data/ctg/vectors.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    # The reader knows no rules of chess: the caller must not pass an en passant
    # square without a legal capture.
    rows = [row for row in rows if "not capturable" not in row["note"] and "illegal" not in row["note"]]
    assert len(rows) > 35
    for row in rows:
        key = ctg_reader.Board.of_fen(row["fen"]).key()
        assert (key.hex(), f"{ctg_reader.hash_of(key):08x}") == (row["encoded"], row["hash"]), row
