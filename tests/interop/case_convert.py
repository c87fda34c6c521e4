"""`tabia convert`, and books of other formats, against python-chess, Polyglot
and pgn-extract; and against a reader of Arena books written here from the
description of the format."""

import csv
import json
import math
import random
import struct
import subprocess
from collections import defaultdict
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot

from oracle import Oracle, canonical
from paths import POLYGLOT, SHARED, STARTER, _program, copy_starter, folder
from procs import ready_tabia, run, run_ok
from runner import case

PGN_EXTRACT = _program("pgn-extract")
BOOKS = SHARED / "data" / "books"
GM2001, SMALL, LIBRA = BOOKS / "gm2001.bin", BOOKS / "book_small.bin", BOOKS / "libra8.abk"


def convert(*args) -> str:
    """Converts a book; returns the summary line."""
    done = run_ok("convert", *args, limit=250)
    return done.stderr.strip().splitlines()[-1]


def three(ctg: Path) -> list[bytes]:
    return [ctg.with_suffix(ending).read_bytes() for ending in (".ctg", ".cto", ".ctb")]


def reach(book: chess.polyglot.MemoryMappedReader) -> list[chess.Board]:
    """Every position of a Polyglot book that its moves reach."""
    start = chess.Board()
    seen, ahead, found = {chess.polyglot.zobrist_hash(start)}, [start], []
    while ahead:
        board = ahead.pop()
        entries = list(book.find_all(board, minimum_weight=0))
        if not entries:
            continue
        found.append(board)
        for entry in entries:
            child = board.copy(stack=False)
            child.push(entry.move)
            key = chess.polyglot.zobrist_hash(child)
            if key not in seen:
                seen.add(key)
                ahead.append(child)
    return found


@case(limit=240, needs_shared=True)
def polyglot_books_are_read_as_python_chess_reads_them():
    text = []
    for path in (GM2001, SMALL):
        with chess.polyglot.open_reader(path) as book, Oracle(path, "Book Minimum Share=0") as oracle:
            boards = reach(book)
            moves = 0
            for board in boards:
                expected = defaultdict(int)
                for entry in book.find_all(board, minimum_weight=0):
                    expected[entry.move.uci()] += entry.weight
                answer = oracle.look_up(board)
                assert answer["in_book"], board.fen()
                found = {move["uci"]: move["stored_weight"] for move in answer["moves"]}
                assert found == dict(expected), (board.fen(), found, expected)
                total = sum(expected.values())
                for move in answer["moves"]:
                    chance = move["stored_weight"] / total if total else 0
                    assert math.isclose(move["probability"], chance, abs_tol=1e-9), (board.fen(), move)
                moves += len(found)
            info = json.loads(run("info", path, "--json").stdout)
            # More by legal moves that the book does not have.
            assert len(boards) <= info["reached_positions"] <= info["positions"], (info, len(boards))
            assert info["moves"] == len(book)
        text.append(f"{path.name}: {len(boards)} positions, {moves} moves")
    return "; ".join(text)


class Arena:
    """An Arena book, read by the description of the format."""

    PROMOTIONS = {0: None, 1: chess.ROOK, 2: chess.KNIGHT, 3: chess.BISHOP, 4: chess.QUEEN}

    def __init__(self, path: Path):
        self.data = path.read_bytes()
        assert self.data[:4] == b"\x03ABK"
        self.moves = defaultdict(lambda: defaultdict(lambda: [0, 0, 0]))
        self.boards = {}
        ahead = [(900, chess.Board())]
        while ahead:
            number, board = ahead.pop()
            key = chess.polyglot.zobrist_hash(board)
            self.boards.setdefault(key, board)
            while number != -1:
                entry = struct.unpack_from("<BBbbiiiiii", self.data, 28 * number)
                start, end, promotion, _priority, games, won, lost, _, reply, number = entry
                move = chess.Move(start, end, self.PROMOTIONS[abs(promotion)])
                assert board.is_legal(move), (board.fen(), move)
                own = (won, lost) if board.turn else (lost, won)
                numbers = self.moves[key][move.uci()]
                for at, more in enumerate((games, *own)):
                    numbers[at] += more
                if reply != -1:
                    child = board.copy(stack=False)
                    child.push(move)
                    ahead.append((reply, child))


