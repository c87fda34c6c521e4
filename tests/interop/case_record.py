"""The record of a match, seeds of games, and engines that crash at an option."""

import csv
import io
import json
import subprocess
import threading

import chess
import chess.engine
import chess.pgn

from oracle import board_after
from paths import OUT_OF_BOOK, TABIA, copy_starter, folder
from players import Report, adapter, from_book, kill_child_of, open_engine, play_game
from procs import environment, ready_tabia, run
from runner import case

GAMES = 50
PLIES = 24
BUILT_IN = (TABIA, "engine")


def _game(white, black, number: int, kill: bool) -> tuple[chess.Board, list[str]]:
    """Plays a short game and kills its engine; returns the moves from books."""
    board, booked = chess.Board(), []
    while not board.is_game_over() and len(board.move_stack) < PLIES:
        mover = white if board.turn else black
        if kill and len(board.move_stack) == PLIES // 2:
            kill_child_of(mover)
        limit = chess.engine.Limit(nodes=200)
        result = mover.play(board, limit, game=number, info=chess.engine.INFO_ALL)
        if from_book(result):
            booked.append(result.move.uci())
        board.push(result.move)
    return board, booked


def _written(board: chess.Board, number: int, result: str, termination: str = "normal") -> str:
    game = chess.pgn.Game.from_board(board)
    game.headers.update(White="A" if number % 2 else "B", Black="B" if number % 2 else "A")
    game.headers.update(Round=str(number // 2 + 1), Result=result, Termination=termination)
    return str(game) + "\n\n"


@case(300)
def fifty_games_are_recorded_and_found_again_in_the_pgn():
    here = folder("record")
    path, pgn = here / "record.csv", here / "games.pgn"
    copy_starter(here)
    kills = 0
    with open_engine(adapter("--games", path, engine=BUILT_IN)) as a, open_engine(adapter("--games", path, engine=BUILT_IN)) as b:
        text = ""
        for number in range(GAMES):
            kill = number % 10 == 9
            kills += kill
            board, _ = _game(*((a, b) if number % 2 else (b, a)), number, kill)
            forfeit = number % 25 == 24
            text += _written(board, number, ("1-0", "1/2-1/2", "0-1")[number % 3], "time forfeit" if forfeit else "normal")
    pgn.write_text(text)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    games = [row for row in rows if row["event"] == "game"]
    restarts = [row for row in rows if row["event"] == "restart"]
    assert len(games) == 2 * GAMES and len(restarts) == kills, (len(games), len(restarts))
    for row in games:
        moves = row["moves"].split()
        board_after(moves)
        if row["exit_ply"]:
            exit_board = board_after(moves[: int(row["exit_ply"])])
            assert exit_board.board_fen() == row["exit_fen"].split()[0], row
    records = []
    for player in ("A", "B"):
        review = run("review", pgn, "--book", here / "book.ctg", "--player", player, "--games", path, "--json", limit=60)
        found = json.loads(review.stdout)
        assert found["forfeited"] == 2 and sum(found["pairs"]["pentanomial"]) > 20, found["pairs"]
        records.append(found["record"])
        assert records[-1]["found"] == records[-1]["games"] == records[-1]["others"] == GAMES, records
    assert sum(record["restarts"] for record in records) == kills, records
    everything = run("review", pgn, "--book", here / "book.ctg", "--games", path, "--json", limit=60)
    whole = json.loads(everything.stdout)["record"]
    assert whole["found"] == whole["games"] == 2 * GAMES and whole["restarts"] == kills, whole
    return f"{GAMES} games, {kills} restarts, {records}"


@case(300)
def fifty_games_with_seeds_of_a_file_repeat_with_eight_at_once():
    here = folder("seeds")
    seeds = here / "seeds.txt"
    seeds.write_text("".join(f"{1000 + number}\n" for number in range(GAMES)))

    def openings(at_once: int) -> list[str]:
        taken = here / "seeds.txt.taken"
        taken.unlink(missing_ok=True)
        lines, lock, left = [], threading.Lock(), list(range(GAMES))

        def games():
            with open_engine(adapter("--set", f"Book Seed File={seeds}", engine=BUILT_IN)) as engine:
                while True:
                    with lock:
                        if not left:
                            return
                        number = left.pop()
                    board = chess.Board()
                    # One process plays both sides: the book alone decides.
                    while len(board.move_stack) < PLIES:
                        limit = chess.engine.Limit(nodes=1)
                        result = engine.play(board, limit, game=number, info=chess.engine.INFO_ALL)
                        if not from_book(result):
                            break
                        board.push(result.move)
                    with lock:
                        lines.append(" ".join(move.uci() for move in board.move_stack))

        threads = [threading.Thread(target=games) for _ in range(at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(lines) == GAMES, len(lines)
        assert taken.read_text().strip() == str(GAMES), taken.read_text()
        return sorted(lines)

    alone, together = openings(1), openings(8)
    assert alone == together
    return f"{len(set(alone))} different openings of {GAMES}"


@case(120)
def an_option_that_crashes_the_engine_is_not_sent_again():
    ethereal = "/usr/games/ethereal-chess"
    client = ready_tabia(engine=(ethereal,))
    client.send("setoption name Hash value 16", "setoption name SyzygyPath value <empty>", "isready")
    lines = client.expect("readyok")
    assert any("SyzygyPath" in line and "left out" in line for line in lines), lines
    for _ in range(2):
        client.send("setoption name SyzygyPath value <empty>", "ucinewgame")
        client.send(OUT_OF_BOOK, "go movetime 50")
        assert client.expect("bestmove")[-1].split()[1] != "0000"
    done = subprocess.run([TABIA, "check-engine", "--", ethereal], capture_output=True, text=True, env=environment())
    assert "setoption name SyzygyPath value" in done.stdout, done.stdout
    return lines[-1]


@case(180)
def an_engine_that_loses_an_early_stop_gets_it_when_it_searches():
    # Ethereal 12.00 reads nothing after a `stop` that comes in one write with its `go`.
    ethereal = "/usr/games/ethereal-chess"
    client = ready_tabia(engine=(ethereal,))
    lines: list[str] = []
    for word in ("stop", "ponderhit") * 20:
        client.send(OUT_OF_BOOK, "go ponder wtime 1000 btime 1000", word)
        lines += client.expect("bestmove")
    assert not any("started again" in line for line in lines), lines
    report = Report()
    board = chess.Board()
    for move in OUT_OF_BOOK.split()[3:]:
        board.push_uci(move)
    for colour in (chess.WHITE, chess.BLACK) * 2:
        with open_engine(adapter(engine=(ethereal,))) as tabia, open_engine(BUILT_IN) as other:
            white, black = (tabia, other) if colour == chess.WHITE else (other, tabia)
            books = {chess.WHITE: None, chess.BLACK: None}
            play_game(report, white, black, books, board=board.copy(), clock=(2.0, 0.02), plies=80)
    return f"40 answers at once; {report}"
