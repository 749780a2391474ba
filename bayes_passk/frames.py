"""Counts from data frames of any library that narwhals knows.

Three layouts are told apart by the columns' names: *long* (a row an attempt), *counted* (``n``
and ``c``) and *wide* (a row a problem, a column an attempt). Rows are counted in the frame's own
engine; only distinct (system, problem, outcome) rows reach Python.
"""

__all__ = ["Layout", "counts_from_frame", "find_layout"]

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import xarray as xr

from bayes_passk.counts import DEFAULT_SYSTEM, counts_from_arrays
from bayes_passk.errors import CountsError
from bayes_passk.outcomes import Policy, judge, policy_from

_SYSTEM: tuple[str, ...] = (
    "system",
    "model",
    "llm",
    "checkpoint",
    "agent",
    "model_name",
    "model_id",
)
_PROBLEM: tuple[str, ...] = (
    "problem",
    "problem_id",
    "task_id",
    "question_id",
    "item",
    "item_id",
    "prompt_id",
    "question",
    "task",
    "instance_id",
    "sample_id",
    "example_id",
    "id",
)
_ATTEMPT: tuple[str, ...] = (
    "attempt",
    "attempt_id",
    "sample",
    "trial",
    "epoch",
    "repeat",
    "run",
    "completion_id",
)
_GRADED: tuple[str, ...] = (
    "score",
    "reward",
    "grade",
)
_OUTCOME: tuple[str, ...] = (
    "correct",
    "passed",
    "pass",
    "success",
    "is_correct",
    "outcome",
    "solved",
    "resolved",
    "result",
    "status",
)
_N: tuple[str, ...] = (
    "n_attempts",
    "n",
    "num_samples",
    "num_attempts",
    "n_samples",
    "attempts",
    "trials",
    "total",
)
_C: tuple[str, ...] = (
    "n_successes",
    "c",
    "num_correct",
    "num_successes",
    "n_correct",
    "successes",
    "n_passed",
    "num_passed",
    "correct",
    "passed",
)
_COVARIATES = ("level", "category", "subject", "difficulty", "topic", "type", "split", "benchmark")

_WIDEST_BITMAP = 32  # combinations a row


@dataclass(frozen=True)
class Layout:
    """Which columns of a table mean what; names are the table's own.

    Parameters
    ----------
    problem : str
        The problem's id.
    system, attempt, outcome, n_attempts, n_successes : str, optional
        Columns that a layout has or lacks.
    attempts : tuple of str
        The attempts of a wide table.
    covariates : tuple of str
        Columns that describe the problem.
    """

    problem: str
    system: str | None = None
    attempt: str | None = None
    outcome: str | None = None
    n_attempts: str | None = None
    n_successes: str | None = None
    attempts: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()


def counts_from_frame(
    frame: Any,
    *,
    system: str | None = None,
    problem: str | None = None,
    attempt: str | None = None,
    outcome: str | None = None,
    n_attempts: str | None = None,
    n_successes: str | None = None,
    **policy: Any,
) -> xr.Dataset:
    """Count the attempts in a data frame.

    Parameters
    ----------
    frame : data frame
        pandas, polars (lazy too), PyArrow, DuckDB, Dask, ... Columns are found by their usual
        names: ``problem``, ``task_id``, ``correct``, ``passed``, ``score``, ``n``, ``c``, ...
    system, problem, attempt, outcome, n_attempts, n_successes : str, optional
        Columns, where their names are not the usual ones.
    **policy
        Fields of `bayes_passk.outcomes.Policy`.

    Returns
    -------
    xarray.Dataset
        Counts; what was left out, and why, is in the attribute ``provenance``.

    Raises
    ------
    CountsError
        A column is missing, an outcome or a count cannot be; system, problem, row and value are
        named.
    OptionError
        An option of the policy is unknown or out of its choices.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"problem": ["a", "a", "b"], "correct": [True, False, True]})
    >>> counts_from_frame(frame)["n_attempts"].values.tolist()
    [[2, 1]]
    """
    given = {
        "system": system,
        "problem": problem,
        "attempt": attempt,
        "outcome": outcome,
        "n_attempts": n_attempts,
        "n_successes": n_successes,
    }
    rule = policy_from(policy)
    table = nw.from_native(frame)
    names = table.collect_schema().names()
    layout = find_layout(names, {key: value for key, value in given.items() if value})
    if layout.n_attempts:
        return _counted(table, layout, rule)
    return _wide(table, layout, rule) if layout.attempts else _long(table, layout, rule)


