"""Look-ups in a .ctg agree with `tabia probe --json`."""

import copy
import gc
import importlib.metadata
import json
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import warnings

import chess
import chess.polyglot
import pytest

import tabia
import tabia.polyglot
from conftest import FOLDER, walk

PROGRAM = os.environ.get("TABIA_TEST_PROGRAM")
needs_program = pytest.mark.skipif(PROGRAM is None, reason="TABIA_TEST_PROGRAM is not set")


@needs_program
@pytest.mark.parametrize("options", [{}, {"variety": 20, "minimum_share": 0}])
def test_the_same_as_the_program(options):
    book = tabia.open_book("tabia.ctg", **options)
    boards = walk(book, 300, random.Random(5))
    assert any(board.turn for board in boards) and not all(board.turn for board in boards)
    sets = []
    for name, value in options.items():
        sets += ["--set", f"Book {name.replace('_', ' ').title()}={value}"]
    command = [PROGRAM, "probe", "tabia.ctg", "-", "--json", *sets]
    text = "".join(board.fen() + "\n" for board in boards)
    run = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True)
    ours = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(ours) == len(boards)
    for board, theirs in zip(boards, ours):
        # Without the positions before in the game.
        assert book.probe(board) == theirs
        moves = {move["uci"]: move for move in theirs["moves"]}
        entries = list(book.find_all(board, minimum_weight=0))
        assert {entry.move.uci() for entry in entries} == set(moves)
        for entry in entries:
            move = moves[entry.move.uci()]
            for name in (
                "games wins draws losses score average_elo performance learn_value "
                "factor mark recommendation annotation commentary transposition not_played"
            ).split():
                assert getattr(entry, name) == move[name], name
            assert entry.probability == pytest.approx(move["probability"], rel=1e-12)
            assert (entry.weight > 0) == (move["not_played"] is None)
            assert board.is_legal(entry.move)
        assert entries == sorted(entries, key=lambda entry: (-entry.weight, entry.move.uci()))
        assert [e for e in entries if e.weight] == list(book.find_all(board))


def test_weights_are_those_of_a_converted_book():
    """tabia.bin was made by `tabia convert`."""
    book = tabia.open_book("tabia.ctg")
    converted = tabia.open_book(FOLDER / "tabia.bin")
    board = chess.Board()
    assert {e.move: e.weight for e in book.find_all(board)} == {
        e.move: e.weight for e in converted.find_all(board)
    }
    games = tabia.open_book("tabia.ctg", weights="games").find(board)
    assert games.weight == games.games == max(e.games for e in book.find_all(board))


def test_boards_and_fens_are_the_same():
    book = tabia.open_book("tabia.ctg")
    for board in walk(book, 50, random.Random(2)):
        assert list(book.find_all(board)) == list(book.find_all(board.fen()))
    assert list(book.find_all("startpos")) == list(book.find_all(tabia.START))
    for name in ("find", "get", "choice", "weighted_choice", "probe"):
        with pytest.raises(tabia.PositionError, match="8/8"):
            getattr(book, name)("8/8 is no position")


def test_castling_is_written_as_the_board_does():
    board = chess.Board()
    for move in "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6".split():
        board.push_uci(move)
    book = tabia.open_book("tabia.ctg")
    assert chess.Move.from_uci("e1g1") in [entry.move for entry in book.find_all(board)]
    board.chess960 = True
    entry = next(e for e in book.find_all(board) if e.move == chess.Move.from_uci("e1h1"))
    assert entry.raw_move == 4 << 6 | 7
    assert entry.key == chess.polyglot.zobrist_hash(board)


def test_learn_is_packed_as_botli_reads_it():
    for entry in tabia.open_book("tabia.ctg").find_all(chess.Board()):
        finished = entry.wins + entry.draws + entry.losses
        assert (entry.learn >> 20) == round(entry.performance)
        assert (entry.learn >> 10 & 1023) / 1020 == pytest.approx(entry.wins / finished, abs=1e-3)
        assert (entry.learn & 1023) / 1020 == pytest.approx(entry.draws / finished, abs=1e-3)


