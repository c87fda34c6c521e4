"""Books that Stockfish evaluates and extends."""

import json
import subprocess
import zlib

import chess

from paths import SHARED, STOCKFISH, folder
from procs import run, run_ok
from runner import case

GAME = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n'


def _moves(path, *moves: str) -> dict[str, dict]:
    done = run("probe", path, "--json", "--moves", " ".join(moves), "--set", "Book Minimum Games=0")
    assert done.returncode in (0, 1), done.stderr
    return {move["uci"]: move for move in json.loads(done.stdout)["moves"]}


@case(300)
def a_book_grows_by_good_moves_and_continues_after_an_interruption():
    where = folder("grow")
    (where / "games.pgn").write_text(GAME)
    book, grown = where / "small.ctg", where / "grown.ctg"
    assert run("build", "-o", book, where / "games.pgn").returncode == 0
    arguments = ("--positions", 60, "--nodes", 2000, "--jobs", 2, "--", STOCKFISH)
    done = run_ok("grow", book, "-o", grown, *arguments, limit=250)
    assert "60 positions more" in done.stderr, done.stderr
    assert run("verify", grown).returncode == 0

    # Every new move is legal, and the position after it has a value.
    first = _moves(grown)
    assert "e2e4" in first and len(first) > 1, first
    assert all(move["evaluation"] is not None for move in first.values()), first
    board = chess.Board()
    assert all(chess.Move.from_uci(uci) in board.legal_moves for uci in first)
    # The fool's mate is not in the book of a good player.
    assert "g2g4" not in first and "f2f3" not in first, first

    # With the stored evaluations it needs no further search.
    again = run("grow", book, "-o", grown, "--force", *arguments, limit=250)
    assert again.returncode == 0 and " 0 searches" in again.stderr, again.stderr
    assert grown.read_bytes() == grown.with_suffix(".ctg.bak").read_bytes()
    return done.stderr.strip()


def _halves(where) -> list:
    """Makes two books, each from half of some 20,000 games. The moves decide the half, so
    a game that was recorded twice is in one of them only."""
    games = SHARED / "data" / "pgn" / "gnuchess_book_1.02.pgn.zst"
    text = subprocess.run(["zstd", "-dc", "--long=27", games], check=True, capture_output=True)
    halves: list[list[bytes]] = [[], []]
    for n, game in enumerate(text.stdout.replace(b"\r", b"").split(b"\n[Event ")):
        moves = game.split(b"\n\n", 1)[-1].split()
        tag = b"[Event " if n else b""
        number = zlib.crc32(b" ".join(moves))
        if number % 7 == 0:
            halves[number >> 7 & 1].append(tag + game)
    books = []
    for n, half in enumerate(halves):
        (where / f"{n}.pgn").write_bytes(b"\n\n".join(half))
        books.append(where / f"{n}.ctg")
        run_ok("build", "-o", books[-1], where / f"{n}.pgn", "--max-ply", 60, limit=300)
    return books


@case(1800, needs_shared=True)
def a_repertoire_is_measured_by_games_that_did_not_choose_it():
    """The prediction has an error of its own, about as large as that of the measurement."""
    books = _halves(folder("promise"))
    rows, differences = [], []
    for chosen, others in (books, books[::-1]):
        for colour in ("white", "black"):
            options = ("--colour", colour, "--measure", others, "--json")
            found = json.loads(run_ok("repertoire", chosen, *options, limit=400).stdout)
            promised, measured = found["expectation"], found["measured"]
            rows.append(
                f"{colour}: promised {100 * promised:.1f}, measured "
                f"{100 * measured['brings']:.1f} +-{100 * measured['error']:.1f}, "
                f"all games {100 * measured['all']:.1f}"
            )
            differences.append(promised - measured["brings"])
            assert abs(differences[-1]) < 1.5 * measured["error"], rows
    assert abs(sum(differences) / len(differences)) < 0.025, rows
    return "\n".join(rows)