@case(limit=240, needs_shared=True)
def an_arena_book_is_read_as_described():
    book = Arena(LIBRA)
    with Oracle(LIBRA) as oracle:
        for key, board in book.boards.items():
            answer = oracle.look_up(board)
            found = {move["uci"]: [move["games"], move["wins"], move["losses"]] for move in answer["moves"]}
            assert found == book.moves[key], (board.fen(), found, book.moves[key])
    info = json.loads(run("info", LIBRA, "--json").stdout)
    assert info["positions"] == info["reached_positions"] == len(book.boards), info
    return f"{len(book.boards)} positions"


@case(limit=240)
def polyglot_and_python_chess_read_our_polyglot_books():
    to = folder("bin")
    target = to / "starter.bin"
    summary = convert(STARTER, target)
    dump = subprocess.run(
        [POLYGLOT, "dump-book", "-bin", target, "-color", "white", "-out", to / "dump.txt"],
        cwd=to, capture_output=True, text=True,
    )
    assert dump.returncode == 0, dump.stdout + dump.stderr
    lines = (to / "dump.txt").read_text().splitlines()
    assert any("1. d4" in line or "1.d4" in line for line in lines), lines[:10]
    last = None
    with chess.polyglot.open_reader(target) as book, Oracle(STARTER) as oracle:
        for entry in book:
            if last is not None:
                assert last[0] < entry.key or last[0] == entry.key and last[1] >= entry.weight
            last = (entry.key, entry.weight)
        boards = reach(book)
        for board in random.Random(5).sample(boards, 3000):
            raw = list(book.find_all(board.copy(), minimum_weight=0))
            assert raw and all(board.is_legal(entry.move) for entry in raw), board.fen()
            total = sum(entry.weight for entry in raw)
            played = oracle.playable(board)
            assert set(played) == {entry.move.uci() for entry in raw}, (board.fen(), played)
            for entry in raw:
                assert abs(entry.weight / total - played[entry.move.uci()]) < 1e-4, board.fen()
    assert len(lines) > 1000
    return f"{len(boards)} positions reached; {summary}"


@case(limit=240)
def our_arena_books_are_read_as_described():
    target = folder("abk") / "starter.abk"
    summary = convert(STARTER, target)
    book = Arena(target)
    moves = 0
    with Oracle(STARTER) as oracle:
        for key, board in book.boards.items():
            # Lines also lead to positions of the book that have no moves.
            answer = oracle.look_up(board)
            found = {
                move["uci"]: [move["games"], move["wins"], move["losses"]]
                for move in answer["moves"] if not move["transposition"]
            }
            stored = {uci: numbers for uci, numbers in book.moves[key].items() if uci in found}
            assert stored == found, (board.fen(), stored, found)
            moves += len(found)
    assert moves > 4000, moves
    return f"{len(book.boards)} positions, {moves} moves; {summary}"


@case(limit=120, needs_shared=True)
def whole_games_are_played_from_polyglot_and_arena_books():
    text = []
    for path in (GM2001, LIBRA):
        client = ready_tabia("--book", str(path), "--set", "Book Seed=11")
        with Oracle(path) as oracle:
            plies = 0
            for _ in range(6):
                client.send("ucinewgame")
                client.ready()
                board = chess.Board()
                while not board.is_game_over() and len(board.move_stack) < 60:
                    moves = " ".join(move.uci() for move in board.move_stack)
                    position = "position startpos" + (f" moves {moves}" if moves else "")
                    answer = client.go(position, "go nodes 20")
                    move = chess.Move.from_uci(answer.move)
                    assert move in board.legal_moves, (board.fen(), move)
                    if answer.from_book:
                        assert move.uci() in oracle.playable(board), (board.fen(), move)
                        plies += 1
                    board.push(move)
        client.quit()
        assert plies > 30, plies
        text.append(f"{path.name}: {plies} half moves from the book")
    return "; ".join(text)


