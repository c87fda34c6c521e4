"""Opening suites, played by python-chess's engine driver."""

import base64
import hashlib
import json
import re
import subprocess
import zipfile

import chess
import chess.engine
import chess.pgn

import managers
from paths import ROOT, STARTER, STOCKFISH, TABIA, THOROUGH, folder
from procs import TIMEOUT_FACTOR, environment, run, run_ok
from runner import case

GAMES = ROOT / "tests" / "data" / "sample.pgn"


def _make(*arguments) -> None:
    run_ok("suite", *arguments, limit=60)


def _engine(where, name: str):
    """Stockfish behind the adapter, which logs every line sent to it."""
    log = where / f"{name}.log"
    log.unlink(missing_ok=True)
    command = [TABIA, "--set", "OwnBook=false", "--log", str(log), "--", STOCKFISH]
    return log, _started(command)


def _started(command: list[str]) -> chess.engine.SimpleEngine:
    return chess.engine.SimpleEngine.popen_uci(
        command, timeout=10 * TIMEOUT_FACTOR, env=environment(), stderr=subprocess.DEVNULL
    )


def _match(where, suite, form: str, manager: str, plies: int = 1024) -> list[chess.Board]:
    """Plays ten pairs in the manager's order, a few moves each; compares the lines sent to
    both engines with what the manager read. Returns the first positions."""
    boards = managers.openings(suite.read_bytes(), manager, form, seed=1, plies=plies)
    (log, first), (other_log, other) = _engine(where, "first"), _engine(where, "other")
    begun, played = [], []
    with first, other:
        for number, (board, first_is_white) in enumerate(managers.pairs(boards, rounds=10)):
            begun.append(board.copy())
            players = (first, other) if first_is_white else (other, first)
            for _ in range(6):
                if board.is_game_over():
                    break
                engine = players[0] if board.turn else players[1]
                move = engine.play(board, chess.engine.Limit(nodes=50), game=number).move
                assert move in board.legal_moves, (move, board.fen())
                board.push(move)
            game = chess.pgn.Game.from_board(board)
            game.headers.update(White="first" if first_is_white else "other",
                                Black="other" if first_is_white else "first", Result="1/2-1/2")
            played.append(str(game))
        # The logs are complete when both have ended.
        for engine in (first, other):
            engine.quit()
    text = log.read_text() + other_log.read_text()
    for board in begun:
        fen, moves = board.root().fen(), [move.uci() for move in board.move_stack]
        sent = "position startpos" if fen == chess.STARTING_FEN else f"position fen {fen}"
        sent = " ".join([sent, "moves", *moves] if moves else [sent])
        assert re.search(rf"{re.escape(sent)}( |$)", text, re.MULTILINE), sent
    games = where / "played.pgn"
    games.write_text("\n\n".join(played) + "\n")
    report = json.loads(run_ok("suite", "match", games, suite, "--json", limit=60).stdout)
    assert (report["games"], report["elsewhere"], report["repeated"]) == (20, 0, 0), report
    assert report["players"][0]["pairs"]["pentanomial"] == [0, 0, 10, 0, 0], report
    return begun


@case(240)
def twenty_games_begin_in_the_positions_of_each_suite_format():
    where = folder("suite")
    ends = {}
    for form in ("fen", "epd", "none", "pgn"):
        path = where / f"{form}.{'pgn' if form == 'pgn' else 'epd'}"
        counters = [] if form == "pgn" else ["--counters", form]
        _make(GAMES, "-o", path, "--plies", 8, "--count", 20, *counters)
        for manager in managers.MANAGERS:
            kind = "pgn" if form == "pgn" else "epd"
            begun = _match(where, path, kind, manager, plies=8)
            # Which managers read which counters.
            keeps = form in ("epd", "pgn") or (form == "fen" and manager == "fastchess")
            assert {board.fullmove_number for board in begun} == {5 if keeps else 1}, (form, manager)
            assert {len(board.move_stack) for board in begun} == {8 if form == "pgn" else 0}
            ends[form, manager] = {board.epd(en_passant="legal") for board in begun}
    assert all(len(found) == 10 for found in ends.values())
    lines = set((where / "none.epd").read_text().splitlines())
    assert all(found <= lines for found in ends.values()), "every form holds the same positions"


