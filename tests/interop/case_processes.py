"""Ends: quick ones, and nobody is left behind."""

import os
import signal
import statistics
import subprocess
import sys
import time

from places import ODD, STOCKFISH, TABIA
from procs import Client, alive, children, environment, tabia, wait_gone
from runner import case

OUT_OF_BOOK = "position startpos moves a2a3 a7a6 h2h3 h7h6"


def odd(fault: str) -> list[str]:
    return [sys.executable, ODD, fault]


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
    client = tabia(engine=engine)
    client.hello()
    client.ready()
    client.send(*lines) if lines else None
    time.sleep(0.05)
    return client


def _time_to_quit(command: list[str]) -> float:
    client = Client(command)
    client.hello()
    client.ready()
    start = time.monotonic()
    client.send("quit")
    client.process.wait(5)
    return time.monotonic() - start


@case(60)
def quit_takes_at_most_100_ms_more_than_stockfishs_own():
    direct, through = [], []
    for _ in range(9):
        direct.append(_time_to_quit([STOCKFISH]))
        through.append(_time_to_quit([TABIA, "--", STOCKFISH]))
    more = statistics.median(through) - statistics.median(direct)
    assert more < 0.1, (direct, through)
    return f"Stockfish {1000 * statistics.median(direct):.1f} ms, through us {1000 * more:+.1f} ms"


@case(30)
def quit_in_every_state_ends_everything():
    for name, lines in STATES.items():
        client = _started([STOCKFISH], *lines)
        start = time.monotonic()
        client.quit(limit=1.5)
        spent = time.monotonic() - start
        assert spent < 1, (name, spent)
        wait_gone(0.2)


@case(30)
def the_end_of_input_in_every_state_ends_everything():
    for name, lines in STATES.items():
        client = _started([STOCKFISH], *lines)
        start = time.monotonic()
        client.process.stdin.close()
        client.end(limit=1.5)
        assert time.monotonic() - start < 1, name
        wait_gone(0.2)


@case(30)
def quit_before_the_engine_is_up_ends_everything():
    for engine in ([STOCKFISH], ["/bin/sleep", "600"], odd("plain")):
        client = tabia(engine=engine)
        client.send("quit")
        client.end(limit=2)
        wait_gone(0.5)
        client = tabia(engine=engine)
        client.send("uci")
        time.sleep(0.02)
        client.send("quit")
        client.end(limit=2)
        wait_gone(0.5)


@case(30)
def an_engine_that_ignores_quit_is_killed_within_2_s():
    for lines in ([], [OUT_OF_BOOK, "go infinite"]):
        client = _started(odd("ignores-end"), *lines)
        start = time.monotonic()
        client.send("quit")
        client.end(limit=2)
        spent = time.monotonic() - start
        wait_gone(0.2)
    return f"{spent:.2f} s"


@case(30)
def killing_the_adapter_leaves_no_engine_for_a_second():
    for name, lines in STATES.items():
        client = _started([STOCKFISH], *lines)
        assert children(client.pid), name
        os.kill(client.pid, signal.SIGKILL)
        wait_gone(1)


@case(30)
def killing_the_adapter_kills_an_engine_that_ignores_the_end_of_input():
    client = _started(odd("ignores-end"))
    os.kill(client.pid, signal.SIGKILL)
    wait_gone(1)


@case(30)
def killing_the_adapter_ends_an_engine_behind_a_shell():
    for lines in ([], [OUT_OF_BOOK, "go infinite"]):
        client = _started(WRAPPED, *lines)
        assert alive("stockfish") and alive("sh")
        os.kill(client.pid, signal.SIGKILL)
        wait_gone(1)


@case(30)
def terminating_the_adapter_leaves_no_engine():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        client = _started([STOCKFISH], OUT_OF_BOOK, "go infinite")
        os.kill(client.pid, number)
        wait_gone(1)


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
    spent = []
    for engine in ([STOCKFISH], odd("ignores-end"), WRAPPED):
        for name, lines in STATES.items():
            gui = _gui(engine, lines)
            gui.kill()
            gui.wait()
            gui.stdout.close()
            spent.append(wait_gone(2))
    return f"at most {max(spent):.2f} s"


@case(30)
def a_gui_that_closes_only_our_output_ends_us():
    client = _started([STOCKFISH], OUT_OF_BOOK, "go infinite")
    # The reader thread holds the pipe's end: a GUI of its own is easier.
    client.quit()
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
    assert process.wait(2) == 0, process.returncode
    assert process.stderr.read() == b""
    wait_gone(0.5)
    process.stdin.close()
    process.stderr.close()


@case(30)
def quit_takes_the_engines_own_children_along():
    client = _started(WITH_COMPANY)
    assert alive("sleep")
    client.quit()
    wait_gone(0.5)


@case(30)
def an_engine_that_dies_takes_its_children_along():
    """The next engine must not find the first one's company."""
    client = _started(WITH_COMPANY)
    (first,) = children(client.pid)
    company = alive("sleep")
    os.kill(first, signal.SIGKILL)
    time.sleep(0.2)
    client.ready()
    left = set(company) & set(alive("sleep"))
    assert not left, f"still there: {left}"
    client.quit()
    wait_gone(0.5)


@case(30)
def a_gui_that_does_not_read_does_not_hang_us():
    """Infos pile up; `quit` still ends everything within 2 s."""
    process = subprocess.Popen(
        [TABIA, "--", STOCKFISH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    )
    chatter = f"uci\nisready\nsetoption name OwnBook value false\n{OUT_OF_BOOK}\ngo infinite\n" + "isready\n" * 2000
    process.stdin.write(chatter.encode())
    process.stdin.flush()
    time.sleep(1.5)
    process.stdin.write(b"stop\nquit\n")
    process.stdin.flush()
    process.wait(2.5)
    wait_gone(0.2)
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
