"""`tabia build` against other programs: python-chess counts the same games, and
Polyglot makes a book of them for comparison."""

import contextlib
import json
import random
import shutil
import signal
import subprocess
import time
from collections import Counter, defaultdict
from pathlib import Path

import chess
import chess.pgn

from oracle import canonical
from paths import SHARED, TABIA, folder
from procs import environment, run, run_ok
from runner import case

PGN = SHARED / "data" / "pgn"
ALL = PGN / "gnuchess_book_1.02.pgn.zst"


def unpack(packed: Path, to: Path) -> Path:
    plain = to / packed.with_suffix("").name
    with plain.open("wb") as out:
        subprocess.run(["zstd", "-dc", "--long=27", packed], stdout=out, check=True)
    return plain


def random_games(to: Path, count: int) -> Path:
    """Makes random games with python-chess from a seed."""
    rng = random.Random(7)
    with to.open("w") as out:
        for number in range(count):
            board = chess.Board()
            for ply in range(rng.randrange(6, 60)):
                moves = sorted(board.legal_moves, key=lambda move: move.uci())
                if not moves:
                    break
                board.push(rng.choice(moves[:3] if ply < 6 else moves))
            game = chess.pgn.Game.from_board(board)
            game.headers["Result"] = rng.choice(["1-0", "0-1", "1/2-1/2", "*"])
            if rng.random() < 0.5:
                game.headers["WhiteElo"] = str(rng.randrange(1800, 2800))
            print(game, file=out, end="\n\n")
    return to


def normal(board: chess.Board) -> str:
    """The EPD of a position as the format normalises it."""
    return canonical(board).epd(en_passant="legal")


class Count:
    """Games replayed by python-chess."""

    def __init__(self, path: Path, plies: int):
        self.results = defaultdict(Counter)
        self.fens = {}
        with path.open(encoding="latin-1") as file:
            while game := chess.pgn.read_game(file):
                if "FEN" not in game.headers and not game.errors:
                    self.add(game, plies)

    def add(self, game: chess.pgn.Game, plies: int) -> None:
        winner = {"1-0": chess.WHITE, "0-1": chess.BLACK, "1/2-1/2": None}
        result = game.headers["Result"]
        board = game.board()
        moves = list(game.mainline_moves())[:plies]
        seen = set()
        for move in [None, *moves]:
            if move is not None:
                board.push(move)
            name = normal(board)
            if name in seen:
                continue
            seen.add(name)
            self.fens.setdefault(name, board.fen())
            count = self.results[name]
            count["games"] += 1
            if result in winner:
                won = winner[result]
                count["draws" if won is None else "wins" if won == board.turn else "losses"] += 1