@case(60)
def suite_lines_that_match_managers_reject_are_reported():
    where = folder("suite")
    good = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -"
    other = "rnbqkbnr/pppp1ppp/8/4p3/3P4/8/PPP1PPPP/RNBQKBNR w KQkq -"
    start = chess.STARTING_FEN
    mate = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
    broken = {
        "comment": f"# made by hand\n{good} 0 1\n",
        "mark": f"\ufeff{good} 0 1\n",
        "words": f"{good} 0 1\nno position\n",
        "illegal": f"{good} 0 1\n8/8/8/8/8/8/8/K7 w - - 0 1\n",
        "counters": f"{good} 3 9 bm e5;\n",
    }
    for name, text in broken.items():
        path = where / f"{name}.epd"
        path.write_text(text)
        wrong = []
        for manager in managers.MANAGERS:
            try:
                boards = managers.openings(path.read_bytes(), manager, "epd", seed=1)
                wrong += [board for board in boards if board.fen() == start]
                wrong += [board for board in boards if name == "counters" and board.fullmove_number == 1]
            except managers.Aborts as reason:
                wrong.append(reason)
        assert wrong, f"{name}: some manager goes wrong"
        assert run("suite", "check", path, limit=30).returncode == 1, name
    sound = {
        "four": f"{good}\n{other}\n",
        "six": f"{good} 0 1\n{other} 0 2\n",
        "blanks": f"{good} 0 1\n\n",
        "operations": f"{good} hmvc 0; fmvn 1;\n{other} hmvc 3; fmvn 5;\n",
        "long": f"{good} c0 \"{'x' * 9000}\";\n",
    }
    for name, text in sound.items():
        path = where / f"{name}.epd"
        path.write_text(text)
        for manager in managers.MANAGERS:
            boards = managers.openings(path.read_bytes(), manager, "epd", seed=1)
            assert all(board.fen() != start for board in boards), name
        done = run("suite", "check", path, limit=30)
        assert done.returncode == 0, done.stdout
    for name, text in {"twice": f"{good} 0 1\n{good} 3 9\n", "over": mate + "\n"}.items():
        (where / f"{name}.epd").write_text(text)
        assert run("suite", "check", where / f"{name}.epd", limit=30).returncode == 1, name


def _entry(text: bytes) -> dict:
    """The entry of `books.json` as official-stockfish's script makes it: side
    to move from field 2, plies from field 6."""
    lines = [line.split() for line in text.decode().splitlines()]
    plies = [2 * (int(words[5]) - 1) + (words[1] == "b") for words in lines]
    white = sum(words[1] == "w" for words in lines)
    return {
        "total": len(lines),
        "white": white,
        "black": len(lines) - white,
        "min_depth": min(plies),
        "max_depth": max(plies),
        "sri": base64.b64encode(hashlib.sha384(text).digest()).decode(),
    }


@case(400)
def the_metadata_and_the_archive_suit_test_farms():
    # The genuine entry of the genuine file.
    genuine = {"total": 1, "white": 1, "black": 0, "min_depth": 0, "max_depth": 0,
               "sri": "B0D/PN334ez5R9K8mGspR5ZjfXb0sWoEObBnkCI7sczqZbaOHQ5aooqk97zeHM0a"}
    assert _entry(chess.STARTING_FEN.encode() + b"\n") == genuine
    where = folder("suite")
    # A file like 2moves_v1: every position after two moves of each side, from
    # python-chess, 197,281 lines.
    lines, positions = [], set()

    def walk(board: chess.Board, plies: int) -> None:
        if plies == 0:
            lines.append(board.fen())
            if not board.is_checkmate():
                positions.add(board.epd())
            return
        for move in board.legal_moves:
            board.push(move)
            walk(board, plies - 1)
            board.pop()

    walk(chess.Board(), 4)
    assert len(lines) == 197_281
    (where / "all.epd").write_text("\n".join(lines) + "\n")
    path = where / "2moves_all.epd"
    _make(where / "all.epd", "-o", path, "--in-check", "yes", "--zip", "--metadata", where / "books.json")
    text = path.read_bytes()
    assert {" ".join(line.split()[:4]) for line in text.decode().splitlines()} == positions
    books = json.loads((where / "books.json").read_text())
    entry = _entry(text)
    assert books == {path.name: entry}, books
    assert (entry["total"], entry["min_depth"], entry["max_depth"]) == (len(positions), 4, 4)
    with zipfile.ZipFile(f"{path}.zip") as archive:
        assert archive.namelist() == [path.name]
        assert archive.read(path.name) == text
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)
    unpacked = subprocess.run(["unzip", "-p", f"{path}.zip"], capture_output=True)
    assert unpacked.stdout == text
    return f"{entry['total']} positions after two moves"


