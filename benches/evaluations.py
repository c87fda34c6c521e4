#!/usr/bin/env python3
"""What evaluations cost.

    benches/evaluations.py engine TABIA STOCKFISH [POSITIONS]
    benches/evaluations.py lichess TABIA [LINES]

`engine`: nodes per second of processor time of an engine run by `tabia evaluate`,
all processes counted, compared with the same searches of the engine alone.
`lichess`: imports a file in the format of Lichess's export with 700 positions of
the starter book among LINES generated ones: megabytes of JSON per second of
processor time, memory, and whether all were found.
"""

import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BOOKS = Path(__file__).resolve().parent.parent / "books"


def copy_of_starter(folder: Path) -> Path:
    for end in ("ctg", "cto", "ctb"):
        shutil.copy(BOOKS / f"tabia.{end}", folder)
    return folder / "tabia.ctg"


def processor_seconds(work) -> float:
    """Resources used by all descendants of this process."""
    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    work()
    return used() - before


def engine(tabia: str, stockfish: str, positions: int = 300) -> None:
    nodes = 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book = copy_of_starter(folder)
        log = folder / "asked"
        # A shell script in between records the requests.
        spy = folder / "spy"
        spy.write_text(f'#!/bin/sh\ntee "{log}" | "{stockfish}"\n')
        spy.chmod(0o755)

        def evaluate(command) -> None:
            arguments = ["--nodes", str(nodes), "--jobs", "1", "--positions", str(positions)]
            (folder / "tabia.evals").unlink(missing_ok=True)
            done = subprocess.run([tabia, "evaluate", book, *arguments, "--", command], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr

        evaluate(str(spy))
        asked = log.read_text().splitlines(keepends=True)
        searches = sum(line.startswith("go ") for line in asked)

        def alone() -> None:
            process = subprocess.Popen([stockfish], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for line in asked:
                process.stdin.write(line)
                if line.startswith("go "):
                    process.stdin.flush()
                    while not process.stdout.readline().startswith("bestmove"):
                        pass
            process.communicate()

        # Alternating: other load of the machine affects both.
        rounds = [(processor_seconds(lambda: evaluate(stockfish)), processor_seconds(alone)) for _ in range(3)]
        ours, theirs = (min(times) for times in zip(*rounds))
    total = searches * nodes
    print(f"{positions} positions, {searches} searches of {nodes} nodes")
    print(f"evaluate: {total / ours:,.0f} nodes per processor second")
    print(f"alone:    {total / theirs:,.0f} nodes per processor second")
    print(f"share:    {100 * theirs / ours:.1f} %")


def lichess(tabia: str, lines: int = 10_000_000) -> None:
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book = copy_of_starter(folder)
        listed = subprocess.run([tabia, "convert", book, folder / "book.jsonl"], capture_output=True)
        assert listed.returncode == 0, listed.stderr
        with (folder / "book.jsonl").open() as file:
            fens = [json.loads(line)["fen"] for line in file if '"fen"' in line]
        hits = set(chance.sample(range(lines), 700))
        known = iter(chance.sample(fens, 700))
        pv = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1h1 f8e7"
        made = 'rnbqkbnr/pp{}/8/8/{}/8/PPPPPPPP/RNBQKBNR b KQkq -'
        export = folder / "export.jsonl"
        with export.open("w") as file:
            for number in range(lines):
                if number in hits:
                    fen = " ".join(next(known).split()[:4])
                else:
                    # Two pawns more or less, anywhere: these positions are in no game.
                    rank = "".join(chance.choice("1pnb") for _ in range(6))
                    fen = made.format(rank, "".join(chance.choice("1PNB") for _ in range(8)))
                cp = chance.randrange(-300, 300)
                file.write(
                    f'{{"fen":"{fen}","evals":[{{"pvs":[{{"cp":{cp},"line":"{pv}"}}],'
                    f'"knodes":206765,"depth":36}},{{"pvs":[{{"cp":{cp},"line":"{pv}"}},'
                    f'{{"cp":{cp - 9},"line":"{pv}"}}],"knodes":92958,"depth":34}}]}}\n'
                )
        size = export.stat().st_size / 1e6
        messages = []

        def take() -> None:
            done = subprocess.run([tabia, "evaluate", book, "--import", export], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            messages.append(done.stderr)

        seconds = processor_seconds(take)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        assert "700 evaluations of positions of the book, 700 of them new" in messages[0], messages[0]
    print(f"{lines:,} lines, {size:,.0f} MB: {size / seconds:.0f} MB per processor second,")
    print(f"{memory:.0f} MB of memory at most, all of 700 positions found")


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    numbers = [int(text) if text.isdigit() else text for text in arguments]
    {"engine": engine, "lichess": lichess}[what](*numbers)
