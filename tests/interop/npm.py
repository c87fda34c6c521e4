"""Programs of npm, which `tests/interop/run` installs."""

from pathlib import Path

from paths import TARGET

MODULES = TARGET / "interop-npm" / "node_modules"

# Each in WebAssembly with the small network, on one thread.
_STOCKFISH = {
    "17.1": "stockfish-17/src/stockfish-17.1-lite-single-03e3232.js",
    "18": "stockfish-18/bin/stockfish-18-lite-single.js",
    "19": "stockfish-19/bin/stockfish-19-lite-single.js",
}


def stockfish(version: str) -> list[str]:
    """The command that runs a Stockfish; it ends at a critical error as the native one does."""
    hook = Path(__file__).parent / "npm" / "ends_as_native.cjs"
    return ["node", "--require", str(hook), str(MODULES / _STOCKFISH[version])]
