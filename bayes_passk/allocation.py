"""Where to sample next: greedy on the expected reduction of posterior variance."""

__all__ = ["allocate", "planned"]

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from bayes_passk.costs import prices_of, room_of
from bayes_passk.errors import OptionError
from bayes_passk.forecast import Forecast, forecast
from bayes_passk.gain import Beliefs, expected_reduction
from bayes_passk.posterior import Posterior
from bayes_passk.record import record_of
from bayes_passk.standing import Standing, spread
from bayes_passk.targets import Functionals, functionals_of

# Share of the cost that is spread evenly over the problems before the rest is placed. What it costs
# where the variant is right is little; where its shape is wrong, greed alone keeps asking about
# what the wrong shape makes important (docs/benchmarks/allocation.md).
_EVEN = 0.5
# Attempts on one problem that are weighed, as multiples of the even share of the budget.
_LOOK_AHEAD = np.array([0.1, 0.3, 1.0, 3.0, 8.0, 20.0])


def allocate(
    fit: xr.DataTree,
    budget: float,
    k: int | Sequence[int],
    *,
    target: str = "benchmark",
    systems: Sequence[str] | None = None,
    problems: Sequence[str] | None = None,
    cost: Any = 1.0,
    cap: Any = None,
    ci_prob: float | None = None,
    random_seed: int = 0,
) -> xr.Dataset:
    r"""Plan attempts that make pass@k as certain as the budget allows.

    One half is spread evenly, against a wrong shape of the difficulty distribution; the other is
    greedy on the expected reduction of the target's posterior variance for its cost
    (`bayes_passk.gain`), with look-ahead: one more failure tells little about a hard problem,
    fifty do. The gains of different problems overlap, as all teach about the difficulty
    distribution: plan a large budget in some ten rounds, with a fit between them.

    Parameters
    ----------
    fit : xarray.DataTree
        Result of `fit` or `load_fit`.
    budget : int or float
        Attempts in all, or their cost where ``cost`` is given.
    k : int or sequence of int
        Attempts granted, of the pass@k that is wanted.
    target : {"benchmark", "curve", "difference", "any_success"}
        The benchmark's pass@k of each system; its curve (several k, or one: five from 1 to k
        evenly over log k), each variance relative to that now; pass@k of the first of two systems
        less that of the second; the risk that any problem is solved within k attempts.
    systems, problems : sequence of str, optional
        Those that may be sampled, and whose systems matter; all by default.
    cost : float, mapping or array
        Cost of an attempt, above 0: a number, by system or by problem (a mapping of names), or
        over (``system``, ``problem``).
    cap : int, mapping or array, optional
        Most attempts to plan for a problem; given like ``cost``.
    ci_prob : float, optional
        Probability of the interval whose width is reported; ArviZ's ``stats.ci_prob`` by default.
    random_seed : int
        Breaks ties and simulates what the attempts may show.

    Returns
    -------
    xarray.Dataset
        ``n_attempts`` (int64) and ``share_of_variance`` (of the target's variance now; what the
        problems leave over is the difficulty distribution's) over (``system``, ``problem``);
        ``variance_now``, ``variance_expected``, ``width_now``, ``width_expected`` (of the
        equal-tailed interval) over (``quantity``), one of each system and k.

    Raises
    ------
    OptionError
        A budget that is negative, or fractional where attempts cost 1; a cost of 0 or less; a
        wrong cap; caps that leave less than the budget.
    UnknownNameError
        A system or a problem is not in the fit.

    Examples
    --------
    An unsolved problem says more about pass@100 than one that is always solved:

    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([20] * 4, [0, 0, 1, 20]), random_seed=1)
    >>> plan = allocate(tree, 60, k=100)
    >>> int(plan["n_attempts"].sum()), bool(plan["n_attempts"][0, 0] > plan["n_attempts"][0, 3])
    (60, True)
    """
    counts = fit["observed_data"].to_dataset()
    functionals = functionals_of(target, k, list(counts["system"].values), systems)
    prices = prices_of(cost, counts)
    room = room_of(cap, counts, functionals.systems, problems)
    _check_budget(budget, prices, room)
    # Ties and futures apart: the width now is the same for every budget.
    ties, futures = np.random.default_rng([random_seed, record_of(fit)["seed"]]).spawn(2)
    standing = Standing(
        counts=counts,
        pending=np.zeros(room.shape, dtype=np.int64),
        cost=prices,
        room=room,
        k=int(functionals.ks.max()),
        target=target,
        posterior=lambda: fit,
    )
    beliefs = _beliefs(fit, functionals, target)
    attempts = _placed(beliefs, standing, float(budget), ties)
    outlook = forecast(fit, functionals, attempts, ci_prob, futures)
    return _labelled(counts, functionals, attempts, beliefs, outlook, float(budget), target)


