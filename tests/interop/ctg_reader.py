"""A reader of ChessBase opening books, written from docs/ctg.md alone.

It uses only that page and the table of move bytes linked there, which
shows that the page is complete. It knows no rules of chess.

    ctg_reader.py BOOK.ctg          every entry, one JSON object per line
    ctg_reader.py BOOK.ctg FEN      one position
"""

import csv
import json
import sys
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

PAGE = 4096
MOVES = Path(__file__).resolve().parents[2] / "crates/book/tests/data/ctg/moves.csv"

# Squares are numbered in the order of the format: a1, a2, ... a8, b1, ... h8.
CODES = {
    "0": ".",
    "110": "P", "10110": "R", "10100": "B", "10010": "N", "100010": "Q", "100000": "K",
    "111": "p", "10111": "r", "10101": "b", "10011": "n", "100011": "q", "100001": "k",
}
BITS = {man: code for code, man in CODES.items()}
RIGHTS = {"K": 2, "Q": 1, "k": 8, "q": 4}

K = [int(word, 16) for word in """
3100d2bf 3118e3de 34ab1372 2807a847 1633f566 2143b359 26d56488 3b9e6f59
37755656 3089ca7b 18e92d85 0cd0e9d8 1a9e3b54 3eaa902f 0d9bfaae 2f32b45b
31ed6102 3d3c8398 146660e3 0f8d4b76 02c77a5f 146c8799 1c47f51f 249f8f36
24772043 1fbc1e4d 1e86b3fa 37df36a6 16ed30e4 02c3148e 216e5929 0636b34e
317f9f56 15f09d70 131026fb 38c784b1 29ac3305 2b485dc5 3c049ddc 35a9fbcd
31d5373b 2b246799 0a2923d3 08a96e9d 30031a9f 08f525b5 33611c06 2409db98
0ca4feb2 1000b71e 30566e32 39447d31 194e3752 08233a95 0f38fe36 29c7cd57
0f7b3a39 328e8a16 1e7d1388 0fba78f5 274c7e7c 1e8be65c 2fa0b0bb 1eb6c371
""".split()]

STEPS = {}
with open(MOVES, newline="") as table:
    for row in csv.DictReader(table):
        castling = {"O-O": ("K", 1, 0, 2), "O-O-O": ("K", 1, 0, -2)}.get(row["piece"])
        step = castling or (row["piece"], *(int(row[name]) for name in ("index", "forward", "right")))
        STEPS[int(row["byte"], 16)] = step


class Damage(Exception):
    """The book contains invalid data."""


