"""``python -m tabia.spark``: counts games on a Spark cluster.

One file of games is one task: it runs the program of this package, with one thread and 256 MB,
into the disk of the worker, and copies the records to the output under the name that the file of
games gives them. A task that is repeated, or runs twice at once, so writes the same file again;
it is renamed when it is complete, and nothing reads a folder to find out what was counted. Then
Spark adds the records up.

Rows that `mapInArrow` hands over need no shared folder, but took half as much processor time again
(PySpark 4.3.0, pyarrow 26.0.1: 48 s for 31, of 145,716 games).

All workers must have this package, and see the games and the output under the same paths.
"""

import argparse
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from typing import Any, NamedTuple, NoReturn, Optional

from tabia._native import game_endings
from tabia.__main__ import NO_PROGRAM, program

COLUMNS = ["games", "wins", "draws", "losses", "own_rated", "own_sum", "other_rated", "other_sum", "main"]
SCHEMA = "key BINARY, move INT, " + ", ".join(f"{name} BIGINT" for name in COLUMNS)
# As in docs/cluster.md, where DuckDB runs it too.
SUM = (
    "SELECT key, move, "
    + ", ".join(f"CAST(SUM({name}) AS BIGINT) AS {name}" for name in COLUMNS)
    + " FROM records GROUP BY key, move"
)


class Task(NamedTuple):
    source: str
    target: str
    options: list[str]


class Counted(NamedTuple):
    """What a task reports."""

    source: str
    target: str
    games: int
    skipped: int
    # Why there are no records of the file.
    error: Optional[str]


class Failure(Exception):
    """The job ends; the text is for the user."""


def run_program(work: str, target: str, options: list[str], source: str) -> "tuple[str, dict[str, Any]]":
    """Counts a file; returns what is wrong with it, else the numbers of the program."""
    found = program()
    if found is None:
        raise Failure(f"{socket.gethostname()}: {NO_PROGRAM}")
    kind = ["index", "-o"] if target.endswith(".tgx") else ["build", "--records"]
    command = [found, *kind, target, "--threads", "1", "--memory", "256M", "--temp", work, "--json", *options, source]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        numbers = json.loads(done.stdout)
        # The program reads a file up to where it is damaged, and says so: then a part would be
        # missing without a word.
        damaged = numbers["cut_sources"] > 0
        return (" ".join(done.stderr.split()) if damaged else ""), numbers
    if done.returncode < 0:
        # By the system, for want of memory: Spark tries it again.
        raise Failure(f"{source}: the program was killed by signal {-done.returncode}")
    return " ".join(done.stderr.split()) or f"exit code {done.returncode}", {}


def count(task: Task) -> Counted:
    """A task: counts one file into the disk of this machine, and copies the result."""
    disks = os.environ.get("LOCAL_DIRS") or os.environ.get("SPARK_LOCAL_DIRS") or tempfile.gettempdir()
    with tempfile.TemporaryDirectory(prefix="tabia-", dir=disks.split(",")[0]) as work:
        name = os.path.basename(task.target)
        made = os.path.join(work, name)
        error, numbers = run_program(work, made, task.options, task.source)
        if error:
            return Counted(task.source, task.target, 0, 0, error)
        # A name that no engine reads. Another run of this task has another one.
        copy = os.path.join(os.path.dirname(task.target), f".{name}.{os.getpid()}-{time.time_ns()}.tmp")
        shutil.copyfile(made, copy)
        if os.path.getsize(copy) != os.path.getsize(made):
            raise Failure(f"{copy}: was not copied as a whole")
        os.replace(copy, task.target)
    skipped = numbers.get("skipped", 0) + numbers.get("cut", 0)
    return Counted(task.source, task.target, numbers["games"], skipped, None)


def sources(paths: list[str]) -> list[str]:
    """The files of games, the largest first: what takes longest begins first."""
    found: dict[str, int] = {}
    endings = tuple(game_endings())
    for path in paths:
        path = os.path.abspath(path)
        inside = []
        if os.path.isdir(path):
            for folder, _, names in os.walk(path):
                inside += [os.path.join(folder, name) for name in names if name.lower().endswith(endings)]
            if not inside:
                raise Failure(f"{path}: the folder has no games")
        elif not os.path.isfile(path):
            raise Failure(f"{path}: no such file")
        for file in inside or [path]:
            found[file] = os.path.getsize(file)
    return sorted(found, key=lambda file: (-found[file], file))


def named_after(source: str, ending: str) -> str:
    """The name of what is made of a file, another one for a file of this name elsewhere."""
    place = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{os.path.basename(source)}-{place}{ending}"


def check_options(options: list[str], ending: str) -> None:
    """Fails, before any task, as the program does if it cannot use the options."""
    with tempfile.TemporaryDirectory(prefix="tabia-") as work:
        game = os.path.join(work, "one.pgn")
        with open(game, "w") as out:
            out.write('[Event "?"]\n\n1. e4 *\n')
        error, _ = run_program(work, os.path.join(work, "one" + ending), options, game)
        if error and not (ending == ".tgx" and "no game" in error):
            raise Failure(error)


def session(master: Optional[str]) -> Any:
    try:
        pyspark = import_module("pyspark")
        sql = import_module("pyspark.sql")
    except ImportError:
        raise Failure("PySpark is not installed: pip install pyspark (it needs Java)") from None
    conf = pyspark.SparkConf()
    # Else that of spark-submit, whose own default is local[*].
    if master:
        conf.setMaster(master)
    for name, value in {
        "spark.app.name": "tabia",
        # Spark does not test the checksums of pages unless this is set.
        "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
        # A file that is missing or damaged must end the job.
        "spark.sql.files.ignoreMissingFiles": "false",
        "spark.sql.files.ignoreCorruptFiles": "false",
    }.items():
        conf.set(name, value)
    try:
        return sql.SparkSession.builder.config(conf=conf).getOrCreate()
    except Exception as error:
        raise Failure(f"Spark cannot be started: {cause(error)}") from None


