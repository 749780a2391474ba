r"""Published predictors of pass@k beyond the attempts made, to compare with.

Each takes counts and k, treats every system by itself, leaves problems without attempts out, and
returns a point estimate over (``system``, ``k``). None has an interval of its own:
`bootstrap_interval` gives any of them one.
"""

__all__ = [
    "beta_binomial_mle",
    "bootstrap_interval",
    "discretized_beta",
    "power_law_regression",
]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, Literal

import numba
import numpy as np
import xarray as xr
from arviz_base import rcParams
from scipy.optimize import minimize
from scipy.special import betainc, betaincc, expit

from bayes_passk.counts import cells_of, validate
from bayes_passk.errors import NotDefinedError, OptionError, did_you_mean
from bayes_passk.special import (
    beta_log_moment_kernel,
    digamma_difference_kernel,
    log_beta_moment_kernel,
)
from bayes_passk.unbiased import MAX_K, unbiased_pass_at_k, whole_ks

type Form = Literal["log_log", "log"]
type Baseline = Callable[[xr.Dataset, Any], xr.DataArray]

# Points on the logarithmic grid of j, as published; 1,000 hold every j up to some 190.
_GRID_SIZES = {"log_log": 100, "log": 1_000}
# Bins, and bounds of the shapes, as in the experiments of Kazdan et al. 2025.
_BIN_EDGES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 1_000)])
_SHAPE_BOUNDS = (0.01, 100.0)
# A bin without mass must not make the likelihood of the others void.
_LEAST_MASS = 1e-16
# Tanh-sinh quadrature on (0, 1), denser than any power at 0 can undo.
_TIMES = np.arange(-320, 231) / 64
_NODES = expit(np.pi * np.sinh(_TIMES))
_WEIGHTS = np.pi / 64 * np.cosh(_TIMES) * _NODES * expit(-np.pi * np.sinh(_TIMES))
_FIT = "a fit has an answer, with an interval: bp.pass_at_k(bp.fit(counts), k)"


def power_law_regression(
    counts: xr.Dataset, k: int | Sequence[int], *, form: Form = "log_log"
) -> xr.DataArray:
    r"""Least squares on a logarithmic grid of the unbiased estimates, extrapolated.

    .. math::

        \log(-\log \text{pass@}j) = a + b \log j \quad (\texttt{log\_log}), \qquad
        -\log \text{pass@}j = a + b \log j \quad (\texttt{log})

    over a logarithmic grid of :math:`j` from 1 to the smallest number of attempts on a problem. A
    :math:`j` whose estimate has no such logarithm (0; with ``log_log`` also 1) is left out. The
    points are correlated and unequal in variance, which least squares ignores.

    Parameters
    ----------
    counts : xarray.Dataset
        ``n_attempts`` and ``n_successes`` over (``system``, ``problem``).
    k : int or sequence of int
        Attempts granted, from 1 to 1e9.
    form : {"log_log", "log"}
        What is regressed: the power law, or the variant in the experiments of Kazdan et al.,
        whose predictions above 1 are made 1.

    Returns
    -------
    xarray.DataArray
        Over (``system``, ``k``).

    Raises
    ------
    NotDefinedError
        A system has fewer than two points: too few attempts on some problem, no success at all,
        or successes only.
    CountsError
        The counts are not valid.
    OptionError
        k is not a whole number from 1 to 1e9, or the form is unknown.

    References
    ----------
    Brown et al. 2024, Large Language Monkeys (arXiv 2407.21787); Hughes et al. 2024, Best-of-N
    Jailbreaking (arXiv 2412.03556); with ``log``, Kazdan et al. 2025 (arXiv 2510.05197).

    Examples
    --------
    >>> from bayes_passk.counts import counts_from_arrays
    >>> counts = counts_from_arrays([20] * 8, [0, 0, 0, 0, 1, 2, 5, 12])
    >>> power_law_regression(counts, [10, 1000]).round(3).values.tolist()
    [[0.407, 0.848]]
    """
    if form not in _GRID_SIZES:
        hint = did_you_mean(str(form), _GRID_SIZES)
        raise OptionError(f"form: expected log_log or log, got {form!r}: {hint}")
    return _of_each_system(counts, k, partial(_regression, form))


