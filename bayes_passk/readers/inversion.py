"""Counts from pass@k that a harness estimated for each problem: turned back where they can be."""

__all__ = ["OnAmbiguous", "Saturated", "matching_successes"]

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from bayes_passk.errors import CountsError, OptionError
from bayes_passk.readers.attempts import Attempt, Notes

# Harnesses multiply up to n factors in double precision; some store the result in single.
_TOLERANCES = (1e-8, 1e-6)
_SHOWN = 5


def matching_successes(n: int, values: Mapping[int, float]) -> list[int]:
    """All numbers of successes among n attempts that give these unbiased estimates of pass@k.

    pass@k of c successes is ``1 - C(n - c, k) / C(n, k)``; it is 1 for every c above n - k.

    Parameters
    ----------
    n : int
        Attempts of the problem.
    values : mapping
        Estimate of pass@k by k. A k above n says nothing and is passed over.

    Examples
    --------
    >>> matching_successes(5, {2: 0.7}), matching_successes(5, {2: 1.0})
    ([2], [4, 5])
    """
    misses = [np.abs(_pass_at_k(n, k) - value) for k, value in values.items() if k <= n]
    largest = np.max([np.zeros(n + 1), *misses], axis=0)
    found = (np.flatnonzero(largest < tolerance) for tolerance in _TOLERANCES)
    return next(([int(c) for c in fits] for fits in found if fits.size), [])


def _pass_at_k(n: int, k: int) -> np.ndarray:
    left = np.arange(n, 0, -1)
    return 1 - np.concatenate([[1.0], np.cumprod(np.maximum(left - k, 0) / left)])


@dataclass(frozen=True)
class Saturated:
    """A problem whose count cannot be told from its estimates."""

    problem: str
    n: int
    values: Mapping[int, float]
    candidates: list[int]

    def __str__(self) -> str:
        k, value = min(self.values.items())
        return (
            f"problem {self.problem!r}: pass@{k} is {value!r} with n = {self.n}, so c may be "
            f"{self.candidates[0]} to {self.candidates[-1]}"
        )


@dataclass
class OnAmbiguous:
    """What to do with saturated problems: ``raise`` names them all, ``drop`` leaves them out.

    Parameters
    ----------
    action : {"raise", "drop"}
        The policy.
    saturated : list of Saturated
        Those found.

    Raises
    ------
    OptionError
        The action is neither.
    """

    action: str
    saturated: list[Saturated] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.action not in ("raise", "drop"):
            raise OptionError(f"on_ambiguous: expected raise or drop, got {self.action!r}")

    def attempts(
        self, like: Attempt, n: int, values: Mapping[int, float], made: int | None = None
    ) -> Iterator[Attempt]:
        """Yield a problem's attempts as its estimates tell them.

        Parameters
        ----------
        like : Attempt
            Problem, system and task of them all.
        n : int
            Attempts that the harness divided by.
        values : mapping
            Estimate of pass@k by k.
        made : int, optional
            Attempts that were really made, where they may be fewer.

        Raises
        ------
        CountsError
            No number of successes gives these estimates.
        """
        made = n if made is None else made
        if any(map(math.isnan, values.values())):
            yield _like(like, None, made, "unscored")
            return
        found = matching_successes(n, values)
        if not found or (len(found) == 1 and found[0] > made):
            given = ", ".join(f"pass@{k} = {value!r}" for k, value in values.items())
            raise CountsError(
                f"problem {like.problem!r} ({like.where}): no number of successes among {made} "
                f"attempts gives {given}"
            )
        if len(found) > 1:
            self.saturated.append(Saturated(like.problem, n, values, found))
            yield _like(like, None, made, "ambiguous")
        elif made:
            yield _like(like, True, found[0])
            yield _like(like, False, made - found[0])

    def check(self, notes: Notes) -> None:
        """Say which problems were saturated.

        Raises
        ------
        CountsError
            There are some, and the action is ``raise``.
        """
        if not self.saturated:
            return
        more = "; ..." if len(self.saturated) > _SHOWN else ""
        shown = "; ".join(map(str, self.saturated[:_SHOWN])) + more
        if self.action == "raise":
            raise CountsError(
                f"the count cannot be recovered: {shown}; say on_ambiguous='drop' to leave "
                "these problems out"
            )
        notes.warn(
            f"{len(self.saturated)} problems left out whose count cannot be recovered, the "
            f"easiest ones, so that the rest looks harder than the benchmark: {shown}"
        )


def _like(like: Attempt, verdict: bool | None, count: int, reason: str = "") -> Attempt:
    identity = None if like.identity is None else f"{like.identity} {verdict}"
    return Attempt(
        like.problem, verdict, reason, like.system, like.task, identity, like.where, count
    )
