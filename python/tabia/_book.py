"""Open books, with the interface of ``chess.polyglot``."""

from __future__ import annotations

import json
import operator
import os
import random as _random
import sys
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any, Container, Iterator, Optional, Type, TypeVar, Union

from tabia._native import Entry, NativeBook, Policy
from tabia.errors import BookError, BookWarning, PositionError

if TYPE_CHECKING:
    import chess
    from typing_extensions import Unpack

    from tabia._native import _PolicyOptions

    Position = Union["chess.Board", str]
    Asked = Union["chess.Board", str, int]

T = TypeVar("T")

StrOrBytesPath = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

#: The start position, for programs without a board.
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


_WEIGHT = operator.attrgetter("weight")


def _randint(rng: Optional[_random.Random], a: int, b: int) -> int:
    return _random.randint(a, b) if rng is None else rng.randint(a, b)


class Book:
    """A book of any format; made by :func:`open_book`.

    Positions are boards of python-chess or FENs; a ``.bin`` and an ``.abk``
    also take Polyglot keys. A ``.bin`` answers as ``chess.polyglot`` does, bit
    for bit. In the others the weight of an entry is the probability that the
    adapter plays it: 65,535 for the likeliest, 0 if it is never played; the
    greatest weight comes first.

    Books may be used from several threads.
    """

    def __init__(
        self,
        path: StrOrBytesPath,
        *,
        policy: Optional[Policy] = None,
        weights: str = "probability",
        strict: bool = False,
        **options: Unpack[_PolicyOptions],
    ) -> None:
        if policy is not None and options:
            raise TypeError("either policy=... or its options, not both")
        #: The policy of look-ups without their own.
        self.policy = Policy(**options) if policy is None else policy
        #: The path of the file.
        self.path = os.fsdecode(path)
        self.strict = strict
        self._native = NativeBook(self.path, weights)

    def __repr__(self) -> str:
        return f"<tabia.Book {self.path!r}>"

    def __enter__(self) -> Book:
        return self

    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    @property
    def format(self) -> str:
        """``"ctg"``, ``"bin"`` or ``"abk"``.

        >>> import tabia
        >>> tabia.open_book("tabia.ctg").format
        'ctg'
        """
        return self._native.format

    def notices(self) -> list[str]:
        """Problems of the files, one sentence each.

        >>> import tabia
        >>> tabia.open_book("tabia.ctg").notices()
        []
        """
        return self._native.notices()

    def _entries(
        self,
        board: Asked,
        minimum_weight: float,
        exclude_moves: Container[Any],
        policy: Optional[Policy],
    ) -> list[Entry]:
        try:
            entries = self._native.entries(
                board, self.policy if policy is None else policy, minimum_weight
            )
        except BookError as error:
            self._skip(error)
            return []
        if exclude_moves:
            entries = [entry for entry in entries if entry.move not in exclude_moves]
        return entries

    def _best(
        self,
        board: Asked,
        minimum_weight: float,
        exclude_moves: Container[Any],
        policy: Optional[Policy],
    ) -> Optional[Entry]:
        if exclude_moves:
            entries = self._entries(board, minimum_weight, exclude_moves, policy)
            return max(entries, key=_WEIGHT, default=None)
        try:
            return self._native.best(
                board, self.policy if policy is None else policy, minimum_weight
            )
        except BookError as error:
            self._skip(error)
            return None

    def _skip(self, error: BaseException) -> None:
        if self.strict or not isinstance(error, BookError):
            raise error
        # The warning names the line of the caller, however many functions of this file are between.
        depth, frame = 1, sys._getframe()
        while frame.f_back and frame.f_code.co_filename == __file__:
            depth, frame = depth + 1, frame.f_back
        warnings.warn(str(error), BookWarning, stacklevel=depth)

    def find_all(
        self,
        board: Asked,
        *,
        minimum_weight: float = 1.0,
        exclude_moves: Container[Any] = (),
        policy: Optional[Policy] = None,
    ) -> Iterator[Entry]:
        """The entries of a position.

        Damaged parts are skipped with a :class:`tabia.BookWarning`; they raise an
        exception if the book was opened with ``strict=True``.

        >>> import tabia
        >>> book = tabia.open_book("tabia.ctg")
        >>> entries = list(book.find_all(tabia.START, policy=tabia.Policy(variety=100)))
        >>> all(entry.weight == 65535 for entry in entries)
        True
        """
        found = self._native.find(
            board, self.policy if policy is None else policy, minimum_weight, self
        )
        if exclude_moves:
            return filter(lambda entry: entry.move not in exclude_moves, found)
        return found

    def find(
        self,
        board: Asked,
        *,
        minimum_weight: float = 1.0,
        exclude_moves: Container[Any] = (),
        policy: Optional[Policy] = None,
    ) -> Entry:
        """The entry with the greatest weight, the first among equals;
        ``IndexError`` if there is none.

        >>> import tabia
        >>> tabia.open_book("tabia.ctg").find("8/8/8/8/8/4k3/8/4K3 w - - 0 1")
        Traceback (most recent call last):
        ...
        IndexError
        """
        best = self.get(
            board, minimum_weight=minimum_weight, exclude_moves=exclude_moves, policy=policy
        )
        if best is None:
            raise IndexError()
        return best

    def get(
        self,
        board: Asked,
        default: Optional[T] = None,
        *,
        minimum_weight: float = 1.0,
        exclude_moves: Container[Any] = (),
        policy: Optional[Policy] = None,
    ) -> Union[Entry, Optional[T]]:
        """As :meth:`find`, with a default.

        >>> import tabia
        >>> tabia.open_book("tabia.ctg").get("8/8/8/8/8/4k3/8/4K3 w - - 0 1", "none")
        'none'
        """
        try:
            best = self._best(board, minimum_weight, exclude_moves, policy)
        except PositionError:
            raise
        except ValueError:
            # A closed book behaves as in python-chess.
            return default
        return default if best is None else best

    def choice(
        self,
        board: Asked,
        *,
        minimum_weight: float = 1.0,
        exclude_moves: Container[Any] = (),
        random: Optional[_random.Random] = None,
        policy: Optional[Policy] = None,
    ) -> Entry:
        """A random entry, all equally likely; ``IndexError`` if there is none.

        >>> import random, tabia
        >>> entry = tabia.open_book("tabia.ctg").choice(tabia.START, random=random.Random(1))
        >>> entry.weight > 0
        True
        """
        chosen = None
        entries = self._entries(board, minimum_weight, exclude_moves, policy)
        for i, entry in enumerate(entries):
            if chosen is None or _randint(random, 0, i) == i:
                chosen = entry
        if chosen is None:
            raise IndexError()
        return chosen

    def weighted_choice(
        self,
        board: Asked,
        *,
        exclude_moves: Container[Any] = (),
        random: Optional[_random.Random] = None,
        policy: Optional[Policy] = None,
    ) -> Entry:
        """A random entry by weight; ``IndexError`` if there is none.

        >>> import tabia
        >>> book = tabia.open_book("tabia.ctg", variety=0)
        >>> book.weighted_choice(tabia.START) == book.find(tabia.START)
        True
        """
        entries = self._entries(board, 1.0, exclude_moves, policy)
        total = sum(entry.weight for entry in entries)
        if not total:
            raise IndexError()
        drawn = _randint(random, 0, total - 1)
        passed = 0
        for entry in entries:
            passed += entry.weight
            if passed > drawn:
                return entry
        raise AssertionError

    def probe(self, board: Position, *, policy: Optional[Policy] = None) -> dict[str, Any]:
        """All data of the book about a position: the object that
        ``tabia probe --json`` prints.

        >>> import tabia
        >>> found = tabia.open_book("tabia.ctg").probe(tabia.START)
        >>> found["in_book"], found["moves"][0]["probability"] > 0
        (True, True)
        """
        text = self._native.probe(board, self.policy if policy is None else policy)
        found: dict[str, Any] = json.loads(text)
        return found

    def positions(self) -> Iterator[str]:
        """The FENs of all positions of the book, as it stores them: in a ``.ctg`` White is
        to move, because a position and the one with colours exchanged share an entry. In a
        ``.bin`` those are found to which a line of moves leads. Damage is skipped as in
        :meth:`find_all`.

        >>> import tabia
        >>> book = tabia.open_book("tabia.ctg")
        >>> sum(1 for fen in book.positions()) > 100
        True
        """
        found = self._native.positions()
        while True:
            try:
                yield next(found)
            except StopIteration:
                return
            except BookError as error:
                self._skip(error)

    def bisect_key_left(self, key: int) -> int:
        """The first index with that Polyglot key; not for a ``.ctg``."""
        if key < 0:
            return 0
        return self._native.bisect(key) if key < 1 << 64 else len(self)

    def __len__(self) -> int:
        return self._native.len()

    def __getitem__(self, index: int) -> Entry:
        index = operator.index(index)
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError()
        return self._native.at(index)

    def __iter__(self) -> Iterator[Entry]:
        for index in range(len(self)):
            yield self[index]

    def __contains__(self, entry: Entry) -> bool:
        return any(
            current == entry for current in self.find_all(entry.key, minimum_weight=entry.weight)
        )

    # A book without keys is not an empty list.
    def __bool__(self) -> bool:
        return True

    def close(self) -> None:
        """Closes the files; may be called twice.

        >>> import tabia
        >>> book = tabia.open_book("tabia.ctg")
        >>> book.close()
        >>> list(book.find_all(tabia.START))
        Traceback (most recent call last):
        ...
        ValueError: mmap closed or invalid
        """
        self._native.close()


def open_book(
    path: StrOrBytesPath,
    *,
    policy: Optional[Policy] = None,
    weights: str = "probability",
    strict: bool = False,
    **options: Unpack[_PolicyOptions],
) -> Book:
    """Opens a ``.ctg``, ``.bin``, ``.abk``, ``.bkt`` or ``.obk``, recognized by its content.

    ``policy``, or its options by name, is the policy of look-ups without their
    own; ``weights`` is the source of weights if the format stores none:
    ``"probability"``, ``"games"`` or ``"score"`` (twice the wins and the draws).
    With ``strict`` damage raises an exception.

    >>> import tabia
    >>> with tabia.open_book("tabia.ctg", variety=30) as book:
    ...     entry = book.find("startpos")
    ...     print(entry.weight, entry.games > 0)
    65535 True
    """
    return Book(path, policy=policy, weights=weights, strict=strict, **options)
