#!/usr/bin/env python3
"""Measures a games index: making it, its size, and the answers from it.

    cargo build --release --bin tabia --example random_games
    benches/index.py [--games 10000000] [--memory 512M] [--folder DIR] [PGN...]

Games come from the given files, or else through a pipe from `random_games`, in
the format of lichess's monthly files and up to 60 plies long. That generator uses
one processor: with two processors look at the processor seconds, not at the clock.
Answers: the processor time of the server for each, over one connection, without
that of the client.
"""

import argparse
import json
import os
import random
import re
import socket
import subprocess
import tempfile
import time
from pathlib import Path

RELEASE = Path(__file__).resolve().parent.parent / "target" / "release"
TABIA = str(RELEASE / "tabia")


def make(index, memory, games, sources):
    """Makes the index and prints its cost."""
    maker = None
    named = [str(source) for source in sources]
    if not named:
        command = [str(RELEASE / "examples" / "random_games"), str(games), "60", "lichess"]
        maker = subprocess.Popen(command, stdout=subprocess.PIPE)
        named = ["-"]
    start = time.monotonic()
    child = subprocess.Popen(
        [TABIA, "index", "--json", "--memory", memory, "-o", str(index), *named],
        stdin=maker.stdout if maker else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    reported = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    clock = time.monotonic() - start
    assert status == 0, status
    if maker:
        maker.wait()
    made = json.loads(reported)
    processor = usage.ru_utime + usage.ru_stime
    size = sum(Path(source).stat().st_size for source in sources)
    rate = f", {size / clock / (1 << 20):.0f} MiB/s of PGN" if size else ""
    print(
        f"{made['games']:,} games: {clock:.1f} s{rate}, {processor:.1f} s of processors, "
        f"{usage.ru_maxrss / 1024:.0f} MB of memory, {made['bytes']:,} bytes, {made['moves']:,} moves of "
        f"{made['positions']:,} positions: {made['position_bytes'] / made['moves']:.1f} bytes a move, "
        f"{made['bytes'] / made['moves']:.1f} with the games themselves",
        flush=True,
    )


class Server:
    """An explorer over the index, and one connection to it."""

    def __init__(self, index):
        command = [TABIA, "explore", "--no-open", str(index)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline())[1])
        self.connect()

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.stream = self.socket.makefile("rb")

    def get(self, target):
        request = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode()
        self.socket.sendall(request)
        assert b" 200 " in self.stream.readline(), target
        length = 0
        while (line := self.stream.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return self.stream.read(length)

    def processor(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            ticks = stat.read().rsplit(")", 1)[1].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def memory_kb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"RssAnon:\s+(\d+)", status.read())[1])


def walk(server, draw, plies):
    """A line from the games of the index."""
    line = []
    while len(line) < plies:
        moves = json.loads(server.get("/lichess?topGames=0&recentGames=0&play=" + ",".join(line)))["moves"]
        if not moves:
            return walk(server, draw, plies)
        line.append(draw.choice(moves)["uci"])
    return ",".join(line)


def ask(server, name, targets):
    """Sends requests and prints the cost of each answer."""
    server.connect()
    before, start = server.processor(), time.monotonic()
    for target in targets:
        server.get(target)
    processor, clock = server.processor() - before, time.monotonic() - start
    count = len(targets)
    print(
        f"{name}: {count:,} answers, {1e6 * processor / count:.0f} us of a processor each, "
        f"{count / max(processor, 0.01):,.0f} a second on one; {count / clock:,.0f} a second by the clock; "
        f"memory {server.memory_kb() / 1024:.1f} MB",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", type=Path)
    parser.add_argument("--games", type=int, default=10_000_000)
    parser.add_argument("--memory", default="512M")
    parser.add_argument("--folder", type=Path, help="for the index; ten gigabytes for ten million games, twice while it is made")
    parser.add_argument("--requests", type=int, default=100_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tabia-index-", dir=args.folder) as folder:
        index = Path(folder) / "games.tgx"
        make(index, args.memory, args.games, args.sources)
        server = Server(index)
        try:
            draw = random.Random(18)
            openings = [f"/lichess?play={walk(server, draw, number % 5)}" for number in range(40)]
            lines = [walk(server, draw, 20) for _ in range(1000)]
            ask(server, "positions at ply 20, for the first time", [f"/lichess?play={line}" for line in lines])
            ask(server, "the same as masters, without games", [f"/masters?topGames=0&play={line}" for line in lines])
            ask(server, "openings, for the first time", [f"{target}&moves={number}" for number in range(13, 16) for target in openings])
            ask(server, "openings", (openings * (args.requests // 40 + 1))[: args.requests])
            ask(server, "openings once more", (openings * (args.requests // 40 + 1))[: args.requests])
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main()
