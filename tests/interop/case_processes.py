"""Ends: quick ones, and nobody is left behind."""

import os
import signal
import statistics
import subprocess
import sys
import time
from typing import Callable

from places import OUT_OF_BOOK, STOCKFISH, TABIA, odd
from procs import PATIENCE, Client, alive, children, environment, greeted, tabia, wait_gone, wait_until, within
from runner import case

# A shell that starts the engine as its own child, and one that leaves a
# process behind that knows nothing of pipes.
WRAPPED = ["/bin/sh", "-c", f"{STOCKFISH}; exit 0"]
WITH_COMPANY = ["/bin/sh", "-c", f"sleep 600 </dev/null >/dev/null 2>&1 & exec {STOCKFISH}"]
STATES = {
    "idle": [],
    "searching": [OUT_OF_BOOK, "go infinite"],
    "pondering": [OUT_OF_BOOK, "go ponder wtime 9000 btime 9000"],
    "holding a book move": ["position startpos", "go ponder wtime 9000 btime 9000"],
}


def _started(engine, *lines: str) -> Client:
    client = greeted(engine=engine)
    client.send(*lines) if lines else None
    time.sleep(0.05)
    return client


def _time_to_end(engine, lines: list[str], end: Callable[[Client], object]) -> float:
    """From the beginning of the end until everything is gone."""
    client = _started(engine, *lines)
    start = time.monotonic()
    end(client)
    wait_gone(5)
    return time.monotonic() - start


def _time_to_quit(command: list[str]) -> float:
    client = Client(command)
    client.hello()
    client.ready()
    start = time.monotonic()
    client.send("quit")
    client.process.wait(5 * PATIENCE)
    return time.monotonic() - start


@case(60)
def quit_takes_at_most_100_ms_more_than_stockfishs_own():
    direct, through = [], []

    def more() -> float:
        # By turns, so that whatever else runs slows both.
        for _ in range(9):
            direct.append(_time_to_quit([STOCKFISH]))
            through.append(_time_to_quit([TABIA, "--", STOCKFISH]))
        return statistics.median(through[-9:]) - statistics.median(direct[-9:])

    spent = within(0.1, more)
    return f"Stockfish {1000 * statistics.median(direct[-9:]):.1f} ms, through us {1000 * spent:+.1f} ms"


@case(30)
def quit_in_every_state_ends_everything():
    for lines in [*STATES.values(), [OUT_OF_BOOK, "go infinite", "stop"]]:
        within(1, lambda: _time_to_end([STOCKFISH], lines, Client.quit))


@case(30)
def the_end_of_input_in_every_state_ends_everything():
    def end(client: Client) -> None:
        client.process.stdin.close()
        client.end()

    for lines in STATES.values():
        within(1, lambda: _time_to_end([STOCKFISH], lines, end))


@case(30)
def quit_before_the_engine_is_up_ends_everything():
    def end(engine: list[str], *lines: str) -> float:
        client = tabia(engine=engine)
        for line in lines:
            client.send(line)
            time.sleep(0.02)
        start = time.monotonic()
        client.quit()
        wait_gone(5)
        return time.monotonic() - start

    for engine in ([STOCKFISH], ["/bin/sleep", "600"], odd("plain")):
        within(2, lambda: end(engine))
        within(2, lambda: end(engine, "uci"))


@case(30)
def an_engine_that_ignores_quit_is_killed_within_2_s():
    states = ([], [OUT_OF_BOOK, "go infinite"])
    spent = [within(2, lambda: _time_to_end(odd("ignores-end"), lines, Client.quit)) for lines in states]
    return f"at most {max(spent):.2f} s"


@case(30)
def killing_the_adapter_leaves_no_engine_for_a_second():
    def end(client: Client) -> None:
        assert children(client.pid), client.talk
        os.kill(client.pid, signal.SIGKILL)

    for lines in STATES.values():
        within(1, lambda: _time_to_end([STOCKFISH], lines, end))


@case(30)
def killing_the_adapter_kills_an_engine_that_ignores_the_end_of_input():
    within(1, lambda: _time_to_end(odd("ignores-end"), [], lambda client: os.kill(client.pid, signal.SIGKILL)))


@case(30)
def killing_the_adapter_ends_an_engine_behind_a_shell():
    def end(client: Client) -> None:
        assert alive("stockfish") and alive("sh"), client.talk
        os.kill(client.pid, signal.SIGKILL)

    for lines in ([], [OUT_OF_BOOK, "go infinite"]):
        within(1, lambda: _time_to_end(WRAPPED, lines, end))


@case(30)
def terminating_the_adapter_leaves_no_engine():
    searching = STATES["searching"]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        within(1, lambda: _time_to_end([STOCKFISH], searching, lambda client: os.kill(client.pid, number)))


