"""Parquet files, a row at a time."""

__all__ = ["column_names", "parquet_rows"]

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bayes_passk.errors import CountsError, ReadError

_ROWS = 1_000


def column_names(path: Path) -> list[str]:
    """Names of the columns; none where the file is no Parquet, and it never raises."""
    try:
        return pq.read_schema(path).names
    except (OSError, pa.ArrowException):
        return []


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield rows of some columns, with their numbers from 1.

    Raises
    ------
    CountsError
        It has no such column.
    ReadError
        The file is cut off, damaged, or no Parquet.
    """
    number = 0
    try:
        file = pq.ParquetFile(path)
        if missing := [name for name in columns if name not in file.schema_arrow.names]:
            raise CountsError(f"no column {missing[0]!r}")
        for batch in file.iter_batches(_ROWS, columns=list(columns)):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (pa.ArrowException, OSError, UnicodeError) as error:
        reason = " ".join(str(error).split())
        raise ReadError(f"cut off or no Parquet: {reason}") from error
