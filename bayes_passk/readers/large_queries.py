"""Queries that count a long table inside a database, and what is made of their answers."""

__all__ = ["LongQuery", "quoted"]

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import xarray as xr

from bayes_passk.counts import DEFAULT_SYSTEM, counts_from_arrays
from bayes_passk.errors import CountsError
from bayes_passk.frames import Layout
from bayes_passk.outcomes import Policy, judge

_MOST_OUTCOMES = 1_000
# Attempts' numbers up to this far apart are marked in a row of bits, one for each pair.
_WIDEST = 4_096
_SCORES = ("score", "reward", "grade")


def quoted(name: str | None) -> str:
    """Name of a column as SQL has it."""
    return '"' + str(name).replace('"', '""') + '"'


@dataclass(frozen=True)
class LongQuery:
    """A long table in a database.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        The database.
    relation : duckdb.DuckDBPyRelation
        The table.
    layout : Layout
        What its columns mean.
    policy : Policy
        What to do with doubtful attempts.
    """

    connection: Any
    relation: Any
    layout: Layout
    policy: Policy

    def counts(self) -> xr.Dataset | None:
        """Count the attempts; nothing where the outcomes are too many to be judged one by one."""
        outcomes = self._outcomes()
        if len(outcomes) > _MOST_OUTCOMES:
            return None
        if not len(outcomes):
            raise CountsError("no attempts in the table: it has headings only")
        first = pd.Series(1, outcomes.index)
        graded = str(self.layout.outcome).strip().lower() in _SCORES
        verdicts = judge(outcomes["outcome"], first, graded=graded, policy=self.policy)
        used, passed = ~np.isnan(verdicts.passed), verdicts.passed == 1
        table = self._table(outcomes["outcome"], used, passed)
        rows = outcomes["rows"].to_numpy()
        reasons = [reason for reason in dict.fromkeys(verdicts.reason) if reason]
        dropped = {r: int(rows[verdicts.reason == r].sum()) for r in reasons}
        return self._dataset(table, dropped)

    def _outcomes(self) -> pd.DataFrame:
        column = quoted(self.layout.outcome)
        if self._type(self.layout.outcome) == "BOOLEAN":
            # Several times faster than a group for each.
            kinds = [f"count(*) FILTER ({sql})" for sql in _among(column, [True, False, None])]
            rows = self._run(f"SELECT {', '.join(kinds)} FROM relation").to_pylist()[0].values()
            found = [(value, n) for value, n in zip((True, False, None), rows, strict=True) if n]
        else:
            sql = f"SELECT {column}, count(*) FROM relation GROUP BY ALL"
            table = self._run(f"{sql} LIMIT {_MOST_OUTCOMES + 1}")
            found = list(zip(*(table.column(i).to_pylist() for i in range(2)), strict=True))
        values = pd.Series([value for value, _ in found], dtype=object)
        return pd.DataFrame({"outcome": values, "rows": [n for _, n in found]})

    def _table(self, outcomes: pd.Series, used: np.ndarray, passed: np.ndarray) -> pa.Table:
        keys = [name for name in (self.layout.system, self.layout.problem) if name]
        keys += self.layout.covariates
        columns = [quoted(name) for name in keys]
        shown, values = [*columns, "count(*)"], []
        for mask in (used, passed):
            chosen = outcomes[mask].tolist()
            shown.append("count(*)" if mask.all() else f"count(*) FILTER ({self._is_in(chosen)})")
            values += [] if mask.all() else [v for v in chosen if not isinstance(v, bool | None)]
        shown += [f"count(*) - {self._distinct()}"] if self._must_be_distinct() else []
        sql = f"SELECT {', '.join(shown)} FROM relation GROUP BY {', '.join(columns)}"
        table = self._run(sql, values)
        return table.rename_columns([*keys, "__rows", "__n", "__c", "__twice"][: table.num_columns])

    def _is_in(self, values: list[Any]) -> str:
        return " OR ".join(_among(quoted(self.layout.outcome), values)) or "false"

    def _type(self, column: str | None) -> str:
        return str(dict(zip(self.relation.columns, self.relation.types, strict=True))[column])

    def _must_be_distinct(self) -> bool:
        return self.layout.attempt is not None and self.policy.on_duplicate == "raise"

    def _distinct(self) -> str:
        """SQL for the number of distinct attempts of a pair."""
        column, whole = quoted(self.layout.attempt), "INT" in self._type(self.layout.attempt)
        number = column if whole else f"TRY_CAST({column} AS BIGINT)"
        plain = "true" if whole else f"coalesce(bool_and({number}::VARCHAR = {column}), false)"
        found = self._run(
            f"SELECT min({number}) low, max({number}) high, {plain} plain, "
            f"count({number}) = count({column}) whole FROM relation"
        ).to_pylist()[0]
        # "1" and "01" are two attempts: only numbers that are written as such are marked as bits.
        few = found["low"] is not None and found["high"] - found["low"] < _WIDEST
        if few and found["plain"] and found["whole"]:
            return f"bit_count(bitstring_agg({number}, {found['low']}, {found['high']}))"
        return f"count(DISTINCT {column})"

    def _dataset(self, table: pa.Table, dropped: dict[str, int]) -> xr.Dataset:
        frame = table.to_pandas(strings_to_categorical=True)
        for role in ("system", "problem"):
            name = getattr(self.layout, role)
            frame[f"__{role}"] = _ids(frame[name]) if name else DEFAULT_SYSTEM
        frame, warnings = self._with_ids(frame)
        self._check_distinct(frame)
        system, systems = pd.factorize(frame["__system"], sort=True)
        problem, problems = pd.factorize(frame["__problem"], sort=True)
        totals = np.zeros((2, len(systems), len(problems)), dtype=np.int64)
        for total, name in zip(totals, ("__n", "__c"), strict=True):
            np.add.at(total, (system, problem), frame[name].to_numpy(dtype=np.int64))
        counts = counts_from_arrays(
            *totals,
            systems=list(systems),
            problems=list(problems),
            coords=_covariates(frame, self.layout, problem),
        )
        said = {"files": [], "dropped": dropped, "warnings": warnings}
        return counts.assign_attrs(provenance=json.dumps(said))

    def _with_ids(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
        for role in ("system", "problem"):
            texts = frame[f"__{role}"]
            if self.policy.strip:
                frame[f"__{role}"] = texts = texts.astype(object).str.strip()
            empty = texts.isin([text for text in texts.unique() if not text.strip()])
            number = int(frame["__rows"][empty].sum())
            rows = f"{number} row{'s' * (number > 1)}"
            if number and self.policy.on_missing_id == "raise":
                column = getattr(self.layout, role)
                raise CountsError(
                    f"{rows} with no {role} id in {column!r}; say on_missing_id='drop'"
                )
            if number:
                return frame[~empty], [f"{rows} without a {role} id left out"]
        return frame, []

    def _check_distinct(self, frame: pd.DataFrame) -> None:
        if "__twice" in frame and (frame["__twice"] > 0).any():
            row = frame[frame["__twice"] > 0].iloc[0]
            raise CountsError(
                f"system {row['__system'][:80]!r}, problem {row['__problem'][:80]!r}: an attempt "
                f"is given twice (column {self.layout.attempt!r}); say on_duplicate='first', "
                "'last' or 'keep_all'"
            )

    def _run(self, sql: str, values: list[Any] | None = None) -> pa.Table:
        relation = self.relation  # noqa: F841
        return self.connection.sql(sql, params=values or None).to_arrow_table()


def _among(column: str, values: list[Any]) -> list[str]:
    """Conditions in SQL for being one of some values; those that are no boolean are parameters."""
    plain = {True: column, False: f"NOT {column}", None: f"{column} IS NULL"}
    parts = [plain[value] for value in values if isinstance(value, bool | None)]
    others = ["?" for value in values if not isinstance(value, bool | None)]
    return parts + ([f"{column} IN ({', '.join(others)})"] if others else [])


def _ids(column: pd.Series) -> pd.Series:
    codes, labels = pd.factorize(column)
    texts = np.array([*map(_id, labels), ""], dtype=object)
    return pd.Series(texts[codes], index=column.index, dtype="category")


def _id(value: Any) -> str:
    # A gap turns a column of whole numbers into floats.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _covariates(frame: pd.DataFrame, layout: Layout, problem: np.ndarray) -> dict[str, list[str]]:
    coords = {}
    for name in layout.covariates:
        values = _ids(frame[name]).astype(object)
        if values.groupby(problem).nunique().max() == 1:
            coords[name.strip().lower()] = values.groupby(problem).first().tolist()
    return coords
