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
from typing import Any, Optional, Union

__all__ = ["BookError", "BookNotFoundError", "BookWarning", "Error", "PositionError", "WriteError"]


class Error(Exception):
    """The base class of all errors with books.

    ``file`` is the path, ``page`` the page of a ``.ctg`` (0 follows the
    header), ``byte`` the offset in the file, each ``None`` if unknown.
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

    # An OSError is pickled with its text only.
    def __reduce__(self) -> tuple[Any, ...]:
        errno = getattr(self, "errno", None)
        arguments = (self.text, self.file, self.page, self.byte, errno)
        return type(self), arguments, self.__dict__


class BookError(Error, OSError):
    """The file cannot be opened or read, is damaged, or is not a book."""


class BookNotFoundError(BookError, FileNotFoundError):
    """The file does not exist."""


class PositionError(Error, ValueError):
    """The text is not a position."""


class WriteError(Error, OSError):
    """The book ``file`` could not be made; no part of it is left."""


class BookWarning(UserWarning):
    """A damaged part of a book was skipped."""
