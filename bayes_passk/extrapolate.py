"""How much of a result beyond the attempts made rests on what they cannot show."""

__all__ = ["extrapolation", "side_by_side"]

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from bayes_passk.errors import ComparisonError
from bayes_passk.estimands import pass_at_k
from bayes_passk.posterior import Posterior
from bayes_passk.summaries import credible_interval
from bayes_passk.unbiased import whole_ks


def extrapolation(
    fits: Mapping[str, xr.DataTree], k: int | Sequence[int], *, ci_prob: float | None = None
) -> pd.DataFrame:
    r"""How far pass@k hangs on the tail below what n attempts can see.

    ``unseen_share`` is the share of pass@k's posterior variance that comes from problems that were
    never solved:

    .. math:: \frac{\mathrm{Cov}(U_k, \text{pass@}k)}{\mathrm{Var}(\text{pass@}k)}, \quad
              U_k = \frac{1}{N} \sum_{i:\, c_i = 0} E[1 - (1 - p_i)^k \mid n_i, \theta]

    of the part that the difficulty distribution decides. What is known of these problems is the
    shape of its tail, which is the variant's assumption. ``disagreement`` is how far the variants'
    medians lie apart, in widths of the mean interval: above 1 the choice of the variant matters
    more than the data.

    Parameters
    ----------
    fits : mapping of str to xarray.DataTree
        Fits of the same counts by name; one is enough.
    k : int or sequence of int
        Attempts granted.
    ci_prob : float, optional
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A row a system, k and fit: ``system``, ``k``, ``variant``, ``times_beyond`` (k over the
        largest n), ``median``, ``lower``, ``upper``, ``unseen_share``, ``disagreement`` (the same
        for all variants; missing with one).

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20]), random_seed=1)
    >>> table = extrapolation({"beta_binomial": tree}, [10, 10_000])
    >>> bool(table["unseen_share"].is_monotonic_increasing)
    True
    """
    if not fits:
        raise ComparisonError("expected at least one fit, got none")
    ks = whole_ks(k)
    parts = [_of_fit(name, fit, ks, ci_prob) for name, fit in fits.items()]
    table = pd.concat(parts, ignore_index=True)
    grouped = table.groupby(["system", "k"], sort=False)
    apart = grouped["median"].transform("max") - grouped["median"].transform("min")
    width = (
        (table["upper"] - table["lower"]).groupby([table["system"], table["k"]]).transform("mean")
    )
    table["disagreement"] = np.where(len(fits) > 1, apart / width, np.nan)
    return table


def side_by_side(curves: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Curves of several variants in one, each system once for each, for `plot_pass_at_k`.

    Parameters
    ----------
    curves : mapping of str to xarray.Dataset
        Results of `pass_at_k` at the same k, by the name that the legend shows.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20]), random_seed=1)
    >>> curve = pass_at_k(tree, [1, 10])
    >>> side_by_side({"a": curve, "b": curve})["system"].values.tolist()
    ['system, a', 'system, b']
    """
    if not curves:
        raise ComparisonError("expected at least one curve, got none")
    renamed = [
        curve.assign_coords(system=[f"{system}, {name}" for system in curve["system"].values])
        for name, curve in curves.items()
    ]
    return xr.concat(renamed, dim="system", join="exact")


def _of_fit(name: str, fit: xr.DataTree, ks: np.ndarray, ci_prob: float | None) -> pd.DataFrame:
    curve = pass_at_k(fit, [int(k) for k in ks])
    draws = curve["pass_at_k"]
    interval = credible_interval(draws, ci_prob)
    posterior = Posterior.of(fit)
    rows = []
    for i, system in enumerate(curve["system"].values):
        share = _unseen_share(posterior, i, ks)
        for j, k in enumerate(ks):
            at = {"system": i, "k": j}
            rows.append(
                {
                    "system": str(system),
                    "k": int(k),
                    "variant": name,
                    "times_beyond": float(k / curve["largest_n"].values[i]),
                    "median": float(draws.isel(at).median()),
                    "lower": float(interval.lower.isel(at)),
                    "upper": float(interval.upper.isel(at)),
                    "unseen_share": share[j],
                }
            )
    return pd.DataFrame(rows)


def _unseen_share(posterior: Posterior, system: int, ks: np.ndarray) -> list[float]:
    cells = np.flatnonzero(posterior.cells.system == system)
    m = posterior.cells.multiplicity[cells]
    passed = -np.expm1(posterior.log_moment(cells, np.zeros((1, 1)), ks[None]))
    unseen = posterior.cells.n_successes[cells] == 0
    every = np.einsum("tck,c->tk", passed, m)
    tail = np.einsum("tck,c->tk", passed[:, unseen], m[unseen])
    centred = every - every.mean(axis=0)
    variance = (centred**2).mean(axis=0)
    covariance = (centred * (tail - tail.mean(axis=0))).mean(axis=0)
    return [float(c / v) if v > 0 else 0.0 for c, v in zip(covariance, variance, strict=True)]
