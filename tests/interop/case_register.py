"""`tabia register`: the registered command starts the adapter, in the programs
themselves if they are installed (PyChess, XBoard), else in imitations of them."""

import json
import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import chess
import chess.engine

from oracle import Oracle
from paths import TABIA, copy_starter, folder
from procs import TIMEOUT_FACTOR, Answer, Client, poll
from runner import case

# A file of each program as it may be before, with an engine of the user's.
BEFORE = {
    "cutechess": '[\n    {\n        "command": "crafty",\n        "name": "Crafty",\n        "protocol": "xboard"\n    }\n]\n',
    "banksia": '[\n  {\n    "app" : {\n      "name": "Crafty",\n      "protocol": "wb",\n      "command": "/x/crafty"\n    }\n  }\n]\n',
    "pychess": '[\n {\n  "command": "/x/crafty",\n  "level": 5,\n  "name": "Crafty",\n  "protocol": "xboard"\n }\n]',
    "nibbler": '{\n\t"/x/lc0": {\n\t\t"args": ["--a"],\n\t\t"options": {\n\t\t\t"Hash": 16\n\t\t}\n\t}\n}',
}


def _moves_in(log: Path, word: str, limit: float) -> tuple[list[str], str]:
    """Waits for the first move in the log of a program, after `word`; returns the moves and the log."""

    def read() -> tuple[list[str], str]:
        # The last line may be incomplete.
        text = log.read_text(errors="replace").rpartition("\n")[0] if log.exists() else ""
        return [part.split()[0] for part in text.split(word)[1:]], text

    moves, text = poll(read, lambda found: found[0], limit)
    assert moves, text[-2000:]
    return moves, text


def _home() -> tuple[Path, Path]:
    """A home folder and a book in it; both paths contain spaces."""
    home = folder("home of me")
    books = home / "my books"
    books.mkdir()
    return home, copy_starter(books)


def _environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    kept["PATH"] = kept.get("PATH", "") + os.pathsep + "/usr/games"
    return kept | {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}


def _register(home: Path, *arguments: str) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [TABIA, "register", *map(str, arguments)], capture_output=True, text=True, env=_environment(home), timeout=10 * TIMEOUT_FACTOR
    )
    assert done.returncode == 0, done.stderr
    return done


def _file(home: Path, program: str) -> Path:
    return home / f"{program} engines.json"


def _written(program: str) -> tuple[Path, Path, object]:
    """Registers in a program that has an engine already; returns its file afterwards."""
    home, book = _home()
    file = _file(home, program)
    file.write_text(BEFORE[program])
    arguments = [program, "--engine", "builtin", "--book", book, "--config-file", file]
    dry = _register(home, *arguments, "--dry-run")
    assert file.read_text() == BEFORE[program]
    first = _register(home, *arguments)
    assert first.stdout == dry.stdout and str(book) in first.stdout, first.stdout
    text = file.read_text()
    second = _register(home, *arguments)
    assert "nothing to change" in second.stderr and second.stdout == "", second
    assert file.read_text() == text
    backups = [path for path in home.iterdir() if path.name.endswith(".bak")]
    assert [path.read_text() for path in backups] == [BEFORE[program]], backups
    # The old content comes first and is unchanged.
    start = BEFORE[program].rstrip()[:-1].rstrip()
    assert text.startswith(start + ","), text
    return home, book, json.loads(text)


def _plays_from_the_book(command: list[str], home: Path, book: Path, options: dict[str, str], cwd=None) -> str:
    """Starts an engine as a chess program does; checks that its first move is in the book."""
    with Oracle(book) as oracle:
        expected = oracle.playable(chess.Board())
    with chess.engine.SimpleEngine.popen_uci(command, timeout=30 * TIMEOUT_FACTOR, env=_environment(home), cwd=cwd) as engine:
        engine.configure(options)
        played = engine.play(chess.Board(), chess.engine.Limit(time=0.1), info=chess.engine.INFO_ALL)
        assert played.move.uci() in expected, played
        text = played.info.get("string", "")
        assert book.name in text, played.info
        return played.move.uci()


