"""`libtabia` with programs in C and C++, under AddressSanitizer and Valgrind."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from paths import ROOT, STARTER, TABIA, TARGET, folder
from procs import run_ok
from runner import case

LIBRARY = TARGET / "release"
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-O1"]
ANNOTATIONS = {"": 0, "!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}
MARKS = ["none", "main", "avoid"]


def build(source: Path, *options: str) -> Path:
    """Compiles a program against the shared library, or with the static one."""
    if not (LIBRARY / "libtabia.so").exists():
        subprocess.run(["cargo", "build", "--release", "-p", "tabia-c"], cwd=ROOT, check=True, capture_output=True)
    here = folder("c")
    # Programs ask for the name with the number of the interface.
    for name in ("libtabia.so", "libtabia.so.1"):
        (here / name).symlink_to((LIBRARY / "libtabia.so").resolve())
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    program = here / source.stem
    library = [f"-L{here}", f"-Wl,-rpath,{here}", "-ltabia", "-pthread", "-lm", "-ldl"]
    if "-static-libtabia" in options:
        library[2] = str((LIBRARY / "libtabia.a").resolve())
        options = tuple(option for option in options if option != "-static-libtabia")
    subprocess.run(
        [compiler, *STRICT, *options, f"-I{ROOT / 'crates/c/include'}", source, *library, "-o", program],
        check=True,
    )
    return program


def positions(book: Path, count: int) -> list[str]:
    """The first positions of a walk in C++, which probes them in four threads."""
    walk = build(ROOT / "tests/interop/c/walk.cpp", "-fsanitize=address,undefined")
    done = subprocess.run([walk, book], check=True, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    fens = done.stdout.splitlines()
    assert len(set(fens)) == len(fens)
    return fens[:count]


def numbers(known: dict, counts: bool) -> list:
    """A move of `probe --json` as the C program prints it."""
    of_games = [known[name] for name in ("games", "wins", "draws", "losses")]
    rest = [known["factor"], MARKS.index(known["mark"]), ANNOTATIONS.get(known["annotation"], -2)]
    if not counts:
        of_games = of_games if known["games"] else [-1] * 4
        rest = [value or -1 for value in rest]
    return [known["weight"], known["probability"], *of_games, *rest]


def compare(program: list, book: Path, fens: list[str], *sets: str) -> int:
    """Holds the C program's answers against `probe --json`; returns the number of moves."""
    text = "\n".join(fens) + "\n"
    done = subprocess.run(program, input=text, check=True, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    options = [word for option in sets for word in ("--set", option)]
    said = subprocess.run([TABIA, "probe", book, "-", "--json", *options], input=text, capture_output=True, text=True)
    answers = done.stdout.split("\n\n")
    checked = 0
    for fen, answer, line in zip(fens, answers, said.stdout.splitlines(), strict=False):
        *moves, drawn = answer.split("\n")
        known = json.loads(line)["moves"]
        assert len(moves) == len(known), (fen, answer, line)
        for text, expected in zip(moves, known, strict=True):
            uci, san, *figures = text.split(" ")
            assert [uci, san] == [expected["uci"], expected["san"]], (fen, text)
            wanted = numbers(expected, book.suffix == ".ctg")
            for figure, value in zip(figures, wanted, strict=True):
                # -2 is a rare annotation, which JSON has as a symbol.
                assert value == -2 or abs(float(figure) - value) <= 1e-12 * abs(value), (fen, text, expected)
            checked += 1
        playable = {move["uci"] for move in known if move["probability"] > 0}
        assert drawn in playable or drawn == "-" and not playable, (fen, drawn)
    assert len(said.stdout.splitlines()) == len(fens) == len(answers) - 1
    return checked


@case(limit=200)
def a_c_program_reads_what_probe_prints():
    fens = positions(STARTER, 5000)
    program = build(ROOT / "tests/interop/c/probe.c", "-fsanitize=address,undefined")
    moves = compare([program, STARTER], STARTER, fens)
    with_options = compare(
        [program, STARTER, "variety=15 depth=6 'Book Minimum Games=3'"],
        STARTER, fens[:1000], "Book Variety=15", "Book Depth=6", "Book Minimum Games=3",
    )
    polyglot = folder("bin") / "book.bin"
    run_ok("convert", STARTER, polyglot)
    moves += compare([program, polyglot], polyglot, fens[:500])
    return f"{len(fens)} positions, {moves} moves, {with_options} with options"


@case(limit=120)
def valgrind_finds_nothing_in_a_c_program():
    assert shutil.which("valgrind"), "valgrind is not installed: see tests/interop/run"
    fens = positions(STARTER, 40)
    program = build(ROOT / "tests/interop/c/probe.c", "-static-libtabia")
    valgrind = ["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=9"]
    return f"{compare([*valgrind, program, STARTER], STARTER, fens)} moves"


@case(limit=60)
def the_program_of_the_page_compiles_and_runs():
    page = (ROOT / "docs" / "c.md").read_text()
    code = re.search(r"```c\n(.*?)```", page, re.S)[1]
    here = folder("page")
    (here / "probe.c").write_text(code)
    prefix = here / "prefix"
    subprocess.run([ROOT / "release/library", prefix, "--built", LIBRARY], check=True, capture_output=True)
    command = re.search(r"`(cc probe\.c [^`]*)`", page)[1]
    paths = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "LD_LIBRARY_PATH": str(prefix / "lib")}
    done = subprocess.run(
        ["sh", "-ec", f"{command}\n./a.out"], cwd=here, env={**os.environ, **paths}, check=True, capture_output=True, text=True
    )
    assert re.search(r"^c5 [\d.]+ %, \d+ games$", done.stdout, re.M), done.stdout
    assert re.search(r"^drawn: \S+$", done.stdout, re.M), done.stdout
