"""Engines of today behind the adapter, and programs that write otherwise than they read.

Stockfish 19 ends on a move list, a FEN or an en passant field that it does not take; 15 to 18
ignore the rest. So nothing of the kind may reach an engine, whoever has written it. One game is
written in both notations of castling at random; a restart of the engine fails a case.
"""

import os
import random
import sys
from pathlib import Path
from typing import Iterator

import chess

import npm
from paths import STOCKFISH, TABIA, THOROUGH, folder
from players import BUILT_IN
from procs import Client, ready_tabia
from runner import case

ENGINES = {"15.1": [STOCKFISH], **{version: npm.stockfish(version) for version in ("17.1", "18", "19")}}
GAMES = 100 if THOROUGH or os.environ.get("TABIA_ALL") == "1" else 30
CASTLES = "position startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 g8f6"


def _spelt(board: chess.Board, move: chess.Move, rng: random.Random) -> str:
    """The move in one of the two notations of castling, if it is that."""
    if not board.is_castling(move):
        return move.uci()
    # Kings and rooks at home have both; elsewhere the king's move may be another move.
    is_usual = chess.square_file(move.from_square) == 4 and _rook_of(board, move) in (0, 7)
    if is_usual and rng.random() < 0.5:
        kingside = board.is_kingside_castling(move)
        return chess.square_name(move.from_square) + ("g" if kingside else "c") + "18"[board.turn == chess.BLACK]
    return chess.square_name(move.from_square) + chess.square_name(_rook_square(board, move))


def _rook_square(board: chess.Board, move: chess.Move) -> int:
    if board.piece_at(move.to_square) == chess.Piece(chess.ROOK, board.turn):
        return move.to_square
    rank = 0 if board.turn == chess.WHITE else 7
    return chess.square(7 if board.is_kingside_castling(move) else 0, rank)


def _rook_of(board: chess.Board, move: chess.Move) -> int:
    return chess.square_file(_rook_square(board, move))


def _castlings(board: chess.Board) -> list[chess.Move]:
    return [move for move in board.legal_moves if board.is_castling(move)]


def _play(client: Client, board: chess.Board, start: str, chess960: bool, rng: random.Random) -> tuple[int, int]:
    """Plays a game against itself; returns its plies and castlings. A castling that is possible
    is played with probability a half, so that every game has some."""
    moves: list[str] = []
    castlings = 0
    client.send("ucinewgame")
    while not board.is_game_over() and len(moves) < 36:
        line = f"position {start}" + (" moves " + " ".join(moves) if moves else "")
        go = f"go nodes {rng.randint(20, 60)}"
        only = None
        if (possible := _castlings(board)) and rng.random() < 0.5:
            only = rng.choice(possible)
            go += f" searchmoves {_spelt(board, only, rng)}"
        answer = client.go(line, go)
        bad = [text for text in answer.lines if "started again" in text or "not legal" in text or "ended" in text]
        assert not bad, (bad, line, go)
        legal = {board.uci(legal, chess960=chess960): legal for legal in board.legal_moves}
        assert answer.move in legal, (answer.move, line, go, sorted(legal))
        move = legal[answer.move]
        assert only in (None, move), (answer.move, line, go)
        if answer.reply is not None:
            after = board.copy(stack=False)
            after.push(move)
            replies = {after.uci(legal, chess960=chess960) for legal in after.legal_moves}
            assert answer.reply in replies, (answer.reply, line, go)
        castlings += board.is_castling(move)
        moves.append(_spelt(board, move, rng))
        board.push(move)
    return len(moves), castlings


def _boards(chess960: bool, rng: random.Random) -> Iterator[tuple[chess.Board, str]]:
    while True:
        if not chess960:
            yield chess.Board(chess960=True), "startpos"
            continue
        board = chess.Board.from_chess960_pos(rng.randrange(960))
        # X-FEN and Shredder-FEN.
        fen = board.fen() if rng.random() < 0.5 else board.shredder_fen()
        yield board, f"fen {fen}"


