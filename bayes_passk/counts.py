"""Counts: attempts and successes of systems on problems, and the cells they reduce to.

Counts are an `xarray.Dataset` with int64 ``n_attempts`` and ``n_successes`` over (``system``,
``problem``). A pair that was never attempted is 0/0. Other coordinates on ``problem`` or
``system`` (a level, a category) are covariates. The attribute ``provenance`` is a JSON text.
"""

__all__ = [
    "Cells",
    "CountsSummary",
    "cells_of",
    "counts_from_arrays",
    "counts_from_dict",
    "describe",
    "digest",
    "group",
    "levels_of",
    "merge_counts",
    "provenance_of",
    "select",
    "thin",
    "validate",
]

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayes_passk.errors import CountsError, OptionError, UnknownNameError, did_you_mean

DEFAULT_SYSTEM = "system"
_VARIABLES = ("n_attempts", "n_successes")
# Beyond it a float64 no longer tells neighbouring whole numbers apart.
_MAX_COUNT = 2**53


@dataclass(frozen=True)
class Cells:
    """Distinct counts of each group, with how many problems share them.

    A group is a system, or a system at a level of a covariate.

    Parameters
    ----------
    group : ndarray of int64, shape (cell,)
        Index of the group, ``system * n_levels + level``.
    n_attempts, n_successes, multiplicity : ndarray of float64, shape (cell,)
        Attempts, successes, and the number of problems that show them.
    index : ndarray of int64, shape (system, problem)
        The cell of each pair.
    n_levels : int
        Levels of the covariate, 1 where there is none.
    """

    group: np.ndarray
    n_attempts: np.ndarray
    n_successes: np.ndarray
    multiplicity: np.ndarray
    index: np.ndarray
    n_levels: int = 1

    @property
    def system(self) -> np.ndarray:
        """Index of the system of each cell."""
        return self.group // self.n_levels

    @property
    def n_failures(self) -> np.ndarray:
        """Failures of each cell."""
        return self.n_attempts - self.n_successes

    def unit_multiplicity(self, joint: bool) -> np.ndarray:
        """Problems that share each cell or, for a joint difficulty, each row of cells."""
        # The cells of a row stand together, one for each system, and are as many.
        return self.multiplicity[:: len(self.index)] if joint else self.multiplicity


@dataclass(frozen=True)
class CountsSummary:
    """What counts hold, in numbers and in plain words."""

    n_systems: int
    n_problems: int
    n_attempts: int
    n_successes: int
    smallest_n: int
    largest_n: int
    n_without_attempts: int
    warnings: tuple[str, ...]


def counts_from_arrays(
    n_attempts: Any,
    n_successes: Any,
    *,
    systems: Sequence[Any] | None = None,
    problems: Sequence[Any] | None = None,
    coords: Mapping[str, Sequence[Any]] | None = None,
) -> xr.Dataset:
    """Build counts from arrays.

    Parameters
    ----------
    n_attempts, n_successes : array_like, shape (problem,) or (system, problem)
        Whole numbers with ``0 <= n_successes <= n_attempts``.
    systems, problems : sequence, optional
        Ids, made text; by default ``system`` (numbered where there are several) and numbers.
    coords : mapping, optional
        Covariates of the problems by name.

    Raises
    ------
    CountsError
        The counts cannot be; the message names system, problem and value.

    Examples
    --------
    >>> counts = counts_from_arrays([10, 10], [0, 3], problems=["007", 7])
    >>> counts["problem"].values.tolist()
    ['007', '7']
    """
    arrays = [np.atleast_2d(np.asarray(x)) for x in (n_attempts, n_successes)]
    if arrays[0].shape != arrays[1].shape or arrays[0].ndim != 2:
        shapes = " and ".join(str(np.shape(x)) for x in (n_attempts, n_successes))
        raise CountsError(f"n_attempts and n_successes: expected one shape, got {shapes}")
    n_systems, n_problems = arrays[0].shape
    if systems is None:
        one = n_systems == 1
        systems = [DEFAULT_SYSTEM] if one else [f"{DEFAULT_SYSTEM} {i}" for i in range(n_systems)]
    labels = {
        "system": _texts(systems, n_systems, "systems"),
        "problem": _texts(
            range(n_problems) if problems is None else problems, n_problems, "problems"
        ),
    }
    whole = _whole_arrays(arrays, labels)
    covariates = {
        name: ("problem", _texts(values, n_problems, name))
        for name, values in (coords or {}).items()
    }
    counts = xr.Dataset(
        {
            name: (("system", "problem"), array)
            for name, array in zip(_VARIABLES, whole, strict=True)
        },
        coords=labels | covariates,
        attrs={"provenance": json.dumps({"files": [], "dropped": {}, "warnings": []})},
    )
    validate(counts)
    return counts


