"""Invalid books, engines, lines and files: one clear message, no hang, no
crash, and a running game continues."""

import os
import random
from pathlib import Path

import chess

from oracle import board_after
from paths import OUT_OF_BOOK, STARTER, TABIA, copy_starter, faulty_engine, folder
from procs import Answer, Client, ready_tabia, run, tabia
from runner import case


def _strings(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("info string") and not line.startswith("info string NNUE")]


def _fits(position: str, answer: Answer) -> None:
    """Checks that the move is legal after `position startpos moves ...`."""
    assert chess.Move.from_uci(answer.move) in board_after(position.split()[3:]).legal_moves


@case(60)
def a_truncated_book_never_crashes_the_adapter():
    whole = copy_starter(folder("cut"))
    sizes = [1, 31, 4095, 4096, 4097, 8192, 100_000, 524_288, 1_069_055]
    data = whole.read_bytes()
    for size in sizes:
        book = copy_starter(folder("cut"))
        book.write_bytes(data[:size])
        client = tabia()
        lines = client.handshake()
        client.send(f"setoption name Book File value {book}")
        lines += client.ready()
        for moves in ("", " moves e2e4", " moves d2d4 g8f6", " moves e2e4 c7c5 g1f3"):
            lines += client.go("position startpos" + moves, "go nodes 100").lines
        output = _strings([line for line in lines if not line.startswith("info string book book.ctg:")])
        assert output, f"no message about a book of {size} bytes"
        assert len(output) <= 3, output
        client.quit()


