"""Long matches with clocks, engines killed on the way: nothing may cost a game."""

import subprocess

from places import TABIA, TARGET
from procs import environment, wait_gone
from runner import case

DRIVER = str(TARGET / "release" / "examples" / "match_games")
FAULTS = ("losses on time", "illegal moves", "protocol faults", "grown")


def _match(*options: str, limit: float) -> str:
    done = subprocess.run(
        [DRIVER, TABIA, *options], capture_output=True, text=True, env=environment(), timeout=limit
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for fault in FAULTS:
        assert f"{fault}: 0\n" in done.stdout, done.stdout
    assert "panicked" not in done.stderr, done.stderr
    wait_gone(1)
    return done.stdout


@case(600)
def five_hundred_games_with_an_engine_killed_in_every_fifth():
    return _match("games=500", "at-once=2", "time=200", "increment=10", "kill-every=5", limit=590)


@case(300)
def games_of_the_built_in_engine_with_kills():
    return _match("games=16", "builtin=1", "time=2000", "increment=100", "kill-every=3", "seed=9", limit=290)
