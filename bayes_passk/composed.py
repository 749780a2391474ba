"""Difficulty distributions made of others: inflated by a point mass, or mixed."""

__all__ = ["Mixture", "OneInflated", "SharedMixture", "ZeroInflated"]

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.difficulty import Beta, Difficulty, Parameter, repeated


@dataclass(frozen=True)
class ZeroInflated(Difficulty):
    r"""A share of the problems that no attempt solves, and a difficulty of the others.

    .. math:: M(s, f) = \psi\,[s = 0] + (1 - \psi)\, M_0(s, f)

    Parameters
    ----------
    unsolvable_log_odds : tensor
        Logit of the share ψ.
    inner : Difficulty
        Of the problems that can be solved.
    """

    unsolvable_log_odds: Parameter
    inner: Difficulty

    def log_moment(self, s: Any, f: Any) -> TensorVariable:
        share, rest = _log_shares(self.unsolvable_log_odds)
        solvable = rest + self.inner.log_moment(s, f)
        return pt.switch(pt.gt(s, 0.0), solvable, pt.logaddexp(share, solvable))

    def given(self, successes: Any, failures: Any) -> "ZeroInflated":
        against = self.inner.log_moment(successes, failures)
        log_odds = pt.switch(pt.gt(successes, 0.0), -np.inf, self.unsolvable_log_odds - against)
        return ZeroInflated(log_odds, self.inner.given(successes, failures))

    def sample(
        self, rng: np.random.Generator, repeats: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        log_p, log_q = self.inner.sample(rng, repeats)
        never = _happens(rng, repeated(self.unsolvable_log_odds, repeats))
        return np.where(never, -np.inf, log_p), np.where(never, 0.0, log_q)

    def observed(self, log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
        return self.inner.observed(log_p, log_q)

    def numeric(self) -> "ZeroInflated":
        return ZeroInflated(self.unsolvable_log_odds, self.inner.numeric())

    def at(self, index: Any) -> "ZeroInflated":
        return ZeroInflated(self.unsolvable_log_odds[..., index], self.inner.at(index))


@dataclass(frozen=True)
class OneInflated(Difficulty):
    r"""A share of the problems that every attempt solves, and a difficulty of the others.

    .. math:: M(s, f) = \omega\,[f = 0] + (1 - \omega)\, M_0(s, f)

    Parameters
    ----------
    certain_log_odds : tensor
        Logit of the share ω.
    inner : Difficulty
        Of the problems that can be failed.
    """

    certain_log_odds: Parameter
    inner: Difficulty

    def log_moment(self, s: Any, f: Any) -> TensorVariable:
        share, rest = _log_shares(self.certain_log_odds)
        fallible = rest + self.inner.log_moment(s, f)
        return pt.switch(pt.gt(f, 0.0), fallible, pt.logaddexp(share, fallible))

    def given(self, successes: Any, failures: Any) -> "OneInflated":
        against = self.inner.log_moment(successes, failures)
        log_odds = pt.switch(pt.gt(failures, 0.0), -np.inf, self.certain_log_odds - against)
        return OneInflated(log_odds, self.inner.given(successes, failures))

    def sample(
        self, rng: np.random.Generator, repeats: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        log_p, log_q = self.inner.sample(rng, repeats)
        always = _happens(rng, repeated(self.certain_log_odds, repeats))
        return np.where(always, 0.0, log_p), np.where(always, -np.inf, log_q)

    def observed(self, log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
        return self.inner.observed(log_p, log_q)

    def numeric(self) -> "OneInflated":
        return OneInflated(self.certain_log_odds, self.inner.numeric())

    def at(self, index: Any) -> "OneInflated":
        return OneInflated(self.certain_log_odds[..., index], self.inner.at(index))


@dataclass(frozen=True)
class Mixture(Difficulty):
    r"""A finite mixture of betas.

    .. math:: M(s, f) = \sum_j w_j M_j(s, f)

    Parameters
    ----------
    log_weight : tensor, shape batch + (component,)
        Logs of the weights, up to a constant.
    inner : Beta
        The components, along a last axis of its parameters.
    """

    own_ndim: ClassVar = {"log_weight": 1}
    inner_ndim: ClassVar = 1

    log_weight: Parameter
    inner: Beta

    def log_moment(self, s: Any, f: Any) -> TensorVariable:
        moments = self.inner.log_moment(*(_lengthened(x) for x in (s, f)))
        return pt.logsumexp(_normalised(self.log_weight) + moments, axis=-1)

    def given(self, successes: Any, failures: Any) -> "Mixture":
        counts = [_lengthened(x) for x in (successes, failures)]
        log_weight = self.log_weight + self.inner.log_moment(*counts)
        return Mixture(log_weight, self.inner.given(*counts))

    def sample(
        self, rng: np.random.Generator, repeats: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        log_weight = repeated(self.log_weight, repeats, axis=-2)
        component = (log_weight + rng.gumbel(size=log_weight.shape)).argmax(axis=-1)[..., None]

        def chosen(value: Any) -> np.ndarray:
            components = repeated(value, repeats, axis=-2)
            components = np.broadcast_to(components, log_weight.shape)
            return np.take_along_axis(components, component, axis=-1)[..., 0]

        return self.inner.map(chosen).sample(rng)


@dataclass(frozen=True)
class SharedMixture(Mixture):
    r"""A mixture whose component is the same for all systems on a problem.

    With counts of the systems :math:`i` on one problem, the weights that they leave are

    .. math:: w_j \prod_i M_{ij}(c_i, n_i - c_i),

    so that the attempts of one system inform the others' problems.
    """

    joint: ClassVar = True

    def log_evidence_of_rows(self, successes: Any, failures: Any) -> TensorVariable:
        """Log-probability of the counts of all systems on problems, batch + (problem,).

        Counts have the shape (system, problem), the parameters batch + (system, component).
        """
        wide = self.map(lambda value: pt.expand_dims(value, -2))
        evidence = wide._of_components(successes, failures).sum(axis=-3)
        log_weight = _normalised(self.log_weight)[..., 0, :][..., None, :]
        return pt.logsumexp(log_weight + evidence, axis=-1)

    def given_rows(self, index: Any, successes: Any, failures: Any, *, axis: bool) -> Mixture:
        """Difficulty of system ``index[u]`` on the problem of unit u, given all systems' counts.

        Parameters have the shape (draw, system, component), counts (system, unit).
        """
        wide = self.map(lambda value: pt.expand_dims(value, -2))
        evidence = wide._of_components(successes, failures).sum(axis=-3)
        log_weight = self.log_weight[:, index] + evidence
        unit = pt.arange(index.shape[0])
        seen = [x[index, unit][None, :, None] for x in (successes, failures)]
        inner = self.inner.map(lambda value: value[:, index]).given(*seen)
        mixture = Mixture(log_weight, inner)
        return mixture.map(lambda value: pt.expand_dims(value, 2)) if axis else mixture

    def _of_components(self, successes: Any, failures: Any) -> TensorVariable:
        return self.inner.log_moment(*(_lengthened(x) for x in (successes, failures)))


def _log_shares(log_odds: Any) -> tuple[TensorVariable, TensorVariable]:
    log_odds = pt.as_tensor(log_odds)
    return -pt.softplus(-log_odds), -pt.softplus(log_odds)


def _happens(rng: np.random.Generator, log_odds: np.ndarray) -> np.ndarray:
    return rng.logistic(size=log_odds.shape) < log_odds


def _lengthened(value: Any) -> TensorVariable:
    return pt.as_tensor(value, dtype="float64" if np.isscalar(value) else None)[..., None]


def _normalised(log_weight: Any) -> TensorVariable:
    log_weight = pt.as_tensor(log_weight)
    return log_weight - pt.logsumexp(log_weight, axis=-1, keepdims=True)
