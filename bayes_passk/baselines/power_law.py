"""Regression of unbiased estimates on k: the power law."""

__all__ = ["power_law_regression"]

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
import xarray as xr

from bayes_passk.baselines.each_system import FIT, Tally, of_each_system
from bayes_passk.errors import NotDefinedError, OptionError, did_you_mean
from bayes_passk.unbiased import MAX_K, unbiased_pass_at_k

type Form = Literal["log_log", "log"]

# Points on the logarithmic grid of j, as published; 1,000 hold every j up to some 190.
_GRID_SIZES = {"log_log": 100, "log": 1_000}


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
    return of_each_system(counts, k, partial(_regression, form))


def _regression(form: Form, tally: Tally, k: np.ndarray) -> np.ndarray:
    largest = min(tally.n.min(), MAX_K)
    j = np.unique(np.floor(np.geomspace(1, largest, _GRID_SIZES[form])))
    each = unbiased_pass_at_k(tally.n[:, None], tally.c[:, None], j)
    estimate = tally.multiplicity @ each / tally.multiplicity.sum()  # exactly 1 where all are
    usable = (estimate > 0) & ((estimate < 1) | (form == "log"))
    if usable.sum() < 2:
        raise NotDefinedError(
            f"a regression needs unbiased estimates at two j or more, found {usable.sum()}: "
            f"{_too_few_because(tally)}; {FIT}"
        )
    log_j, y = np.log(j[usable]), -np.log(estimate[usable])
    if form == "log_log":
        y = np.log(y)
    intercept, slope = np.polynomial.polynomial.polyfit(log_j, y, 1)
    predicted = intercept + slope * np.log(k)
    return np.exp(-(np.exp(predicted) if form == "log_log" else np.maximum(predicted, 0.0)))


def _too_few_because(tally: Tally) -> str:
    if not tally.c.any():
        return "no attempt succeeded, and pass@j of 0 has no logarithm; make more attempts"
    if tally.n.min() < 2:
        return "some problem has one attempt; make more on each"
    return "pass@j of 1 has no such logarithm; harder problems are needed"
