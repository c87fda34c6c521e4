"""A .bin answers as chess.polyglot does, bit for bit."""

import random
import struct

import chess
import chess.polyglot
import chess.variant
import pytest

import tabia
import tabia.polyglot
from conftest import bins, walk

BOOKS = pytest.mark.parametrize("path", bins(), ids=lambda path: path.name)


def outcome(work):
    """The result: the value, or the exception."""
    try:
        return work()
    except Exception as error:
        return type(error), error.args


def both(path):
    return chess.polyglot.open_reader(str(path)), tabia.polyglot.open_reader(str(path))


@BOOKS
def test_every_entry_is_the_same(path):
    theirs, ours = both(path)
    assert len(ours) == len(theirs) > 1000
    assert list(ours) == list(theirs)
    assert list(theirs) == list(ours)
    for index in (0, 1, -1, -len(theirs), len(theirs) - 1):
        assert ours[index] == theirs[index]
        assert hash(ours[index]) == hash(theirs[index])
    with pytest.raises(IndexError):
        theirs[len(theirs)]
    # At a smaller index python-chess wraps around and returns the last entry.
    for index in (len(theirs), -len(theirs) - 1):
        with pytest.raises(IndexError):
            ours[index]
    assert next(reversed(ours)) == theirs[-1]
    assert theirs[7] in ours
    assert theirs[7]._replace(learn=99) not in ours
    assert repr(ours[3]) == repr(theirs[3])
    assert ours[3]._asdict() == theirs[3]._asdict()
    key, raw_move, weight, learn, move = ours[3]
    assert (key, raw_move, weight, learn, move) == theirs[3] == ours[3][:]
    for key in (0, 1, theirs[5].key, theirs[5].key + 1, 2**64 - 1):
        assert ours.bisect_key_left(key) == theirs.bisect_key_left(key)


@BOOKS
def test_every_look_up_is_the_same(path):
    theirs, ours = both(path)
    rng = random.Random(17)
    for board in walk(theirs, 1000, rng):
        found = list(theirs.find_all(board))
        assert list(ours.find_all(board)) == found
        moves = [entry.move for entry in found][:1]
        for given in (
            {"minimum_weight": 0},
            {"minimum_weight": 0.35},
            {"minimum_weight": 10**6},
            {"exclude_moves": moves},
            {"exclude_moves": set(moves), "minimum_weight": 2},
        ):
            assert list(ours.find_all(board, **given)) == list(theirs.find_all(board, **given))
            for name in ("find", "get"):
                ask = lambda book: outcome(lambda: getattr(book, name)(board, **given))
                assert ask(ours) == ask(theirs)
        for name in ("choice", "weighted_choice"):
            seed = rng.random()
            ask = lambda book: outcome(
                lambda: getattr(book, name)(board, random=random.Random(seed))
            )
            assert ask(ours) == ask(theirs)
        key = chess.polyglot.zobrist_hash(board)
        assert list(ours.find_all(key)) == list(theirs.find_all(key))
    assert outcome(lambda: ours.find(-1)) == outcome(lambda: theirs.find(-1))
    assert outcome(lambda: ours.find(2**80)) == outcome(lambda: theirs.find(2**80))
    assert ours.get(1, "nothing") == "nothing"


@BOOKS
def test_a_hundred_draws_are_the_same(path):
    theirs, ours = both(path)
    board = chess.Board()
    for seed in range(100):
        for name in ("choice", "weighted_choice"):
            draw = lambda book: getattr(book, name)(board, random=random.Random(seed))
            assert draw(ours) == draw(theirs)


def write(path, rows):
    path.write_bytes(b"".join(struct.pack(">QHHI", *row) for row in sorted(rows)))
    return path


