"""The same games in some forty forms of PGN: python-chess reads them, a rewriter writes them
as other programs and people do, and Tabia makes the same book and the same index of
each form, byte for byte."""

import functools
import io
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import chess
import chess.pgn

from paths import SHARED, folder
from procs import run_ok
from runner import case

PACKED = SHARED / "data" / "pgn" / "twic1599_1000k.pgn.zst"
ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")

# What stands between two tags.
TAG_ENDS = {
    "lines": ["\n"],
    "one line": [" "],
    "gaps": ["\n", "\n", "\n\n"],
    "notes": ["\n", "\n{a note}\n", "\n; [Event \"no\"]\n", "\n% [Event \"no\"]\n", " ; aside\n"],
}
COMMENTS = {
    "clocks": ["{[%clk 1:29:57]}", "{ [%emt 0:00:03] }"],
    "arrows": ["{[%cal Ge2e4,Rd1d8] [%csl Gd4]}"],
    "brackets": ["{[Event \"no\"]}", "{(see [1])}", "{a { b}", "{]}"],
    "tags": ["{see\n[Event \"Old\"]\n[Site \"x\"] for more}", "{\n[Result \"0-1\"]}"],
    "games": ["{the game\n\n[Event \"Old\"]\n[Site \"x\"]\n\n1. d4 1-0} "],
    "lines": [" ; 1-0 {\n", "\n% 0-1 {\n", " ;[Event \"no\"]\n"],
    "odd": ["{}", "{; *}", "{1/2-1/2\n\n}", "{$1 ( }"],
}
COMMENTS["all"] = [one for kind in list(COMMENTS.values()) for one in kind]
NAGS = ["!", "?!", " $1", " $14", " $142", "!?"]
RESULTS = {
    "plain": lambda result: result,
    "spaced": lambda result: result.replace("-", " - "),
    "dashes": lambda result: result.replace("-", "\u2013"),
    "colons": lambda result: result.replace("-", ":"),
    "decimals": lambda result: result.replace("1/2", "0.5"),
    "halves": lambda result: result.replace("1/2", "\u00bd"),
}
RESULT_PLACES = {"same line": " ", "own line": "\n", "after a gap": "\n\n", "glued": "", "after a comment": " {end} "}
NUMBERS = {"usual": ". ", "close": ".", "wide": ".\u00a0", "none": None, "each": ". "}

# What differs from the plain form.
FORMS: list[tuple[str, dict]] = [
    ("plain", {}),
    ("sorted", {"order": "sorted"}),
    ("reversed", {"order": "reversed"}),
    ("shuffled", {"order": "shuffled"}),
    ("Event last", {"order": "last"}),
    ("no Event", {"order": "none"}),
    ("no Event, sorted, old line ends", {"order": "none sorted", "line": "\r"}),
    ("Event twice", {"order": "twice"}),
    ("upper case", {"case": str.upper}),
    ("lower case", {"case": str.lower, "order": "shuffled"}),
    *[(f"tags: {ends}", {"tags": ends, "order": "shuffled"}) for ends in TAG_ENDS if ends != "lines"],
    ("no gap after the tags", {"after": "\n"}),
    ("moves after the tags", {"after": " "}),
    *[(f"line ends {line!r}", {"line": line}) for line in ("\r\n", "\r", "\r\r\n")],
    ("mail", {"mail": True}),
    *[(f"results: {form}", {"result": form}) for form in RESULTS if form != "plain"],
    *[(f"results: {place}", {"place": place}) for place in RESULT_PLACES if place != "same line"],
    ("no tag Result", {"stated": None}),
    ("Result *", {"stated": "*"}),
    *[(f"numbers: {form}", {"numbers": form}) for form in ("close", "wide", "none", "each")],
    *[(f"comments: {kind}", {"comments": kind}) for kind in ("tags", "games", "lines", "all")],
    ("variations and glyphs", {"variations": True, "nags": True}),
    ("gaps between moves", {"gaps": True, "wrap": 30}),
    ("no gap between games", {"end": "\n", "order": "sorted"}),
    ("games on one line", {"end": " ", "tags": "one line", "after": " ", "wrap": 10_000}),
    *[(f"all at random {seed}", {"seed": seed}) for seed in range(1, 6)],
]


def _options(number: int, options: dict) -> dict:
    """All options of a form; those of the last forms are drawn."""
    plain = {
        "order": "as is", "case": str, "tags": "lines", "after": "\n\n", "line": "\n", "mail": False,
        "result": "plain", "place": "same line", "stated": "yes", "numbers": "usual", "comments": None,
        "variations": False, "nags": False, "gaps": False, "wrap": 79, "end": "\n\n",
    }  # fmt: skip
    return {**plain, **options, "random": random.Random(number)}


def _drawn(options: dict) -> dict:
    """The options of one game, of a form in which each game has another one."""
    if "seed" not in options:
        return options
    draw = options["random"].choice
    return {
        **options,
        "order": draw(["as is", "sorted", "reversed", "shuffled", "last", "twice"]),
        "case": draw([str, str, str.upper, str.lower]),
        "tags": draw(list(TAG_ENDS)),
        "after": draw(["\n\n", "\n", " "]),
        "result": draw(list(RESULTS)),
        "place": draw(list(RESULT_PLACES)),
        "stated": draw(["yes", "*", None]),
        "numbers": draw(list(NUMBERS)),
        "comments": draw(list(COMMENTS)),
        "variations": draw([True, False]),
        "nags": draw([True, False]),
        "gaps": draw([True, False]),
        "wrap": draw([30, 79, 10_000]),
        "end": draw(["\n\n", "\n", "\n\n\n"]),
    }