@case(60)
def the_published_suite_has_no_fault():
    packed = ROOT / "release" / "suite"
    with zipfile.ZipFile(packed / "tabia_pawn_v1.epd.zip") as archive:
        [name] = archive.namelist()
        text = archive.read(name)
    where = folder("suite")
    (where / name).write_bytes(text)
    done = run("suite", "check", where / name, limit=50)
    assert done.returncode == 0, done.stdout
    entry = _entry(text)
    assert json.loads((packed / "books.json").read_text()) == {name: entry}
    assert entry["total"] >= 20_000


def _drawn(games: int, *settings: str) -> list[chess.Board]:
    """Games of one process of the adapter, eight plies of the starter book each."""
    command = [TABIA, "--book", str(STARTER), *settings, "--", STOCKFISH]
    boards = []
    with _started(command) as engine:
        for number in range(games):
            board = chess.Board()
            while board.ply() < 8:
                board.push(engine.play(board, chess.engine.Limit(nodes=50), game=number).move)
            boards.append(board)
    return boards


@case(120)
def a_match_can_be_replayed_in_two_ways():
    where = folder("suite")
    lines = lambda boards: [board.move_stack for board in boards]
    # A seed repeats game n of a process in every process.
    one = lines(_drawn(4, "--set", "Book Seed=7"))
    assert one == lines(_drawn(4, "--set", "Book Seed=7"))
    assert any(line != one[0] for line in one), "not every game opens alike"
    # A suite made from the book: the same file every time, each line in a pair.
    for name in ("one.pgn", "again.pgn"):
        _make(STARTER, "-o", where / name, "--plies", 8, "--min-share", "0.01")
    assert (where / "one.pgn").read_bytes() == (where / "again.pgn").read_bytes()
    _match(where, where / "one.pgn", "pgn", "fastchess", plies=8)
    # Random games of the adapter, and a suite made from them. No game starts in check.
    drawn = _drawn(8, "--set", "Book Variety=100", "--set", "Book Seed=3")
    games = where / "drawn.pgn"
    games.write_text("\n\n".join(str(chess.pgn.Game.from_board(board)) for board in drawn) + "\n")
    record = where / "record.pgn"
    _make(games, "-o", record, "--plies", 8, "--order", "file")
    again = managers.openings(record.read_bytes(), "fastchess", "pgn", seed=1, plies=8)
    starts = {board.epd() for board in drawn if not board.is_check()}
    assert len(starts) > 1
    assert {board.epd() for board in again} == starts


def _value(engine: chess.engine.SimpleEngine, board: chess.Board, nodes: int) -> int:
    """Centipawns of the side to move. A search by nodes often ends with a bound
    that refutes the last exact score."""
    exact, value = None, 0
    with engine.analysis(board, chess.engine.Limit(nodes=nodes), game=object()) as found:
        for info in found:
            if "score" not in info:
                continue
            score = info["score"].relative.score(mate_score=10_000)
            if info.get("upperbound"):
                value = min(value, score) if exact is not None else value
            elif info.get("lowerbound"):
                value = max(value, score) if exact is not None else value
            else:
                exact = value = score
    return value


@case(900)
def exits_that_were_searched_again_stay_in_their_window():
    where = folder("suite")
    path = where / "exits.epd"
    wanted = 60 if THOROUGH else 12
    arguments = [STARTER, "-o", path, "--exit", "--eval", "80..120", "--count", wanted, "--order",
                 "popular", "--engine", STOCKFISH, "--nodes", 3000, "--confirm-nodes", 150_000, "--json"]
    report = json.loads(run_ok("suite", *arguments, limit=800).stdout)
    confirmation = report["confirmation"]
    assert confirmation["stayed"] == wanted < confirmation["screened"], confirmation
    boards = [chess.Board(line) for line in path.read_text().splitlines()]
    assert len(boards) == wanted
    # With more hash the same nodes give other values: the margin allows for that.
    with _started([STOCKFISH]) as engine:
        engine.configure({"Hash": 64})
        values = [abs(_value(engine, board, 150_000)) for board in boards]
    stayed = sum(80 <= value <= 120 for value in values)
    assert 6 * stayed >= 5 * wanted, sorted(values)
    share = confirmation["share"]
    return f"{share:.0%} of the screened stayed, and {stayed} of these {wanted} at 150,000 nodes"


@case(60)
def a_suite_of_lines_of_the_book_has_no_fault():
    where = folder("suite")
    path = where / "book.epd"
    _make(STARTER, "-o", path, "--plies", 8, "--min-share", "0.01")
    done = run("suite", "check", path, limit=30)
    assert done.returncode == 0, done.stdout
    boards = [chess.Board(line) for line in path.read_text().splitlines()]
    assert all(board.ply() == 8 for board in boards)
    return f"{len(boards)} positions"
