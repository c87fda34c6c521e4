"""`tabia probe` and `tabia info`, and what they promise about play."""

import json
import math

import chess

from oracle import Oracle, board_after
from places import SIMPLE, STARTER, TABIA
from procs import PATIENCE, Client, greeted, run
from runner import case

# The four positions of the genuine book: moves to reach them, games, moves.
SIMPLE_POSITIONS = [
    ("", 2, {"e2e4": 1, "d2d4": 1}),
    ("e2e4", 1, {}),
    ("d2d4", 1, {"d7d5": 1}),
    ("d2d4 d7d5", 1, {}),
]


@case(needs_shared=True)
def probe_shows_the_genuine_book_as_it_is():
    for moves, games, stored in SIMPLE_POSITIONS:
        done = run("probe", SIMPLE, "--moves", moves, "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["in_book"] is True
        assert found["games"] == games, found
        assert (found["wins"], found["draws"], found["losses"]) == (0, 0, 0)
        assert found["commentary"] == 0
        assert {move["uci"]: move["games"] for move in found["moves"]} == stored
        for move in found["moves"]:
            for number in ("wins", "draws", "losses", "recommendation", "factor", "commentary"):
                assert move[number] == 0, move
            assert (move["mark"], move["annotation"]) == ("none", "")
            assert move["average_elo"] is None and move["performance"] is None
            assert move["transposition"] is False
            assert math.isclose(move["probability"], 1 / len(stored))
        text = run("probe", SIMPLE, "--moves", moves)
        assert text.returncode == 0
        board = board_after(moves.split())
        for move in stored:
            assert board.san(chess.Move.from_uci(move)) in text.stdout
        assert f"{games} game" in text.stdout, text.stdout


@case(needs_shared=True)
def info_counts_the_genuine_book():
    found = json.loads(run("info", SIMPLE, "--json").stdout)
    expected = dict(games=1, positions=4, moves=3, pages=1, bytes=8192, lower_bound=0, upper_bound=0, slots=1)
    for key, value in expected.items():
        assert found[key] == value, (key, found)
    assert found["largest_page_bytes"] == 234, found


@case(needs_shared=True)
def probe_answers_several_fens_one_line_each():
    board = chess.Board()
    fens = [board.fen()]
    for move in ("d2d4", "d7d5", "g1f3"):
        board.push_uci(move)
        fens.append(board.fen())
    four_fields = " ".join(fens[0].split()[:4])
    given = "\n".join(fens + [four_fields]) + "\n"
    done = run("probe", SIMPLE, "--json", "-", given=given)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["in_book"] for answer in answers] == [True, True, True, False, True]
    assert done.returncode == 1, "one of them is not in the book"
    text = run("probe", SIMPLE, "-", given=given)
    assert len(text.stdout.splitlines()) == 5, text.stdout
    crlf = run("probe", SIMPLE, "--json", "-", given=fens[0] + "\r\n" + fens[1])
    assert crlf.returncode == 0 and len(crlf.stdout.splitlines()) == 2


@case()
def exit_codes_are_0_1_2():
    assert run("probe", STARTER).returncode == 0
    assert run("probe", STARTER, "--moves", "a2a4 h7h5 a1a3").returncode == 1
    for wrong in (
        ["probe", "/nowhere/book.ctg"],
        ["probe", STARTER, "no fen at all"],
        ["probe", STARTER, "--moves", "e2e5"],
        ["probe", STARTER, "--set", "No Such=1"],
        ["probe"],
        ["no-such-command"],
        ["--no-such-flag"],
        ["info", "/nowhere/book.ctg"],
        ["--config", "/nowhere/engines.toml"],
        ["--set", "Book Variety=abc"],
        ["--engine", "nobody"],
    ):
        done = run(*wrong)
        assert done.returncode == 2, (wrong, done.returncode, done.stderr)
        assert done.stdout == "", (wrong, done.stdout)
        assert done.stderr.strip(), wrong
    for right in (["--help"], ["--version"], ["probe", "--help"], ["play", "--help"], ["check-engine", "--help"]):
        done = run(*right)
        assert done.returncode == 0 and done.stdout, right


def _chi_square_limit(freedom: int) -> float:
    """What chi-square exceeds once in 10,000 (Wilson and Hilferty)."""
    part = 2 / (9 * freedom)
    return freedom * (1 - part + 3.719 * math.sqrt(part)) ** 3


def _draw(book, variety: int, seed: int, count: int) -> list[str]:
    client = greeted(
        "--book", book, "--set", f"Book Variety={variety}", "--set", f"Book Seed={seed}", "--set", "Book Info=none"
    )
    moves = []
    for _ in range(count // 100):
        # A seed draws by game and position.
        client.send(*["ucinewgame", "position startpos", "go wtime 60000 btime 60000"] * 100)
        for _ in range(100):
            moves.append(client.until("bestmove")[-1].split()[1])
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
def the_genuine_book_is_played_half_and_half():
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
def a_closed_output_pipe_is_a_quiet_0():
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
    code = client.process.wait(5 * PATIENCE)
    assert code == 0, code
    assert client.stderr() == "", client.stderr()
