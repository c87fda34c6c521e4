"""Builds packages for WebAssembly."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from common import ROOT

# Paths of the machine in messages of panics, which would differ from machine to machine.
HOME = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
FLAGS = [f"--remap-path-prefix={ROOT}=tabia", f"--remap-path-prefix={HOME}=cargo"]

# Without rustup, cargo builds the library of this target from its source. That of WASI needs a C
# library, too.
FROM_SOURCE = "wasm32-unknown-unknown"


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def compiler(triple):
    """The environment and the options of a cargo that can build for a target; `None` if there is
    none."""
    for rustc in filter(None, [shutil.which("rustc"), "/usr/bin/rustc"]):
        if not Path(rustc).exists():
            continue
        found = {"PATH": f"{Path(rustc).parent}{os.pathsep}{os.environ['PATH']}", "RUSTC": rustc}
        if any(Path(output_of(rustc, "--print", "target-libdir", "--target", triple)).glob("libstd-*.rlib")):
            return found, []
        source = Path(output_of(rustc, "--print", "sysroot")) / "lib" / "rustlib" / "src" / "rust" / "library"
        linkers = sorted(path for path in Path("/usr/bin").glob("wasm-ld-*") if re.fullmatch(r"wasm-ld-\d+", path.name))
        if triple == FROM_SOURCE and source.is_dir() and linkers:
            # A stable compiler builds its own library only with this.
            found |= {"RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": str(linkers[-1])}
            return found, ["-Zbuild-std=std,panic_abort", "--target-dir", str(ROOT / "target" / "wasm")]
    return None


def can_build(triple):
    return compiler(triple) is not None


def built(package, triple):
    """Builds the module of a package; returns its path."""
    known = compiler(triple)
    if known is None:
        debian = "\n(Debian without rustup: apt-get install --no-install-recommends rustc-web cargo-web rust-web-src lld-22)"
        sys.exit(f"no Rust compiler here can build for {triple}: rustup target add {triple}{debian * (triple == FROM_SOURCE)}")
    found, options = known
    command = ["cargo", "build", "--profile", "dist", "--locked", "-p", package, "--target", triple, *options]
    flags = {f"CARGO_TARGET_{triple.upper().replace('-', '_')}_RUSTFLAGS": " ".join(FLAGS)}
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | found | flags)
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    folder = ROOT / "target" / "wasm" if options else target
    return folder / triple / "dist" / f"{package.replace('-', '_')}.wasm"
