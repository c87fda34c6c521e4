"""Code shared by all scripts that pack releases."""

import hashlib
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "release-archives"
SHIPPED = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "COPYING", "engines.toml", "books", "docs"]
# For development only, and useless without the source.
LEFT_OUT = {"books/Cargo.toml", "books/lib.rs", "books/make", "books/prove", "docs/pictures/make", "docs/pictures/make-pychess", "docs/pictures/explore.py"}


def run(*command, text=True):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=text).stdout


def version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def commit_time():
    """The time of the last commit, in seconds."""
    return int(run("git", "log", "-1", "--format=%ct"))


def documents():
    """Documents of the commit that are packed; files outside the commit are not."""
    listed = run("git", "ls-files", "--", *SHIPPED).split("\n")
    return sorted(name for name in listed if name and name not in LEFT_OUT)


def built(target):
    """Builds the program for a target (`None`: this system); returns its path."""
    for_target = ["--target", target] if target else []
    subprocess.run(["cargo", "build", "--profile", "dist", "--locked", *for_target], cwd=ROOT, check=True)
    name = "tabia.exe" if target and "windows" in target else "tabia"
    program = ROOT / "target" / (target or "") / "dist" / name
    if not program.is_file():
        sys.exit(f"{program}: there is no such program")
    return program


def built_library(target):
    """Builds libtabia for a target, beside the program."""
    for_target = ["--target", target] if target else []
    command = ["cargo", "build", "--profile", "dist", "--locked", "-p", "tabia-c", *for_target]
    subprocess.run(command, cwd=ROOT, check=True)


def library(folder, prefix, libdir):
    """(path, bytes) of libtabia for C and C++, as it was built into a folder; a link has the
    name of its file instead of bytes. Nothing if it was not built."""
    libraries = {
        "libtabia.so": "lib/libtabia.so.1",
        "libtabia.a": "lib/libtabia.a",
        "tabia.dll": "bin/tabia.dll",
        "libtabia.dll.a": "lib/libtabia.dll.a",
    }
    found = [(to, (folder / name).read_bytes()) for name, to in libraries.items() if (folder / name).is_file()]
    if not found:
        return
    yield from found
    if any(to.endswith(".so.1") for to, _ in found):
        yield "lib/libtabia.so", "libtabia.so.1"
    here = ROOT / "crates" / "c"
    yield "include/tabia.h", (here / "include" / "tabia.h").read_bytes()
    text = (here / "tabia.pc").read_text()
    for word, value in {"PREFIX": prefix, "LIBDIR": libdir, "VERSION": version()}.items():
        text = text.replace(f"@{word}@", value)
    yield "lib/pkgconfig/tabia.pc", text.encode()


def sum_up():
    """Writes SHA256SUMS for all packed files, in the format of `sha256sum -c`."""
    files = sorted(path for path in OUT.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (OUT / "SHA256SUMS").write_text("".join(lines))