def _games(chess960: bool) -> str:
    rng = random.Random(19 + chess960)
    client = ready_tabia("--set", "Book Depth=3", engine=npm.stockfish("19"))
    client.send(f"setoption name UCI_Chess960 value {rng.choice(['True', 'TRUE', 'true']) if chess960 else 'False'}")
    plies = castlings = 0
    boards = _boards(chess960, rng)
    for _ in range(GAMES):
        board, start = next(boards)
        more = _play(client, board, start, chess960, rng)
        plies, castlings = plies + more[0], castlings + more[1]
    assert castlings >= GAMES // 2, castlings
    client.quit()
    return f"{GAMES} games, {plies} plies, {castlings} castlings, no restart"


@case(120)
def games_behind_stockfish_19_with_castling_in_both_notations():
    return _games(chess960=False)


@case(120)
def chess960_games_behind_stockfish_19_in_both_notations():
    return _games(chess960=True)


@case(120)
def chess960_games_of_the_built_in_engine():
    """It plays castling of kings and rooks elsewhere, in the notation in force."""
    rng = random.Random(7)
    client = ready_tabia("--set", "OwnBook=false", engine=BUILT_IN)
    client.send("setoption name UCI_Chess960 value true")
    castlings = 0
    boards = _boards(True, rng)
    for _ in range(max(4, GAMES // 10)):
        board, start = next(boards)
        castlings += _play(client, board, start, True, rng)[1]
    assert castlings > 0
    client.quit()


def _ask(client: Client, *lines: str) -> tuple[str, list[str]]:
    """The move of the last `go`, and the messages."""
    client.send(*lines[:-1])
    answer = client.go("", lines[-1])
    said = [line for line in answer.lines if line.startswith("info string") and "NNUE" not in line and "replica" not in line]
    return answer.move, said


@case(60)
def engines_of_today_get_what_they_take():
    for version, command in ENGINES.items():
        client = ready_tabia("--set", "OwnBook=false", engine=command)
        for lines, moves in (
            # Castling in the other notation.
            ((f"{CASTLES} e1h1", "go nodes 60 searchmoves f6e4"), {"f6e4"}),
            ((f"{CASTLES} e1h1 f8e7 d2d3 e8h8", "go nodes 60 searchmoves a2a3"), {"a2a3"}),
            ((CASTLES, "go nodes 60 searchmoves e1h1"), {"e1g1"}),
            # Values in another form, and the same after them.
            (("setoption name UCI_Chess960 value TRUE", CASTLES, "go nodes 60 searchmoves e1g1"), {"e1h1"}),
            ((f"{CASTLES} e1g1", "go nodes 60 searchmoves f6e4"), {"f6e4"}),
            (("setoption name UCI_Chess960 value False", CASTLES, "go nodes 60 searchmoves e1g1"), {"e1g1"}),
            (("setoption name Ponder value yes", CASTLES, "go nodes 60 searchmoves d2d3"), {"d2d3"}),
        ):
            move, said = _ask(client, *lines)
            assert move in moves and not said, (version, lines, move, said)
        # Two lines, although the value is written as no engine from 19 on takes it.
        client.send("setoption name MultiPV value 2.0", "position startpos moves a2a3 a7a6")
        lines = client.go("", "go nodes 300").lines
        assert any(" multipv 2 " in line for line in lines), (version, lines)
        client.send("setoption name MultiPV value 1")
        lines = client.exchange("setoption name Ponder value maybe", "isready", until="readyok")
        assert any('"Ponder" takes true or false, not "maybe"' in line for line in lines), lines
        # What a FEN cannot say: one message each, and the engine plays on.
        after_e4 = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b"
        for fields, go, wanted in (
            ("KQkq e4 0 3", "go nodes 60 searchmoves d4e3", "d4e3"),
            ("KQkq e6 0 3", "go nodes 60 searchmoves a7a6", "a7a6"),
            ("KQkqK - 0 3", "go nodes 60 searchmoves a7a6", "a7a6"),
            ("KQkq - 70000 3000000", "go nodes 60 searchmoves a7a6", "a7a6"),
        ):
            move, said = _ask(client, f"position fen {after_e4} {fields}", go)
            assert move == wanted and len(said) == 1, (version, fields, move, said)
            assert said[0].startswith("info string position: "), said
        move, said = _ask(client, "position fen 4k2r/8/8/8/8/8/8/R3K3 w KQkq - 0 1", "go nodes 60 searchmoves e1a1")
        assert move == "e1c1" and len(said) == 1, (version, move, said)
        client.quit()


@case(30)
def castling_of_an_engine_in_the_other_notation_is_translated():
    """An engine that writes castling as king takes rook, in ordinary chess."""
    here = folder("rook")
    engine = here / "engine.py"
    engine.write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    word = line.split()[0] if line.split() else ''\n"
        "    answer = {'uci': 'id name Rook\\nuciok', 'isready': 'readyok', 'go': 'bestmove e1h1 ponder f6e4'}.get(word)\n"
        "    if answer: print(answer, flush=True)\n"
        "    if word == 'quit': break\n"
    )
    client = ready_tabia("--set", "OwnBook=false", engine=[sys.executable, str(engine)])
    answer = client.go(CASTLES, "go nodes 5")
    assert (answer.move, answer.reply) == ("e1g1", "f6e4"), answer.lines
    assert any("another notation" in line for line in answer.lines), answer.lines
    client.quit()


@case(30)
def an_engine_with_an_option_called_ownbook_is_told_by_the_command_line():
    here = folder("own")
    log = here / "log"
    config = here / "engines.toml"
    engine = here / "engine.py"
    engine.write_text(
        "import sys, pathlib\n"
        f"log = open({str(log)!r}, 'a')\n"
        "for line in sys.stdin:\n"
        "    log.write(line); log.flush()\n"
        "    word = line.split()[0] if line.split() else ''\n"
        "    answer = {'uci': 'id name Own\\noption name OwnBook type check default true\\nuciok', 'isready': 'readyok'}.get(word)\n"
        "    if answer: print(answer, flush=True)\n"
        "    if word == 'quit': break\n"
    )
    config.write_text(
        f'default = ["own"]\n[engine.own]\ncommand = "{sys.executable}"\nargs = ["{engine}"]\n'
        '[engine.own.options]\n"Engine OwnBook" = false\n'
    )
    for command in (
        [TABIA, "--set", "Engine OwnBook=false", "--", sys.executable, str(engine)],
        [TABIA, "--config", str(config)],
    ):
        log.write_text("")
        client = Client(command)
        lines = client.handshake() + client.ready()
        assert not [line for line in lines if "no option" in line], lines
        client.quit()
        assert "setoption name OwnBook value false\n" in log.read_text(), log.read_text()


@case(30)
def option_names_in_latin_1_come_and_go_unchanged():
    here = folder("latin")
    log = Path(here / "log")
    engine = here / "engine.py"
    engine.write_text(
        "import sys\n"
        f"log = open({str(log)!r}, 'ab')\n"
        "out = sys.stdout.buffer\n"
        "for line in sys.stdin.buffer:\n"
        "    log.write(line); log.flush()\n"
        "    word = line.split()[0] if line.split() else b''\n"
        "    if word == b'uci': out.write(b'option name B\\xfccher type combo default gro\\xdf var gro\\xdf var klein\\nuciok\\n')\n"
        "    if word == b'isready': out.write(b'readyok\\n')\n"
        "    out.flush()\n"
        "    if word == b'quit': break\n"
    )
    client = ready_tabia(engine=[sys.executable, str(engine)])
    declared = [line for line in client.transcript if "cher type combo" in line]
    assert declared == ["<< option name B\\xfccher type combo default gro\\xdf var gro\\xdf var klein"], declared
    for name in (b"B\xfccher", "Bücher".encode()):
        for value in (b"gro\xdf", "groß".encode()):
            client.write(b"setoption name " + name + b" value " + value + b"\n")
    client.ready()
    sent = [line for line in log.read_bytes().splitlines() if line.startswith(b"setoption")]
    assert sent == [b"setoption name B\xfccher value gro\xdf"] * 4, sent
    client.quit()
