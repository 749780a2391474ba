"""Does a fit describe the counts it was made from? Predictive checks."""

__all__ = [
    "check_fit",
    "check_statistics",
    "predictive_draws",
]

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_passk.errors import OptionError
from bayes_passk.posterior import Posterior
from bayes_passk.record import record_of
from bayes_passk.unbiased import unbiased_pass_at_k

# Replications of the counts; the Monte Carlo error of a tail probability is then below 0.02.
_REPLICATIONS = 500
# Most problems × replications held at once.
_MOST = 50_000_000


def predictive_draws(fit: xr.DataTree) -> xr.DataTree:
    """Counts replicated from a fit, as arviz-plots takes them.

    Each replication draws the parameters from the posterior, a new success probability for each
    problem from the difficulty distribution, and as many attempts as were made. It asks whether
    problems like these come out of the difficulty distribution.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior_predictive`` and ``observed_data``, ``n_successes`` over (``system``,
        ``problem``), for any ``plot_ppc_*`` of arviz-plots.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20]), random_seed=1)
    >>> dict(predictive_draws(tree)["posterior_predictive"].sizes)
    {'chain': 1, 'draw': 500, 'system': 1, 'problem': 8}
    """
    posterior = Posterior.of(fit)
    counts = fit["observed_data"].to_dataset()
    replicated = _replicate(posterior, np.random.default_rng([record_of(fit)["seed"], 1]))
    labels = {dim: counts[dim] for dim in ("system", "problem")}
    drawn = xr.Dataset(
        {"n_successes": (("chain", "draw", "system", "problem"), replicated[None])},
        coords=labels,
    )
    observed = counts[["n_successes"]].drop_attrs()
    return xr.DataTree.from_dict({"posterior_predictive": drawn, "observed_data": observed})


def check_fit(fit: xr.DataTree, k: int | None = None) -> pd.DataFrame:
    r"""Compare the counts with replications of them from the fit.

    The statistics are those that extrapolation hangs on: the share of problems never solved, the
    share always solved, the mean and spread of the success rates, and pass@k by the unbiased
    estimate.

    Parameters
    ----------
    fit : xarray.DataTree
        Result of `fit` or `load_fit`.
    k : int, optional
        For the unbiased pass@k; by default the smallest number of attempts on any problem.

    Returns
    -------
    pandas.DataFrame
        A row a system and statistic: ``system``, ``statistic``, ``observed``, ``mean``, ``lower``
        and ``upper`` (95 % of the replications), ``p_value`` (two-sided) and ``fits`` (false where
        the observed value lies outside).

    Raises
    ------
    OptionError
        k exceeds the attempts on some problem.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20]), random_seed=1)
    >>> bool(check_fit(tree)["fits"].all())
    True
    """
    tree = check_statistics(fit, k)
    drawn = tree["posterior_predictive"].to_dataset()
    observed = tree["observed_data"].to_dataset()
    rows = [
        _row(
            str(system),
            str(name),
            float(observed[name].sel(system=system)),
            drawn[name].sel(system=system).values[0],
        )
        for system in drawn["system"].values
        for name in drawn.data_vars
    ]
    return pd.DataFrame(rows)


def check_statistics(fit: xr.DataTree, k: int | None = None) -> xr.DataTree:
    """The statistics of `check_fit`, replicated and observed.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior_predictive`` (over ``chain``, ``draw``, ``system``) and
        ``observed_data`` (over ``system``), a variable a statistic.
    """
    counts = fit["observed_data"].to_dataset()
    drawn_counts = predictive_draws(fit)["posterior_predictive"].to_dataset()
    replicated = drawn_counts["n_successes"].values[0]
    n, c = counts["n_attempts"].values, counts["n_successes"].values
    at = _largest_k(n[n > 0], k)
    seen, again = [], []
    for i in range(len(n)):
        made = n[i] > 0
        seen.append(_statistics(n[i][made], c[None, i][:, made], at))
        again.append(_statistics(n[i][made], replicated[:, i][:, made], at))
    system = counts["system"]
    drawn = {
        name: (("chain", "draw", "system"), np.stack([x[name] for x in again], axis=1)[None])
        for name in seen[0]
    }
    observed = {name: ("system", [float(x[name][0]) for x in seen]) for name in seen[0]}
    return xr.DataTree.from_dict(
        {
            "posterior_predictive": xr.Dataset(drawn, coords={"system": system}),
            "observed_data": xr.Dataset(observed, coords={"system": system}),
        }
    )


def _replicate(posterior: Posterior, rng: np.random.Generator) -> np.ndarray:
    index = posterior.cells.index
    if _REPLICATIONS * index.size > _MOST:
        raise OptionError(
            f"expected at most {_MOST // _REPLICATIONS:,} pairs to replicate, got {index.size:,}: "
            "select fewer problems"
        )
    cells = posterior.cells
    prior = replace(
        posterior,
        cells=replace(cells, n_attempts=0 * cells.n_attempts, n_successes=0 * cells.n_successes),
    )
    draws = slice(None, None, _thinning(posterior))
    n = cells.n_attempts[index].astype(np.int64).ravel()
    p = np.exp(prior.sample(index.ravel(), draws, _ones(n), rng)[0])
    return rng.binomial(n, p).reshape(-1, *index.shape)[:_REPLICATIONS]


def _thinning(posterior: Posterior) -> int:
    return max(1, posterior.n_samples // _REPLICATIONS)


def _ones(values: np.ndarray) -> np.ndarray:
    return np.ones(len(values), dtype=np.int64)


def _largest_k(n: np.ndarray, k: int | None) -> int:
    if k is None:
        return int(n.min())
    if k > n.min():
        raise OptionError(f"k: expected at most the smallest n, {n.min()}, got {k}")
    return k


def _statistics(n: np.ndarray, c: np.ndarray, k: int) -> dict[str, np.ndarray]:
    # c has the shape (replication, problem).
    rate = c / n
    return {
        "share never solved": (c == 0).mean(axis=1),
        "share always solved": (c == n).mean(axis=1),
        "mean success rate": rate.mean(axis=1),
        "sd of success rates": rate.std(axis=1),
        f"pass@{k}": unbiased_pass_at_k(n, c, k).mean(axis=1),
    }


def _row(system: str, name: str, observed: float, replicated: np.ndarray) -> dict[str, Any]:
    lower, upper = np.quantile(replicated, [0.025, 0.975])
    below, above = (replicated <= observed).mean(), (replicated >= observed).mean()
    return {
        "system": system,
        "statistic": name,
        "observed": float(observed),
        "mean": float(replicated.mean()),
        "lower": float(lower),
        "upper": float(upper),
        "p_value": float(min(1.0, 2 * min(below, above))),
        "fits": bool(lower <= observed <= upper),
    }
