#!/usr/bin/env python3
"""Measures tabia on a quiet machine and writes the table of docs/measured.md.

    cargo build --release --bin tabia --example random_games --example read_games --example validate_moves
    cargo bench --no-run --bench probe --bench relay
    python/check
    benches/measure.py GAMES.pgn [--runs 3] [--only WORDS] [--folder DIR]

Before a change and after it, for pairs of old and new with their ratio:

    benches/measure.py --save before
    benches/measure.py GAMES.pgn --old before --only "build,"

Each case runs with all programs in turn; commands that read a whole book have the ratio of
their processor time to that of the build of this book. Medians of clock, processor (user and
system together) and the largest memory come from the system's data about the
ended process. --save saves the binary in target/baselines under a name; with
--old, such a name or any binary, each case runs seven times in turn with both,
and the ratio of processor time is added. --only runs the cases whose names
contain its words, makes only the files that these need, and does not change the
page. Polyglot and the `parser` of mcostalba/chess_db, if installed, make books
from the same games. Look-ups from Python (benches/polyglot.py, by the package that
python/check installs) and from Rust, and what the adapter adds to an engine's
answers (the benches probe and relay), follow as these programs print them.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The page has the results between these.
MARKS = ("<!-- measured -->", "<!-- /measured -->")


# Formats in which games can be written.
DATABASES = ["pgn", "si5", "dci"]

# The build of the book that the commands for whole books read.
BUILD = "build, 40 plies"


def run(command, pipe=None):
    """Seconds on the clock, of processors, and megabytes. The output of the
    command `pipe` is the input."""
    source = subprocess.Popen(pipe, stdout=subprocess.PIPE) if pipe else None
    start = time.monotonic()
    child = subprocess.Popen(
        command,
        stdin=source.stdout if source else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    if source:
        source.stdout.close()
    stderr = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    clock = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if source:
        source.wait()
    # 1 is an answer, too: two books differ.
    if child.returncode not in (0, 1):
        sys.exit(f"{command}: {stderr.decode(errors='replace')}")
    return clock, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def cases(games, months, folder):
    """Name, arguments after the program, piped command, bytes of PGN."""
    book, other = folder / "all.ctg", folder / "other.ctg"
    out = folder / "out"
    text = games.stat().st_size
    # Set when they are made.
    month = "months"

    def build(name, source, *options, size=text, pipe=None, kind="ctg"):
        target = f"{out}.{kind}"
        return name, ["build", "-o", target, *options, str(source)], pipe, size

    yield build("build, 40 plies, one thread", games, "--threads", "1")
    yield build(BUILD, games)
    yield build("build, 40 plies, --memory 64M", games, "--memory", "64M")
    yield build("build, whole games, --memory 256M", games, "--max-ply", "1000", "--memory", "256M")
    yield build("build to .bin, 40 plies", games, kind="bin")
    yield build("build to .bin, whole games, one thread", games, "--max-ply", "1000", "--threads", "1", kind="bin")
    yield build("build to .bin, whole games", games, "--max-ply", "1000", kind="bin")
    packed = Path(f"{months}.zst")
    yield build("lichess form, from .zst", packed, size=month)
    yield build("lichess form, from a pipe", "-", size=month, pipe=["cat", str(months)])
    yield build("lichess form, a tenth kept", months, "--min-elo", "2700", size=month)
    def index(name, source, *options, size=text):
        return name, ["index", "-o", f"{out}.tgx", *options, str(source)], None, size

    yield index("index, 50 plies", games)
    yield index("index, 50 plies, --memory 64M", games, "--memory", "64M")
    yield index("index, lichess form, 50 plies", months, size=month)
    for kind in ("bin", "csv", "jsonl", "pgn"):
        yield f"convert to .{kind}", ["convert", str(book), f"{out}.{kind}"], None, None
    # Keys and no boards: whoever reads it walks along its moves.
    keyed = folder / "keyed.bin"
    for kind in ("ctg", "csv", "pgn"):
        yield f"convert from .bin to .{kind}", ["convert", str(keyed), f"{out}.{kind}"], None, None
    yield "verify a .bin", ["verify", str(keyed)], None, None
    yield "convert from .jsonl", ["convert", str(folder / "all.jsonl"), f"{out}.ctg"], None, None
    yield "verify", ["verify", str(book)], None, None
    yield "diff", ["diff", str(book), str(other)], None, None
    yield "diff, the other to ply 30", ["diff", str(book), str(folder / "ply30.ctg")], None, None
    yield "compact", ["compact", str(book), "-o", f"{out}.ctg"], None, None
    marks = ["--all", "--where", "games<10 and score<40", "avoid", "--dry-run"]
    yield "mark --where, nothing written", ["mark", str(book), *marks], None, None
    rare = ["--min-games", "5", "--max-ply", "24"]
    yield "prune", ["prune", str(book), *rare, "-o", f"{out}.ctg"], None, None
    yield "repertoire", ["repertoire", str(book), "--colour", "white", "-o", f"{out}.pgn"], None, None
    yield "suite of a book", ["suite", str(book), "-o", f"{out}.epd"], None, None
    yield "audit, a tenth evaluated", ["audit", str(book)], None, None
    for kind in DATABASES:
        many = folder / f"many.{kind}"
        yield build(f"1,000,000 games from .{kind}, 24 plies, --memory 64M", many, "--max-ply", "24", "--memory", "64M", size=None)
    yield build("1,000,000 games from .pgn to .bin, 24 plies", folder / "many.pgn", "--max-ply", "24", size=None, kind="bin")


def readings(games, folder):
    """The cases of `read_games`, which checks every move and makes no book."""
    for kind in DATABASES:
        yield f"reading the real games from .{kind}", [str(games if kind == "pgn" else folder / f"real.{kind}")]


def plies_of(reader, games):
    """The plies that a program reads from games."""
    moves = re.search(r"moves: (\d+)", text_of([str(reader), str(games)]))
    if not moves:
        sys.exit(f"{reader} {games}: no count of moves")
    return int(moves[1])


def a_second(size, plies, clock):
    """How much of its source a case reads: megabytes, or millions of plies."""
    if plies:
        return f"{plies / clock / 1e6:.1f}M"
    return f"{size / clock / 1e6:.0f}" if size else ""


def makers(program, games, folder):
    """How to make the files that cases read."""
    tools = ROOT / "target" / "release" / "examples"
    months, book, many = folder / "months.pgn", folder / "all.ctg", folder / "many.pgn"

    def random_games(path, *arguments):
        with open(path, "wb") as to:
            subprocess.run([tools / "random_games", *arguments], stdout=to, check=True)

    def pack():
        # Many frames, as in the monthly files.
        split = ["split", "-C", "16m", "--filter", "zstd -qc", str(months)]
        with open(f"{months}.zst", "wb") as to:
            subprocess.run(split, stdout=to, check=True)

    def evaluated_book():
        """A file with a value for every tenth position."""
        run([program, "build", "-o", str(book), str(games)])
        run([program, "convert", str(book), str(folder / "all.jsonl")])
        with open(folder / "all.jsonl") as lines, open(folder / "tenth.epd", "w") as to:
            for number, line in enumerate(lines):
                if number % 10 == 1:
                    board = json.loads(line)["fen"].rsplit(" ", 2)[0]
                    to.write(f"{board} ce {number // 10 % 400 - 200}; acd 20;\n")
        run([program, "evaluate", str(book), "--import", str(folder / "tenth.epd")])

    def database(source, target):
        return [source], lambda: run([program, "games", str(source), "-o", str(target)])

    # The sources of each file, and how to make it.
    found = {
        months: ([], lambda: random_games(months, "300000", "80", "lichess")),
        Path(f"{months}.zst"): ([months], pack),
        book: ([], evaluated_book),
        folder / "all.jsonl": ([book], lambda: None),
        folder / "all.bin": ([book], lambda: run([program, "convert", str(book), str(folder / "all.bin")])),
        folder / "keyed.bin": ([], lambda: run([program, "build", "-o", str(folder / "keyed.bin"), str(games)])),
        folder / "other.ctg": ([], lambda: run(
            [program, "build", "-o", str(folder / "other.ctg"), "--min-games", "2", str(games)]
        )),
        folder / "ply30.ctg": ([], lambda: run(
            [program, "build", "-o", str(folder / "ply30.ctg"), "--max-ply", "30", str(games)]
        )),
        many: ([], lambda: random_games(many, "1000000", "24")),
    }
    linked = folder / "real.pgn"
    found[linked] = ([], lambda: linked.symlink_to(games.resolve()))
    for kind in DATABASES[1:]:
        for name, source in [("many", many), ("real", games)]:
            target = folder / f"{name}.{kind}"
            found[target] = database(source, target)
    return found


def make(path, how):
    """Makes a missing file, if there is a rule for it."""
    sources, maker = how.get(Path(path), ([], None))
    if maker and not Path(path).exists():
        for source in sources:
            make(source, how)
        maker()


def rivals(games, folder):
    """Other programs with the same games, and their books: run once, because they are
    slow. (If polyglot cannot read the games, its row is missing.)"""
    text = games.stat().st_size
    polyglot = shutil.which("polyglot", path=f"{os.environ['PATH']}{os.pathsep}/usr/games")
    if polyglot:
        book = folder / "out.bin"
        for name, source, plies, size in [
            ("polyglot make-book, 40 plies", games, "40", text),
            ("polyglot make-book, 1,000,000 games, 24 plies", folder / "many.pgn", "24", None),
        ]:
            make = [polyglot, "make-book", "-pgn", str(source), "-bin", str(book)]
            yield name, [*make, "-max-ply", plies, "-min-game", "1"], book, size
    if parser := shutil.which("parser"):
        # It writes its output next to the games.
        command = [parser, "book", str(folder / "real.pgn"), "full"]
        yield "chess_db, whole games", command, folder / "real.bin", text


def text_of(command, **options):
    """The output of a program; if it cannot run, the reason."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **options)
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    return done.stdout.rstrip() if done.returncode == 0 else done.stderr.rstrip()


