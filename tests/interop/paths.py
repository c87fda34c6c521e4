"""Paths of programs, books and temporary folders."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
if not TARGET.is_absolute():
    TARGET = ROOT / TARGET

TABIA = str(TARGET / "release" / "tabia")
STARTER = ROOT / "books" / "tabia.ctg"

# Long cases run in full with TABIA_THOROUGH=1, else in part.
THOROUGH = os.environ.get("TABIA_THOROUGH") == "1"
# How long the page is used without a pause.
USE_MINUTES = float(os.environ.get("TABIA_USE_MINUTES", 60 if THOROUGH else 1))

# Is not in the starter book.
OUT_OF_BOOK = "position startpos moves a2a3 a7a6 h2h3 h7h6"

# Genuine books, which may not be part of this repository.
SHARED = ROOT.parent / "shared"
SIMPLE = SHARED / "data" / "ctg" / "simple.ctg"


def _program(name: str) -> str:
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/games"
    found = shutil.which(name, path=path)
    if found is None:
        raise SystemExit(f"{name} is not installed: see tests/interop/run")
    return found


STOCKFISH = _program("stockfish")
POLYGLOT = _program("polyglot")

_scratch = tempfile.TemporaryDirectory(prefix="tabia-interop-")
SCRATCH = Path(_scratch.name)

# The user's configuration must not affect the cases.
EMPTY_CONFIG = SCRATCH / "empty.toml"
EMPTY_CONFIG.write_text("# nothing\n")


def user_data() -> Path:
    """The user's data in a case, which is a process."""
    return SCRATCH / f"data-{os.getpid()}"


_folders: list[Path] = []


def faulty_engine(fault: str) -> list[str]:
    """An engine with a fault."""
    return [sys.executable, str(Path(__file__).with_name("faulty_engine.py")), fault]


def folder(name: str) -> Path:
    """Makes a folder for the duration of a case."""
    _folders.append(Path(tempfile.mkdtemp(prefix=name + "-", dir=SCRATCH)))
    return _folders[-1]


def remove_folders() -> None:
    """Deletes the folders, so that their files need not be written to disk."""
    for one in (*_folders, user_data()):
        shutil.rmtree(one, ignore_errors=True)


def copy_starter(to: Path, name: str = "book") -> Path:
    """The starter book's three files under another name."""
    for ending in ("ctg", "cto", "ctb"):
        shutil.copy(STARTER.with_suffix("." + ending), to / f"{name}.{ending}")
    return to / f"{name}.ctg"
