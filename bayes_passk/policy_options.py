"""The readers' policy, ``on_error``, ``threshold`` and so on, as options of a command."""

__all__ = ["takes_policy"]

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from bayes_passk.errors import OptionError

_POLICY: dict[str, tuple[type, str]] = {
    "on_error": (str, "Attempts without a verdict: drop, fail or raise."),
    "on_timeout": (str, "Attempts that timed out: fail, drop or raise."),
    "on_missing": (str, "Attempts planned and not made: drop or fail."),
    "on_duplicate": (str, "The same twice: raise, first, last, keep_all or add."),
    "on_bad_line": (str, "Lines that cannot be read: raise or skip."),
    "on_ambiguous": (str, "Problems whose count the file does not tell: raise or drop."),
    "on_unknown": (str, "Outcomes that are no known word: raise, drop or fail."),
    "on_cached": (str, "Answers from a cache: count, drop or raise."),
    "on_missing_id": (str, "Rows without a problem's id: raise or drop."),
    "threshold": (float, "A score is a success from here on."),
    "tolerance": (float, "How far from 1 a reward is still a success."),
    "success": (str, "What a success is, such as 'score >= 1'."),
    "scorer": (str, "Which scorer decides."),
    "key": (str, "Which entry of a score or a reward decides."),
    "metric": (str, "Which metric decides."),
    "filter": (str, "Which filter of the answers decides."),
    "reward": (str, "Which reward decides."),
    "detector": (str, "Which detector decides."),
    "tests": (str, "Which tests decide: base or plus."),
    "system": (str, "Column of the system."),
    "problem": (str, "Column, or field, of the problem's id."),
    "problems": (str, "All problems: ids with commas between, or a file with one a line."),
    "attempt": (str, "Column of the attempt's number."),
    "outcome": (str, "Column of the outcome."),
    "n_attempts": (str, "Column of the number of attempts."),
    "n_successes": (str, "Column of the number of successes."),
    "encoding": (str, "Encoding of text tables."),
    "strict": (bool, "Refuse partial and missing outcomes."),
    "strip": (bool, "Remove white space around ids."),
    "header": (bool, "Whether the first row holds headings."),
}


def takes_policy(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of the readers' policy, passed on as ``policy``."""

    @wraps(command)
    def with_policy(**given: Any) -> None:
        policy = {name: given.pop(name) for name in _POLICY}
        chosen = {name: value for name, value in policy.items() if value is not None}
        if "problems" in chosen:
            chosen["problems"] = _ids(chosen["problems"])
        command(**given, policy=chosen)

    own = [p for p in inspect.signature(command).parameters.values() if p.name != "policy"]
    options = [_parameter(name, kind, text) for name, (kind, text) in _POLICY.items()]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + options
    with_policy.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_policy.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_policy


def _parameter(name: str, kind: type, text: str) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, typer.Option(help=text)],
    )


def _ids(text: str) -> list[str]:
    path = Path(text)
    if len(text) > 255 or not path.is_file():
        return text.split(",")
    try:
        return [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeError) as error:
        raise OptionError(
            f"--problems {text}: cannot be read as ids, one a line: {error}"
        ) from None
