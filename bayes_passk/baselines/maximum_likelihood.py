"""The beta-binomial of maximum likelihood."""

__all__ = ["beta_binomial_mle"]

from collections.abc import Sequence
from functools import partial

import numba
import numpy as np
import xarray as xr
from scipy.optimize import minimize

from bayes_passk.baselines.each_system import FIT, SHAPE_BOUNDS, Tally, of_each_system
from bayes_passk.errors import NotDefinedError, OptionError
from bayes_passk.special import (
    beta_log_moment_kernel,
    digamma_difference_kernel,
    log_beta_moment_kernel,
)


def beta_binomial_mle(
    counts: xr.Dataset,
    k: int | Sequence[int],
    *,
    shape_bounds: tuple[float, float] = SHAPE_BOUNDS,
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
    return of_each_system(counts, k, partial(_maximum_likelihood, np.log(shape_bounds)))


def _maximum_likelihood(log_bounds: np.ndarray, tally: Tally, k: np.ndarray) -> np.ndarray:
    if tally.n.max() < 2:
        raise NotDefinedError(
            "one attempt a problem tells the mean of the difficulty distribution and no more: "
            f"make a second attempt on some problems; {FIT}"
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