# Number of random positions that are converted both ways.
POSITIONS = 100_000

# Fields of the 33 bytes of an entry.
COUNTERS = ("games", "wins", "losses", "draws", "own_rated", "other_rated")
SUMS = ("points", "own_rating_sum", "other_rating_sum")


def storable(board: chess.Board, move: chess.Move) -> bool:
    """The format has bytes for two pieces of a kind, and only for promotion to a queen."""
    if move.promotion not in (None, chess.QUEEN):
        return False
    kind = board.piece_type_at(move.from_square)
    men = sorted(board.pieces(kind, chess.WHITE), key=lambda s: (chess.square_file(s), s))
    number = men.index(move.from_square) + 1
    return number == 1 if kind == chess.QUEEN else number <= (8 if kind == chess.PAWN else 2)


@case(limit=900)
def a_hundred_thousand_random_positions_convert_to_jsonl_and_back():
    rng = random.Random(17)
    to = folder("extremes")
    source = to / "source.jsonl"
    extreme = lambda bits: rng.choice((0, 2**bits - 1, rng.randrange(2**bits)))
    seen = {}
    while len(seen) < POSITIONS:
        board = chess.Board()
        for _ in range(120):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
            picture = canonical(board)
            fen = picture.fen(en_passant="legal")
            if fen in seen:
                continue
            line = {"fen": fen}
            line.update({name: extreme(24) for name in COUNTERS})
            line.update({name: extreme(32) for name in SUMS})
            line["recommendation"], line["commentary"] = extreme(8), extreme(8)
            line["factor"] = rng.choice((-128, 127, 0, rng.randrange(-128, 128)))
            line["moves"] = []
            # Generating legal moves in Python is slow; most positions have none.
            if len(seen) % 5 == 0:
                stored = [move for move in picture.legal_moves if storable(picture, move)]
                rng.shuffle(stored)
                line["moves"] = [{"uci": move.uci(), "annotation": extreme(8)} for move in stored]
            seen[fen] = line
    with source.open("w") as out:
        print('{"format":"tabia-book","version":1,"games":4294967295}', file=out)
        for line in seen.values():
            print(json.dumps(line), file=out)
    first, second = to / "first.ctg", to / "second.ctg"
    convert(source, first)
    verified = json.loads(run("verify", first, "--json", limit=100).stdout)
    assert verified["positions"] == len(seen), verified["positions"]
    convert(first, to / "back.jsonl")
    with (to / "back.jsonl").open() as back:
        assert json.loads(next(back)) == {"format": "tabia-book", "version": 1, "games": 4294967295}
        count = 0
        for text in back:
            line = json.loads(text)
            expected = seen[line["fen"]]
            assert line == expected, (line, expected)
            count += 1
    assert count == len(seen)
    convert(to / "back.jsonl", second)
    assert three(first) == three(second)
    return f"{count} positions, {sum(len(line['moves']) for line in seen.values())} moves"


@case(limit=400)
def games_of_a_book_are_valid_pgn():
    to = folder("pgn")
    text = []
    for name, options in (("whole", ("--plies", "60")), ("cut", ("--plies", "16", "--min-games", "10", "--game-moves", "300"))):
        target = to / f"{name}.pgn"
        summary = convert(STARTER, target, *options)
        checked = subprocess.run(
            [PGN_EXTRACT, "-r", "-s", target], capture_output=True, text=True, cwd=to
        )
        assert checked.returncode == 0 and not checked.stderr.strip() and not checked.stdout.strip(), (
            checked.stdout[:2000], checked.stderr[:2000])
        lines, nodes = [], 0
        with target.open() as file:
            while game := chess.pgn.read_game(file):
                assert not game.errors, game.errors
                assert list(game.headers)[:7] == ["Event", "Site", "Date", "Round", "White", "Black", "Result"]
                lines.append(list(game.mainline_moves()))
                ahead = [game]
                while ahead:
                    node = ahead.pop()
                    nodes += 1
                    ahead += node.variations
        assert lines and f"{len(lines)} games" in summary, summary
        built = to / f"{name}.ctg"
        run_ok("build", "-o", built, "--max-ply", "100", target, limit=60)
        with Oracle(built) as oracle:
            for line in lines:
                board = chess.Board()
                for move in line:
                    assert move.uci() in {known["uci"] for known in oracle.look_up(board)["moves"]}
                    board.push(move)
        text.append(f"{name}: {len(lines)} games, {nodes} nodes")
    return "; ".join(text)