def _tags(game: chess.pgn.Game, options: dict) -> str:
    draw = options["random"]
    tags = list(game.headers.items())
    order, stated = options["order"], options["stated"]
    if stated != "yes":
        tags = [(name, stated if name == "Result" else value) for name, value in tags]
        tags = [(name, value) for name, value in tags if value is not None]
    if "sorted" in order:
        tags.sort()
    elif order == "reversed":
        tags.reverse()
    elif order == "shuffled":
        draw.shuffle(tags)
    if order == "last":
        tags.sort(key=lambda tag: tag[0] == "Event")
    if "none" in order:
        tags = [tag for tag in tags if tag[0] != "Event"]
    if order == "twice":
        tags.insert(0, ("Event", "first"))
    # After an empty line, a second Event begins another game.
    ends = TAG_ENDS["lines" if order == "twice" else options["tags"]]
    written = [f'[{options["case"](name)} "{value}"]' for name, value in tags]
    text = "".join(tag + draw.choice(ends) for tag in written[:-1])
    return text + written[-1] + options["after"]


@dataclass
class Ply:
    number: int
    is_white: bool
    san: str
    # Another legal move, at one ply of ten.
    other: Optional[str]


@functools.cache
def _plies(game: chess.pgn.Game) -> list[Ply]:
    """The moves of the game: finding out how they are written takes most of the time, and
    all forms need it."""
    draw, board, plies = random.Random(game.headers["White"]), game.board(), []
    for move in game.mainline_moves():
        other = board.san(draw.choice(list(board.legal_moves))) if draw.random() < 0.1 else None
        plies.append(Ply(board.fullmove_number, board.turn, board.san(move), other))
        board.push(move)
    return plies


def _moves(game: chess.pgn.Game, options: dict) -> str:
    draw = options["random"]
    words = []
    glyph = False
    for ply in _plies(game):
        dots, number = NUMBERS[options["numbers"]], ply.number
        word = ""
        if dots is not None and ply.is_white:
            word = f"{number}{dots}"
        elif options["numbers"] == "each":
            word = f"{number}... "
        word += ply.san
        if glyph := options["nags"] and draw.random() < 0.2:
            word += draw.choice(NAGS)
        if options["comments"] and draw.random() < 0.2:
            word += draw.choice(COMMENTS[options["comments"]])
        if options["variations"] and ply.other:
            word += f" ({number}{'.' if ply.is_white else '...'} {ply.other} {{or so}})"
        words.append(word)
    result = game.headers["Result"]
    # What follows a glyph could belong to its number.
    form = "plain" if glyph and options["place"] == "glued" else options["result"]
    ending = RESULT_PLACES[options["place"]] + RESULTS[form](result)
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) >= options["wrap"]:
            lines.append(line)
            line = ""
            # Before the number of a move.
            if options["gaps"] and word[0].isdigit() and "." in word:
                lines.append("")
        line += (" " if line else "") + word
    return "\n".join([*lines, line]) + ending + options["end"]


def _written(games: list[chess.pgn.Game], options: dict) -> str:
    text = ""
    for game in games:
        one = _drawn(options)
        text += _tags(game, one) + _moves(game, one)
    if options["mail"]:
        text = "".join(f"> {line}\n" for line in text.splitlines())
    return text.replace("\n", options["line"])


def _made(text: str, place: Path) -> tuple[dict[str, bytes], str]:
    """The files of book and index, and the messages. (An index contains the path of its
    source, so all are made in one folder.)"""
    source = place / "games.pgn"
    source.write_bytes(text.encode())
    messages = ""
    for arguments in (
        ["build", "--max-ply", "400", "-o", place / "book.ctg"],
        ["index", "--max-ply", "400", "-o", place / "games.tgx"],
    ):
        done = run_ok(*arguments, "--strict", source, limit=120)
        messages += done.stderr
    files = {path.name: path.read_bytes() for path in sorted(place.iterdir()) if path != source}
    assert len(files) == 4, list(files)
    for name in files:
        (place / name).unlink()
    return files, messages


def _games(text: str) -> list[chess.pgn.Game]:
    stream, games = io.StringIO(text), []
    while (game := chess.pgn.read_game(stream)) is not None:
        assert not game.errors, game.errors
        games.append(game)
    return games


def _without_event(text: str) -> str:
    """The value that python-chess and others give a game without that tag."""
    lines = text.splitlines(keepends=True)
    return "".join('[Event "?"]\n' if line.startswith("[Event ") else line for line in lines)


@case(900, needs_shared=True)
def forms_of_the_same_games_make_the_same_book_and_index():
    command = ["zstd", "-dcq", "--long=27", PACKED]
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    games = _games(text)
    assert len(games) == 1110 and len(FORMS) >= 40, (len(games), len(FORMS))
    place = folder("forms")
    original: dict[Optional[bool], dict[str, bytes]] = {
        False: _made(text, place)[0],
        True: _made(_without_event(text), place)[0],
    }
    assert original[False] != original[True]
    different = []
    for number, (name, options) in enumerate(FORMS):
        options = _options(number, options)
        written = _written(games, options)
        files, messages = _made(written, place)
        expected = original["none" in options["order"]]
        wrong = [file for file, content in files.items() if content != expected[file]]
        if wrong:
            different.append((name, wrong, messages[-300:]))
    assert not different, different
    return f"{len(FORMS)} forms of {len(games)} games"
