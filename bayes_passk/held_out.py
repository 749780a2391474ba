"""Attempts held out, and predicted by a fit of the others."""

__all__ = ["check_held_out"]

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_passk.errors import OptionError
from bayes_passk.fitting import fit as fit_counts
from bayes_passk.posterior import Posterior

_DRAWS = 500
_TAILS = (0.05, 0.95)


def check_held_out(
    counts: xr.Dataset,
    variant: str | Path = "beta_binomial",
    *,
    share: float = 0.5,
    random_seed: int = 0,
    **options: Any,
) -> pd.DataFrame:
    """Fit a random part of each problem's attempts, and predict the others.

    Parameters
    ----------
    counts : xarray.Dataset
        Counts, at least two attempts on each problem attempted.
    variant : str or Path
        What is fitted.
    share : float
        Share of the attempts that are fitted.
    random_seed : int
        Of the division, the fit and the prediction.
    **options
        Further arguments of `fit`.

    Returns
    -------
    pandas.DataFrame
        A row a system: ``system``, ``observed`` (successes in the held-out attempts, by problem on
        average), ``mean``, ``lower`` and ``upper`` (90 %), ``coverage_90`` (share of problems whose
        held-out successes lie inside their own interval) and ``log_score`` (mean log probability
        of a problem's held-out counts).

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays
    >>> counts = counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20])
    >>> float(check_held_out(counts, random_seed=1)["coverage_90"].iloc[0]) > 0.5
    True
    """
    if not 0 < share < 1:
        raise OptionError(f"share: expected a number between 0 and 1, got {share!r}")
    rng = np.random.default_rng(random_seed)
    first, rest = _divided(counts, share, rng)
    posterior = Posterior.of(fit_counts(first, variant, random_seed=random_seed, **options))
    rows = (_predicted(posterior, rest, i, rng) for i in range(counts.sizes["system"]))
    return pd.DataFrame(list(rows))


def _divided(
    counts: xr.Dataset, share: float, rng: np.random.Generator
) -> tuple[xr.Dataset, xr.Dataset]:
    n, c = (counts[name].values for name in ("n_attempts", "n_successes"))
    kept = np.ceil(share * n).astype(np.int64)
    first = rng.hypergeometric(c, n - c, kept)
    dims = ("system", "problem")
    parts = (kept, first), (n - kept, c - first)
    one, other = (counts.assign(n_attempts=(dims, x), n_successes=(dims, y)) for x, y in parts)
    return one, other


def _predicted(
    posterior: Posterior, rest: xr.Dataset, system: int, rng: np.random.Generator
) -> dict[str, Any]:
    n, c = (rest[name].values[system] for name in ("n_attempts", "n_successes"))
    held = np.flatnonzero(n > 0)
    n, c, cells = n[held], c[held], posterior.cells.index[system, held]
    draws = slice(None, None, max(1, posterior.n_samples // _DRAWS))
    log_p, _ = posterior.sample(cells, draws, np.ones(len(held), dtype=np.int64), rng)
    drawn = rng.binomial(n, np.exp(log_p))
    low, high = np.quantile(drawn, _TAILS, axis=0, method="inverted_cdf")
    total = drawn.mean(axis=1)
    score = posterior.log_moment(cells, c[:, None] + 0.0, (n - c)[:, None] + 0.0)[..., 0]
    lower, upper = np.quantile(total, _TAILS)
    return {
        "system": str(rest["system"].values[system]),
        "observed": float(c.mean()),
        "mean": float(total.mean()),
        "lower": float(lower),
        "upper": float(upper),
        "coverage_90": float(((c >= low) & (c <= high)).mean()),
        "log_score": float(np.log(np.exp(score).mean(axis=0)).mean()),
    }
