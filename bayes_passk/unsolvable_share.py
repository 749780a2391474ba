"""Impossible or merely rare: what a zero-inflated fit says of never-solved problems."""

__all__ = ["tail_warnings", "unsolvable"]

import json
from typing import Any

import numpy as np
import xarray as xr

from bayes_passk.composed import ZeroInflated
from bayes_passk.difficulty import Difficulty, compile_log_moment, family_of
from bayes_passk.errors import NotDefinedError
from bayes_passk.posterior import Posterior
from bayes_passk.record import record_of

_PROB = 0.9


def unsolvable(fit: xr.DataTree) -> xr.DataArray:
    r"""Posterior probability that each problem cannot be solved.

    .. math:: P(p_i = 0 \mid c_i = 0, n_i) =
              E\left[\frac{\psi}{\psi + (1 - \psi)\, M_0(0, n_i)}\right]

    over the posterior; 0 for a problem that was solved.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of `zero_inflated` or `zero_one_inflated`.

    Returns
    -------
    xarray.DataArray
        Over (``system``, ``problem``). The attribute ``warnings`` names the systems whose data
        cannot tell impossible from rare.

    Raises
    ------
    NotDefinedError
        The variant has no unsolvable problems.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> counts = counts_from_arrays([200] * 8, [0, 0, 0, 90, 101, 110, 95, 99])
    >>> tree = fit(counts, "zero_inflated", random_seed=1)
    >>> bool((unsolvable(tree)[0, :3] > 0.9).all())
    True
    """
    posterior = Posterior.of(fit)
    if family_of(posterior.structure) is not ZeroInflated:
        raise NotDefinedError(
            f"variant {record_of(fit)['variant']!r} has no unsolvable problems: fit zero_inflated"
        )
    log_odds = posterior.parameters["unsolvable_log_odds"]
    cells = posterior.cells
    # The inner difficulty alone: the chance that a solvable problem shows these failures.
    inner = json.dumps(json.loads(posterior.structure)["inner"])
    names = Difficulty.own_dimensions(inner)
    function = compile_log_moment(inner)
    every = np.zeros(len(cells.group))
    orders = [every[:, None], cells.n_failures[:, None]]
    total = np.zeros(len(cells.group))
    for rows in posterior.blocks(len(cells.group)):
        parameters = [posterior.parameters[name][rows] for name in names]
        against = function(cells.group, every, every, *orders, *parameters)[..., 0]
        total += _sigmoid(log_odds[rows][:, cells.group] - against).sum(axis=0)
    probability = np.where(cells.n_successes == 0, total / posterior.n_samples, 0.0)
    counts = fit["observed_data"]
    return xr.DataArray(
        probability[cells.index],
        dims=("system", "problem"),
        coords={dim: counts[dim] for dim in ("system", "problem")},
        name="p_unsolvable",
        attrs={"warnings": tail_warnings(fit)},
    )


def tail_warnings(fit: xr.DataTree) -> list[str]:
    """Lines on systems whose data cannot tell impossible problems from rare ones.

    A line where the 90 % interval of the unsolvable share is wider than half of the share of
    problems that were never solved.
    """
    structure = record_of(fit)["difficulty"]
    if family_of(structure) is not ZeroInflated:
        return []
    counts = fit["observed_data"].to_dataset()
    made = counts["n_attempts"] > 0
    never = ((counts["n_successes"] == 0) & made).sum("problem") / made.sum("problem")
    tail = (1 - _PROB) / 2
    share_draws = fit["posterior"].to_dataset()["unsolvable"]
    ends = share_draws.quantile([tail, 1 - tail], dim=("chain", "draw"))
    return [
        f"system {str(system)[:60]!r}: {share:.0%} of the problems were never solved, and between "
        f"{low:.0%} and {high:.0%} (90 %) are impossible: the data cannot tell impossible from "
        "rare; more attempts on never-solved problems would"
        for system, share, low, high in _by_system(never, ends)
        if high - low > share / 2
    ]


def _by_system(never: xr.DataArray, ends: xr.DataArray) -> Any:
    return zip(never["system"].values, never.values, *ends.values, strict=True)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -x))
