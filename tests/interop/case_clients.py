"""GUIs and tournament managers, imitated on raw pipes.

The order of the lines is that of the real programs, as their sources and
recorded conversations show it.
"""

import os
import random

import chess

from oracle import Oracle, board_after
from paths import OUT_OF_BOOK, SIMPLE, STARTER, STOCKFISH, TABIA
from procs import TIMEOUT_FACTOR, Answer, Client, ready_tabia, tabia
from runner import case

CLOCK = "go wtime 3000 btime 3000 winc 20 binc 20"
OPTION_TYPES = {"check", "spin", "combo", "button", "string"}


def _legal(board: chess.Board, uci: str) -> chess.Move:
    move = chess.Move.from_uci(uci)
    if board.chess960 or move in board.legal_moves:
        move = board.parse_uci(uci)
    assert move in board.legal_moves, f"{uci} in {board.fen()}"
    return move


def _line(board: chess.Board) -> str:
    moves = " ".join(move.uci() for move in board.move_stack)
    return f"position startpos moves {moves}" if moves else "position startpos"


def _pv_is_playable(board: chess.Board, pv: list[str]) -> None:
    board = board.copy()
    for uci in pv:
        board.push(_legal(board, uci))


@case()
def every_option_line_suits_the_parsers_of_the_guis():
    client = tabia()
    names = []
    for line in client.handshake():
        if not line.startswith("option "):
            assert line.split()[0] in ("id", "info", "uciok"), line
            continue
        name, rest = line.removeprefix("option name ").split(" type ", 1)
        names.append(name.lower())
        words = rest.split()
        kind = words[0]
        assert kind in OPTION_TYPES, line
        assert not {"name", "type", "default", "min", "max", "var", "value"} & set(name.split()), line
        if kind == "button":
            continue
        assert "default" in words, line
        default = words[words.index("default") + 1 :]
        assert default, f"an empty default has to be <empty>: {line}"
        if kind == "combo":
            choices = [words[i + 1] for i, word in enumerate(words) if word == "var"]
            assert default[0] in choices, line
            assert words.count("var") * 2 + 3 == len(words), f"values of one word: {line}"
        if kind == "spin":
            low, high = int(words[words.index("min") + 1]), int(words[words.index("max") + 1])
            assert low <= int(default[0]) <= high < 2**31, line
    assert len(names) == len(set(names)), "a name occurs twice"
    for name in ("ownbook", "book file", "book variety", "hash", "ponder", "uci_chess960", "multipv"):
        assert name in names, name


def _cutechess_begins(client: Client, options: dict[str, str]) -> None:
    client.handshake()
    # All at once, sorted by name, without waiting for answers.
    client.send(*[f"setoption name {name} value {options[name]}" for name in sorted(options)])
    client.ready()
    client.send("ucinewgame", "setoption name Ponder value true", "position startpos")
    client.ready()


def _cutechess_moves(client: Client, position: str, go: str = CLOCK) -> Answer:
    client.send(position)
    client.ready()
    return Answer(client.exchange(go, until="bestmove"))


@case(60)
def cutechess_plays_a_game_with_ponder_hits_and_misses():
    """The moves of both sides come as positions; every second ponder move is right."""
    client = tabia("--set", "Book Seed=11")
    _cutechess_begins(client, {"Hash": "16", "Book Variety": "50", "Threads": "1", "Book Depth": "30"})
    rng = random.Random(5)
    hits = misses = answered = 0
    with Oracle(STARTER) as oracle:
        # After the book, a game may end soon.
        for _ in range(10):
            if hits > 4 and misses > 4 and answered > 2:
                break
            board = chess.Board()
            client.send("ucinewgame", _line(board))
            client.ready()
            answer = _cutechess_moves(client, _line(board))
            for ply in range(24):
                in_book = bool(oracle.playable_in_game(board))
                assert answer.from_book == in_book, f"ply {2 * ply}: {answer.lines}"
                board.push(_legal(board, answer.move))
                client.send(_line(board))
                if board.is_game_over():
                    break
                replies = list(board.legal_moves)
                book_replies = [chess.Move.from_uci(uci) for uci in oracle.playable_in_game(board)]
                reply = rng.choice(book_replies or replies)
                guess = answer.reply and _legal(board, answer.reply)
                pondered = board.copy()
                if guess:
                    pondered.push(guess)
                if guess and not pondered.is_game_over():
                    if ply % 2 == 0:
                        reply = guess
                    answered += bool(oracle.playable_in_game(pondered))
                    client.send(_line(pondered))
                    client.ready()
                    client.send("go ponder wtime 3000 btime 3000 winc 20 binc 20")
                    output = client.expect_none()
                    if reply == guess:
                        hits += 1
                        answer = Answer(output + client.exchange("ponderhit", until="bestmove"))
                        board.push(reply)
                        continue
                    misses += 1
                    client.exchange("stop", until="bestmove")
                board.push(reply)
                if board.is_game_over():
                    break
                answer = _cutechess_moves(client, _line(board))
    client.ready()
    assert hits > 4 and misses > 4 and answered > 2, (hits, misses, answered)
    return f"{hits} hits, {misses} misses, {answered} of them answered from the book"


