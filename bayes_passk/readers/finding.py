"""Which files a call means, and which reader knows each of them."""

__all__ = ["Found", "find"]

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bayes_passk.errors import ReadError, UnknownNameError, did_you_mean
from bayes_passk.readers.attempts import AttemptReader
from bayes_passk.readers.protocol import Reader
from bayes_passk.readers.tables import TableReader


@dataclass
class Found:
    """Files by reader, in the order found.

    Parameters
    ----------
    files : dict
        Paths of each reader, by its name.
    warnings : list of str
        What was passed over in folders.
    """

    files: dict[str, list[Path]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add(self, readers: Mapping[Path, Reader]) -> None:
        """Add files with their readers."""
        for path, reader in readers.items():
            self.files.setdefault(reader.name, []).append(path)


def find(
    paths: str | Path | Sequence[str | Path], readers: Sequence[Reader], format: str | None = None
) -> Found:
    """Find files, folders and globs, and the reader of each.

    Of a folder, a reader may take all; else its files are asked one by one. Symbolic links in it
    are not followed: a log folder must not lead out of itself. Where a folder holds logs, tables
    beside them are passed over: they are summaries of the same attempts more often than not.

    Raises
    ------
    ReadError
        A path does not exist, or nothing in it is of a known format.
    UnknownNameError
        There is no such format.
    """
    several = [paths] if isinstance(paths, str | Path) else list(paths)
    if not several:
        raise ReadError("expected a file to read, got none")
    asked = readers if format is None else [_named(format, readers)]
    found = Found()
    for name in several:
        matches = _expand(name)
        files = {path: _reader_of(path, asked, format) for path in matches if not path.is_dir()}
        used = _without_secondary(files)
        found.add(used)
        found.warnings += _passed_over(str(name), {p: files[p] for p in files if p not in used})
        for path in matches:
            if path.is_dir():
                _add_folder(found, path, asked)
    return found


def _named(format: str, readers: Sequence[Reader]) -> Reader:
    by_name = {reader.name: reader for reader in readers}
    if format not in by_name:
        raise UnknownNameError(f"no format {format!r}: {did_you_mean(format, by_name)}")
    return by_name[format]


def _expand(name: str | Path) -> list[Path]:
    if Path(name).exists():
        return [Path(name)]
    matches = sorted(glob.glob(str(name), recursive=True))
    if not matches:
        raise ReadError(f"{name}: no such file, and no file matches it")
    return [Path(match) for match in matches]


def _ask(path: Path, readers: Sequence[Reader]) -> Reader | None:
    return next((reader for reader in readers if reader.sniff(path)), None)


def _reader_of(path: Path, readers: Sequence[Reader], format: str | None) -> Reader:
    # Of a table without known headings, its own message says best what it lacks.
    reader = readers[0] if format else _ask(path, readers) or _table_by_name(path, readers)
    if reader is None:
        raise ReadError(f"{path}: of no known format; known: {_known(readers)}")
    return reader


def _table_by_name(path: Path, readers: Sequence[Reader]) -> Reader | None:
    tables = (reader for reader in readers if isinstance(reader, TableReader))
    return next((reader for reader in tables if reader.by_name(path)), None)


def _without_secondary(files: Mapping[Path, Reader]) -> Mapping[Path, Reader]:
    primary = {
        path: reader
        for path, reader in files.items()
        if not (isinstance(reader, AttemptReader) and reader.is_secondary(path))
    }
    # Alone, such a file is read, or refused in its reader's own words.
    return primary or files


def _add_folder(found: Found, folder: Path, readers: Sequence[Reader]) -> None:
    if (whole := _ask(folder, readers)) is not None:
        found.add({folder: whole})
        return
    inside = {path: reader for reader, path in _inside(folder, readers)}
    known = {path: reader for path, reader in inside.items() if reader is not None}
    logs = {path: reader for path, reader in known.items() if not isinstance(reader, TableReader)}
    named = ((path, _table_by_name(path, readers)) for path in inside)
    used = _without_secondary(
        logs or known or {path: reader for path, reader in named if reader is not None}
    )
    if not used:
        raise ReadError(f"{folder}: no file in it is of a known format ({_known(readers)})")
    found.add(used)
    found.warnings += _passed_over(str(folder), {p: inside[p] for p in inside if p not in used})


def _inside(folder: Path, readers: Sequence[Reader]) -> Iterator[tuple[Reader | None, Path]]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not Path(root, name).is_symlink())
        for name in list(folders):
            if (whole := _ask(Path(root, name), readers)) is not None:
                folders.remove(name)
                yield whole, Path(root, name)
        for path in sorted(Path(root, name) for name in files):
            if path.is_file() and not path.is_symlink():
                yield _ask(path, readers), path


def _passed_over(place: str, rest: Mapping[Path, Reader | None]) -> Iterator[str]:
    kinds: dict[str, list[str]] = {}
    for path, reader in rest.items():
        if isinstance(reader, TableReader):
            kind = "tables beside logs"
        else:
            kind = "without outcomes of their own" if reader else "of no known format"
        kinds.setdefault(kind, []).append(path.name)
    for kind, names in kinds.items():
        shown = ", ".join(names[:3]) + ", ..." * (len(names) > 3)
        number = f"{len(names)} file{'s' * (len(names) > 1)}"
        yield f"{place}: {number} passed over, {kind} ({shown}); name a file to read it"


def _known(readers: Sequence[Reader]) -> str:
    return ", ".join(reader.name for reader in readers)
