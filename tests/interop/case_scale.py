"""Books beyond one machine: records of shards, added up by SQL engines, give the same
book as all games at once, byte for byte."""

import subprocess
import sys
from pathlib import Path

from case_build import random_games
from paths import TABIA, folder
from procs import environment
from runner import case

SHARDS = 4
PLIES = ["--max-ply", "40"]

ADD_UP = Path(__file__).parent / "scale" / "add_up.py"


def check(command: list) -> None:
    done = subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def book(path: Path) -> list[bytes]:
    return [path.with_suffix(ending).read_bytes() for ending in (".ctg", ".cto", ".ctb")]


def shards() -> tuple[list[Path], list[bytes]]:
    """Four files of records, written in parallel, and the book of all games."""
    here = folder("shards")
    games = random_games(here / "games.pgn", 400)
    check([TABIA, "build", "-o", here / "direct.ctg", games, *PLIES])
    split = [f"[Event {game}" for game in games.read_text().split("[Event ")[1:]]
    assert len(split) == 400
    children, records = [], []
    for number in range(SHARDS):
        shard = here / f"{number}.pgn"
        shard.write_text("".join(split[number::SHARDS]))
        records.append(shard.with_suffix(".parquet"))
        command = [TABIA, "build", "--records", records[-1], shard, *PLIES]
        children.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment()))
    for child in children:
        _, output = child.communicate()
        assert child.returncode == 0, output
    return records, book(here / "direct.ctg")


def added_up_by(engine: str, pattern: str) -> None:
    records, direct = shards()
    here = folder(engine)
    check([sys.executable, ADD_UP, engine, here / "sum.parquet", *records])
    tables = sorted(here.glob(pattern))
    check([TABIA, "build", "-o", here / "sum.ctg", *tables])
    assert book(here / "sum.ctg") == direct, f"another book than that of all games ({engine})"
    # Without an SQL engine the sum is the same.
    check([TABIA, "build", "-o", here / "own.ctg", *records])
    assert book(here / "own.ctg") == direct, "another book than that of all games"


@case(limit=60)
def records_added_up_by_duckdb_make_the_same_book():
    added_up_by("duckdb", "sum.parquet")


@case(limit=120)
def records_added_up_by_spark_make_the_same_book():
    added_up_by("spark", "sum.parquet/*.parquet")
