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

__all__ = [
    "Beta",
    "Difficulty",
    "Parameter",
    "compile_log_evidence",
    "compile_log_moment",
    "compile_sampler",
    "family_named",
    "family_of",
    "repeated",
]

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
    inner_ndim: ClassVar[int] = 0
    """Dimensions that the parameters of inner difficulties have on top of their own."""
    joint: ClassVar[bool] = False
    """Whether the counts of all systems on a problem bear on each other."""

    def __init_subclass__(cls) -> None:
        Difficulty.families[cls.__name__] = cls

    @abstractmethod
    def log_moment(self, s: Any, f: Any) -> TensorVariable:
        """Graph of ``log E[p^s (1-p)^f]``, broadcast over the batch, ``s`` and ``f``."""

    @abstractmethod
    def given(self, successes: Any, failures: Any) -> "Difficulty":
        """Difficulty of a problem that showed these successes and failures (Bayes' rule)."""

    @abstractmethod
    def sample(
        self, rng: np.random.Generator, repeats: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw ``log p`` and ``log(1-p)`` for each element of the batch, from arrays.

        Both logs keep their digits next to 0 and next to 1. The elements of the last axis are
        drawn ``repeats`` times each.
        """

    def log_evidence(self, successes: Any, failures: Any) -> TensorVariable:
        """Graph of the log-probability of counts in one order: the log-moment at them.

        It differs where what is counted is not what is predicted: a fallible verifier.
        """
        return self.log_moment(successes, failures)

    def observed(self, log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
        """Probability that an attempt is counted as a success, where it succeeds with p."""
        return np.exp(log_p)

    def numeric(self) -> "Difficulty":
        """Graph of an equal difficulty whose parameters are all that sampling needs."""
        return self

    def at(self, index: Any) -> "Difficulty":
        """Elements of the last batch axis, as ``array[..., index]`` picks them."""
        return self._each(lambda value, own: value[(..., index) + (slice(None),) * own])

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
        return self._each(lambda value, own: function(value))

    def _each(self, function: Callable[[Any, int], Any], extra: int = 0) -> Self:
        # function(parameter, number of its own dimensions), inner difficulties included.
        changed = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Difficulty):
                changed[field.name] = value._each(function, extra + self.inner_ndim)
            else:
                changed[field.name] = function(value, extra + self.own_ndim.get(field.name, 0))
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

    def sample(
        self, rng: np.random.Generator, repeats: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        alpha, beta = (repeated(x, repeats) for x in (self.alpha, self.beta))
        log_odds = _log_gamma_draw(rng, alpha) - _log_gamma_draw(rng, beta)
        return -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)


def repeated(values: Any, repeats: np.ndarray | None, axis: int = -1) -> np.ndarray:
    """Repeat the elements of an axis, each its own number of times."""
    return np.asarray(values) if repeats is None else np.repeat(values, repeats, axis=axis)


def family_named(name: str) -> type[Difficulty]:
    """Family registered under a name.

    Raises
    ------
    UnknownNameError
        No family of that name has been imported.
    """
    if name not in Difficulty.families:
        hint = did_you_mean(name, Difficulty.families)
        raise UnknownNameError(
            f"expected a known difficulty family, got {name!r}: {hint}; one from a variant's file "
            "must be imported first: bp.find_variant('that_file.py')"
        )
    return Difficulty.families[name]


def compile_log_moment(structure: str) -> Callable[..., np.ndarray]:
    """Compile the log-moment of a structure for prediction over draws.

    Returns
    -------
    callable
        ``function(index, seen_successes, seen_failures, s, f, *parameters)`` is
        ``log E[p^s (1-p)^f]`` of units that showed these successes and failures. ``index`` of
        shape (unit,) says which group each unit belongs to; ``s`` and ``f`` have the shape
        (unit, order), each parameter the shape (draw, group) + own, the result the shape
        (draw, unit, order). What was seen has the shape (unit,), or (group, unit) for a joint
        difficulty.
    """
    return _compile(structure, _classes(json.loads(structure)), "log_moment")


def compile_log_evidence(structure: str) -> Callable[..., np.ndarray]:
    """Compile the log-probability of counts in one order.

    Returns
    -------
    callable
        ``function(index, successes, failures, *parameters)`` has the shape (draw, unit); of a
        joint difficulty, whose counts have the shape (group, unit), too.
    """
    return _compile(structure, _classes(json.loads(structure)), "log_evidence")


def compile_sampler(structure: str) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Compile what it takes to draw success probabilities given counts.

    Returns
    -------
    callable
        ``function(rng, repeats, index, seen_successes, seen_failures, *parameters)`` draws
        ``log p`` and ``log(1-p)`` of shape (draw, sum of ``repeats``); other arguments as in
        `compile_log_moment`.
    """
    evaluate, numeric, names = _compile(structure, _classes(json.loads(structure)), "sample")

    def sampler(
        rng: np.random.Generator, repeats: np.ndarray, *inputs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        arrays = dict(zip(names, evaluate(*inputs), strict=True))
        return Difficulty.rebuild(numeric, arrays).sample(rng, repeats)

    return sampler


# The classes are part of the key: a variant's file can be edited while this process runs.
@lru_cache(maxsize=64)
def _compile(structure: str, families: tuple[type[Difficulty], ...], what: str) -> Any:
    index = pt.lvector("index")
    joint = families[0].joint
    seen = [pt.tensor(dtype="float64", shape=(None,) * (2 if joint else 1)) for _ in range(2)]
    inputs = {
        name: pt.tensor(name, dtype="float64", shape=(None,) * (2 + own))
        for name, own in Difficulty.own_dimensions(structure).items()
    }
    prior = Difficulty.rebuild(structure, inputs)
    if what == "log_moment":
        orders = [pt.tensor(dtype="float64", shape=(None, None)) for _ in range(2)]
        unit = _given(prior, index, seen, axis=True)
        log_moment = unit.log_moment(*(order[None] for order in orders))
        return pytensor.function([index, *seen, *orders, *inputs.values()], log_moment)
    if what == "log_evidence":
        if prior.joint:
            evidence = prior.log_evidence_of_rows(*seen)  # type: ignore[attr-defined]
        else:
            evidence = prior.at(index).log_evidence(*(x[None] for x in seen))
        return pytensor.function(
            [index, *seen, *inputs.values()], evidence, on_unused_input="ignore"
        )
    unit = _given(prior, index, seen, axis=False).numeric()
    found = unit.parameters()
    evaluate = pytensor.function(
        [index, *seen, *inputs.values()],
        [pt.as_tensor(value) for value in found.values()],
        on_unused_input="ignore",
    )
    return evaluate, unit.structure(), list(found)


def _given(
    prior: Difficulty, index: TensorVariable, seen: list[TensorVariable], axis: bool
) -> Difficulty:
    # Units given what they showed, with a last batch axis of length one for the orders, or none.
    if prior.joint:
        return prior.given_rows(index, *seen, axis=axis)  # type: ignore[attr-defined]
    if axis:
        return prior.at(index[:, None]).given(*(x[None, :, None] for x in seen))
    return prior.at(index).given(*(x[None] for x in seen))


def family_of(structure: str) -> type[Difficulty]:
    """Outermost family of a structure."""
    return family_named(json.loads(structure)["family"])


def _classes(node: dict[str, Any]) -> tuple[type[Difficulty], ...]:
    inner = [_classes(value) for value in node.values() if isinstance(value, dict)]
    return (family_named(node["family"]), *(family for part in inner for family in part))


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


def _own_dimensions(node: dict[str, Any], extra: int = 0) -> dict[str, int]:
    family = family_named(node["family"])
    found: dict[str, int] = {}
    for name, inner in node.items():
        if isinstance(inner, dict):
            found |= _own_dimensions(inner, extra + family.inner_ndim)
        elif name != "family":
            found[name] = extra + family.own_ndim.get(name, 0)
    return found


def _log_gamma_draw(rng: np.random.Generator, shape: Any) -> np.ndarray:
    # log of a Gamma(shape) draw as log Gamma(shape + 1) + log(U) / shape: shapes of 0.01 give
    # draws that underflow, their logs do not.
    draw = np.log(rng.standard_gamma(shape + 1.0))
    return draw - rng.standard_exponential(np.shape(shape)) / shape