def planned(standing: Standing, batch: float, rng: np.random.Generator) -> np.ndarray:
    """Plan of `allocate` for one round, shape (system, problem)."""
    fit = standing.posterior()
    names = list(standing.counts["system"].values)
    asked = [name for name, room in zip(names, standing.room, strict=True) if room.any()]
    if not asked:
        return np.zeros(standing.room.shape, dtype=np.int64)
    functionals = functionals_of(standing.target, standing.k, names, asked)
    return _placed(_beliefs(fit, functionals, standing.target), standing, batch, rng)


def _beliefs(fit: xr.DataTree, functionals: Functionals, target: str) -> Beliefs:
    importance = np.ones(len(functionals.labels))
    beliefs = Beliefs.of(Posterior.of(fit), functionals, importance)
    if target != "curve":
        return beliefs
    return Beliefs(beliefs.posterior, functionals, 1 / np.maximum(variance_now(beliefs), 1e-300))


def variance_now(beliefs: Beliefs) -> np.ndarray:
    """Posterior variance of each functional, both parts, shape (J,)."""
    within = sum(share.sum(axis=0) for share in _within(beliefs).values())
    return beliefs.values.var(axis=0) + within


def _within(beliefs: Beliefs) -> dict[int, np.ndarray]:
    # For each system, the variance that the problems of each cell add, shape (cell, J).
    functionals, posterior = beliefs.functionals, beliefs.posterior
    ks = functionals.ks.astype(float)
    found = {}
    for system in map(int, functionals.systems):
        cells = beliefs.cells_of(system)
        number = posterior.cells.multiplicity[cells]
        fail = beliefs.fail[:, cells]
        both = (ks[:, None] + ks).ravel()
        second = np.exp(posterior.log_moment(cells, np.zeros(1), both))
        second = second.reshape(*fail.shape, len(ks))
        covariance = second - fail[..., :, None] * fail[..., None, :]
        slopes = functionals.slopes(system, fail, number)
        variance = np.einsum("tujk,tukl,tujl->uj", slopes, covariance, slopes) / len(fail)
        found[system] = np.maximum(variance, 0.0) * number[:, None]
    return found


@dataclass(frozen=True)
class _Segments:
    """Pieces of concave gain curves: attempts ``length`` at gain ``slope`` an attempt, by unit."""

    unit: np.ndarray
    start: np.ndarray
    length: np.ndarray
    slope: np.ndarray


def _placed(
    beliefs: Beliefs, standing: Standing, budget: float, rng: np.random.Generator
) -> np.ndarray:
    made = standing.counts["n_attempts"].values + standing.pending
    even = spread(made, standing.room, standing.cost, _EVEN * budget, rng)
    rest = replace(standing, pending=standing.pending + even, room=standing.room - even)
    left = budget - float((even * standing.cost).sum())
    return even + _greedy(beliefs, rest, left, rng)


def _greedy(
    beliefs: Beliefs, standing: Standing, budget: float, rng: np.random.Generator
) -> np.ndarray:
    plan = np.zeros(standing.room.shape, dtype=np.int64)
    if not standing.room.any():
        return plan
    sizes = _sizes(standing, budget)
    pieces = []
    for system in np.flatnonzero(standing.room.any(axis=1)):
        open_problems = np.flatnonzero(standing.room[system] > 0)
        cell = beliefs.posterior.cells.index[system, open_problems]
        kinds, kind = np.unique(
            np.stack([cell, standing.pending[system, open_problems]]), axis=1, return_inverse=True
        )
        segments = _segments(beliefs, int(system), kinds[0], kinds[1], sizes)
        pieces.append(_expanded(segments, kind, system * plan.shape[1] + open_problems))
    pair, start, length, slope = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    cost, room = standing.cost.ravel(), standing.room.ravel()
    length = np.clip(np.minimum(start + length, room[pair]) - start, 0, None)
    order = np.lexsort((rng.random(len(pair)), -slope / cost[pair]))
    order = order[(length[order] > 0) & (slope[order] > 0)]
    left = _fill(plan.ravel(), pair[order], length[order], cost, budget)
    made = standing.counts["n_attempts"].values + standing.pending + plan
    return plan + spread(made, standing.room - plan, standing.cost, left, rng)


def _sizes(standing: Standing, budget: float) -> np.ndarray:
    # Whole numbers of attempts at which gains are evaluated.
    candidates = standing.room > 0
    share = budget / float(standing.cost[candidates].sum())
    most = int(standing.room.max())
    sizes = np.rint(np.maximum(_LOOK_AHEAD * share, 1.0))
    return np.unique(np.minimum([1.0, *sizes], most)).astype(np.int64)


