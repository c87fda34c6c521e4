"""`tabia setup`: the first steps of a new user, in the programs themselves, and
removal without a trace."""

import json
import os
import pty
import select
import shlex
import shutil
import subprocess
import time
from pathlib import Path

from case_register import DISCOVER, _environment, _plays_from_the_book, _xboard_plays
from paths import SHARED, TABIA, copy_starter, folder
from procs import TIMEOUT_FACTOR
from runner import case

ODD = "a \"home\" of J\u00f6rg; $HOME 'x' #1"


def _home() -> tuple[Path, Path]:
    home = folder("setup") / ODD
    books = home / "Chess" / "my books"
    books.mkdir(parents=True)
    return home, copy_starter(books, "main")


def _setup(home: Path, *arguments: str, stdin: str = "", code: int = 0) -> str:
    done = subprocess.run(
        [TABIA, "setup", *arguments], input=stdin, capture_output=True, text=True, env=_environment(home), timeout=60 * TIMEOUT_FACTOR
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout


def _tree(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in sorted(home.rglob("*"))}


def _has(program: str) -> bool:
    return shutil.which(program, path=_environment(Path("/"))["PATH"]) is not None


@case(240)
def setup_with_pychess_and_xboard_can_be_repeated_and_removed():
    for program in ("pychess", "xboard", "Xvfb", "polyglot"):
        assert _has(program), f"{program} is not installed: apt-get install {program.lower()}"
    home, book = _home()
    before = _tree(home)
    # A no writes nothing.
    _setup(home, stdin="n\n", code=1)
    assert _tree(home) == before
    text = _setup(home, stdin="yes\n")
    assert f"book {book.name}: " in text and "PyChess" in text and "XBoard" in text, text
    after = _tree(home)
    assert "No file needs to change" in _setup(home, "--yes")
    assert _tree(home) == after
    _setup(home, "--remove", "--yes")
    assert _tree(home) == before

    # Set up again; now the programs use it.
    _setup(home, "--yes")
    file = home / ".config" / "pychess" / "engines.json"
    (ours,) = json.loads(file.read_text())
    assert ours["name"] == "Tabia" and ours["args"] == [], ours
    moves = [_plays_from_the_book([ours["command"]], home, book, {}, ours["workingDirectory"])]
    done = subprocess.run(
        ["/usr/bin/python3", "-c", DISCOVER], capture_output=True, text=True, env=_environment(home)
    )
    engines = {engine["name"]: engine for engine in json.loads(file.read_text())}
    assert engines["Tabia"]["recheck"] is False, done.stderr
    lines = [line.strip() for line in _setup(home, "--yes").splitlines()]
    (line,) = [line for line in lines if line.startswith("xboard ")]
    moves.append(_xboard_plays(home, book, shlex.split(line)))

    # PyChess has rewritten its file; Tabia is removed, the rest stays.
    others = set(engines) - {"Tabia"}
    _setup(home, "--remove", "--yes")
    left = {engine["name"] for engine in json.loads(file.read_text())} if file.exists() else set()
    assert left == others, left
    names = [str(Path(path).relative_to(home)).lower() for path in _tree(home)]
    assert [name for name in names if "tabia" in name or name.endswith(".bak")] == []
    return f"{' '.join(moves)}; PyChess keeps {len(left)} others"


class Terminal:
    """The program at a terminal, with a home folder of its own."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [TABIA], stdin=slave, stdout=slave, stderr=slave, env=_environment(home), cwd=home, start_new_session=True
        )
        os.close(slave)
        self.seen = ""

    def expect(self, text: str) -> None:
        end = time.monotonic() + 30 * TIMEOUT_FACTOR
        while text not in self.seen:
            left = end - time.monotonic()
            assert left > 0 and select.select([self.master], [], [], left)[0], (text, self.seen)
            self.seen += os.read(self.master, 65536).decode(errors="replace")

    def type(self, line: str) -> None:
        os.write(self.master, line.encode() + b"\n")

    def ends(self) -> int:
        try:
            return self.process.wait(30 * TIMEOUT_FACTOR)
        finally:
            self.process.kill()
            os.close(self.master)


@case(60)
def without_a_configuration_a_terminal_is_asked_to_set_up():
    home = folder("first") / ODD
    terminal = Terminal(home)
    terminal.expect("tabia setup")
    terminal.expect("Set it up now?")
    # UCI commands work without an answer to the question.
    terminal.type("uci")
    terminal.expect("uciok")
    terminal.type("position startpos")
    terminal.type("go movetime 100")
    terminal.expect("bestmove ")
    terminal.type("quit")
    assert terminal.ends() == 0

    terminal = Terminal(home)
    terminal.expect("Set it up now?")
    terminal.type("yes")
    terminal.expect("Chess programs")
    terminal.expect("[y/N]")
    terminal.type("no")
    terminal.expect("Nothing was changed")
    assert terminal.ends() == 1
    assert _tree(home) == {}

    # After the setup there is no question.
    _setup(home, "--yes")
    terminal = Terminal(home)
    terminal.expect('Type "uci"')
    assert "Set it up now?" not in terminal.seen
    terminal.type("quit")
    assert terminal.ends() == 0
    _setup(home, "--remove", "--yes")
    assert _tree(home) == {}


@case(60, needs_shared=True)
def what_is_only_named_like_a_book_is_left_out():
    """Tables and networks of other programs, a pointer and a web page: the starter book plays."""
    home, book = _home()
    for file in book.parent.iterdir():
        file.unlink()
    cases = SHARED / "data" / "cases"
    for name in ("fifth/not_a_book_noise", "fifth/not_a_book_table", "games/lfs_pointer", "games/web_page"):
        shutil.copy(cases / f"{name}.bin", book.parent)
    text = _setup(home, "--folder", str(book.parent), "--yes")
    left = [line for line in text.splitlines() if line.startswith("left out: ") and ".bin" in line]
    whys = ("not a Polyglot opening book", "not a Polyglot opening book", "Git LFS pointer", "web page")
    assert len(left) == 4 and all(any(why in line for line in left) for why in whys), text
    assert "book starter: " in text, text
    assert "[[books]]" not in (home / ".config" / "tabia" / "engines.toml").read_text()
    return f"{len(left)} left out"