def looked_up(folder):
    """Headings, each with the output of a program."""
    venv = ROOT / "target" / "python" / "venv" / "bin" / "python"
    books = [str(folder / "all.bin"), str(folder / "all.ctg")]
    if venv.is_file():
        yield "Look-ups a second from Python", text_of([venv, ROOT / "benches" / "polyglot.py", *books])
    else:
        print("without the package: python/check installs it", file=sys.stderr)
    for title, bench in [
        ("Look-ups from Rust", "probe"),
        ("What the adapter adds", "relay"),
        ("Work over the starter book", "books"),
    ]:
        # Sending between processors includes waking one up, in any program; so all
        # processes run on one.
        pinned = ["taskset", "-c", "1"] if bench == "relay" and shutil.which("taskset") else []
        yield title, text_of([*pinned, "cargo", "bench", "--quiet", "--bench", bench])


def versions():
    """The measured programs and the machine, one on each line."""
    names = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*: (.*)", names)
    yield model[1] if model else platform.processor()
    yield f"{platform.system()} {platform.release()}"
    yield text_of([ROOT / "target" / "release" / "tabia", "--version"])
    yield text_of(["rustc", "--version"])
    yield f"Python {platform.python_version()}"
    venv = ROOT / "target" / "python" / "venv" / "bin" / "python"
    if venv.is_file():
        yield "python-chess " + text_of([venv, "-c", "import chess; print(chess.__version__)"])
    package = text_of(["dpkg-query", "-W", "-f", "polyglot ${Version} of Debian", "polyglot"])
    if package.startswith("polyglot "):
        yield package