def compare(path: Path, book: Path, plies: int, positions: int) -> str:
    count = Count(path, plies)
    names = sorted(count.fens)
    often = sorted(names, key=lambda name: -count.results[name]["games"])[: positions // 2]
    chosen = often + random.Random(3).sample(names, min(len(names), positions // 2))
    done = run("probe", book, "--json", "-", stdin="\n".join(count.fens[name] for name in chosen))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(chosen), done.stderr
    children = 0
    for name, answer in zip(chosen, answers):
        expected = count.results[name]
        assert answer["in_book"], name
        for number in ("games", "wins", "draws", "losses"):
            assert answer[number] == expected[number], (name, number, answer[number], expected)
        board = chess.Board(count.fens[name])
        for move in answer["moves"]:
            board.push_uci(move["uci"])
            child = count.results[normal(board)]
            board.pop()
            # Results of a move are those of the side that plays it.
            assert move["games"] == child["games"], (name, move)
            assert (move["wins"], move["losses"]) == (child["losses"], child["wins"]), (name, move)
            children += 1
    info = json.loads(run("info", book, "--json").stdout)
    assert info["positions"] == len(names), (info["positions"], len(names))
    return f"{len(names)} positions in all, {len(chosen)} and {children} moves compared"


@case(limit=60)
def a_book_of_random_games_has_the_numbers_that_python_chess_counts():
    here = folder("count")
    games = random_games(here / "games.pgn", 300)
    run_ok("build", "-o", here / "out.ctg", games, "--max-ply", "30")
    return compare(games, here / "out.ctg", 30, 400)


@case(limit=120, needs_shared=True)
def a_book_of_real_games_has_the_numbers_that_python_chess_counts():
    here = folder("count")
    packed = PGN / "chesscore_Boris_Spassky.pgn.zst"
    run_ok("build", "-o", here / "out.ctg", packed)
    return compare(unpack(packed, here), here / "out.ctg", 40, 400)


def peak_mib(*arguments) -> float:
    """Runs the program; returns its peak memory in MiB."""
    child = subprocess.Popen(
        [TABIA, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()
    )
    # Read from /proc while it runs: the peak reported for an ended child includes
    # this process's own memory at the time of the fork.
    peak = 0
    while child.poll() is None:
        try:
            status = Path(f"/proc/{child.pid}/status").read_text()
        except OSError:
            break
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                peak = max(peak, int(line.split()[1]))
        # The peak of the last moments may be missed: it is reached long before.
        time.sleep(0.005)
    text = child.stderr.read().decode()
    child.stderr.close()
    assert child.wait() == 0, text
    return peak / 1024


@case(limit=300, needs_shared=True)
def memory_is_bounded():
    here = folder("memory")
    games = unpack(ALL, here)
    most = peak_mib("build", "-o", here / "out.ctg", games)
    # The sums must not depend on the memory available.
    first = (here / "out.ctg").read_bytes()
    small = peak_mib("build", "--force", "-o", here / "out.ctg", games, "--memory", "64M", "--threads", "1")
    assert (here / "out.ctg").read_bytes() == first
    assert most < 256, most
    assert small < 64 + 48, small
    return f"{most:.0f} MiB, with --memory 64M {small:.0f} MiB"


def full_disk(script: str, megabytes: int) -> subprocess.CompletedProcess:
    """Runs a script in a tiny file system of its own, in whose root it starts."""
    place = folder("disk")
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size={megabytes}m tmpfs {place} && cd {place} && {script}"],
        capture_output=True,
        text=True,
        env=environment(),
    )


@case(limit=60)
def a_full_disk_gives_one_message_and_leaves_no_files():
    here = folder("games")
    games = random_games(here / "games.pgn", 600)
    if full_disk("true", 1).returncode != 0:
        return "left out: no file system may be mounted here"
    for what, more, size in (("sorting", "--memory 1M", 1), ("writing", "--memory 64M", 1)):
        script = f"echo old > out.ctg; {TABIA} build --force -o out.ctg {games} --max-ply 60 {more}; echo $?; cat out.ctg; ls -A"
        done = full_disk(script, size)
        assert done.stdout.split() == ["2", "old", "out.ctg"], (what, done)
        assert "No space left" in done.stderr, (what, done.stderr)
        assert len(done.stderr.strip().splitlines()) == 1, (what, done.stderr)


def interrupted(text: bytes, book: Path) -> None:
    """Stops a build while it reads these games repeatedly."""
    command = [TABIA, "build", "-o", str(book), "-", "--memory", "1M"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    for _ in range(40):
        child.stdin.write(text)
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    # Write games until it has noticed the signal.
    with contextlib.suppress(BrokenPipeError):
        while True:
            child.stdin.write(text)
    with contextlib.suppress(BrokenPipeError):
        child.stdin.close()
    output = child.stderr.read().decode()
    child.stderr.close()
    assert child.wait() == 130, output
    assert "interrupted" in output, output


@case(limit=60)
def an_interrupted_build_leaves_no_files():
    here = folder("interrupt")
    games = random_games(here / "games.pgn", 100)
    (here / "out").mkdir()
    for name in ("book.ctg", "book.bin"):
        interrupted(games.read_bytes(), here / "out" / name)
        assert list((here / "out").iterdir()) == []
    shutil.rmtree(here)
