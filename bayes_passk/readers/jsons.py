"""JSON as evaluations write it: bare NaN, huge lines, gzip, a last line cut off.

Files are opened by their first bytes, not by their name: some end in ``.gz`` and are plain.
"""

__all__ = ["first_record", "head", "json_lines", "kind_of", "parse_json", "read_json", "want"]

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from bayes_passk.errors import CountsError, OptionError, ReadError
from bayes_passk.readers.records import Notes

# What a gzipped file may inflate to, and how long one line may be: beyond, it is a bomb.
_MAX_INFLATED = 8 * 2**30
_MAX_LINE = 2**28
_MAX_SNIFFED = 2**16
_GZIP = b"\x1f\x8b"
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number"}


def parse_json(data: str | bytes, where: str = "") -> Any:
    """Parse JSON text; ``NaN`` and ``Infinity`` are numbers, as Python's own writer has them.

    Raises
    ------
    ReadError
        It is no JSON, not UTF-8, nested too deeply, or holds a number of absurd length.

    Examples
    --------
    >>> parse_json('{"value": NaN}')
    {'value': nan}
    """
    try:
        return json.loads(data.decode("utf-8-sig") if isinstance(data, bytes) else data)
    except (ValueError, RecursionError) as error:
        start = f"{where}: " if where else ""
        raise ReadError(f"{start}cut off or no JSON ({error})") from error


def read_json(path: Path) -> Any:
    """Parse a whole file, plain or gzipped.

    Raises
    ------
    ReadError
        The file is empty or no JSON, or inflates beyond 8 GiB.
    """
    with _open(path) as stream:
        data = stream.read(_MAX_INFLATED + 1)
    if len(data) > _MAX_INFLATED:
        raise ReadError(f"inflates to more than {_MAX_INFLATED >> 30} GiB")
    if not data.strip():
        raise ReadError("the file is empty")
    return parse_json(data)


def json_lines(
    path: Path, notes: Notes, on_bad_line: str = "raise"
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, plain or gzipped, with their line numbers.

    Parameters
    ----------
    path : Path
        The file; it is read line by line.
    notes : Notes
        Takes the warning about lines left out.
    on_bad_line : {"raise", "skip"}
        What to do with a line that is no object.

    Raises
    ------
    ReadError
        A line is bad, with ``on_bad_line="raise"``; or longer than 256 MiB.
    """
    if on_bad_line not in ("raise", "skip"):
        raise OptionError(f"on_bad_line: expected raise or skip, got {on_bad_line!r}")
    bad = []
    for number, line in _lines(path):
        try:
            record = _object(line, number)
        except ReadError as error:
            if on_bad_line == "raise":
                raise ReadError(f"{error}; say on_bad_line='skip' to leave it out") from error
            bad.append(number)
        else:
            yield number, record
    if bad:
        notes.warn(f"{path}: {len(bad)} bad lines left out (line {bad[0]} is the first)")


def head(path: Path, size: int = _MAX_SNIFFED) -> str:
    """First characters of a file, plain or gzipped; nothing where it cannot be read."""
    try:
        with _open(path) as stream:
            data = stream.read(size)
        encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
        return data.decode(encoding, "replace")
    except (OSError, EOFError, ValueError, zlib.error):
        return ""


def first_record(path: Path) -> dict[str, Any]:
    """First line of a file if that is a JSON object, else an empty one; it never raises."""
    try:
        with _open(path) as stream:
            record = parse_json(next(_nonblank(stream), b"{}"))
    except (OSError, EOFError, ValueError, zlib.error):
        return {}
    return record if isinstance(record, dict) else {}


def want(record: Any, key: str, kind: type, where: str, default: Any = None) -> Any:
    """Value of a key, of the kind that the layout says; the default where it is absent or null.

    Raises
    ------
    CountsError
        The value is of another kind, or the record is no object.

    Examples
    --------
    >>> want({"samples": [1]}, "samples", list, "the log")
    [1]
    >>> want({"samples": 3}, "samples", list, "the log")
    Traceback (most recent call last):
    bayes_passk.errors.CountsError: the log: expected 'samples' as a list, got 3
    """
    if not isinstance(record, dict):
        raise CountsError(f"{where}: expected an object, got {kind_of(record)}")
    value = record.get(key)
    if value is None:
        return default
    if not isinstance(value, kind):
        expected = _KINDS.get(kind, kind.__name__)
        raise CountsError(f"{where}: expected {key!r} as {expected}, got {kind_of(value)}")
    return value


def kind_of(value: Any) -> str:
    """A value in a few words, for messages."""
    if isinstance(value, dict | list):
        return _KINDS[type(value)]
    return str(json.dumps(value, default=repr))[:60]


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as stream:
        zipped = stream.read(2) == _GZIP
    return cast(IO[bytes], gzip.open(path)) if zipped else path.open("rb")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    inflated = 0
    with _open(path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE + 1), b""), start=1):
            inflated += len(line)
            if len(line) > _MAX_LINE:
                raise ReadError(f"line {number} is longer than {_MAX_LINE >> 20} MiB")
            if isinstance(stream, gzip.GzipFile) and inflated > _MAX_INFLATED:
                raise ReadError(f"inflates to more than {_MAX_INFLATED >> 30} GiB; give it plain")
            if line.strip():
                yield number, line


def _nonblank(stream: IO[bytes]) -> Iterator[bytes]:
    # A record of many responses may be long; a first line of 16 MiB is no log's.
    lines = iter(lambda: stream.readline(2**24), b"")
    return (line for _, line in zip(range(100), lines, strict=False) if line.strip())


def _object(line: bytes, number: int) -> dict[str, Any]:
    record = parse_json(line, f"line {number}")
    if not isinstance(record, dict):
        raise ReadError(f"line {number}: expected an object, got {kind_of(record)}")
    return record
