"""`tabia build -o BOOK.bin` and `tabia merge` against Polyglot: the same bytes,
and the faults of Polyglot."""

import random
import struct
import subprocess
from pathlib import Path

import chess
import chess.polyglot

from case_build import ALL, PGN, full_disk, random_games, unpack
from paths import POLYGLOT, ROOT, TABIA, folder
from procs import run, run_ok
from runner import case

# Enough games for every option, few enough for many runs of Polyglot.
SAMPLE = 20_000

# Options of both programs.
SAME = {
    "all": ([], []),
    "uniform": (["--uniform"], ["-uniform"]),
    "white": (["--only", "white"], ["-only-white"]),
    "black": (["--only", "black", "--min-score", "45"], ["-only-black", "-min-score", "45"]),
}


def sample(games: Path, to: Path, count: int) -> Path:
    """The first games of a file."""
    with games.open("rb") as text, to.open("wb") as out:
        for line in text:
            count -= line.startswith(b"[Event ")
            if count < 0:
                break
            out.write(line)
    return to


def polyglot(command: str, *arguments) -> str:
    """Runs Polyglot; returns its output, because its exit code is always 0."""
    done = subprocess.run([POLYGLOT, command, *arguments], capture_output=True, text=True, errors="replace")
    return done.stdout + done.stderr


def theirs(games: Path, plies: int, least: int, options: list[str]) -> bytes | None:
    """The book that Polyglot makes; `None` if it fails or finds no move."""
    book = games.with_suffix(".theirs.bin")
    limits = ["-max-ply", str(plies), "-min-game", str(least)]
    output = polyglot("make-book", "-pgn", games, "-bin", book, *limits, *options)
    return (book.read_bytes() or None) if "all done!" in output else None


def ours(games: Path, plies: int, least: int, options: list[str]) -> bytes:
    book = games.with_suffix(".ours.bin")
    limits = ["--max-ply", str(plies), "--min-games", str(least)]
    run_ok("build", "-fo", book, games, *limits, *options, limit=250)
    return book.read_bytes()


def compare(games: Path, plies: int, least: int, which: str) -> int | None:
    """Checks that both books are equal; returns their size in bytes."""
    our_options, their_options = SAME[which]
    expected = theirs(games, plies, least, their_options)
    if expected is None:
        return None
    found = ours(games, plies, least, our_options)
    assert found == expected, (games.name, plies, least, which, len(found), len(expected))
    return len(found)


@case(limit=120, needs_shared=True)
def polyglot_makes_the_same_books_of_a_sample():
    here = folder("make")
    games = sample(unpack(ALL, here), here / "sample.pgn", SAMPLE)
    grid = [(plies, least) for plies in (10, 24, 40) for least in (1, 3)]
    sizes = [compare(games, *limits, "all") for limits in grid]
    for plies, which in ((10, "black"), (24, "white"), (40, "uniform")):
        sizes.append(compare(games, plies, 3, which))
    assert all(sizes), sizes
    return f"{len(sizes)} books, up to {max(sizes)} bytes"


@case(limit=120, needs_shared=True)
def polyglot_makes_the_same_books_of_all_games():
    """Counts are halved here, some of them many times."""
    here = folder("make")
    games = unpack(ALL, here)
    sizes = [compare(games, 40, 1, "all"), compare(games, 24, 3, "white")]
    assert all(sizes), sizes
    # Limited memory must not change a byte.
    white = games.with_suffix(".theirs.bin").read_bytes()
    assert ours(games, 24, 3, ["--only", "white", "--memory", "16M", "--threads", "3"]) == white
    return f"{sizes} bytes"


@case(limit=120, needs_shared=True)
def polyglot_makes_the_same_books_of_whole_games():
    here = folder("make")
    text = []
    for packed in [*sorted(PGN.glob("*.pgn.zst")), ROOT / "tests" / "data" / "sample.pgn"]:
        if packed == ALL:
            continue
        games = here / packed.name if packed.suffix == ".pgn" else unpack(packed, here)
        if packed.suffix == ".pgn":
            games.write_bytes(packed.read_bytes())
        sizes = [compare(games, plies, 1, "all") for plies in (24, 1000)]
        text.append(f"{games.name} {sizes}")
    return "; ".join(text)


def entries(book: bytes) -> list[tuple]:
    return [struct.unpack_from(">QHHHH", book, at) for at in range(0, len(book), 16)]


