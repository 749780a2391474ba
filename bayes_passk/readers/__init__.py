"""Readers: files that an evaluation left on disk become counts.

One module a format, each with a `Reader`; `READERS` lists them in the order they are asked.
"""

__all__ = ["READERS", "Reader", "read_counts"]

import glob
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import xarray as xr

from bayes_passk.counts import merge_counts, provenance_of
from bayes_passk.errors import CountsError, ReadError, UnknownNameError, did_you_mean
from bayes_passk.readers import tables


class Reader(Protocol):
    """What reads one format."""

    name: str

    def sniff(self, path: Path) -> bool:
        """Whether a file, or a folder, is of this format, judged by its content."""
        ...

    def read(self, path: Path, **policy: Any) -> xr.Dataset:
        """Read one file, or folder, into counts."""
        ...


READERS: tuple[Reader, ...] = (tables.TableReader(),)


def read_counts(
    paths: str | Path | Sequence[str | Path], format: str | None = None, **policy: Any
) -> xr.Dataset:
    r"""Read counts from files, folders or globs.

    Parameters
    ----------
    paths : str, Path or sequence of them
        What to read. Of a folder, all files that some reader knows.
    format : str, optional
        Name of a reader; by default each file's content decides.
    **policy
        How doubtful attempts are counted; for tables see `bayes_passk.outcomes.Policy` and
        `bayes_passk.readers.tables.TableReader.read`.

    Returns
    -------
    xarray.Dataset
        Counts of all files together. The attribute ``provenance`` tells each file's format,
        what was left out and why. A system that a file does not name is called ``system``.

    Raises
    ------
    ReadError
        A file is missing, cut off, or of no known format.
    CountsError
        Its content is not counts; file, row and value are named.
    OptionError
        The policy has no such option.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "counts.csv"
    >>> _ = path.write_text("problem,n,c\n007,10,3\n")
    >>> read_counts(path)["problem"].values.tolist()
    ['007']
    """
    parts = [_read(path, format, policy) for path in _expand(paths)]
    if len(parts) == 1:
        return parts[0]
    add = policy.get("on_duplicate") == "add"
    return merge_counts(*parts, on_duplicate="add" if add else "raise")


def _expand(paths: str | Path | Sequence[str | Path]) -> Iterator[Path]:
    several = [paths] if isinstance(paths, str | Path) else list(paths)
    if not several:
        raise ReadError("expected a file to read, got none")
    for name in several:
        path = Path(name)
        if path.is_dir() and not any(reader.sniff(path) for reader in READERS):
            yield from _inside(path)
        elif path.exists():
            yield path
        else:
            matches = sorted(glob.glob(str(name), recursive=True))
            if not matches:
                raise ReadError(f"{name}: no such file, and no file matches it")
            yield from map(Path, matches)


def _inside(folder: Path) -> list[Path]:
    # Symbolic links are not followed: a log folder must not lead out of itself.
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    known = [path for path in files if any(reader.sniff(path) for reader in READERS)]
    if not known:
        formats = ", ".join(reader.name for reader in READERS)
        raise ReadError(f"{folder}: no file in it is of a known format ({formats})")
    return known


def _read(path: Path, format: str | None, policy: dict[str, Any]) -> xr.Dataset:
    reader = _reader(path, format)
    try:
        counts = reader.read(path, **policy)
    except CountsError as error:
        raise CountsError(f"{path}: {error}") from error
    except OSError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path}: cannot be read: {error.strerror or error}") from error
    provenance = provenance_of(counts)
    file = {"path": str(path), "format": reader.name, "n_attempts": int(counts["n_attempts"].sum())}
    provenance["files"] = [file | {"dropped": provenance["dropped"]}]
    return counts.assign_attrs(provenance=json.dumps(provenance), source=str(path))


def _reader(path: Path, format: str | None) -> Reader:
    by_name = {reader.name: reader for reader in READERS}
    if format is not None:
        if format not in by_name:
            raise UnknownNameError(f"no format {format!r}: {did_you_mean(format, by_name)}")
        return by_name[format]
    for reader in READERS:
        if reader.sniff(path):
            return reader
    raise ReadError(f"{path}: of no known format; known: {', '.join(by_name)}")
