"""Plants holes in a copy of a book: moves that lose 80 to 200 centipawns, with
games that make them look playable. What an audit should find.

    python tests/interop/planted.py BOOK OUT_FOLDER [--holes 50] [--nodes 200000]
        [--seed 1] [--low 80] [--high 200]

BOOK is a .ctg; evaluations beside it (.evals) are copied too. OUT_FOLDER gets
`planted.ctg` (with .cto and .ctb), `planted.evals`, `planted.pgn`, the games that were
added, and `planted.json`, a list of the holes:

    {"fen", "line", "uci", "san", "loss", "best", "best_uci", "value", "games",
     "likelihood"}

`fen` is the position of the move, `best` and `value` are centipawns of the side to
move, `likelihood` is how often the adapter comes to `fen` by its own book for both
sides (share of the walks of this program).

A hole is a legal move that is not in the book and does not lead into it. It is added
by `tabia add` as games through the line that end with the move, with results as those
of the position's other moves: a quarter as many as its most played move has, at least
eight.
"""

import argparse
import json
import random
import shutil
import sys
from pathlib import Path

import chess

from oracle import Oracle
from paths import STOCKFISH
from procs import Client, run_ok

# Positions beyond this value are decided, so a hole there means nothing.
DECIDED = 150
# A mate in centipawns.
MATE = 10_000


class Engine:
    """A UCI engine; every search begins with an empty hash."""

    def __init__(self, command: str):
        self.client = Client([command])
        self.client.handshake()
        self.client.send("setoption name Threads value 1", "setoption name Hash value 16")

    def value(self, board: chess.Board, nodes: int) -> tuple[int, str]:
        """Centipawns of the side to move, and the best move. A bound that
        contradicts the exact score before it counts."""
        self.client.exchange("ucinewgame", "isready", until="readyok")
        answer = self.client.go(f"position fen {board.fen()}", f"go nodes {nodes}", limit=60)
        exact, bound = None, None
        for line in answer.lines:
            words = line.split()
            if words[:1] != ["info"] or "score" not in words or "string" in words:
                continue
            at = words.index("score")
            number = int(words[at + 2])
            value = number if words[at + 1] == "cp" else (MATE if number > 0 else -MATE)
            depth = int(words[words.index("depth") + 1])
            if "upperbound" in words or "lowerbound" in words:
                bound = (value, depth, "upperbound" in words)
            else:
                exact, bound = (value, depth), None
        value = exact[0]
        if bound is not None and bound[1] >= exact[1]:
            value = min(value, bound[0]) if bound[2] else max(value, bound[0])
        return value, answer.move


def walk(book: Oracle, rng: random.Random) -> list[chess.Board]:
    """The positions of a game of the book against itself."""
    board = chess.Board()
    positions = []
    while True:
        moves = [move for move in book.look_up(board)["moves"] if move["probability"] > 0]
        if not moves or board.is_repetition(2):
            return positions
        positions.append(board.copy())
        drawn = rng.choices(moves, [move["probability"] for move in moves])[0]
        board.push_uci(drawn["uci"])


