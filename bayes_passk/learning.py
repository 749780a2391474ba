"""Which attempts the difficulty distribution learns from."""

__all__ = ["LEARN_FROM", "LearnFrom", "learned_counts"]

from typing import Literal, get_args

import numba
import numpy as np
import xarray as xr

from bayes_passk.errors import OptionError, did_you_mean

type LearnFrom = Literal["all", "first_successes"]
LEARN_FROM: tuple[str, ...] = get_args(LearnFrom.__value__)

# Attempts after a problem's third success say little about the hard problems.
_N_FIRST = 3


def learned_counts(counts: xr.Dataset, learn_from: LearnFrom, random_seed: int) -> xr.Dataset:
    """Counts of the attempts that the difficulty distribution learns from.

    With ``first_successes`` they are each problem's attempts up to its third success, in a random
    order: a likelihood of fewer data, in which easy problems do not dictate the shape of the
    tail where the hard ones lie. Fair where n did not depend on the outcomes; where problems were
    sampled until solved, the order is not random and easy problems look easier still.

    Raises
    ------
    OptionError
        There is no such way to learn.

    Examples
    --------
    >>> from bayes_passk.counts import counts_from_arrays
    >>> counts = counts_from_arrays([100, 100], [2, 100])
    >>> learned_counts(counts, "first_successes", 1)["n_attempts"].values.tolist()
    [[100, 3]]
    """
    if learn_from not in LEARN_FROM:
        hint = did_you_mean(str(learn_from), LEARN_FROM)
        raise OptionError(
            f"learn_from: expected one of {', '.join(LEARN_FROM)}, got {learn_from!r}: {hint}"
        )
    if learn_from == "all":
        return counts
    n, c = (counts[name].values for name in ("n_attempts", "n_successes"))
    kept = _attempts_to(n.ravel(), c.ravel(), _N_FIRST, np.random.default_rng(random_seed))
    learned = {"n_attempts": kept.reshape(n.shape), "n_successes": np.minimum(c, _N_FIRST)}
    return counts.assign({name: (("system", "problem"), x) for name, x in learned.items()})


@numba.njit(cache=True)
def _attempts_to(
    n: np.ndarray, c: np.ndarray, n_first: int, rng: np.random.Generator
) -> np.ndarray:
    # Attempts up to the n_first-th success in a random order of c successes among n; n if fewer.
    out = n.copy()
    for i in range(len(n)):
        if c[i] < n_first:
            continue
        successes, failures, attempts = c[i], n[i] - c[i], 0
        for _ in range(n_first):
            # Failures before the next success: P(more than x) = prod (F - j) / (F + S - j).
            u, more = rng.random(), 1.0
            while failures > 0:
                more *= failures / (failures + successes)
                if more < u:
                    break
                failures -= 1
                attempts += 1
            successes -= 1
            attempts += 1
        out[i] = attempts
    return out