@case()
def cutechess_may_drop_a_ponder_search_before_it_begins():
    """The opponent answered before `readyok`: `go ponder` is never sent."""
    client = tabia()
    _cutechess_begins(client, {"Hash": "16"})
    first = _cutechess_moves(client, "position startpos")
    client.send(f"position startpos moves {first.move} e7e5", "isready", f"position startpos moves {first.move} a7a6")
    client.expect("readyok")
    client.ready()
    client.exchange(CLOCK, until="bestmove")
    client.expect_none()


@case(30)
def the_options_of_the_engine_are_listed_in_each_of_sixty_starts():
    """Even if `uci` arrives before the adapter has started."""
    for _ in range(60):
        client = tabia(engine=[TABIA, "engine"])
        hello = client.handshake()
        assert any(line.startswith("option name Hash ") for line in hello), hello[-4:]
        client.quit()


@case()
def options_are_accepted_in_any_order_before_and_after_uci():
    client = tabia()
    # Cute Chess sends init strings before "uci".
    client.send("setoption name Hash value 16", "setoption name Book Variety value 0")
    hello = client.handshake()
    client.ready()
    moves = {client.go("position startpos").move for _ in range(20)}
    assert len(moves) == 1, moves
    assert sum(line == "uciok" for line in hello) == 1
    # A second "uci" is answered from the cache.
    again = client.handshake()
    assert [line for line in again if line.startswith("option")] == [
        line for line in hello if line.startswith("option")
    ]


@case(60)
def fastchess_plays_three_games_with_three_isready_a_move():
    client = ready_tabia("--set", "Book Seed=5")
    options = ["Threads value 1", "Book Variety value 60", f"Book File value {STARTER}", "Hash value 16"]
    rng = random.Random(8)
    booked = 0
    for game in range(3):
        # The same options before each game.
        client.send(*[f"setoption name {option}" for option in options], "ucinewgame")
        client.ready()
        board = chess.Board()
        if game % 2:
            board.push_san("e4")
        for _ in range(15):
            if board.is_game_over():
                break
            assert client.ready() == ["readyok"]
            client.send(_line(board))
            assert client.ready() == ["readyok"]
            answer = Answer(client.exchange("go nodes 400", until="bestmove"))
            _strict_infos(board, answer)
            board.push(_legal(board, answer.move))
            assert client.ready() == ["readyok"]
            booked += answer.from_book
            replies = list(board.legal_moves)
            if replies:
                board.push(rng.choice(replies) if len(board.move_stack) > 5 else replies[-1])
    client.send("stop")
    assert booked >= 3, booked


def _strict_infos(board: chess.Board, answer: Answer) -> None:
    """Checks for `bestmove` alone, or a scored info line whose PV begins with it."""
    if len(answer.lines) == 1:
        return
    scored = [line.split() for line in answer.lines if line.startswith("info ") and " score " in line]
    assert scored, answer.lines
    pvs = [words[words.index("pv") + 1 :] for words in scored if "pv" in words]
    assert pvs and pvs[-1][0] == answer.move, answer.lines
    _pv_is_playable(board, pvs[-1])
    assert not any(line.endswith("\r") for line in answer.lines)


@case()
def book_info_none_sends_bestmove_alone_and_brief_one_string():
    client = ready_tabia("--set", "Book Info=none")
    assert len(client.go("position startpos").lines) == 1
    client.send("setoption name book info value BRIEF")
    lines = client.go("position startpos").lines
    assert len(lines) == 2 and lines[0].startswith("info string book "), lines
    client.send("setoption name Book Info value full")
    answer = client.go("position startpos")
    assert answer.from_book and len(answer.lines) == 3, answer.lines


