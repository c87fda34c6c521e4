"""Opening books of ChessBase (``.ctg``), Polyglot (``.bin``) and Arena
(``.abk``), with the interface of ``chess.polyglot``.

>>> import tabia
>>> with tabia.open_book("tabia.ctg") as book:
...     for entry in book.find_all(tabia.START):
...         print(entry.move, entry.games, f"{entry.probability:.0%}")  # doctest: +ELLIPSIS
d2d4 ...
"""

from tabia._book import START, Book, open_book
from tabia._native import Entry, Policy, __version__, build, convert, mark, undo_mark, verify
from tabia.errors import (
    BookError,
    BookNotFoundError,
    BookWarning,
    Error,
    PositionError,
    WriteError,
)

__all__ = [
    "START",
    "Book",
    "BookError",
    "BookNotFoundError",
    "BookWarning",
    "Entry",
    "Error",
    "Policy",
    "PositionError",
    "WriteError",
    "__version__",
    "build",
    "convert",
    "mark",
    "open_book",
    "undo_mark",
    "verify",
]
