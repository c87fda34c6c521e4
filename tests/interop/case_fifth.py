"""What other programs write: small inputs after public reports, with the right values
beside them, judged by python-chess and pgn-extract where these read the same."""

import io
import json
import re
import subprocess

import chess
import chess.pgn

from case_convert import PGN_EXTRACT
from paths import SHARED, copy_starter, folder
from procs import run, run_ok
from runner import case

FIFTH = SHARED / "data" / "cases" / "fifth"


def _games(name: str) -> tuple[list[chess.pgn.Game], str]:
    """The games of a file as Tabia reads them, and its messages."""
    done = run_ok("games", FIFTH / name, "-o", "-", "--strict")
    text = io.StringIO(done.stdout)
    return list(iter(lambda: chess.pgn.read_game(text), None)), done.stderr


def _moves(game: chess.pgn.Game) -> list[str]:
    return [move.uci() for move in game.mainline_moves()]


def _judged(text: str) -> list[list[str]]:
    """The games of a text as python-chess reads them."""
    stream = io.StringIO(text)
    return [_moves(game) for game in iter(lambda: chess.pgn.read_game(stream), None)]


def _extracted(name: str) -> list[list[str]]:
    """The games of a file as pgn-extract reads them."""
    done = subprocess.run([PGN_EXTRACT, "-s", FIFTH / name], capture_output=True, text=True, check=True)
    return _judged(done.stdout)


@case(20, needs_shared=True)
def castling_without_hyphens():
    games, _ = _games("castling_without_hyphens.pgn")
    assert [len(_moves(game)) for game in games] == [10, 10, 10, 10, 12, 12, 12]
    for game in games:
        castled = [move for move in _moves(game) if move[:4] in ("e1g1", "e8g8", "e1c1", "e8c8")]
        assert len(castled) == 2, game.headers["Event"]
    # pgn-extract reads those with letters; at 00 it begins another game.
    extracted = [game for game in _extracted("castling_without_hyphens.pgn") if len(game) >= 10]
    assert extracted == [_moves(game) for game in games if "00" not in game.headers["Event"]]


@case(20, needs_shared=True)
def correspondence_numbers_and_small_letters():
    games, _ = _games("iccf_numeric.pgn")
    assert _moves(games[0]) == ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "g8f6", "e1g1", "f8e7"]
    games, _ = _games("lowercase_pieces.pgn")
    assert [len(_moves(game)) for game in games] == [11, 9]
    assert [_moves(game) for game in games] == _extracted("lowercase_pieces.pgn")


@case(20, needs_shared=True)
def null_moves_with_three_dashes():
    games, _ = _games("null_three_dashes.pgn")
    with_two = (FIFTH / "null_three_dashes.pgn").read_text().replace("---", "--")
    judged = chess.pgn.read_game(io.StringIO(with_two))

    def lines(node):
        return [(child.move.uci(), lines(child)) for child in node.variations]

    assert lines(games[0]) == lines(judged)
    to = folder("null")
    run_ok("build", FIFTH / "null_three_dashes.pgn", "-o", to / "x.ctg", "--variations")
    fen = chess.Board()
    for san in "e4 c5 Nf3 d6 d4 cxd4 Qxd4".split():
        fen.push_san(san)
    found = json.loads(run_ok("probe", to / "x.ctg", "--fen", fen.fen(), "--json").stdout)
    assert [move["uci"] for move in found["moves"]] == ["b8c6"], found


@case(20, needs_shared=True)
def signs_of_unicode():
    games, _ = _games("signs_unicode.pgn")
    assert [len(_moves(game)) for game in games] == [6, 6, 9]
    nags = [[sorted(node.nags) for node in game.mainline()] for game in games[:2]]
    assert nags[0] == [[3], [4], [5], [6], [], []], nags
    assert nags[1] == [[3], [4], [5], [18], [19], []], nags
    # All have a number: attack, initiative, counterplay, time, idea, novelty, and so on.
    kept = [nag for node in games[2].mainline() for nag in node.nags]
    assert len(kept) == 9, kept


@case(20, needs_shared=True)
def tags_with_other_blanks_marks_and_lines():
    games, _ = _games("nbsp_in_tags.pgn")
    plain = (FIFTH / "nbsp_in_tags.pgn").read_text().replace("\u00a0", " ")
    assert [_moves(game) for game in games] == _judged(plain) and len(games) == 2
    assert games[0].headers["White"] == "White, A" and games[0].headers["WhiteElo"] == "2300"
    assert games[1].headers["FEN"] == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    wanted = ["--player", "White, A", "--since", "2024", "--min-elo", "2000"]
    done = run_ok("games", FIFTH / "quotes_typographic.pgn", "-o", "-", *wanted)
    found = chess.pgn.read_game(io.StringIO(done.stdout))
    assert found.headers["Event"] == "blog" and found.headers["ECO"] == "C60"
    assert done.stdout.count("[Event ") == 1
    games, _ = _games("quotes_typographic.pgn")
    assert [len(_moves(game)) for game in games] == [5, 2]
    games, _ = _games("tag_line_breaks.pgn")
    assert [_moves(game) for game in games] == _extracted("tag_line_breaks.pgn") == [["e2e4", "e7e5"]]
    headers = games[0].headers
    assert (headers["Site"], headers["Date"], headers["Black"]) == ("Town", "2024.05.06", "Black, B")


