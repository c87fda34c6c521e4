"""Books made from Python."""

import faulthandler
import os
import signal
import subprocess
import sys
import threading

import chess
import pytest

import tabia

GAMES = '[White "A"]\n[WhiteElo "2500"]\n[BlackElo "2400"]\n[Result "{0}"]\n\n1. e4 {1} {0}\n\n'


def write_games(here, count=1):
    text = GAMES.format("1-0", "e5 2. Nf3") + GAMES.format("0-1", "c5 2. c3")
    (here / "games.pgn").write_text(text * count)


def test_games_become_a_book(here):
    write_games(here)
    calls = []
    made = tabia.build(
        here / "games.pgn", "new.ctg", max_ply=3, progress=lambda *call: calls.append(call)
    )
    assert (made["games"], made["read"], made["skipped"]) == (2, 2, 0)
    entry = tabia.open_book("new.ctg", strict=True).find(chess.Board())
    assert (entry.move.uci(), entry.games, entry.wins, entry.losses) == ("e2e4", 2, 1, 1)
    assert entry.average_elo == 2500
    assert calls and all(len(call) == 3 for call in calls)
    with pytest.raises(tabia.WriteError) as error:
        tabia.build("games.pgn", "new.ctg")
    assert error.value.file == "new.ctg"
    tabia.build(["games.pgn"], "new.ctg", result="1-0", force=True)
    assert tabia.open_book("new.ctg").find(chess.Board()).games == 1
    for wrong in ({"player_colour": "white"}, {"result": "2-0"}, {"eco": ["Z"]}, {"only": "green"}, {"speeds": ["fast"]}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            tabia.build("games.pgn", "other.ctg", **wrong)
    for wrong, message in (
        ({"min_elos": 2000}, "did you mean 'min_elo'"),
        ({"eco": "B20"}, "eco='B20': a sequence"),
        ({"min_elo": "2000"}, "min_elo='2000': an int"),
        ({"decisive": "yes"}, "decisive='yes': a bool"),
    ):
        with pytest.raises(TypeError, match=message):
            tabia.build("games.pgn", "other.ctg", **wrong)
    for wrong in ({"min_elo": 70000}, {"min_elo": -1}, {"since": "May"}, {"encoding": "klingon"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            tabia.build("games.pgn", "other.ctg", **wrong)
    # Both games have ratings of 2500 and 2400.
    for chosen, games in (
        ({"min_elo": 2500, "both_elo": None}, 2),
        ({"ratings": [2400]}, 2),
        ({"player": "A", "player_colour": "white", "decisive": True, "not_players": ()}, 2),
        ({"result": "0-1", "rated": False}, 1),
    ):
        made = tabia.build("games.pgn", "other.ctg", encoding="cp866", force=True, **chosen)
        assert made["games"] == games, chosen
    for left_out in ({"ratings": [1800, 2000]}, {"since": "2020-05"}, {"titles": ["GM"]}):
        with pytest.raises(tabia.Error):
            tabia.build("games.pgn", "other.ctg", force=True, **left_out)
    for left in ("other.ctg", "other.cto", "other.ctb"):
        for name in (left, left + ".bak"):
            if os.path.exists(name):
                os.remove(name)
    for missing in ("missing.pgn", ["games.pgn", "missing.pgn"]):
        with pytest.raises(FileNotFoundError, match="missing.pgn") as error:
            tabia.build(missing, "other.ctg")
        assert error.value.filename == "missing.pgn" and isinstance(error.value, tabia.Error)
    assert not os.path.exists("other.ctg")


def test_games_become_a_polyglot_book(here):
    write_games(here)
    made = tabia.build("games.pgn", "new.bin", max_ply=2)
    assert made["games"] == 2
    entries = list(tabia.open_book("new.bin").find_all(chess.Board()))
    assert [(entry.move.uci(), entry.weight > 1) for entry in entries] == [("e2e4", True)]
    tabia.build("games.pgn", "new.bin", uniform=True, force=True)
    assert [entry.weight for entry in tabia.open_book("new.bin").find_all(chess.Board())] == [1]
    for wrong in ({"variations": True}, {"min_score": 101}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            tabia.build("games.pgn", "other.bin", **wrong)
    with pytest.raises(ValueError, match="uniform"):
        tabia.build("games.pgn", "other.ctg", uniform=True)


def test_marks_are_changed_in_place(here):
    write_games(here)
    tabia.build("games.pgn", "own.ctg")
    entry = lambda: tabia.open_book("own.ctg").find(chess.Board())
    assert tabia.mark("own.ctg", "e4", mark="avoid", dry_run=True)["changes"] == 1
    assert entry().mark == "none"
    tabia.mark("own.ctg", "1.e4", mark="main", annotation="!", learn_value=20)
    assert (entry().mark, entry().annotation, entry().learn_value) == ("main", "!", 20)
    assert tabia.mark("own.ctg", where="ply<=1", mark="none") == {"chosen": 1, "changes": 1}
    assert entry().mark == "none"
    after = chess.Board()
    after.push_uci("e2e4")
    assert tabia.mark("own.ctg", fen=after.fen(), learn_value=-7)["chosen"] == 1
    assert abs(entry().learn_value) == 7
    for wrong in (
        {},
        {"mark": "green"},
        {"mark": "main"},
        {"mark": "main", "where": "game<3"},
        {"mark": "main", "moves": "e4", "all": True},
        {"mark": "main", "moves": "e5"},
        {"annotation": "!", "fen": after.fen()},
        {"commentary": "+-", "all": True},
    ):
        with pytest.raises(ValueError):
            tabia.mark("own.ctg", **wrong)
    with pytest.raises(tabia.WriteError, match="not in the book|leads out"):
        tabia.mark("own.ctg", "a3", mark="main")
    with pytest.raises(FileNotFoundError):
        tabia.mark("missing.ctg", "e4", mark="main")


def test_a_book_is_verified(here):
    assert tabia.verify("tabia.ctg")["problem_count"] == 0
    data = bytearray((here / "tabia.ctg").read_bytes())
    # The used bytes of the first page.
    data[4098:4100] = b"\xff\xff"
    (here / "bad.ctg").write_bytes(data)
    found = tabia.verify("bad.ctg")
    problem = next(found for found in found["problems"] if found["kind"] == "page-bounds")
    assert problem["page"] == 0 and problem["text"]
    assert found["problem_count"] == len(found["problems"])
    with pytest.raises(tabia.BookError):
        tabia.verify("tabia.bin")


def test_all_positions(here):
    write_games(here)
    tabia.build("games.pgn", "own.ctg")
    with tabia.open_book("own.ctg") as book:
        fens = list(book.positions())
        assert len(fens) == len(set(fens)) == 6
        assert all(fen.split()[1] == "w" for fen in fens)
        assert tabia.START in fens
        assert sum(len(book.probe(fen)["moves"]) for fen in fens) >= 5
        # One that is not read to its end.
        next(book.positions())
    tabia.build("games.pgn", "own.bin", max_ply=3)
    fens = list(tabia.open_book("own.bin").positions())
    # Polyglot leaves out moves that always lost.
    assert len(fens) == 3 and {fen.split()[1] for fen in fens} == {"w", "b"}


def test_what_is_no_position(here):
    book = tabia.open_book("tabia.ctg")
    for what, name in ((None, "NoneType"), ([], "list")):
        with pytest.raises(TypeError, match=f"chess.Board, a FEN or a Polyglot key, not {name}"):
            book.find(what)


def test_books_become_others(here):
    done = tabia.convert("tabia.ctg", "new.jsonl")
    assert done["positions"] > 100
    tabia.convert("new.jsonl", "again.ctg")
    board = chess.Board()
    ask = lambda name: tabia.open_book(name).probe(board)
    assert ask("again.ctg") == ask("tabia.ctg")
    tabia.convert("tabia.ctg", "one.bin", policy=tabia.Policy(variety=0))
    assert len(list(tabia.open_book("one.bin").find_all(board))) == 1
    with pytest.raises(tabia.BookNotFoundError):
        tabia.convert("missing.ctg", "x.bin")
    with pytest.raises(tabia.Error):
        tabia.convert("tabia.ctg", "x.txt")
    with pytest.raises(ValueError, match="weights"):
        tabia.convert("tabia.ctg", "x.bin", weights="much")


def test_an_exception_of_the_listener_ends_the_work(here):
    write_games(here, 2000)

    def fail(stage, done, total):
        raise KeyError(stage)

    with pytest.raises(KeyError):
        tabia.build("games.pgn", "new.ctg", progress=fail)
    assert not os.path.exists("new.ctg")


def test_others_work_meanwhile(here):
    """Other threads run while a book is made: one writes its games."""
    os.mkfifo(here / "games.pgn")
    # More than a pipe's buffer: with the interpreter's lock held, both would wait forever.
    thread = threading.Thread(target=write_games, args=(here, 3000))
    faulthandler.dump_traceback_later(600, exit=True)
    thread.start()
    made = tabia.build("games.pgn", "new.ctg", threads=1)
    thread.join()
    faulthandler.cancel_dump_traceback_later()
    assert made["games"] == 6000


def program(*args, **more):
    return subprocess.Popen(
        [sys.executable, "-m", "tabia", *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        **more,
    )


needs_shipped = pytest.mark.skipif(
    "TABIA_TEST_PROGRAM" not in os.environ, reason="built without the program"
)


@needs_shipped
@pytest.mark.parametrize("end", ["quit", "closed", "interrupt"])
def test_the_program_comes_along(end):
    child = program("play", "--engine", "builtin", "--book", "tabia.ctg")
    child.stdin.write("uci\nisready\nposition startpos\ngo movetime 50\n")
    child.stdin.flush()
    best = next(line for line in child.stdout if line.startswith("bestmove"))
    assert chess.Board().is_legal(chess.Move.from_uci(best.split()[1]))
    if end == "quit":
        child.stdin.write("quit\n")
        child.stdin.flush()
    elif end == "closed":
        child.stdin.close()
    else:
        child.send_signal(signal.SIGINT)
    assert child.wait(120) in (0, 2, -signal.SIGINT, 130)
    child.stdout.close()


def test_a_damaged_source_is_told_by_convert_too(here):
    book = bytearray((here / "tabia.ctg").read_bytes())
    for page in (40, 77):
        book[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    (here / "hurt.ctg").write_bytes(book)
    for ending in ("cto", "ctb"):
        (here / f"hurt.{ending}").write_bytes((here / f"tabia.{ending}").read_bytes())
    with pytest.warns(tabia.BookWarning, match="page") as said:
        made = tabia.convert("hurt.ctg", "hurt.bin")
    assert made["notes"] and {warning.filename for warning in said} == {__file__}
    with pytest.raises(tabia.Error):
        tabia.convert("hurt.ctg", "other.bin", strict=True)


def test_work_that_ends_with_an_error_of_progress_is_not_done(here):
    write_games(here, 2000)
    tabia.build("games.pgn", "whole.ctg")

    def works():
        yield lambda progress: tabia.build("games.pgn", "made.ctg", progress=progress)
        for ending in ("bin", "csv", "jsonl", "pgn"):
            yield lambda progress, to=f"made.{ending}": tabia.convert(
                "whole.ctg", to, progress=progress
            )
        yield lambda progress: tabia.mark("whole.ctg", all=True, mark="avoid", progress=progress)

    before = (here / "whole.ctg").read_bytes()
    for work in works():
        calls = []
        names = set(os.listdir())
        for last in range(1, 1000):
            calls.clear()

            def fail(*call):
                calls.append(call)
                if len(calls) == last:
                    raise KeyError(last)

            try:
                work(fail)
                break
            except KeyError:
                assert set(os.listdir()) == names, (calls[-1], set(os.listdir()) - names)
                assert (here / "whole.ctg").read_bytes() == before
        assert last > 1 and set(os.listdir()) != names


def test_games_are_added_to_books(here):
    write_games(here)
    tabia.build("games.pgn", "one.ctg")
    made = tabia.build(["games.pgn", "one.ctg", "one.ctg"], "all.ctg")
    assert (made["games"], made["read"]) == (6, 2)
    assert tabia.open_book("all.ctg", strict=True).find(chess.Board()).games == 6
    tabia.build(["all.ctg", "games.pgn"], "all.ctg", force=True)
    assert tabia.open_book("all.ctg").find(chess.Board()).games == 8
    assert tabia.build("one.ctg", "copy.ctg")["games"] == 2
    with pytest.raises(tabia.WriteError, match="already exists"):
        tabia.build(["one.ctg", "games.pgn"], "all.ctg")
    for wrong in ({"min_games": 2}, {"only": "white"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            tabia.build(["one.ctg", "games.pgn"], "other.ctg", **wrong)
    with pytest.raises(tabia.Error, match="this is a book"):
        tabia.build(["one.ctg", "games.pgn"], "other.bin")
    assert not (here / "other.ctg").exists()


def test_books_become_games_with_the_options_of_the_program(here):
    write_games(here)
    tabia.build("games.pgn", "own.ctg")
    tabia.convert("own.ctg", "own.pgn", max_ply=1, comments="none")
    assert (here / "own.pgn").read_text().rstrip().endswith("1. e4 *")
    tabia.convert("own.ctg", "lines.pgn", lines=True, min_games=1, report="report.csv")
    assert (here / "report.csv").read_text().startswith("line,move,games,")
    for wrong, target in (
        ({"max_ply": 4}, "x.bin"),
        ({"comments": "none"}, "x.ctg"),
        ({"comments": "long"}, "x.pgn"),
        ({"report": "y.csv"}, "x.pgn"),
    ):
        with pytest.raises(ValueError):
            tabia.convert("own.ctg", target, **wrong)
    assert not (here / "x.pgn").exists()


def test_marks_are_undone(here):
    write_games(here)
    tabia.build("games.pgn", "own.ctg")
    before = (here / "own.ctg").read_bytes()
    tabia.mark("own.ctg", "e4", mark="main")
    assert tabia.undo_mark("own.ctg", dry_run=True) == 1
    assert tabia.undo_mark("own.ctg") == 1
    assert (here / "own.ctg").read_bytes() == before
    with pytest.raises(tabia.Error, match="no mark to undo"):
        tabia.undo_mark("own.ctg")
    assert tabia.mark("own.ctg", all=True, clean=True)["changes"] == 0


def test_an_interrupted_change_of_a_bin_is_a_notice(here):
    tabia.convert("tabia.ctg", "own.bin")
    assert tabia.open_book("own.bin").notices() == []
    # The record of a replacement by a program that is gone: of another state of the book.
    folder = here / ".tabia-0123456789abcdef"
    folder.mkdir()
    record = ["tabia set 1", "own.bin", "1 1", "2 2", "", "false", "false", "0"]
    (folder / "set").write_text("\0".join(record))
    (notice,) = tabia.open_book("own.bin").notices()
    assert "interrupted" in notice


def test_threads_are_as_many_as_there_can_be(here):
    write_games(here)
    assert tabia.build("games.pgn", "new.ctg", threads=64)["games"] == 2
    for wrong in (65_536, 2**40):
        with pytest.raises(ValueError, match="threads.*1 to 65535"):
            tabia.build("games.pgn", "other.ctg", threads=wrong)
    assert tabia.build("games.pgn", "other.ctg", max_ply=2**64 - 1)["games"] == 2
