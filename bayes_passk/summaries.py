"""Posterior draws of an estimand as a table."""

__all__ = ["Interval", "credible_interval", "draws_of", "summary"]

from dataclasses import dataclass
from typing import Any

import pandas as pd
import xarray as xr
from arviz_base import rcParams

from bayes_passk.errors import OptionError, did_you_mean

_KINDS = ("eti", "hdi")
_DIMS = ("chain", "draw")


@dataclass(frozen=True)
class Interval:
    """Ends of a credible interval, with its probability and kind."""

    lower: xr.DataArray
    upper: xr.DataArray
    prob: float
    kind: str

    @property
    def label(self) -> str:
        """The interval in words, as figures show it."""
        return f"{100 * self.prob:g} % {self.kind}"


def summary(
    curve: xr.Dataset, *, ci_prob: float | None = None, ci_kind: str | None = None
) -> pd.DataFrame:
    """Mean, median and credible interval of every system and k.

    Parameters
    ----------
    curve : xarray.Dataset
        Result of `pass_at_k`, `pass_hat_k` or `fail_at_k`.
    ci_prob : float, optional
        Probability of the interval, between 0 and 1; by default ArviZ's ``stats.ci_prob``.
    ci_kind : {"eti", "hdi"}, optional
        Equal-tailed or highest density; by default ArviZ's ``stats.ci_kind``.

    Returns
    -------
    pandas.DataFrame
        Columns ``system``, ``k``, ``estimand``, ``mean``, ``median``, ``sd``, ``lower``,
        ``upper``, ``ci_prob``, ``ci_kind``, ``extrapolated`` (k beyond the largest n) and
        ``unbiased`` (missing where k exceeds the smallest n).

    Raises
    ------
    OptionError
        The probability lies outside 0 to 1, or the kind is unknown.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit, pass_at_k
    >>> tree = fit(counts_from_arrays([20] * 4, [0, 1, 5, 20]), random_seed=1)
    >>> table = summary(pass_at_k(tree, [1, 100]), ci_prob=0.9)
    >>> table[["k", "estimand", "ci_kind", "extrapolated", "unbiased"]]
         k   estimand ci_kind  extrapolated  unbiased
    0    1  benchmark     eti         False     0.325
    1  100  benchmark     eti          True       NaN
    """
    draws = draws_of(curve)
    interval = credible_interval(draws, ci_prob, ci_kind)
    columns: dict[str, Any] = {
        "mean": draws.mean(_DIMS),
        "median": draws.median(_DIMS),
        "sd": draws.std(_DIMS, ddof=1),
        "lower": interval.lower,
        "upper": interval.upper,
        "extrapolated": curve["extrapolated"],
        "unbiased": curve["unbiased"],
    }
    tidy = xr.Dataset({key: value.reset_coords(drop=True) for key, value in columns.items()})
    table = tidy.to_dataframe(dim_order=["system", "k"]).reset_index()
    return table.assign(
        estimand=str(curve["estimand"].item()), ci_prob=interval.prob, ci_kind=interval.kind
    )[_COLUMNS]


def draws_of(curve: xr.Dataset) -> xr.DataArray:
    """The variable of a curve that holds its draws."""
    return next(array for array in curve.data_vars.values() if "draw" in array.dims)


def credible_interval(
    draws: xr.DataArray, ci_prob: float | None = None, ci_kind: str | None = None
) -> Interval:
    """Credible interval over chains and draws; arguments and errors as in `summary`."""
    prob = rcParams["stats.ci_prob"] if ci_prob is None else ci_prob
    kind = rcParams["stats.ci_kind"] if ci_kind is None else ci_kind
    if not 0 < prob < 1:
        raise OptionError(f"ci_prob: expected a number between 0 and 1, got {prob!r}")
    if kind not in _KINDS:
        hint = did_you_mean(str(kind), _KINDS)
        raise OptionError(f"ci_kind: expected one of {', '.join(_KINDS)}, got {kind!r}: {hint}")
    return Interval(*_bounds(draws, prob, kind), float(prob), kind)


_COLUMNS = [
    "system",
    "k",
    "estimand",
    "mean",
    "median",
    "sd",
    "lower",
    "upper",
    "ci_prob",
    "ci_kind",
    "extrapolated",
    "unbiased",
]


def _bounds(draws: xr.DataArray, prob: float, kind: str) -> tuple[xr.DataArray, xr.DataArray]:
    if kind == "hdi":
        from arviz_stats import hdi  # takes seconds to import

        ends = hdi(draws, prob=prob)
        return ends.sel(ci_bound="lower", drop=True), ends.sel(ci_bound="upper", drop=True)
    tail = (1 - prob) / 2
    ends = draws.quantile([tail, 1 - tail], dim=_DIMS)
    return ends.isel(quantile=0, drop=True), ends.isel(quantile=1, drop=True)
