"""TABIA_TEST_BOOKS names the folder of the books: tabia.ctg, tabia.bin (the same,
converted) and any others."""

import os
import pathlib
import shutil

import pytest

FOLDER = pathlib.Path(os.environ["TABIA_TEST_BOOKS"])


def bins():
    return sorted(FOLDER.glob("*.bin"))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test runs in a folder of its own, with the book beside it."""
    for name in ("tabia.ctg", "tabia.cto", "tabia.ctb"):
        shutil.copy(FOLDER / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def walk(reader, count, rng):
    """Positions on lines of a book, and one after the end of each."""
    import chess

    boards = []
    while len(boards) < count:
        board = chess.Board()
        while len(boards) < count:
            boards.append(board.copy(stack=False))
            entry = reader.get(board)
            if entry is None or board.ply() > 60:
                break
            board.push(reader.choice(board, random=rng).move)
    return boards
