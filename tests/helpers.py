"""Fits with known parameters, so that estimands can be checked against exact answers."""

import json

import numpy as np
import xarray as xr

from bayes_passk.counts import cells_of
from bayes_passk.difficulty import Beta
from bayes_passk.fitting import constants_of


def fit_with(counts, alpha, beta, n_draws=4000):
    """A fit whose posterior has the same alpha and beta in every draw."""
    systems = counts["system"].values
    ones = np.ones((4, n_draws // 4, len(systems)))
    dims = ("chain", "draw", "system")
    posterior = xr.Dataset(
        {"alpha": (dims, alpha * ones), "beta": (dims, beta * ones)},
        coords={"chain": range(4), "draw": range(n_draws // 4), "system": systems},
    )
    groups = {
        "posterior": posterior,
        "observed_data": counts,
        "constant_data": constants_of(cells_of(counts)),
    }
    tree = xr.DataTree.from_dict(groups)
    record = {"difficulty": Beta(ones, ones).structure(), "seed": 7, "variant": "beta_binomial"}
    tree.attrs["bayes_passk"] = json.dumps(record)
    return tree
