"""The exceptions of this package: all are :class:`Error`.

>>> import tabia
>>> try:
...     tabia.open_book("missing.ctg")
... except FileNotFoundError as error:
...     print(type(error).__name__, error.file)
BookNotFoundError missing.ctg
"""

from __future__ import annotations

import os
from typing import Optional, Union

__all__ = ["BookError", "BookNotFoundError", "BookWarning", "Error", "PositionError", "WriteError"]


class Error(Exception):
    """Anything that goes wrong with a book.

    ``file`` is the path, ``page`` the page of a ``.ctg`` (0 follows the
    header), ``byte`` the offset in the file, each ``None`` where unknown.
    """

    file: Optional[str]
    page: Optional[int]
    byte: Optional[int]

    def __init__(
        self,
        text: str = "",
        file: Union[None, str, os.PathLike[str]] = None,
        page: Optional[int] = None,
        byte: Optional[int] = None,
        errno: Optional[int] = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.file = None if file is None else os.fspath(file)
        self.page = page
        self.byte = byte
        if isinstance(self, OSError):
            OSError.__setattr__(self, "errno", errno)
            OSError.__setattr__(self, "filename", self.file)

    def __str__(self) -> str:
        return self.text


class BookError(Error, OSError):
    """A book that cannot be opened or read: damaged, or none."""


class BookNotFoundError(BookError, FileNotFoundError):
    """There is no such file."""


class PositionError(Error, ValueError):
    """Text that is no position."""


class WriteError(Error, OSError):
    """A book that was not made: nothing is left of it, ``file`` names it."""


class BookWarning(UserWarning):
    """A damaged place of a book that was passed over."""
