"""python-chess as the GUI: engines, and whole games between them."""

import contextlib
import logging
import os
import random
import signal
import time
from typing import Iterable, Optional

import chess
import chess.engine

from oracle import Oracle
from paths import STOCKFISH, TABIA
from procs import TIMEOUT_FACTOR, children, environment


def adapter(*arguments: str, engine: Iterable[str] = (STOCKFISH,)) -> list[str]:
    return [TABIA, *map(str, arguments), "--", *engine]


# Errors of python-chess are exceptions here.
logging.getLogger("chess.engine").setLevel(logging.CRITICAL)

BUILT_IN = [TABIA, "engine"]


@contextlib.contextmanager
def open_engine(command: Iterable[str]):
    """An engine under python-chess; must end with code 0 unless it was killed."""
    engine = chess.engine.SimpleEngine.popen_uci(list(command), timeout=10 * TIMEOUT_FACTOR, env=environment())
    try:
        yield engine
        engine.quit()
        code = engine.transport.get_returncode()
        assert code == 0, f"exit code {code}"
    finally:
        engine.close()


def pid_of(engine: chess.engine.SimpleEngine) -> int:
    return engine.transport.get_pid()


def kill_child_of(engine: chess.engine.SimpleEngine) -> int:
    """Kills the engine behind the adapter."""
    (child,) = children(pid_of(engine))
    os.kill(child, signal.SIGKILL)
    return child


def from_book(result: chess.engine.PlayResult) -> bool:
    return str(result.info.get("string", "")).startswith("book ")


class Report:
    def __init__(self) -> None:
        self.games = self.plies = self.book_moves = 0
        self.results: list[str] = []

    def __str__(self) -> str:
        return f"{self.games} games, {self.plies} plies, {self.book_moves} from the book: {' '.join(self.results)}"


def play_game(
    report: Report,
    white: chess.engine.SimpleEngine,
    black: chess.engine.SimpleEngine,
    books: dict[bool, Optional[Oracle]],
    *,
    board: Optional[chess.Board] = None,
    clock: Optional[tuple[float, float]] = None,
    move_time: float = 0.03,
    plies: int = 90,
    ponder: bool = True,
) -> chess.Board:
    """Plays a game. `books` has the book that answers for each colour; every
    move must come from it as long as it has one, and be legal
    (python-chess refuses others). Book moves of the GUI's side
    are compared with `probe`."""
    board = board or chess.Board()
    game = object()
    left = {chess.WHITE: clock[0], chess.BLACK: clock[0]} if clock else {}
    start = len(board.move_stack)
    while not board.is_game_over(claim_draw=True) and len(board.move_stack) - start < plies:
        turn = board.turn
        engine = white if turn == chess.WHITE else black
        if clock:
            limit = chess.engine.Limit(
                white_clock=left[chess.WHITE],
                black_clock=left[chess.BLACK],
                white_inc=clock[1],
                black_inc=clock[1],
            )
        else:
            limit = chess.engine.Limit(time=move_time)
        begun = time.monotonic()
        result = engine.play(board, limit, game=game, ponder=ponder, info=chess.engine.INFO_ALL)
        if clock:
            left[turn] = max(0.05, left[turn] - (time.monotonic() - begun)) + clock[1]
        assert result.move in board.legal_moves, (result.move, board.fen())
        oracle = books[turn]
        if oracle:
            playable = {board.parse_uci(uci) for uci in oracle.playable_in_game(board)}
            for move in playable:
                board.push(move)
                assert not board.is_repetition(2), f"repeats a position: {board.fen()} {move}"
                board.pop()
            if playable:
                assert from_book(result), f"not from the book: {board.fen()} {result.info}"
                assert result.move in playable, (result.move, playable, board.move_stack)
                report.book_moves += 1
            else:
                assert not from_book(result), f"from no book: {board.fen()} {result.info}"
        board.push(result.move)
        report.plies += 1
    report.games += 1
    outcome = board.outcome(claim_draw=True)
    report.results.append(outcome.result() if outcome else "*")
    return board


def chess960_board(number: int) -> chess.Board:
    return chess.Board.from_chess960_pos(number)


def random_line(plies: int, seed: int) -> chess.Board:
    """A game of random moves, which soon leaves every book."""
    rng = random.Random(seed)
    board = chess.Board()
    while len(board.move_stack) < plies and not board.is_game_over():
        board.push(rng.choice(list(board.legal_moves)))
    return board