def find_layout(names: Sequence[str], given: dict[str, str] | None = None) -> Layout:
    """Find out what a table's columns mean from their names.

    Raises
    ------
    CountsError
        A column that was named is not there, or none tells the problem or the outcome.

    Examples
    --------
    >>> find_layout(["task_id", "passed"]).outcome
    'passed'
    """
    given = given or {}
    missing = [name for name in given.values() if name not in names]
    if missing:
        raise CountsError(f"no column {missing[0]!r} among: {_listed(names)}")
    lower = {name.strip().lower(): name for name in reversed(names)}
    found = dict(given)

    def look(role: str, aliases: Iterable[str]) -> None:
        taken = set(found.values())
        free = (lower[a] for a in aliases if a in lower and lower[a] not in taken)
        if role not in found and (name := next(free, None)):
            found[role] = name

    look("system", _SYSTEM)
    look("problem", _PROBLEM)
    if "outcome" not in found:
        look("n_attempts", _N)
        look("n_successes", _C) if "n_attempts" in found else None
        if "n_successes" not in found:
            found.pop("n_attempts", None)
            look("outcome", (*_OUTCOME, *_GRADED))
    look("attempt", _ATTEMPT) if "n_attempts" not in found else None
    covariates = [lower[n] for n in _COVARIATES if n in lower and lower[n] not in found.values()]
    return _checked_layout(names, found, covariates)


def _checked_layout(names: Sequence[str], found: dict[str, str], covariates: list[str]) -> Layout:
    if "problem" not in found:
        raise CountsError(f"no problem column found among: {_listed(names)}; say problem=...")
    if "outcome" in found or "n_attempts" in found:
        return _layout(found, (), covariates)
    found.pop("attempt", None)
    rest = [name for name in names if name not in found.values() and name not in covariates]
    wide = [name for name in rest if any(character.isdigit() for character in name)]
    if not wide or len(wide) < len(rest):
        raise CountsError(f"no outcome column found among: {_listed(names)}; say outcome=...")
    return _layout(found, wide, covariates)


def _layout(found: dict[str, str], attempts: Sequence[str], covariates: Sequence[str]) -> Layout:
    return Layout(
        problem=found["problem"],
        system=found.get("system"),
        attempt=found.get("attempt"),
        outcome=found.get("outcome"),
        n_attempts=found.get("n_attempts"),
        n_successes=found.get("n_successes"),
        attempts=tuple(attempts),
        covariates=tuple(covariates),
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name[:40] for name in names[:20])


def _long(table: Any, layout: Layout, policy: Policy) -> xr.Dataset:
    assert layout.outcome is not None
    keys = _keys(layout)
    table = table.select([*keys, layout.outcome, *([layout.attempt] if layout.attempt else [])])
    table, n_twice = _without_duplicates(table, layout, policy)
    # The first row of each group is for messages; a lazy frame has no order.
    lazy = isinstance(table, nw.LazyFrame)
    table = table.with_columns(__row=nw.lit(0)) if lazy else table.with_row_index("__row")
    grouped = table.group_by([*keys, layout.outcome]).agg(
        nw.len().alias("__count"), nw.col("__row").min().alias("__first")
    )
    rows = _to_pandas(grouped)
    if not len(rows):
        raise CountsError("no attempts in the table: it has headings only")
    rows["__first"] = rows["__first"].astype(np.int64) + 1
    rows = rows.sort_values("__first", kind="stable").reset_index(drop=True)
    rows, warnings = _with_ids(rows, layout, policy)
    graded = layout.outcome.strip().lower() in _GRADED
    verdicts = judge(rows[layout.outcome], rows["__first"], graded=graded, policy=policy)
    rows["__n"] = np.where(np.isnan(verdicts.passed), 0, rows["__count"])
    rows["__c"] = np.where(verdicts.passed == 1, rows["__count"], 0)
    reasons = [reason for reason in ("error", "timeout", "unknown") if reason in verdicts.reason]
    dropped = {r: int(rows["__count"][verdicts.reason == r].sum()) for r in reasons}
    dropped |= {"duplicate": n_twice} if n_twice else {}
    return _pivot(rows, layout, dropped, warnings)


