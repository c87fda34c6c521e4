"""Reads a book through `tabia probe`."""

import json
import subprocess
from typing import Iterable

import chess

from paths import TABIA
from procs import TIMEOUT_FACTOR, environment


def board_after(moves: Iterable[str]) -> chess.Board:
    board = chess.Board()
    for uci in moves:
        board.push_uci(uci)
    return board


def canonical(board: chess.Board) -> chess.Board:
    """The form of a position that a ChessBase book stores: White to move, and without
    castling rights the white king on the files e to h."""
    picture = board.copy(stack=False) if board.turn else board.mirror()
    if not picture.clean_castling_rights() and chess.square_file(picture.king(chess.WHITE)) < 4:
        picture = picture.transform(chess.flip_horizontal)
    picture.halfmove_clock, picture.fullmove_number = 0, 1
    return picture


class Oracle:
    """A running `tabia probe BOOK --json -`."""

    def __init__(self, book, *sets: str):
        arguments = [word for one in sets for word in ("--set", one)]
        self.process = subprocess.Popen(
            [TABIA, "probe", str(book), "--json", *arguments, "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
        )

    def look_up(self, board, game: Iterable[chess.Move] = ()) -> dict:
        """What is stored after the moves of a `game` from a position."""
        line = " ".join([board.fen(), "moves", *(move.uci() for move in game)])
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def playable(self, board, game: Iterable[chess.Move] = ()) -> dict[str, float]:
        """The moves that may be played, with their probabilities."""
        return {
            move["uci"]: move["probability"]
            for move in self.look_up(board, game)["moves"]
            if move["probability"] > 0
        }

    def playable_in_game(self, board) -> dict[str, float]:
        """The same for a position of a game: moves into one of its earlier positions are not
        played, and shares are of what is left. So a move of a small share may be played only
        in a game that comes back to a position."""
        return self.playable(board.root(), board.move_stack)

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(5 * TIMEOUT_FACTOR)