@case(60)
def cute_chess_starts_what_is_registered():
    home, book, engines = _written("cutechess")
    ours = engines[1]
    assert ours["name"] == "Tabia" and ours["protocol"] == "uci", ours
    # Cute Chess starts the command without arguments and sets each option that has a value.
    options = {option["name"]: option["value"] for option in ours["options"]}
    assert options["Book File"] == str(book) and len(options) > 20, options
    # "Restore defaults" must not remove the book.
    assert all(option["default"] == option["value"] for option in ours["options"]), ours["options"]
    return _plays_from_the_book([ours["command"]], home, book, options, ours["workingDirectory"])


@case(60)
def banksia_starts_what_is_registered():
    home, book, engines = _written("banksia")
    app = engines[1]["app"]
    assert (app["name"], app["protocol"]) == ("Tabia", "uci")
    options = {option["name"]: option["value"] for option in engines[1]["options"]}
    return _plays_from_the_book([app["command"], *app["arguments"]], home, book, options, app["working folder"])


@case(60)
def nibbler_starts_what_is_registered():
    home, book, engines = _written("nibbler")
    ((command, ours),) = [item for item in engines.items() if item[0] != "/x/lc0"]
    # python-chess sets this one itself.
    assert ours["options"].pop("MultiPV") == 1, ours
    return _plays_from_the_book([command, *ours["args"]], home, book, ours["options"])


# What two programs send of an engine in their lists before its first move in a game; their
# sources cannot be installed from a registry, so it is recorded here.
#
# Nibbler 2.5.9, files/src/renderer/95_hub.js (the answer to "id name", and
# `engine_send_all_options`) and 10_globals.js (`standard_ab_options`): an engine without
# MultiPV gets three lines; standard options if the engine has them, then those of its entry,
# Hash last. 90_engine.js: `go nodes N` or `go movetime N`.
#
# En Croissant 0.15.0, src/components/boards/BoardGame.tsx (`toPlayerConfig`: MultiPV is left
# out) and src-tauri/src/chess.rs (`set_options`): UCI_Chess960, then the settings of its entry.


def _nibbler_sends(entry: dict, known: list[str]) -> list[str]:
    options = dict(entry["options"])
    nodes = entry["search_nodes_special"]
    if not options.get("MultiPV"):
        options["MultiPV"], nodes = 3, 10_000_000
    standard = {"Contempt": "0", "Move Overhead": "0", "UCI_ShowWDL": "true"}
    sent = [(name, value) for name, value in standard.items() if name.lower() in known]
    sent += sorted(options.items(), key=lambda item: item[0].lower() == "hash")
    lines = [f"setoption name {name} value {value}" for name, value in sent]
    go = f"go movetime {nodes}" if entry["limit_by_time"] else f"go nodes {nodes}"
    return [*lines, "isready", "position startpos", go]


def _en_croissant_sends(entry: dict, _known: list[str]) -> list[str]:
    settings = [setting for setting in entry["settings"] if setting["name"] != "MultiPV"]
    lines = [f"setoption name {setting['name']} value {setting['value']}" for setting in settings]
    return ["setoption name UCI_Chess960 value false", *lines, "position startpos", "go depth 10"]


@case(60)
def nibbler_and_en_croissant_get_book_moves_in_their_games():
    played = []
    for program, sends in (("nibbler", _nibbler_sends), ("en-croissant", _en_croissant_sends)):
        home, book = _home()
        file = _file(home, program)
        _register(home, program, "--book", book, "--config-file", file)
        entries = json.loads(file.read_text())
        if program == "nibbler":
            ((command, entry),) = entries.items()
            # With three lines, as it would ask for them itself, no book plays.
            assert entry["options"]["MultiPV"] == 1, entry
            command = [command, *entry["args"]]
        else:
            (entry,) = entries
            command = [entry["path"]]
        client = Client(command)
        options = [line.split(" type ")[0].removeprefix("option name ") for line in client.handshake() if line.startswith("option ")]
        *lines, go = sends(entry, [name.lower() for name in options])
        client.send(*lines)
        answer = Answer(client.exchange(go, until="bestmove"))
        with Oracle(book) as oracle:
            assert answer.from_book and answer.move in oracle.playable(chess.Board()), (program, answer.lines)
        played.append(f"{program} 1.{answer.move}")
    return ", ".join(played)