@case()
def fastchess_compliance_finds_scored_lines():
    client = ready_tabia()
    client.send("ucinewgame")
    client.ready()
    answer = client.go("position startpos moves e2e4", "go wtime 100 btime 100")
    assert any("score" in line for line in answer.lines), answer.lines
    answer = client.go("position startpos", "go wtime 100 btime 100")
    assert any(line.startswith("info depth") for line in answer.lines), answer.lines


@case()
def nibbler_gets_king_takes_rook_castling_in_ordinary_chess():
    client = ready_tabia()
    client.send("setoption name UCI_Chess960 value true", "setoption name MultiPV value 1", "ucinewgame")
    client.ready()
    start = "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1"
    assert client.go(start, "go nodes 1000").from_book
    # 1.e4 e5 2.Nf3 Nc6 3.Bb5 a6 4.Ba4 Nf6 5.O-O
    moves = " moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6"
    castled = client.go(start + moves, "go nodes 1000 searchmoves e1h1")
    assert castled.from_book and castled.move == "e1h1", castled.lines
    after = client.go(start + moves + " e1h1", "go nodes 1000")
    assert after.from_book, after.lines
    # Castling rights in the middle of a game.
    middle = "position fen r1bqkb1r/1ppp1ppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R w HAha - 4 5"
    assert client.go(middle, "go nodes 1000 searchmoves e1h1").move == "e1h1"
    # Without Chess960 the same answer has the usual notation.
    client.send("setoption name UCI_Chess960 value false")
    usual = client.go("position startpos" + moves, "go nodes 1000 searchmoves e1g1")
    assert usual.from_book and usual.move == "e1g1", usual.lines


@case()
def chess960_start_positions_are_out_of_book_and_go_to_the_engine():
    client = ready_tabia()
    client.send("setoption name UCI_Chess960 value true", "ucinewgame")
    client.ready()
    board = chess.Board.from_chess960_pos(0)
    fens = [board.fen(), board.shredder_fen() if hasattr(board, "shredder_fen") else board.fen(shredder=True)]
    for fen in fens:
        answer = client.go(f"position fen {fen}", "go nodes 500")
        assert not answer.from_book, answer.lines
        assert board.parse_uci(answer.move) in board.legal_moves


@case()
def en_croissant_sends_new_searches_without_waiting():
    """`stop`, the next `position` and `go`: without the answer to the `stop`."""
    client = ready_tabia()
    client.send("setoption name MultiPV value 3", "setoption name Threads value 1", "setoption name Hash value 16")
    board = chess.Board()
    client.send(f"position fen {board.fen()}", "go infinite")
    for uci in ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6"):
        client.expect(lambda line: line.startswith("info depth "))
        before = board.copy()
        board.push_uci(uci)
        client.send("stop")
        client.send(f"position fen {board.fen()}", "go infinite")
        answer = Answer(client.expect("bestmove"))
        _legal(before, answer.move)
        assert not answer.from_book
    client.exchange("stop", until="bestmove")
    client.expect_none()


@case()
def pychess_changes_multipv_between_stop_and_go():
    client = ready_tabia()
    client.send("stop")
    for lines in (2, 1, 3):
        client.send("position startpos", "go infinite")
        client.expect(lambda line: " depth 6 " in line)
        client.send("stop", f"setoption name MultiPV value {lines}", "position startpos", "go depth 6")
        # The answer to the stopped search, then that to the new one.
        client.expect("bestmove")
        answer = Answer(client.expect("bestmove"))
        shown = {line.split(" multipv ")[1].split()[0] for line in answer.lines if " multipv " in line}
        assert answer.from_book == (lines == 1), answer.lines
        assert lines == 1 or len(shown) == lines, shown
    client.expect_none()


@case()
def scid_analyses_with_the_engine_and_plays_from_the_book():
    client = ready_tabia()
    client.send("setoption name UCI_AnalyseMode value true", "isready")
    client.expect("readyok")
    # In analyse mode the engine answers, whatever the limit of the search.
    assert not client.go("position startpos").from_book
    client.send("setoption name UCI_AnalyseMode value false")
    # `pv` comes last, because Scid ends it at the next keyword.
    answer = client.go("position startpos")
    assert answer.from_book and answer.lines[-2].split(" pv ")[1].split()[0] == answer.move


