r"""Difficulty distributions: how the single-attempt success probability varies over problems.

A difficulty distribution :math:`G` is what its log-moment says it is,

.. math:: \log M(s, f) = \log E_{p \sim G}\left[p^s (1-p)^f\right],

for real ``s, f >= 0``. The likelihood of a problem's counts, the posterior of its pass@k and the
expected gain of more attempts are all ratios of it, so it is written once, in PyTensor, and
compiled for each use. The same object carries symbolic parameters inside a model and arrays of
posterior draws afterwards; only `Difficulty.sample` asks for numbers.

Parameters have the shape *batch + own*: the batch is whatever ``s`` and ``f`` broadcast with
(systems, cells, draws), the own dimensions belong to the family (the components of a mixture).
"""

__all__ = ["Beta", "Difficulty", "Parameter", "compile_log_moment", "family_named"]

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.errors import UnknownNameError, did_you_mean
from bayes_passk.special import beta_log_moment

type Parameter = TensorVariable | np.ndarray
"""A parameter of a difficulty distribution: symbolic in a model, an array of draws after it."""


@dataclass(frozen=True)
class Difficulty(ABC):
    """A distribution of the success probability over the problems of a system.

    A family is a frozen dataclass whose fields are its parameters, or other difficulties that it
    is composed of. Subclasses register themselves by their name.
    """

    families: ClassVar[dict[str, type["Difficulty"]]] = {}
    own_ndim: ClassVar[Mapping[str, int]] = {}
    """Parameters that have dimensions of their own, and how many."""

    def __init_subclass__(cls) -> None:
        Difficulty.families[cls.__name__] = cls

    @abstractmethod
    def log_moment(self, s: Any, f: Any) -> TensorVariable:
        """Graph of ``log E[p^s (1-p)^f]``, broadcast over the batch, ``s`` and ``f``."""

    @abstractmethod
    def given(self, successes: Any, failures: Any) -> "Difficulty":
        """Difficulty of a problem that showed these successes and failures (Bayes' rule)."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw ``log p`` and ``log(1-p)``, one for each element of the batch.

        The parameters must be arrays. Both logs keep their digits next to 0 and next to 1.
        """

    def parameters(self) -> dict[str, Parameter]:
        """All parameters by name, those of inner difficulties included."""
        found: dict[str, Parameter] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            inner = value.parameters() if isinstance(value, Difficulty) else {field.name: value}
            found |= inner
        return found

    def map(self, function: Callable[[Parameter], Parameter]) -> Self:
        """Apply a function to each parameter and keep the structure."""
        changed = {}
        for field in fields(self):
            value = getattr(self, field.name)
            changed[field.name] = (
                value.map(function) if isinstance(value, Difficulty) else function(value)
            )
        return type(self)(**changed)

    @classmethod
    def own_dimensions(cls, structure: str) -> dict[str, int]:
        """Number of own dimensions of each parameter of a structure."""
        return _own_dimensions(json.loads(structure))

    def structure(self) -> str:
        """Families and parameter names as JSON: what it takes to rebuild it from draws.

        Examples
        --------
        >>> Beta(np.ones(1), np.ones(1)).structure()
        '{"family": "Beta", "alpha": null, "beta": null}'
        """
        return json.dumps(_structure(self))

    @staticmethod
    def rebuild(structure: str, parameters: Mapping[str, Parameter]) -> "Difficulty":
        """Put parameters into a structure; the inverse of `structure` and `parameters`.

        Examples
        --------
        >>> beta = Beta(np.array([0.1]), np.array([2.0]))
        >>> Difficulty.rebuild(beta.structure(), beta.parameters())
        Beta(alpha=array([0.1]), beta=array([2.]))
        """
        return _rebuild(json.loads(structure), parameters)