@case(limit=120)
def the_csv_table_has_the_numbers_of_probe():
    to = folder("csv")
    convert(STARTER, to / "a.csv", "--set", "Book Variety=70")
    rows = defaultdict(dict)
    with (to / "a.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            rows[row["fen"]][row["uci"]] = row
    with Oracle(STARTER, "Book Variety=70") as oracle:
        for fen in random.Random(3).sample(sorted(rows), 500):
            for move in oracle.look_up(chess.Board(fen))["moves"]:
                row = rows[fen][move["uci"]]
                for name in ("games", "wins", "draws", "losses", "commentary"):
                    assert int(row[name]) == move[name], (fen, row, move)
                assert abs(float(row["probability"]) - move["probability"]) < 1e-6
                assert row["mark"] == move["mark"] and int(row["learn_value"]) == move["learn_value"]


@case(limit=240, needs_shared=True)
def books_converted_to_chessbase_play_the_same_moves():
    to = folder("other")
    text = []
    for path in (GM2001, LIBRA):
        target = to / f"{path.stem}.ctg"
        summary = convert(path, target)
        assert "left out" in summary or path is LIBRA, summary
        verified = json.loads(run("verify", target, "--json", limit=100).stdout)
        assert verified["problems"] == [], verified["problems"][:3]
        with Oracle(path, "Book Minimum Share=0") as before, Oracle(
            target, "Book Minimum Share=0", "Book Transpositions=false"
        ) as after:
            board = chess.Board()
            for _ in range(8):
                old, new = before.playable(board), after.playable(board)
                assert set(old) <= set(new), (old, new)
                best = max(old, key=old.get)
                board.push_uci(best)
        text.append(summary)
    return "\n".join(text)


@case(limit=200, needs_shared=True)
def books_of_polyglot_for_one_side_are_converted_whole():
    """Polyglot's own books of one colour: each position is one legal move of the opponent
    away from another one, as python-chess walks."""
    to = folder("oneside")
    cases = SHARED / "data" / "cases" / "games"
    games = to / "games.pgn"
    games.write_bytes(subprocess.check_output(["zstd", "-dc", SHARED / "data" / "pgn" / "lichess_db_1000k.pgn.zst"]))
    books = [(cases / f"one_side_{side}.bin", side) for side in ("white", "black")]
    for side in ("white", "black"):
        made = to / f"{side}.bin"
        subprocess.run(
            [POLYGLOT, "make-book", "-pgn", games, "-bin", made, "-min-game", "2", "-max-ply", "16", f"-only-{side}"],
            check=True, capture_output=True,
        )
        books.append((made, side))
    text = []
    for path, side in books:
        own = side == "white"
        with chess.polyglot.open_reader(path) as book:
            keys = {entry.key for entry in book}
            near = {chess.polyglot.zobrist_hash(board): board for board in _reach_one_side(book, own)}
            assert len(near) > len(keys) * 0.9
            for ending in ("ctg", "bin", "jsonl", "csv", "pgn"):
                convert("--force", path, to / f"out.{ending}")
            convert("--force", to / "out.ctg", to / "back.bin")
            with chess.polyglot.open_reader(to / "back.bin") as back:
                again = {entry.key for entry in back}
            assert set(near) <= again <= keys, (len(near), len(again), len(keys))
            with Oracle(to / "out.ctg", "Book Minimum Share=0") as oracle:
                for board in near.values():
                    entries = list(book.find_all(board))
                    assert set(oracle.playable(board)) == {entry.move.uci() for entry in entries}, board.fen()
                    for entry in entries:
                        board.push(entry.move)
                        assert oracle.look_up(board)["moves"] == [], board.fen()
                        board.pop()
        with (to / "out.csv").open(newline="") as file:
            assert {row["fen"].split()[1] for row in csv.DictReader(file)} == {side[0]}
        text.append(f"{path.name}: {len(again)} of {len(keys)} positions")
    return "; ".join(text)


def _reach_one_side(book: chess.polyglot.MemoryMappedReader, own: bool) -> list[chess.Board]:
    """Every position of a book for one side, along its moves and all of the opponent."""
    start = chess.Board()
    seen, ahead, found = {chess.polyglot.zobrist_hash(start)}, [start], []
    while ahead:
        board = ahead.pop()
        moves = list(board.legal_moves)
        if board.turn == own:
            entries = list(book.find_all(board, minimum_weight=0))
            if not entries:
                continue
            found.append(board)
            moves = [entry.move for entry in entries]
        for move in moves:
            child = board.copy(stack=False)
            child.push(move)
            key = chess.polyglot.zobrist_hash(child)
            if key not in seen:
                seen.add(key)
                ahead.append(child)
    return found


@case(limit=200, needs_shared=True)
def a_damaged_book_of_another_format_gives_one_message():
    to = folder("damaged")
    rng = random.Random(23)
    for path in (GM2001, LIBRA):
        whole = path.read_bytes()
        for number in range(12):
            data = bytearray(whole[: rng.choice((0, 3, 15, 900, 25_199, 25_230, len(whole) - 7, len(whole)))])
            for _ in range(rng.randrange(4000 if number % 2 else 3)):
                if data:
                    data[rng.randrange(len(data))] = rng.randrange(256)
            broken = to / f"broken{path.suffix}"
            broken.write_bytes(data)
            for command in (("info", broken), ("probe", broken), ("convert", "--force", broken, to / "x.ctg")):
                done = run(*command, limit=30)
                assert done.returncode in (0, 1, 2), (command, done.returncode, done.stderr)
                assert "panicked" not in done.stderr
                if done.returncode == 2:
                    assert len(done.stderr.strip().splitlines()) == 1 and broken.name in done.stderr, done.stderr


@case(limit=60, needs_shared=True)
def several_books_of_all_formats_are_used_in_order_each_with_its_options():
    to = folder("mixed")
    # Only the colour of a move shows that it is in the white book.
    copy_starter(to)
    config = to / "engines.toml"
    config.write_text(
        f"""
default = "builtin"
[book]
info = "full"
seed = 3
[[books]]
file = "{GM2001}"
colour = "white"
variety = 0
depth = 1
[[books]]
file = "{LIBRA}"
colour = "black"
variety = 0
[[books]]
file = "book.ctg"
"""
    )
    client = ready_tabia("--config", str(config))
    first = client.go("position startpos", "go nodes 20")
    assert first.from_book and first.move == "e2e4", first.lines
    assert any("gm2001.bin" in line for line in first.lines), first.lines
    reply = client.go("position startpos moves e2e4", "go nodes 20")
    with Oracle(LIBRA, "Book Variety=0") as oracle:
        board = chess.Board()
        board.push_uci("e2e4")
        assert reply.from_book and reply.move in oracle.playable(board), reply.lines
    assert any("libra8.abk" in line for line in reply.lines), reply.lines
    board.push_uci("c7c5")
    second = client.go("position startpos moves e2e4 c7c5", "go nodes 20")
    assert second.from_book and any("book.ctg" in line for line in second.lines), second.lines
    for command in (("merge", "--force", "-o", to / "x.ctg", GM2001, LIBRA), ("verify", LIBRA)):
        run_ok(*command, limit=100)
    for command in (("compact", LIBRA), ("build", "--force", "-o", to / "x.ctg", GM2001)):
        done = run(*command)
        assert done.returncode == 2 and "convert" in done.stderr, done.stderr
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
