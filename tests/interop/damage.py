"""Databases with many kinds of damage: every variant is read to its end, in little memory."""

import re
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from paths import TARGET, folder

READ_GAMES = TARGET / "release" / "examples" / "read_games"

TRUNCATIONS = 200


def damaged(sources: list[tuple[Path, int]], endings: list[str], most_kb: int) -> str:
    """Truncates the files of each database that have these endings, and changes the given
    number of bytes of each; two databases at a time."""

    def work(numbered) -> list[str]:
        seed, (source, flips) = numbered
        command = [READ_GAMES, "--damage", seed, TRUNCATIONS, flips, folder("damage"), source, *endings]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        assert done.returncode == 0, (source, done.stderr[-2000:])
        lines = done.stdout.splitlines()
        assert len(lines) == len(endings), (source, lines)
        for line in lines:
            assert int(re.search(r"(\d+) KB at most", line)[1]) < most_kb, line
            assert int(re.search(r"variants: (\d+)", line)[1]) == TRUNCATIONS + flips, line
        return lines

    # The largest first, because they take longest.
    sources = sorted(enumerate(sources), key=lambda one: one[1][0].stat().st_size, reverse=True)
    sums: Counter[str] = Counter()
    with ThreadPoolExecutor(2) as pool:
        for line in (line for lines in pool.map(work, sources) for line in lines):
            sums.update({word: int(number) for word, number in re.findall(r"(\w+): (\d+)", line)})
    return str(dict(sums))
