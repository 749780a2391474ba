"""Rules of where to sample next, behind one protocol.

A rule turns a `Standing` (what is known, what is out, what may still be asked for) into whole
numbers of attempts over (system, problem). It never plans beyond a pair's room, and spends the
batch to the last attempt that fits, unless there is no more to ask for.
"""

__all__ = ["RULES", "Rule", "find_rule"]

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayes_passk.errors import OptionError, UnknownNameError, did_you_mean
from bayes_passk.standing import Standing, pays, spread


class Rule(Protocol):
    """What decides where to sample next."""

    def __call__(self, standing: Standing, batch: float, rng: np.random.Generator) -> np.ndarray:
        """Plan attempts of a total cost of at most ``batch``: int64, shape (system, problem)."""
        ...


@dataclass(frozen=True)
class Uniform:
    """The pair with the fewest attempts, made or out, next."""

    def __call__(self, standing: Standing, batch: float, rng: np.random.Generator) -> np.ndarray:
        return spread(_made(standing), standing.room, standing.cost, batch, rng)


@dataclass(frozen=True)
class FewestSuccesses:
    """The pair with the fewest successes next, ties to the fewest attempts (Kazdan et al. 2025).

    Within a batch nothing is learnt: it goes to the pairs that have the fewest successes now.
    """

    def __call__(self, standing: Standing, batch: float, rng: np.random.Generator) -> np.ndarray:
        successes = standing.counts["n_successes"].values
        plan = np.zeros(successes.shape, dtype=np.int64)
        for level in np.unique(successes[standing.room > 0]):
            room = np.where(successes == level, standing.room, 0)
            left = batch - float((plan * standing.cost).sum())
            plan += spread(_made(standing), room, standing.cost, left, rng)
        return plan


@dataclass(frozen=True)
class UntilSuccesses:
    """Pairs with fewer than ``successes`` successes, evenly; nothing once all have them.

    Parameters
    ----------
    successes : int
        A pair is left alone from so many on.
    """

    successes: int = 1

    def __post_init__(self) -> None:
        if self.successes < 1:
            raise OptionError(f"successes: expected a number above 0, got {self.successes!r}")

    def __call__(self, standing: Standing, batch: float, rng: np.random.Generator) -> np.ndarray:
        unfinished = standing.counts["n_successes"].values < self.successes
        room = np.where(unfinished, standing.room, 0)
        return spread(_made(standing), room, standing.cost, batch, rng)


@dataclass(frozen=True)
class PosteriorSd:
    """In proportion to the posterior sd of the problem's ``(1-p)^k`` (Neyman 1934)."""

    def __call__(self, standing: Standing, batch: float, rng: np.random.Generator) -> np.ndarray:
        from bayes_passk.targets import fail_moments

        _, sd = fail_moments(standing.posterior(), _largest(standing.k))
        return _in_proportion(sd / np.sqrt(standing.cost), standing, batch, rng)


@dataclass(frozen=True)
class Thompson:
    """The pair whose drawn ``(1-p)^k`` lies farthest from its mean, drawn anew for each attempt."""

    def __call__(self, standing: Standing, batch: float, rng: np.random.Generator) -> np.ndarray:
        from bayes_passk.targets import fail_draws

        drawn = fail_draws(standing.posterior(), _largest(standing.k), rng)
        surprise = (drawn - drawn.mean(axis=0)) ** 2 / standing.cost
        surprise = np.where(standing.room > 0, surprise, -1.0).reshape(len(drawn), -1)
        wins = np.bincount(surprise.argmax(axis=1), minlength=surprise.shape[1])
        return _in_proportion(wins.reshape(standing.room.shape) + 0.0, standing, batch, rng)


@dataclass(frozen=True)
class VarianceReduction:
    """Half evenly, half where the target's posterior variance is expected to fall most."""

    def __call__(self, standing: Standing, batch: float, rng: np.random.Generator) -> np.ndarray:
        from bayes_passk.allocation import planned

        return planned(standing, batch, rng)


RULES: dict[str, type[Rule]] = {
    "variance_reduction": VarianceReduction,
    "uniform": Uniform,
    "fewest_successes": FewestSuccesses,
    "until_successes": UntilSuccesses,
    "posterior_sd": PosteriorSd,
    "thompson": Thompson,
}


def find_rule(name: str, **options: Any) -> Rule:
    """Rule of a name, with its options.

    Raises
    ------
    UnknownNameError
        There is no such rule.
    OptionError
        The rule has no such option, or not with this value.

    Examples
    --------
    >>> find_rule("until_successes", successes=3)
    UntilSuccesses(successes=3)
    """
    if name not in RULES:
        raise UnknownNameError(f"no rule {name!r}: {did_you_mean(str(name), RULES)}")
    try:
        return RULES[name](**options)
    except TypeError:
        raise OptionError(f"rule {name}: no option {', '.join(options)}") from None


def _in_proportion(
    weight: np.ndarray, standing: Standing, batch: float, rng: np.random.Generator
) -> np.ndarray:
    weight = np.where(standing.room > 0, weight, 0.0)
    total = float((weight * standing.cost).sum())
    share = weight * (batch / total) if total > 0 else weight
    plan = np.minimum(np.floor(share), standing.room).astype(np.int64)
    left = batch - float((plan * standing.cost).sum())
    # What rounding and full pairs leave over goes to the largest remainders.
    rest = np.where(plan < standing.room, share - plan, -np.inf)
    order = np.argsort(-rest, axis=None, kind="stable")[: int(np.isfinite(rest).sum())]
    chosen = order[pays(standing.cost.ravel()[order], left)]
    plan.ravel()[chosen] += 1
    left = batch - float((plan * standing.cost).sum())
    return plan + spread(_made(standing) + plan, standing.room - plan, standing.cost, left, rng)


def _largest(k: int | Sequence[int]) -> int:
    return int(np.max(k))


def _made(standing: Standing) -> np.ndarray:
    return standing.counts["n_attempts"].values + standing.pending
