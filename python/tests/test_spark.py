"""`tabia.spark`, as far as it goes without Spark: tests/interop runs it on a cluster."""

import gzip
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from tabia import spark
from tabia._native import game_endings

GAMES = '[Event "?"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n[Event "?"]\n\n1. d4 *\n'


def task(folder: Path, name: str, text: str, *options: str) -> spark.Task:
    source = folder / name
    source.write_text(text)
    output = folder / "out"
    output.mkdir(exist_ok=True)
    return spark.Task(str(source), str(output / spark.named_after(str(source), ".parquet")), list(options))


def names(folder: Path) -> list:
    return sorted(path.name for path in (folder / "out").iterdir())


def test_a_repeated_task_writes_the_same_file(tmp_path: Path) -> None:
    one = task(tmp_path, "may.pgn", GAMES, "--max-ply", "24")
    counted = spark.count(one)
    assert (counted.games, counted.skipped, counted.error) == (2, 0, None)
    first = Path(one.target).read_bytes()
    assert spark.count(one) == counted
    assert Path(one.target).read_bytes() == first
    assert len(names(tmp_path)) == 1


def test_a_file_without_matching_games_is_a_part(tmp_path: Path) -> None:
    counted = spark.count(task(tmp_path, "may.pgn", GAMES, "--min-elo", "2900"))
    assert (counted.games, counted.error) == (0, None)
    assert len(names(tmp_path)) == 1


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    counted = spark.count(task(tmp_path, "zeros.pgn", "\0" * 5000))
    assert counted.error is not None and "zeros.pgn" in counted.error
    assert names(tmp_path) == []


def test_a_file_that_is_cut_off_is_named_and_left_out(tmp_path: Path) -> None:
    one = task(tmp_path, "may.pgn.gz", "")
    # Not the same bytes again and again, which would be one block.
    games = "".join(f'[Event "{hashlib.sha256(b"%d" % n).hexdigest()}"]\n\n1. e4 *\n\n' for n in range(5000))
    packed = gzip.compress(games.encode())
    Path(one.source).write_bytes(packed)
    assert spark.count(one).games == 5000
    Path(one.target).unlink()
    Path(one.source).write_bytes(packed[: len(packed) // 2])
    counted = spark.count(one)
    assert counted.games == 0 and counted.error is not None
    assert "may.pgn.gz: it is cut off or damaged after line" in counted.error
    assert names(tmp_path) == []


def test_wrong_words_are_one_message(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    task(tmp_path, "may.pgn", GAMES)
    words = ["--input", str(tmp_path / "may.pgn"), "--output"]
    for more, text in [
        ([str(tmp_path / "new"), "--min-elo", "strong"], "strong"),
        ([str(tmp_path / "new"), "--no-such"], "--no-such"),
        ([str(tmp_path)], "is not empty"),
        ([str(tmp_path / "new"), "--min-games", "3", "--count-only"], "--min-games"),
        ([str(tmp_path / "new"), "--input", "missing.pgn"], "missing.pgn: no such file"),
        ([], "--output"),
    ]:
        assert spark.main([*words, *more]) == 2
        assert text in capfd.readouterr().err
    assert not (tmp_path / "new").exists()


def test_without_pyspark_it_says_so(tmp_path: Path) -> None:
    task(tmp_path, "may.pgn", GAMES)
    command = [sys.executable, "-m", "tabia.spark", "--input", "may.pgn", "--output", "new"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install pyspark" in done.stderr


def test_the_largest_file_is_counted_first(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name, size in [("a.pgn", 5), ("below/b.PGN.zst", 9), ("c.txt", 99), ("a.si5", 7)]:
        (tmp_path / name).write_text("x" * size)
    found = spark.sources([str(tmp_path), str(tmp_path / "a.pgn")])
    assert [Path(file).name for file in found] == ["b.PGN.zst", "a.si5", "a.pgn"]


def test_a_folder_has_the_files_that_the_program_finds_there(tmp_path: Path) -> None:
    """A list of endings in Python would miss the next format."""
    (tmp_path / "games.txt").write_text(GAMES)
    endings = game_endings()
    for ending in endings:
        (tmp_path / f"games{ending.upper()}").write_text(GAMES)
    found = spark.sources([str(tmp_path)])
    assert {".pgn", ".pgn.zst", ".cbh", ".si5"} <= set(endings)
    assert sorted(Path(file).name for file in found) == sorted(f"games{ending.upper()}" for ending in endings)
