"""`tabia mark` under kill -9, at moments spread over its whole run and over its writing: the
book is valid afterwards and each entry old or new."""

import random
import subprocess
import time
from pathlib import Path

from paths import TABIA, copy_starter, folder
from procs import environment, run, run_ok
from runner import case


def entries(book: Path):
    """Offset of the statistics of every entry, by the format description."""
    data = book.read_bytes()
    for page in range(4096, len(data), 4096):
        at, end = page + 4, page + int.from_bytes(data[page + 2 : page + 4], "big")
        while at < end:
            key = data[at] & 31
            moves = data[at + key]
            yield data[at + key + moves : at + key + moves + 33]
            at += key + moves + 33
        assert at == end, (page, at, end)


def sound(book: Path) -> None:
    done = run("verify", book, "--json", limit=30)
    assert done.returncode == 0, done.stdout + done.stderr


@case(limit=150)
def a_book_is_intact_after_kills_of_mark_at_any_moment():
    here = folder("mark")
    book = copy_starter(here)
    changes = [["--mark", "main", "--learn-value=40"], ["--mark", "avoid", "--learn-value=-40"]]
    begun = time.monotonic()
    assert run("mark", book, "--all", *changes[1]).returncode == 0
    whole = time.monotonic() - begun
    rng = random.Random(5)
    journal = here / ".book.ctg.edit"
    kills, middle = 0, 0
    for turn in range(1, 121):
        command = [TABIA, "mark", str(book), "--all", *changes[turn % 2]]
        child = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment())
        if turn % 3 == 0:
            # The pause only chooses the moment, as does the next one.
            time.sleep(rng.random() * whole)
        else:
            # The book is written soon after the journal exists.
            while not journal.exists() and child.poll() is None:
                pass
            # Most kills while it is written.
            time.sleep(rng.random() ** 2 * 0.04)
        child.kill()
        kills += child.wait() != 0
        states = {(stats[30], stats[31]) for stats in entries(book)}
        # A learn value is stored with the opposite sign.
        assert states <= {(0x80, 256 - 40), (0x40, 40)}, states
        middle += len(states) == 2
        if turn % 10 == 0:
            sound(book)
    run_ok("mark", book, "--all", "--clear")
    assert {(stats[30], stats[31]) for stats in entries(book)} == {(0, 0)}
    sound(book)
    # The book and the one before the last change, and what undoes the last mark.
    assert sorted(path.suffix for path in here.iterdir()) == 3 * [".bak"] + [".ctb", ".ctg", ".cto", ".undo"]
    return f"{turn} runs, {kills} killed in time, {middle} in the middle of writing"