def counts_from_dict(mapping: Mapping[Any, Any]) -> xr.Dataset:
    """Build counts from a dict of problems, or a dict of systems with such dicts.

    Parameters
    ----------
    mapping : dict
        ``{problem: outcomes}``, with outcomes a list of booleans or 0/1, or
        ``{"n": 10, "c": 3}``; or a tuple ``(n, c)``.

    Raises
    ------
    CountsError
        An entry has another form, or the counts cannot be.

    Examples
    --------
    >>> counts = counts_from_dict({"p1": [True, False, True], "p2": (10, 0)})
    >>> counts["n_attempts"].values.tolist()
    [[3, 10]]
    """
    nested = mapping and all(isinstance(v, Mapping) and not _is_pair(v) for v in mapping.values())
    systems = mapping if nested else {DEFAULT_SYSTEM: mapping}
    problems = list(dict.fromkeys(str(p) for row in systems.values() for p in row))
    position = {problem: i for i, problem in enumerate(problems)}
    n, c = np.zeros((2, len(systems), len(problems)), dtype=np.int64)
    for i, row in enumerate(systems.values()):
        for problem, outcomes in row.items():
            n[i, position[str(problem)]], c[i, position[str(problem)]] = _pair(problem, outcomes)
    return counts_from_arrays(n, c, systems=list(systems), problems=problems)


def validate(counts: xr.Dataset) -> None:
    """Check that a dataset is counts.

    Raises
    ------
    CountsError
        A variable or dimension is missing, an id is given twice, a count is negative or not a
        whole number, there are more successes than attempts, or there is no attempt at all.
    """
    for name in _VARIABLES:
        if name not in counts or counts[name].dims != ("system", "problem"):
            raise CountsError(f"expected counts with {name} over (system, problem)")
        if counts[name].dtype != np.int64:
            raise CountsError(f"{name}: expected int64, got {counts[name].dtype}")
    for dim in ("system", "problem"):
        if dim not in counts.coords:
            raise CountsError(f"expected ids as the coordinate {dim!r}")
        ids = counts.get_index(dim)
        if not ids.is_unique:
            raise CountsError(f"{dim} {ids[ids.duplicated()][0]!r} appears twice")
    _refuse(counts, counts["n_attempts"].values < 0, "n_attempts", "is negative")
    _refuse(counts, counts["n_successes"].values < 0, "n_successes", "is negative")
    above = counts["n_successes"].values > counts["n_attempts"].values
    if above.any():
        i, j = np.argwhere(above)[0]
        n, c = (int(counts[name].values[i, j]) for name in _VARIABLES)
        raise CountsError(
            f"{_where(counts, i, j)}: n_successes = {c} is more than n_attempts = {n}"
        )
    if not counts["n_attempts"].values.any():
        raise CountsError("expected at least one attempt, got none in these counts")


def digest(counts: xr.Dataset) -> str:
    """SHA-256 of the content, the same for any order of systems and problems.

    Examples
    --------
    >>> a = counts_from_arrays([5, 6], [1, 2], problems=["a", "b"])
    >>> b = counts_from_arrays([6, 5], [2, 1], problems=["b", "a"])
    >>> digest(a) == digest(b)
    True
    """
    ordered = counts.sortby(["system", "problem"])
    names = [*sorted(map(str, set(counts.coords) - {"system", "problem"})), "system", "problem"]
    hashed = hashlib.sha256()
    for name in names:
        # Lengths first, so that no text can pass for the end of another.
        texts = [str(value) for value in ordered[name].values.ravel()]
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        hashed.update(name.encode() + b"\0" + lengths.tobytes())
        hashed.update("".join(texts).encode("utf-8", "surrogatepass"))
    for name in _VARIABLES:
        hashed.update(np.ascontiguousarray(ordered[name].values, dtype="<i8").tobytes())
    return hashed.hexdigest()


