"""Twenty whole games through python-chess, each stopped at a ply limit."""

import chess
import chess.engine

from oracle import Oracle
from paths import SIMPLE, STARTER, STOCKFISH
from players import BUILT_IN, Report, adapter, chess960_board, open_engine, play_game
from runner import case


@case(90)
def four_games_with_the_starter_book_against_stockfish():
    """As White and as Black, with pondering."""
    report = Report()
    with open_engine(adapter()) as ours, open_engine([STOCKFISH]) as other, Oracle(STARTER) as book:
        for game in range(4):
            if game % 2 == 0:
                play_game(report, ours, other, {chess.WHITE: book, chess.BLACK: None})
            else:
                # Whether the book has an answer must not depend on Stockfish.
                board = chess.Board()
                board.push_san("e4")
                play_game(report, other, ours, {chess.WHITE: None, chess.BLACK: book}, board=board)
    # Other book moves depend on Stockfish; `play_game` checks each move.
    assert report.book_moves >= 4, report
    return str(report)


@case(30)
def a_game_that_comes_back_to_a_position_goes_on_with_its_other_moves():
    """Without the rook move, which has nearly all games, a move comes into play whose share was
    too small before."""
    line = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Bb7 d4 Re8 Ng5 Rf8 Nf3"
    start = chess.Board()
    for san in line.split():
        start.push_san(san)
    plies = len(start.move_stack)
    report, played = Report(), set()
    with open_engine(adapter("--set", "Book Seed=1")) as ours, open_engine(BUILT_IN) as other, Oracle(STARTER) as book:
        assert set(book.playable(start)) == {"f8e8", "f6d7"}, "by the position alone"
        for _ in range(20):
            board = play_game(report, other, ours, {chess.WHITE: None, chess.BLACK: book}, board=start.copy(), plies=1)
            played.add(board.move_stack[plies].uci())
    assert played == {"f6d7", "c6a5"}, played
    assert report.book_moves == 20, report
    return str(report)


@case(90)
def four_games_on_clocks_against_the_built_in_engine_behind_us():
    """Both sides use the adapter and play from the book: long book lines."""
    report = Report()
    with (
        open_engine(adapter("--set", "Book Seed=1")) as one,
        open_engine(adapter("--set", "Book Seed=2", engine=BUILT_IN)) as two,
        Oracle(STARTER) as book,
    ):
        for game in range(4):
            white, black = (one, two) if game % 2 == 0 else (two, one)
            play_game(report, white, black, {True: book, False: book}, clock=(2, 0.02), plies=110)
    assert report.book_moves >= 4 * 6, report
    return str(report)


@case(90)
def four_chess960_games():
    """Number 518 is the ordinary start position, where the book plays."""
    report = Report()
    with open_engine(adapter()) as ours, open_engine([STOCKFISH]) as other, Oracle(STARTER) as book:
        for number in (0, 518, 959, 361):
            in_book = book if number == 518 else None
            before = report.book_moves
            play_game(report, ours, other, {True: in_book, False: None}, board=chess960_board(number), plies=70)
            assert number != 518 or report.book_moves > before, report
    return str(report)


@case(90)
def four_chess960_games_against_ourselves_castle_legally():
    """Castling at once: king and rook change places."""
    report = Report()
    castled = 0
    with open_engine(adapter()) as one, open_engine(adapter("--set", "OwnBook=false")) as two:
        for number in (3, 74, 320, 944):
            board = chess960_board(number)
            # Whether they castle without this depends on their search.
            (castling,) = [move for move in board.legal_moves if board.is_castling(move)]
            assert one.play(board, chess.engine.Limit(time=0.03), root_moves=[castling]).move == castling
            board.push(castling)
            play_game(report, one, two, {True: None, False: None}, board=board, plies=60)
            replay = chess960_board(number)
            for move in board.move_stack:
                castled += replay.is_castling(move)
                replay.push(move)
    assert castled >= 4, report
    return f"{report}; {castled} times castled"


@case(90, needs_shared=True)
def four_games_with_the_genuine_book_as_white_and_black():
    report = Report()
    with (
        open_engine(adapter("--book", SIMPLE)) as ours,
        open_engine(BUILT_IN) as other,
        Oracle(SIMPLE) as book,
    ):
        for game in range(4):
            if game % 2 == 0:
                play_game(report, ours, other, {True: book, False: None}, clock=(2, 0.02), plies=80)
            else:
                board = chess.Board()
                board.push_san("d4")
                play_game(report, other, ours, {True: None, False: book}, board=board, clock=(2, 0.02), plies=80)
    # Two first moves as White, two answers to 1...d5 as Black.
    assert report.book_moves == 4, report
    return str(report)


@case(90)
def two_games_of_the_built_in_engine_behind_us_without_pondering():
    report = Report()
    with open_engine(adapter(engine=BUILT_IN)) as ours, open_engine(BUILT_IN) as other, Oracle(STARTER) as book:
        play_game(report, ours, other, {True: book, False: None}, ponder=False)
        play_game(report, other, ours, {True: None, False: book}, ponder=False)
    assert report.book_moves >= 1, report
    return str(report)
