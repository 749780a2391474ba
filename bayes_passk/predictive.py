"""What a variant expects before it has seen data."""

__all__ = ["prior_pass_at_k"]

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from bayes_passk.compiled import prior_draws
from bayes_passk.difficulty import Difficulty, compile_log_moment, family_of
from bayes_passk.unbiased import whole_ks
from bayes_passk.variant import Option, find_variant


def prior_pass_at_k(
    k: int | Sequence[int], variant: str | Path = "beta_binomial", **options: Option
) -> xr.Dataset:
    """pass@k of a new problem of one system, drawn from the prior alone.

    The prior predictive check: what a variant holds possible before data. Compare it with a fit's
    curve to see how much the data say.

    Parameters
    ----------
    k : int or sequence of int
        Attempts granted.
    variant : str or Path
        Name of a variant, or the path of its file.
    **options
        Options of the variant.

    Returns
    -------
    xarray.Dataset
        As `pass_at_k` of the population gives it, with ``estimand`` "prior population"; it can
        be summed up and plotted like any curve.

    Examples
    --------
    >>> from bayes_passk import summary
    >>> table = summary(prior_pass_at_k([1, 1000]), ci_prob=0.9)
    >>> bool((table["upper"] - table["lower"] > 0.4).all())
    True
    """
    ks = whole_ks(k)
    prior, structure = prior_draws(find_variant(variant, **options))
    names = Difficulty.own_dimensions(structure)
    parameters = [prior[name].to_numpy()[0] for name in names]
    index, zero = np.zeros(1, dtype=np.int64), np.zeros((1, len(ks)))
    nothing = np.zeros((1, 1) if family_of(structure).joint else 1)
    log_fail = compile_log_moment(structure)(index, nothing, nothing, zero, ks[None], *parameters)
    return xr.Dataset(
        {
            "pass_at_k": (("chain", "draw", "system", "k"), -np.expm1(log_fail)[None]),
            "unbiased": (("system", "k"), np.full((1, len(ks)), np.nan)),
        },
        coords={
            "system": ["prior"],
            "k": ks.astype(np.int64),
            "extrapolated": (("system", "k"), np.ones((1, len(ks)), dtype=bool)),
            "largest_n": ("system", [0]),
            "estimand": "prior population",
        },
    )