@case(60)
def pychess_starts_what_is_registered():
    home, book, engines = _written("pychess")
    ours = engines[1]
    return _plays_from_the_book([ours["command"], *ours["args"]], home, book, {}, ours["workingDirectory"])


# PyChess's own search for engines, which its window runs at the start.
DISCOVER = """
import asyncio, json, sys
from pychess.Players import engineNest
discoverer = engineNest.discoverer
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
discoverer.connect("all_engines_discovered", lambda _: loop.stop())
async def begin():
    discoverer.discover()
loop.create_task(begin())
loop.call_later(300, loop.stop)
loop.run_forever()
"""


@case(120)
def pychess_itself_finds_the_engine_and_its_options():
    python = "/usr/bin/python3"
    probe = [python, "-c", "import pychess.Players.engineNest"]
    home, book = _home()
    if subprocess.run(probe, capture_output=True, env=_environment(home)).returncode != 0:
        return "left out: PyChess is not installed"
    (home / ".config" / "pychess").mkdir(parents=True, exist_ok=True)
    arguments = ["pychess", "--engine", "builtin", "--book", str(book)]
    _register(home, *arguments)
    done = subprocess.run([python, "-c", DISCOVER], capture_output=True, text=True, env=_environment(home))
    file = home / ".config" / "pychess" / "engines.json"
    engines = {engine["name"]: engine for engine in json.loads(file.read_text())}
    assert "Tabia" in engines, done.stderr
    ours = engines["Tabia"]
    # It has started the engine, and stored its answers.
    assert ours["recheck"] is False, (ours, done.stderr)
    options = {option["name"] for option in ours["options"]}
    assert {"Book File", "Book Variety", "OwnBook"} <= options, options
    # PyChess has rewritten its file; still nothing needs to be changed.
    assert "nothing to change" in _register(home, *arguments).stderr
    return f"{len(options)} options"


@case(90)
def xboard_plays_a_book_move_with_the_printed_line():
    for program in ("xboard", "Xvfb", "polyglot"):
        if shutil.which(program, path=_environment(Path("/"))["PATH"]) is None:
            return f"left out: {program} is not installed"
    home, book = _home()
    line = _register(home, "xboard", "--engine", "builtin", "--book", book).stdout
    return _xboard_plays(home, book, shlex.split(line))


