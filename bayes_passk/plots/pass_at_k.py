"""pass@k over k: the posterior, the unbiased estimates, and where the data end."""

__all__ = ["plot_pass_at_k"]

from typing import Any

import numpy as np
import xarray as xr
from arviz_base import rcParams
from arviz_plots import PlotCollection, visuals

from bayes_passk.errors import OptionError
from bayes_passk.summaries import credible_interval, draws_of

# The colours of Okabe and Ito: told apart without red and green, and each of another lightness.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_LINESTYLES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LABELS = {"pass_at_k": "pass@k", "fail_at_k": "1 - pass@k", "pass_hat_k": "pass^k"}


def plot_pass_at_k(
    curve: xr.Dataset,
    *,
    ci_prob: float | None = None,
    ci_kind: str | None = None,
    backend: str | None = None,
    figure_kwargs: dict[str, Any] | None = None,
) -> PlotCollection:
    """Plot pass@k over k on a log axis.

    A line is the posterior median, a band the credible interval, a point the unbiased estimate
    where it exists. Beyond the vertical line, at the largest number of attempts made on a
    problem, the curve is extrapolated.

    Parameters
    ----------
    curve : xarray.Dataset
        Result of `pass_at_k`, `fail_at_k` or `pass_hat_k` at two or more k.
    ci_prob, ci_kind : optional
        Probability and kind of the interval; ArviZ's defaults where not given.
    backend : {"matplotlib", "bokeh", "plotly", "none"}, optional
        By default ArviZ's ``plot.backend``.
    figure_kwargs : dict, optional
        Passed to the backend when it creates the figure, such as ``figsize``.

    Returns
    -------
    arviz_plots.PlotCollection
        Visuals ``interval``, ``median``, ``unbiased`` and ``data_end``.

    Raises
    ------
    OptionError
        The curve has one k only.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit, pass_at_k
    >>> tree = fit(counts_from_arrays([20] * 4, [0, 1, 5, 20]), draws=100, random_seed=1)
    >>> collection = plot_pass_at_k(pass_at_k(tree, [1, 10, 100]), backend="none")
    >>> "median" in collection.viz
    True
    """
    if curve.sizes["k"] < 2:
        raise OptionError("a curve needs two values of k or more; use summary for one")
    curve = curve.sortby("k")
    draws = draws_of(curve)
    interval = credible_interval(draws, ci_prob, ci_kind)
    median = draws.median(("chain", "draw")).rename("pass_at_k").reset_coords(drop=True)
    collection = _collection(median, backend, figure_kwargs)
    k = median["k"]
    collection.map(
        visuals.fill_between_y,
        "interval",
        data=median,
        x=k,
        y_bottom=interval.lower.reset_coords(drop=True),
        y_top=interval.upper.reset_coords(drop=True),
        alpha=0.2,
        ignore_aes={"linestyle", "marker"},
    )
    collection.map(
        visuals.line_xy, "median", data=median, x=k, y=median, ignore_aes={"marker"}, width=1.5
    )
    _add_unbiased(collection, curve)
    has_end = _add_data_end(collection, curve)
    label = f"{_LABELS[str(draws.name)]}, {curve['estimand'].item()}".replace("_", " ")
    below = "k, attempts granted" + (" (dotted: most attempts made)" if has_end else "")
    _add_words(collection, median, below, f"{label}\n(median, {interval.label})")
    return collection


def _collection(
    median: xr.DataArray, backend: str | None, figure_kwargs: dict[str, Any] | None
) -> PlotCollection:
    n = median.sizes["system"]
    figure: dict[str, Any] = {"figsize": (8.5, 4.2), "figsize_units": "inches"}
    if (backend or rcParams["plot.backend"]) == "matplotlib":
        figure["layout"] = "constrained"  # leaves room for the legend
    return PlotCollection.wrap(
        median.to_dataset(),
        backend=backend,
        aes={"color": ["system"], "linestyle": ["system"], "marker": ["system"]},
        color=[_COLOURS[i % len(_COLOURS)] for i in range(n)],
        linestyle=[_LINESTYLES[i % len(_LINESTYLES)] for i in range(n)],
        marker=[_MARKERS[i % len(_MARKERS)] for i in range(n)],
        figure_kwargs=figure | (figure_kwargs or {}),
    )


def _add_unbiased(collection: PlotCollection, curve: xr.Dataset) -> None:
    unbiased = curve["unbiased"].rename("pass_at_k").reset_coords(drop=True)
    if not bool(np.isfinite(unbiased).any()):
        return
    collection.map(
        visuals.scatter_xy,
        "unbiased",
        data=unbiased,
        x=unbiased["k"],
        y=unbiased,
        ignore_aes={"linestyle"},
        size=18,
    )


def _add_data_end(collection: PlotCollection, curve: xr.Dataset) -> bool:
    end = curve["largest_n"].max().rename("pass_at_k").reset_coords(drop=True)
    beyond = bool(0 < end < curve["k"].max())
    if beyond:
        collection.map(
            visuals.vline, "data_end", data=end, ignore_aes="all", color="0.4", linestyle=":"
        )
    return beyond


def _add_words(collection: PlotCollection, median: xr.DataArray, below: str, beside: str) -> None:
    once = median.isel(system=0, k=0, drop=True)
    whole = {"data": once, "ignore_aes": "all"}
    collection.map(visuals.set_xscale, "x_scale", scale="log", store_artist=False, **whole)
    for name, visual, text in (
        ("x_label", visuals.labelled_x, below),
        ("y_label", visuals.labelled_y, beside),
    ):
        collection.map(visual, name, text=text, **whole)
    if median.sizes["system"] > 1:
        where = {"loc": "outside right upper"} if collection.backend == "matplotlib" else {}
        collection.add_legend("system", **where)
