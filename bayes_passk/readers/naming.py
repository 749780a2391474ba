"""Errors name the file that they come from."""

__all__ = ["naming"]

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bayes_passk.errors import CountsError, ReadError


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Put a file's name before every error about its content.

    Raises
    ------
    CountsError, ReadError
        As raised inside, with the name; an error of the operating system becomes a `ReadError`.

    Examples
    --------
    >>> with naming("x.json"):
    ...     raise CountsError("no attempts in the file")
    Traceback (most recent call last):
    bayes_passk.errors.CountsError: x.json: no attempts in the file
    """
    try:
        yield
    except CountsError as error:
        raise CountsError(_named(path, str(error))) from error
    except ReadError as error:
        raise ReadError(_named(path, str(error))) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(_named(path, "the gzip stream is cut off or damaged")) from error
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        raise ReadError(_named(path, f"cannot be read: {reason}")) from error


def _named(path: str | Path, message: str) -> str:
    return message if not str(path) or message.startswith(str(path)) else f"{path}: {message}"