def merge_counts(
    *several: xr.Dataset, on_duplicate: Literal["raise", "add"] = "raise"
) -> xr.Dataset:
    """Put counts together: the union of systems and of problems.

    Parameters
    ----------
    *several : xarray.Dataset
        Counts.
    on_duplicate : {"raise", "add"}
        What to do with a pair attempted in more than one of them.

    Raises
    ------
    CountsError
        A pair was attempted in two of them, with ``on_duplicate="raise"``.

    Examples
    --------
    >>> a = counts_from_arrays([5], [1], systems=["A"])
    >>> b = counts_from_arrays([9], [2], systems=["B"])
    >>> merge_counts(a, b)["n_attempts"].values.tolist()
    [[5], [9]]
    """
    if on_duplicate not in ("raise", "add"):
        raise OptionError(f"on_duplicate: expected raise or add, got {on_duplicate!r}")
    if not several:
        raise CountsError("expected at least one dataset of counts, got none")
    labels = {dim: _union(several, dim) for dim in ("system", "problem")}
    total = [np.zeros([len(ids) for ids in labels.values()], dtype=np.int64) for _ in _VARIABLES]
    for counts in several:
        at = np.ix_(*(labels[dim].get_indexer(counts.get_index(dim)) for dim in labels))
        again = (total[0][at] > 0) & (counts["n_attempts"].values > 0)
        if on_duplicate == "raise" and again.any():
            i, j = np.argwhere(again)[0]
            raise CountsError(
                f"{_where(counts, i, j)} appears twice; if both are attempts that count, "
                'say on_duplicate="add"'
            )
        for array, name in zip(total, _VARIABLES, strict=True):
            array[at] += counts[name].values
    merged = counts_from_arrays(*total, systems=labels["system"], problems=labels["problem"])
    merged = merged.assign_coords(_merged_covariates(several, labels["problem"]))
    return merged.assign_attrs(provenance=json.dumps(_merged_provenance(several)))


def select(
    counts: xr.Dataset,
    *,
    systems: Sequence[str] | None = None,
    problems: Sequence[str] | None = None,
) -> xr.Dataset:
    """Keep some systems and problems, in the order given.

    Raises
    ------
    UnknownNameError
        A name is not there; the message suggests a close one.

    Examples
    --------
    >>> counts = counts_from_arrays([[5, 6], [7, 8]], [[0, 0], [1, 1]], systems=["A", "B"])
    >>> select(counts, systems=["B"])["n_attempts"].values.tolist()
    [[7, 8]]
    """
    for dim, wanted in (("system", systems), ("problem", problems)):
        if wanted is None:
            continue
        known = counts.get_index(dim)
        for name in wanted:
            if name not in known:
                hint = did_you_mean(str(name), list(known)[:1000])
                raise UnknownNameError(f"no {dim} {name!r} in these counts: {hint}")
        counts = counts.sel({dim: list(wanted)})
    return counts


def group(counts: xr.Dataset, by: str) -> Iterator[tuple[str, xr.Dataset]]:
    """Split counts by a covariate of the problems.

    Yields
    ------
    (str, xarray.Dataset)
        Each value of the covariate, sorted, with the counts of its problems.

    Raises
    ------
    UnknownNameError
        There is no such covariate.

    Examples
    --------
    >>> counts = counts_from_arrays([5, 6, 7], [0, 1, 2], coords={"level": ["a", "b", "a"]})
    >>> [(label, part.sizes["problem"]) for label, part in group(counts, "level")]
    [('a', 2), ('b', 1)]
    """
    _check_covariate(counts, by)
    values = counts[by].values
    return ((label, counts.isel(problem=values == label)) for label in sorted(set(values)))


def thin(counts: xr.Dataset, max_attempts: int, random_seed: int) -> xr.Dataset:
    """Keep at most so many attempts of each problem, drawn at random without replacement.

    Successes are hypergeometric. Fair only where n did not depend on the outcomes: a problem
    sampled until it was solved looks easier when thinned.

    Examples
    --------
    >>> counts = counts_from_arrays([100, 3], [100, 1])
    >>> thin(counts, 10, random_seed=1)["n_successes"].values.tolist()
    [[10, 1]]
    """
    if not isinstance(max_attempts, int | np.integer) or max_attempts < 1:
        raise OptionError(f"max_attempts: expected a whole number above 0, got {max_attempts!r}")
    n, c = (counts[name].values for name in _VARIABLES)
    kept = np.minimum(n, max_attempts)
    drawn = np.random.default_rng(random_seed).hypergeometric(c, n - c, kept)
    thinned = {"n_attempts": kept, "n_successes": np.where(kept < n, drawn, c)}
    return counts.assign({name: (("system", "problem"), x) for name, x in thinned.items()})


