"""A program that `mypy --strict` accepts; it is checked and not run."""

import chess
import tabia

policy = tabia.Policy(variety=15, tournament=False, judgement="both")
share: int = policy.minimum_share
judges: bool = policy.judgement != "results"

with tabia.open_book("book.ctg", variety=15, judgement="evaluations") as book:
    entry: tabia.Entry = book.find(chess.Board(), policy=policy)
    move: chess.Move = entry.move
    likely: float = entry.probability or 0.0
    is_main: bool = entry.mark == "main"
    best = book.get(chess.Board())
    if best is not None:
        chess.Board().push(best.move)

    fens: list[str] = list(book.positions())

problems: int = tabia.verify("book.ctg")["problem_count"]
changes: int = tabia.mark("book.ctg", "e4", mark="main")["changes"]
tabia.build("games.pgn", "book.bin", uniform=True)
version: str = tabia.__version__
