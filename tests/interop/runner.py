"""Runs cases: one line each, a hard limit each, and no process left behind.

A case is a function that raises when something does not hold. It may return
a text to be shown under its line.

Files whose cases do nothing but compute, with limits far away, are played two
at a time before the others, which wait for clocks, engines and browsers.
"""

import multiprocessing
import os
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Callable, Iterator, Optional

import procs
from places import SHARED, SIMPLE


@dataclass
class Case:
    group: str
    name: str
    work: Callable[[], Optional[str]]
    limit: float
    needs_shared: bool


CASES: list[Case] = []

# They measure no time, and play on no clock.
COMPUTING = {f"case_{name}" for name in ("cbh", "convert", "databases", "format", "grow", "index", "mark", "suite")}


def case(limit: float = 20.0, needs_shared: bool = False):
    """Makes a function a case. `limit` is in seconds."""

    def add(work):
        name = work.__name__.replace("_", " ")
        CASES.append(Case(work.__module__, name, work, limit, needs_shared))
        return work

    return add


class TooSlow(BaseException):
    """The case's time is up. Not an `Exception`: no case may catch it."""


def _ring(_signal, _frame):
    raise TooSlow


def _run(one: Case) -> tuple[bool, str]:
    """Whether the case holds, and what there is to say."""
    procs.begin()
    signal.setitimer(signal.ITIMER_REAL, one.limit)
    try:
        text = one.work() or ""
        procs.check_stderr()
        return True, text
    except TooSlow as slow:
        where = traceback.extract_tb(slow.__traceback__)
        at = [f"{frame.name}:{frame.lineno}" for frame in where if "interop" in frame.filename]
        return False, f"not done after {one.limit:.0f} s, in {' > '.join(at)}\n{procs.tail()}"
    except Exception:
        return False, f"{traceback.format_exc()}{procs.tail()}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        procs.end()


def _play(one: Case) -> tuple[bool, str]:
    """Whether the case holds, and the lines about it."""
    start = time.monotonic()
    holds, text = _run(one)
    spent = time.monotonic() - start
    lines = [f"{'ok  ' if holds else 'FAIL'} {spent:7.2f} s  {one.name}"]
    return holds, "\n".join(lines + [f"        {line}" for line in text.splitlines()])


def _play_file(group: str, wanted: list[str]) -> list[tuple[str, bool, str]]:
    """Plays the cases of a file, in a process of its own."""
    return [(one.name, *_play(one)) for one in CASES if one.group == group and one.name in wanted]


def _played(cases: list[Case]) -> Iterator[tuple[str, str, bool, str]]:
    """File, name, whether it holds and the lines about it, of each case."""
    names = [one.name for one in cases]
    groups = dict.fromkeys(one.group for one in cases if one.group in COMPUTING)
    # A fresh process for each file: it inherits the cases and nothing else.
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        running = [(group, pool.apply_async(_play_file, (group, names))) for group in groups]
        for group, played in running:
            yield from ((group, *one) for one in played.get())
    for one in cases:
        if one.group not in COMPUTING:
            yield (one.group, one.name, *_play(one))


def main() -> int:
    signal.signal(signal.SIGALRM, _ring)
    wanted = sys.argv[1:]
    cases = [one for one in CASES if not wanted or any(word in one.name for word in wanted)]
    left_out = [one.name for one in cases if one.needs_shared and not SHARED.exists()]
    cases = [one for one in cases if one.name not in left_out]
    if any(one.needs_shared for one in cases) and not SIMPLE.exists():
        print(f"missing: {SIMPLE}", flush=True)
    passed, failed, last = 0, [], None
    begun = time.monotonic()
    for group, name, holds, text in _played(cases):
        if group != last:
            print(f"\n-- {group}", flush=True)
            last = group
        print(text, flush=True)
        if holds:
            passed += 1
        else:
            failed.append(name)
    print(f"\n{time.monotonic() - begun:.0f} s")
    if left_out:
        print(f"Left out, for there is no {os.path.normpath(SHARED)}:")
        for name in left_out:
            print(f"  {name}")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed", flush=True)
    return 1 if failed or not passed else 0
