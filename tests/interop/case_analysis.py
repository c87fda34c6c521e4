"""Analysis and book maintenance with python-chess; an engine that is killed."""

import chess
import chess.engine

from oracle import Oracle
from paths import STARTER
from players import Report, adapter, from_book, kill_child_of, open_engine, pid_of, play_game, random_line
from procs import children, poll, processor_seconds, wait_for_end
from runner import case

LIMIT = chess.engine.Limit(time=0.05)
OUT = random_line(12, 4)


def _is_no_book(info: dict) -> None:
    assert not str(info.get("string", "")).startswith("book "), info


@case()
def analysis_with_multipv_3_is_sent_unchanged_by_the_engine():
    with open_engine(adapter()) as engine:
        infos = engine.analyse(chess.Board(), chess.engine.Limit(depth=8), multipv=3)
        assert len(infos) == 3
        assert len({info["pv"][0] for info in infos}) == 3
        for info in infos:
            _is_no_book(info)
            assert info["depth"] >= 7, info
        # And play uses the book again.
        assert from_book(engine.play(chess.Board(), LIMIT, info=chess.engine.INFO_ALL))


@case()
def infinite_analysis_runs_until_it_is_stopped():
    with open_engine(adapter()) as engine:
        with engine.analysis(chess.Board()) as analysis:
            deepest = 0
            for info in analysis:
                _is_no_book(info)
                deepest = max(deepest, info.get("depth", 0))
                if deepest > 9:
                    break
            assert deepest > 9, deepest
            analysis.stop()
            best = analysis.wait()
        assert best.move in chess.Board().legal_moves
        with engine.analysis(chess.Board(), multipv=3) as analysis:
            analysis.get()
        engine.ping()


@case()
def searchmoves_are_obeyed_in_book_and_out_of_it():
    with open_engine(adapter()) as engine:
        board = chess.Board()
        pawn = chess.Move.from_uci("f2f3")
        result = engine.play(board, LIMIT, root_moves=[pawn], info=chess.engine.INFO_ALL)
        assert result.move == pawn and not from_book(result)
        king = chess.Move.from_uci("e2e4")
        for _ in range(5):
            result = engine.play(board, LIMIT, root_moves=[king, pawn], info=chess.engine.INFO_ALL)
            assert result.move == king and from_book(result)
        for move in list(OUT.legal_moves)[:3]:
            assert engine.play(OUT, LIMIT, root_moves=[move]).move == move
        info = engine.analyse(board, chess.engine.Limit(depth=5), root_moves=[pawn])
        assert info["pv"][0] == pawn


@case()
def a_null_move_in_the_history_does_no_harm():
    with open_engine(adapter()) as engine:
        board = chess.Board()
        board.push_san("e4")
        board.push(chess.Move.null())
        board.push_san("d4")
        assert engine.play(board, LIMIT).move in board.legal_moves
        assert from_book(engine.play(chess.Board(), LIMIT, info=chess.engine.INFO_ALL))


@case()
def options_of_tabia_and_of_the_engine_can_be_set():
    with open_engine(adapter()) as engine, Oracle(STARTER, "Book Variety=0") as oracle:
        (best,) = oracle.playable(chess.Board())
        engine.configure({"Book Variety": 0, "Hash": 32, "Skill Level": 10})
        for _ in range(10):
            assert engine.play(chess.Board(), LIMIT).move.uci() == best
        engine.configure({"OwnBook": False})
        result = engine.play(chess.Board(), LIMIT, info=chess.engine.INFO_ALL)
        assert not from_book(result)
        engine.configure({"OwnBook": True, "Book File": str(STARTER)})
        assert from_book(engine.play(chess.Board(), LIMIT, info=chess.engine.INFO_ALL))
        engine.configure({"Book Info": "none"})
        result = engine.play(chess.Board(), LIMIT, info=chess.engine.INFO_ALL)
        assert not result.info, result.info
        for name, option in engine.options.items():
            if option.is_managed() or option.type == "button":
                continue
            engine.configure({name: option.default})
        engine.ping()


@case()
def limits_other_than_time_are_obeyed():
    with open_engine(adapter("--set", "OwnBook=false")) as engine:
        for limit in (
            chess.engine.Limit(depth=5),
            chess.engine.Limit(nodes=300),
            chess.engine.Limit(mate=1, time=0.2),
            chess.engine.Limit(white_clock=1, black_clock=1, remaining_moves=10),
        ):
            assert engine.play(OUT, limit).move in OUT.legal_moves


@case()
def a_hundred_pings_are_answered():
    with open_engine(adapter()) as engine:
        for _ in range(100):
            engine.ping()


@case(30)
def an_engine_killed_in_a_search_is_started_again_and_answers():
    with open_engine(adapter()) as engine:
        killed = []
        with engine.analysis(OUT, chess.engine.Limit(time=1.2)) as analysis:
            for info in analysis:
                # Every search reaches depth 1, however short it is.
                if not killed and "depth" in info:
                    killed.append(kill_child_of(engine))
            best = analysis.wait()
        assert killed and best.move in OUT.legal_moves
        # The new process has the same options, and the next game is normal.
        assert from_book(engine.play(chess.Board(), LIMIT, info=chess.engine.INFO_ALL))
        assert engine.play(OUT, LIMIT).move in OUT.legal_moves


@case(40)
def a_game_continues_after_five_engine_crashes():
    """Killed between moves, each time after it has answered again."""
    with open_engine(adapter()) as engine:
        board = OUT.copy()
        for _ in range(5):
            board.push(engine.play(board, LIMIT).move)
            kill_child_of(engine)
        assert engine.play(board, LIMIT).move in board.legal_moves


@case(30)
def a_game_continues_after_the_engine_is_killed_while_pondering():
    with open_engine(adapter()) as engine:
        board = OUT.copy()
        limit = chess.engine.Limit(white_clock=3, black_clock=3)
        for _ in range(3):
            result = engine.play(board, limit, ponder=True)
            board.push(result.move)
            # It searches in the opponent's time, of which python-chess shows nothing.
            (child,) = children(pid_of(engine))
            begun = processor_seconds(child)
            poll(lambda: not result.ponder or processor_seconds(child) > begun + 0.02)
            wait_for_end(kill_child_of(engine))
            if board.is_game_over():
                break
            reply = result.ponder if result.ponder in board.legal_moves else next(iter(board.legal_moves))
            board.push(reply)


@case(60)
def options_and_end_of_game_as_lichess_bot_sends_them_are_accepted():
    """Managed options are listed, `ping` then `quit` at the end."""
    report = Report()
    with open_engine(adapter("--set", "Book Seed=4")) as engine:
        for name in ("Move Overhead", "Threads", "Hash", "Book File", "UCI_Chess960", "MultiPV", "Ponder"):
            assert name in engine.options, name
        engine.configure({"Threads": 1, "Hash": 16, "Move Overhead": 100, "Book File": "<starter>"})
        with Oracle(STARTER) as book:
            play_game(report, engine, engine, {True: book, False: book}, clock=(2, 0.02), plies=50)
        engine.ping()
    return str(report)
