"""Long tables larger than memory, counted out of core by DuckDB.

Only the distinct outcomes, judged as those of any table are, and one row for each pair of system
and problem reach Python.
"""

__all__ = ["count_large", "is_large"]

import importlib.util
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import xarray as xr

from bayes_passk.errors import MissingExtraError, ReadError
from bayes_passk.frames import Layout, find_layout
from bayes_passk.outcomes import policy_from
from bayes_passk.readers.large_queries import LongQuery, quoted

# From here on the detour through DuckDB pays: rows of Parquet, bytes of text.
_LARGE = {".parquet": 10_000_000, ".csv": 2**28, ".tsv": 2**28, ".jsonl": 2**25, ".ndjson": 2**25}
_TOO_LARGE = 16
_MEMORY = "1GB"
_MAX_LINE = 2**25


def is_large(path: Path, kind: str) -> bool:
    """Whether a file is better counted out of core, and DuckDB is there to do it.

    Raises
    ------
    MissingExtraError
        DuckDB is not there, and the file is too large to be tried in memory.
    """
    if kind not in _LARGE:
        return False
    size = pq.read_metadata(path).num_rows if kind == ".parquet" else path.stat().st_size
    there = importlib.util.find_spec("duckdb") is not None
    if not there and size >= _TOO_LARGE * _LARGE[kind]:
        raise MissingExtraError(
            f"{path} is too large for memory; pip install 'bayes-passk[duckdb]' to count it"
        )
    return there and size >= _LARGE[kind]


def count_large(
    path: Path, kind: str, columns: Mapping[str, str], policy: Mapping[str, Any]
) -> xr.Dataset | None:
    """Count a long table without holding it in memory.

    Parameters
    ----------
    path : Path
        Parquet, CSV, TSV or JSON lines; text may be gzipped.
    kind : str
        Ending of its name.
    columns : mapping
        Columns by role, where their names are not the usual ones.
    policy : mapping
        Fields of `bayes_passk.outcomes.Policy`.

    Returns
    -------
    xarray.Dataset or None
        Counts; nothing where the table is no long one, or the policy needs its rows in order.

    Raises
    ------
    CountsError
        An outcome cannot be judged, an id is missing, or an attempt is given twice.
    ReadError
        The file is cut off or damaged.
    """
    import duckdb

    rule = policy_from(policy)
    try:
        with _connection() as (connection, folder):
            relation = _relation(connection, path, kind)
            layout = find_layout(relation.columns, dict(columns))
            if layout.outcome is None or rule.on_duplicate in ("first", "last"):
                return None
            if kind != ".parquet":
                relation = _parsed_once(connection, relation, layout, folder)
            return LongQuery(connection, relation, layout, rule).counts()
    except duckdb.Error as error:
        reason = " ".join(str(error).split())[:200]
        raise ReadError(f"the file is cut off or no table: {reason}") from error


@contextmanager
def _connection() -> Iterator[tuple[Any, Path]]:
    """A database in memory, and a folder for what does not fit into it."""
    import duckdb

    with TemporaryDirectory() as folder:
        options: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": _MEMORY,
            "temp_directory": folder,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
        }
        with duckdb.connect(config=options) as connection:
            connection.execute("SET enable_progress_bar = false")
            yield connection, Path(folder)


def _relation(connection: Any, path: Path, kind: str) -> Any:
    # A name with a star or a bracket is one file, not a pattern.
    name = re.sub(r"([*?\[])", r"[\1]", str(path))
    if kind == ".parquet":
        return connection.read_parquet(name)
    # Text stays text: dates and numbers in ids must not be rewritten.
    if kind in (".csv", ".tsv"):
        return connection.read_csv(
            name, header=True, all_varchar=True, null_padding=True, parallel=False
        )
    given = {"format": "newline_delimited", "maximum_object_size": _MAX_LINE}
    found = connection.read_json(name, **given)
    return connection.read_json(name, columns=dict.fromkeys(found.columns, "VARCHAR"), **given)


def _parsed_once(connection: Any, relation: Any, layout: Layout, folder: Path) -> Any:
    """The columns that matter as Parquet: text is slow to read, and is asked more than once."""
    named = [layout.system, layout.problem, layout.attempt, layout.outcome, *layout.covariates]
    columns = ", ".join(quoted(name) for name in named if name)
    relation.select(columns).write_parquet(str(folder / "table.parquet"), compression="lz4")
    return connection.read_parquet(str(folder / "table.parquet"))
