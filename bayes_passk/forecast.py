r"""How certain a target will be after planned attempts: the expected posterior variance.

Futures are simulated from the posterior: a draw of the parameters, of every problem's success
probability (hence of the target ``F``), and of what the planned attempts would show. The expected
posterior variance is the part of the variance of ``F`` that the outcomes leave unexplained,

.. math:: E[\mathrm{Var}(F \mid y)] = \min_g E[(F - g(y))^2],

estimated by least squares on features of the outcomes (Strong, Oakley and Brennan 2014, Medical
Decision Making 34): the posterior mean of ``F`` under each of a few settings of the parameters,
their average by how well they predict ``y``, and those log-likelihoods. A best function of a few
features explains less than the best of all, so the forecast is, if anything, too wide.
"""

__all__ = ["Forecast", "forecast"]

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from arviz_base import rcParams

from bayes_passk.errors import OptionError
from bayes_passk.posterior import Posterior
from bayes_passk.targets import Functionals

_FUTURES = 2_000
# Draws × problems simulated at most.
_SIMULATED = 20_000_000
_FEWEST = 200
# Settings of the parameters that the features are made of.
_SETTINGS = 24
_FEATURES = 3


@dataclass(frozen=True)
class Forecast:
    """Variance and interval width of each functional, now and expected, shape (J,)."""

    variance_now: np.ndarray
    variance_expected: np.ndarray
    width_now: np.ndarray
    width_expected: np.ndarray
    ci_prob: float


def forecast(
    fit: xr.DataTree,
    functionals: Functionals,
    plan: np.ndarray,
    ci_prob: float | None,
    rng: np.random.Generator,
) -> Forecast:
    """Forecast what a plan over (system, problem) leaves of the functionals' variance.

    Raises
    ------
    OptionError
        ``ci_prob`` lies outside 0 to 1.
    """
    prob = rcParams["stats.ci_prob"] if ci_prob is None else ci_prob
    if not 0 < prob < 1:
        raise OptionError(f"ci_prob: expected a number between 0 and 1, got {prob!r}")
    futures = Futures.of(Posterior.of(fit), functionals, rng)
    now = futures.values.var(axis=0, ddof=1)
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    width = np.diff(np.quantile(futures.values, tails, axis=0), axis=0)[0]
    ratio = futures.unexplained(plan, rng)
    return Forecast(now, now * ratio, width, width * np.sqrt(ratio), float(prob))


