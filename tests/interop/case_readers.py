"""PGN that our commands write, read by the readers that people use."""

import io
import json
import random
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot

from npm import MODULES
from paths import POLYGLOT, ROOT, STARTER, _program, folder
from procs import run_ok
from runner import case

PGN_EXTRACT = _program("pgn-extract")
SAMPLE = ROOT / "tests" / "data" / "sample.pgn"

# What makes a reader refuse a game; all else it must read. docs/databases.md has the same
# table.
NULL, NULL_IN_LINE = "null move", "null move on the main line"
CHESS960, SET_UP = "Chess960", "set-up position"
TAG_NAME, TAG_VALUE = "tag name of more than letters", "quotation mark in a tag"
NO_MOVES = "comment without moves"
REFUSES = {
    "chess.js": {NULL, CHESS960, TAG_NAME, TAG_VALUE},
    "chessops": set(),
    "kokopu": set(),
    "cm-pgn": {NULL, NO_MOVES},
    "@mliebelt/pgn-parser": set(),
    "pgn-parser": {TAG_VALUE},
    "@jackstenglein/chess": {CHESS960},
    "pgn-extract": {NULL_IN_LINE},
    "polyglot": {NULL, SET_UP},
    "scid": set(),
}


class Expected:
    """A game as python-chess reads it."""

    def __init__(self, text: str):
        game = chess.pgn.read_game(io.StringIO(text))
        assert game and not game.errors, (game and game.errors, text)
        self.text, self.game = text, game
        self.plies = game.end().ply() - game.ply()
        comments, self.moves = [game.comment], 0
        self.reasons = set()

        def walk(line):
            while line.variations:
                main, *others = line.variations
                for node in (main, *others):
                    self.moves += 1
                    if not node.move:
                        self.reasons |= {NULL, NULL_IN_LINE} if node.is_mainline() else {NULL}
                    comments.extend([node.starting_comment, node.comment])
                    if node is not main:
                        walk(node)
                line = main

        walk(game)
        some = [" ".join(comment.split()) for comment in comments if comment.strip()]
        self.commented, self.texts = len(some), [text for text in some if "[%" not in text]
        headers = game.headers
        self.reasons |= {CHESS960} if game.board().chess960 else set()
        self.reasons |= {SET_UP} if "FEN" in headers else set()
        self.reasons |= {TAG_NAME} if any(not name.isalpha() for name in headers) else set()
        self.reasons |= {TAG_VALUE} if any('"' in value for value in headers.values()) else set()
        self.reasons |= {NO_MOVES} if game.comment and not self.moves else set()

    def agrees(self, found: dict) -> bool:
        """Whether a reader found this game; what it does not keep is missing. A comment need
        not be met in our order."""
        known = {**found, "texts": sorted(found["texts"])} if "texts" in found else found
        mine = {"plies": self.plies, "moves": self.moves, "commented": self.commented, "texts": sorted(self.texts)}
        return all(mine[key] == value for key, value in known.items())


def games_in(path: Path) -> list[Expected]:
    """The games of a file; python-chess reads them without an error."""
    return [Expected(text) for text in split(path.read_text())]


def split(text: str) -> list[str]:
    return [one.rstrip() + "\n\n" for one in re.split(r"\n\n(?=\[Event )", text) if one.strip()]