def discretized_beta(counts: xr.Dataset, k: int | Sequence[int]) -> xr.DataArray:
    r"""Population pass@k of a scaled beta, fitted to binned success rates.

    With :math:`s` fixed at the largest :math:`c_i / n_i` and :math:`m_b` problems whose rate lies
    in bin :math:`b`,

    .. math::

        (\hat\alpha, \hat\beta) = \arg\max \sum_b m_b \log P(s X \in b), \quad
        X \sim \mathrm{Beta}(\alpha, \beta), \qquad
        \text{pass@}k = 1 - E[(1 - s X)^k].

    The first bin runs from 0 to 1e-4, the others are 999 equal ones of the logarithm up to 1; both
    shapes lie from 0.01 to 100. A rate of 0 thus counts as one below 1e-4, however few the
    attempts: with few of them it underestimates pass@k.

    Parameters, result and other errors as in `beta_binomial_mle`.

    Raises
    ------
    NotDefinedError
        A system has no success, so that the scale would be 0.

    References
    ----------
    Schaeffer et al. 2025, How Do Large Language Monkeys Get Their Power (Laws)? (arXiv
    2502.17578), with the bins of Kazdan et al. 2025 (arXiv 2510.05197).

    Examples
    --------
    >>> from bayes_passk.counts import counts_from_arrays
    >>> counts = counts_from_arrays([20] * 8, [0, 0, 0, 0, 1, 2, 5, 12])
    >>> discretized_beta(counts, [10, 1000]).round(3).values.tolist()
    [[0.319, 0.473]]
    """
    return _of_each_system(counts, k, _discretized)


def beta_binomial_mle(
    counts: xr.Dataset,
    k: int | Sequence[int],
    *,
    shape_bounds: tuple[float, float] = _SHAPE_BOUNDS,
) -> xr.DataArray:
    r"""Population pass@k of the beta-binomial of maximum likelihood.

    .. math::

        (\hat\alpha, \hat\beta) = \arg\max \sum_i \log
        \frac{B(\alpha + c_i, \beta + n_i - c_i)}{B(\alpha, \beta)}, \qquad
        \text{pass@}k = 1 - \frac{B(\hat\alpha, \hat\beta + k)}{B(\hat\alpha, \hat\beta)}

    The published method is this one after sampling where successes are fewest, which leaves the
    likelihood as it is. Its bounds are part of it: with few attempts the maximum often lies on
    them, and wider ones do worse. Where all problems fail, all succeed, or all are equally hard,
    the likelihood has no maximum inside and the estimate is the one at the bounds.

    Parameters
    ----------
    counts : xarray.Dataset
        ``n_attempts`` and ``n_successes`` over (``system``, ``problem``).
    k : int or sequence of int
        Attempts granted, from 1 to 1e9.
    shape_bounds : (float, float)
        Least and largest value of either shape; by default the published ones.

    Returns
    -------
    xarray.DataArray
        Over (``system``, ``k``).

    Raises
    ------
    NotDefinedError
        A system has one attempt at most on every problem: the likelihood then knows the mean of
        the beta only.
    CountsError
        The counts are not valid.
    OptionError
        k is not a whole number from 1 to 1e9, or the bounds are not 0 < least < largest.

    References
    ----------
    Kazdan et al. 2025, Efficient Prediction of Pass@k Scaling in Large Language Models (arXiv
    2510.05197).

    Examples
    --------
    >>> from bayes_passk.counts import counts_from_arrays
    >>> counts = counts_from_arrays([20] * 8, [0, 0, 0, 0, 1, 2, 5, 12])
    >>> beta_binomial_mle(counts, [10, 1000]).round(3).values.tolist()
    [[0.41, 0.819]]
    """
    least, largest = shape_bounds
    if not 0 < least < largest < np.inf:
        raise OptionError(f"shape_bounds: expected 0 < least < largest, got {shape_bounds!r}")
    return _of_each_system(counts, k, partial(_maximum_likelihood, np.log(shape_bounds)))


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
        A function of this module, or a `functools.partial` of one.
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
    >>> from bayes_passk.counts import counts_from_arrays
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


