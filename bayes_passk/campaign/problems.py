"""What a campaign is about: pairs of systems and problems, their costs and earlier counts."""

__all__ = ["COLUMNS", "pairs_from"]

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_passk.campaign.texts import storable
from bayes_passk.counts import counts_from_dict
from bayes_passk.errors import CampaignError, ReadError, did_you_mean

COLUMNS = ("system", "problem", "cost", "max_attempts", "n_attempts", "n_successes")
_SYSTEM = "system"
_TABLES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson")
# Beyond it a float64 no longer tells neighbouring whole numbers apart.
_MAX_COUNT = 2**53


def pairs_from(problems: Any) -> pd.DataFrame:
    r"""Pairs of a campaign as a table of `COLUMNS`.

    Parameters
    ----------
    problems : path, data frame, counts, or iterable of ids
        A table has ``problem`` and may have ``system``, ``cost``, ``max_attempts``, ``n_attempts``
        and ``n_successes``; a text file without headings has an id a line; a dict is read as
        `counts_from_dict` does.

    Raises
    ------
    ReadError
        The file cannot be read.
    CampaignError
        No problem, one twice, a cost of 0 or less, or counts that cannot be.

    Examples
    --------
    >>> pairs_from(["a", "b"])[["system", "problem", "cost", "n_attempts"]].values.tolist()
    [['system', 'a', 1.0, 0], ['system', 'b', 1.0, 0]]
    """
    table = _table(problems)
    if "problem" not in table:
        names = ", ".join(map(str, table.columns))[:200]
        raise CampaignError(f"expected a column problem, got {names}")
    unknown = [str(name) for name in table.columns if name not in COLUMNS]
    close = [name for name in unknown if "did you mean" in did_you_mean(name, COLUMNS)]
    if close:
        raise CampaignError(f"column {close[0]!r}: {did_you_mean(close[0], COLUMNS)}")
    if table.empty:
        raise CampaignError("expected at least one problem, got none")
    return _checked(_completed(table))


def _table(problems: Any) -> pd.DataFrame:
    if isinstance(problems, str | Path):
        return _from_file(Path(problems))
    if isinstance(problems, dict):
        problems = counts_from_dict(problems)
    if isinstance(problems, xr.Dataset):
        flat = problems[["n_attempts", "n_successes"]].reset_coords(drop=True)
        return flat.to_dataframe(dim_order=["system", "problem"]).reset_index()
    if hasattr(type(problems), "columns"):
        return _from_frame(problems)
    if isinstance(problems, Iterable):
        return pd.DataFrame({"problem": list(problems)}, dtype=object)
    raise CampaignError(f"problems: expected ids, a table or a path, got {problems!r:.80}")


def _from_frame(frame: Any) -> pd.DataFrame:
    import narwhals as nw

    try:
        return nw.from_native(frame, eager_only=True).to_pandas()
    except TypeError:
        kind = type(frame).__name__
        raise CampaignError(f"problems: expected a data frame in memory, got {kind}") from None


def _from_file(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        text = path.read_text(encoding="utf-8-sig")
        return _from_text(path, text)
    except (OSError, ValueError, csv.Error) as error:
        if isinstance(error, CampaignError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise ReadError(f"{path}: cannot be read as a table of problems: {reason}") from error


def _from_text(path: Path, text: str) -> pd.DataFrame:
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise CampaignError(f"{path}: expected at least one problem, got an empty file")
    if lines[0].lstrip().startswith(("{", "[")):
        records = json.loads(text) if lines[0].lstrip()[0] == "[" else list(map(json.loads, lines))
        return pd.DataFrame(records, dtype=object)
    delimiter = "\t" if "\t" in lines[0] else ","
    heads = [name.strip() for name in next(csv.reader([lines[0]], delimiter=delimiter))]
    if len(set(heads)) < len(heads):
        raise CampaignError(f"{path}: expected different headings, got {', '.join(heads)[:200]}")
    if "problem" in heads:
        rows = list(csv.DictReader(text.splitlines(keepends=True), heads, delimiter=delimiter))[1:]
        _check_rectangular(path, rows)
        return pd.DataFrame(rows, columns=heads, dtype=object).replace("", None)
    if path.suffix in _TABLES and len(heads) > 1:
        raise CampaignError(f"{path}: expected a column problem, got {', '.join(heads)[:200]}")
    return pd.DataFrame({"problem": [line.strip() for line in lines]}, dtype=object)


def _check_rectangular(path: Path, rows: list[dict[Any, Any]]) -> None:
    for number, row in enumerate(rows, start=2):
        if None in row or row["problem"] in (None, ""):
            raise CampaignError(f"{path}: row {number} does not fit the headings")


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    filled = table.reindex(columns=list(COLUMNS)).astype(object)
    filled = filled.where(filled.notna(), None)
    return pd.DataFrame(
        {
            "system": [_SYSTEM if value is None else _id(value) for value in filled["system"]],
            "problem": [_id(value) for value in filled["problem"]],
            "cost": _numbers(filled["cost"], "cost", 1.0),
            "max_attempts": _numbers(filled["max_attempts"], "max_attempts", np.nan),
            "n_attempts": _numbers(filled["n_attempts"], "n_attempts", 0.0),
            "n_successes": _numbers(filled["n_successes"], "n_successes", 0.0),
        }
    )


def _id(value: Any) -> str:
    text = "" if value is None else str(value)
    if not text or storable(text) != text:
        raise CampaignError(f"expected an id for each system and problem, got {value!r:.60}")
    return text


def _numbers(values: pd.Series, name: str, default: float) -> list[float]:
    return [default if value is None else _number(value, name) for value in values]


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise CampaignError(f"{name}: expected a number, got {value!r:.60}") from None


def _checked(table: pd.DataFrame) -> pd.DataFrame:
    twice = table[table.duplicated(["system", "problem"])]
    if not twice.empty:
        row = twice.iloc[0]
        raise CampaignError(
            f"system {row['system']!r}, problem {row['problem']!r} stands there twice"
        )
    cost, caps = table["cost"], table["max_attempts"]
    _refuse(table, ~(np.isfinite(cost) & (cost > 0)), "cost", "a number above 0")
    whole = caps.isna() | _whole(caps)
    _refuse(table, ~whole, "max_attempts", "a whole number of at least 0")
    n, c = table["n_attempts"], table["n_successes"]
    _refuse(table, ~_whole(n), "n_attempts", "a whole number of at least 0")
    _refuse(table, ~(_whole(c) & (c <= n)), "n_successes", "a whole number, at most n_attempts")
    return table.astype({"n_attempts": np.int64, "n_successes": np.int64})


def _whole(values: pd.Series) -> pd.Series:
    return (values >= 0) & (values <= _MAX_COUNT) & (values == np.floor(values))


def _refuse(table: pd.DataFrame, wrong: pd.Series, name: str, expected: str) -> None:
    if wrong.any():
        row = table[wrong].iloc[0]
        raise CampaignError(
            f"problem {row['problem']!r}: {name}: expected {expected}, got {row[name]:g}"
        )