def _xboard_plays(home: Path, book: Path, words: list[str]) -> str:
    """Starts XBoard with a printed line, the engine as White; returns its move."""
    assert words[0] == "xboard", words
    readable, writable = os.pipe()
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writable), "-screen", "0", "800x600x24"],
        pass_fds=[writable],
        stderr=subprocess.DEVNULL,
    )
    os.close(writable)
    xboard = None
    try:
        display = ":" + os.read(readable, 100).decode().strip()
        log = home / "xboard.debug"
        more = ["-debug", "-nameOfDebugFile", str(log), "-initialMode", "machineWhite"]
        xboard = subprocess.Popen(
            words + more,
            env=_environment(home) | {"DISPLAY": display},
            cwd=home,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        moves, text = _moves_in(log, "<first : move ", 60)
        assert f"book {book.name}" in text, text[-2000:]
        with Oracle(book) as oracle:
            assert moves[0] in oracle.playable(chess.Board()), moves
        return f"1.{moves[0]}"
    finally:
        os.close(readable)
        # The result is known, and a normal exit may take a while.
        for process in (xboard, screen):
            if process is not None:
                process.kill()
                process.wait()


# GNOME Chess in a session of its own, with the adapter as White.
GNOME = """
gsettings set org.gnome.Chess opponent Tabia
gsettings set org.gnome.Chess play-as black
exec gnome-chess
"""

# A bus that starts no services: one of them mounts a file system.
BUS = """<busconfig>
<type>session</type>
<listen>unix:tmpdir=/tmp</listen>
<policy context="default"><allow send_destination="*"/><allow own="*"/></policy>
</busconfig>
"""


@case(240)
def gnome_chess_plays_a_book_move_and_keeps_its_other_engines():
    for program in ("gnome-chess", "Xvfb", "dbus-run-session"):
        if shutil.which(program, path=_environment(Path("/"))["PATH"]) is None:
            return f"left out: {program} is not installed"
    home, book = _home()
    _register(home, "gnome-chess", "--engine", "builtin", "--book", book)
    file = home / ".config" / "gnome-chess" / "engines.conf"
    system = Path("/etc/gnome-chess/engines.conf").read_text()
    assert file.read_text().startswith(system) and "[Tabia]" in file.read_text()
    (home / "run").mkdir(mode=0o700)
    bus = home / "bus.conf"
    bus.write_text(BUS)
    settings = {
        "GSETTINGS_BACKEND": "keyfile",
        "GSK_RENDERER": "cairo",
        "G_MESSAGES_DEBUG": "all",
        "XDG_RUNTIME_DIR": str(home / "run"),
        # Otherwise it would wait for a service that the bus does not start.
        "ADW_DISABLE_PORTAL": "1",
        "GTK_USE_PORTAL": "0",
        "GTK_A11Y": "none",
    }
    readable, writable = os.pipe()
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writable), "-screen", "0", "1000x800x24"], pass_fds=[writable], stderr=subprocess.DEVNULL
    )
    os.close(writable)
    chess_program = None
    log = home / "gnome-chess.log"
    try:
        display = ":" + os.read(readable, 100).decode().strip()
        with log.open("wb") as output:
            chess_program = subprocess.Popen(
                ["dbus-run-session", f"--config-file={bus}", "sh", "-c", GNOME],
                env=_environment(home) | settings | {"DISPLAY": display},
                cwd=home,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        moves, text = _moves_in(log, "'bestmove ", 120)
        assert f"info string book {book.name}" in text, text[-2000:]
        with Oracle(book) as oracle:
            assert moves[0] in oracle.playable(chess.Board()), moves
    finally:
        os.close(readable)
        if chess_program is not None:
            os.killpg(chess_program.pid, signal.SIGKILL)
            chess_program.wait()
        screen.kill()
        screen.wait()
    _register(home, "gnome-chess", "--remove")
    assert not file.exists()
    return f"1.{moves[0]}"


def _pairs(words: list[str]) -> dict[str, str]:
    assert words[0] == "-engine", words
    return dict(word.split("=", 1) for word in words[1:])


@case(60)
def lines_for_match_programs_start_the_adapter():
    """Read as in their sources: options by the first `=`, fastchess's
    `args` split at spaces outside double quotes."""
    home, book = _home()
    config = home / "my engines.toml"
    config.write_text('default = ["builtin"]\n')
    for program in ("cutechess-cli", "fastchess"):
        line = _register(home, program, "--config", config, "--book", book).stdout
        words = _pairs(shlex.split(line))
        if program == "fastchess":
            arguments = shlex.split(words["args"].replace("'", "\\'"))
        else:
            arguments = [words["arg"]]
        assert arguments == [f"--config={config}"], line
        options = {"Book File": words["option.Book File"]}
        _plays_from_the_book([words["cmd"], *arguments], home, book, options, words["dir"])


@case()
def a_damaged_or_foreign_file_is_left_as_it_is():
    home, _ = _home()
    file = _file(home, "pychess")
    for text in ("[", '[{"name": "Tabia", "command": "/x/crafty"}]', '{"a": 1}', "[1, 2]", "\x00\x01"):
        file.write_text(text)
        done = subprocess.run(
            [TABIA, "register", "pychess", "--config-file", str(file)],
            capture_output=True,
            text=True,
            env=_environment(home),
            timeout=10 * TIMEOUT_FACTOR,
        )
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, (text, done.stderr)
        assert str(file) in done.stderr, done.stderr
        assert file.read_text() == text
        assert sorted(path.name for path in home.iterdir() if path.is_file()) == [file.name]