@dataclass(frozen=True)
class _Tally:
    """Distinct counts of one system, of problems that were attempted, and how many share them."""

    n: np.ndarray
    c: np.ndarray
    multiplicity: np.ndarray


def _of_each_system(
    counts: xr.Dataset,
    k: int | Sequence[int],
    predict: Callable[[_Tally, np.ndarray], np.ndarray],
) -> xr.DataArray:
    validate(counts)
    ks = whole_ks(k)
    cells = cells_of(counts)
    systems = counts["system"].to_numpy()
    values = np.empty((len(systems), len(ks)))
    for i, system in enumerate(systems):
        own = (cells.system == i) & (cells.n_attempts > 0)
        n, c, m = cells.n_attempts[own], cells.n_successes[own], cells.multiplicity[own]
        if not own.any():
            raise NotDefinedError(f"system {system!r} has no attempts: {_FIT}")
        try:
            values[i] = predict(_Tally(n, c, m), ks)
        except NotDefinedError as error:
            raise NotDefinedError(f"system {system!r}: {error}") from None
    coords = {"system": systems, "k": ks.astype(np.int64)}
    return xr.DataArray(values, coords, dims=("system", "k"), name="pass_at_k")


def _regression(form: Form, tally: _Tally, k: np.ndarray) -> np.ndarray:
    largest = min(tally.n.min(), MAX_K)
    j = np.unique(np.floor(np.geomspace(1, largest, _GRID_SIZES[form])))
    each = unbiased_pass_at_k(tally.n[:, None], tally.c[:, None], j)
    estimate = tally.multiplicity @ each / tally.multiplicity.sum()  # exactly 1 where all are
    usable = (estimate > 0) & ((estimate < 1) | (form == "log"))
    if usable.sum() < 2:
        raise NotDefinedError(
            f"a regression needs unbiased estimates at two j or more, found {usable.sum()}: "
            f"{_too_few_because(tally)}; {_FIT}"
        )
    log_j, y = np.log(j[usable]), -np.log(estimate[usable])
    if form == "log_log":
        y = np.log(y)
    intercept, slope = np.polynomial.polynomial.polyfit(log_j, y, 1)
    predicted = intercept + slope * np.log(k)
    return np.exp(-(np.exp(predicted) if form == "log_log" else np.maximum(predicted, 0.0)))


def _too_few_because(tally: _Tally) -> str:
    if not tally.c.any():
        return "no attempt succeeded, and pass@j of 0 has no logarithm; make more attempts"
    if tally.n.min() < 2:
        return "some problem has one attempt; make more on each"
    return "pass@j of 1 has no such logarithm; harder problems are needed"


def _discretized(tally: _Tally, k: np.ndarray) -> np.ndarray:
    rate = tally.c / tally.n
    scale = rate.max()
    if scale == 0:
        raise NotDefinedError(f"no attempt succeeded, so the scale would be 0; {_FIT}")
    bins, index = np.unique(
        np.minimum(np.searchsorted(_BIN_EDGES, rate, side="right"), len(_BIN_EDGES) - 1),
        return_inverse=True,
    )
    occupied = np.bincount(index, tally.multiplicity)
    lower, upper = (np.minimum(_BIN_EDGES[at] / scale, 1.0) for at in (bins - 1, bins))
    centre, reach = np.mean(np.log(_SHAPE_BOUNDS)), np.ptp(np.log(_SHAPE_BOUNDS)) / 2

    def shapes(angles: Any) -> tuple[float, float]:
        alpha, beta = np.exp(centre + reach * np.sin(angles))
        return alpha, beta

    def negative(angles: Any) -> float:
        mass = _mass_between(*shapes(angles), lower, upper)
        return -float(occupied @ np.log(mass + _LEAST_MASS))

    # The likelihood may have several summits, some on a bound: hence angles, and several starts.
    grid = np.linspace(-1.3, 1.3, 12)
    starts = sorted(product(grid, grid), key=negative)[:3]
    options = {"xatol": 1e-6, "fatol": 1e-9}
    found = [minimize(negative, at, method="Nelder-Mead", options=options) for at in starts]
    alpha, beta = shapes(min(found, key=lambda result: result.fun).x)
    return _scaled_beta_pass_at_k(alpha, beta, scale, k)


