"""Books beyond one machine: the commands and statements of docs/cluster.md, as they stand there,
give the book of all games at once, byte for byte.

Python's package is used as it is shipped, without its native module, which needs a build of its
own (`python/check`): `tabia.spark` has only the list of endings from it.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from case_build import random_games
from npm import MODULES
from paths import ROOT, TABIA, folder
from procs import environment
from runner import case

PAGE = (ROOT / "docs" / "cluster.md").read_text()
HERE = Path(__file__).parent / "scale"


def blocks(language: str) -> list[str]:
    """The blocks of a language on the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(command: list, here: Path, code: int = 0, **more: str) -> str:
    """Runs a command in a folder; returns what it prints."""
    variables = {**environment(), "PATH": f"{Path(TABIA).parent}:{os.environ['PATH']}", **more}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=here, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=variables)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def build(here: Path, target: str, *words: str) -> list[bytes]:
    run([TABIA, "build", "-o", target, *words], here)
    return book(here / target)


def book(path: Path) -> list[bytes]:
    return [path.with_suffix(ending).read_bytes() for ending in (".ctg", ".cto", ".ctb")]


def games(name: str, count: int = 400, files: int = 2) -> Path:
    """A folder as the page has it: games1/may.pgn and games2/june.pgn, and more of them."""
    here = folder(name)
    text = random_games(here / "all.pgn", count).read_text()
    split = [f"[Event {game}" for game in text.split("[Event ")[1:]]
    assert len(split) == count
    names = ["games1/may.pgn", "games2/june.pgn", *(f"games1/{number}.pgn" for number in range(2, files))]
    for number, name in enumerate(names):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text("".join(split[number::files]))
    return here


