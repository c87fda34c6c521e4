"""Runs cases: one line of output and a time limit for each; no process is left.

A case is a function that raises an exception on failure. It may return
a text, which is printed under its line.

Cases run in parallel, each in a process of its own. None judges by a clock.

Cases with `all_only` (every size of the page, every panel for axe, memory over
time, most cases in Firefox) run only with TABIA_ALL=1, or if a word of the command line is in their
names; the last lines of the output tell how many were left out.
"""

import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from multiprocessing import connection
from typing import Callable, Iterator, Optional

import procs
from paths import SHARED, SIMPLE, remove_folders


@dataclass
class Case:
    group: str
    name: str
    work: Callable[[], Optional[str]]
    limit: float
    needs_shared: bool
    all_only: bool


CASES: list[Case] = []


def case(limit: float = 20.0, needs_shared: bool = False, browsers: bool = False, smoke: bool = False, all_only: bool = False):
    """Makes a function a case. `limit` is in seconds; with `browsers` it is one for Chromium and one for Firefox, the latter with `all_only` but for a `smoke` test; `all_only` is for one that takes long and finds little."""

    def in_firefox(work):
        # Each case runs in a process of its own.
        os.environ["TABIA_BROWSER"] = "Firefox"
        return work()

    def add(work):
        name = work.__name__.replace("_", " ")
        group = work.__module__
        runs = [(name, work, limit, needs_shared, all_only)]
        if browsers:
            firefox = (f"{name} in Firefox", lambda: in_firefox(work), 2 * limit)
            runs.append((*firefox, needs_shared, all_only or not smoke))
        CASES.extend(Case(group, *run) for run in runs)
        return work

    return add


class CaseTimeout(BaseException):
    """The case's time is up. Not an `Exception`: no case may catch it."""


def _on_alarm(_signal, _frame):
    raise CaseTimeout


def _run(one: Case) -> tuple[bool, str]:
    """Runs a case; returns whether it passed and a text."""
    procs.begin_case()
    signal.setitimer(signal.ITIMER_REAL, procs.TIMEOUT_FACTOR * one.limit)
    try:
        text = one.work() or ""
        procs.quit_all()
        procs.check_stderr()
        return True, text
    except CaseTimeout as slow:
        where = traceback.extract_tb(slow.__traceback__)
        at = [f"{frame.name}:{frame.lineno}" for frame in where if "interop" in frame.filename]
        return False, f"not done after {procs.TIMEOUT_FACTOR * one.limit:.0f} s, in {' > '.join(at)}\n{procs.last_lines()}"
    except Exception:
        return False, f"{traceback.format_exc()}{procs.last_lines()}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        procs.kill_all()
        remove_folders()


def _run_in_process(one: Case, sender: connection.Connection) -> None:
    """Runs a case, sends whether it passed and its lines of output, and exits.
    The processor time lacks processes that nobody waited for."""
    start = time.monotonic()
    is_ok, text = _run(one)
    spent = time.monotonic() - start
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    computed = sum(one.ru_utime + one.ru_stime for one in used)
    lines = [f"{'ok  ' if is_ok else 'FAIL'} {spent:7.2f} s ({computed:6.1f} s of processors)  {one.group.removeprefix('case_')}: {one.name}"]
    sender.send((is_ok, "\n".join(lines + [f"        {line}" for line in text.splitlines()])))
    # Exit although a failed case may have left threads.
    os._exit(0)


def _run_parallel(cases: list[Case], at_once: int) -> Iterator[tuple[Case, bool, str]]:
    """Yields each case when it is done: whether it passed, and its lines of output."""
    # This process has no threads, so a fork is safe.
    fork = multiprocessing.get_context("fork")
    # Cases with the longest limits start first, so that none runs alone at the end.
    waiting = sorted(cases, key=lambda one: one.limit)
    running = {}
    while waiting or running:
        while waiting and len(running) < at_once:
            one = waiting.pop()
            receiver, sender = fork.Pipe(duplex=False)
            process = fork.Process(target=_run_in_process, args=(one, sender))
            process.start()
            sender.close()
            running[receiver] = one, process
        for receiver in connection.wait(list(running)):
            one, process = running.pop(receiver)
            try:
                is_ok, text = receiver.recv()
            except EOFError:
                is_ok, text = False, f"FAIL  {one.name}: its process has ended by itself"
            process.join()
            yield one, is_ok, text


def main() -> int:
    signal.signal(signal.SIGALRM, _on_alarm)
    wanted = sys.argv[1:]
    cases = [one for one in CASES if not wanted or any(word in one.name for word in wanted)]
    long = [one for one in cases if one.all_only] if not wanted and os.environ.get("TABIA_ALL") != "1" else []
    cases = [one for one in cases if one not in long]
    left_out = [one.name for one in cases if one.needs_shared and not SHARED.exists()]
    cases = [one for one in cases if one.name not in left_out]
    if any(one.needs_shared for one in cases) and not SIMPLE.exists():
        print(f"missing: {SIMPLE}", flush=True)
    passed, failed = 0, []
    begun = time.monotonic()
    # More than there are processors, because a case computes for 0.4 of its time on average.
    at_once = int(os.environ.get("TABIA_CASES_AT_ONCE", min(2 * (os.cpu_count() or 1), 5)))
    for one, is_ok, text in _run_parallel(cases, at_once):
        print(text, flush=True)
        passed += is_ok
        if not is_ok:
            failed.append(one.name)
    print(f"\n{time.monotonic() - begun:.0f} s")
    if left_out:
        print(f"Left out, for there is no {os.path.normpath(SHARED)}:")
        for name in left_out:
            print(f"  {name}")
    if long:
        print(f"Left out: {len(long)} long cases, which TABIA_ALL=1 or a word of their names runs:")
        for one in long:
            print(f"  {one.name}")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed", flush=True)
    return 1 if failed or not passed else 0