def by_npm(reader: str, games: list[Expected], work: Path) -> list[dict]:
    path = work / "games.pgn"
    path.write_text("".join(one.text for one in games))
    script = Path(__file__).parent / "npm" / "read_pgn.mjs"
    done = subprocess.run(["node", script, MODULES, reader, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def by_pgn_extract(games: list[Expected], work: Path) -> list[dict]:
    found = []
    for one in games:
        (work / "one.pgn").write_text(one.text)
        done = subprocess.run([PGN_EXTRACT, "-s", work / "one.pgn"], capture_output=True, text=True)
        # It puts an empty line behind a comment before the first move.
        head, _, moves = done.stdout.partition("\n\n")
        text = f"{head}\n\n{' '.join(moves.split())}\n\n"
        found.append(counts(text) if moves else {"error": done.stderr})
    return found


def by_scid(games: list[Expected], work: Path) -> list[dict]:
    """Debian's Scid, version 4: imports all games and writes each."""
    (work / "games.pgn").write_text("".join(one.text for one in games))
    script = work / "read.tcl"
    script.write_text("""
        fconfigure stdout -encoding utf-8
        set base [sc_info clipbase]
        sc_base import $base games.pgn
        sc_base switch $base
        for {set n 1} {$n <= [sc_base numGames $base]} {incr n} {
            sc_game load $n
            puts "[sc_game pgn -width 70 -comments 1 -variations 1]\\n"
        }
        exit
    """)
    program = shutil.which("tkscid", path="/usr/games:/usr/bin")
    done = subprocess.run([program, script], cwd=work, capture_output=True, text=True, timeout=200)
    texts = split(done.stdout)
    assert len(texts) == len(games), (done.stdout[-500:], done.stderr)
    return [counts(text) for text in texts]


def counts(text: str) -> dict:
    one = Expected(text)
    return {"plies": one.plies, "moves": one.moves, "commented": one.commented, "texts": one.texts}


def by_polyglot(games: list[Expected], work: Path) -> list[dict]:
    """The entries of a book of each game tell whether it was read to its end."""
    found = []
    for one in games:
        (work / "one.pgn").write_text(one.text)
        book = work / "one.bin"
        book.unlink(missing_ok=True)
        command = [POLYGLOT, "make-book", "-pgn", "one.pgn", "-bin", "one.bin", "-max-ply", "9999", "-min-game", "1"]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True)
        if not book.exists():
            found.append({"error": done.stdout})
            continue
        entries, board = set(), one.game.board()
        losers = {"1-0": [chess.BLACK], "0-1": [chess.WHITE]}.get(one.game.headers["Result"], [])
        for move in one.game.mainline_moves():
            if board.turn not in losers:
                entries.add((chess.polyglot.zobrist_hash(board), move))
            board.push(move)
        is_whole = book.stat().st_size == 16 * len(entries)
        found.append({"plies": one.plies} if is_whole else {"error": "a part is missing"})
    return found


def judge(paths: list[Path], work: Path, is_every_row_met: bool = False) -> str:
    """Has all games of these files read by every reader."""
    games = [one for path in paths for one in games_in(path)]
    lines = []
    for reader, refused in REFUSES.items():
        by = {"pgn-extract": by_pgn_extract, "scid": by_scid, "polyglot": by_polyglot}.get(reader)
        found = by(games, work) if by else by_npm(reader, games, work)
        assert len(found) == len(games), (reader, len(found), len(games))
        is_read = ["error" not in answer and one.agrees(answer) for one, answer in zip(games, found)]
        for one, answer, is_good in zip(games, found, is_read):
            assert is_good or one.reasons & refused, (reader, answer, one.__dict__)
        for reason in refused if is_every_row_met else ():
            alone = [is_good for one, is_good in zip(games, is_read) if one.reasons & refused == {reason}]
            assert alone and not all(alone), (reader, reason, "the table says that it is refused")
        lines.append(f"{reader}: {sum(is_read)} of {len(games)}")
    return ", ".join(lines)


def annotated(rng: random.Random) -> str:
    """Games as annotators write them, in no order that a reader needs."""
    texts = []
    notes = ["good", "a (b", "c) d", "50% [x", "{ inside", "; no end", "[%clk 0:01:02]", "[%csl Ga1,Rb2] [%cal Ga1b2]",
             "[%eval 0.31,20] text", "[%broken", "[%broken]", "Größe 中文 ♞", "$5 1. e4", "word " * 40, "x" * 120, "%", "[Event "]

    # @mliebelt/pgn-parser keeps no commands of a comment before a move.
    texts_alone = [note for note in notes if "[%" not in note]

    def remarks() -> str:
        kinds = [f"${rng.randrange(256)}", "!?", f"{{{rng.choice(notes)}}}", f"{{{rng.choice(notes)}}}"]
        return " ".join(rng.choice(kinds) for _ in range(rng.randrange(4)))

    def line(board: chess.Board, plies: int, depth: int, nulls: bool) -> str:
        words = []
        for _ in range(plies):
            moves = list(board.legal_moves)
            if not moves:
                break
            number = f"{board.fullmove_number}{'.' if board.turn else '...'}"
            is_null = nulls and rng.random() < 0.1 and not board.is_check()
            move = chess.Move.null() if is_null else rng.choice(moves)
            words += [number, "--" if is_null else board.san(move), remarks()]
            while depth and rng.random() < 0.2:
                before = f"{{{rng.choice(texts_alone)}}} " if rng.random() < 0.3 else ""
                words += [f"({before}{line(board.copy(), rng.randrange(1, 6), depth - 1, nulls)})", remarks()]
            board.push(move)
        return " ".join(words)

    def game(tags: dict, board: chess.Board, moves: str, result: str = "*"):
        head = {"Event": f"Game {len(texts)}", "Result": result, **tags}
        if board.fen() != chess.STARTING_FEN:
            head |= {"SetUp": "1", "FEN": board.fen()}
        lines = "".join('[{} "{}"]\n'.format(name, value) for name, value in head.items())
        texts.append(f"{lines}\n{moves} {result}\n\n")

    for n in range(120):
        board = chess.Board() if n % 4 else chess.Board("r3k2r/pppq1ppp/8/8/8/8/PPPQ1PPP/R3K2R b KQkq - 3 17")
        before = f"{{{rng.choice(texts_alone)}}} " if rng.random() < 0.3 else ""
        moves = before + line(board.copy(), rng.randrange(1, 60), 3, n % 10 == 0)
        game({"WhiteElo": "2500"}, board, moves, rng.choice(["1-0", "0-1", "1/2-1/2", "*"]))
    start = chess.Board()
    game({}, start, "")
    game({}, start, "{only words}")
    game({}, start, "1. e4 e5 {before} (1... c5) {after} 2. Nf3")
    game({}, start, "1. d4 -- 2. c4")
    game({}, start, "1. d4 d5 (1... -- 2. c4) 2. c4")
    game({"White": 'The \\"Great\\" \\\\ One'}, start, "1. e4 e5")
    game({"Round_2": "1", "Tag-3": "2", "Annotator": "", "Source": "a [b] (c) {d} ; e"}, start, "1. e4 e5")
    # Castling with the rook on g1.
    game({"Variant": "Chess960"}, chess.Board("nrbqbkrn/pppppppp/8/8/8/8/PPPPPPPP/NRBQBKRN w GBgb - 0 1", chess960=True),
         "1. O-O e5 2. e4 Nb6")
    return "".join(texts)


@case(600)
def games_of_annotators_are_read_by_all_readers_after_we_wrote_them():
    work = folder("readers")
    raw = work / "raw.pgn"
    raw.write_text(annotated(random.Random(55)))
    run_ok("games", raw, "-o", work / "written.pgn")
    once = (work / "written.pgn").read_text()
    assert len(split(once)) == 128
    for name in ("a.si5", "a.dci"):
        run_ok("games", raw, "-o", work / name)
        run_ok("games", work / name, "-o", work / f"{name}.pgn")
    run_ok("games", work / "written.pgn", "-o", work / "again.pgn")
    assert (work / "again.pgn").read_text() == once
    first = judge([work / "written.pgn"], work, True)
    # The databases give the same moves and comments back.
    for name in ("a.si5", "a.dci"):
        bodies = [[text.split("\n\n")[1] for text in split(path.read_text())]
                  for path in (work / "written.pgn", work / f"{name}.pgn")]
        if name == "a.dci":
            bodies[0].pop()  # It has no Chess960.
        assert bodies[0] == bodies[1], name
    return first


def saved_by_the_page(path: Path) -> None:
    """What "Save PGN" writes for a tree with everything that a node can have."""
    page = ROOT / "crates" / "explorer" / "src" / "page"
    script = f"""
        import {{ toPgn }} from "{page}/pgn.js";
        import * as trees from "{page}/tree.js";
        let tree = {{ ...trees.empty(), tags: [["White", 'A "B"'], ["Tag-1", "x"]] }};
        const add = (at, uci, san, nags, comment) => {{
            const [next, id] = trees.add(tree, at, {{ uci, san, nags, comment }});
            tree = next;
            return id;
        }};
        tree = trees.note(tree, 0, {{ comment: "before {{all}}" }});
        const e4 = add(0, "e2e4", "e4", [1, 14], "a {{b}} [%clk 0:01:00] [%x " + "word ".repeat(40));
        const d4 = add(0, "d2d4", "d4", [], "");
        add(d4, "d7d5", "d5", [], "in a variation");
        const e5 = add(e4, "e7e5", "e5", [], "");
        add(e4, "c7c5", "c5", [6], "other");
        add(e5, "g1f3", "Nf3", [], "");
        process.stdout.write(toPgn(tree));
    """
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    path.write_text(done.stdout + "\n")


@case(600)
def all_commands_write_games_that_all_readers_read():
    work = folder("readers")
    lines = work / "lines.ctg"
    run_ok("build", SAMPLE, "-o", lines, "--max-ply", "24", limit=60)
    mine = work / "mine.pgn"
    mine.write_text("{mine} 1. d4 {a} d5 (1... Nf6 {b} 2. c4) {c} 2. c4 e6 (2... c6) {d} $1 3. Nc3 *\n\n")
    run_ok("convert", STARTER, work / "whole.pgn", "--max-ply", "14", limit=60)
    run_ok("convert", STARTER, work / "short.pgn", "--comments", "short", "--game-moves", "100", "--max-ply", "10", limit=60)
    run_ok("convert", lines, work / "lines.pgn", "--lines", "--min-games", "2", limit=60)
    run_ok("repertoire", STARTER, "--colour", "white", "-o", work / "study.pgn", limit=60)
    run_ok("repertoire", STARTER, "--colour", "black", "--one-in", "100", "-o", work / "black.pgn", limit=60)
    run_ok("repertoire", STARTER, "--colour", "white", "--from", mine, "--trim", "-o", work / "trimmed.pgn", limit=60)
    run_ok("suite", SAMPLE, "-o", work / "suite.pgn", "--plies", "8", "--count", "60", limit=60)
    run_ok("games", SAMPLE, "-o", work / "games.pgn")
    saved_by_the_page(work / "page.pgn")
    names = ["whole", "short", "lines", "study", "black", "trimmed", "suite", "games", "page"]
    paths = [work / f"{name}.pgn" for name in names]
    found = judge(paths, work)
    assert all(path.stat().st_size > 0 for path in paths)
    return found