def describe(counts: xr.Dataset) -> CountsSummary:
    """Sum up counts, with warnings in plain words.

    Examples
    --------
    >>> describe(counts_from_arrays([1, 1], [0, 1])).warnings
    ('every problem has one attempt at most: pass@k for k above 1 rests on the prior alone',)
    """
    n = counts["n_attempts"].values
    return CountsSummary(
        n_systems=counts.sizes["system"],
        n_problems=counts.sizes["problem"],
        n_attempts=int(n.sum()),
        n_successes=int(counts["n_successes"].values.sum()),
        smallest_n=int(n.min()),
        largest_n=int(n.max()),
        n_without_attempts=int((n == 0).sum()),
        warnings=tuple(_warnings(counts)),
    )


def provenance_of(counts: xr.Dataset) -> dict[str, Any]:
    """Where counts came from.

    Returns
    -------
    dict
        ``files`` (one entry each), ``dropped`` (attempts left out, by reason), ``warnings``.

    Examples
    --------
    >>> provenance_of(counts_from_arrays([9, 9], [0, 2]))["dropped"]
    {}
    """
    return json.loads(counts.attrs.get("provenance", '{"files":[],"dropped":{},"warnings":[]}'))


def cells_of(counts: xr.Dataset, *, by: str | None = None, joint: bool = False) -> Cells:
    """Reduce counts to their cells.

    Parameters
    ----------
    counts : xarray.Dataset
        Counts.
    by : str, optional
        Covariate of the problems that splits each system into groups.
    joint : bool
        Keep the counts of all systems on a problem together: cells are then ordered by the
        distinct rows of counts, and by system within a row.

    Raises
    ------
    UnknownNameError
        There is no such covariate.

    Examples
    --------
    >>> cells = cells_of(counts_from_arrays([9, 9, 9, 5], [0, 2, 0, 0]))
    >>> cells.multiplicity.tolist()
    [1.0, 2.0, 1.0]
    """
    n, c = (counts[name].values for name in _VARIABLES)
    levels, level = levels_of(counts, by)
    group = np.arange(n.shape[0])[:, None] * len(levels) + level
    codes = np.zeros(n.size, dtype=np.int64)
    for values in (group, n, c):
        distinct, code = _factorise(values.ravel())
        # Pairs seen so far stay below the number of problems, so this cannot overflow.
        codes = _factorise(codes * len(distinct) + code)[1]
    if joint:
        _, row = np.unique(codes.reshape(n.shape), axis=1, return_inverse=True)
        codes = (row * len(n) + np.arange(len(n))[:, None]).ravel()
    order, first, multiplicity = np.unique(codes, return_index=True, return_counts=True)
    pick = [values.ravel()[first] for values in (group, n, c)]
    return Cells(
        group=pick[0].astype(np.int64),
        n_attempts=pick[1].astype(np.float64),
        n_successes=pick[2].astype(np.float64),
        multiplicity=multiplicity.astype(np.float64),
        index=np.searchsorted(order, codes).reshape(n.shape),
        n_levels=len(levels),
    )


def levels_of(counts: xr.Dataset, by: str | None) -> tuple[list[str], np.ndarray]:
    """Levels of a covariate, sorted, and the level of each problem; one level without it.

    Raises
    ------
    UnknownNameError
        There is no such covariate.
    """
    if by is None:
        return [""], np.zeros(counts.sizes["problem"], dtype=np.int64)
    _check_covariate(counts, by)
    levels, level = np.unique(counts[by].values.astype(str), return_inverse=True)
    return [str(name) for name in levels], level


def _check_covariate(counts: xr.Dataset, by: str) -> None:
    known = [str(n) for n, c in counts.coords.items() if c.dims == ("problem",) and n != "problem"]
    if by not in known:
        hint = did_you_mean(by, known) if known else "these counts have none"
        raise UnknownNameError(f"no covariate {by!r} of the problems: {hint}")


