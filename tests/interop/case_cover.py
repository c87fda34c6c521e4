"""`Book Cover`: adapters that play at the same time repeat no line of a book."""

import random
import threading
from collections import Counter
from pathlib import Path

import chess
import chess.pgn

from paths import TABIA, folder
from procs import run, tabia
from runner import case

GAMES = 400
AT_ONCE = 8
DRAWN = "info string the move is drawn"


def _bushy_book(here: Path, lines: int) -> Path:
    """Makes a book of this many lines, each from one game."""
    rng = random.Random(7)
    ends = [chess.Board()]
    while len(ends) < lines:
        board = ends.pop(0)
        for move in rng.sample(sorted(board.legal_moves, key=str), 3):
            ends.append(board.copy())
            ends[-1].push(move)
    games = here / "games.pgn"
    games.write_text("".join(f"{_game(board)}\n\n" for board in ends))
    book = here / "bushy.ctg"
    run("build", "-o", book, games, limit=60)
    return book


def _game(board: chess.Board) -> chess.pgn.Game:
    game = chess.pgn.Game.from_board(board)
    game.headers["Result"] = "1/2-1/2"
    return game


def _play(players, number: int) -> tuple[str, int]:
    """Plays a game from the book alone; returns its moves and how many were drawn at random."""
    white, black = players if number % 2 else reversed(players)
    for player in players:
        player.send("ucinewgame", "isready")
        player.expect("readyok")
    moves, drawn = "", 0
    for mover in [white, black] * 40:
        mover.send(f"position startpos moves{moves}", "go depth 1")
        lines = mover.expect("bestmove")
        drawn += sum(line.startswith(DRAWN) for line in lines)
        if not any(line.startswith("info string book ") for line in lines):
            break
        moves += " " + lines[-1].split()[1]
    return moves, drawn


@case(120)
def two_adapters_play_four_hundred_games_at_eight_at_once_and_repeat_no_line():
    book = _bushy_book(folder("cover"), GAMES + 50)
    sets = ("--book", book, "--set", "Book Cover=lines", "--set", "Book Minimum Share=0")
    lock, left, played = threading.Lock(), list(range(GAMES)), []

    def games():
        players = [tabia(*sets, engine=(TABIA, "engine")) for _ in range(2)]
        for player in players:
            player.handshake()
        while True:
            with lock:
                if not left:
                    break
                number = left.pop()
            game = _play(players, number)
            with lock:
                played.append(game)
        for player in players:
            player.quit()

    threads = [threading.Thread(target=games) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = Counter(moves for moves, _ in played)
    drawn = sum(drawn for _, drawn in played)
    repeated = len(played) - len(lines)
    assert len(played) == GAMES and min(len(line.split()) for line in lines) > 3, lines
    # On a busy machine an adapter may fail to lock the file: it draws that move.
    assert repeated <= drawn, (repeated, drawn, lines.most_common(3))
    return f"{len(lines)} lines in {GAMES} games, {drawn} moves drawn"
