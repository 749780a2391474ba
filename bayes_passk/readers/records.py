"""What a reader hands on: attempts as a log tells them, and what else it has to say."""

__all__ = ["Attempt", "AttemptPolicy", "Notes"]

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bayes_passk.errors import OptionError

_CHOICES: dict[str, tuple[str, ...]] = {
    "on_error": ("drop", "fail", "raise"),
    "on_timeout": ("fail", "drop", "raise"),
    "on_missing": ("drop", "fail", "raise"),
    "on_duplicate": ("merge", "raise", "first", "last", "keep_all", "add"),
}
# Any other reason (invalidated, ambiguous, ...) is no attempt whatever the policy says.
_DECIDES = {
    "": "on_error",
    "error": "on_error",
    "unscored": "on_error",
    "timeout": "on_timeout",
    "missing": "on_missing",
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt as a log tells it.

    Parameters
    ----------
    problem : str
        The problem's id, as text.
    verdict : bool or None
        Whether it passed; None where the log has no verdict.
    reason : str
        Why there is none: ``error`` (or nothing), ``unscored``, ``timeout`` and ``missing``
        follow the policy; any other word (``invalidated``, ``ambiguous``) is never an attempt.
    system, task : str, optional
        Who made it, and of which benchmark, where the log says.
    identity : str, optional
        What makes it the same attempt in another place (an epoch, a uuid), within its system,
        task and problem. Without it every one counts.
    where : str
        Where it stands (a line, a member), for messages.
    count : int
        So many attempts alike.
    """

    problem: str
    verdict: bool | None
    reason: str = ""
    system: str | None = None
    task: str | None = None
    identity: str | None = None
    where: str = ""
    count: int = 1


@dataclass(frozen=True)
class AttemptPolicy:
    """How attempts without a plain verdict are counted.

    Parameters
    ----------
    on_error : {"drop", "fail", "raise"}
        No verdict is no attempt, a failed one, or an error.
    on_timeout : {"fail", "drop", "raise"}
        The same for an attempt that ran out of time.
    on_missing : {"drop", "fail", "raise"}
        The same for an attempt that was planned and not made.
    on_duplicate : {"merge", "raise", "first", "last", "keep_all", "add"}
        The same attempt twice: ``merge`` takes the last that has a verdict, and says so;
        ``keep_all`` and ``add`` count each.
    """

    on_error: str = "drop"
    on_timeout: str = "fail"
    on_missing: str = "drop"
    on_duplicate: str = "raise"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise OptionError(f"{name}: expected one of {', '.join(choices)}, got {value!r}")

    def option(self, reason: str) -> str | None:
        """Name of the option that decides what a reason means, if one does."""
        return _DECIDES.get(reason)

    def action(self, reason: str) -> str:
        """What to do with an attempt without a verdict: drop, fail or raise."""
        option = self.option(reason)
        return "drop" if option is None else getattr(self, option)


@dataclass
class Notes:
    """What a reader has to say besides attempts.

    Parameters
    ----------
    warnings : list of str
        What a person should know about these counts.
    rules : list of str
        Which field decided, e.g. ``passed: score of scorer 'match' >= 1``.
    planned : dict
        Keys are (system, task, problem) that belong to the benchmark even without attempts.
    files : sequence of Path
        All files of the call.
    """

    warnings: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    planned: dict[tuple[str | None, str | None, str], None] = field(default_factory=dict)
    files: Sequence[Path] = ()

    def warn(self, text: str) -> None:
        """Add a warning, once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def rule(self, text: str) -> None:
        """Add a rule, once."""
        if text not in self.rules:
            self.rules.append(text)

    def plan(self, problem: str, system: str | None = None, task: str | None = None) -> None:
        """Keep a problem in the benchmark, whether or not an attempt at it is found."""
        self.planned[system, task, problem] = None

    def folder(self, path: Path) -> str | None:
        """Folder of a file where the files of the call lie in several, below what they share.

        For logs that do not say whose they are: files of one folder are of one system.
        """
        folders = {file.resolve().parent for file in self.files}
        if len(folders) < 2:
            return None
        shared = os.path.commonpath(folders)
        return path.resolve().parent.relative_to(shared).as_posix()