@case(limit=60)
def games_on_which_polyglot_fails_are_counted_correctly():
    here = folder("odd")
    start = chess.polyglot.zobrist_hash(chess.Board())
    # File text, options, and the right number of entries.
    files = {
        "set_up": ('[SetUp "1"]\n[FEN "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"]\n[Result "1-0"]\n\n1. O-O O-O-O 2. Kg2 1-0\n', ["--setups"], 2),
        "illegal": ('[Result "1-0"]\n\n1. e4 e5 2. Ke3 1-0\n\n[Event "b"]\n[Result "0-1"]\n\n1. d4 d5 0-1\n', [], 1),
        "no end": ('[Result "1-0"]\n\n1. e4 e5 2. Nf3\n\n[Event "b"]\n[Result "1-0"]\n\n1. d4 d5 1-0\n', [], 3),
        "zeros": ('[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. 0-0 1-0\n', [], 4),
        "null": ('[Result "1-0"]\n\n1. e4 -- 2. Nf3 1-0\n', [], 1),
    }
    for name, (text, options, count) in files.items():
        games = here / f"{name}.pgn"
        games.write_text('[Event "a"]\n' + text)
        assert theirs(games, 40, 1, []) is None, name
        assert len(entries(ours(games, 40, 1, options))) == count, (name, entries(ours(games, 40, 1, options)))
    # Without the tag, only the end of the game has the result.
    games = here / "no tag.pgn"
    games.write_text('[Event "a"]\n\n1. e4 e5 0-1\n')
    assert [entry[2] for entry in entries(theirs(games, 40, 1, []))] == [1, 1]
    (black,) = entries(ours(games, 40, 1, []))
    assert black[0] != start and black[2] == 2, black


def random_book(rng: random.Random) -> bytes:
    """Positions with some moves each, those with the largest weight first."""
    book = []
    for key in sorted(rng.sample(range(1, 300), 120)):
        moves = rng.sample(range(1, 60), rng.randrange(1, 12))
        weights = sorted((rng.choice([0, 1, 5, rng.randrange(30000)]) for _ in moves), reverse=True)
        for move, weight in zip(moves, weights):
            book.append(struct.pack(">QHHI", key << 50, move, weight, rng.randrange(1 << 32)))
    return b"".join(book)


@case(limit=60)
def polyglot_merges_books_to_the_same_bytes():
    here = folder("merge")
    rng = random.Random(11)
    for _ in range(20):
        one, two = here / "one.bin", here / "two.bin"
        one.write_bytes(random_book(rng))
        two.write_bytes(random_book(rng))
        output = polyglot("merge-book", "-in1", one, "-in2", two, "-out", here / "theirs.bin")
        assert "done!" in output, output
        run_ok("merge", "-fo", here / "ours.bin", one, two, "--first-wins")
        merged = (here / "theirs.bin").read_bytes()
        assert (here / "ours.bin").read_bytes() == merged
        # The usual order has the same entries.
        run_ok("merge", "-fo", here / "ours.bin", one, two)
        found = entries((here / "ours.bin").read_bytes())
        assert sorted(found) == sorted(entries(merged))
        assert found == sorted(found, key=lambda entry: (entry[0], -entry[2]))
    # Sums of more than 16 bits are limited by Polyglot, and scaled by Tabia.
    one.write_bytes(struct.pack(">QHHI", 1 << 40, 1, 60000, 0) + struct.pack(">QHHI", 1 << 40, 2, 20000, 0))
    polyglot("merge-book", "-in1", one, "-in2", one, "-out", here / "theirs.bin")
    assert [entry[2] for entry in entries((here / "theirs.bin").read_bytes())] == [54464, 40000]
    run("merge", "-fo", here / "ours.bin", one, one)
    assert [entry[2] for entry in entries((here / "ours.bin").read_bytes())] == [65535, 21845]


@case(limit=60)
def a_full_disk_leaves_the_old_polyglot_book():
    games = random_games(folder("games") / "games.pgn", 600)
    if full_disk("true", 1).returncode != 0:
        return "left out: no file system may be mounted here"
    for memory in ("1M", "64M"):
        build = f"{TABIA} build --force -o out.bin {games} --max-ply 60 --memory {memory}"
        # Enough room for sorting, too little for the book.
        done = full_disk(f"head -c 900000 /dev/zero > big; echo old > out.bin; {build}; echo $?; cat out.bin; ls -A", 1)
        assert done.stdout.split() == ["2", "old", "big", "out.bin"], (memory, done)
        assert "No space left" in done.stderr and len(done.stderr.strip().splitlines()) == 1, (memory, done.stderr)
