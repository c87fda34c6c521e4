"""A program that is killed by the system call that it is making (strace): whatever the
moment, a book and its index are afterwards those of before or the new ones, and nothing
that a user did since is overwritten."""

import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Callable, Iterator, Optional

from paths import TABIA, copy_starter, folder
from procs import environment, run, run_ok
from runner import case

PARTS = ("ctg", "cto", "ctb")
STRACE = shutil.which("strace")

# Everything that makes a file visible under a name, or takes it away.
CALLS = ("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "fsync")

PGN = """[Event "x"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 1-0

[Event "y"]
[Result "0-1"]

1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 0-1
"""


def killed_at(call: str, number: int, *arguments, killer: str = "KILL") -> bool:
    """Runs the program until this system call for the n-th time; false if it does not
    come."""
    traced = [STRACE, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}"]
    traced += ["-e", f"inject={call}:signal={killer}:when={number}"]
    done = subprocess.run([*traced, TABIA, *map(str, arguments)], capture_output=True, env=environment())
    assert done.returncode in (0, -9, 137), (done.returncode, done.stderr)
    return done.returncode != 0


def each_kill(reset: Callable[[], None], *arguments) -> Iterator[tuple[str, int]]:
    """Kills the program at each of its calls, each time with the same files."""
    for call in CALLS:
        for number in itertools.count(1):
            reset()
            if not killed_at(call, number, *arguments):
                break
            yield call, number


def files(book: Path) -> dict[str, Optional[bytes]]:
    one = {part: book.with_suffix("." + part) for part in PARTS}
    return {part: path.read_bytes() if path.exists() else None for part, path in one.items()}


def hidden(here: Path) -> list[str]:
    """What is left of killed programs; the last mark stays beside a book, for `mark --undo`."""
    return sorted(path.name for path in here.iterdir() if path.name.startswith(".") and path.suffix != ".undo")


def is_pending(book: Path) -> bool:
    """What the three commands that only look say of it; they must agree, and change
    nothing."""
    before = sorted(book.parent.rglob("*"))
    info = json.loads(run_ok("info", book, "--json").stdout)["problems"]
    verify = json.loads(run("verify", book, "--json", limit=30).stdout)["notes"]
    probe = run("probe", book).stderr.splitlines()
    said = [any("was interrupted" in line for line in lines) for lines in (info, verify, probe)]
    assert len(set(said)) == 1, (info, verify, probe)
    assert sorted(book.parent.rglob("*")) == before
    return said[0]


def write_small(here: Path) -> Path:
    games = here / "games.pgn"
    games.write_text(PGN)
    book = here / "book.ctg"
    run_ok("build", "-o", book, games)
    run_ok("add", book, "--line", "1.a3 a6")
    for backup in here.glob("*.bak"):
        backup.unlink()
    return book


@case(limit=300)
def killed_at_any_rename_all_three_files_are_old_or_new():
    here = folder("crash")
    book = write_small(here)
    games = here / "games.pgn"
    other = here / "other.ctg"
    run_ok("build", "-o", other, games, "--max-ply", "4")
    run_ok("convert", other, here / "other.bin")
    commands = {
        "add": ["add", book, games],
        "compact": ["compact", book, "--repack"],
        "merge": ["merge", "-f", "-o", book, book, other],
        "build": ["build", "-f", "-o", book, games],
        "mark": ["mark", book, "--move", "e4", "--annotation", "!"],
        "convert": ["convert", "-f", here / "other.bin", book],
    }
    kept = {path.name: path.read_bytes() for path in here.iterdir()}

    def reset() -> None:
        for path in here.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, data in kept.items():
            (here / name).write_bytes(data)

    settlers = {
        # A writer, a reader that may write, and the next command of the same kind.
        "mark": lambda: run_ok("mark", book, "--move", "e4", "--learn-value", "1"),
        "play": lambda: run_ok("play", "--book", book, stdin="uci\nisready\nquit\n"),
    }
    old = files(book)
    kills, named = 0, 0
    for name, command in commands.items():
        reset()
        run_ok(*command)
        new = files(book)
        reset()
        pending_here = 0
        for number, (call, at) in enumerate(each_kill(reset, *command)):
            kills += 1
            what = f"{name}: {call} {at}"
            now = files(book)
            pending = is_pending(book)
            pending_here += pending
            whole = now in (old, new)
            assert whole or pending, f"{what}: {[part for part in PARTS if now[part] is None]}"
            settler = list(settlers)[number % len(settlers)]
            done = settlers[settler]()
            then = files(book)
            for index in (old, new):
                fits = all(then[part] == index[part] for part in ("cto", "ctb"))
                if fits and len(then["ctg"]) == len(index["ctg"]):
                    break
            else:
                raise AssertionError(f"{what}, {settler}: not the old book nor the new one")
            if settler == "play":
                assert then in (old, new), what
            if pending:
                assert "interrupted" in done.stderr + done.stdout, (what, settler, done.stderr, done.stdout)
            assert not is_pending(book), what
            assert run("verify", book, limit=30).returncode == 0, what
            if settler == "mark":
                assert not hidden(here), (what, hidden(here))
        named += pending_here
        assert pending_here > 0 or name == "mark", name
    return f"{kills} kills, {named} of them reported as pending"


@case(limit=60)
def killed_while_a_new_book_is_placed_it_is_completed_or_not_there():
    here = folder("crash-new")
    games = here / "games.pgn"
    games.write_text(PGN)
    book = here / "book.ctg"
    kills = 0

    def reset() -> None:
        for part in PARTS:
            book.with_suffix("." + part).unlink(missing_ok=True)

    for call, at in each_kill(reset, "build", "-o", book, games):
        kills += 1
        run("build", "-o", book, games)
        assert run("verify", book).returncode == 0, (call, at)
        # Where the book was complete already, the next write removes what is left.
        run_ok("convert", "-f", book, here / "x.csv")
        assert not hidden(here), (call, at, hidden(here))
    assert kills > 8, kills
    return f"{kills} kills"


@case(limit=60)
def what_a_kill_left_is_not_put_beside_a_book_that_was_restored_since():
    here = folder("restored")
    book = write_small(here)
    backup = {part: data for part, data in files(book).items()}
    tried = 0
    for number in itertools.count(1):
        for path in here.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for part, data in backup.items():
            book.with_suffix("." + part).write_bytes(data)
        (here / "games.pgn").write_text(PGN)
        if not killed_at("rename", number, "add", book, here / "games.pgn"):
            break
        if not is_pending(book):
            continue
        tried += 1
        # Another book with its own index.
        run_ok("build", "-o", here / "new.ctg", here / "games.pgn", "--max-ply", "6")
        for part in PARTS:
            os.replace(here / f"new.{part}", book.with_suffix("." + part))
        restored = files(book)
        run_ok("play", "--book", book, stdin="uci\nisready\nquit\n")
        assert "--pending drop" in run_ok("mark", book, "--move", "e4", "none").stderr
        assert files(book) == restored, number
        assert is_pending(book), number
        run_ok("mark", book, "--pending", "drop")
        assert files(book) == restored and not is_pending(book) and not hidden(here), (number, hidden(here))
    assert tried > 2, tried
    return f"{tried} kills"


def marks(book: Path) -> int:
    numbers = json.loads(run_ok("info", book, "--json").stdout)
    return numbers["avoid_marks"]


def interrupted_mark(book: Path, writes: int) -> int:
    """A change of the whole book that is killed while it writes; returns the marks that
    are in the book."""
    shutil.copy(book, book.with_suffix(".before"))
    number = writes
    # The journal is complete when the book itself is written.
    assert killed_at("pwrite64", number, "mark", book, "--where", "games>0", "avoid")
    assert (book.parent / f".{book.name}.edit").exists()
    made = marks(book)
    assert made > 0
    assert is_pending(book)
    return made


@case(limit=120)
def a_change_of_marks_is_completed_only_in_the_book_that_it_was_made_for():
    whole = None
    for restore in ("nothing", "copy", "copy with its time", "move", "older marks", "other book"):
        here = folder("journal")
        book = copy_starter(here)
        run_ok("mark", book, "--where", "games>0", "avoid")
        if whole is None:
            whole = marks(book)
        # A backup in which some moves have the new marks already.
        run_ok("mark", book, "--all", "--clear")
        run_ok("mark", book, "--where", "games>0 and ply<=12", "avoid")
        older = here / "older"
        shutil.copy2(book, older)
        run_ok("mark", book, "--all", "--clear")
        backup = here / "backup"
        shutil.copy2(book, backup)
        made = interrupted_mark(book, 40)
        note = run_ok("probe", book).stderr
        assert f"{whole - made} of them are not in the book yet" in note, note
        if restore == "nothing":
            done = run_ok("mark", book, "--move", "e4", "main")
            assert "was completed first" in done.stderr, done.stderr
            assert marks(book) in (whole, whole - 1)
            continue
        if restore == "copy":
            shutil.copyfile(backup, book)
        elif restore == "copy with its time":
            shutil.copy2(backup, book)
            os.utime(book, ns=(10**18, 10**18))
        elif restore == "move":
            shutil.copy2(backup, here / "moved")
            os.replace(here / "moved", book)
        elif restore == "older marks":
            shutil.copyfile(older, book)
        else:
            games = here / "games.pgn"
            games.write_text(PGN)
            run_ok("build", "-o", here / "new.ctg", games)
            for part in PARTS:
                os.replace(here / f"new.{part}", book.with_suffix("." + part))
        restored = book.read_bytes()
        for command in (
            ["mark", book, "--move", "e4", "main"],
            ["mark", book, "--all", "main"],
            ["compact", book],
            ["add", book, "--line", "1.e4 e5"],
            ["learn", book, here / "none.pgn"],
        ):
            done = run(*command)
            assert done.returncode == 2 and "--pending drop" in done.stderr, (restore, command, done.stderr)
            assert book.read_bytes() == restored, (restore, command)
        assert is_pending(book), restore
        if restore == "other book":
            assert run("mark", book, "--pending", "apply").returncode == 2
            assert book.read_bytes() == restored
        run_ok("mark", book, "--pending", "drop")
        assert book.read_bytes() == restored, restore
        assert not is_pending(book), restore
        run_ok("mark", book, "--move", "e4", "main")
        assert run("verify", book, limit=30).returncode == 0
    return f"a change of {whole} marks"


@case(limit=60)
def leftovers_of_killed_programs_go_with_the_next_write_in_the_folder():
    here = folder("leftovers")
    games = here / "games.pgn"
    games.write_text(PGN)
    book = copy_starter(here, "large")
    commands = [
        ["convert", book, here / "x.jsonl"],
        ["index", "-o", here / "x.tgx", games],
        ["build", "-o", here / "x.ctg", games],
        ["build", "-o", here / "x.bin", games],
    ]
    left = 0
    for command in commands:
        assert killed_at("fsync", 1, *command), command
        left += len(hidden(here))
        assert hidden(here), command
        before = set(here.iterdir())
        # Another name, another kind of file.
        run_ok("convert", "-f", book, here / "y.csv")
        assert not hidden(here), (command, hidden(here))
        assert set(here.iterdir()) - before <= {here / "y.csv", here / "y.csv.bak"}
    return f"{left} leftovers"
