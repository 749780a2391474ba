"""A scaled beta, fitted to binned success rates."""

__all__ = ["discretized_beta"]

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import xarray as xr
from scipy.optimize import minimize
from scipy.special import betainc, betaincc, expit

from bayes_passk.baselines.each_system import FIT, SHAPE_BOUNDS, Tally, of_each_system
from bayes_passk.errors import NotDefinedError

# Bins as in the experiments of Kazdan et al. 2025.
_BIN_EDGES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 1_000)])
# A bin without mass must not make the likelihood of the others void.
_LEAST_MASS = 1e-16
# Tanh-sinh quadrature on (0, 1), denser than any power at 0 can undo.
_TIMES = np.arange(-320, 231) / 64
_NODES = expit(np.pi * np.sinh(_TIMES))
_WEIGHTS = np.pi / 64 * np.cosh(_TIMES) * _NODES * expit(-np.pi * np.sinh(_TIMES))


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
    return of_each_system(counts, k, _discretized)


def _discretized(tally: Tally, k: np.ndarray) -> np.ndarray:
    rate = tally.c / tally.n
    scale = rate.max()
    if scale == 0:
        raise NotDefinedError(f"no attempt succeeded, so the scale would be 0; {FIT}")
    bins, index = np.unique(
        np.minimum(np.searchsorted(_BIN_EDGES, rate, side="right"), len(_BIN_EDGES) - 1),
        return_inverse=True,
    )
    occupied = np.bincount(index, tally.multiplicity)
    lower, upper = (np.minimum(_BIN_EDGES[at] / scale, 1.0) for at in (bins - 1, bins))
    centre, reach = np.mean(np.log(SHAPE_BOUNDS)), np.ptp(np.log(SHAPE_BOUNDS)) / 2

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
