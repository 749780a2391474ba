"""Counts of several files become one set, or one a task."""

__all__ = ["by_task", "join"]

import json
from collections.abc import Sequence

import numpy as np
import xarray as xr

from bayes_passk.counts import group, merge_counts, provenance_of


def join(parts: Sequence[xr.Dataset], warnings: Sequence[str], *, add: bool) -> xr.Dataset:
    """Merge counts; with several tasks among them, problems are named ``task/problem``.

    Raises
    ------
    CountsError
        Two of them hold the same pair, and it was not said to add them.
    """
    if len({task for part in parts for task in _tasks(part)}) > 1:
        parts = [_with_task_names(part) for part in parts]
    merged = parts[0]
    if len(parts) > 1:
        merged = merge_counts(*parts, on_duplicate="add" if add else "raise")
    provenance = provenance_of(merged)
    rules = [rule for part in parts for rule in provenance_of(part).get("rules", [])]
    provenance["rules"] = list(dict.fromkeys(rules))
    provenance["warnings"] += warnings
    return merged.assign_attrs(provenance=json.dumps(provenance))


def by_task(counts: xr.Dataset) -> dict[str, xr.Dataset]:
    """Split counts by task; those that name none are one task, called "".

    Each keeps the systems that attempted it.
    """
    if "task" not in counts.coords:
        return {"": counts}
    several = len(_tasks(counts)) > 1
    return {task: _of_task(task, part, several) for task, part in group(counts, "task")}


def _tasks(counts: xr.Dataset) -> set[str]:
    return set(counts["task"].values) if "task" in counts.coords else {""}


def _with_task_names(counts: xr.Dataset) -> xr.Dataset:
    # Counts of several tasks have their names already.
    if len(tasks := _tasks(counts)) > 1 or tasks == {""}:
        return counts
    names = [f"{next(iter(tasks))}/{problem}" for problem in counts["problem"].values]
    return counts.assign_coords(problem=np.array(names, dtype=object))


def _of_task(task: str, counts: xr.Dataset, several: bool) -> xr.Dataset:
    attempted = (counts["n_attempts"] > 0).any("problem").values
    counts = counts.isel(system=attempted) if attempted.any() else counts
    if not several:
        return counts
    names = [problem.removeprefix(f"{task}/") for problem in counts["problem"].values]
    return counts.assign_coords(problem=np.array(names, dtype=object))
