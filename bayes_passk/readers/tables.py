"""Plain tables: CSV, TSV, JSON, JSON lines and Parquet, plain or gzipped."""

__all__ = ["TableReader"]

import csv
import gzip
import io
import json
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import xarray as xr

from bayes_passk.counts import counts_from_arrays, counts_from_dict
from bayes_passk.errors import CountsError, OptionError, ReadError
from bayes_passk.frames import counts_from_frame, find_layout
from bayes_passk.outcomes import Policy
from bayes_passk.readers.headings import ENDINGS, ending, looks_like_table
from bayes_passk.readers.large_tables import count_large, is_large

# A gzipped file that grows beyond this is refused: it would not fit, or it is a bomb.
_MAX_INFLATED = 8 * 2**30
_MAX_FIELD = 2**27
_COLUMNS = ("system", "problem", "attempt", "outcome", "n_attempts", "n_successes")


class TableReader:
    """Reader of plain tables; everything in a text table stays text until it is judged."""

    name = "tables"
    title = "plain tables"
    versions = "CSV, TSV, JSON, JSON lines, Parquet; long, counted or wide; plain or gzipped"
    options = frozenset(
        {*_COLUMNS, *(field.name for field in fields(Policy))}
        | {"header", "encoding", "on_bad_line", "problems"}
    )

    def sniff(self, path: Path) -> bool:
        """Whether its name is a table's, and its headings tell the problem and the outcome."""
        return path.is_file() and self.by_name(path) and looks_like_table(path)

    def by_name(self, path: Path) -> bool:
        """Whether the file's name ends as a table's."""
        return ending(path) in ENDINGS

    def read(
        self,
        path: Path,
        *,
        header: bool = True,
        encoding: str | None = None,
        on_bad_line: str = "raise",
        problems: list[str] | None = None,
        **policy: Any,
    ) -> xr.Dataset:
        """Read a table into counts.

        Parameters
        ----------
        path : Path
            The file.
        header : bool
            Whether the first row holds the columns' names. A table without is a bare matrix of
            outcomes, a row a problem.
        encoding : str, optional
            Of a text table; UTF-8 or, with a byte-order mark, UTF-16 by default.
        on_bad_line : {"raise", "skip"}
            A line that is no row: more fields than headings, or no JSON.
        problems : list of str, optional
            Problems that belong to the benchmark, with or without attempts.
        **policy
            Columns (``problem``, ``outcome``, ...) and fields of `bayes_passk.outcomes.Policy`.
        """
        if on_bad_line not in ("raise", "skip"):
            raise OptionError(f"on_bad_line: expected raise or skip, got {on_bad_line!r}")
        if path.stat().st_size == 0:
            raise ReadError(f"{path}: the file is empty")
        try:
            counts = _read(path, header, encoding, on_bad_line == "skip", policy)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ReadError(f"{path}: the gzip stream is cut off or damaged") from error
        except (UnicodeError, LookupError) as error:
            if isinstance(error, KeyError):
                raise
            raise ReadError(
                f"{path}: not text in this encoding ({error}); say encoding=..."
            ) from error
        except pa.ArrowException as error:
            reason = str(error).splitlines()[0]
            raise ReadError(f"{path}: the file is cut off or no table: {reason}") from error
        return counts if problems is None else _with_problems(counts, problems)


def _read(
    path: Path, header: bool, encoding: str | None, skip: bool, policy: dict[str, Any]
) -> xr.Dataset:
    kind = ending(path)
    if header and not skip and encoding is None and is_large(path, kind):
        columns = {name: value for name, value in policy.items() if name in _COLUMNS}
        rule = {name: value for name, value in policy.items() if name not in _COLUMNS}
        if (counted := count_large(path, kind, columns, rule)) is not None:
            return counted
    if kind == ".parquet":
        return counts_from_frame(_parquet(path, policy), **policy)
    text = _decoded(_bytes(path), encoding)
    if not text.strip():
        raise ReadError(f"{path}: the file is empty")
    if kind in (".jsonl", ".ndjson"):
        return counts_from_frame(_table(_json_lines(path, text, skip)), **policy)
    if kind == ".json":
        return _from_json(path, text, policy)
    if not header:
        return _bare_matrix(text, policy)
    table, warnings = _from_csv(path, text, skip)
    return _warned(counts_from_frame(table, **policy), warnings)


def _bytes(path: Path) -> bytes:
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    with gzip.open(path) as stream:
        data = stream.read(_MAX_INFLATED + 1)
    if len(data) > _MAX_INFLATED:
        raise ReadError(f"{path}: inflates to more than {_MAX_INFLATED >> 30} GiB; give it plain")
    return data


def _decoded(data: bytes, encoding: str | None) -> str:
    if encoding is None:
        utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        encoding = "utf-16" if utf16 else "utf-8-sig"
    return data.decode(encoding)


