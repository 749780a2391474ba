r"""How many attempts an interval of a given width takes, and when attempts cannot get there.

The benchmark's pass@k becomes as certain as one likes with enough attempts. The population's does
not: known or not, N problems are a sample of those one might have had, so that its variance is at
least :math:`E_t[\mathrm{Var}_G((1-p)^k)] / N`. Only more problems lower it.
"""

__all__ = ["AttemptsNeeded", "attempts_needed"]

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from arviz_base import rcParams
from scipy.stats import norm

from bayes_passk.allocation import allocate
from bayes_passk.errors import OptionError, did_you_mean
from bayes_passk.posterior import Posterior
from bayes_passk.unbiased import whole_ks

_ESTIMANDS = ("benchmark", "population")
# The first budget looked at is so many attempts a problem; each further one is three times it.
_FIRST_SHARE = 0.5
_STEP = 3.0
_LARGEST_SHARE = 1e6
# Bisections of the last step: the answer is within a tenth.
_BISECTIONS = 4


@dataclass(frozen=True)
class AttemptsNeeded:
    """What it takes to reach a width.

    Parameters
    ----------
    n_attempts : int or None
        Further attempts, placed by `allocate`; None where no number of them suffices.
    n_problems : int or None
        Problems that it takes at least, where attempts alone cannot get there.
    width_now, width_floor : float
        Width of the interval now, and with every problem's success probability known.
    variance_between, variance_within : float
        The variance now, split into what only more problems lower and what attempts lower.
    table : pandas.DataFrame
        Columns ``budget`` and ``width_expected``.
    answer : str
        All that in a sentence.
    """

    n_attempts: int | None
    n_problems: int | None
    width_now: float
    width_floor: float
    variance_between: float
    variance_within: float
    table: pd.DataFrame
    answer: str


def attempts_needed(
    fit: xr.DataTree,
    k: int,
    *,
    width: float,
    ci_prob: float | None = None,
    estimand: str = "benchmark",
    system: str | None = None,
    random_seed: int = 0,
) -> AttemptsNeeded:
    """Find how many more attempts bring the interval of pass@k to a width.

    Parameters
    ----------
    fit : xarray.DataTree
        Result of `fit` or `load_fit`.
    k : int
        Attempts granted.
    width : float
        Width wanted of the equal-tailed interval.
    ci_prob : float, optional
        Probability of the interval; ArviZ's ``stats.ci_prob`` by default.
    estimand : {"benchmark", "population"}
        These problems, or a new problem like them.
    system : str, optional
        Which system, where the fit has several.
    random_seed : int
        Seed of the simulated futures.

    Raises
    ------
    OptionError
        A width of 0 or less, a wrong k, probability, estimand or system.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20]), random_seed=1)
    >>> attempts_needed(tree, 50, width=0.1, ci_prob=0.9).n_attempts > 20
    True
    >>> attempts_needed(tree, 50, width=0.1, ci_prob=0.9, estimand="population").n_attempts
    """
    prob = rcParams["stats.ci_prob"] if ci_prob is None else ci_prob
    order = _check(k, width, estimand)
    name = _system(fit, system)
    spread = 2 * float(norm.ppf((1 + prob) / 2)) if 0 < prob < 1 else np.nan
    between = 0.0 if estimand == "benchmark" else _between(fit, order, name)
    floor = float(spread * np.sqrt(between))
    widths: dict[int, float] = {}

    def at(budget: int) -> float:
        if budget not in widths:
            plan = allocate(
                fit, budget, order, systems=[name], ci_prob=prob, random_seed=random_seed
            )
            widths[0] = float(np.hypot(plan["width_now"].item(), floor))
            widths[budget] = float(np.hypot(plan["width_expected"].item(), floor))
            within.append(plan["variance_now"].item())
        return widths[budget]

    within: list[float] = []
    now = at(0)
    found = _search(at, fit["observed_data"].sizes["problem"], width) if floor < width else None
    n_problems = None if floor < width else _problems(fit, floor, width)
    table = pd.DataFrame(sorted(widths.items()), columns=["budget", "width_expected"])
    answer = _answer(found, n_problems, now, floor, width)
    return AttemptsNeeded(found, n_problems, now, floor, between, within[0], table, answer)


def _check(k: int, width: float, estimand: str) -> int:
    ks = whole_ks(k)
    if len(ks) != 1:
        raise OptionError(f"k: expected one number, got {k!r}")
    if not isinstance(width, int | float) or not width > 0:
        raise OptionError(f"width: expected a number above 0, got {width!r}")
    if estimand not in _ESTIMANDS:
        hint = did_you_mean(str(estimand), _ESTIMANDS)
        raise OptionError(f"estimand: expected benchmark or population, got {estimand!r}: {hint}")
    return int(ks[0])


def _system(fit: xr.DataTree, system: str | None) -> str:
    names = [str(name) for name in fit["observed_data"].to_dataset()["system"].values]
    if system is None and len(names) > 1:
        raise OptionError(f"system: expected one of {', '.join(names)}; name it")
    return names[0] if system is None else system


def _between(fit: xr.DataTree, k: int, system: str) -> float:
    # Var_G((1-p)^k) / N, the mean over draws; the levels of a covariate weigh by their problems.
    posterior = Posterior.of(fit)
    index = list(fit["observed_data"].to_dataset()["system"].values).index(system)
    own = np.flatnonzero(posterior.cells.system == index)
    share = posterior.cells.multiplicity[own]
    moments = np.exp(
        posterior.log_moment(own, np.zeros(1), np.array([1.0, 2.0]) * k, given_data=False)
    )
    variance = (moments[..., 1] - moments[..., 0] ** 2) @ share / share.sum()
    return float(np.maximum(variance, 0.0).mean() / share.sum())


def _search(at: Callable[[int], float], n_problems: int, width: float) -> int | None:
    if at(0) <= width:
        return 0
    low, high = 0, max(1, round(_FIRST_SHARE * n_problems))
    while at(high) > width:
        if high > _LARGEST_SHARE * n_problems:
            return None
        low, high = high, int(np.ceil(high * _STEP))
    for _ in range(_BISECTIONS):
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle) <= width else (middle, high)
    return high


def _problems(fit: xr.DataTree, floor: float, width: float) -> int:
    return int(np.ceil(fit["observed_data"].sizes["problem"] * (floor / width) ** 2))


def _answer(
    found: int | None, n_problems: int | None, now: float, floor: float, width: float
) -> str:
    if n_problems is not None:
        return (
            f"no number of attempts reaches {width:g}: with every problem known exactly the "
            f"interval stays {floor:.3g} wide; take at least {n_problems:,} problems"
        )
    if found is None:
        return f"more than a million attempts a problem: the width is {now:.3g} now"
    if found == 0:
        return f"no more attempts: the width is {now:.3g} now"
    return f"about {found:,} more attempts: the width is {now:.3g} now"