@dataclass(frozen=True)
class Beta(Difficulty):
    r"""Beta distribution of the success probability.

    .. math::

        \log M(s, f) = \log E_{\mathrm{Beta}(\alpha, \beta)}[p^s]
                     + \log E_{\mathrm{Beta}(\beta, \alpha + s)}[q^f],

    the chain rule over successes and failures: two terms of one sign, hence no cancellation.

    Parameters
    ----------
    alpha, beta : tensor
        Shape parameters, above 0.

    Examples
    --------
    pass@10 of a new problem, ``1 - E[(1-p)^10]``:

    >>> fail = Beta(np.array(0.2), np.array(1.8)).log_moment(0.0, 10.0)
    >>> round(float(-np.expm1(fail.eval())), 4)
    0.3401
    """

    alpha: Parameter
    beta: Parameter

    @classmethod
    def from_logit_mean(cls, logit_mean: Any, log_concentration: Any) -> "Beta":
        """Beta with ``alpha / (alpha + beta) = sigmoid(logit_mean)``, sum ``exp(log_...)``."""
        concentration = pt.exp(log_concentration)
        return cls(pt.sigmoid(logit_mean) * concentration, pt.sigmoid(-logit_mean) * concentration)

    def log_moment(self, s: Any, f: Any) -> TensorVariable:
        return beta_log_moment(self.alpha, self.beta, s, f)

    def given(self, successes: Any, failures: Any) -> "Beta":
        return Beta(self.alpha + successes, self.beta + failures)

    def sample(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        log_odds = _log_gamma_draw(rng, self.alpha) - _log_gamma_draw(rng, self.beta)
        return -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)


def family_named(name: str) -> type[Difficulty]:
    """Family registered under a name.

    Raises
    ------
    UnknownNameError
        No family of that name has been imported.
    """
    if name not in Difficulty.families:
        hint = did_you_mean(name, Difficulty.families)
        raise UnknownNameError(f"expected a known difficulty family, got {name!r}: {hint}")
    return Difficulty.families[name]


@lru_cache(maxsize=32)
def compile_log_moment(structure: str) -> Callable[..., np.ndarray]:
    """Compile the log-moment of a structure for prediction over draws.

    Returns
    -------
    callable
        ``function(successes, failures, s, f, **parameters)`` is ``log E[p^s (1-p)^f]`` of units
        that showed these successes and failures. Successes and failures have the shape
        (1, unit, 1), ``s`` and ``f`` the shape (1, unit, order), each parameter the shape
        (draw, unit, 1) + own; the result the shape (draw, unit, order).
    """
    given = [pt.tensor(dtype="float64", shape=(1, None, 1)) for _ in range(2)]
    orders = [pt.tensor(dtype="float64", shape=(1, None, None)) for _ in range(2)]
    inputs = {
        name: pt.tensor(name, dtype="float64", shape=(None, None, 1) + (None,) * own_ndim)
        for name, own_ndim in Difficulty.own_dimensions(structure).items()
    }
    log_moment = Difficulty.rebuild(structure, inputs).given(*given).log_moment(*orders)
    return pytensor.function([*given, *orders, *inputs.values()], log_moment)


def _structure(difficulty: Difficulty) -> dict[str, Any]:
    inner = {
        field.name: _structure(value) if isinstance(value, Difficulty) else None
        for field in fields(difficulty)
        for value in [getattr(difficulty, field.name)]
    }
    return {"family": type(difficulty).__name__} | inner


def _rebuild(node: dict[str, Any], parameters: Mapping[str, Parameter]) -> Difficulty:
    family = family_named(node["family"])
    values = {
        name: parameters[name] if inner is None else _rebuild(inner, parameters)
        for name, inner in node.items()
        if name != "family"
    }
    return family(**values)


def _own_dimensions(node: dict[str, Any]) -> dict[str, int]:
    family = family_named(node["family"])
    found: dict[str, int] = {}
    for name, inner in node.items():
        if isinstance(inner, dict):
            found |= _own_dimensions(inner)
        elif name != "family":
            found[name] = family.own_ndim.get(name, 0)
    return found


def _log_gamma_draw(rng: np.random.Generator, shape: Any) -> np.ndarray:
    # log of a Gamma(shape) draw as log Gamma(shape + 1) + log(U) / shape: shapes of 0.01 give
    # draws that underflow, their logs do not.
    draw = np.log(rng.standard_gamma(shape + 1.0))
    return draw - rng.standard_exponential(np.shape(shape)) / shape
