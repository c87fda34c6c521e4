"""Values of positions from short searches of a real engine."""

import json
import statistics

import chess

from paths import ROOT, STARTER, STOCKFISH, folder
from procs import run_ok
from runner import case

# 100 positions of the starter book with their values by Stockfish 15.1 after
# 300,000 nodes (one thread, 16 MB).
KEPT = ROOT / "tests" / "interop" / "data" / "values.epd"


def read(path) -> dict[str, tuple[int, str]]:
    """By position: centipawns of the side to move, and the best move."""
    values = {}
    for line in path.read_text().splitlines():
        board = chess.Board()
        operations = board.set_epd(line)
        best = operations.get("bm", [None])[0]
        values[board.epd()] = (int(operations["ce"]), best)
    return values


def evaluated(where, positions: list[str], nodes: int) -> dict[str, tuple[int, str]]:
    """The results of `tabia evaluate --of` for some positions."""
    ends = [{"fen": f"{position} 0 1"} for position in positions]
    report = where / "named.json"
    report.write_text(json.dumps({"losing": [], "refutations": [], "bad_ends": ends}))
    file = where / f"{nodes}.evals"
    run_ok("evaluate", STARTER, "--of", report, "--nodes", nodes, "-o", file, "--", STOCKFISH, limit=280)
    return read(file)


@case(300)
def short_searches_are_not_too_good_for_the_side_to_move():
    where = folder("values")
    kept = read(KEPT)
    assert len(kept) == 100
    short = evaluated(where, list(kept), 5000)
    errors = [short[position][0] - value for position, (value, _) in kept.items()]
    bias = statistics.mean(errors)

    # The value of a position equals that after its best move.
    after = {}
    for position, (value, best) in short.items():
        board = chess.Board(f"{position} 0 1")
        board.push(best)
        if not board.is_game_over():
            after[board.epd()] = value
    children = evaluated(where, list(after), 5000)
    gap = statistics.mean(value + children[position][0] for position, value in after.items())
    text = f"bias {bias:+.1f} cp, {gap:+.1f} cp more than after the best move"
    assert abs(bias) <= 6 and gap < 12, text
    return text