def test_policies():
    book = tabia.open_book("tabia.ctg")
    probabilities = lambda policy: [
        entry.probability for entry in book.find_all(chess.Board(), policy=policy)
    ]
    assert sum(probabilities(None)) == pytest.approx(1)
    assert probabilities(tabia.Policy(variety=0))[0] == 1
    assert len(set(probabilities(tabia.Policy(variety=100)))) == 1
    with pytest.raises(TypeError):
        tabia.open_book("tabia.ctg", varety=3)
    with pytest.raises(TypeError):
        tabia.open_book("tabia.ctg", policy=tabia.Policy(), variety=3)
    with pytest.raises(ValueError):
        tabia.Policy(minimum_share=1001)
    with pytest.raises(TypeError, match="'varity'.*did you mean 'variety'"):
        tabia.Policy(varity=3)
    with pytest.raises(TypeError, match="tournament='yes': a bool"):
        tabia.Policy(tournament="yes")
    for wrong in (-1, 2**80):
        with pytest.raises(ValueError, match=f"variety={wrong}: a whole number from 0 to 100"):
            tabia.Policy(variety=wrong)


def test_every_option_of_a_policy_is_an_argument_and_a_property():
    usual = tabia.Policy()
    assert eval(repr(usual), {"Policy": tabia.Policy}) == usual
    names = [name for name in dir(usual) if not name.startswith("_")]
    assert len(names) >= 10
    for name in names:
        value = getattr(usual, name)
        assert tabia.Policy(**{name: value}) == usual
        assert f"{name}={value!r}" in repr(usual)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_policies_and_entries_are_pickled(protocol):
    again = lambda value: pickle.loads(pickle.dumps(value, protocol))
    policy = tabia.Policy(variety=7, tournament=False, judgement="both")
    assert again(policy) == policy and hash(again(policy)) == hash(policy)
    book = tabia.open_book("tabia.ctg", variety=30)
    properties = [name for name in dir(tabia.Entry) if not name.startswith("_")]
    assert {"move", "games", "not_played"} <= set(properties)
    for entry in book.find_all(chess.Board(), minimum_weight=0):
        restored = again(entry)
        assert restored == entry and repr(restored) == repr(entry)
        for name in properties:
            assert getattr(restored, name) == getattr(entry, name), name
    assert copy.deepcopy(policy) == policy and copy.copy(entry) == entry


def test_the_version_is_that_of_the_package():
    assert tabia.__version__ == importlib.metadata.version("tabia")


@pytest.mark.parametrize("format", ["ctg", "bin"])
def test_evaluations_beside_the_book_decide_where_the_policy_asks_for_them(tmp_path, format):
    best = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - ce -30;"
    worse = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce 170;"
    (tmp_path / "tabia.evals").write_text(f"{best}\n{worse}\n")
    if format == "bin":
        tabia.convert(tmp_path / "tabia.ctg", tmp_path / "tabia.bin")
    book = tabia.open_book(tmp_path / f"tabia.{format}")

    def played(**options):
        entries = book.find_all(chess.Board(), policy=tabia.Policy(**options))
        return {entry.move.uci(): entry.probability for entry in entries if entry.probability}

    assert played()["e2e4"] > 0.2
    # Moves that lose and moves without an evaluation are left out.
    assert played(maximum_loss=100) == {"d2d4": 1}
    assert played(maximum_loss=200).keys() >= {"e2e4", "d2d4"}
    judged = played(judgement="evaluations")
    assert judged["d2d4"] > 100 * judged.get("e2e4", 0)
    probed = {move["uci"]: move for move in book.probe(chess.Board())["moves"]}
    assert [probed[uci]["evaluation"] for uci in ("d2d4", "e2e4")] == [30, -170]
    policy = tabia.Policy(maximum_loss=7, judgement="both")
    assert (policy.maximum_loss, policy.judgement) == (7, "both")
    assert "judgement='both', maximum_loss=7" in repr(policy)
    assert policy != tabia.Policy(maximum_loss=7)
    for wrong in ({"maximum_loss": 2001}, {"judgement": "luck"}):
        with pytest.raises(ValueError):
            tabia.Policy(**wrong)


def test_what_a_ctg_cannot_do():
    book = tabia.open_book("tabia.ctg")
    for ask in (
        lambda: list(book.find_all(5)),
        lambda: len(book),
        lambda: book[0],
        lambda: list(book),
        lambda: book.bisect_key_left(5),
    ):
        with pytest.raises(TypeError, match="looked up by position"):
            ask()
    with pytest.raises(TypeError):
        list(book.find_all(None))
    assert book