def _mass_between(alpha: float, beta: float, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    # From the nearer end, so that a bin far out in the upper tail keeps its digits.
    below = betainc(alpha, beta, upper)
    from_below = below - betainc(alpha, beta, lower)
    from_above = betaincc(alpha, beta, lower) - betaincc(alpha, beta, upper)
    return np.where(below < 0.5, from_below, from_above)


def _maximum_likelihood(log_bounds: np.ndarray, tally: _Tally, k: np.ndarray) -> np.ndarray:
    if tally.n.max() < 2:
        raise NotDefinedError(
            "one attempt a problem tells the mean of the difficulty distribution and no more: "
            f"make a second attempt on some problems; {_FIT}"
        )

    def negative(log_shapes: np.ndarray) -> tuple[float, np.ndarray]:
        alpha, beta = np.exp(log_shapes)
        value, slope = _log_likelihood(alpha, beta, tally.n, tally.c, tally.multiplicity)
        return -value, -slope * np.exp(log_shapes)

    # TNC calls no BLAS, whose threads cost far more than two dimensions do.
    found = minimize(
        negative,
        np.clip(np.log([0.5, 3.5]), *log_bounds),
        jac=True,
        method="TNC",
        bounds=[log_bounds] * 2,
        options={"ftol": 1e-13, "gtol": 1e-7, "maxfun": 1_000},
    )
    alpha, beta = np.exp(found.x)
    return np.array([-np.expm1(log_beta_moment_kernel(beta, each, alpha)) for each in k])


@numba.njit(cache=True)
def _log_likelihood(
    alpha: float, beta: float, n: np.ndarray, c: np.ndarray, multiplicity: np.ndarray
) -> tuple[float, np.ndarray]:
    value, slope = 0.0, np.zeros(2)
    for i in range(len(n)):
        failures, m = n[i] - c[i], multiplicity[i]
        both = digamma_difference_kernel(alpha + beta, n[i])
        value += m * beta_log_moment_kernel(alpha, beta, c[i], failures)
        slope[0] += m * (digamma_difference_kernel(alpha, c[i]) - both)
        slope[1] += m * (digamma_difference_kernel(beta, failures) - both)
    return value, slope


def _scaled_beta_pass_at_k(alpha: float, beta: float, scale: float, k: np.ndarray) -> np.ndarray:
    r"""Evaluate ``1 - E[(1 - scale X)^k]`` for ``X`` from a Beta(``alpha``, ``beta``).

    By parts it is the integral of ``exp(-v) P(X > x(v))`` with ``v = -k log(1 - scale x)``, all of
    it positive, so that nothing cancels. Both ends may be singular (a power of ``v``, a power of
    the distance to the other end): hence two integrals, each exact in the distance to its end.
    """
    complement, k = 1.0 - scale, k[:, None]
    last = -k * np.log1p(-scale) if complement > 0 else np.full(k.shape, np.inf)
    # P(X > x) falls, so what lies beyond 50 is less than exp(-49) of the whole.
    end = np.minimum(last, 50.0)
    near = end / 2 * _NODES
    x = -np.expm1(-near / k) / scale
    if complement > 0:
        one_less_x = complement * np.expm1((near + last - end) / k) / scale
    else:
        one_less_x = np.exp((near - end) / k)
    first = np.exp(-near) * betaincc(alpha, beta, np.minimum(x, 1.0))
    second = np.exp(near - end) * betainc(beta, alpha, np.minimum(one_less_x, 1.0))
    return end[:, 0] / 2 * ((first + second) @ _WEIGHTS)


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
