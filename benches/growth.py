#!/usr/bin/env python3
"""How cost grows: games, memory and books, for docs/scale.md.

    cargo build --release --bin tabia --example random_games
    benches/growth.py [--games 100000 1000000 10000000] [--memory 64M 512M 4G]

Builds books of random games with every memory, asks a server for positions of
each book, and writes the table between the marks in docs/scale.md and the plot
docs/scale.svg beside it. Ten million games take some minutes a build and 13 GB
of the folder; without them all is done in four minutes.
"""

import argparse
import math
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from measure import ROOT, run

MARKS = ("<!-- growth -->", "<!-- /growth -->")
REQUESTS = 300
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"]


def build(program, games, memory, folder):
    """Clock, processor and peak of one build, its book's name and size."""
    for path in folder.glob("book.*"):
        path.unlink()
    book = folder / "book.ctg"
    options = ["--max-ply", "24", "--memory", memory, "--temp", str(folder)]
    used = run([program, "build", "-o", str(book), *options, str(games)])
    size = sum(path.stat().st_size for path in folder.glob("book.*"))
    return *used, book, size


def positions_of(program, book):
    said = subprocess.run([program, "info", "--json", book], capture_output=True, text=True)
    found = re.search(r'"positions": *([0-9]+)', said.stdout)
    return int(found[1]) if found else 0


def request_time(program, book):
    """Median milliseconds of a request, each on a connection of its own."""
    command = [program, "explore", "--read-only", "--no-open", "--port", "0", str(book)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.search(r"http://[^ /]+", server.stdout.readline())[0]
        lines = ["", "e2e4", "e2e4,e7e5", "d2d4,d7d5,c2c4", "a2a3,a7a6,b2b3"]
        taken = []
        for n in range(REQUESTS):
            start = time.monotonic()
            with urllib.request.urlopen(f"{address}/masters?play={lines[n % len(lines)]}") as answer:
                answer.read()
            taken.append(time.monotonic() - start)
        return 1000 * statistics.median(taken)
    finally:
        server.terminate()
        server.wait()


def plot(rows, path):
    """Processor seconds over games, a line for each memory, both logarithmic."""
    width, height, edge = 640, 400, 60
    games = [row["games"] for row in rows]
    seconds = [row["processor"] for row in rows]
    low_x, high_x = math.log10(min(games)), math.log10(max(games))
    low_y, high_y = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))

    def place(row):
        x = (math.log10(row["games"]) - low_x) / max(high_x - low_x, 1e-9)
        y = (math.log10(row["processor"]) - low_y) / max(high_y - low_y, 1e-9)
        return edge + x * (width - 2 * edge), height - edge - y * (height - 2 * edge)

    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{width / 2}" y="20" text-anchor="middle">Processor seconds of a build, by games</text>',
    ]
    for power in range(low_y, high_y + 1):
        y = height - edge - (power - low_y) / max(high_y - low_y, 1e-9) * (height - 2 * edge)
        text.append(f'<path d="M{edge} {y:.1f}H{width - edge}" stroke="#ccc"/>')
        text.append(f'<text x="{edge - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for number in sorted(set(games)):
        x, _ = place({"games": number, "processor": 10.0**low_y})
        text.append(f'<text x="{x:.1f}" y="{height - edge + 18}" text-anchor="middle">{number:,}</text>')
    for n, memory in enumerate(dict.fromkeys(row["memory"] for row in rows)):
        line = [place(row) for row in rows if row["memory"] == memory]
        colour = COLOURS[n % len(COLOURS)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        text.append(f'<polyline points="{points}" fill="none" stroke="{colour}"/>')
        text += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in line]
        text.append(f'<text x="{edge + 10}" y="{edge + 16 * n}" fill="{colour}">--memory {memory}</text>')
    path.write_text("\n".join([*text, "</svg>"]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--memory", nargs="+", default=["64M", "512M", "4G"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "scale.md")
    args = parser.parse_args()
    release = ROOT / "target" / "release"
    program = str(release / "tabia")
    folder = Path(tempfile.mkdtemp(prefix="tabia-growth-", dir=args.folder))
    rows = []
    try:
        for number in args.games:
            games = folder / "games.pgn"
            with open(games, "wb") as to:
                maker = release / "examples" / "random_games"
                subprocess.run([maker, str(number), "24"], stdout=to, check=True)
            for memory in args.memory:
                clock, processor, peak, book, size = build(program, games, memory, folder)
                row = dict(games=number, memory=memory, processor=processor)
                row["text"] = (
                    f"| {number:,} | {memory} | {positions_of(program, book):,} | {size / 1e6:,.0f} MB"
                    f" | {clock:.1f} | {processor:.1f} | {peak:.0f} MB | {request_time(program, book):.2f} |"
                )
                print(row["text"], flush=True)
                rows.append(row)
    finally:
        shutil.rmtree(folder)
    head = (
        "| games | --memory | positions | book | clock, s | processor, s | memory | a request, ms |\n"
        "|---|---|---|---|---|---|---|---|\n"
    )
    note = f"\n\nOne run each, {os.cpu_count()} cores.\n\n![processor seconds by games](scale.svg)\n"
    table = f"{MARKS[0]}\n{head}" + "\n".join(row["text"] for row in rows) + note + MARKS[1]
    page = args.page.read_text()
    before, rest = page.split(MARKS[0])
    args.page.write_text(before + table + rest.split(MARKS[1])[1])
    plot(rows, args.page.with_name("scale.svg"))


if __name__ == "__main__":
    main()
