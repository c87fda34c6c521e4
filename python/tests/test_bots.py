"""Books in two bots: their sequences of calls, with the import changed."""

import random
import struct
import time

import chess
import pytest

import tabia.polyglot
from conftest import FOLDER, bins

BOOKS = pytest.mark.parametrize(
    "path",
    [*bins()[:1], FOLDER / "tabia.ctg", *sorted(FOLDER.glob("*.abk"))[:1]],
    ids=lambda path: path.name,
)


@pytest.fixture(autouse=True)
def always_the_same():
    random.seed(4)


def lichess_bot_move(board, book, selection, min_weight, normalization):
    """As lichess-bot's get_book_move: opens the book for every move."""
    with tabia.polyglot.open_reader(book) as reader:
        try:
            weights = [entry.weight for entry in reader.find_all(board)]
            scalar = {"none": 100, "sum": sum(weights), "max": max(weights, default=0)}
            least = min_weight * scalar[normalization] / 100
            if selection == "weighted_random":
                return reader.weighted_choice(board).move
            if selection == "uniform_random":
                return reader.choice(board, minimum_weight=least).move
            return reader.find(board, minimum_weight=least).move
        except IndexError:
            return None


@BOOKS
@pytest.mark.parametrize("selection", ["weighted_random", "uniform_random", "best_move"])
@pytest.mark.parametrize("normalization", ["none", "sum", "max"])
def test_lichess_bot(path, selection, normalization):
    board = chess.Board()
    for _ in range(6):
        move = lichess_bot_move(board, str(path), selection, 1, normalization)
        if move is None:
            break
        board.push(move)
    assert board.ply() > 0
    nowhere = chess.Board("8/8/8/8/8/4k3/8/4K3 w - - 0 1")
    assert lichess_bot_move(nowhere, str(path), selection, 1, normalization) is None


@BOOKS
@pytest.mark.parametrize("selection", ["weighted_random", "uniform_random", "best_move"])
def test_botli(path, selection):
    readers: dict[str, tabia.polyglot.MemoryMappedReader] = {}
    readers["book"] = tabia.polyglot.open_reader(str(path))
    board = chess.Board()
    for _ in range(4):
        for reader in readers.values():
            try:
                entries = list(reader.find_all(board))
            except struct.error:
                continue
            if selection == "weighted_random":
                entries.sort(key=lambda entry: random.random() ** (1 / entry.weight), reverse=True)
            elif selection == "uniform_random":
                random.shuffle(entries)
            else:
                entries.sort(key=lambda entry: entry.weight, reverse=True)
            if not entries:
                assert board.ply() > 0
                return
            entry = entries[0]
            performance, wins, draws = (
                entry.learn >> 20,
                (entry.learn >> 10 & 1023) / 10.2,
                (entry.learn & 1023) / 10.2,
            )
            if not str(path).endswith(".bin"):
                assert 0 <= wins + draws <= 100.2 and performance < 4096
            board.push(entry.move)
    assert board.ply() == 4


@BOOKS
def test_installed_under_the_other_name(path, monkeypatch):
    import chess.polyglot

    monkeypatch.setattr(chess.polyglot, "open_reader", chess.polyglot.open_reader)
    tabia.polyglot.install()
    with chess.polyglot.open_reader(str(path)) as reader:
        assert reader.weighted_choice(chess.Board()).weight > 0


@pytest.mark.parametrize("path", [bins()[0], FOLDER / "tabia.ctg"], ids=lambda path: path.name)
def test_opening_costs_little(path):
    # The processor time of this process, which other programs do not affect.
    start = time.process_time()
    for _ in range(1000):
        tabia.polyglot.open_reader(path).close()
    # lichess-bot opens the book for every move; usually it takes a tenth of this.
    assert time.process_time() - start < 5
