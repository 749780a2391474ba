"""What an attempt's outcome means: the words, the threshold, and the policy for the rest."""

__all__ = ["Policy", "Verdicts", "judge", "policy_from"]

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from bayes_passk.errors import CountsError, OptionError, did_you_mean

_PASS = {
    "true",
    "t",
    "yes",
    "y",
    "pass",
    "passed",
    "success",
    "succeeded",
    "correct",
    "ok",
    "solved",
}
_FAIL = {"false", "f", "no", "n", "fail", "failed", "failure", "incorrect", "wrong", "unsolved"}
_TIMEOUT = {"timeout", "timed out", "timed_out", "time out"}
_ERROR = {"", "error", "err", "errored", "exception", "crash", "crashed", "none", "null", "nan"}
_ERROR |= {"na", "n/a", "<na>"}

_CHOICES: dict[str, tuple[str, ...]] = {
    "on_error": ("drop", "fail", "raise"),
    "on_timeout": ("fail", "drop", "raise"),
    "on_missing": ("drop", "fail"),
    "on_duplicate": ("raise", "first", "last", "keep_all", "add"),
    "on_unknown": ("raise", "drop", "fail"),
    "on_missing_id": ("raise", "drop"),
}


@dataclass(frozen=True)
class Policy:
    """How doubtful attempts are counted; the first choice of each is the default.

    Parameters
    ----------
    on_error : {"drop", "fail", "raise"}
        An attempt without a verdict (an error, an empty cell, NaN).
    on_timeout : {"fail", "drop", "raise"}
        An attempt that timed out.
    on_missing : {"drop", "fail"}
        An attempt that was planned and not made (a gap in a wide table).
    on_duplicate : {"raise", "first", "last", "keep_all", "add"}
        The same attempt twice (``first``, ``last``, ``keep_all``), or the same pair of counts
        twice (``add``).
    on_unknown : {"raise", "drop", "fail"}
        An outcome that is neither a number nor a known word.
    on_missing_id : {"raise", "drop"}
        A row without a problem's id.
    threshold : float, optional
        An outcome that is a number is a success from here on. Without it, a column named as a
        score is judged at 1, and any other must be 0 or 1.
    strict : bool
        Refuse scores other than 0 and 1, and outcomes that are missing.
    strip : bool
        Remove white space around ids.
    """

    on_error: str = "drop"
    on_timeout: str = "fail"
    on_missing: str = "drop"
    on_duplicate: str = "raise"
    on_unknown: str = "raise"
    on_missing_id: str = "raise"
    threshold: float | None = None
    strict: bool = False
    strip: bool = False


@dataclass(frozen=True)
class Verdicts:
    """Each outcome's verdict, and why some are no attempts.

    Parameters
    ----------
    passed : ndarray of float
        1 for a success, 0 for a failure, NaN for no attempt.
    reason : ndarray of object
        Why there is no attempt ("error", "timeout", "unknown"), else "".
    """

    passed: np.ndarray
    reason: np.ndarray


def policy_from(options: Mapping[str, Any]) -> Policy:
    """Check options and make a policy of them.

    Raises
    ------
    OptionError
        An option is unknown, or its value is none of its choices.

    Examples
    --------
    >>> policy_from({"on_error": "fail"}).on_error
    'fail'
    """
    known = [field.name for field in fields(Policy)]
    for name, value in options.items():
        if name not in known:
            raise OptionError(f"a table has no option {name!r}: {did_you_mean(name, known)}")
        if name in _CHOICES and value not in _CHOICES[name]:
            raise OptionError(f"{name}: expected one of {', '.join(_CHOICES[name])}, got {value!r}")
    threshold = options.get("threshold")
    if threshold is not None and (isinstance(threshold, str | bool) or not np.isfinite(threshold)):
        raise OptionError(f"threshold: expected a finite number, got {threshold!r}")
    return Policy(**options)


def judge(outcomes: pd.Series, rows: pd.Series, *, graded: bool, policy: Policy) -> Verdicts:
    """Give each outcome its verdict.

    Parameters
    ----------
    outcomes : pandas.Series
        Distinct or repeated outcomes: booleans, numbers, words or nothing.
    rows : pandas.Series
        The row where each was seen first, counted from 1, for messages.
    graded : bool
        Whether the column's name says that it holds scores, not yes or no.
    policy : Policy
        What to do with the doubtful ones.

    Raises
    ------
    CountsError
        An outcome cannot be judged under this policy; the row and the value are named.
    """
    words = outcomes.astype(object).map(lambda value: str(value).strip().lower())
    numbers = pd.to_numeric(words.where(~words.isin(_ERROR)), errors="coerce").to_numpy(np.float64)
    numbers = np.where(words.isin(_PASS), 1.0, np.where(words.isin(_FAIL), 0.0, numbers))
    numeric = ~np.isnan(numbers)
    error, timeout = words.isin(_ERROR).to_numpy(), words.isin(_TIMEOUT).to_numpy()
    _check_scores(numbers, rows, graded, policy)
    threshold = 1.0 if policy.threshold is None else policy.threshold
    passed = np.where(numeric, (numbers >= threshold).astype(float), np.nan)
    reason = np.full(len(words), "", dtype=object)
    kinds = (
        ("error", error, "raise" if policy.strict else policy.on_error),
        ("timeout", timeout, policy.on_timeout),
        ("unknown", ~(numeric | error | timeout), policy.on_unknown),
    )
    for kind, mask, action in kinds:
        if mask.any() and action == "raise":
            _raise(kind, outcomes[mask].iloc[0], rows[mask].min())
        passed[mask] = 0.0 if action == "fail" else np.nan
        reason[mask] = "" if action == "fail" else kind
    return Verdicts(passed, reason)


def _check_scores(numbers: np.ndarray, rows: pd.Series, graded: bool, policy: Policy) -> None:
    if policy.threshold is not None or (graded and not policy.strict):
        return
    other = ~np.isnan(numbers) & (numbers != 0) & (numbers != 1)
    if not other.any():
        return
    values = ", ".join(f"{value:.10g}" for value in sorted(set(numbers[other]))[:5])
    raise CountsError(
        f"row {rows[other].min()}: the outcomes hold values other than 0 and 1 ({values}): "
        "say what counts as a success with threshold"
    )


def _raise(kind: str, value: Any, row: int) -> None:
    if kind == "error":
        raise CountsError(
            f"row {row} has no outcome (got {str(value)[:60]!r}); say on_error='drop' or 'fail'"
        )
    if kind == "timeout":
        raise CountsError(f"row {row} timed out; say on_timeout='fail' or 'drop'")
    raise CountsError(
        f"row {row}: outcome {str(value)[:60]!r} is not known; expected true or false, 0 or 1, "
        "pass or fail; say on_unknown='drop' or 'fail' to go on"
    )
