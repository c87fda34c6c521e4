"""Runs cases: one line each, a hard limit each, and no process left behind.

A case is a function that raises when something does not hold. It may return
a text to be shown under its line.
"""

import os
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Callable, Optional

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


def main() -> int:
    signal.signal(signal.SIGALRM, _ring)
    wanted = sys.argv[1:]
    passed, failed, left_out = 0, [], []
    group = None
    begun = time.monotonic()
    for one in CASES:
        if wanted and not any(word in one.name for word in wanted):
            continue
        if one.needs_shared and not SHARED.exists():
            left_out.append(one.name)
            continue
        if one.needs_shared and not SIMPLE.exists():
            print(f"missing: {SIMPLE}", flush=True)
        if one.group != group:
            group = one.group
            print(f"\n-- {group}", flush=True)
        start = time.monotonic()
        holds, text = _run(one)
        spent = time.monotonic() - start
        print(f"{'ok  ' if holds else 'FAIL'} {spent:7.2f} s  {one.name}", flush=True)
        for line in text.splitlines():
            print(f"        {line}", flush=True)
        if holds:
            passed += 1
        else:
            failed.append(one.name)
    print(f"\n{time.monotonic() - begun:.0f} s")
    if left_out:
        print(f"Left out, for there is no {os.path.normpath(SHARED)}:")
        for name in left_out:
            print(f"  {name}")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed", flush=True)
    return 1 if failed or not passed else 0