@case(limit=60)
def the_page_adds_up_on_one_machine_and_by_duckdb():
    import duckdb

    here = games("duckdb")
    direct = build(here, "direct.ctg", "all.pgn")
    (lines,) = [block for block in blocks("sh") if "--records" in block]
    run(["sh", "-ec", lines], here)
    assert book(here / "both.ctg") == direct, "another book than that of all games"
    statements = blocks("sql")
    assert len(statements) == 2
    os.chdir(here)
    for statement, least in zip(statements, (1, 10)):
        (here / "sum.parquet").unlink(missing_ok=True)
        duckdb.execute(statement)
        expected = build(here, "expected.ctg", "all.pgn", "--min-games", str(least), "-f")
        assert build(here, "sum.ctg", "sum.parquet", "-f") == expected, f"another book for --min-games {least}"
    # What the engine does not notice, the book does.
    part = here / "may.parquet"
    whole = part.read_bytes()
    duckdb.execute(statements[0])
    good, other = 0, 0
    for number in range(40):
        damaged = bytearray(whole)
        at = int.from_bytes(hashlib.sha256(b"%d" % number).digest()[:6], "big") % (8 * len(whole))
        damaged[at // 8] ^= 1 << at % 8
        part.write_bytes(damaged)
        try:
            duckdb.execute(statements[0])
        except duckdb.Error:
            continue
        done = subprocess.run([TABIA, "build", "-f", "-o", "sum.ctg", "sum.parquet"], capture_output=True, env=environment())
        if done.returncode == 0:
            assert book(here / "sum.ctg") == direct, f"bit {at} makes another book"
            good += 1
        else:
            other += 1
    assert other > 0, "no damage went through DuckDB"
    return f"40 bits flipped in {len(whole)} bytes: {40 - good - other} refused by DuckDB, {other} by the book, {good} make no difference"


def package(here: Path, *path: Path, **more: str) -> dict[str, str]:
    """The variables with which `python` has the package; Spark runs without a network."""
    inside = here / "package" / "tabia"
    inside.mkdir(parents=True)
    for name in ("__main__.py", "spark.py"):
        shutil.copy(ROOT / "python" / "tabia" / name, inside)
    (inside / "__init__.py").write_text("")
    # In place of the native module.
    (inside / "_native.py").write_text("def game_endings():\n    return ['.pgn', '.pgn.zst']\n")
    conf = here / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text("spark.ui.enabled false\nspark.driver.bindAddress 127.0.0.1\nspark.driver.host 127.0.0.1\n")
    programs = [*path, Path(TABIA).parent, Path(sys.executable).parent]
    return {
        "PATH": ":".join([*map(str, programs), os.environ["PATH"]]),
        "PYTHONPATH": f"{inside.parent}:{os.environ.get('PYTHONPATH', '')}",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONF_DIR": str(conf),
        "SPARK_LOCAL_IP": "127.0.0.1",
        **more,
    }


@case(limit=300, all_only=True)
def the_page_adds_up_by_spark():
    here = games("spark")
    variables = package(here)
    for block, least in zip(blocks("bash"), ("10", "1", "1")):
        if "--index" in block:
            continue
        run(["bash", "-ec", block], here, **variables)
        expected = build(here, "expected.ctg", "all.pgn", "--min-games", least, "--max-ply", "24", "-f")
        assert book(here / "sum.ctg") == expected, f"another book than that of all games: {block}"
        assert not [name for name in os.listdir(here / "sum") if name == "_parts"]
        shutil.rmtree(here / "sum")
        for made in here.glob("sum.*"):
            made.unlink()


@case(limit=300, all_only=True)
def a_killed_executor_and_a_damaged_file_make_no_other_book():
    here = games("killed", files=8)
    direct = build(here, "direct.ctg", "all.pgn")
    programs = folder("programs")
    (programs / "tabia").symlink_to(HERE / "counting_program.py")
    variables = package(here, programs, TABIA_REAL=TABIA, TABIA_KILLED=str(here / "killed"))
    spark = [sys.executable, "-m", "tabia.spark", "--master", "local-cluster[2,1,1024]"]
    printed = run([*spark, "--input", "games1", "games2", "--output", "sum"], here, **variables)
    assert (here / "killed").is_dir(), "no executor was killed"
    assert "8 files, 400 games" in printed, printed
    assert build(here, "sum.ctg", "sum") == direct, "another book than that of all games"
    # A file that ends early: its first frame can be read.
    good = (here / "games1" / "may.pgn").read_bytes()
    packed = subprocess.run(["zstd", "-c"], input=good, capture_output=True, check=True).stdout
    (here / "games1" / "cut.pgn.zst").write_bytes(packed + packed[: len(packed) // 2])
    words = [*spark, "--input", "games1", "games2"]
    printed = run([*words, "--output", "strict", "--strict"], here, code=1, **variables)
    assert "cut.pgn.zst" in printed and not list((here / "strict").glob("*.parquet")), printed
    printed = run([*words, "--output", "left"], here, **variables)
    assert "left out: " in printed and "cut.pgn.zst" in printed and "8 files, 400 games, 1 files left out" in printed, printed
    assert build(here, "left.ctg", "left") == direct, "another book without the damaged file"


@case(limit=120, all_only=True)
def the_readers_of_the_page_read_the_keys():
    """The table of the page names each reader with the version that was tried."""
    here = games("readers")
    run([TABIA, "build", "--records", "may.parquet", "games1"], here)
    file = str(here / "may.parquet")
    import duckdb
    import pandas
    import polars
    import pyarrow
    import pyarrow.parquet

    def digest(keys) -> str:
        whole = hashlib.sha256()
        for key in keys:
            assert isinstance(key, bytes)
            whole.update(bytes([len(key)]) + key)
        return whole.hexdigest()

    table = pyarrow.parquet.read_table(file, page_checksum_verification=True)
    expected = digest(table["key"].to_pylist())
    found = {
        "pyarrow": (pyarrow.__version__, expected),
        "DuckDB": (duckdb.__version__, digest(row[0] for row in duckdb.execute(f"SELECT key FROM '{file}'").fetchall())),
        "polars": (polars.__version__, digest(polars.read_parquet(file)["key"].to_list())),
        "pandas": (pandas.__version__, digest(pandas.read_parquet(file)["key"])),
    }
    printed = run(["node", HERE / "keys.mjs", MODULES, file], here)
    found["hyparquet"] = tuple(printed.split())
    variables = package(here)
    script = (
        "import pyspark, json; from pyspark.sql import SparkSession as S\n"
        f"rows = S.builder.getOrCreate().read.parquet({file!r}).select('key').collect()\n"
        "print('KEYS', json.dumps([pyspark.__version__, [bytes(row.key).hex() for row in rows]]))"
    )
    printed = run([sys.executable, "-c", script], here, **variables)
    version, keys = json.loads(re.search("KEYS (.*)", printed)[1])
    found["Spark"] = (version, digest(map(bytes.fromhex, keys)))
    for reader, (version, seen) in found.items():
        assert seen == expected, f"{reader} {version} reads other keys"
        assert re.search(rf"^\| {reader} \| {re.escape(version)} \|", PAGE, re.MULTILINE), f"the page does not name {reader} {version}"
    assert len(found) == len(re.findall(r"^\| [\w]+ \| \d+\.\d+\.\d+ \|", PAGE, re.MULTILINE)), "a reader that was not tried"