def hole_in(board: chess.Board, book: Oracle, engine: Engine, options, rng: random.Random) -> dict | None:
    """A move that loses as much as requested, confirmed by `options.nodes`."""
    found = book.look_up(board)
    stored = {move["uci"] for move in found["moves"]}
    best, best_uci = engine.value(board, options.nodes)
    if abs(best) > DECIDED:
        return None
    others = [move for move in board.legal_moves if move.uci() not in stored]
    rng.shuffle(others)
    for move in others[:12]:
        after = board.copy()
        after.push(move)
        if after.is_game_over() or book.look_up(after)["in_book"]:
            continue
        margin = 40
        loss = best + engine.value(after, max(options.nodes // 10, 1))[0]
        if not options.low - margin <= loss <= options.high + margin:
            continue
        value = -engine.value(after, options.nodes)[0]
        if options.low <= best - value <= options.high:
            games = max(8, max(move["games"] for move in found["moves"]) // 4)
            return {
                "fen": board.fen(),
                "line": chess.Board().variation_san(board.move_stack),
                "uci": move.uci(),
                "san": board.san(move),
                "loss": best - value,
                "best": best,
                "best_uci": best_uci,
                "value": value,
                "games": games,
            }
    return None


def games_of(hole: dict, found: dict, board: chess.Board) -> str:
    """The games that make a hole look playable, as PGN."""
    sums = [sum(move[name] for move in found["moves"]) for name in ("wins", "draws", "losses")]
    played = max(sum(sums), 1)
    wins, draws = (round(hole["games"] * part / played) for part in sums[:2])
    results = ["win"] * wins + ["draw"] * draws
    results = (results + ["loss"] * hole["games"])[: hole["games"]]
    white = board.turn == chess.WHITE
    text = {"win": "1-0" if white else "0-1", "loss": "0-1" if white else "1-0", "draw": "1/2-1/2"}
    moves = chess.Board().variation_san([*board.move_stack, chess.Move.from_uci(hole["uci"])])
    return "".join(
        f'[Event "planted"]\n[White "A"]\n[Black "B"]\n[Result "{text[result]}"]\n\n{moves} {text[result]}\n\n'
        for result in results
    )


def plant(book_path: Path, out: Path, options) -> list[dict]:
    """Makes the book with holes; returns the holes."""
    out.mkdir(parents=True, exist_ok=True)
    planted = out / "planted.ctg"
    for ending in ("ctg", "cto", "ctb"):
        shutil.copy(book_path.with_suffix("." + ending), planted.with_suffix("." + ending))
    if book_path.with_suffix(".evals").exists():
        shutil.copy(book_path.with_suffix(".evals"), planted.with_suffix(".evals"))
    rng = random.Random(options.seed)
    book, engine = Oracle(book_path), Engine(options.engine)
    walks = [walk(book, rng) for _ in range(400)]
    count: dict[str, int] = {}
    for positions in walks:
        for board in positions:
            count[board.epd()] = count.get(board.epd(), 0) + 1
    candidates = {board.epd(): board for positions in walks for board in positions[6:]}
    # A hole adds at most a quarter of some hundred games.
    boards = [board for board in candidates.values() if 20 <= book.look_up(board)["games"] <= 3000]
    rng.shuffle(boards)
    holes, pgn, used = [], [], set()
    for board in boards:
        if len(holes) >= options.holes:
            break
        # Two holes in one line would change each other's games.
        line = {other.epd() for other in _positions(board)}
        if line & used:
            continue
        hole = hole_in(board, book, engine, options, rng)
        if hole is not None:
            hole["likelihood"] = count[board.epd()] / len(walks)
            used.add(board.epd())
            holes.append(hole)
            pgn.append(games_of(hole, book.look_up(board), board))
            print(f"{len(holes):3} {hole['loss']:4} cp {hole['line']} {hole['san']}", file=sys.stderr)
    engine.client.quit()
    book.close()
    (out / "planted.pgn").write_text("".join(pgn))
    run_ok("add", planted, "--max-ply", 600, out / "planted.pgn", limit=60)
    (out / "planted.json").write_text(json.dumps(holes, indent=1) + "\n")
    return holes


def _positions(board: chess.Board) -> list[chess.Board]:
    """The positions of a board's line, ending with its own."""
    positions = [chess.Board()]
    for move in board.move_stack:
        positions.append(positions[-1].copy(stack=False))
        positions[-1].push(move)
    return positions


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plants moves that lose in a copy of a book.")
    parser.add_argument("book", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--engine", default=STOCKFISH)
    parser.add_argument("--holes", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--low", type=int, default=80)
    parser.add_argument("--high", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


if __name__ == "__main__":
    options = arguments(sys.argv[1:])
    planted = plant(options.book, options.out, options)
    print(f"{len(planted)} holes in {options.out / 'planted.ctg'}")
    sys.exit(0 if len(planted) == options.holes else 1)
