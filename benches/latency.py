#!/usr/bin/env python3
"""The delay that the proxy adds to Stockfish's answers, beside that of polyglot, in
microseconds. For a quiet machine:

    cargo build --release --bin tabia
    benches/latency.py [PROGRAM]...

Without a program, target/release/tabia; with several, each is measured in turn.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 2000


class Line:
    """A client without threads, for measuring."""

    def __init__(self, *command: str):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "TABIA_CONFIG": ""}, bufsize=0
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
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def main() -> None:
    os.environ["PATH"] += ":/usr/games"
    programs = sys.argv[1:] or [str(Path(__file__).parents[1] / "target/release/tabia")]
    lines = {"Stockfish": Line("stockfish"), "polyglot": Line("polyglot", "-noini", "-ec", "stockfish")}
    lines.update((program, Line(program, "--", "stockfish")) for program in programs)
    for line in lines.values():
        line.exchange(b"uci\n", b"uciok")
        line.exchange(b"setoption name Hash value 16\nisready\n", b"readyok")
        line.exchange(b"position startpos moves a2a3 a7a6 h2h3\n" + b"isready\n", b"readyok")
    for title, question, answer, rounds, names in (
        ("isready", b"isready\n", b"readyok", ROUNDS, list(lines)),
        ("go nodes 1, out of book", b"go nodes 1\n", b"bestmove", ROUNDS // 4, list(lines)),
        ("book move", b"position startpos\ngo movetime 10\n", b"bestmove", ROUNDS // 4, programs),
    ):
        times: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(rounds):
            for name in names:
                times[name].append(1e6 * lines[name].exchange(question, answer))
        print(f"{title}: median (99 of 100)")
        for name, values in times.items():
            values.sort()
            print(f"  {statistics.median(values):8.1f} ({values[int(0.99 * len(values))]:.0f})  {name}")
    for line in lines.values():
        line.close()


main()
