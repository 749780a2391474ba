r"""pass@k and its kin: exact where they are estimated from counts, draws where from a fit.

Every result of a fit says which **estimand** it is of:

``benchmark``
    The mean over these N problems. Its draws carry both parts of the uncertainty: of the
    difficulty distribution, and of each problem's success probability given it.
``population``
    A new problem like these, :math:`1 - E_G[(1-p)^k]`.
``future_run``
    The share of the N problems solved if each gets k fresh attempts: adds the luck of that run.
"""

__all__ = ["ESTIMANDS", "fail_at_k", "pass_at_k", "pass_hat_k"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numba
import numpy as np
import xarray as xr

from bayes_passk.counts import Cells
from bayes_passk.errors import NotDefinedError, OptionError, did_you_mean
from bayes_passk.posterior import Posterior
from bayes_passk.record import record_of
from bayes_passk.unbiased import mean_over_cells, whole_ks

type Estimand = Literal["benchmark", "population", "future_run"]
ESTIMANDS: tuple[str, ...] = get_args(Estimand.__value__)

# Problems of a system that are simulated one by one in each draw. Beyond it, those of a cell that
# many problems share are simulated by a sample, its spread about the cell's mean scaled to theirs.
_SIMULATED = 400
# Below this exponent, 1 - exp(x) is 1 to the last digit.
_VANISHES = -38.0
# Problems × draws simulated at once; fixed, so that the draws do not depend on the k asked for.
_SIMULATED_BLOCK = 1_000_000


@dataclass(frozen=True)
class _Power:
    """``p^k`` or ``(1-p)^k`` of a problem, or one less that."""

    name: str
    of_success: bool
    complement: bool

    def expected(
        self, posterior: Posterior, cells: np.ndarray, k: np.ndarray, *, given_data: bool = True
    ) -> np.ndarray:
        """Conditional expectation for the problems of some cells, shape (sample, unit, k)."""
        s, f = (k, np.zeros(1)) if self.of_success else (np.zeros(1), k)
        log_power = posterior.log_moment(cells, s[None], f[None], given_data=given_data)
        return -np.expm1(log_power) if self.complement else np.exp(log_power)


_PASS = _Power("pass_at_k", of_success=False, complement=True)
_FAIL = _Power("fail_at_k", of_success=False, complement=False)
_PASS_HAT = _Power("pass_hat_k", of_success=True, complement=False)


def pass_at_k(
    fit: xr.DataTree,
    k: int | Sequence[int],
    *,
    estimand: Estimand = "benchmark",
    including_observed: bool = False,
) -> xr.Dataset:
    r"""Posterior of pass@k, the chance that at least one of k attempts succeeds.

    :math:`\frac{1}{N} \sum_i [1 - (1-p_i)^k]` for the benchmark,
    :math:`1 - E_G[(1-p)^k]` for the population.

    Parameters
    ----------
    fit : xarray.DataTree
        Result of `fit` or `load_fit`.
    k : int or sequence of int
        Attempts granted, from 1 to 1e9; may lie far beyond the attempts made.
    estimand : {"benchmark", "population", "future_run"}
        These problems, a new problem like them, or one future run on these problems.
    including_observed : bool
        With ``future_run``: problems already solved count as solved, so that the result is the
        coverage after the attempts made and k more.

    Returns
    -------
    xarray.Dataset
        ``pass_at_k`` over (``chain``, ``draw``, ``system``, ``k``), one joint draw over all k;
        ``unbiased`` over (``system``, ``k``), NaN where k exceeds the smallest n; coordinates
        ``extrapolated`` (k beyond the largest n), ``largest_n`` and ``estimand``.

    Raises
    ------
    OptionError
        k is below 1, above 1e9 or not whole, or the estimand is unknown.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20]), random_seed=1)
    >>> curve = pass_at_k(tree, [1, 10, 1000])
    >>> curve["pass_at_k"].mean(("chain", "draw")).round(1).values.tolist()
    [[0.2, 0.5, 0.8]]
    """
    if including_observed and estimand != "future_run":
        raise OptionError("including_observed: only a future run can include what was observed")
    return _curve(fit, _PASS, k, estimand, including_observed)


def fail_at_k(
    fit: xr.DataTree, k: int | Sequence[int], *, estimand: Estimand = "benchmark"
) -> xr.Dataset:
    r"""Posterior of ``1 - pass@k``, the chance that all k attempts fail.

    The same draws as `pass_at_k`, with all digits kept where pass@k is next to 1.

    Parameters and errors as in `pass_at_k`; the variable is ``fail_at_k``.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([9, 9], [8, 9]), random_seed=1)
    >>> 0 < float(fail_at_k(tree, 50)["fail_at_k"].median()) < 1e-6
    True
    """
    return _curve(fit, _FAIL, k, estimand)


def pass_hat_k(
    fit: xr.DataTree, k: int | Sequence[int], *, estimand: Estimand = "benchmark"
) -> xr.Dataset:
    r"""Posterior of pass^k, the chance that all k attempts succeed.

    :math:`\frac{1}{N} \sum_i p_i^k` for the benchmark, :math:`E_G[p^k]` for the population.

    Parameters and errors as in `pass_at_k`; the variable is ``pass_hat_k``. There is no
    ``future_run`` of it.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([9, 9], [8, 9]), random_seed=1)
    >>> float(pass_hat_k(tree, 8)["pass_hat_k"].mean()) < 0.8
    True
    """
    return _curve(fit, _PASS_HAT, k, estimand)


def _curve(
    fit: xr.DataTree,
    power: _Power,
    k: int | Sequence[int],
    estimand: str,
    including_observed: bool = False,
) -> xr.Dataset:
    ks = whole_ks(k)
    posterior = Posterior.of(fit)
    simulate = _simulator(power, estimand, including_observed)
    seed = record_of(fit)["seed"]
    systems = range(fit["posterior"].sizes["system"])
    draws = [simulate(posterior, i, ks, np.random.default_rng([seed, i])) for i in systems]
    return _labelled(fit, posterior.cells, power, ks, estimand, np.stack(draws, axis=1))


def _simulator(power: _Power, estimand: str, including_observed: bool) -> Callable[..., np.ndarray]:
    if estimand not in ESTIMANDS:
        hint = did_you_mean(str(estimand), ESTIMANDS)
        raise OptionError(f"expected estimand {', '.join(ESTIMANDS)}, got {estimand!r}: {hint}")
    if estimand == "future_run":
        if power is _PASS_HAT:
            raise NotDefinedError("pass^k has no future run here: ask for pass@k, or the benchmark")
        return partial(_future_run, power, including_observed)
    return partial(_benchmark if estimand == "benchmark" else _population, power)


def _population(
    power: _Power, posterior: Posterior, system: int, k: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    # Levels of a covariate weigh as much as they have problems.
    own = np.flatnonzero(posterior.cells.system == system)
    groups, first, group = np.unique(
        posterior.cells.group[own], return_index=True, return_inverse=True
    )
    share = np.bincount(group, posterior.cells.multiplicity[own], len(groups))
    expected = power.expected(posterior, own[first], k, given_data=False)
    return np.einsum("tgk,g->tk", expected, share / share.sum())


def _benchmark(
    power: _Power, posterior: Posterior, system: int, k: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    # A cell of m problems adds the sum of m draws of the power. Where only j < m are simulated,
    # sqrt(m/j) times their sum plus (m - sqrt(m j)) times the mean has the same mean and the same
    # covariance over k, stays between 0 and m, and rises or falls with k as it must.
    cells = np.flatnonzero(posterior.cells.system == system)
    m = posterior.cells.multiplicity[cells]
    j = _simulated_in_each(m)
    weight = np.repeat(np.sqrt(m / j), j)
    total = _simulated_sum(power, posterior, cells, j, weight, k, rng)
    scaled = j < m
    if scaled.any():
        total += _expected_sum(power, posterior, cells[scaled], (m - np.sqrt(m * j))[scaled], k)
    return total / m.sum()


def _simulated_in_each(multiplicity: np.ndarray) -> np.ndarray:
    # The largest cap on a cell that keeps the sum within what is simulated, at least one each.
    caps = np.arange(1, _SIMULATED + 1)
    sums = np.minimum(multiplicity, caps[:, None]).sum(axis=1)
    cap = max(1, int((sums <= _SIMULATED).sum()))
    return np.minimum(multiplicity, cap).astype(np.int64)


def _simulated_sum(
    power: _Power,
    posterior: Posterior,
    cells: np.ndarray,
    repeats: np.ndarray,
    weight: np.ndarray,
    k: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    total = np.empty((posterior.n_samples, len(k)))
    step = max(1, _SIMULATED_BLOCK // len(weight))
    for start in range(0, posterior.n_samples, step):
        rows = slice(start, start + step)
        log_p, log_q = posterior.sample(cells, rows, repeats, rng)
        log_base = log_p if power.of_success else log_q
        _sum_of_powers(log_base, weight, k, power.complement, total[rows])
    return total


def _expected_sum(
    power: _Power, posterior: Posterior, cells: np.ndarray, weight: np.ndarray, k: np.ndarray
) -> np.ndarray:
    return np.einsum("tck,c->tk", power.expected(posterior, cells, k), weight)


def _future_run(
    power: _Power,
    including_observed: bool,
    posterior: Posterior,
    system: int,
    k: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    # Given the difficulty, the unsolved problems of a cell thin out as k grows: binomially, by
    # the ratio of their chances of failing all the way. One run, solved sets that only grow.
    cells = np.flatnonzero(posterior.cells.system == system)
    m = posterior.cells.multiplicity[cells].astype(np.int64)
    n_problems = m.sum()
    if including_observed:
        unsolved = posterior.cells.n_successes[cells] == 0
        cells, m = cells[unsolved], m[unsolved]
    grid, back = np.unique(k, return_inverse=True)
    fail = _FAIL.expected(posterior, cells, grid)
    left = np.broadcast_to(m, fail.shape[:2])
    unsolved_share = np.empty((posterior.n_samples, len(grid)))
    for index in range(len(grid)):
        before = fail[..., index - 1] if index else 1.0
        left = rng.binomial(left, np.clip(fail[..., index] / before, 0.0, 1.0))
        unsolved_share[:, index] = left.sum(axis=1) / n_problems
    share = unsolved_share[:, back]
    return 1.0 - share if power.complement else share


@numba.njit(cache=True)
def _sum_of_powers(
    log_base: np.ndarray, weight: np.ndarray, k: np.ndarray, complement: bool, out: np.ndarray
) -> None:
    # out[t, j] = sum_i weight[i] base[t, i]^k[j], or of one less that.
    for t in range(log_base.shape[0]):
        for j in range(len(k)):
            total = 0.0
            for i in range(log_base.shape[1]):
                exponent = k[j] * log_base[t, i]
                if exponent < _VANISHES:
                    power = 1.0 if complement else np.exp(exponent)
                else:
                    power = -np.expm1(exponent) if complement else np.exp(exponent)
                total += weight[i] * power
            out[t, j] = total


def _labelled(
    fit: xr.DataTree,
    cells: Cells,
    power: _Power,
    k: np.ndarray,
    estimand: str,
    draws: np.ndarray,
) -> xr.Dataset:
    posterior = fit["posterior"]
    sizes = [posterior.sizes[dim] for dim in ("chain", "draw", "system")]
    largest = np.array([cells.n_attempts[cells.system == i].max() for i in range(sizes[2])])
    return xr.Dataset(
        {
            power.name: (("chain", "draw", "system", "k"), draws.reshape(*sizes, len(k))),
            "unbiased": (("system", "k"), mean_over_cells(cells, k, power.name)),
        },
        coords={name: posterior[name] for name in ("chain", "draw", "system")}
        | {
            "k": k.astype(np.int64),
            "extrapolated": (("system", "k"), k > largest[:, None]),
            "largest_n": ("system", largest.astype(np.int64)),
            "estimand": estimand,
        },
    )
