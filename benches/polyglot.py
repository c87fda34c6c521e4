#!/usr/bin/env python3
"""Look-ups a second: python-chess's Polyglot reader and ours on one book.

    benches/polyglot.py BOOK.bin [BOOK.ctg]

Needs the package and python-chess. Positions are those of random lines of the
.bin, each with the position after its end; the best of five rounds counts.
"""

import random
import sys
import time

import chess
import chess.polyglot

import tabia


def positions(reader, count):
    rng = random.Random(1)
    boards = []
    while len(boards) < count:
        board = chess.Board()
        while len(boards) < count:
            boards.append(board.copy(stack=False))
            if reader.get(board) is None or board.ply() > 100:
                break
            board.push(reader.choice(board, random=rng).move)
    return boards


def rate(ask, boards):
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for board in boards:
            ask(board)
        best = min(best, time.perf_counter() - start)
    return len(boards) / best


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    theirs = chess.polyglot.open_reader(sys.argv[1])
    boards = positions(theirs, 5000)
    ours = tabia.open_book(sys.argv[1])
    print(f"{'':14}{'python-chess':>14}{'tabia':>14}{'ratio':>8}")
    for name, ask in [
        ("find_all", lambda book: lambda board: list(book.find_all(board))),
        ("get", lambda book: book.get),
    ]:
        old, new = rate(ask(theirs), boards), rate(ask(ours), boards)
        print(f"{name:14}{old:14,.0f}{new:14,.0f}{new / old:8.1f}")
    for path in sys.argv[2:]:
        book = tabia.open_book(path)
        print(f"{path}: get {rate(book.get, boards):,.0f}")


if __name__ == "__main__":
    main()
