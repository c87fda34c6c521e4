"""PyChess itself (its own modules, without its window): its list of engines, its settings,
and who plays the first moves of a game."""

import json
import subprocess
from pathlib import Path

import chess

from case_register import _environment, _register
from oracle import Oracle
from paths import TABIA, copy_starter, folder
from procs import TIMEOUT_FACTOR
from runner import case

PYTHON = "/usr/bin/python3"

# Its search for engines, then the first plies of a game between two of them. `own` has the
# plies at which it played from its own book.
GAME = """
import asyncio, json, os, sys
import gi
gi.require_version("Gtk", "3.0")
from pychess.Players.engineNest import discoverer
from pychess.Utils.GameModel import GameModel
from pychess.Utils.TimeModel import TimeModel
from pychess.Utils.const import BLACK, NORMALCHESS, WHITE
from pychess.Variants import variants
from pychess.System import conf

names, plies = sys.argv[1:3], int(sys.argv[3])
own = []
book_move = GameModel.get_book_move

def watched(model):
    move = book_move(model)
    if move is not None:
        own.append(model.ply)
    return move

GameModel.get_book_move = watched

async def play():
    found = asyncio.Event()
    discoverer.connect("all_engines_discovered", lambda _: found.set())
    discoverer.discover()
    await found.wait()
    variant = variants[NORMALCHESS]
    model = GameModel(TimeModel(60, 1), variant)
    engines = [discoverer.getEngineByName(name) for name in names]
    players = [
        await discoverer.initPlayerEngine(engine, color, 20, variant, 60, 1)
        for engine, color in zip(engines, (WHITE, BLACK))
    ]
    enough = asyncio.Event()
    model.connect("game_changed", lambda model, ply: ply >= plies and enough.set())
    model.connect("game_ended", lambda *_: enough.set())
    model.setPlayers(players)
    model.start()
    await enough.wait()
    by_hash = {name: discoverer.getEngineByMd5(engine["md5"])["name"] for name, engine in zip(names, engines)}
    moves = [move.as_uci() for move in model.moves[:plies]]
    print(json.dumps({"own": own, "moves": moves, "by_hash": by_hash}), flush=True)
    conf.save_config()
    os._exit(0)

loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
loop.run_until_complete(play())
"""


def _home() -> tuple[Path, dict[str, str]]:
    home = folder("home of me")
    (home / ".config" / "pychess").mkdir(parents=True)
    # Without other engines, which it would start one by one.
    return home, _environment(home) | {"PATH": "/usr/bin:/bin"}


def _is_installed(environment: dict[str, str]) -> bool:
    probe = [PYTHON, "-c", "import pychess.Utils.GameModel"]
    return subprocess.run(probe, capture_output=True, env=environment).returncode == 0


def _plays(environment: dict[str, str], names: list[str], plies: int) -> dict:
    done = subprocess.run([PYTHON, "-c", GAME, *names, str(plies)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stdout.strip(), done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@case(180)
def pychess_asks_tabia_from_the_first_move_on():
    home, environment = _home()
    if not _is_installed(environment):
        return "left out: PyChess is not installed"
    config = home / ".config" / "pychess" / "config"
    config.write_text("[General]\nfirstname = me\nbook_depth_max = 20\n\n[FICS]\n\n[ICC]\n\n")
    before = config.read_text()
    book = copy_starter(home)
    _register(home, "pychess", "--engine", "builtin", "--book", book)
    game = _plays(environment, ["Tabia", "Tabia"], 8)
    assert game["own"] == [], game
    board = chess.Board()
    with Oracle(book) as oracle:
        for move in game["moves"]:
            assert move in oracle.playable_in_game(board), (move, game)
            board.push_uci(move)
    # PyChess has rewritten its settings; removing Tabia sets the old value back.
    assert "book_depth_max = 0" in config.read_text(), config.read_text()
    _register(home, "pychess", "--remove")
    assert _settings(config.read_text()) == _settings(before), config.read_text()
    return " ".join(game["moves"])


def _settings(text: str) -> set[str]:
    return {line for line in text.splitlines() if line.startswith(("first", "book_depth"))}


@case(180)
def pychess_itself_plays_the_opening_where_its_book_is_on():
    """Why `register` and `setup` change its settings: no engine is asked before ply 14."""
    home, environment = _home()
    if not _is_installed(environment):
        return "left out: PyChess is not installed"
    _register(home, "pychess", "--engine", "builtin")
    (home / ".config" / "pychess" / "config").unlink()
    game = _plays(environment, ["Tabia", "Tabia"], 4)
    assert game["own"][:4] == [0, 1, 2, 3], game
    return "its own book played"


@case(180)
def two_entries_are_two_engines_to_pychess():
    home, environment = _home()
    if not _is_installed(environment):
        return "left out: PyChess is not installed"
    books = home / "books of me"
    books.mkdir()
    book = copy_starter(books)
    _register(home, "pychess", "--engine", "builtin", "--name", "Tabia 1", "--book", book)
    _register(home, "pychess", "--engine", "builtin", "--name", "Tabia 2")
    names = ["Tabia 1", "Tabia 2"]
    game = _plays(environment, names, 2)
    assert game["by_hash"] == {name: name for name in names}, game
    file = home / ".config" / "pychess" / "engines.json"
    # Its list has absolute paths: an engine whose file is not there is taken out of it.
    commands = [engine["command"] for engine in json.loads(file.read_text()) if engine["name"] in names]
    assert len(set(commands)) == 2 and all(Path(command).is_file() for command in commands), commands
    _register(home, "pychess", "--name", "Tabia 1", "--remove")
    assert [Path(command).exists() for command in commands] == [False, True], commands
    # One of ours is left, so its own book stays off.
    config = home / ".config" / "pychess" / "config"
    assert "book_depth_max = 0" in config.read_text()
    return "two hashes"


@case(120)
def setup_switches_the_book_of_pychess_off_and_on_again():
    home, environment = _home()
    config = home / ".config" / "pychess" / "config"
    config.write_text("[General]\nshowemt = True\n\n[FICS]\n\n")
    before = config.read_text()

    def setup(*arguments: str) -> str:
        done = subprocess.run(
            [TABIA, "setup", "--program", "pychess", *arguments] if "--remove" not in arguments else [TABIA, "setup", *arguments],
            capture_output=True,
            text=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=60 * TIMEOUT_FACTOR,
        )
        assert done.returncode in (0, 1), done
        return done.stdout

    assert "+book_depth_max = 0" in setup("--dry-run")
    assert "+book_depth_max = 0" in setup("--diff") and config.read_text() == before
    setup("--yes")
    assert "book_depth_max = 0" in config.read_text()
    if _is_installed(environment):
        game = _plays(environment, ["Tabia", "Tabia"], 2)
        assert game["own"] == [], game
    setup("--remove", "--yes")
    assert "book_depth" not in config.read_text() and "showemt = True" in config.read_text(), config.read_text()
    return "off and on again"