def clear(folder):
    for path in folder.glob("out*"):
        path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", type=Path, nargs="?")
    parser.add_argument("--save", metavar="NAME", help="keep the binary for later --old, and end")
    parser.add_argument("--old", metavar="NAME", help="a kept binary, or the path of one")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--only", default="", help="cases whose names hold this")
    parser.add_argument("--folder", type=Path, help="for books; some gigabytes")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "measured.md")
    args = parser.parse_args()
    began = time.monotonic()
    release = ROOT / "target" / "release"
    baselines = ROOT / "target" / "baselines"
    readers = {"new": release / "examples" / "read_games"}
    programs = {"new": release / "tabia"}
    if args.save:
        (baselines / args.save).mkdir(parents=True, exist_ok=True)
        for program in [programs["new"], readers["new"]]:
            if program.is_file():
                shutil.copy2(program, baselines / args.save)
        return
    if not args.games:
        parser.error("which games?")
    # Programs run in other folders.
    args.games = args.games.absolute()
    if args.old:
        kept = baselines / args.old
        programs["old"] = kept / "tabia" if kept.is_dir() else Path(args.old)
        if (kept / "read_games").is_file():
            readers["old"] = kept / "read_games"
        if not programs["old"].is_file():
            parser.error(f"{programs['old']}: no such program")
    args.runs = args.runs or (7 if args.old else 3)
    folder = Path(tempfile.mkdtemp(prefix="tabia-measure-", dir=args.folder))
    how = makers(str(programs["new"]), args.games, folder)
    try:
        months = folder / "months.pgn"
        todo = [(programs, *case) for case in cases(args.games, months, folder)]
        # The same work by the crate pgn-reader, in turns: then "old" is pgn-reader, and has
        # a row of its own.
        other = release / "examples" / "validate_moves"
        for name, read in readings(args.games, folder):
            pair = readers
            if other.is_file() and not args.old and read == [str(args.games)]:
                pair = {"new": readers["new"], "old": other}
            todo.append((pair, name, read, None, None))
        rows = []

        # Processor seconds of the build of the whole book.
        built = None

        def add(name, figures, rate, builds="", ratio=""):
            clock, processor, memory = figures
            numbers = f"{clock:.2f} | {processor:.2f} | {memory:.0f} | {rate} | {builds} | {ratio}"
            rows.append(f"| {name} | {numbers} |")
            print(rows[-1], flush=True)

        for whose, name, arguments, pipe, size in todo:
            if args.only not in name:
                continue
            for needed in [*arguments, *(pipe or [])]:
                make(needed, how)
            if size == "months":
                make(months, how)
                size = months.stat().st_size
            is_of_book = str(folder / "all.ctg") in arguments
            if is_of_book and built is None:
                build = [str(programs["new"]), "build", "-o", f"{folder / 'out.ctg'}", str(args.games)]
                clear(folder)
                built = run(build)[1]
            taken = {who: [] for who in whose}
            for _ in range(args.runs):
                for who, program in whose.items():
                    clear(folder)
                    taken[who].append(run([str(program), *arguments], pipe))
            medians = {
                who: [statistics.median(column) for column in zip(*runs)]
                for who, runs in taken.items()
            }
            if name == BUILD:
                built = medians["new"][1]
            shown = {name: "new"}
            if whose.get("old") == other:
                shown["the same by pgn-reader"] = "old"
            for name, who in shown.items():
                reads = whose is not programs and plies_of(whose[who], arguments[0])
                ratio = ""
                if who == "new" and "old" in medians:
                    ratio = f"{medians['new'][1] / medians['old'][1]:.2f}"
                builds = f"{medians[who][1] / built:.2f}" if is_of_book else ""
                add(name, medians[who], a_second(size, reads, medians[who][0]), builds, ratio)
        if not args.only:
            make(folder / "all.bin", how)
        for name, command, book, size in rivals(args.games, folder):
            if args.only in name:
                for needed in command:
                    make(needed, how)
                clear(folder)
                figures = run(command)
                # It reports an error with exit code 0.
                if not book.is_file():
                    print(f"{command}: no book", file=sys.stderr)
                    continue
                add(name, figures, a_second(size, None, figures[0]))
        sections = []
        for title, text in [] if args.only else looked_up(folder):
            text = text.replace(f"{folder}{os.sep}", "")
            sections.append(f"\n## {title}\n\n```text\n{text}\n```\n")
            print(sections[-1], flush=True)
    finally:
        shutil.rmtree(folder)
    if args.only:
        return
    cores = os.cpu_count()
    before, rest = args.page.read_text().split(f"{MARKS[0]}\n", 1)
    after = rest.split(MARKS[1], 1)[1]
    table = (
        "Games:"
        f" `{args.games.name}`, {args.games.stat().st_size / 1e6:.0f} MB; {cores} cores;"
        f" medians of {args.runs} runs; builds: of 40 plies.\n\n"
        + "".join(f"* {line}\n" for line in versions())
        + "\n| case | clock, s | processor, s | memory, MB | PGN, MB/s; plies/s | processor, builds | processor, new to old |\n"
        "|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )
    print("".join(sections), f"\nall of it took {(time.monotonic() - began) / 60:.0f} minutes")
    args.page.write_text(f"{before}{MARKS[0]}\n{table}{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
