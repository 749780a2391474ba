r"""The unbiased estimators of pass@k and pass^k, where they exist: for k up to n.

With :math:`n` attempts and :math:`c` successes on a problem (Chen et al. 2021),

.. math::

    \widehat{\text{pass@}k} = 1 - \binom{n-c}{k} \Big/ \binom{n}{k}, \qquad
    \widehat{\text{pass}^k} = \binom{c}{k} \Big/ \binom{n}{k}.

Both ratios are a moment of a beta distribution, hence exact without overflow at any n.
"""

__all__ = ["mean_over_cells", "unbiased_pass_at_k", "unbiased_pass_hat_k", "whole_ks"]

from typing import Any

import numba
import numpy as np

from bayes_passk.counts import Cells
from bayes_passk.errors import CountsError, NotDefinedError, OptionError
from bayes_passk.special import log_beta_moment_kernel

MAX_K = 10**9


def unbiased_pass_at_k(n_attempts: Any, n_successes: Any, k: Any) -> np.ndarray:
    """Unbiased estimate of pass@k of each problem.

    Parameters
    ----------
    n_attempts, n_successes : array_like of int
        Counts of each problem: pairs, not totals over a benchmark.
    k : array_like of int
        Attempts granted, at most the attempts made. All three broadcast.

    Returns
    -------
    ndarray
        A scalar array for scalar arguments.

    Raises
    ------
    NotDefinedError
        k exceeds some problem's attempts: the unbiased estimate does not exist there.
    CountsError
        The counts cannot be.
    OptionError
        k is below 1 or not whole.

    Examples
    --------
    >>> unbiased_pass_at_k(8, 2, 4).round(6)
    np.float64(0.785714)
    >>> unbiased_pass_at_k(99, 0, 100)
    Traceback (most recent call last):
    ...
    bayes_passk.errors.NotDefinedError: pass@100 needs n >= 100 for an unbiased estimate, ...
    """
    n, c, k = _checked(n_attempts, n_successes, k, "pass@")
    return _pass(n, c, k)


def unbiased_pass_hat_k(n_attempts: Any, n_successes: Any, k: Any) -> np.ndarray:
    """Unbiased estimate of pass^k of each problem, the chance that k attempts all succeed.

    Parameters, result and errors as in `unbiased_pass_at_k`.

    Examples
    --------
    >>> unbiased_pass_hat_k(12, 9, 8).round(4)
    np.float64(0.0182)
    """
    n, c, k = _checked(n_attempts, n_successes, k, "pass^")
    return _pass_hat(n, c, k)


def mean_over_cells(cells: Cells, k: np.ndarray, statistic: str) -> np.ndarray:
    """Mean of the unbiased estimates over each system's problems.

    Parameters
    ----------
    cells : Cells
        Distinct counts with their multiplicity.
    k : ndarray, shape (k,)
        Attempts granted.
    statistic : {"pass_at_k", "fail_at_k", "pass_hat_k"}
        What is estimated.

    Returns
    -------
    ndarray, shape (system, k)
        NaN where k exceeds the attempts on some problem of the system.
    """
    estimate = _ESTIMATES[statistic]
    result = np.full((cells.system.max() + 1, len(k)), np.nan)
    for system in range(len(result)):
        own = cells.system == system
        n, c, m = cells.n_attempts[own], cells.n_successes[own], cells.multiplicity[own]
        defined = k <= n.min()
        values = estimate(n[:, None], c[:, None], k[None, defined])
        result[system, defined] = m @ values / m.sum()
    return result


def whole_ks(k: Any) -> np.ndarray:
    """Numbers of attempts as a float array of one dimension.

    Raises
    ------
    OptionError
        A k is below 1, above 1e9 or not whole.
    """
    try:
        ks = np.atleast_1d(np.asarray(k, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise OptionError(f"k: expected whole numbers from 1 to {MAX_K}, got {k!r}") from error
    wrong = ks[~((ks >= 1) & (ks <= MAX_K) & (ks == np.floor(ks)))]
    if wrong.size or ks.ndim != 1 or not ks.size or np.asarray(k).dtype == bool:
        shown = f"{wrong[0]:g}" if wrong.size else repr(k)
        raise OptionError(f"k: expected whole numbers from 1 to {MAX_K}, got {shown}")
    return ks


@numba.njit(cache=True)
def _evaluate(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = log_beta_moment_kernel(x[i], a[i], b[i])
    return out


def _log_ratio(part: np.ndarray, whole: np.ndarray, k: np.ndarray) -> np.ndarray:
    # C(part, k) / C(whole, k) is the (whole - part)-th moment of a Beta(part - k + 1, k).
    part, whole, k = (np.array(x) for x in np.broadcast_arrays(part, whole, k))
    x = np.maximum(part - k + 1, 1.0)
    log_ratio = _evaluate(x.ravel(), (whole - part).ravel(), k.ravel()).reshape(x.shape)
    return np.where(part >= k, log_ratio, -np.inf)[()]


def _checked(n: Any, c: Any, k: Any, what: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, c = np.asarray(n, dtype=np.float64), np.asarray(c, dtype=np.float64)
    ks = whole_ks(np.ravel(k)).reshape(np.shape(k))
    if not (np.all(np.floor(n) == n) and np.all(np.floor(c) == c)):
        raise CountsError("expected whole numbers of attempts and successes, got a fraction")
    if not np.all((c >= 0) & (c <= n)):
        raise CountsError("expected 0 <= n_successes <= n_attempts for every problem")
    beyond = np.broadcast_arrays(n < ks, n, ks)
    if beyond[0].any():
        smallest, asked = int(n.min()), int(beyond[2][beyond[0]].min())
        raise NotDefinedError(
            f"{what}{asked} needs n >= {asked} for an unbiased estimate, the smallest n is "
            f"{smallest}; a fit gives it with an interval: bp.pass_at_k(bp.fit(counts), {asked})"
        )
    return n, c, ks


def _pass(n: np.ndarray, c: np.ndarray, k: np.ndarray) -> np.ndarray:
    return -np.expm1(_log_ratio(n - c, n, k))


def _fail(n: np.ndarray, c: np.ndarray, k: np.ndarray) -> np.ndarray:
    return np.exp(_log_ratio(n - c, n, k))


def _pass_hat(n: np.ndarray, c: np.ndarray, k: np.ndarray) -> np.ndarray:
    return np.exp(_log_ratio(c, n, k))


_ESTIMATES = {"pass_at_k": _pass, "fail_at_k": _fail, "pass_hat_k": _pass_hat}
