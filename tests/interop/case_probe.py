"""`tabia probe` and `tabia info` agree with the moves that are played."""

import math

import chess

from oracle import Oracle
from paths import SIMPLE, STARTER, TABIA
from procs import TIMEOUT_FACTOR, Client, ready_tabia
from runner import case


def _chi_square_limit(freedom: int) -> float:
    """The value that chi-square exceeds once in 10,000 times (Wilson and Hilferty)."""
    part = 2 / (9 * freedom)
    return freedom * (1 - part + 3.719 * math.sqrt(part)) ** 3


def _draw(book, variety: int, seed: int, count: int) -> list[str]:
    client = ready_tabia(
        "--book", book, "--set", f"Book Variety={variety}", "--set", f"Book Seed={seed}", "--set", "Book Info=none"
    )
    moves = []
    for _ in range(count // 100):
        # With a seed, game and position decide the random move.
        client.send(*["ucinewgame", "position startpos", "go wtime 60000 btime 60000"] * 100)
        for _ in range(100):
            moves.append(client.expect("bestmove")[-1].split()[1])
    client.quit()
    return moves


def _moves_come_as_often_as_probe_says(variety: int) -> str:
    with Oracle(STARTER, f"Book Variety={variety}") as oracle:
        expected = oracle.playable(chess.Board())
    assert len(expected) > 3 and math.isclose(sum(expected.values()), 1, abs_tol=1e-9), expected
    moves = _draw(STARTER, variety, 20260101, 2000)
    assert set(moves) <= set(expected), set(moves) - set(expected)
    chi = sum((moves.count(uci) - 2000 * p) ** 2 / (2000 * p) for uci, p in expected.items())
    limit = _chi_square_limit(len(expected) - 1)
    assert chi < limit, f"chi-square {chi:.1f} of {len(expected)} moves, at most {limit:.1f}"
    assert _draw(STARTER, variety, 20260101, 200) == moves[:200], "the same seed, other moves"
    assert _draw(STARTER, variety, 20260102, 200) != moves[:200], "another seed, the same moves"
    return f"chi-square {chi:.1f} of {len(expected)} moves (limit {limit:.1f})"


@case(30)
def moves_at_variety_50_come_as_often_as_probe_says():
    return _moves_come_as_often_as_probe_says(50)


@case(30)
def moves_at_variety_100_come_as_often_as_probe_says():
    return _moves_come_as_often_as_probe_says(100)


@case(30, needs_shared=True)
def the_two_moves_of_the_genuine_book_are_played_equally_often():
    moves = _draw(SIMPLE, 50, 3, 2000)
    assert set(moves) == {"e2e4", "d2d4"}
    share = moves.count("e2e4") / 2000
    # Four standard deviations.
    assert abs(share - 0.5) < 4 * math.sqrt(0.25 / 2000), share
    return f"1.e4 in {100 * share:.1f}%"


@case()
def variety_0_plays_the_heaviest_move_only():
    with Oracle(STARTER, "Book Variety=0") as oracle:
        best = oracle.playable(chess.Board())
    assert list(best.values()) == [1.0], best
    assert set(_draw(STARTER, 0, 0, 200)) == set(best)


@case()
def a_closed_output_pipe_ends_with_code_0_and_no_message():
    client = Client([TABIA, "probe", str(STARTER), "--json", "-"])
    fen = chess.Board().fen()
    client.send(fen)
    client.next()
    client.process.stdout.close()
    try:
        for _ in range(200):
            client.send(fen)
    except BrokenPipeError:
        pass
    client.process.stdin.close()
    code = client.process.wait(5 * TIMEOUT_FACTOR)
    assert code == 0, code
    assert client.stderr() == "", client.stderr()
