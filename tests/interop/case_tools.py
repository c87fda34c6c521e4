"""`tabia check-engine` on real engines, and Polyglot on either side."""

from paths import OUT_OF_BOOK, POLYGLOT, STOCKFISH, TABIA
from procs import Client, run, tabia
from runner import case


def _check(*command: str) -> str:
    # Its limits are real time: a busy machine may exceed them once or twice.
    for _ in range(12):
        done = run("check-engine", "--", *command, limit=55)
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stdout
    assert "FAIL" not in done.stdout, done.stdout
    return done.stdout.strip().splitlines()[-1]


@case(60)
def stockfish_passes_check_engine():
    return _check(STOCKFISH)


@case(60)
def the_built_in_engine_passes_check_engine():
    return _check(TABIA, "engine")


@case(60)
def the_adapter_passes_check_engine():
    return _check(TABIA, "--", STOCKFISH)


@case(60)
def the_adapter_with_the_built_in_engine_passes_check_engine():
    return _check(TABIA, "--", TABIA, "engine")


@case(10)
def the_adapter_is_not_the_engine_of_the_adapter():
    done = run("play", "--", TABIA, "--", STOCKFISH)
    assert done.returncode == 2, done.returncode
    assert done.stderr.count("cannot be its own engine") == 1, done.stderr


@case()
def check_engine_fails_for_a_program_that_is_no_engine():
    done = run("check-engine", "--", "/bin/true")
    assert done.returncode == 1, done.returncode
    assert "FAIL" in done.stdout
    assert run("check-engine", "--", "/nowhere/fish").returncode == 1


@case()
def polyglot_works_as_the_engine_of_the_adapter():
    client = tabia(engine=[POLYGLOT, "-noini", "-ec", STOCKFISH])
    hello = client.handshake()
    assert any("Stockfish" in line for line in hello), hello
    assert client.go("position startpos").from_book
    out = client.go(OUT_OF_BOOK)
    assert not out.from_book
    client.ready()


@case()
def the_adapter_works_as_the_engine_of_polyglot():
    client = Client([POLYGLOT, "-noini", "-ec", f"{TABIA} -- {STOCKFISH}"])
    hello = client.handshake()
    assert any("Book Variety" in line for line in hello), hello
    client.ready()
    assert client.go("position startpos", "go movetime 50").from_book
    out = client.go(OUT_OF_BOOK, "go movetime 50")
    assert not out.from_book


@case(30)
def the_adapter_plays_in_xboard_through_polyglot():
    """XBoard's side of a game, with Polyglot translating."""
    client = Client([POLYGLOT, "-noini", "-ec", f"{TABIA} -- {STOCKFISH}"])
    client.send("xboard", "protover 2")
    client.expect(lambda line: line.startswith("feature") and "done=1" in line)
    client.send("new", "level 40 0:10 0", "post", "easy", "e2e4")
    got = client.expect("move")
    move = got[-1].split()[1]
    client.send("force", "quit")
    client.end(limit=5)
    return f"1.e4 {move}"
