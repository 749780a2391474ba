"""Readers: files that an evaluation left on disk become counts.

One module a format, each with a `Reader`; `READERS` lists them in the order they are asked.
"""

__all__ = ["READERS", "Reader", "all_readers", "read_counts"]

import json
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal, overload

import xarray as xr

from bayes_passk.counts import provenance_of
from bayes_passk.errors import OptionError, ReadError
from bayes_passk.readers.bigcode import BigcodeReader
from bayes_passk.readers.bon_jailbreak import BonJailbreakReader
from bayes_passk.readers.deepeval import DeepevalReader
from bayes_passk.readers.evalplus import EvalplusReader
from bayes_passk.readers.finding import find
from bayes_passk.readers.garak import GarakReader
from bayes_passk.readers.human_eval import HumanEvalReader
from bayes_passk.readers.inspect_ai import InspectReader
from bayes_passk.readers.joining import by_task, join
from bayes_passk.readers.lighteval import LightevalReader
from bayes_passk.readers.livecodebench import LivecodebenchReader
from bayes_passk.readers.lm_eval import LmEvalReader
from bayes_passk.readers.monkeys import MonkeysReader
from bayes_passk.readers.multipl_e import MultipleReader
from bayes_passk.readers.naming import naming
from bayes_passk.readers.promptfoo import PromptfooReader
from bayes_passk.readers.protocol import Reader
from bayes_passk.readers.simple_evals import SimpleEvalsReader
from bayes_passk.readers.swebench import SwebenchReader
from bayes_passk.readers.tables import TableReader
from bayes_passk.readers.tau import TauReader
from bayes_passk.readers.terminal_bench import TerminalBenchReader
from bayes_passk.readers.trl import TrlReader
from bayes_passk.readers.verl import VerlReader

# The surest content first; tables, which know a file by its headings, last.
READERS: tuple[Reader, ...] = (
    InspectReader(),
    EvalplusReader(),
    LivecodebenchReader(),
    MultipleReader(),
    LmEvalReader(),
    LightevalReader(),
    BigcodeReader(),
    TerminalBenchReader(),
    SwebenchReader(),
    TauReader(),
    TrlReader(),
    VerlReader(),
    MonkeysReader(),
    PromptfooReader(),
    GarakReader(),
    BonJailbreakReader(),
    DeepevalReader(),
    SimpleEvalsReader(),
    HumanEvalReader(),
    TableReader(),
)
_GROUP = "bayes_passk.readers"


@overload
def read_counts(
    paths: str | Path | Sequence[str | Path],
    format: str | None = None,
    by: None = None,
    **policy: Any,
) -> xr.Dataset: ...


@overload
def read_counts(
    paths: str | Path | Sequence[str | Path],
    format: str | None = None,
    *,
    by: Literal["task"],
    **policy: Any,
) -> dict[str, xr.Dataset]: ...


def read_counts(
    paths: str | Path | Sequence[str | Path],
    format: str | None = None,
    by: Literal["task"] | None = None,
    **policy: Any,
) -> xr.Dataset | dict[str, xr.Dataset]:
    r"""Read counts from files, folders or globs.

    Parameters
    ----------
    paths : str, Path or sequence of them
        What to read. Of a folder, all files that some reader knows.
    format : str, optional
        Name of a reader; by default each file's content decides.
    by : {"task"}, optional
        Counts of each task apart.
    **policy
        How doubtful attempts are counted, and what the format's reader takes; for logs see
        `bayes_passk.readers.records.AttemptPolicy`, for tables `bayes_passk.outcomes.Policy`.

    Returns
    -------
    xarray.Dataset, or dict of them by task
        Counts of all files together. Problems of several tasks are named ``task/problem``. The
        attribute ``provenance`` tells each file's format, what was left out and why. A system
        that a file does not name is called ``system``.

    Raises
    ------
    ReadError
        A file is missing, cut off, or of no known format.
    CountsError
        Its content is not counts; file, row and value are named.
    OptionError
        The format has no such option, or the option no such value.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "counts.csv"
    >>> _ = path.write_text("problem,n,c\n007,10,3\n")
    >>> read_counts(path)["problem"].values.tolist()
    ['007']
    """
    if by not in (None, "task"):
        raise OptionError(f"by: expected 'task', got {by!r}")
    readers = all_readers()
    found = find(paths, readers, format)
    by_name = {reader.name: reader for reader in readers}
    parts = [
        part for name, files in found.files.items() for part in _read(by_name[name], files, policy)
    ]
    counts = join(parts, found.warnings, add=policy.get("on_duplicate") == "add")
    sources = [str(path) for files in found.files.values() for path in files]
    counts = counts.assign_attrs(source=sources[0] if len(sources) == 1 else json.dumps(sources))
    return counts if by is None else by_task(counts)


def all_readers() -> tuple[Reader, ...]:
    """Readers in the order they are asked: built in, of other packages, tables.

    Another package registers one with an entry point in the group ``bayes_passk.readers``.

    Raises
    ------
    ReadError
        A reader of another package cannot be loaded.
    """
    return (*READERS[:-1], *_registered(), READERS[-1])


@cache
def _registered() -> tuple[Reader, ...]:
    return tuple(map(_load, entry_points(group=_GROUP)))


def _load(entry_point: Any) -> Reader:
    try:
        return entry_point.load()()
    except (ImportError, AttributeError, TypeError) as error:
        raise ReadError(
            f"the reader {entry_point.name!r} of another package ({entry_point.value}) cannot be "
            f"loaded: {error}; repair or uninstall that package"
        ) from error


def _read(reader: Reader, files: Sequence[Path], policy: dict[str, Any]) -> list[xr.Dataset]:
    together = getattr(reader, "read_together", None)
    if together is not None:
        return [together(files, **policy)]
    return [_read_one(reader, path, policy) for path in files]


def _read_one(reader: Reader, path: Path, policy: dict[str, Any]) -> xr.Dataset:
    with naming(path):
        counts = reader.read(path, **policy)
    provenance = provenance_of(counts)
    file = {"path": str(path), "format": reader.name, "n_attempts": int(counts["n_attempts"].sum())}
    provenance["files"] = [file | {"dropped": provenance["dropped"]}]
    return counts.assign_attrs(provenance=json.dumps(provenance))
