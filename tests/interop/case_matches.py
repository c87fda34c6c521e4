"""Long matches with clocks, engines killed on the way: nothing may cost a game."""

import re
import subprocess

from places import TABIA, TARGET
from procs import PATIENCE, environment, wait_gone
from runner import case

DRIVER = str(TARGET / "release" / "examples" / "match_games")
FAULTS = ("losses on time", "illegal moves", "protocol faults", "grown")


def _run(*options: str, limit: float) -> tuple[dict[str, int], str]:
    """A match: the counts of what was wrong, and the report."""
    done = subprocess.run(
        [DRIVER, TABIA, *options], capture_output=True, text=True, env=environment(), timeout=limit * PATIENCE
    )
    assert "panicked" not in done.stderr, done.stderr
    counts = {fault: int(re.search(f"^{fault}: (\\d+)$", done.stdout, re.M)[1]) for fault in FAULTS}
    return counts, done.stdout


def _match(*options: str, limit: float) -> str:
    reports = []
    # A busy machine may cost a game at such clocks; we would cost one each time.
    for _ in range(6):
        counts, report = _run(*options, limit=limit)
        reports.append(report)
        wait_gone(1)
        late = counts.pop("losses on time")
        assert not any(counts.values()), report
        if not late:
            return report
        if "builtin=1" not in options:
            # The engines alone tell, too: no adapter, no book, nobody killed,
            # and half as many processes that may have to wait for their turn.
            alone, control = _run("direct=1", "games=200", limit=limit)
            reports.append(f"the engines alone:\n{control}")
            if 2 * alone["losses on time"] / 200 >= late / 500:
                break
    else:
        raise AssertionError("\n".join(reports))
    return "\n".join(reports)


@case(600)
def five_hundred_games_with_an_engine_killed_in_every_fifth():
    return _match("games=500", "at-once=2", "time=200", "increment=10", "kill-every=5", limit=590)


@case(300)
def games_of_the_built_in_engine_with_kills():
    return _match("games=16", "builtin=1", "time=2000", "increment=100", "kill-every=3", "seed=9", limit=290)


@case(300)
def fifty_games_with_options_that_hold_a_book_move_back():
    """Verify, Exit and Delay at once. The engine of the match leaves the book for
    good with its first move, so that few positions are left to exit by value."""
    options = ("Book Verify=80", "Book Verify Margin=30", "Book Exit Above=10", "Book Exit Below=-10", "Book Delay=5+10")
    sets = [f"set:{option}" for option in options]
    report = _match("games=50", "time=2000", "increment=20", "kill-every=5", *sets, limit=290)
    assert int(re.findall(r"vetoes: (\d+)", report)[-1]) > 50, report
    return report
