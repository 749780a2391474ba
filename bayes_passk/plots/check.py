"""Statistics of replicated counts, with the observed value in each."""

__all__ = ["plot_check"]

import math
from typing import Any, cast

import xarray as xr
from arviz_base import rcParams
from arviz_plots import PlotCollection, add_lines, plot_dist

from bayes_passk.checks import check_statistics

# What arviz-plots puts into a row.
_COLUMNS = 4


def plot_check(
    fit: xr.DataTree,
    k: int | None = None,
    *,
    backend: str | None = None,
    figure_kwargs: dict[str, Any] | None = None,
) -> PlotCollection:
    """Draw what `check_fit` tabulates: observed values among replicated ones.

    Parameters
    ----------
    fit : xarray.DataTree
        Result of `fit` or `load_fit`.
    k : int, optional
        For the unbiased pass@k; by default the smallest number of attempts on any problem.
    backend : {"matplotlib", "bokeh", "plotly", "none"}, optional
        By default ArviZ's ``plot.backend``.
    figure_kwargs : dict, optional
        Passed to the backend when it creates the figure.

    Returns
    -------
    arviz_plots.PlotCollection
        A plot for each statistic and system; the line is the observed value.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20]), random_seed=1)
    >>> collection = plot_check(tree, backend="none")
    """
    tree = check_statistics(fit, k)
    drawn = tree["posterior_predictive"].to_dataset()
    varying = [
        str(name)
        for name, values in drawn.data_vars.items()
        if (values.max(("chain", "draw")) > values.min(("chain", "draw"))).all()
    ]
    collection = plot_dist(
        tree,
        group="posterior_predictive",
        var_names=varying,
        kind="ecdf",
        backend=cast(Any, backend),
        figure_kwargs=_figure(len(varying) * drawn.sizes["system"], backend)
        | (figure_kwargs or {}),
        visuals={"credible_interval": False, "point_estimate": False, "point_estimate_text": False},
    )
    add_lines(collection, tree["observed_data"].to_dataset()[varying])
    return collection


def _figure(n_plots: int, backend: str | None) -> dict[str, Any]:
    rows = math.ceil(n_plots / min(n_plots, _COLUMNS))
    figure: dict[str, Any] = {"figsize": (11, 0.6 + 2.2 * rows), "figsize_units": "inches"}
    if (backend or rcParams["plot.backend"]) == "matplotlib":
        figure["layout"] = "constrained"  # keeps titles apart
    return figure