@case()
def mate_perft_and_unknown_go_words_are_answered_by_the_engine():
    client = ready_tabia()
    for go in ("go mate 1 movetime 50", "go perft 2", "go movetime 50 hocus"):
        client.send("position startpos", go)
        if "perft" in go:
            client.expect(lambda line: line.startswith("Nodes searched"))
            # Stockfish sends no `bestmove` for perft.
            client.send("stop")
            continue
        assert not Answer(client.expect("bestmove")).from_book, go
    assert client.go("position startpos", "go depth 4").from_book
    assert client.go("position startpos", "go nodes 4").from_book


@case()
def analysis_shows_book_moves_and_the_engine_answers():
    client = ready_tabia("--set", "Book In Analysis=true")
    client.send("position startpos", "go infinite")
    client.expect(lambda line: line.startswith("info string book starter: "))
    client.expect(lambda line: " depth 5 " in line)
    client.exchange("stop", until="bestmove")


@case()
def a_go_without_a_stop_replaces_the_one_before():
    client = ready_tabia()
    client.send("setoption name OwnBook value false")
    for _ in range(5):
        client.send("position startpos", "go infinite")
        client.send("position startpos moves e2e4", "go infinite")
    client.expect_none()
    answer = client.exchange("stop", until="bestmove")[-1]
    _legal(board_after(["e2e4"]), answer.split()[1])
    client.expect_none()
    client.ready()


@case()
def commands_typed_at_a_terminal_are_answered():
    client = tabia()
    client.send("")
    client.send("  uci  ")
    client.expect("uciok")
    client.send("\tisready\t")
    client.expect("readyok")
    client.send("joho isready")
    client.expect("readyok")
    client.send("position   startpos\tmoves  e2e4 ")
    answer = Answer(client.exchange("go   movetime\t50", until="bestmove"))
    assert answer.from_book
    # Commands that are not UCI go to the engine.
    client.send("d")
    got = client.expect(lambda line: line.startswith("Checkers"))
    assert any("4P3" in line or "4p3" in line for line in got), got
    client.send("eval")
    client.expect(lambda line: line.startswith("Final evaluation"))
    client.send("debug on", "what is this", "register later", "stop", "ponderhit")
    client.ready()


@case()
def a_terminal_gets_a_greeting_on_standard_error():
    import pty
    import subprocess

    from procs import environment

    keyboard, terminal = pty.openpty()
    process = subprocess.Popen(
        [TABIA, "--", STOCKFISH],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    os.close(terminal)
    os.write(keyboard, b"uci\n")
    assert b"uciok\n" in process.stdout
    os.write(keyboard, b"quit\n")
    _, err = process.communicate(timeout=10 * TIMEOUT_FACTOR)
    os.close(keyboard)
    assert process.returncode == 0
    assert len(err.decode().splitlines()) == 1 and b"uci" in err and b"--help" in err, err


@case()
def readyok_comes_before_the_answer_to_a_later_go():
    """In the order of the commands, as from any engine."""
    client = ready_tabia()
    for _ in range(20):
        client.send("isready", "position startpos", "go movetime 10")
        first = client.expect(lambda line: line == "readyok" or line.startswith("bestmove"))[-1]
        assert first == "readyok", first
        client.expect("bestmove")


@case()
def a_search_during_book_moves_is_not_reported():
    client = ready_tabia("--set", "Book Think Ahead=true")
    for _ in range(5):
        client.send("position startpos moves e2e4 e7e5", "go ponder wtime 5000 btime 5000")
        assert client.expect_none(word="info") == []
        assert Answer(client.exchange("ponderhit", until="bestmove")).from_book
        out = client.go(OUT_OF_BOOK, "go depth 4")
        assert not out.from_book
        _legal(board_after(OUT_OF_BOOK.split()[3:]), out.move)
    client.expect_none()


@case()
def an_option_for_a_searching_engine_waits_for_its_end():
    """Stockfish would stop reading at such an option, and miss the `stop`."""
    client = ready_tabia()
    client.send("position startpos", "go infinite", "setoption name Hash value 32")
    client.expect_none()
    client.exchange("stop", until="bestmove", limit=2)
    client.ready()


@case(needs_shared=True)
def the_genuine_book_is_played_to_its_end_and_no_further():
    client = ready_tabia("--book", str(SIMPLE))
    assert client.go("position startpos").move in ("e2e4", "d2d4")
    answer = client.go("position startpos moves d2d4")
    assert answer.from_book and answer.move == "d7d5"
    for line in ("e2e4", "d2d4 d7d5"):
        assert not client.go(f"position startpos moves {line}").from_book
    # Book Depth 0: no move at all.
    client.send("setoption name Book Depth value 0")
    assert not client.go("position startpos").from_book
