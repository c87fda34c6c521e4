"""Shutdown: it is quick, and no process is left."""

import os
import statistics
import subprocess
import time
from typing import Callable

from paths import OUT_OF_BOOK, STOCKFISH, TABIA, faulty_engine
from procs import TIMEOUT_FACTOR, Client, alive, children, environment, ready_tabia, tabia, wait_for_exit, within
from runner import case

# A shell that starts the engine as its own child.
WRAPPED = ["/bin/sh", "-c", f"{STOCKFISH}; exit 0"]
STATES = {
    "idle": [],
    "searching": [OUT_OF_BOOK, "go infinite"],
    "pondering": [OUT_OF_BOOK, "go ponder wtime 9000 btime 9000"],
    "holding a book move": ["position startpos", "go ponder wtime 9000 btime 9000"],
}


def _started(engine, *lines: str) -> Client:
    client = ready_tabia(engine=engine)
    client.send(*lines) if lines else None
    time.sleep(0.05)
    return client


def _time_to_end(engine, lines: list[str], end: Callable[[Client], object]) -> float:
    """Seconds from the start of the shutdown until all processes have ended."""
    client = _started(engine, *lines)
    start = time.monotonic()
    end(client)
    wait_for_exit(5)
    return time.monotonic() - start


def _time_to_quit(command: list[str]) -> float:
    client = Client(command)
    client.handshake()
    client.ready()
    start = time.monotonic()
    client.send("quit")
    client.process.wait(5 * TIMEOUT_FACTOR)
    return time.monotonic() - start


@case(60)
def quit_takes_at_most_100_ms_more_than_stockfish_alone():
    direct, through = [], []

    def more() -> float:
        # In turns, so that other programs slow both.
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
def killing_the_adapter_ends_the_engine_within_a_second():
    def end(client: Client) -> None:
        assert children(client.pid), client.transcript
        client.kill()

    for lines in STATES.values():
        within(1, lambda: _time_to_end([STOCKFISH], lines, end))


@case(30)
def killing_the_adapter_kills_an_engine_that_ignores_the_end_of_input():
    within(1, lambda: _time_to_end(faulty_engine("ignores-end"), [], Client.kill))


@case(30)
def killing_the_adapter_ends_an_engine_behind_a_shell():
    def end(client: Client) -> None:
        assert alive("stockfish") and alive("sh"), client.transcript
        client.kill()

    for lines in ([], [OUT_OF_BOOK, "go infinite"]):
        within(1, lambda: _time_to_end(WRAPPED, lines, end))


@case(30)
def last_lines_of_an_engine_are_kept_for_a_gui_that_does_not_read():
    """More output is in its pipe than the adapter buffers for the GUI."""
    process = subprocess.Popen(
        [TABIA, "--set", "OwnBook=false", "--", *faulty_engine("ends-after-a-flood")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
    )
    process.stdin.write(b"uci\nisready\nposition startpos\ngo movetime 10\n")
    process.stdin.flush()
    # It has ended by then; if it were slower, the case would hold all the same.
    time.sleep(1.5)
    output = []
    for line in process.stdout:
        output.append(line)
        if line.startswith(b"bestmove"):
            break
    assert sum(line.startswith(b"info depth 1 ") for line in output) == 11_700, output[-3:]
    assert not any(b"again" in line for line in output), [line for line in output if b"again" in line]
    process.kill()
    process.stdin.close()
    process.stdout.close()


@case(60)
def twenty_adapters_at_once_start_and_end():
    clients = [tabia() for _ in range(20)]
    for client in clients:
        client.send("uci", "isready", "position startpos", "go movetime 10")
    for client in clients:
        client.expect("bestmove", 30)
    for client in clients:
        client.send("quit")
    for client in clients:
        client.end(limit=10)
    wait_for_exit(0.5)


@case()
def standard_error_stays_silent_and_open():
    client = _started([STOCKFISH], OUT_OF_BOOK, "go movetime 100")
    client.expect("bestmove")
    assert os.path.exists(f"/proc/{client.pid}/fd/2")
    client.quit()
    assert client.stderr() == "", client.stderr()
