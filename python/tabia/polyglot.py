"""The functions of ``chess.polyglot``, for books of every format.

>>> import tabia.polyglot as polyglot        # instead of chess.polyglot
>>> with polyglot.open_reader("tabia.ctg") as reader:
...     reader.find("startpos").weight
65535
"""

from __future__ import annotations

from typing import Any

from tabia._book import Book as MemoryMappedReader
from tabia._book import open_book as open_reader
from tabia._native import Entry

__all__ = ["Entry", "MemoryMappedReader", "install", "open_reader"]


def __getattr__(name: str) -> Any:
    # For zobrist_hash, POLYGLOT_RANDOM_ARRAY and ZobristHasher.
    import chess.polyglot

    return getattr(chess.polyglot, name)


def install() -> None:
    """Makes ``chess.polyglot.open_reader`` take books of every format, for
    programs that cannot be changed.

    >>> import pytest; _ = pytest.importorskip("chess")
    >>> import chess.polyglot, tabia.polyglot
    >>> original = chess.polyglot.open_reader
    >>> tabia.polyglot.install()
    >>> chess.polyglot.open_reader("tabia.ctg").format
    'ctg'
    >>> chess.polyglot.open_reader = original
    """
    import chess.polyglot

    setattr(chess.polyglot, "open_reader", open_reader)