@dataclass(frozen=True)
class Futures:
    """Draws of the functionals and of every problem's ``p``: what the future would be like."""

    posterior: Posterior
    functionals: Functionals
    values: np.ndarray  # (draw, J)
    log_p: dict[int, np.ndarray]  # system: (draw, problem), in the order of the problems

    @classmethod
    def of(
        cls, posterior: Posterior, functionals: Functionals, rng: np.random.Generator
    ) -> "Futures":
        """Simulate the problems of the systems that matter."""
        systems = [int(system) for system in functionals.systems]
        n_problems = posterior.cells.index.shape[1]
        number = max(_FEWEST, min(_FUTURES, _SIMULATED // (n_problems * len(systems))))
        n = posterior.n_samples
        rows = np.unique(np.linspace(0, n - 1, min(n, number)).round().astype(int))
        chosen = {name: values[rows] for name, values in posterior.parameters.items()}
        thinned = replace(posterior, parameters=chosen)
        log_p, log_q = {}, {}
        for system in systems:
            log_p[system], log_q[system] = _of_problems(thinned, system, rng)
        return cls(thinned, functionals, functionals.of_draws(log_q), log_p)

    def unexplained(self, plan: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Share of each functional's variance that outcomes of the plan leave, shape (J,)."""
        if not plan.any():
            return np.ones(self.values.shape[1])
        settings = self._settings()
        log_fit, means = self._read(settings, plan, rng)
        weight = np.exp(log_fit - log_fit.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        return np.array(
            [
                _residual_share(self.values[:, j], _features(weight, log_fit, means[..., j]))
                for j in range(self.values.shape[1])
            ]
        )

    def _settings(self) -> Posterior:
        # Draws of the parameters spread over the range of the first functional.
        order = np.argsort(self.values[:, 0])
        rows = order[np.linspace(0, len(order) - 1, _SETTINGS).round().astype(int)]
        chosen = {name: values[rows] for name, values in self.posterior.parameters.items()}
        return replace(self.posterior, parameters=chosen)

    def _read(
        self, settings: Posterior, plan: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        # What each setting makes of each future: log-likelihood (draw, setting) and E[F | y]
        # (draw, setting, J).
        n_draws, functionals = len(self.values), self.functionals
        log_fit = np.zeros((n_draws, _SETTINGS))
        means = np.zeros((n_draws, _SETTINGS, self.values.shape[1]))
        for system, log_p in self.log_p.items():
            cell, attempts = settings.cells.index[system], plan[system]
            seen = rng.binomial(attempts, np.exp(log_p))
            whole = np.zeros((n_draws, _SETTINGS, len(functionals.ks)))
            for kind in np.unique(np.stack([cell, attempts]), axis=1).T:
                same = np.flatnonzero((cell == kind[0]) & (attempts == kind[1]))
                y, back = np.unique(seen[:, same], return_inverse=True)
                chance, fail = _outcomes(settings, kind[0], y, int(kind[1]), functionals)
                n_same = _tally(back.reshape(n_draws, -1), len(y))
                log_fit += n_same @ chance.T
                whole += np.einsum("dy,syk->dsk", n_same, fail)
            if functionals.product:
                means += np.exp(whole) @ functionals.weights[:, system].T
            else:
                means += whole @ functionals.weights[:, system].T / len(cell)
        return log_fit, means


def _of_problems(
    posterior: Posterior, system: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    index = posterior.cells.index[system]
    cells, back, repeats = np.unique(index, return_inverse=True, return_counts=True)
    drawn = posterior.sample(cells, slice(None), repeats, rng)
    order = np.argsort(back, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return drawn[0][:, place], drawn[1][:, place]


def _outcomes(
    settings: Posterior, cell: int, y: np.ndarray, m: int, functionals: Functionals
) -> tuple[np.ndarray, np.ndarray]:
    # Log-probability of each outcome up to a constant, (setting, y), and E[(1-p)^k | y], or its
    # log for a product, (setting, y, k).
    cells = np.full(len(y), cell)
    orders = np.concatenate([[0.0], functionals.ks])
    log_moment = settings.log_moment(cells, y[:, None] + 0.0, (m - y)[:, None] + orders)
    log_fail = log_moment[..., 1:] - log_moment[..., :1]
    return log_moment[..., 0], log_fail if functionals.product else np.exp(log_fail)


def _tally(outcome: np.ndarray, n_outcomes: int) -> np.ndarray:
    # How many problems of each draw show each outcome, shape (draw, outcome).
    rows = np.arange(len(outcome))[:, None] * n_outcomes
    flat = np.bincount((rows + outcome).ravel(), minlength=len(outcome) * n_outcomes)
    return flat.reshape(len(outcome), n_outcomes)


def _features(weight: np.ndarray, log_fit: np.ndarray, means: np.ndarray) -> np.ndarray:
    average = (weight * means).sum(axis=1)
    picked = np.linspace(0, _SETTINGS - 1, _FEATURES).round().astype(int)
    relative = (log_fit - log_fit.mean(axis=1, keepdims=True))[:, picked[:-1]]
    return np.column_stack([np.ones(len(average)), average, means[:, picked], relative])


def _residual_share(value: np.ndarray, features: np.ndarray) -> float:
    total = float(((value - value.mean()) ** 2).sum())
    if total == 0:
        return 1.0
    scale = np.abs(features).max(axis=0)
    coefficients, _, rank, _ = np.linalg.lstsq(features / np.where(scale > 0, scale, 1), value)
    residual = value - features / np.where(scale > 0, scale, 1) @ coefficients
    spent = (len(value) - 1) / max(1, len(value) - int(rank))
    return float(min(1.0, (residual**2).sum() / total * spent))
