"""Variants against each other: which predicts left-out problems best, and what all of them say."""

__all__ = ["compare_variants", "stacked_pass_at_k"]

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from arviz_stats import compare

from bayes_passk.errors import ComparisonError
from bayes_passk.estimands import Estimand, pass_at_k
from bayes_passk.leave_one_out import leave_one_out
from bayes_passk.record import record_of

type Fits = Sequence[xr.DataTree] | Mapping[str, xr.DataTree]


def compare_variants(fits: Fits) -> pd.DataFrame:
    r"""Compare fits of one set of counts by leaving one problem out.

    .. math:: \mathrm{elpd} = \sum_i \log p(c_i \mid n_i, c_{-i})

    by PSIS-LOO, exact where its Pareto k is too large; the weights are those of stacking, which
    make the best joint prediction of left-out problems.

    A better prediction of counts at the n that were made is no proof of a better extrapolation:
    the counts hold little on the tail below 1/n (`extrapolation`).

    Parameters
    ----------
    fits : sequence or mapping of xarray.DataTree
        Fits of the same counts. A sequence is named by the variants (and what else differs).

    Returns
    -------
    pandas.DataFrame
        A row a fit, best first: ``variant``, ``elpd_loo``, ``se``, ``elpd_diff`` to the best and
        its standard error ``dse``, ``weight``, ``p_loo`` (effective number of parameters),
        ``pareto_k_max`` and ``n_exact`` (problems that were left out by a refit).

    Raises
    ------
    ComparisonError
        Fewer than two fits, fits of different counts, or fits that learnt from different attempts.

    Notes
    -----
    Vehtari, Gelman and Gabry 2017 (arXiv 1507.04544); Yao, Vehtari, Simpson and Gelman 2018
    (arXiv 1704.02030).

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> counts = counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20])
    >>> fits = [fit(counts, name, random_seed=1) for name in ("beta_binomial", "zero_inflated")]
    >>> sorted(compare_variants(fits)["variant"])
    ['beta_binomial', 'zero_inflated']
    """
    named = _named(fits)
    results = {name: leave_one_out(fit) for name, fit in named.items()}
    table = compare(
        {name: result.elpd for name, result in results.items()},
        method="stacking",
        round_to="none",
    )
    rows: list[dict[str, Any]] = [
        {
            "variant": str(name),
            "elpd_loo": float(row["elpd"]),
            "se": float(row["se"]),
            "elpd_diff": float(row["elpd_diff"]),
            "dse": float(row["dse"]),
            "weight": float(row["weight"]),
            "p_loo": float(row["p"]),
            "pareto_k_max": results[str(name)].pareto_k_max,
            "n_exact": results[str(name)].n_exact,
        }
        for name, row in table.iterrows()
    ]
    return pd.DataFrame(rows)


def stacked_pass_at_k(
    fits: Fits, k: int | Sequence[int], *, estimand: Estimand = "benchmark"
) -> xr.Dataset:
    """pass@k of several variants at once, mixed by their stacking weights.

    Each draw comes from one of the fits, chosen with its weight: the intervals hold the
    disagreement of the variants.

    Parameters
    ----------
    fits : sequence or mapping of xarray.DataTree
        Fits of the same counts, with equal numbers of chains and draws.
    k : int or sequence of int
        Attempts granted.
    estimand : {"benchmark", "population", "future_run"}
        As in `pass_at_k`.

    Returns
    -------
    xarray.Dataset
        As `pass_at_k` gives it, with the attribute ``weights`` (the weight of each fit).

    Raises
    ------
    ComparisonError
        As in `compare_variants`, or the fits have different numbers of draws.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> counts = counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20])
    >>> fits = [fit(counts, name, random_seed=1) for name in ("beta_binomial", "zero_inflated")]
    >>> 0.5 < float(stacked_pass_at_k(fits, 1000)["pass_at_k"].mean()) < 1
    True
    """
    named = _named(fits)
    weights = compare_variants(named).set_index("variant")["weight"]
    curves = {name: pass_at_k(fit, k, estimand=estimand) for name, fit in named.items()}
    first = next(iter(curves.values()))
    if any(curve["pass_at_k"].shape != first["pass_at_k"].shape for curve in curves.values()):
        raise ComparisonError("expected fits with equal numbers of chains and draws, to mix them")
    rng = np.random.default_rng([record_of(fit)["seed"] for fit in named.values()])
    share = np.array([weights[name] for name in curves])
    shape = first["pass_at_k"].shape[:2]
    chosen = rng.choice(len(share), size=shape, p=share / share.sum())
    together = np.stack([curve["pass_at_k"].values for curve in curves.values()])
    mixed = np.take_along_axis(together, chosen[None, :, :, None, None], axis=0)[0]
    stacked = first.assign(pass_at_k=(first["pass_at_k"].dims, mixed))
    return stacked.assign_attrs(weights={name: float(weights[name]) for name in curves})


def _named(fits: Fits) -> dict[str, xr.DataTree]:
    named = dict(fits) if isinstance(fits, Mapping) else _by_variant(list(fits))
    if len(named) < 2:
        raise ComparisonError(f"expected two fits or more to compare, got {len(named)}")
    for key, what in (("counts_digest", "counts"), ("learn_from", "attempts to learn from")):
        values = {name: record_of(fit)[key] for name, fit in named.items()}
        if len(set(values.values())) > 1:
            listed = ", ".join(f"{name}: {str(value)[:12]}" for name, value in values.items())
            raise ComparisonError(
                f"expected fits of the same {what}, got different ones ({listed})"
            )
    return named


def _by_variant(fits: list[xr.DataTree]) -> dict[str, xr.DataTree]:
    records = [record_of(fit) for fit in fits]
    named: dict[str, xr.DataTree] = {}
    for record, fit in zip(records, fits, strict=True):
        name = record["variant"]
        same = [other for other in records if other["variant"] == name]
        details = [record["pooling"], *(f"{key}={x}" for key, x in record["options"].items())]
        if len(same) > 1:
            name = f"{name} ({', '.join(details)})"
        while name in named:
            name += " again"
        named[name] = fit
    return named
