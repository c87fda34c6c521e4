"""An opening explorer computed with python-chess, to compare with Tabia's.

It follows the published description, not any program: a position counts
once per game, with the last move played there; the first fifty plies.
"""

import collections
import io
from dataclasses import dataclass, field
from typing import Iterable, Iterator, Optional

import chess
import chess.pgn

GROUPS = (0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500)
PLIES = 50


@dataclass
class Game:
    number: int
    winner: Optional[str]
    elo: dict
    names: dict
    year: int
    month: int
    day: int
    speed: Optional[str]
    site: str
    moves: dict = field(default_factory=dict)
    # All positions, the last one too.
    reached: list = field(default_factory=list)

    @property
    def group(self) -> Optional[int]:
        if not (self.elo["white"] and self.elo["black"]):
            return None
        mean = (self.elo["white"] + self.elo["black"]) // 2
        return max(group for group in GROUPS if group <= mean)


def speed_of(control: str) -> Optional[str]:
    if control == "-":
        return "correspondence"
    base, plus, increment = control.partition("+")
    if not (plus and base.isdigit() and increment.isdigit()):
        return None
    seconds = int(base) + 40 * int(increment)
    for name, bound in (("ultraBullet", 30), ("bullet", 180), ("blitz", 480), ("rapid", 1500), ("classical", 21600)):
        if seconds < bound:
            return name
    return "correspondence"


def key(board: chess.Board) -> tuple:
    """Identifies a position; much faster than an EPD."""
    legal = board.ep_square if board.ep_square is not None and board.has_legal_en_passant() else None
    pieces = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    return (*pieces, board.occupied_co[chess.WHITE], board.turn, board.clean_castling_rights(), legal)


def read(text: str) -> Iterator[Game]:
    """The games with a result, numbered in their order."""
    stream = io.StringIO(text)
    number = 0
    while (game := chess.pgn.read_game(stream)) is not None:
        head = game.headers
        results = {"1-0": "white", "0-1": "black", "1/2-1/2": None}
        if head.get("Result") not in results or game.errors:
            continue
        rating = lambda name: int(head[name]) if head.get(name, "").isdigit() else 0
        parts = (head.get("Date", "") + "...").split(".")[:3]
        year, month, day = (int(part) if part.isdigit() else 0 for part in parts)
        one = Game(
            number,
            results[head["Result"]],
            {"white": rating("WhiteElo"), "black": rating("BlackElo")},
            {"white": head.get("White", ""), "black": head.get("Black", "")},
            year,
            month if year else 0,
            day if year and month else 0,
            speed_of(head["TimeControl"]) if "TimeControl" in head else None,
            head.get("Site", ""),
        )
        board = game.board()
        for move in list(game.mainline_moves())[:PLIES]:
            chess960 = move
            uci = move.uci()
            if board.is_castling(move):
                rank = uci[1]
                uci = uci[:2] + ("h" if move.to_square > move.from_square else "a") + rank
            one.moves[key(board)] = uci
            one.reached.append(key(board))
            board.push(chess960)
        one.reached.append(key(board))
        number += 1
        yield one


class Explorer:
    """The statistics of positions in the games."""

    def __init__(self, games: Iterable[Game]):
        self.games = list(games)
        self.by_position = collections.defaultdict(list)
        for game in self.games:
            for position in game.moves:
                self.by_position[position].append(game)

    def answer(self, board: chess.Board, wanted=lambda game: True) -> dict:
        here = key(board)
        games = [game for game in self.by_position.get(here, []) if wanted(game)]
        turn = "white" if board.turn else "black"
        moves = collections.defaultdict(list)
        for game in games:
            moves[game.moves[here]].append(game)
        return {
            **self._results(games),
            "moves": {
                uci: {**self._results(own), "averageRating": self._mean(own, turn), "games": own}
                for uci, own in moves.items()
            },
            "games": games,
        }

    @staticmethod
    def _results(games: list) -> dict:
        count = collections.Counter(game.winner for game in games)
        return {"white": count["white"], "draws": count[None], "black": count["black"]}

    @staticmethod
    def _mean(games: list, side: str) -> int:
        known = [game.elo[side] for game in games if game.elo[side]]
        return (2 * sum(known) + len(known)) // (2 * len(known)) if known else 0
