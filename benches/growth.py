#!/usr/bin/env python3
"""How cost grows: games, memory and books, for docs/measured.md.

    cargo build --release --bin tabia --example random_games
    benches/growth.py --games 100000 1000000 10000000 --memory 64M 512M 4G
    benches/growth.py --books 100000 1000000 10000000 100000000 1000000000
    benches/growth.py --months 5000000

Writes three tables between their marks in docs/measured.md, and the plots
docs/scale.svg and docs/scale-books.svg next to it. Only rows measured again are
replaced.

* --games: builds books of these numbers of random games with each memory limit,
  and requests positions of each from a server. Ten million games take some minutes
  for a build and 13 GB of the folder; the smaller ones take four minutes in all.
* --books: probes and requests in books of these numbers of positions, which are
  sparse files: a thousand million positions take 200 MB of the folder, though the
  largest file says 70 GB.
* --months: this number of games in lichess's format, from a .zst of many frames and
  from a pipe, 40 plies and positions of two games or more. Five million take half an
  hour, half of it to make them, and 12 GB of the folder.
"""

import argparse
import math
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from measure import ROOT, run

REQUESTS = 300
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"]
RELEASE = ROOT / "target" / "release"
PROGRAM = str(RELEASE / "tabia")
MAKER = str(RELEASE / "examples" / "random_games")
# Games in a frame of the monthly files' form, in bytes of PGN.
FRAME = "16m"

TABLES = {
    "growth": ["games", "--memory", "positions", "book", "clock, s", "processor, s", "memory", "a request, ms"],
    "books": ["positions", "pages", "a probe, mapped, µs", "a probe, read, µs", "a request, ms"],
    "months": ["games", "source", "kept", "clock, s", "processor, s", "memory", "PGN, MB/s", "for each second of processor"],
}
# Number of cells that identify a row.
NAMES = {"growth": 2, "books": 1, "months": 3}


def size_of(folder):
    return sum(path.stat().st_size for path in folder.glob("book.*"))


def clear(folder):
    for path in folder.glob("book.*"):
        path.unlink()


def positions_of(book):
    info = subprocess.run([PROGRAM, "info", "--json", book], capture_output=True, text=True)
    found = re.search(r'"positions": *([0-9]+)', info.stdout)
    return int(found[1]) if found else 0


