"""How fastchess 1.8.2 and cutechess-cli 1.5.1 read opening files and assign
openings, by their measured behaviour: neither program is available here."""

import io
import random
import re

import chess
import chess.pgn

MANAGERS = ("fastchess", "cutechess-cli")


class Aborts(Exception):
    """The whole match ends before its first game."""


def _position(line: str, manager: str) -> chess.Board:
    """The position of a line; ValueError if it contains none."""
    words = line.split()
    fields, rest = words[:4], " ".join(words[4:])
    # Both drop an en passant square without a legal capture.
    board = chess.Board(" ".join([*fields, "0", "1"]))
    if not board.is_valid():
        raise ValueError(line)
    operations = dict(re.findall(r"\b(hmvc|fmvn) (\d+);", rest))
    counters = re.fullmatch(r"(\d+) (\d+)", rest)
    if counters and manager == "fastchess":
        board.halfmove_clock, board.fullmove_number = map(int, counters.groups())
    elif operations and not re.match(r"\d", rest):
        board.halfmove_clock = int(operations.get("hmvc", 0))
        board.fullmove_number = int(operations.get("fmvn", 1))
    return board


def _read_epd(data: bytes, manager: str) -> list[chess.Board]:
    text = data.decode()
    if text.startswith("\ufeff"):
        if manager == "fastchess":
            raise Aborts("byte order mark")
        text = text[1:]
    boards = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip():
            continue
        try:
            boards.append(_position(line, manager))
        except (ValueError, IndexError):
            if manager == "fastchess":
                raise Aborts(f"invalid FEN or EPD: {line}") from None
            boards.append(chess.Board())
    return boards


def _read_pgn(data: bytes, plies: int) -> list[chess.Board]:
    """The games with their moves, limited to this many plies."""
    boards = []
    text = io.StringIO(data.decode())
    while game := chess.pgn.read_game(text):
        board = game.board()
        for move in list(game.mainline_moves())[:plies]:
            board.push(move)
        boards.append(board)
    return boards


def openings(data: bytes, manager: str, form: str, seed: int, plies: int = 1024) -> list[chess.Board]:
    """`-openings file=... format=FORM order=random plies=PLIES -srand SEED`. The
    order differs from theirs, but is as reproducible."""
    boards = _read_pgn(data, plies) if form == "pgn" else _read_epd(data, manager)
    random.Random(seed).shuffle(boards)
    return boards


def pairs(boards: list[chess.Board], rounds: int):
    """`-games 2 -repeat -rounds ROUNDS`: (board, whether the first has White).
    Starts again after the last board."""
    for number in range(rounds):
        for first_is_white in (True, False):
            yield boards[number % len(boards)].copy(), first_is_white
