"""EvalPlus: ``*_eval_results.json``, the statuses of base and plus tests of each sample."""

__all__ = ["EvalplusReader"]

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import head, kind_of, read_json, want

_TESTS = ("base", "plus")
_STATUSES = {
    "pass": "pass",
    "success": "pass",
    "fail": "fail",
    "failed": "fail",
    "timeout": "timeout",
    "timed out": "timeout",
    None: "error",
}

_Statuses = tuple[Any, Any]


class EvalplusReader(AttemptReader):
    """Reader of EvalPlus results; ``plus`` is passed where base and plus tests both are."""

    name = "evalplus"
    title = "EvalPlus"
    versions = "0.1 to 0.3, `*_eval_results.json`"
    options = frozenset({"on_error", "on_timeout", "tests"})

    def sniff(self, path: Path) -> bool:
        """Whether it begins with a date and a hash, or has statuses by task."""
        start = head(path) if path.is_file() else ""
        if not re.match(r'\s*\{\s*"(date|hash|eval)"', start) or '"eval"' not in start:
            return False
        return bool(re.search(r'"(base_status|plus_status|nfiles|files|hash)"', start))

    def attempts(self, path: Path, notes: Notes, *, tests: str | None = None) -> Iterator[Attempt]:
        """Yield the samples of each task, in their order.

        Parameters
        ----------
        path : Path
            The results.
        notes : Notes
            Takes warnings and rules.
        tests : {"base", "plus"}, optional
            Which tests decide; needed where both were run.
        """
        if tests not in (None, *_TESTS):
            raise OptionError(f"tests: expected base or plus, got {tests!r}")
        by_task = want(read_json(path), "eval", dict, "the file")
        if by_task is None:
            raise CountsError("not an EvalPlus result: no eval")
        samples = {task: _samples(entry, task) for task, entry in by_task.items()}
        tests = _chosen(tests, [pair for pairs in samples.values() for pair in pairs])
        notes.rule("passed: base tests" if tests == "base" else "passed: base and plus tests")
        for task, pairs in samples.items():
            notes.plan(task)
            for i, pair in enumerate(pairs):
                where = f"problem {task!r}, sample {i}"
                yield _attempt(task, pair if tests == "plus" else pair[:1], where)


def _samples(entry: Any, task: str) -> list[_Statuses]:
    where = f"problem {task!r}"
    if isinstance(entry, list):
        return [
            (want(s, "base_status", object, where), want(s, "plus_status", object, where))
            for s in entry
        ]
    # Until February 2024: a list of [status, details] for base and for plus.
    base, plus = (want(entry, name, list, where, []) for name in _TESTS)
    plus = plus or [None] * len(base)
    if len(plus) != len(base):
        raise CountsError(f"{where}: {len(base)} base results and {len(plus)} plus results")
    return [(_first(b), _first(p)) for b, p in zip(base, plus, strict=True)]


def _first(result: Any) -> Any:
    return result[0] if isinstance(result, list) and result else None


def _chosen(tests: str | None, pairs: Sequence[_Statuses]) -> str:
    has_plus = any(plus is not None for _, plus in pairs)
    if tests == "plus" and not has_plus:
        raise CountsError("tests='plus': no plus test was run (base only); say tests='base'")
    if tests is None and has_plus:
        raise CountsError("base and plus tests were run: say which with tests='base' or 'plus'")
    return tests or "base"


def _attempt(task: str, statuses: Sequence[Any], where: str) -> Attempt:
    words = [_word(status, where) for status in statuses]
    for word in ("fail", "timeout", "error"):
        if word in words:
            verdict = False if word == "fail" else None
            return Attempt(task, verdict, "" if word == "fail" else word, where=where)
    return Attempt(task, True, where=where)


def _word(status: Any, where: str) -> str:
    if not isinstance(status, str | None) or status not in _STATUSES:
        raise CountsError(
            f"{where}: status {kind_of(status)} is not known; expected pass, fail or timeout"
        )
    return _STATUSES[status]