def _factorise(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    codes, distinct = pd.factorize(values, sort=True)
    return np.asarray(distinct), codes.astype(np.int64)


def _texts(values: Any, size: int, name: str) -> np.ndarray:
    # Object arrays: one id of 10,000 characters must not widen all the others.
    texts = np.array([str(value) for value in values], dtype=object)
    if len(texts) != size:
        raise CountsError(f"{name}: expected {size} values, got {len(texts)}")
    return texts


def _whole_arrays(arrays: list[np.ndarray], labels: dict[str, np.ndarray]) -> list[np.ndarray]:
    result = []
    for name, array in zip(_VARIABLES, arrays, strict=True):
        if array.dtype.kind not in "biu":
            numbers = _numbers(name, array, labels)
            wrong = ~(np.isfinite(numbers) & (np.abs(numbers) <= _MAX_COUNT))
            wrong |= np.floor(np.where(wrong, 0, numbers)) != np.where(wrong, 0, numbers)
            if wrong.any():
                i, j = np.argwhere(wrong)[0]
                where = _where_in(labels, i, j)
                raise CountsError(f"{where}: {name} = {numbers[i, j]:g} is not a whole number")
            array = numbers
        result.append(array.astype(np.int64))
    return result


def _numbers(name: str, array: np.ndarray, labels: dict[str, np.ndarray]) -> np.ndarray:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        for i, j in np.ndindex(array.shape):
            try:
                float(array[i, j])
            except (TypeError, ValueError):
                where = _where_in(labels, i, j)
                raise CountsError(f"{where}: {name} = {array[i, j]!r} is not a number") from None
        raise


def _where_in(labels: Mapping[str, Any], i: int, j: int) -> str:
    return f"system {labels['system'][i]!r}, problem {labels['problem'][j]!r}"


def _where(counts: xr.Dataset, i: int, j: int) -> str:
    return _where_in({dim: counts[dim].values for dim in ("system", "problem")}, i, j)


def _refuse(counts: xr.Dataset, wrong: np.ndarray, name: str, what: str) -> None:
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise CountsError(f"{_where(counts, i, j)}: {name} = {counts[name].values[i, j]} {what}")


def _is_pair(value: Mapping[Any, Any]) -> bool:
    return {str(key) for key in value} <= {"n", "c", *_VARIABLES}


def _pair(problem: Any, outcomes: Any) -> tuple[int, int]:
    if isinstance(outcomes, Mapping) and _is_pair(outcomes) and len(outcomes) == 2:
        n, c = (
            outcomes.get(long, outcomes.get(short))
            for long, short in zip(_VARIABLES, "nc", strict=True)
        )
        return n, c
    if isinstance(outcomes, tuple) and len(outcomes) == 2:
        return outcomes
    if isinstance(outcomes, Sequence | np.ndarray) and not isinstance(outcomes, str):
        wrong = [value for value in outcomes if value not in (0, 1)]
        if wrong:
            raise CountsError(
                f"problem {problem!r}: outcome {wrong[0]!r} is neither true nor false"
            )
        return len(outcomes), int(sum(outcomes))
    raise CountsError(
        f"problem {problem!r}: expected a list of outcomes, (n, c) or {{'n': .., 'c': ..}}, "
        f"got {outcomes!r}"
    )


def _union(several: Sequence[xr.Dataset], dim: str) -> pd.Index:
    return pd.Index(
        list(dict.fromkeys(name for c in several for name in c[dim].values)), dtype=object
    )


def _merged_covariates(
    several: Sequence[xr.Dataset], problems: pd.Index
) -> dict[str, tuple[str, np.ndarray]]:
    merged: dict[str, tuple[str, np.ndarray]] = {}
    for counts in several:
        for name, values in counts.coords.items():
            if values.dims == ("problem",) and name != "problem":
                _, texts = merged.setdefault(
                    str(name), ("problem", np.full(len(problems), "", object))
                )
                texts[problems.get_indexer(counts.get_index("problem"))] = values.values
    return merged


def _merged_provenance(several: Sequence[xr.Dataset]) -> dict[str, Any]:
    parts = [provenance_of(counts) for counts in several]
    reasons = dict.fromkeys(reason for part in parts for reason in part["dropped"])
    return {
        "files": [file for part in parts for file in part["files"]],
        "dropped": {r: sum(part["dropped"].get(r, 0) for part in parts) for r in reasons},
        "warnings": [line for part in parts for line in part["warnings"]],
    }


def _warnings(counts: xr.Dataset) -> Iterator[str]:
    n = counts["n_attempts"].values
    if n.max() <= 1:
        yield (
            "every problem has one attempt at most: pass@k for k above 1 rests on the prior alone"
        )
    if counts.sizes["problem"] == 1:
        yield "one problem only: is this a total over a benchmark? pass@k needs a row a problem"
    for i in np.flatnonzero((n == 0).any(axis=1))[:20]:
        empty = np.flatnonzero(n[i] == 0)
        names = ", ".join(repr(str(p)[:40]) for p in counts["problem"].values[empty[:3]])
        more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
        yield (
            f"system {str(counts['system'].values[i])[:60]!r}: {len(empty)} of {n.shape[1]} "
            f"problems have no attempts ({names}{more}): they stay in the benchmark, known by "
            "the others only"
        )
