"""Opening suites, played by python-chess's engine driver."""

import hashlib
import base64
import subprocess
import zipfile

import chess
import chess.engine
import chess.pgn

from places import ROOT, STARTER, STOCKFISH, TABIA, folder
from procs import environment, run
from runner import case

GAMES = ROOT / "tests" / "data" / "sample.pgn"


def _make(*arguments) -> None:
    done = run("suite", *arguments, limit=60)
    assert done.returncode == 0, done.stderr


def _played(where, boards: list[chess.Board]) -> None:
    """Plays a few moves from each position; what the engine was sent is what
    the suite says."""
    log = where / "played.log"
    log.unlink(missing_ok=True)
    command = [TABIA, "--set", "OwnBook=false", "--log", str(log), "--", STOCKFISH]
    sent = []
    with chess.engine.SimpleEngine.popen_uci(command, env=environment(), stderr=subprocess.DEVNULL) as engine:
        for number, start in enumerate(boards):
            board = start.copy()
            for _ in range(4):
                if board.is_game_over():
                    break
                root = board.root().fen()
                if root not in sent:
                    sent.append(root)
                played = engine.play(board, chess.engine.Limit(nodes=50), game=number)
                assert played.move in board.legal_moves, (played.move, board.fen())
                board.push(played.move)
    text = log.read_text()
    for fen in sent:
        is_start = fen == chess.STARTING_FEN
        assert ("position startpos" if is_start else f"position fen {fen}") in text, fen


@case(120)
def suites_of_every_form_are_played_from_their_positions():
    where = folder("suite")
    for counters in ("fen", "epd", "none"):
        path = where / f"{counters}.epd"
        _make(GAMES, "-o", path, "--plies", 8, "--counters", counters, "--count", 20)
        boards = []
        for line in path.read_text().splitlines():
            board = chess.Board()
            if counters == "fen":
                board.set_fen(line)
            else:
                board.set_epd(line)
            assert board.is_valid(), line
            if counters != "none":
                assert board.fullmove_number == 5, line
            boards.append(board)
        assert len(boards) == 20
        _played(where, boards)
    path = where / "games.pgn"
    _make(GAMES, "-o", path, "--plies", 8, "--count", 20)
    boards = []
    with path.open() as text:
        while game := chess.pgn.read_game(text):
            assert not game.errors and game.headers["Event"] == "Tabia suite"
            boards.append(game.end().board())
    assert {board.ply() for board in boards} == {8} and len(boards) == 20
    _played(where, boards)
    ends = {board.epd(en_passant="legal") for board in boards}
    lines = (where / "none.epd").read_text().splitlines()
    assert ends == set(lines), "both forms hold the same positions"


@case(60)
def the_entry_and_the_archive_are_as_farms_want_them():
    where = folder("suite")
    path = where / "2moves_all.epd"
    # All positions after two plies, by python-chess.
    pgn = []
    for first in chess.Board().legal_moves:
        board = chess.Board()
        one = board.san(first)
        board.push(first)
        pgn += [f'[Result "*"]\n\n1. {one} {board.san(second)} *\n' for second in board.legal_moves]
    (where / "all.pgn").write_text("\n".join(pgn))
    _make(where / "all.pgn", "-o", path, "--plies", 2, "--zip", "--metadata", where / "books.json")
    text = path.read_bytes()
    sri = base64.b64encode(hashlib.sha384(text).digest()).decode()
    books = (where / "books.json").read_text()
    assert f'"sri": "{sri}"' in books and '"total": 400' in books, books
    with zipfile.ZipFile(f"{path}.zip") as archive:
        assert archive.namelist() == [path.name]
        assert archive.read(path.name) == text
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)
    unpacked = subprocess.run(["unzip", "-p", f"{path}.zip"], capture_output=True)
    assert unpacked.stdout == text


@case(60)
def lines_of_the_book_become_a_suite_without_faults():
    where = folder("suite")
    path = where / "book.epd"
    _make(STARTER, "-o", path, "--plies", 8, "--min-share", "0.01")
    done = run("suite", "--check", path, limit=30)
    assert done.returncode == 0, done.stdout
    boards = [chess.Board(line) for line in path.read_text().splitlines()]
    assert all(board.ply() == 8 for board in boards)
    return f"{len(boards)} positions"
