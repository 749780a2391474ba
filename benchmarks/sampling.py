"""How attempts are drawn from complete counts: what a benchmark lets a method see.

Attempts are drawn without replacement from those recorded. Each system has a budget of its own;
a problem has no more attempts than were made.
"""

import heapq
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bayes_passk.errors import OptionError, did_you_mean
from bayes_passk.rules import RULES, find_rule
from bayes_passk.standing import Standing
from bayes_passk.updating import LivePosterior

ROUNDS = 10
PAIRS = ("system", "problem")

type Draw = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], tuple[Any, Any]]


def uniform(
    n: np.ndarray, c: np.ndarray, budget: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Spread the budget evenly over problems that have attempts left, the rest in random order."""
    taken = np.zeros_like(n)
    left = min(budget, int(n.sum()))
    while left:
        room = rng.permutation(np.flatnonzero(taken < n))
        share = np.full(len(room), left // len(room))
        share[: left % len(room)] += 1
        share = np.minimum(share, n[room] - taken[room])
        taken[room] += share
        left -= int(share.sum())
    return taken, rng.hypergeometric(c, n - c, taken)


def fewest_successes(
    n: np.ndarray, c: np.ndarray, budget: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Try the problem with the fewest successes, then the fewest attempts, one at a time."""
    taken, passed = np.zeros_like(n), np.zeros_like(n)
    ties = rng.permutation(len(n))
    queue = [(0, 0, int(ties[i]), i) for i in np.flatnonzero(n)]
    heapq.heapify(queue)
    for chance in rng.random(min(budget, int(n.sum()))):
        _, _, tie, i = queue[0]
        passed[i] += chance * (n[i] - taken[i]) < c[i] - passed[i]
        taken[i] += 1
        if taken[i] < n[i]:
            heapq.heapreplace(queue, (int(passed[i]), int(taken[i]), tie, i))
        else:
            heapq.heappop(queue)
    return taken, passed


_AT_ONCE: dict[str, Draw] = {"uniform": uniform, "fewest_successes": fewest_successes}
SAMPLINGS = tuple(_AT_ONCE | RULES)


def sampled(
    counts: xr.Dataset, sampling: str, budget: int, seed: int, ks: list[int] | None = None
) -> xr.Dataset:
    """Counts of one sample of every system, by a sampling at once or by the rounds of a rule."""
    check_sampling(sampling)
    if sampling in _AT_ONCE:
        return _at_once(counts, _AT_ONCE[sampling], budget, seed)
    return by_rounds(counts, sampling, budget, seed, ks or [100])[-1]


def check_sampling(sampling: str) -> None:
    """Refuse a sampling that is not known."""
    if sampling not in SAMPLINGS:
        raise OptionError(f"no sampling {sampling!r}: {did_you_mean(sampling, SAMPLINGS)}")


def by_rounds(
    counts: xr.Dataset, rule: str, budget: int, seed: int, ks: list[int], rounds: int = ROUNDS
) -> list[xr.Dataset]:
    """Counts after every round: the first even, then the rule's, all systems fitted together."""
    live = LivePosterior(random_seed=seed)
    rng = np.random.default_rng([seed, budget])
    seen = _with_counts(counts, *np.zeros((2, *counts["n_attempts"].shape), dtype=np.int64))
    found = []
    for index in range(rounds):
        batch = budget * (index + 1) // rounds - budget * index // rounds
        decide = find_rule(rule if index else "uniform")
        plan = _each_system(counts, seen, decide, batch, ks, partial(live.at, seen), rng)
        seen = _tried(counts, seen, plan, rng)
        found.append(seen)
    return found


def _each_system(
    counts: xr.Dataset,
    seen: xr.Dataset,
    decide: Any,
    batch: int,
    ks: list[int],
    posterior: Callable[[], xr.DataTree],
    rng: np.random.Generator,
) -> np.ndarray:
    left = (counts["n_attempts"] - seen["n_attempts"]).values
    plan = np.zeros_like(left)
    for system in range(len(left)):
        room = np.zeros_like(left)
        room[system] = left[system]
        standing = Standing(
            counts=seen,
            pending=np.zeros_like(left),
            cost=np.ones(left.shape),
            room=room,
            k=ks,
            target="curve",
            posterior=posterior,
        )
        plan += decide(standing, min(batch, int(room.sum())), rng)
    return plan


def _tried(
    counts: xr.Dataset, seen: xr.Dataset, plan: np.ndarray, rng: np.random.Generator
) -> xr.Dataset:
    n, c = (counts[name].values for name in ("n_attempts", "n_successes"))
    taken, passed = (seen[name].values for name in ("n_attempts", "n_successes"))
    more = rng.hypergeometric(c - passed, (n - taken) - (c - passed), plan)
    return _with_counts(counts, taken + plan, passed + more)


def _at_once(counts: xr.Dataset, draw: Draw, budget: int, seed: int) -> xr.Dataset:
    drawn = []
    for i, system in enumerate(counts["system"].values):
        # It depends on the seed, and not on the other systems of the file.
        rng = np.random.default_rng([seed, budget, zlib.crc32(str(system).encode())])
        n, c = (counts[name].values[i] for name in ("n_attempts", "n_successes"))
        drawn.append(draw(n, c, budget, rng))
    return _with_counts(counts, *np.stack(drawn, axis=1))


def _with_counts(counts: xr.Dataset, taken: np.ndarray, passed: np.ndarray) -> xr.Dataset:
    return counts.assign(n_attempts=(PAIRS, taken), n_successes=(PAIRS, passed))
