"""What a file's first bytes say of it as a plain table, before it is read."""

__all__ = ["ENDINGS", "ending", "looks_like_table"]

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bayes_passk.errors import CountsError
from bayes_passk.frames import find_layout
from bayes_passk.readers.jsons import first_record, head

ENDINGS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet")
_COUNTS = {"n", "c", "n_attempts", "n_successes"}


def ending(path: Path) -> str:
    """Ending of a file's name, without that of compression.

    Examples
    --------
    >>> ending(Path("runs/Results.CSV.gz"))
    '.csv'
    """
    return Path(path.name.lower().removesuffix(".gz")).suffix


def looks_like_table(path: Path) -> bool:
    """Whether a file's headings tell the problem and the outcome; it never raises."""
    kind = ending(path)
    if kind == ".parquet":
        return _is_layout(_parquet_names(path))
    if kind in (".jsonl", ".ndjson"):
        return _is_layout(list(first_record(path)))
    start = head(path)
    return _looks_like_json(start) if kind == ".json" else _is_layout(_csv_names(start))


def _is_layout(names: Sequence[str]) -> bool:
    try:
        find_layout(names)
    except CountsError:
        return False
    return True


def _parquet_names(path: Path) -> list[str]:
    try:
        return pq.read_schema(path).names
    except (OSError, pa.ArrowException):
        return []


def _csv_names(start: str) -> list[str]:
    line = start.lstrip("\r\n").partition("\n")[0]
    try:
        return next(csv.reader(io.StringIO(line), delimiter=max(",;\t|", key=line.count)), [])
    except csv.Error:
        return []


def _looks_like_json(start: str) -> bool:
    first = re.match(r'\s*(\[|\{\s*"(?:[^"\\]|\\.)*"\s*:)\s*', start)
    if first is None:
        return False
    try:
        value, _ = json.JSONDecoder().raw_decode(start, first.end())
    except (ValueError, RecursionError):
        return False
    if first[1] == "[":
        return isinstance(value, dict) and _is_layout(list(value))
    return _is_outcomes(value) or (
        isinstance(value, dict) and bool(value) and all(map(_is_outcomes, value.values()))
    )


def _is_outcomes(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, bool | int | float) for item in value)
    return isinstance(value, dict) and bool(value) and set(value) <= _COUNTS
