"""Shutdown: it is quick, and no process is left."""

import os
import subprocess
from typing import Callable

from paths import OUT_OF_BOOK, STOCKFISH, TABIA, faulty_engine
from procs import Client, alive, children, environment, ready_tabia, tabia, wait_for_end, wait_for_exit
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
    client.send(*lines, "isready")
    # It has read all of them.
    client.expect("readyok")
    return client


def _ends_all(engine, lines: list[str], end: Callable[[Client], object]) -> None:
    """All processes end. The limit is for processes that never would: how long the
    adapter waits for what is tested with the session's own time."""
    client = _started(engine, *lines)
    end(client)
    wait_for_exit(5)


@case(30)
def quit_in_every_state_ends_everything():
    for lines in [*STATES.values(), [OUT_OF_BOOK, "go infinite", "stop"]]:
        _ends_all([STOCKFISH], lines, Client.quit)


@case(30)
def killing_the_adapter_ends_the_engine():
    def end(client: Client) -> None:
        assert children(client.pid), client.transcript
        client.kill()

    for lines in STATES.values():
        _ends_all([STOCKFISH], lines, end)


@case(30)
def killing_the_adapter_kills_an_engine_that_ignores_the_end_of_input():
    _ends_all(faulty_engine("ignores-end"), [], Client.kill)


@case(30)
def killing_the_adapter_ends_an_engine_behind_a_shell():
    def end(client: Client) -> None:
        assert alive("stockfish") and alive("sh"), client.transcript
        client.kill()

    for lines in ([], [OUT_OF_BOOK, "go infinite"]):
        _ends_all(WRAPPED, lines, end)


@case(30)
def last_lines_of_an_engine_are_kept_for_a_gui_that_does_not_read():
    """More output is in its pipe than the adapter buffers for the GUI."""
    process = subprocess.Popen(
        [TABIA, "--set", "OwnBook=false", "--", *faulty_engine("ends-after-a-flood")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
    )
    process.stdin.write(b"uci\nisready\n")
    process.stdin.flush()
    while process.stdout.readline() not in (b"readyok\n", b""):
        pass
    (engine,) = children(process.pid)
    process.stdin.write(b"position startpos\ngo movetime 10\n")
    process.stdin.flush()
    wait_for_end(engine)
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
    client = ready_tabia()
    client.go(OUT_OF_BOOK)
    assert os.path.exists(f"/proc/{client.pid}/fd/2")
    client.quit()
    assert client.stderr() == "", client.stderr()
