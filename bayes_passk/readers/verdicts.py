"""What a value in a log says about an attempt: passed, failed, or nothing."""

__all__ = ["check_threshold", "is_pass", "verdict_of"]

import math
from typing import Any

from bayes_passk.errors import CountsError, OptionError
from bayes_passk.readers.jsons import kind_of

_PASS = {"true", "t", "yes", "y", "pass", "passed", "success", "correct", "ok"}
_FAIL = {"false", "f", "no", "n", "fail", "failed", "failure", "incorrect"}
_NOTHING = {"", "null", "none", "nan", "na", "n/a"}


def check_threshold(threshold: Any) -> float:
    """Make sure that a threshold is a finite number.

    Raises
    ------
    OptionError
        It is not.
    """
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not number or not math.isfinite(threshold):
        raise OptionError(f"threshold: expected a finite number, got {threshold!r}")
    return float(threshold)


def is_pass(number: float, threshold: float = 1.0, tolerance: float = 0.0) -> bool | None:
    """Whether a score is a success; nothing where it is NaN.

    Examples
    --------
    >>> is_pass(0.99), is_pass(1), is_pass(float("nan"))
    (False, True, None)
    """
    return None if math.isnan(number) else number >= threshold - tolerance


def verdict_of(value: Any, where: str, threshold: float = 1.0) -> bool | None:
    """Judge a value: a boolean, a number from the threshold on, or a word; None says nothing.

    Raises
    ------
    CountsError
        It is a list, an object or an unknown word.

    Examples
    --------
    >>> verdict_of("False", "line 1"), verdict_of(1, "line 2"), verdict_of(None, "line 3")
    (False, True, None)
    >>> verdict_of("maybe", "line 4")
    Traceback (most recent call last):
    bayes_passk.errors.CountsError: line 4: "maybe" is neither passed nor failed
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return is_pass(value, threshold)
    if isinstance(value, str):
        return _word(value, where, threshold)
    raise CountsError(f"{where}: expected an outcome or a score, got {kind_of(value)}")


def _word(text: str, where: str, threshold: float) -> bool | None:
    word = text.strip().lower()
    if word in _PASS or word in _FAIL:
        return word in _PASS
    if word in _NOTHING:
        return None
    try:
        return is_pass(float(word), threshold)
    except ValueError:
        raise CountsError(f"{where}: {kind_of(text)} is neither passed nor failed") from None