def _without_duplicates(table: Any, layout: Layout, policy: Policy) -> tuple[Any, int]:
    """The table with every attempt once, and how many rows that took away."""
    if layout.attempt is None or policy.on_duplicate == "keep_all":
        return table, 0
    keys = [name for name in (layout.system, layout.problem, layout.attempt) if name]
    if policy.on_duplicate in ("first", "last"):
        eager = table.collect() if isinstance(table, nw.LazyFrame) else table
        keep: Literal["first", "last"] = "first" if policy.on_duplicate == "first" else "last"
        once = eager.unique(subset=keys, keep=keep, maintain_order=True)
        return once, len(eager) - len(once)
    if isinstance(table, nw.DataFrame) and _all_distinct(table, keys):
        return table, 0
    counted = table.group_by(keys).agg(nw.len().alias("__count"))
    twice = _to_pandas(counted.filter(nw.col("__count") > 1).head(3))
    if len(twice):
        shown = " and ".join(
            f"attempt ({', '.join(_text(row[key]) for key in keys)})" for _, row in twice.iterrows()
        )
        raise CountsError(f"{shown}: given twice; say on_duplicate='first', 'last' or 'keep_all'")
    return table, 0


def _all_distinct(table: nw.DataFrame, keys: list[str]) -> bool:
    # Marks each combination in a bitmap, which costs a fraction of grouping millions of rows.
    # False where some combination repeats, or where the bitmap would be too wide to say.
    code, width = np.zeros(len(table), dtype=np.int64), 1
    for name in keys:
        column = table[name].to_arrow()
        if not pa.types.is_dictionary(column.type):
            column = pc.dictionary_encode(column)
        chunk = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if chunk.indices.null_count:
            return False
        code = code * len(chunk.dictionary) + chunk.indices.to_numpy(zero_copy_only=False)
        width *= len(chunk.dictionary)
        if width > _WIDEST_BITMAP * (len(table) + 1):
            return False
    seen = np.zeros(width, dtype=bool)
    seen[code] = True
    return int(seen.sum()) == len(table)


def _counted(table: Any, layout: Layout, policy: Policy) -> xr.Dataset:
    assert layout.n_attempts is not None
    assert layout.n_successes is not None
    names = [*_keys(layout), layout.n_attempts, layout.n_successes]
    rows = _to_pandas(table.select(names)).reset_index(drop=True)
    if not len(rows):
        raise CountsError("no attempts in the table: it has headings only")
    rows["__first"] = np.arange(1, len(rows) + 1)
    rows, warnings = _with_ids(rows, layout, policy)
    rows["__n"] = _whole_numbers(rows, layout.n_attempts)
    rows["__c"] = _whole_numbers(rows, layout.n_successes)
    above = rows["__c"] > rows["__n"]
    if above.any():
        bad = rows[above].iloc[0]
        raise CountsError(
            f"{_where(bad)}: {layout.n_successes} = {bad['__c']} is more than "
            f"{layout.n_attempts} = {bad['__n']}"
        )
    twice = rows.duplicated(["__system", "__problem"])
    if twice.any() and policy.on_duplicate != "add":
        bad = rows[twice].iloc[0]
        raise CountsError(
            f"{_where(bad)}: the pair appears twice; if both are attempts that count, "
            "say on_duplicate='add'"
        )
    return _pivot(rows, layout, {}, warnings)


def _wide(table: Any, layout: Layout, policy: Policy) -> xr.Dataset:
    rows = _to_pandas(table.select([*_keys(layout), *layout.attempts])).reset_index(drop=True)
    rows["__first"] = np.arange(1, len(rows) + 1)
    rows, warnings = _with_ids(rows, layout, policy)
    outcomes = rows[list(layout.attempts)].astype(object)
    blank = outcomes.map(lambda value: str(value).strip().lower() in ("", "none", "nan", "<na>"))
    stacked = pd.Series(outcomes.to_numpy().ravel()).where(~blank.to_numpy().ravel(), "fail")
    at = pd.Series(np.repeat(rows["__first"].to_numpy(), len(layout.attempts)))
    verdicts = judge(stacked, at, graded=False, policy=policy)
    passed = verdicts.passed.reshape(outcomes.shape)
    missing = blank.to_numpy() if policy.on_missing == "drop" else np.zeros(blank.shape, dtype=bool)
    passed = np.where(missing, np.nan, passed)
    rows["__n"], rows["__c"] = (~np.isnan(passed)).sum(axis=1), (passed == 1).sum(axis=1)
    dropped = {r: int((verdicts.reason == r).sum()) for r in ("error", "timeout", "unknown")}
    dropped["missing"] = int(missing.sum())
    twice = rows.duplicated(["__system", "__problem"])
    if twice.any() and policy.on_duplicate != "add":
        raise CountsError(f"{_where(rows[twice].iloc[0])}: the pair appears twice")
    return _pivot(rows, layout, {r: n for r, n in dropped.items() if n}, warnings)


