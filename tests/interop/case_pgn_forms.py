"""A thousand real games, written as people write moves, are the games they were."""

import io
import subprocess

import chess
import chess.pgn

from places import SHARED, TABIA, folder
from procs import environment
from runner import case

PGN = SHARED / "data" / "pgn"
SOURCES = ["chesscore_Kramnik", "twic1599_1000k", "chesscore_Boris_Spassky"]
GAMES = 1000

LETTERS = {
    "German": "KDTLS",
    "French": "RDTFC",
    "Spanish": "RDTAC",
    "Russian": ["Кр", "Ф", "Л", "С", "К"],
    "Portuguese": "RDTBC",
    "Dutch": "KDTLP",
    "Polish": "KHWGS",
    "Czech": "KDVSJ",
    "Hungarian": "KVBFH",
    "figurines": "♔♕♖♗♘",
}
SIGNS = ["+-", "-+", "!?", "±", "=", "+=", "+/-", "!", "∞", "??", "⩲"]


def in_letters(letters):
    table = dict(zip("KQRBN", letters))
    return lambda board, move, _: "".join(table.get(c, c) for c in board.san(move))


def long(dash, promotion):
    """Long notation; `promotion` has the place of the piece."""

    def write(board, move, _):
        if board.is_castling(move):
            return board.san(move)
        piece = board.piece_at(move.from_square)
        name = "" if piece.piece_type == chess.PAWN else piece.symbol().upper()
        between = "x" if board.is_capture(move) else dash
        end = chess.square_name(move.to_square)
        if move.promotion:
            end += promotion % chess.piece_symbol(move.promotion).upper()
        return name + chess.square_name(move.from_square) + between + end

    return write


def short(promotion):
    def write(board, move, _):
        san = board.san(move)
        if not move.promotion:
            return san
        before, after = san.split("=")
        return before + promotion % after[0]

    return write


FORMS = {
    "with hyphens": long("-", "=%s"),
    "without hyphens": long("", "%s"),
    "coordinates": lambda board, move, _: board.uci(move),
    "glued signs": lambda board, move, count: board.san(move) + SIGNS[count % len(SIGNS)],
    "promotions =(Q)": short("=(%s)"),
    "promotions (Q)": short("(%s)"),
    "promotions /Q": short("/%s"),
    "promotions Q": short("%s"),
    **{name: in_letters(letters) for name, letters in LETTERS.items()},
}


def thousand():
    games = []
    for source in SOURCES:
        packed = PGN / f"{source}.pgn.zst"
        plain = subprocess.run(["zstd", "-dc", "--long=27", str(packed)], stdout=subprocess.PIPE, check=True)
        text = io.StringIO(plain.stdout.decode("latin-1"))
        while (game := chess.pgn.read_game(text)) is not None and len(games) < GAMES:
            if not game.errors and "FEN" not in game.headers and game.next():
                games.append(list(game.mainline_moves()))
    assert len(games) == GAMES, f"{len(games)} games only"
    return games


def written(games, form):
    out = []
    count = 0
    for number, moves in enumerate(games, 1):
        board = chess.Board()
        words = []
        for move in moves:
            if board.turn:
                words.append(f"{board.fullmove_number}.")
            words.append(form(board, move, count))
            count += 1
            board.push(move)
        text = " ".join(words)
        out.append(f'[Event "?"]\n[Round "{number}"]\n[Result "*"]\n\n{text} *\n\n')
    return "".join(out)


@case(600, needs_shared=True)
def a_thousand_games_in_each_form_are_the_games_they_were():
    games = thousand()
    told = []
    place = folder("pgn-forms")
    for name, form in FORMS.items():
        source, made = place / "in.pgn", place / "out.pgn"
        source.write_text(written(games, form), encoding="utf-8")
        done = subprocess.run(
            [TABIA, "games", "-f", str(source), "-o", str(made)],
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
        )
        assert done.returncode == 0, done.stderr
        same = named = 0
        text = io.StringIO(made.read_text(encoding="utf-8"))
        # A game that is not read as it was is named; all are there.
        short_games = done.stderr.count("game cut short: ")
        for wanted in games:
            found = list(chess.pgn.read_game(text).mainline_moves())
            if found == wanted:
                same += 1
            else:
                assert wanted[: len(found)] == found, (name, found)
                named += 1
        assert chess.pgn.read_game(text) is None
        assert named == 0 or f"{named} cut short" in done.stderr, (name, named, short_games, done.stderr)
        assert same >= GAMES - 5, (name, same, done.stderr)
        told.append(f"{name} {same}")
    return ", ".join(told)
