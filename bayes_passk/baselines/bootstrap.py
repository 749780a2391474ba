"""An interval for predictors that have none: problems resampled."""

__all__ = ["Baseline", "bootstrap_interval"]

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from arviz_base import rcParams

from bayes_passk.counts import validate
from bayes_passk.errors import NotDefinedError, OptionError
from bayes_passk.unbiased import whole_ks

type Baseline = Callable[[xr.Dataset, Any], xr.DataArray]
"""A predictor: counts and k in, an estimate over (``system``, ``k``) out."""


def bootstrap_interval(
    baseline: Baseline,
    counts: xr.Dataset,
    k: int | Sequence[int],
    *,
    n_resamples: int = 200,
    ci_prob: float | None = None,
    random_seed: int,
) -> xr.Dataset:
    r"""Percentile interval of a baseline, from problems resampled with replacement.

    The problems are taken for a sample of a population; their attempts stay as they were made.

    Parameters
    ----------
    baseline : callable
        A function of this package, or a `functools.partial` of one.
    counts : xarray.Dataset
        ``n_attempts`` and ``n_successes`` over (``system``, ``problem``).
    k : int or sequence of int
        Attempts granted, from 1 to 1e9.
    n_resamples : int
        Resamples of each system's problems.
    ci_prob : float, optional
        Probability of the interval, equal-tailed; by default ArviZ's ``stats.ci_prob``.
    random_seed : int
        Same seed, same interval.

    Returns
    -------
    xarray.Dataset
        ``lower`` and ``upper`` over (``system``, ``k``), and ``n_defined`` over ``system``: the
        resamples for which the baseline is defined, the only ones the interval knows.

    Raises
    ------
    NotDefinedError
        The baseline is defined for none of a system's resamples.
    OptionError
        ``n_resamples``, ``ci_prob`` or ``random_seed`` is out of its range.
    CountsError
        The counts are not valid.

    References
    ----------
    Efron 1979, Bootstrap Methods: Another Look at the Jackknife (doi 10.1214/aos/1176344552).

    Examples
    --------
    >>> from bayes_passk import beta_binomial_mle, counts_from_arrays
    >>> counts = counts_from_arrays([20] * 8, [0, 0, 0, 0, 1, 2, 5, 12])
    >>> ends = bootstrap_interval(beta_binomial_mle, counts, 100, ci_prob=0.9, random_seed=1)
    >>> bool(ends["lower"] < 0.67 < ends["upper"])
    True
    """
    validate(counts)
    for name, value, least in (("n_resamples", n_resamples, 2), ("random_seed", random_seed, 0)):
        if not isinstance(value, int | np.integer) or value < least:
            raise OptionError(f"{name}: expected a whole number from {least}, got {value!r}")
    prob = rcParams["stats.ci_prob"] if ci_prob is None else ci_prob
    if not 0 < prob < 1:
        raise OptionError(f"ci_prob: expected a number between 0 and 1, got {prob!r}")
    ks = whole_ks(k).astype(np.int64)
    curves = [
        _resampled(baseline, counts.isel(system=[i]), ks, n_resamples, [random_seed, i])
        for i in range(counts.sizes["system"])
    ]
    tails = (1 - prob) / 2, (1 + prob) / 2
    ends = np.array([np.quantile(curve, tails, axis=0) for curve in curves])
    return xr.Dataset(
        {
            "lower": (("system", "k"), ends[:, 0]),
            "upper": (("system", "k"), ends[:, 1]),
            "n_defined": ("system", [len(curve) for curve in curves]),
        },
        coords={"system": counts["system"].to_numpy(), "k": ks},
        attrs={"ci_kind": "eti", "ci_prob": float(prob)},
    )


def _resampled(
    baseline: Baseline, counts: xr.Dataset, k: np.ndarray, n_resamples: int, seed: list[int]
) -> np.ndarray:
    own = counts.isel(problem=counts["n_attempts"].values[0] > 0)
    rng, n_problems = np.random.default_rng(seed), own.sizes["problem"]
    curves, undefined = [], "it has no attempts"
    for _ in range(n_resamples if n_problems else 0):
        drawn = own.isel(problem=rng.integers(n_problems, size=n_problems))
        try:
            curve = baseline(drawn.assign_coords(problem=np.arange(n_problems)), k)
        except NotDefinedError as error:
            undefined = str(error)
        else:
            curves.append(curve.values[0])
    if not curves:
        system = counts["system"].values[0]
        raise NotDefinedError(f"no resample of system {system!r} has an estimate: {undefined}")
    return np.array(curves)