def _keys(layout: Layout) -> list[str]:
    return [name for name in (layout.system, layout.problem, *layout.covariates) if name]


def _to_pandas(table: Any) -> pd.DataFrame:
    eager = table.collect() if isinstance(table, nw.LazyFrame) else table
    columns = {name: eager[name].to_list() for name in eager.columns}
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def _with_ids(rows: pd.DataFrame, layout: Layout, policy: Policy) -> tuple[pd.DataFrame, list[str]]:
    for role, name in (("__system", layout.system), ("__problem", layout.problem)):
        texts = rows[name].map(_text) if name else pd.Series(DEFAULT_SYSTEM, index=rows.index)
        rows[role] = texts.str.strip() if policy.strip else texts
    for role, name in (("__system", layout.system), ("__problem", layout.problem)):
        empty = rows[role].str.strip() == ""
        if empty.any() and policy.on_missing_id == "raise":
            row = rows.loc[empty, "__first"].min()
            what = "problem" if role == "__problem" else "system"
            raise CountsError(f"row {row} has no {what} id in {name!r}; say on_missing_id='drop'")
        if empty.any():
            left_out = int(rows.loc[empty].get("__count", pd.Series(1, rows.index[empty])).sum())
            noun = "row" if left_out == 1 else "rows"
            return rows[~empty].reset_index(drop=True), [
                f"{left_out} {noun} without a {role[2:]} id left out"
            ]
    return rows, []


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)) or value is pd.NA:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a gap turned a column of whole numbers into floats
    return str(value)


def _whole_numbers(rows: pd.DataFrame, name: str) -> pd.Series:
    texts = rows[name].map(_raw)
    numbers = pd.to_numeric(texts, errors="coerce").astype(np.float64)
    kinds = (
        (texts == "", "is missing", False),
        (numbers.isna(), "is not a number", True),
        (~np.isfinite(numbers) | (numbers != np.floor(numbers)), "is not a whole number", True),
        (numbers < 0, "is negative", True),
        (numbers > 2**53, "is too large", True),
    )
    for wrong, what, show in kinds:
        if wrong.any():
            bad = rows[wrong].iloc[0]
            shown = f" = {str(bad[name])[:40]}" if show else ""
            raise CountsError(f"{_where(bad)}: {name}{shown} {what}")
    return numbers.astype(np.int64)


def _raw(value: Any) -> str:
    return "" if value is None or value is pd.NA else str(value).strip()


def _where(row: pd.Series) -> str:
    system = "" if row["__system"] == DEFAULT_SYSTEM else f"system {row['__system'][:80]!r}, "
    return f"row {row['__first']}, {system}problem {row['__problem'][:80]!r}"


def _pivot(
    rows: pd.DataFrame, layout: Layout, dropped: dict[str, int], warnings: list[str]
) -> xr.Dataset:
    system, systems = pd.factorize(rows["__system"])
    problem, problems = pd.factorize(rows["__problem"])
    totals = np.zeros((2, len(systems), len(problems)), dtype=np.int64)
    for total, name in zip(totals, ("__n", "__c"), strict=True):
        np.add.at(total, (system, problem), rows[name].to_numpy(dtype=np.int64))
    coords = {}
    for name in layout.covariates:
        values = rows[name].map(_text)
        if rows.assign(__value=values).groupby(problem)["__value"].nunique().max() == 1:
            coords[name.strip().lower()] = values[~rows["__problem"].duplicated()].to_list()
    counts = counts_from_arrays(*totals, systems=systems, problems=problems, coords=coords)
    provenance = {"files": [], "dropped": dropped, "warnings": warnings}
    return counts.assign_attrs(provenance=json.dumps(provenance))