@case(60)
def truncated_or_random_index_files_never_crash_the_adapter():
    rng = random.Random(1)
    for ending in ("cto", "ctb"):
        for damage in (b"", b"\x00" * 4, None, rng.randbytes(4056)):
            book = copy_starter(folder("index"))
            part = book.with_suffix("." + ending)
            if damage is None:
                damage = part.read_bytes()[: part.stat().st_size // 2]
            part.write_bytes(damage)
            client = ready_tabia("--book", str(book))
            for moves in ("", " moves e2e4", " moves d2d4 g8f6"):
                client.go("position startpos" + moves, "go nodes 100")
            client.quit()
            assert run("info", book).returncode in (0, 1, 2)


def _large_book(where: Path) -> Path:
    """More than 2 MiB: such books are mapped."""
    book = copy_starter(where, "large")
    with book.open("r+b") as file:
        file.truncate(4 << 20)
    return book


@case(30)
def a_large_book_truncated_while_it_is_open_does_not_end_the_game():
    for arguments in ([], ["--no-mmap"]):
        book = _large_book(folder("open"))
        client = ready_tabia("--book", str(book), *arguments)
        assert client.go("position startpos").from_book
        os.truncate(book, 8192)
        position = "position startpos moves"
        for uci in ("", " e2e4", " c7c5", " g1f3", " d7d6", " d2d4"):
            position += uci
            _fits(position, client.go(position, "go nodes 100"))
        client.ready()
        client.quit()


@case(30)
def a_book_replaced_while_it_is_open_is_used_from_the_next_game_on():
    """By renaming, as programs that write books do."""
    where = folder("replace")
    book = _large_book(where)
    client = ready_tabia("--book", str(book))
    assert client.go("position startpos").from_book
    other = _large_book(folder("other"))
    for ending in (".ctg", ".cto", ".ctb"):
        os.replace(other.with_suffix(ending), book.with_suffix(ending))
    client.send("ucinewgame")
    client.ready()
    assert client.go("position startpos").from_book
    book.unlink()
    client.send("ucinewgame")
    client.ready()
    client.go("position startpos", "go nodes 100")


@case()
def book_paths_in_latin_1_in_utf_8_and_with_blanks_are_found():
    for name in (b"B\xfccher", "Bücher/Ω".encode(), b"two  blanks", "Книги".encode()):
        where = Path(os.fsdecode(os.fsencode(folder("names")) + b"/" + name))
        where.mkdir(parents=True)
        book = copy_starter(where)
        client = ready_tabia("--set", "Book File=<empty>")
        assert not client.go("position startpos", "go nodes 100").from_book
        client.write(b"setoption name Book File value " + os.fsencode(book) + b"\n")
        client.ready()
        answer = client.go("position startpos", "go nodes 100")
        assert answer.from_book, (name, answer.lines)
        client.quit()


@case()
def quoted_paths_and_odd_values_of_options_are_accepted():
    client = ready_tabia()
    for value in ("", " value", " value ", " value <empty>", f' value "{STARTER}"', " value <starter>"):
        client.send("setoption name Book File" + value)
        client.ready()
        client.go("position startpos", "go nodes 50")
    assert client.go("position startpos").from_book
    for line in (
        "setoption",
        "setoption name",
        "setoption name Book Variety value many",
        "setoption name Book Variety value 101",
        "setoption name Book Variety value -1",
        "setoption name Book Info value everything",
        "setoption name OwnBook value perhaps",
        "setoption name No Such Option value 3",
        "setoption value 3",
    ):
        client.send(line)
    client.ready()
    assert client.go("position startpos").from_book


# Faults of engines.


@case(30)
def an_engine_that_is_not_a_program_is_reported():
    done = run("play", "--", STARTER)
    assert done.returncode == 2, done
    assert len(done.stderr.splitlines()) == 1 and "tabia.ctg" in done.stderr, done.stderr
    config = folder("engines") / "engines.toml"
    config.write_text(f"default = ['x']\n[engine.x]\ncommand = '{STARTER}'\n")
    client = Client([TABIA, "--config", str(config)])
    output = _strings(client.handshake())
    assert len(output) == 1 and "tabia.ctg" in output[0], output
    client.ready()
    client.send("setoption name OwnBook value false")
    answer = client.go("position startpos", "go nodes 100")
    assert any("the built-in engine's move" in line for line in answer.lines), answer.lines


@case(30)
def an_engine_that_prints_garbage_does_not_disturb_the_game():
    client = tabia(engine=faulty_engine("garbage"))
    assert client.handshake().count("uciok") == 1
    client.ready()
    assert client.go("position startpos").from_book
    assert client.go(OUT_OF_BOOK).move == "a3a4"
    client.expect_none()


@case(30)
def the_built_in_engine_replaces_a_lost_one_if_the_option_is_set():
    client = ready_tabia("--set", "Engine Stand-in=true", engine=faulty_engine("dies-on-go"))
    answer = client.go(OUT_OF_BOOK, "go movetime 50")
    _fits(OUT_OF_BOOK, answer)
    assert any("stands in" in line for line in answer.lines), answer.lines
    client.go(OUT_OF_BOOK, "go movetime 50")


# Faults of lines.


@case()
def a_bad_fen_is_passed_to_the_engine():
    """Stockfish may crash; the adapter must report the position and not hang."""
    client = ready_tabia()
    client.send("position fen nonsense w - - 0 1", "go nodes 100")
    output = []
    while not ((line := client.next()) is None or line.startswith("bestmove")):
        output.append(line)
    assert any(line.startswith("info string position:") for line in output), output
    if line is None:
        # The engine crashed repeatedly: the exit code tells the manager.
        client.end(code=2)


def _shuffle(plies: int) -> str:
    return " ".join(["g1f3 g8f6 f3g1 f6g8"] * (plies // 4))


@case(30)
def a_position_of_20000_plies_is_answered():
    client = ready_tabia()
    line = "position startpos moves " + _shuffle(20_000)
    client.send(line)
    client.ready()
    answer = client.go(line + " a2a3", "go nodes 200", limit=15)
    _fits("position startpos moves a2a3", answer)
    # A game that grows to 1,200 plies, two moves of each side at a time.
    for plies in range(0, 1200, 4):
        client.send("position startpos moves " + _shuffle(plies) if plies else "position startpos")
    client.ready()


@case(30)
def a_line_of_three_megabytes_is_ignored_with_a_message():
    client = ready_tabia()
    client.write(b"position startpos moves " + b"x" * (3 << 20) + b"\n")
    got = client.ready()
    assert sum("ignored" in line for line in got) == 1, _strings(got)
    assert client.go("position startpos").from_book


@case(30)
def lines_of_random_bytes_do_not_end_the_adapter():
    """Not with Stockfish, which has commands that write files."""
    rng = random.Random(77)
    client = ready_tabia(engine=faulty_engine("plain"))
    words = [b"go", b"position", b"setoption", b"name", b"value", b"fen", b"moves", b"startpos", b"stop", b"isready"]
    for _ in range(400):
        parts = [rng.choice(words) if rng.random() < 0.7 else rng.randbytes(rng.randrange(9)) for _ in range(8)]
        line = b" ".join(parts).replace(b"\n", b"").replace(b"quit", b"")
        client.write(line + b"\n")
    client.send("stop", "setoption name OwnBook value true", "setoption name Book File value <starter>")
    client.send("ucinewgame", "isready")
    client.expect("readyok")
    # Answers to earlier searches may still come; they are White's moves.
    board = board_after(["e2e4"])
    blacks = lambda line: line.startswith("bestmove ") and chess.Move.from_uci(line.split()[1]) in board.legal_moves
    assert Answer(client.exchange("position startpos moves e2e4", "go movetime 20", until=blacks)).from_book
