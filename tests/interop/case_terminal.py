"""At a terminal, control codes from files and engines have no effect."""

import os
import pty
import subprocess
import time

from paths import TABIA, copy_starter, faulty_engine, folder
from procs import TIMEOUT_FACTOR, environment, ready_tabia, wait_for_exit
from runner import case

EVIL = "\x1b]0;evil\x07"
ENGINE = faulty_engine("evil")


def _at_terminal(command: list[str], lines: list[str] = (), until: bytes = b"") -> bytes:
    """All output of a program to its terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment())
    os.close(slave)
    for line in lines:
        os.write(master, line.encode() + b"\n")
    seen = b""
    deadline = time.monotonic() + 15 * TIMEOUT_FACTOR
    while time.monotonic() < deadline:
        try:
            chunk = os.read(master, 1 << 16)
        except OSError:
            # The other end is closed.
            break
        if not chunk:
            break
        seen += chunk
        if until and until in seen:
            os.write(master, b"quit\n")
            until = b""
    process.wait(5 * TIMEOUT_FACTOR)
    os.close(master)
    return seen


def _tame(seen: bytes) -> None:
    assert b"\x1b]0;" not in seen and b"\x07" not in seen, seen
    assert b"evil" in seen, seen


@case(30)
def the_adapter_at_a_terminal_escapes_control_characters_of_the_engine():
    lines = ["uci", "isready", "position startpos moves a2a3 a7a6", "go movetime 10"]
    seen = _at_terminal([TABIA, "--set", "OwnBook=false", "--", *ENGINE], lines, b"bestmove")
    _tame(seen)
    assert b"\\u001b]0;evil\\u0007 complaint" in seen, seen
    assert b"a last complaint" in seen, seen
    assert b"id name \\u001b]0;evil" in seen, seen
    wait_for_exit(1)


@case(30)
def commands_at_a_terminal_escape_control_characters_in_names():
    place = folder("terminal")
    book = copy_starter(place, EVIL)
    for command in ("info", "verify"):
        _tame(_at_terminal([TABIA, command, str(book)]))
    games = place / f"{EVIL}.pgn"
    games.write_text(f'[White "{EVIL}"]\n\n1. e4 {EVIL} 1-0\n\n[White "a"]\n\n1. d4 d5 1-0\n')
    _tame(_at_terminal([TABIA, "build", "-o", str(place / f"{EVIL}.ctg"), str(games)]))


@case(30)
def in_a_pipe_the_engines_bytes_stay_as_they_are():
    client = ready_tabia("--set", "OwnBook=false", engine=ENGINE)
    got = client.exchange("position startpos", "go movetime 10", until="bestmove")
    assert "info string \x1b]0;evil\x07\x1b[2J" in got, got