def test_damage_is_passed_over_once_it_is_said(here):
    data = bytearray((here / "tabia.ctg").read_bytes())
    for page in range(8192, len(data), 4096):
        data[page : page + 8] = b"\xff" * 8
    (here / "tabia.ctg").write_bytes(data)
    book = tabia.open_book("tabia.ctg")
    with pytest.warns(tabia.BookWarning, match="file byte"):
        assert list(book.find_all(chess.Board())) == []
    strict = tabia.open_book("tabia.ctg", strict=True)
    with pytest.raises(tabia.BookError) as error:
        strict.find(chess.Board())
    assert error.value.file == "tabia.ctg" and error.value.page is not None
    assert error.value.byte >= 4096 * (error.value.page + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(IndexError):
            book.weighted_choice(chess.Board())


def test_a_warning_names_the_line_of_the_caller(here):
    data = bytearray((here / "tabia.ctg").read_bytes())
    for page in range(8192, len(data), 4096):
        data[page : page + 8] = b"\xff" * 8
    (here / "tabia.ctg").write_bytes(data)
    book = tabia.open_book("tabia.ctg")
    without = {"exclude_moves": [chess.Move.from_uci("e2e4")]}
    for ask in (
        lambda: list(book.find_all(chess.Board())),
        lambda: list(book.find_all(chess.Board(), **without)),
        lambda: book.find(chess.Board()),
        lambda: book.find(chess.Board(), **without),
        lambda: book.get(chess.Board()),
        lambda: book.get(chess.Board(), **without),
        lambda: book.choice(chess.Board()),
        lambda: book.weighted_choice(chess.Board()),
        lambda: list(book.positions()),
    ):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                ask()
            except (IndexError, tabia.Error):
                pass
        where = {(warning.filename, warning.lineno) for warning in said}
        assert where == {(__file__, ask.__code__.co_firstlineno)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork()")
def test_a_fork_does_not_wait_for_positions_of_another_process(here):
    found = tabia.open_book("tabia.ctg").positions()
    next(found)
    with warnings.catch_warnings():
        # Python itself warns of threads.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            next(found)
        except RuntimeError as error:
            os._exit(5 if "os.fork()" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    assert len(list(found)) > 100


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_errors_are_pickled_whole(here, protocol):
    (here / "text.ctg").write_text("no book at all")
    for ask, errno in (
        (lambda: tabia.open_book("missing.ctg"), 2),
        (lambda: tabia.open_book("text.ctg"), None),
        (lambda: tabia.convert("tabia.ctg", "tabia.ctg"), None),
        (lambda: tabia.open_book("tabia.ctg").find("no position"), None),
    ):
        with pytest.raises(tabia.Error) as caught:
            ask()
        error = caught.value
        error.more = "of the caller"
        for again in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error)):
            assert type(again) is type(error) and str(again) == str(error)
            for name in ("args", "text", "file", "page", "byte", "more"):
                assert getattr(again, name) == getattr(error, name), name
            if isinstance(error, OSError):
                assert again.errno == error.errno == errno
                assert again.filename == error.filename == error.file


def test_no_books(here):
    (here / "text.ctg").write_text("no book at all")
    (here / "games.pgn").write_text('[Event "x"]\n\n1. e4 *\n')
    for name in ("text.ctg", "games.pgn", "."):
        with pytest.raises(tabia.BookError) as error:
            tabia.open_book(name)
        assert isinstance(error.value, (tabia.Error, OSError)) and name in str(error.value)
    with pytest.raises(tabia.BookNotFoundError) as error:
        tabia.open_book(here / "missing.ctg")
    assert error.value.errno == 2 and error.value.file == str(here / "missing.ctg")


def test_books_are_given_free():
    # A file too large to be read into memory stays open.
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    book = tabia.open_book("tabia.ctg")
    book.close()
    for _ in range(200):
        tabia.open_book("tabia.ctg")
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_threads_share_a_book():
    book = tabia.open_book("tabia.ctg")
    boards = walk(book, 200, random.Random(8))
    expected = [list(book.find_all(board)) for board in boards]
    answers = [None] * 8

    def work(number):
        answers[number] = [list(book.find_all(board)) for board in boards]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 8


@needs_program
def test_an_arena_book(here):
    books = sorted(FOLDER.glob("*.abk"))
    if not books:
        pytest.skip("no .abk among the books")
    book = tabia.open_book(books[0])
    board = chess.Board()
    entry = book.find(board)
    assert book.format == "abk" and entry.games > 0 and board.is_legal(entry.move)
    assert list(book.find_all(chess.polyglot.zobrist_hash(board), minimum_weight=0)) == list(
        book.find_all(board, minimum_weight=0)
    )
    assert len(book) > 1000 and book[0].key <= book[1].key <= book[-1].key
    assert entry in book
    run = subprocess.run([PROGRAM, "probe", books[0], "--json"], stdout=subprocess.PIPE)
    assert book.probe(board) == json.loads(run.stdout)


def test_without_python_chess():
    code = (
        "import sys; sys.modules['chess'] = None\n"
        "import tabia\n"
        "print([e.move for e in tabia.open_book('tabia.ctg').find_all('startpos')])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    expected = [e.move.uci() for e in tabia.open_book("tabia.ctg").find_all("startpos")]
    assert run.stdout.strip() == repr(expected)


def test_a_position_is_the_same_as_text_and_as_board(here):
    book = tabia.open_book("tabia.ctg")
    e4 = chess.Board()
    e4.push_san("e4")
    for text in ("startpos moves e2e4", f"{chess.STARTING_FEN} moves e2e4"):
        assert book.probe(text)["fen"] == book.probe(e4)["fen"]
    with pytest.raises(tabia.PositionError):
        book.probe("startpos moves e2e5")
    # An en passant square without a pawn, as some programs write it.
    odd = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq d3 0 1"
    moves = {entry.move for entry in book.find_all(odd)}
    assert moves and moves == {entry.move for entry in book.find_all(chess.Board(odd))}
    board = chess.Board()
    for square in (77, -1, 2**40):
        board.ep_square = square
        with pytest.raises(tabia.PositionError, match="ep_square"):
            book.find(board)


def test_an_open_book_stays_itself(here, monkeypatch):
    (here / "sub").mkdir()
    tabia.convert("tabia.ctg", "tabia.bin")
    here.joinpath("a.bin").write_bytes(here.joinpath("tabia.bin").read_bytes())
    small = here / "small.bin"
    small.write_bytes(here.joinpath("tabia.bin").read_bytes()[:160])
    fen = chess.STARTING_FEN
    first = tabia.open_book("a.bin")
    count = len(list(first.find_all(chess.Board())))
    with tabia.open_book("a.bin") as book:
        os.replace(small, "a.bin")
        assert len(book.probe(fen)["moves"]) == count
    here.joinpath("a.bin").write_bytes(here.joinpath("tabia.bin").read_bytes())
    with tabia.open_book("a.bin") as book:
        os.remove("a.bin")
        assert sum(1 for _ in book.positions()) > 0
    here.joinpath("b.bin").write_bytes(here.joinpath("tabia.bin").read_bytes())
    with tabia.open_book("b.bin") as book:
        monkeypatch.chdir("sub")
        assert len(book.probe(fen)["moves"]) == count
        monkeypatch.chdir("..")


def test_a_book_that_is_overwritten_in_its_place_is_read_anew(here):
    tabia.convert("tabia.ctg", "tabia.bin")
    entries = here.joinpath("tabia.bin").read_bytes()
    with tabia.open_book("tabia.bin") as book:
        before = book.probe(tabia.START)
        # All entries but the last ones, in other places.
        shifted = bytes(16 * 5000) + entries[: -16 * 5000]
        with open("tabia.bin", "r+b") as file:
            file.write(shifted)
        now = book.probe(tabia.START)
        assert [move["uci"] for move in now["moves"]] == [move["uci"] for move in before["moves"]]
        assert len(list(book.find_all(chess.Board()))) == len(now["moves"])


def test_evaluations_are_those_beside_the_book(here, monkeypatch):
    for ending in ("ctg", "cto", "ctb"):
        here.joinpath(f"v.{ending}").write_bytes(here.joinpath(f"tabia.{ending}").read_bytes())
    start = "rnbqkbnr/pppppppp/8/8"
    (here / "v.evals").write_text(
        f"{start}/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce 300;\n"
        f"{start}/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - ce -30;\n"
    )
    (here / "sub").mkdir(exist_ok=True)

    def chances():
        book = tabia.open_book("v.ctg", maximum_loss=50)
        monkeypatch.chdir("sub")
        found = {move["uci"]: move["probability"] for move in book.probe(tabia.START)["moves"]}
        monkeypatch.chdir("..")
        return found

    found = chances()
    assert found["e2e4"] == 0 < found["d2d4"]
