"""What became of an attempt: a verdict, an error or a timeout."""

__all__ = ["TIMED_OUT", "Outcome", "error_of", "quoted", "verdict_of"]

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_passk.campaign.runners.masking import masked, one_line

_LONGEST_QUOTE = 120


@dataclass(frozen=True)
class Outcome:
    """Outcome of an attempt.

    Parameters
    ----------
    passed : bool or None
        The verdict; None where there is none.
    error : str or None
        What went wrong instead.
    timeout : bool
        It took too long.
    """

    passed: bool | None = None
    error: str | None = None
    timeout: bool = False

    def of(self, attempt: str) -> dict[str, Any]:
        """As a campaign is told it."""
        if self.error is None:
            return {"attempt": attempt, "passed": self.passed}
        return {"attempt": attempt, "error": self.error, "timeout": self.timeout}


TIMED_OUT = Outcome(error="timed out", timeout=True)


def error_of(error: BaseException) -> Outcome:
    """Outcome of an attempt that raised: type and message, shortened, without secrets.

    Examples
    --------
    >>> error_of(ValueError("no answer from https://me:secret@host/v1")).error
    'ValueError: no answer from https://me:***@host/v1'
    """
    try:
        said = str(error)
    except Exception:  # an exception of a stranger
        said = ""
    return Outcome(error=masked(f"{type(error).__name__}: {said}".removesuffix(": ")))


def verdict_of(value: Any) -> Outcome:
    """Outcome of an attempt that returned a value: True, False, 1 and 0 are verdicts.

    Examples
    --------
    >>> verdict_of(True).passed, verdict_of(0).passed
    (True, False)
    >>> verdict_of("yes").error
    "expected True or False, got 'yes'"
    """
    if isinstance(value, bool | np.bool_):
        return Outcome(passed=bool(value))
    if isinstance(value, numbers.Real) and value in (0, 1):
        return Outcome(passed=bool(value))
    return Outcome(error=f"expected True or False, got {quoted(value)}")


def quoted(value: Any) -> str:
    """Beginning of a value's representation, in one line, without secrets."""
    try:
        said = repr(value)
    except Exception:  # an object of a stranger
        said = f"a {type(value).__name__}"
    return one_line(masked(said), _LONGEST_QUOTE)
