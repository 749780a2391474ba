"""Difficulty distributions given by any density on logit p."""

__all__ = ["LogitDensity", "Tabulated"]

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.difficulty import Difficulty, Parameter
from bayes_passk.quadrature import GRID, log_integral, sample_logits


@dataclass(frozen=True)
class LogitDensity(Difficulty):
    r"""A difficulty given by the log-density of :math:`x = \operatorname{logit} X`.

    A family is a frozen dataclass with its parameters as fields and a method ``log_density``;
    normalisation, log-moments and sampling follow from it (`bayes_passk.quadrature`). The density
    must be smooth on a scale of 1/4 in logits, and fall towards both ends.

    With ``rates`` other than (0, 1), attempts count as successes with probability
    :math:`r = \text{lowest}\,(1-X) + \text{highest}\,X`. ``predicts_rate`` says whether the success
    probability is that rate or :math:`X` itself.
    """

    predicts_rate: ClassVar[bool] = False

    @abstractmethod
    def log_density(self, x: np.ndarray) -> TensorVariable:
        """Log-density at logits ``x``, up to a constant.

        The parameters, the fields of this object, come with a last axis of length one.
        """

    def rates(self) -> tuple[Any, Any]:
        """Lowest and highest rate at which attempts count as successes."""
        return 0.0, 1.0

    def numeric(self) -> "Tabulated":
        wide = self._each(lambda value, own: pt.expand_dims(pt.as_tensor(value), -1))
        log_density = pt.as_tensor(wide.log_density(GRID))
        batch, ndim = log_density.shape[:-1], log_density.ndim - 1
        table = log_density.reshape((-1, len(GRID)))
        every = pt.arange(table.shape[0])
        total = log_integral(table, every, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
        row = every.reshape(batch, ndim=ndim)
        kind = TabulatedRate if self.predicts_rate else Tabulated
        return kind(table - total[:, None], row, 0.0, 0.0, *self.rates())

    def log_moment(self, s: Any, f: Any) -> TensorVariable:
        return self.numeric().log_moment(s, f)

    def log_evidence(self, successes: Any, failures: Any) -> TensorVariable:
        return self.numeric().log_evidence(successes, failures)

    def given(self, successes: Any, failures: Any) -> "Tabulated":
        return self.numeric().given(successes, failures)

    def at(self, index: Any) -> "Tabulated":
        return self.numeric().at(index)

    def sample(
        self, rng: np.random.Generator, repeats: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        return self.numeric().evaluated().sample(rng, repeats)

    def observed(self, log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
        if self.predicts_rate:
            return np.exp(log_p)
        lowest, highest = (np.asarray(pt.as_tensor(rate).eval()) for rate in self.rates())
        return lowest * np.exp(log_q) + highest * np.exp(log_p)


@dataclass(frozen=True)
class Tabulated(Difficulty):
    """A difficulty as a table of log-densities on logits, weighted by counts.

    Parameters
    ----------
    log_density : tensor, shape (table, node)
        Normalised log-densities at the nodes of `GRID`.
    row : tensor
        Which of them, for each element of the batch.
    successes, failures : tensor
        Counts seen.
    lowest, highest : tensor
        Ends of the rate at which attempts count as successes.
    """

    own_ndim: ClassVar = {"log_density": 1}
    predicts_rate: ClassVar[bool] = False

    log_density: Parameter
    row: Any
    successes: Any
    failures: Any
    lowest: Any
    highest: Any

    def log_moment(self, s: Any, f: Any) -> TensorVariable:
        if self.predicts_rate:
            return self.log_evidence(s, f)
        return self._integral(self.successes, self.failures, s, f) - self._log_seen()

    def log_evidence(self, successes: Any, failures: Any) -> TensorVariable:
        counts = self.successes + successes, self.failures + failures
        return self._integral(*counts, 0.0, 0.0) - self._log_seen()

    def given(self, successes: Any, failures: Any) -> "Tabulated":
        counts = {"successes": self.successes + successes, "failures": self.failures + failures}
        return replace(self, **counts)

    def at(self, index: Any) -> "Tabulated":
        picked = {
            name: _picked(value, index)
            for name, value in self.parameters().items()
            if name != "log_density"
        }
        return replace(self, **picked)

    def evaluated(self) -> "Tabulated":
        """The same with numbers in place of graphs."""
        return self.map(lambda value: pt.as_tensor(value).eval())

    def sample(
        self, rng: np.random.Generator, repeats: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        batch = (self.row, self.successes, self.failures, self.lowest, self.highest)
        row, *others = np.broadcast_arrays(*batch)
        units = np.atleast_2d(row)
        if repeats is None:
            repeats = np.ones(units.shape[-1], dtype=np.int64)
        flat = units.reshape(-1, units.shape[-1])
        x = sample_logits(
            np.ascontiguousarray(self.log_density),
            flat.astype(np.int64),
            [np.ascontiguousarray(value.reshape(flat.shape), np.float64) for value in others],
            repeats,
            rng,
        ).reshape((*row.shape[:-1], -1) if row.ndim else ())
        log_p, log_q = -np.logaddexp(0.0, -x), -np.logaddexp(0.0, x)
        if not self.predicts_rate:
            return log_p, log_q
        lowest, highest = (
            value if value.ndim == 0 else np.repeat(value, repeats, axis=-1) for value in others[2:]
        )
        with np.errstate(divide="ignore"):
            log = [np.log(end) for end in (lowest, highest, 1 - lowest, 1 - highest)]
        return (
            np.logaddexp(log[0] + log_q, log[1] + log_p),
            np.logaddexp(log[2] + log_q, log[3] + log_p),
        )

    def _log_seen(self) -> Any:
        nothing = np.isscalar(self.successes) and np.isscalar(self.failures)
        return 0.0 if nothing else self._integral(self.successes, self.failures, 0.0, 0.0)

    def _integral(self, c: Any, d: Any, s: Any, f: Any) -> TensorVariable:
        return log_integral(self.log_density, self.row, c, d, self.lowest, self.highest, s, f)


def _picked(value: Any, index: Any) -> Any:
    return value if np.ndim(value) == 0 else value[..., index]


@dataclass(frozen=True)
class TabulatedRate(Tabulated):
    """The same where the success probability is the rate itself."""

    predicts_rate: ClassVar[bool] = True
