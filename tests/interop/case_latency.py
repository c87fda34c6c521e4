"""The delay that the proxy adds. Printed, not checked: other programs share the machine."""

import os
import statistics
import time

from paths import POLYGLOT, STOCKFISH, TABIA
from procs import TIMEOUT_FACTOR, environment
from runner import case

import subprocess

ROUNDS = 2000


class Line:
    """A client without threads, for measuring."""

    def __init__(self, *command: str):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), bufsize=0
        )
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()

    def exchange(self, question: bytes, answer: bytes) -> float:
        start = time.perf_counter()
        os.write(self.input, question)
        got = b""
        while answer not in got or not got.endswith(b"\n"):
            chunk = os.read(self.output, 1 << 16)
            assert chunk, "ended"
            got += chunk
        return time.perf_counter() - start

    def close(self) -> None:
        os.write(self.input, b"quit\n")
        self.process.wait(5 * TIMEOUT_FACTOR)
        self.process.stdin.close()
        self.process.stdout.close()


@case(90)
def the_adapter_adds_little_latency():
    lines = {
        "Stockfish": Line(STOCKFISH),
        "tabia": Line(TABIA, "--", STOCKFISH),
        "polyglot": Line(POLYGLOT, "-noini", "-ec", STOCKFISH),
    }
    for line in lines.values():
        line.exchange(b"uci\n", b"uciok")
        line.exchange(b"setoption name Hash value 16\nisready\n", b"readyok")
        line.exchange(b"position startpos moves a2a3 a7a6 h2h3\n" + b"isready\n", b"readyok")
    rows = []
    for title, question, answer, rounds in (
        ("isready", b"isready\n", b"readyok", ROUNDS),
        ("go nodes 1, out of book", b"go nodes 1\n", b"bestmove", ROUNDS // 4),
    ):
        times: dict[str, list[float]] = {name: [] for name in lines}
        for _ in range(rounds):
            for name, line in lines.items():
                times[name].append(line.exchange(question, answer))
        rows.append((title, times))
    booked = []
    for _ in range(ROUNDS // 4):
        booked.append(lines["tabia"].exchange(b"position startpos\ngo movetime 10\n", b"bestmove"))
    rows.append(("book move", {"Stockfish": [], "tabia": booked, "polyglot": []}))
    for line in lines.values():
        line.close()
    table = [f"{'us: median (p99)':24}" + "".join(f"{name:>20}" for name in lines)]
    for title, times in rows:
        text = f"{title:24}"
        for name in lines:
            values = sorted(1e6 * value for value in times[name])
            if values:
                cell = f"{statistics.median(values):.1f} ({values[int(0.99 * len(values))]:.0f})"
            else:
                cell = "-"
            text += f"{cell:>20}"
        table.append(text)
    return "\n".join(table)
