"""The scripts of the page, which no compiler checks: their layout, usual mistakes, types."""

import json
import math
import random
import subprocess

from paths import ROOT, TARGET
from runner import case

FOLDER = ROOT / "crates" / "explorer"
TOOLS = TARGET / "interop-node" / "node_modules" / ".bin"


def passes(tool: str, *arguments: str) -> None:
    done = subprocess.run([TOOLS / tool, *arguments], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, f"{tool}:\n{done.stdout}{done.stderr}"


@case(limit=120)
def explorer_scripts_pass_prettier_eslint_and_tsc():
    passes("prettier", "--check", "src/page/*.{js,ts}", "locales", "*.js", "*.json")
    passes("eslint", "src/page")
    passes("tsc", "--project", "tsconfig.json")


def fsrs(stability: float, difficulty: float, right: bool, days: float) -> tuple[float, float]:
    """The formulas of FSRS 4.5 as its authors publish them, with their default parameters."""
    w = [0.4872, 1.4003, 3.7145, 13.8206, 5.1618, 1.2298, 0.8975, 0.031, 1.6474, 0.1367, 1.0461, 2.1072, 0.0793, 0.3246, 1.587, 0.2272, 2.8755]
    grade = 3 if right else 1
    if stability == 0:
        return w[grade - 1], w[4] - (grade - 3) * w[5]
    recall = (1 + 19 / 81 * days / stability) ** -0.5
    if right:
        now = stability * (math.exp(w[8]) * (11 - difficulty) * stability ** -w[9] * (math.exp(w[10] * (1 - recall)) - 1) + 1)
    else:
        now = min(stability, w[11] * difficulty ** -w[12] * ((stability + 1) ** w[13] - 1) * math.exp(w[14] * (1 - recall)))
    harder = w[7] * w[4] + (1 - w[7]) * (difficulty - w[6] * (grade - 3))
    return min(max(now, 0.1), 365), min(max(harder, 1), 10)


@case(limit=60)
def explorer_schedules_cards_as_fsrs_does():
    rng = random.Random(28)
    answers = [[(rng.random() < 0.8, rng.uniform(0, 60)) for _ in range(20)] for _ in range(50)]
    script = """
        globalThis.document = { addEventListener() {} };
        const { learnt } = await import(process.argv[1]);
        const run = (answers) => answers.reduce((all, [right, days]) => [...all, learnt(all.at(-1), right, days)], [{}]).slice(1);
        console.log(JSON.stringify(JSON.parse(process.argv[2]).map(run)));
    """
    reported = json.loads(subprocess.run(["node", "--input-type=module", "--eval", script, str(FOLDER / "src" / "page" / "cards.js"), json.dumps(answers)], capture_output=True, text=True, check=True).stdout)
    for line, cards in zip(answers, reported):
        memory = (0.0, 0.0)
        for (right, days), card in zip(line, cards):
            memory = fsrs(*memory, right, days)
            assert math.isclose(card["stability"], memory[0], rel_tol=1e-9) and math.isclose(card["difficulty"], memory[1], rel_tol=1e-9), (line, card, memory)
