"""Long matches with clocks and killed engines: no fault may lose a game."""

import csv
import re
import subprocess
from pathlib import Path

from paths import TABIA, TARGET, THOROUGH, folder
from procs import TIMEOUT_FACTOR, environment, run, wait_for_exit
from runner import case

DRIVER = str(TARGET / "release" / "examples" / "match_games")
FAULTS = ("losses on time", "illegal moves", "protocol faults", "grown")


def _match(*options: str, limit: float) -> str:
    """Plays a match without a fault; returns the report."""
    done = subprocess.run(
        [DRIVER, TABIA, *options], capture_output=True, text=True, env=environment(), timeout=limit * TIMEOUT_FACTOR
    )
    assert "panicked" not in done.stderr, done.stderr
    counts = {fault: int(re.search(f"^{fault}: (\\d+)$", done.stdout, re.M)[1]) for fault in FAULTS}
    assert not any(counts.values()), done.stdout
    wait_for_exit(1)
    return done.stdout


@case(600)
def five_hundred_games_are_played_with_an_engine_killed_in_every_fifth():
    return _match("games=500", "at-once=6", "kill-every=5", limit=590)


@case(300)
def games_of_the_built_in_engine_are_played_with_kills():
    games = 16 if THOROUGH else 6
    return _match(f"games={games}", "builtin=1", "nodes=2000", "kill-every=3", "seed=9", limit=290)


def _delays(log: Path) -> list[float]:
    """The seconds from each `go` without pondering to its book move."""
    since, booked, delays = None, False, []
    for line in log.read_text().splitlines():
        words = line.split(maxsplit=2)
        if len(words) < 3 or not re.fullmatch(r"[0-9.]+", words[0]):
            continue
        time, word, text = float(words[0]), words[1], words[2]
        if word == "gui>":
            booked = False
            if text.startswith("go "):
                since = None if "ponder" in text else time
            elif text in ("stop", "ponderhit"):
                since = None
        elif word == "gui<" and text.startswith("info string book "):
            booked = True
        elif word == "gui<" and text.startswith("bestmove") and booked and since is not None:
            delays.append(time - since)
    return delays


@case(300)
def fifty_games_are_played_with_options_that_delay_a_book_move():
    """Verify, Exit and Delay at once. The engine of the match leaves the book
    permanently with its first move, so few positions can be exits by value."""
    here = folder("held-back")
    options = ("Book Verify=80", "Book Verify Margin=30", "Book Exit Above=10", "Book Exit Below=-10", "Book Delay=5+10")
    sets = [f"set:{option}" for option in options]
    log = f"arg:--log={here / 'match.log'}"
    report = _match("games=50", "kill-every=5", log, *sets, limit=290)
    assert int(re.findall(r"vetoes: (\d+)", report)[-1]) > 50, report
    delays = [delay for path in here.glob("match*.log") for delay in _delays(path)]
    # Never sooner; how much later depends on the machine.
    assert len(delays) > 50 and min(delays) >= 0.005, (len(delays), min(delays))
    return report


@case(300)
def fifty_games_are_played_with_books_by_opponent_and_clock():
    here = folder("by-opponent")
    for name, moves in (("open", "1.e4 e5 2.Nf3 Nc6 3.Bb5"), ("closed", "1.d4 d5 2.c4 e6 3.Nc3")):
        (here / f"{name}.pgn").write_text(f'[Result "1-0"]\n\n{moves} 1-0\n')
        run("build", "-o", here / f"{name}.ctg", here / f"{name}.pgn")
    config = here / "engines.toml"
    config.write_text(
        '[[books]]\nfile = "open.ctg"\nopponent = "computer"\ntime_control = "bullet"\n'
        '[[books]]\nfile = "closed.ctg"\nopponent = "GM"\nelo = "2000..3000"\n'
    )
    counts = {}
    for book, opponent, first in (
        ("open.ctg", "none none computer Other", "e2e4"),
        ("closed.ctg", "GM 2500 human Other", "d2d4"),
    ):
        record = here / f"{first}.csv"
        words = (f"arg:--config={config}", f"arg:--games={record}", f"set:UCI_Opponent={opponent}")
        _match("games=25", *words, limit=140)
        games = [row for row in csv.DictReader(record.open()) if row["event"] == "game"]
        assert len(games) >= 50, len(games)
        for game in games:
            assert game["book"] == book and game["moves"].startswith(first), game
        counts[book] = sum(int(game["book_moves"]) for game in games)
    return ", ".join(f"{book}: {count} book moves" for book, count in counts.items())
