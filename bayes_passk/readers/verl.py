"""verl: dumps of rollouts or of validation, a file a training step, a line a completion."""

__all__ = ["VerlReader"]

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import first_record, json_lines, kind_of
from bayes_passk.readers.prompts import prompt_name
from bayes_passk.readers.verdicts import check_threshold, verdict_of

_KEYS = {"input", "output", "score", "step"}
_SUCCESS = re.compile(r"\s*([\w@./-]+)\s*>=\s*(\S+)\s*")
# Anything else is credit for a part, or a shaped reward.
_PLAIN = (-1, 0, 1)


class VerlReader(AttemptReader):
    """Reader of verl's dumps; each step is a system of its own, since each is another model.

    The log has no ids: completions of the same input are attempts at the same problem.
    """

    name = "verl"
    title = "verl"
    versions = "2025 and 2026, `<step>.jsonl` of rollouts and of validation"
    options = frozenset({"on_error", "on_bad_line", "problem", "key", "threshold", "success"})

    def sniff(self, path: Path) -> bool:
        """Whether its first line has an input, an output, a score and a step."""
        return path.is_file() and set(first_record(path)) >= _KEYS

    def attempts(
        self,
        path: Path,
        notes: Notes,
        *,
        key: str = "score",
        threshold: float = 1.0,
        success: str | None = None,
        problem: str = "input",
        on_bad_line: str = "raise",
    ) -> Iterator[Attempt]:
        """Yield an attempt a line.

        Parameters
        ----------
        path : Path
            The dump of one step.
        notes : Notes
            Takes warnings and rules.
        key : str
            Field that decides.
        threshold : float
            A success is a value from here on.
        success : str, optional
            Both in one, such as ``"score >= 1"``.
        problem : str
            Field that names the problem.
        on_bad_line : {"raise", "skip"}
            A line that is no JSON.
        """
        if success is not None:
            key, threshold = _condition(success)
        least = check_threshold(threshold)
        notes.rule(f"passed: {key} >= {least:g}")
        partial, folder = 0, notes.folder(path)
        for number, line in json_lines(path, notes, on_bad_line):
            where = f"line {number}"
            value = _value(line, key, where)
            verdict = verdict_of(value, where, least)
            partial += isinstance(value, float) and verdict is not None and value not in _PLAIN
            reason = "error" if verdict is None else ""
            name = _problem(line, problem, where)
            yield Attempt(name, verdict, reason, _system(line, path, folder), None, None, where)
        if partial:
            notes.warn(
                f"{path}: {partial} values of {key} are none of -1, 0 and 1; a success is one "
                f">= {least:g}: say success='{key} >= ...' if that is not meant"
            )


def _condition(text: Any) -> tuple[str, float]:
    found = _SUCCESS.fullmatch(text) if isinstance(text, str) else None
    try:
        if found is not None:
            return found[1], float(found[2])
    except ValueError:
        pass
    raise OptionError(f"success: expected such as 'score >= 1', got {text!r:.60}")


def _value(line: dict[str, Any], key: str, where: str) -> Any:
    if key not in line:
        known = ", ".join(name for name in line if name not in ("input", "output"))
        raise CountsError(f"{where}: no field {key!r}, which is to decide; there are {known}")
    return line[key]


def _problem(line: dict[str, Any], field: str, where: str) -> str:
    value = line.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    name = prompt_name(value)
    if name is None:
        raise CountsError(f"{where}: expected a problem in {field!r}, got {kind_of(value)}")
    return name


def _system(line: dict[str, Any], path: Path, folder: str | None) -> str:
    step = line.get("step")
    named = step if isinstance(step, int) and not isinstance(step, bool) else path.stem
    return f"{folder} step {named}" if folder else f"step {named}"
