"""The gate that every fit passes: what the sampler's diagnostics mean, in one line each."""

__all__ = ["diagnose"]

from typing import Any

import numpy as np
import xarray as xr
from arviz_stats import ess, rhat

R_HAT_LIMIT = 1.01
ESS_LIMIT = 400
# A posterior median outside this central share of the prior has left what the prior expects.
_PRIOR_TAIL = 0.005


def diagnose(fit: xr.DataTree) -> dict[str, Any]:
    """Check a fit's draws.

    Parameters
    ----------
    fit : xarray.DataTree
        With the groups ``posterior``, ``sample_stats`` and ``prior``.

    Returns
    -------
    dict
        ``r_hat_max``, ``ess_min`` (bulk or tail), ``divergences``, and ``warnings``: a line for
        r-hat above 1.01, an effective sample size below 400, a divergence, and a parameter
        whose posterior median lies in the outer 0.5 % of its prior on either side.
    """
    posterior = _varying(fit["posterior"].to_dataset())
    several = posterior.sizes["chain"] > 1
    r_hat = _extreme(rhat(posterior), max) if several else ("", None)
    sizes = [_extreme(ess(posterior, method=method), min) for method in ("bulk", "tail")]
    smallest = min(sizes, key=lambda pair: pair[1])
    divergences = int(fit["sample_stats"]["diverging"].sum())
    found = [
        _about_r_hat(*r_hat),
        _about_ess(*smallest),
        _about_divergences(divergences),
        *_about_priors(posterior, fit["prior"].to_dataset()[list(posterior.data_vars)]),
    ]
    return {
        "r_hat_max": None if r_hat[1] is None else round(r_hat[1], 4),
        "ess_min": round(smallest[1], 1),
        "divergences": divergences,
        "warnings": [line for line in found if line],
    }


def _varying(posterior: xr.Dataset) -> xr.Dataset:
    # Constants, the weights of quadrature nodes say, have no diagnostics.
    chosen = [
        name
        for name, array in posterior.data_vars.items()
        if (array.max(("chain", "draw")) > array.min(("chain", "draw"))).all()
    ]
    return posterior[chosen]


def _extreme(values: xr.Dataset, choose: Any) -> tuple[str, float]:
    pairs = [
        (str(name), float(choose(numbers)))
        for name, array in values.data_vars.items()
        if (numbers := array.to_numpy()[np.isfinite(array.to_numpy())]).size
    ]
    return choose(pairs, key=lambda pair: pair[1])


def _about_r_hat(name: str, value: float | None) -> str:
    if value is None:
        return "one chain only: r-hat cannot be had; use two chains or more"
    if value <= R_HAT_LIMIT:
        return ""
    return (
        f"r-hat is {value:.3f} for {name} (limit {R_HAT_LIMIT}): the chains disagree; "
        "raise tune and draws, or choose a simpler variant"
    )


def _about_ess(name: str, value: float) -> str:
    if value >= ESS_LIMIT:
        return ""
    return (
        f"the effective sample size is {value:.0f} for {name} (limit {ESS_LIMIT}): "
        "interval ends are noisy; raise draws"
    )


def _about_divergences(number: int) -> str:
    if not number:
        return ""
    verb = "transition" if number == 1 else "transitions"
    return (
        f"{number} divergent {verb}: the sampler missed a corner of the posterior; "
        "raise tune, or choose a simpler variant"
    )


def _about_priors(posterior: xr.Dataset, prior: xr.Dataset) -> list[str]:
    lines = []
    for name, drawn in prior.data_vars.items():
        low, high = drawn.quantile([_PRIOR_TAIL, 1 - _PRIOR_TAIL], dim=("chain", "draw"))
        median = posterior[name].median(dim=("chain", "draw"))
        pressed = (median < low.to_numpy()) | (median > high.to_numpy())
        if bool(pressed.any()):
            at = median.to_numpy().ravel()[int(np.argmax(pressed.to_numpy().ravel()))]
            lines.append(
                f"the posterior of {name} (median {at:.3g}) presses on its prior "
                f"(99 % between {float(low.min()):.3g} and {float(high.max()):.3g}): "
                "results lean on the prior there; widen it or check the counts"
            )
    return lines