def cause(error: Exception) -> str:
    """The line of a Java trace that says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:") or ".Failure: " in line]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0]


def add_up(spark: Any, parts: list[str], output: str, least: int) -> int:
    """Adds records up into sorted files of the folder; returns the number of games in them."""
    context = spark.sparkContext
    context.setJobDescription(f"tabia: adding up {len(parts)} files of records")
    # Explicit files: a folder may have others.
    records = spark.read.schema(SCHEMA).parquet(*parts)
    # In the order of the result already: a sum by hash would be sorted, and sent, once more.
    records.repartitionByRange("key").createOrReplaceTempView("records")
    having = f" HAVING SUM(games) >= {least} OR octet_length(key) = 0" if least > 1 else ""
    total = spark.sql(SUM + having).sortWithinPartitions("key", "move")
    total.write.mode("append").option("compression", "snappy").parquet(output)
    context.setJobDescription("tabia: games of the sum")
    written = spark.read.schema(SCHEMA).parquet(output).where("octet_length(key) = 0")
    return int(written.selectExpr("CAST(SUM(games) AS BIGINT)").first()[0] or 0)


def work(args: argparse.Namespace, options: list[str]) -> int:
    output = os.path.abspath(args.output)
    if os.path.isdir(output) and os.listdir(output):
        raise Failure(f"{output}: is not empty; give another folder, or remove it")
    ending = ".tgx" if args.index else ".parquet"
    if args.min_games > 1 and (args.index or args.count_only):
        raise Failure("--min-games applies when Spark adds up; give it to `tabia build`")
    files = sources(args.input)
    check_options(options, ending)
    adds = not (args.index or args.count_only)
    folder = os.path.join(output, "_parts") if adds else output
    tasks = [Task(file, os.path.join(folder, named_after(file, ending)), options) for file in files]
    spark = session(args.master)
    try:
        os.makedirs(folder, exist_ok=True)
        context = spark.sparkContext
        context.setLogLevel("ERROR")
        context.setJobDescription(f"tabia: counting {len(tasks)} files of games")
        counted = context.parallelize(tasks, len(tasks)).map(count).collect()
        for name in os.listdir(folder):
            # Of tasks that were killed.
            if name.startswith(".") and name.endswith(".tmp"):
                os.unlink(os.path.join(folder, name))
        damaged = [one for one in counted if one.error is not None]
        for one in damaged:
            print(f"tabia: left out: {one.error}", file=sys.stderr)
        good = [one for one in counted if one.error is None]
        games, skipped = sum(one.games for one in good), sum(one.skipped for one in good)
        if args.strict and (damaged or skipped):
            print(f"tabia: {len(damaged)} files left out, {skipped} games skipped (--strict); the rest is in {folder}", file=sys.stderr)
            return 1
        if not good:
            raise Failure("no file could be counted")
        if adds:
            added = add_up(spark, [one.target for one in good], output, args.min_games)
            if added != games:
                raise Failure(f"{output}: {added} games, but {games} were counted; the records are in {folder}")
            shutil.rmtree(folder)
    except (Failure, KeyboardInterrupt):
        raise
    except Exception as error:
        raise Failure(f"Spark ended the job: {cause(error)}; what was counted is in {folder}") from None
    finally:
        spark.stop()
    left = f", {len(damaged)} files left out" if damaged else ""
    left += f", {skipped} games skipped or cut short" if skipped else ""
    then = f"tabia index -o GAMES.tgx {args.output}" if args.index else f"tabia build -o BOOK.ctg {args.output}"
    print(f"{len(good)} files, {games} games{left}; {then}", file=sys.stderr)
    return 0


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}; see python -m tabia.spark --help")


def main(words: list[str]) -> int:
    parser = Parser(
        prog="python -m tabia.spark",
        description="Counts games on a Spark cluster, one file of games a task, into sorted Parquet.",
        epilog="All other options go to `tabia build --records` (conditions on games, --max-ply, ...): see "
        "`tabia build --help`, and docs/cluster.md. Each worker needs this package; games and output have the "
        "same paths everywhere.",
        allow_abbrev=False,
    )
    parser.add_argument("--input", nargs="+", required=True, action="extend", metavar="PATH", help="files of games, or folders")
    parser.add_argument("--output", required=True, metavar="FOLDER", help="a new folder; `tabia build -o OUT.ctg FOLDER` makes the book")
    parser.add_argument("--master", metavar="URL", help="the cluster [default: that of spark-submit, else local[*]]")
    parser.add_argument("--min-games", type=int, default=1, metavar="N", help="leaves out positions and moves of fewer games")
    parser.add_argument("--strict", action="store_true", help="ends with code 1 if a file cannot be read or games are skipped; else they are named and counted")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--count-only", action="store_true", help="leaves one file of records for each file of games; `tabia build` adds them up")
    kinds.add_argument("--index", action="store_true", help="leaves one games index for each file of games; `tabia index -o GAMES.tgx FOLDER` joins them")
    try:
        args, options = parser.parse_known_args(words)
        return work(args, options)
    except Failure as failure:
        print(f"tabia: {failure}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    # By its name: what workers get must not be of `__main__`.
    sys.exit(import_module("tabia.spark").main(sys.argv[1:]))