@pytest.mark.parametrize("is_960", [False, True])
@pytest.mark.parametrize(
    "fen",
    [
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1",
        "1r3k1r/P7/8/8/8/8/p7/1R3K1R w HBhb - 0 1",
        "8/P6k/8/8/8/8/7p/6K1 w - - 0 1",
        "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
        # No king, too many kings, rights without rooks: still a key.
        "8/8/8/8/8/8/8/R7 w - - 0 1",
        "kkkkkkkk/8/8/8/8/8/8/R3K3 w KQ - 0 1",
        "4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1",
    ],
)
def test_moves_of_all_kinds(here, fen, is_960):
    board = chess.Board(fen, chess960=is_960)
    key = chess.polyglot.zobrist_hash(board)
    rng = random.Random(3)
    moves = {4 << 6 | to for to in (0, 2, 6, 7)} | {60 << 6 | to for to in (56, 58, 62, 63)}
    moves |= {rng.randrange(1 << 16) for _ in range(2000)}
    moves |= {move.from_square << 6 | move.to_square for move in board.pseudo_legal_moves}
    moves |= {part << 12 | 48 << 6 | to for part in range(8) for to in (56, 57)}
    path = write(here / "odd.bin", [(key, move, move % 3, move) for move in moves])
    theirs, ours = both(path)
    assert list(ours.find_all(board, minimum_weight=0)) == list(
        theirs.find_all(board, minimum_weight=0)
    )
    assert list(ours.find_all(key)) == list(theirs.find_all(key))
    assert list(ours) == list(theirs)


def test_boards_of_variants(here):
    board = chess.variant.AtomicBoard()
    key = chess.polyglot.zobrist_hash(board)
    path = write(here / "atomic.bin", [(key, 0o1434, 5, 0), (key, 0o1454, 5, 0)])
    theirs, ours = both(path)
    assert [entry.move.uci() for entry in ours.find_all(board)] == ["e2e4"]
    assert list(ours.find_all(board)) == list(theirs.find_all(board))
    assert list(tabia.open_book("tabia.ctg").find_all(board)) == []


def test_odd_files(here):
    with pytest.raises(OSError) as theirs:
        chess.polyglot.open_reader("missing.bin")
    with pytest.raises(FileNotFoundError) as ours:
        tabia.polyglot.open_reader("missing.bin")
    assert (ours.value.errno, ours.value.filename) == (theirs.value.errno, "missing.bin")
    (here / "cut.bin").write_bytes(bytes(17))
    with pytest.raises(OSError) as theirs:
        chess.polyglot.open_reader("cut.bin")
    with pytest.raises(tabia.BookError) as ours:
        tabia.polyglot.open_reader("cut.bin")
    assert str(ours.value) == str(theirs.value)
    (here / "empty.bin").write_bytes(b"")
    theirs, ours = both("empty.bin")
    assert len(ours) == len(theirs) == 0
    assert ours.get(chess.Board()) is None
    # A header of key 0 and unsorted entries are returned unchanged.
    rows = [(0, 1, 2, 3), (7, 1, 1, 1), (3, 1, 1, 1), (9, 2, 2, 2)]
    (here / "mixed.bin").write_bytes(b"".join(struct.pack(">QHHI", *row) for row in rows))
    theirs, ours = both("mixed.bin")
    assert list(ours) == list(theirs)
    for key in range(11):
        assert list(ours.find_all(key)) == list(theirs.find_all(key))


def test_a_closed_book():
    path = bins()[0]
    theirs, ours = both(path)
    for book in (theirs, ours):
        with book as same:
            assert same is book
        book.close()
    board = chess.Board()
    for ask in (
        lambda book: list(book.find_all(board)),
        lambda book: book.choice(board),
        lambda book: book.weighted_choice(board),
        lambda book: book.find(board),
        lambda book: book.get(board, 5),
        len,
    ):
        assert outcome(lambda: ask(ours)) == outcome(lambda: ask(theirs))
    # Only when the first entry is requested.
    ours.find_all(board)


def test_names_of_the_other_module():
    assert tabia.polyglot.zobrist_hash is chess.polyglot.zobrist_hash
    assert isinstance(tabia.open_book("tabia.ctg"), tabia.polyglot.MemoryMappedReader)
    with pytest.raises(AttributeError):
        tabia.polyglot.nonsense
