"""Where an evaluation stands when more attempts are to be planned, and the even way to go on."""

__all__ = ["Standing", "pays", "spread"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr


@dataclass(frozen=True)
class Standing:
    """Where an evaluation stands when more attempts are to be planned.

    Parameters
    ----------
    counts : xarray.Dataset
        Attempts made and successes seen.
    pending : ndarray of int, shape (system, problem)
        Attempts asked for whose outcome is not known yet.
    cost : ndarray of float, shape (system, problem)
        Cost of an attempt, above 0; 1 where the budget is in attempts.
    room : ndarray of int, shape (system, problem)
        Attempts that may still be asked for; 0 leaves a pair alone.
    k : int or sequence of int
        Attempts granted, of the pass@k that is wanted.
    target : str
        What the variance is of: a name of `bayes_passk.targets.TARGETS`.
    posterior : callable
        Gives a fit of the counts; called only by rules that need one.
    """

    counts: xr.Dataset
    pending: np.ndarray
    cost: np.ndarray
    room: np.ndarray
    k: int | Sequence[int]
    target: str
    posterior: Callable[[], xr.DataTree]


def spread(
    made: np.ndarray, room: np.ndarray, cost: np.ndarray, batch: float, rng: np.random.Generator
) -> np.ndarray:
    """Attempts that level the total over pairs; ties in random order.

    Examples
    --------
    >>> ones = np.ones((1, 3))
    >>> spread(np.array([[4, 0, 1]]), 9 * ones, ones, 6, np.random.default_rng(1)).tolist()
    [[0, 3, 3]]
    """
    plan = _filled(made, room, _highest_level(made, room, cost, batch))
    left = batch - float((plan * cost).sum())
    # One more for as many as the rest pays for.
    open_pairs = np.flatnonzero((plan < room).ravel())
    lowest = (made + plan).ravel()[open_pairs]
    order = open_pairs[np.lexsort((rng.random(len(open_pairs)), lowest))]
    affordable = order[pays(cost.ravel()[order], left)]
    plan.ravel()[affordable] += 1
    return plan


def pays(costs: np.ndarray, left: float) -> np.ndarray:
    """Whom a sum pays for: in order, whoever can still be paid."""
    chosen = np.zeros(len(costs), dtype=bool)
    upto = int(np.searchsorted(np.cumsum(costs), left * (1 + 1e-12), side="right"))
    chosen[:upto] = True
    left -= float(costs[:upto].sum())
    for index in range(upto, len(costs)):
        if costs[index] <= left:
            chosen[index] = True
            left -= float(costs[index])
    return chosen


def _filled(made: np.ndarray, room: np.ndarray, level: int) -> np.ndarray:
    return np.clip(level - made, 0, room).astype(np.int64)


def _highest_level(made: np.ndarray, room: np.ndarray, cost: np.ndarray, batch: float) -> int:
    low, high = int(made.min()), int(made.max() + batch / cost.min()) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if (_filled(made, room, middle) * cost).sum() <= batch:
            low = middle
        else:
            high = middle
    return low
