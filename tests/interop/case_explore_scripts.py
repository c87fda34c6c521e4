"""The scripts of the page, which no compiler looks at: their layout, usual mistakes, types."""

import subprocess

from places import ROOT, TARGET
from runner import case

FOLDER = ROOT / "crates" / "explorer"
TOOLS = TARGET / "interop-node" / "node_modules" / ".bin"


def passes(tool: str, *arguments: str) -> None:
    done = subprocess.run([TOOLS / tool, *arguments], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, f"{tool}:\n{done.stdout}{done.stderr}"


@case(limit=120)
def explorer_scripts_are_as_prettier_eslint_and_tsc_want_them():
    passes("prettier", "--check", "src/page/*.{js,ts}", "locales", "*.js", "*.json")
    passes("eslint", "src/page")
    passes("tsc", "--project", "tsconfig.json")