def big(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise Damage(f"byte {at}: the data ends")
    return int.from_bytes(data[at:at + size], "big")


class Board(NamedTuple):
    """A position in the canonical form: White is to move."""

    men: str  # 64 characters, `.` is empty
    rights: int
    en_passant: Optional[int]  # a file, 0 = a

    @staticmethod
    def of_fen(fen: str) -> "Board":
        """The normalised position of a FEN, whose en passant square must have a legal capture."""
        rows, turn, castling, en_passant = fen.split()[:4]
        ranks = []
        for row in rows.split("/"):
            ranks.append("".join("." * int(c) if c.isdigit() else c for c in row))
        if turn == "w":
            ranks.reverse()
        else:
            ranks = [rank.swapcase() for rank in ranks]
            castling = castling.swapcase()
        rights = sum(RIGHTS.get(letter, 0) for letter in castling)
        men = ["".join(rank[file] for rank in ranks) for file in range(8)]
        file = None if en_passant == "-" else "abcdefgh".index(en_passant[0])
        if rights == 0 and any("K" in column for column in men[:4]):
            men.reverse()
            file = None if file is None else 7 - file
        return Board("".join(men), rights, file)

    def fen(self) -> str:
        rows = []
        for rank in range(7, -1, -1):
            row, empty = "", 0
            for man in self.men[rank::8]:
                if man == ".":
                    empty += 1
                    continue
                row, empty = row + (str(empty) if empty else "") + man, 0
            rows.append(row + (str(empty) if empty else ""))
        castling = "".join(letter for letter, bit in RIGHTS.items() if self.rights & bit)
        square = "-" if self.en_passant is None else "abcdefgh"[self.en_passant] + "6"
        return f"{'/'.join(rows)} w {castling or '-'} {square} 0 1"

    def key(self) -> bytes:
        board = "".join(BITS[man] for man in self.men)
        tail, first = "", 0
        if self.en_passant is not None:
            tail, first = f"{self.en_passant:03b}", 0x20
        if self.rights:
            tail, first = tail + f"{self.rights:04b}", first | 0x40
        padding = -(len(board) + len(tail)) % 8
        if not tail and padding == 0:
            padding = 8
        bits = board + "0" * padding + tail
        body = int(bits, 2).to_bytes(len(bits) // 8, "big")
        return bytes([first | len(body) + 1]) + body

    @staticmethod
    def of_key(key: bytes) -> "Board":
        bits = "".join(f"{byte:08b}" for byte in key[1:])
        men, at = "", 0
        while len(men) < 64:
            size = next((n for n in range(1, 7) if bits[at:at + n] in CODES), None)
            if size is None or at + size > len(bits):
                raise Damage(f"key {key.hex()}: no board")
            men += CODES[bits[at:at + size]]
            at += size
        last, rights, file = key[-1], 0, None
        if key[0] & 0x40:
            rights, last = last & 15, last >> 4
        if key[0] & 0x20:
            file = last & 7
        return Board(men, rights, file)

    def move(self, byte: int) -> Optional[str]:
        """Converts a move byte to UCI notation on the normalised board."""
        if byte not in STEPS:
            return None
        man, number, forward, right = STEPS[byte]
        places = [square for square, at in enumerate(self.men) if at == man]
        if number > len(places):
            return None
        file, rank = divmod(places[number - 1], 8)
        to_file, to_rank = (file + right) % 8, (rank + forward) % 8
        names = [f"{'abcdefgh'[f]}{r + 1}" for f, r in ((file, rank), (to_file, to_rank))]
        return names[0] + names[1] + ("q" if man == "P" and to_rank == 7 else "")


def hash_of(key: bytes) -> int:
    t = h = 0
    for byte in key:
        for half in (byte & 15, byte >> 4):
            t += 61 - 4 * half
            h += K[t % 64]
    return h % 2**32


class Entry(NamedTuple):
    key: bytes
    moves: list  # (move byte, annotation byte)
    numbers: dict


def entry_at(page: bytes, at: int, end: int) -> tuple[Entry, int]:
    key = page[at:at + (page[at] & 31)]
    at += len(key)
    size = big(page, at, 1)
    if not key or size % 2 == 0 or at + size + 33 > end:
        raise Damage(f"byte {at} of the page: no entry")
    pairs = page[at + 1:at + size]
    at += size
    numbers = {
        "games": big(page, at, 3), "wins": big(page, at + 3, 3),
        "losses": big(page, at + 6, 3), "draws": big(page, at + 9, 3),
        "points": big(page, at + 12, 4),
        "own_rated": big(page, at + 16, 3), "own_rating_sum": big(page, at + 19, 4),
        "other_rated": big(page, at + 23, 3), "other_rating_sum": big(page, at + 26, 4),
        "recommendation": page[at + 30],
        "factor": int.from_bytes(page[at + 31:at + 32], "big", signed=True),
        "commentary": page[at + 32],
    }
    return Entry(key, list(zip(pairs[::2], pairs[1::2])), numbers), at + 33


class Book:
    def __init__(self, path: Path):
        self.ctg = path.read_bytes()
        if self.ctg[:4] != b"\x00\x20\x10\x00":
            raise Damage(f"{path}: not a ChessBase book")
        self.cto = path.with_suffix(".cto").read_bytes()
        self.ctb = path.with_suffix(".ctb").read_bytes()
        self.games = big(self.ctg, 28, 4)
        self.pages = min(big(self.ctg, 16, 4), len(self.ctg) // PAGE - 1)

    def page(self, number: int) -> Iterator[Entry]:
        page = self.ctg[PAGE * (number + 1):PAGE * (number + 2)]
        count, used, at = big(page, 0, 2), big(page, 2, 2), 4
        for _ in range(count):
            entry, at = entry_at(page, at, used)
            yield entry

    def entries(self) -> Iterator[Entry]:
        for number in range(self.pages):
            yield from self.page(number)

    def find(self, key: bytes) -> Optional[Entry]:
        """Finds an entry by the index: reads the only page that can contain the key."""
        h, slots = hash_of(key), big(self.cto, 4, 4)
        lower, upper = big(self.ctb, 4, 4), big(self.ctb, 8, 4)
        for level in range(33):
            n = 2**level - 1
            slot = (h & n) + n
            if slot >= slots:
                return None
            if slot < lower:
                continue
            number = big(self.cto, 16 + 4 * slot, 4)
            if number != 0xFFFFFFFF:
                return next((entry for entry in self.page(number) if entry.key == key), None)
            if slot >= upper:
                return None
        return None


def shown(entry: Entry) -> dict:
    board = Board.of_key(entry.key)
    moves = [{"uci": board.move(byte), "annotation": note} for byte, note in entry.moves]
    return {"fen": board.fen(), **entry.numbers, "moves": moves}


def main() -> int:
    book = Book(Path(sys.argv[1]))
    if len(sys.argv) == 2:
        for entry in book.entries():
            print(json.dumps(shown(entry)))
        return 0
    entry = book.find(Board.of_fen(" ".join(sys.argv[2:])).key())
    if entry is None:
        return 1
    print(json.dumps(shown(entry)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