def _gui(engine: list[str], lines: list[str]) -> subprocess.Popen:
    """A GUI as a process of its own, that has us as its engine."""
    script = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen({[TABIA, '--', *engine]!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)\n"
        "def ask(line, word):\n"
        "    p.stdin.write(line + '\\n'); p.stdin.flush()\n"
        "    while not p.stdout.readline().startswith(word): pass\n"
        "ask('uci', 'uciok')\n"
        "ask('isready', 'readyok')\n"
        f"for line in {lines!r}: p.stdin.write(line + '\\n')\n"
        "p.stdin.flush()\n"
        "print('up', flush=True)\n"
        "time.sleep(600)\n"
    )
    gui = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment())
    assert gui.stdout.readline() == b"up\n"
    time.sleep(0.05)
    return gui


@case(60)
def killing_the_gui_ends_everything_within_2_s():
    def end(engine: list[str], lines: list[str]) -> float:
        gui = _gui(engine, lines)
        gui.kill()
        gui.wait()
        gui.stdout.close()
        return wait_gone(5)

    engines = ([STOCKFISH], odd("ignores-end"), WRAPPED)
    spent = [within(2, lambda: end(engine, lines)) for engine in engines for lines in STATES.values()]
    return f"at most {max(spent):.2f} s"


@case(30)
def a_gui_that_closes_only_our_output_ends_us():
    # The reader thread of a `Client` holds the pipe's end.
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [TABIA, "--", STOCKFISH], stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.PIPE, env=environment()
    )
    os.close(writer)
    process.stdin.write(b"uci\n")
    process.stdin.flush()
    while b"uciok" not in os.read(reader, 1 << 16):
        pass
    os.close(reader)
    process.stdin.write(f"isready\n{OUT_OF_BOOK}\ngo infinite\n".encode())
    process.stdin.flush()
    assert process.wait(2 * PATIENCE) == 0, process.returncode
    assert process.stderr.read() == b""
    wait_gone(0.5)
    process.stdin.close()
    process.stderr.close()


def _company() -> list[int]:
    """The shell's child, which may become what it is after the engine."""
    wait_until(lambda: alive("sleep"), 5, lambda: "no company")
    return alive("sleep")


@case(30)
def quit_takes_the_engines_own_children_along():
    client = _started(WITH_COMPANY)
    _company()
    client.quit()
    wait_gone(0.5)


@case(30)
def an_engine_that_dies_takes_its_children_along():
    """The next engine must not find the first one's company."""
    client = _started(WITH_COMPANY)
    (first,) = children(client.pid)
    company = _company()
    os.kill(first, signal.SIGKILL)
    left = lambda: set(company) & set(alive("sleep"))
    wait_until(lambda: not left(), 1, left)
    client.ready()
    client.quit()
    wait_gone(0.5)


@case(30)
def a_gui_that_does_not_read_does_not_hang_us():
    """Infos pile up; `quit` still ends everything within 2 s."""
    chatter = f"uci\nisready\nsetoption name OwnBook value false\n{OUT_OF_BOOK}\ngo infinite\n" + "isready\n" * 2000

    def end() -> float:
        process = subprocess.Popen(
            [TABIA, "--", STOCKFISH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        )
        process.stdin.write(chatter.encode())
        process.stdin.flush()
        time.sleep(1.5)
        start = time.monotonic()
        process.stdin.write(b"stop\nquit\n")
        process.stdin.flush()
        process.wait(5 * PATIENCE)
        wait_gone(5)
        process.stdin.close()
        process.stdout.close()
        return time.monotonic() - start

    within(2.5, end)


@case(30)
def what_an_engine_has_said_before_its_end_waits_for_a_gui_that_does_not_read():
    """In its pipe, where more is kept than for the GUI."""
    process = subprocess.Popen(
        [TABIA, "--set", "OwnBook=false", "--", *odd("ends-after-a-flood")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
    )
    process.stdin.write(b"uci\nisready\nposition startpos\ngo movetime 10\n")
    process.stdin.flush()
    # By then it has ended; were it slower, this would hold all the more.
    time.sleep(1.5)
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith(b"bestmove"):
            break
    assert sum(line.startswith(b"info depth 1 ") for line in said) == 11_700, said[-3:]
    assert not any(b"again" in line for line in said), [line for line in said if b"again" in line]
    process.kill()
    process.stdin.close()
    process.stdout.close()


@case(60)
def twenty_adapters_at_once_start_and_end():
    clients = [tabia() for _ in range(20)]
    for client in clients:
        client.send("uci", "isready", "position startpos", "go movetime 10")
    for client in clients:
        client.until("bestmove", 30)
    for client in clients:
        client.send("quit")
    for client in clients:
        client.end(limit=10)
    wait_gone(0.5)


@case()
def standard_error_stays_silent_and_open():
    client = _started([STOCKFISH], OUT_OF_BOOK, "go movetime 100")
    client.until("bestmove")
    assert os.path.exists(f"/proc/{client.pid}/fd/2")
    client.quit()
    assert client.stderr() == "", client.stderr()