def _parquet(path: Path, policy: dict[str, Any]) -> pa.Table:
    names = pq.ParquetFile(path).schema_arrow.names
    given = {key: policy[key] for key in _COLUMNS if policy.get(key)}
    layout = find_layout(names, given)
    wanted = [
        name
        for name in (
            layout.system,
            layout.problem,
            layout.attempt,
            layout.outcome,
            layout.n_attempts,
            layout.n_successes,
            *layout.attempts,
            *layout.covariates,
        )
        if name
    ]
    # Dictionaries keep repeated ids as numbers: a fraction of the memory, and groups come faster.
    file = pq.ParquetFile(path, read_dictionary=wanted)
    return _plain_types(file.read(columns=wanted).unify_dictionaries())


def _plain_types(table: pa.Table) -> pa.Table:
    for index, field in enumerate(table.schema):
        if pa.types.is_float16(field.type):
            table = table.set_column(index, field.name, pc.cast(table.column(index), pa.float32()))
    return table


def _from_csv(path: Path, text: str, skip: bool) -> tuple[pa.Table, list[str]]:
    sample = text[: text.find("\n") if "\n" in text else None]
    delimiter = max(",;\t|", key=sample.count)
    names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    names = [name.strip() for name in names]
    if len(set(names)) < len(names):
        raise CountsError(f"the headings repeat: {', '.join(names)[:200]}")
    options = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
    )
    parse = pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values='"' in text)
    read = pa_csv.ReadOptions(column_names=names, skip_rows=1)
    try:
        source = io.BytesIO(text.encode())
        return pa_csv.read_csv(source, read, parse, options), []
    except pa.ArrowInvalid:
        # Some row has another number of fields: slower, but tells which.
        return _ragged_csv(path, text, names, delimiter, skip)


def _ragged_csv(
    path: Path, text: str, names: list[str], delimiter: str, skip: bool
) -> tuple[pa.Table, list[str]]:
    csv.field_size_limit(_MAX_FIELD)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    next(reader)
    rows, bad = [], []
    try:
        for row in reader:
            if len(row) > len(names):
                bad.append(reader.line_num)
            elif row:
                rows.append(row + [""] * (len(names) - len(row)))
    except csv.Error as error:
        raise ReadError(f"{path}: line {reader.line_num}: {error}") from error
    if bad and not skip:
        raise ReadError(
            f"{path}: line {bad[0]} has more fields than the {len(names)} headings; "
            "say on_bad_line='skip' to leave it out"
        )
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    table = pa.table({n: pa.array(c, pa.string()) for n, c in zip(names, columns, strict=True)})
    return table, [f"{len(bad)} bad lines left out"] if bad else []


def _json_lines(path: Path, text: str, skip: bool) -> list[dict[str, Any]]:
    records = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if skip:
                continue
            raise ReadError(f"{path}: line {number} is no JSON ({error})") from error
        if not isinstance(record, dict):
            raise CountsError(f"line {number}: expected an object, got {str(record)[:60]}")
        records.append(record)
    return records


def _from_json(path: Path, text: str, policy: dict[str, Any]) -> xr.Dataset:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"{path}: the file is cut off or no JSON ({error})") from error
    if isinstance(content, dict):
        pairs = {
            key: tuple(value) if _is_count_pair(value) else value for key, value in content.items()
        }
        return counts_from_dict(pairs)
    if isinstance(content, list) and all(isinstance(record, dict) for record in content):
        return counts_from_frame(_table(content), **policy)
    raise CountsError("expected a list of records, or an object of problems")


def _is_count_pair(value: Any) -> bool:
    # Two numbers are n and c; a list of two outcomes would be booleans or 0 and 1.
    whole = isinstance(value, list) and all(type(item) is int for item in value)
    return whole and len(value) == 2 and max(value) > 1


def _table(records: list[dict[str, Any]]) -> pa.Table:
    names = list(dict.fromkeys(name for record in records for name in record))
    if not records:
        raise CountsError("no attempts in the file")
    find_layout(names)
    # Text keeps 7 and "7", true and 1 apart from nothing else than what they say.
    columns = {name: [_as_text(record.get(name)) for record in records] for name in names}
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, dict | list):
        return None
    return str(value)


def _bare_matrix(text: str, policy: dict[str, Any]) -> xr.Dataset:
    delimiter = max(",;\t|", key=text[: text.find("\n")].count)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    width = max(map(len, rows))
    padded = [[str(i), *row, *[""] * (width - len(row))] for i, row in enumerate(rows)]
    names = ["problem", *(f"attempt {i}" for i in range(width))]
    return counts_from_frame(
        pa.table(dict(zip(names, zip(*padded, strict=True), strict=True))), **policy
    )


def _warned(counts: xr.Dataset, warnings: list[str]) -> xr.Dataset:
    if not warnings:
        return counts
    provenance = json.loads(counts.attrs["provenance"])
    provenance["warnings"] += warnings
    return counts.assign_attrs(provenance=json.dumps(provenance))


def _with_problems(counts: xr.Dataset, problems: list[str]) -> xr.Dataset:
    have = list(counts["problem"].values)
    extra = [str(problem) for problem in problems if str(problem) not in set(have)]
    wider = counts.reindex(problem=have + extra, fill_value=0)
    whole = counts_from_arrays(
        wider["n_attempts"].values,
        wider["n_successes"].values,
        systems=wider["system"].values.tolist(),
        problems=wider["problem"].values.tolist(),
    )
    return whole.assign_attrs(counts.attrs)