def _segments(
    beliefs: Beliefs, system: int, cells: np.ndarray, pending: np.ndarray, sizes: np.ndarray
) -> _Segments:
    # What is out will teach what it teaches: only gains beyond it count.
    total = pending[:, None] + np.concatenate([[0], sizes])
    unit = np.repeat(cells, total.shape[1])
    gain = expected_reduction(beliefs, system, unit, total.ravel()).reshape(total.shape)
    pieces = [_hull(np.concatenate([[0], sizes]), row - row[0]) for row in gain]
    owner = np.repeat(np.arange(len(cells)), [len(piece) for piece in pieces])
    start, length, slope = np.concatenate(pieces).T
    return _Segments(owner, start, length, slope)


def _hull(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Upper concave hull of points from the origin: rows of start, length, slope.

    Examples
    --------
    >>> _hull(np.array([0, 1, 2, 4]), np.array([0.0, 0.1, 2.0, 3.0])).tolist()
    [[0.0, 2.0, 1.0], [2.0, 2.0, 0.5]]
    """
    kept = [0]
    while kept[-1] < len(x) - 1:
        here = kept[-1]
        slopes = (y[here + 1 :] - y[here]) / (x[here + 1 :] - x[here])
        kept.append(here + 1 + int(slopes.argmax()))
    start, stop = np.array(kept[:-1]), np.array(kept[1:])
    length = x[stop] - x[start]
    return np.stack([x[start], length, (y[stop] - y[start]) / length], axis=1).astype(float)


def _expanded(segments: _Segments, kind: np.ndarray, pair: np.ndarray) -> tuple[np.ndarray, ...]:
    # Every pair gets the segments of its kind; segments stand in the order of their units.
    number = np.bincount(segments.unit, minlength=int(kind.max()) + 1)
    first = np.concatenate([[0], np.cumsum(number)[:-1]])
    owner = np.repeat(np.arange(len(kind)), number[kind])
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(number[kind]) - number[kind], number[kind])
    row = first[kind[owner]] + nth
    return pair[owner], segments.start[row], segments.length[row], segments.slope[row]


def _fill(
    plan: np.ndarray, pair: np.ndarray, length: np.ndarray, cost: np.ndarray, budget: float
) -> float:
    # Whole segments while they can be paid for, then parts of those that still can.
    price = length * cost[pair]
    upto = int(np.searchsorted(np.cumsum(price), budget * (1 + 1e-12), side="right"))
    np.add.at(plan, pair[:upto], length[:upto].astype(np.int64))
    left = budget - float(price[:upto].sum())
    for p, most in zip(pair[upto:], length[upto:], strict=True):
        if left < cost.min():
            break
        n = int(min(most, (left * (1 + 1e-12)) // cost[p]))
        plan[p] += n
        left -= n * cost[p]
    return left


def _check_budget(budget: float, cost: np.ndarray, room: np.ndarray) -> None:
    number = isinstance(budget, int | float | np.integer | np.floating)
    if not number or isinstance(budget, bool) or not np.isfinite(budget) or budget < 0:
        raise OptionError(f"budget: expected a number of at least 0, got {budget!r}")
    if (cost == 1).all() and budget != int(budget):
        raise OptionError(f"budget: expected a whole number of attempts, got {budget!r}")
    possible = float((room.astype(float) * cost).sum())
    if budget > possible:
        raise OptionError(
            f"budget: expected at most {possible:g}, which caps and names leave, got {budget:g}"
        )


def _labelled(
    counts: xr.Dataset,
    functionals: Functionals,
    attempts: np.ndarray,
    beliefs: Beliefs,
    outlook: Forecast,
    budget: float,
    target: str,
) -> xr.Dataset:
    pairs, quantity = ("system", "problem"), "quantity"
    return xr.Dataset(
        {
            "n_attempts": (pairs, attempts),
            "share_of_variance": (pairs, _shares(beliefs, attempts.shape)),
            "variance_now": (quantity, outlook.variance_now),
            "variance_expected": (quantity, outlook.variance_expected),
            "width_now": (quantity, outlook.width_now),
            "width_expected": (quantity, outlook.width_expected),
        },
        coords={
            "system": counts["system"],
            "problem": counts["problem"],
            "quantity_system": (quantity, [name for name, _ in functionals.labels]),
            "quantity_k": (quantity, [k for _, k in functionals.labels]),
        },
        attrs={"budget": budget, "target": target, "ci_prob": outlook.ci_prob, "ci_kind": "eti"},
    )


def _shares(beliefs: Beliefs, shape: tuple[int, ...]) -> np.ndarray:
    shares = np.zeros(shape)
    total = float(variance_now(beliefs) @ beliefs.importance)
    cells = beliefs.posterior.cells
    for system, within in _within(beliefs).items():
        of_cell = within @ beliefs.importance / cells.multiplicity[beliefs.cells_of(system)]
        place = np.searchsorted(beliefs.cells_of(system), cells.index[system])
        shares[system] = of_cell[place] / total if total > 0 else 0.0
    return shares
