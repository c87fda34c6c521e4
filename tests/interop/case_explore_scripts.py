"""The scripts of the page, which no compiler checks: their layout, usual mistakes, types, and what they do without a browser."""

import subprocess

from paths import ROOT, TARGET
from runner import case

FOLDER = ROOT / "crates" / "explorer"
TOOLS = TARGET / "interop-node" / "node_modules" / ".bin"


def passes(tool: str, *arguments: str) -> None:
    done = subprocess.run([TOOLS / tool, *arguments], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, f"{tool}:\n{done.stdout}{done.stderr}"


@case(limit=240)
def explorer_scripts_pass_prettier_eslint_tsc_and_their_own_tests():
    passes("prettier", "--check", "{src/page,offline}/*.{js,ts}", "locales", "*.js", "*.json")
    passes("prettier", "--check", str(ROOT / "tests" / "page"))
    passes("eslint", "src/page", "offline")
    passes("tsc", "--project", "tsconfig.json")
    tests = sorted((ROOT / "tests" / "page").glob("*.test.js"))
    done = subprocess.run(["node", "--test", *tests], capture_output=True, text=True)
    assert tests and done.returncode == 0, f"node --test:\n{done.stdout}{done.stderr}"