def _evaluations(name: str) -> list[str]:
    """The lines of the evaluations beside a book that is made of a file."""
    to = folder("evaluations")
    run_ok("build", FIFTH / name, "-o", to / "x.ctg", "--evaluations", "--min-games", 1)
    (evals,) = to.glob("*.evals")
    return [line for line in evals.read_text().splitlines() if "/" in line.split(" ")[0]]


@case(20, needs_shared=True)
def evaluations_in_centipawns_and_over_lines():
    for name, wanted in [
        ("eval_centipawns.pgn", [31, 28, 27, 5, 140]),
        ("eval_wrapped.pgn", [25, 30, 35, 31, 29, None]),
    ]:
        found = _evaluations(name)
        assert len(found) == len(wanted), found
        board = chess.Board()
        game = chess.pgn.read_game(io.StringIO((FIFTH / name).read_text()))
        for move, value in zip(game.mainline_moves(), wanted):
            board.push(move)
            line = next(line for line in found if _is_of(line, board))
            ce = int(re.search(r"\bce (-?\d+)", line).group(1))
            if value is None:
                # Black mates in three.
                assert abs(ce) > 32_000, line
            else:
                assert abs(ce) == value, (line, value)


def _is_of(line: str, board: chess.Board) -> bool:
    """Whether a line is about a position, which may be stored with colours exchanged."""
    boards = [board, board.mirror()]
    return any(line.split(" ")[0] == one.board_fen() for one in boards)


@case(20, needs_shared=True)
def dates_times_and_variants():
    dates = FIFTH / "date_forms.pgn"
    year = run_ok("games", dates, "-o", "-", "--since", 2023, "--until", 2023)
    assert year.stdout.count("[Event ") == 7
    july = run_ok("games", dates, "-o", "-", "--since", "2023-07", "--until", "2023-07")
    assert july.stdout.count("[Event ") >= 5 and '"d5"' not in july.stdout
    speeds = {
        "blitz": ["tc1", "tc4", "tc5", "tc6"],
        "ultrabullet": ["tc2"],
        "classical": ["tc3"],
        "rapid": ["tc7"],
    }
    for speed, wanted in speeds.items():
        done = run_ok("games", FIFTH / "timecontrol_forms.pgn", "-o", "-", "--speeds", speed)
        assert re.findall(r'\[Event "(.*)"\]', done.stdout) == wanted, speed
    games, _ = _games("variant_names.pgn")
    assert len(games) == 10
    chess960 = [game for game in games if len(_moves(game)) == 8]
    assert len(chess960) == 5
    for game in chess960:
        assert game.headers["Variant"].lower() == "chess960"


@case(30, needs_shared=True)
def suites_in_zip_archives():
    suite = FIFTH / "suite.epd.zip"
    checked = json.loads(run("suite", "check", suite, "--json").stdout)
    assert checked["exits"] == 2, checked
    to = folder("suite")
    run_ok("suite", suite, "-o", to / "x.epd", "--zip")
    assert len((to / "x.epd").read_text().splitlines()) == 2
    again = json.loads(run("suite", "check", to / "x.epd.zip", "--json").stdout)
    assert again["exits"] == 2, again
    book = copy_starter(to)
    done = run("evaluate", book, "--import", suite)
    # The positions have no values, so nothing is taken; but they are read.
    assert "2 lines" in done.stderr, done.stderr


@case(20)
def old_code_pages_are_read_as_named():
    """python-chess is given the encoding, too."""
    text = '[White "Таль, М"]\n[Black "Ботвинник, М"]\n\n1. e4 e5 {Хорошо} 2. Nf3 1-0\n\n'
    to = folder("encodings")
    for encoding in ("cp1251", "koi8-r", "cp866", "cp855"):
        path = to / f"{encoding}.pgn"
        path.write_bytes(text.encode(encoding))
        with open(path, encoding=encoding) as stream:
            judged = chess.pgn.read_game(stream)
        hint = run_ok("games", path, "-o", "-").stderr
        assert "--encoding" in hint, hint
        done = run_ok("games", path, "-o", "-", "--encoding", encoding)
        found = chess.pgn.read_game(io.StringIO(done.stdout))
        assert found.headers["White"] == judged.headers["White"] == "Таль, М"
        assert [node.comment for node in found.mainline()] == [node.comment for node in judged.mainline()]
        run_ok("build", path, "-o", to / f"{encoding}.ctg", "--encoding", encoding)
        run_ok("index", path, "-o", to / f"{encoding}.tgx", "--encoding", encoding)