def request_time(book):
    """Median milliseconds of a request, each on a new connection."""
    command = [PROGRAM, "explore", "--read-only", "--no-open", "--port", "0", str(book)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.search(r"http://[^ /]+", server.stdout.readline())[0]
        # A sparse book has these lines.
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


def growth(numbers, memories, folder):
    """Books of random games."""
    book = folder / "book.ctg"
    for number in numbers:
        games = folder / "games.pgn"
        with open(games, "wb") as to:
            subprocess.run([MAKER, str(number), "24"], stdout=to, check=True)
        for memory in memories:
            clear(folder)
            options = ["--max-ply", "24", "--memory", memory, "--temp", str(folder)]
            clock, processor, peak = run([PROGRAM, "build", "-o", str(book), *options, str(games)])
            yield [
                *(f"{number:,}", memory, f"{positions_of(book):,}", f"{size_of(folder) / 1e6:,.0f} MB"),
                *(f"{clock:.1f}", f"{processor:.1f}", f"{peak:.0f} MB", f"{request_time(book):.2f}"),
            ]
        games.unlink()


def books(numbers, folder):
    """Sparse books with these numbers of positions."""
    book = folder / "book.ctg"
    for number in numbers:
        clear(folder)
        maker = ["cargo", "bench", "--quiet", "--bench", "sparse_book", "--"]
        made = subprocess.run([*maker, str(number), book], capture_output=True, text=True, check=True)
        pages, mapped, read = re.search(r"(\d+) pages: (\S+) (\S+)", made.stdout).groups()
        yield [f"{number:,}", f"{int(pages):,}", mapped, read, f"{request_time(book):.2f}"]


def months(number, folder):
    """Games in lichess's format, compressed like its monthly files."""
    book, packed = folder / "book.ctg", folder / "months.pgn.zst"
    maker = subprocess.Popen([MAKER, str(number), "80", "lichess"], stdout=subprocess.PIPE)
    with open(packed, "wb") as to:
        split = ["split", "-C", FRAME, "--filter", "zstd -qc", "-"]
        subprocess.run(split, stdin=maker.stdout, stdout=to, check=True)
    if maker.wait():
        raise SystemExit("random_games failed")
    unpack = ["zstd", "-dcq", str(packed)]
    counted = subprocess.run(["wc", "-c"], stdin=subprocess.Popen(unpack, stdout=subprocess.PIPE).stdout, capture_output=True)
    text = int(counted.stdout)
    for source, kept, options in [
        (".zst", "all", []),
        ("pipe", "all", []),
        (".zst", "a tenth", ["--min-elo", "2700"]),
    ]:
        clear(folder)
        command = [PROGRAM, "build", "-o", str(book), "--max-ply", "40", "--min-games", "2", *options]
        piped = source == "pipe"
        clock, processor, peak = run([*command, "-" if piped else str(packed)], unpack if piped else None)
        yield [
            *(f"{number:,}", source, kept, f"{clock:.1f}", f"{processor:.1f}", f"{peak:.0f} MB"),
            *(f"{text / clock / 1e6:.0f}", f"{text / processor / 1e6:.0f}"),
        ]


def number(cell):
    return float(cell.replace(",", "").split()[0])


def plot(title, series, path):
    """A plot with two logarithmic axes and a line for each series."""
    width, height, edge = 640, 400, 60
    xs = [x for line in series.values() for x, _ in line]
    ys = [y for line in series.values() for _, y in line]
    low_x, high_x = math.log10(min(xs)), math.log10(max(xs))
    low_y, high_y = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def place(x, y):
        x = (math.log10(x) - low_x) / max(high_x - low_x, 1e-9)
        y = (math.log10(y) - low_y) / max(high_y - low_y, 1e-9)
        return edge + x * (width - 2 * edge), height - edge - y * (height - 2 * edge)

    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{width / 2}" y="20" text-anchor="middle">{title}</text>',
    ]
    for power in range(low_y, high_y + 1):
        _, y = place(min(xs), 10.0**power)
        text.append(f'<path d="M{edge} {y:.1f}H{width - edge}" stroke="#ccc"/>')
        text.append(f'<text x="{edge - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for x in sorted(set(xs)):
        at, _ = place(x, 10.0**low_y)
        text.append(f'<text x="{at:.1f}" y="{height - edge + 18}" text-anchor="middle">{x:,.0f}</text>')
    for n, (name, line) in enumerate(series.items()):
        line = [place(x, y) for x, y in sorted(line)]
        colour = COLOURS[n % len(COLOURS)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        text.append(f'<polyline points="{points}" fill="none" stroke="{colour}"/>')
        text += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in line]
        text.append(f'<text x="{edge + 10}" y="{edge + 16 * n}" fill="{colour}">{name}</text>')
    path.write_text("\n".join([*text, "</svg>"]) + "\n")


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def write(page, name, new):
    """Puts rows into a table of the page, replacing older ones; returns all rows."""
    marks = f"<!-- {name} -->", f"<!-- /{name} -->"
    text = page.read_text()
    before, rest = text.split(marks[0])
    old, behind = rest.split(marks[1])
    rows = [cells(line) for line in old.splitlines() if line.startswith("| ")][1:]
    names = NAMES[name]
    rows = {tuple(row[:names]): row for row in [*rows, *new]}
    # By numbers of games or positions; otherwise in their order.
    rows = sorted(rows.values(), key=lambda row: number(row[0]))
    head = TABLES[name]
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" if line[0] != "---" else "|---" * len(line) + "|" for line in lines)
    page.write_text(f"{before}{marks[0]}\n{table}\n{marks[1]}{behind}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, nargs="+", default=[])
    parser.add_argument("--memory", nargs="+", default=["64M", "512M", "4G"])
    parser.add_argument("--books", type=int, nargs="+", default=[])
    parser.add_argument("--months", type=int)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "measured.md")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tabia-growth-", dir=args.folder))
    todo = {
        "growth": growth(args.games, args.memory, folder),
        "books": books(args.books, folder),
        "months": months(args.months, folder) if args.months else [],
    }
    try:
        for name, measured in todo.items():
            new = []
            for row in measured:
                print(" | ".join(row), flush=True)
                new.append(row)
            if not new:
                continue
            rows = write(args.page, name, new)
            series = {}
            if name == "growth":
                for row in rows:
                    series.setdefault(f"--memory {row[1]}", []).append((number(row[0]), number(row[5])))
                plot("Processor seconds of a build, by games", series, args.page.with_name("scale.svg"))
            elif name == "books":
                for column, title in [(2, "a probe, mapped, µs"), (3, "a probe, read, µs"), (4, "a request, ms")]:
                    series[title] = [(number(row[0]), number(row[column])) for row in rows]
                plot("A probe and a request, by positions", series, args.page.with_name("scale-books.svg"))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
