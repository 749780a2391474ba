"""bigcode-evaluation-harness: a dump of ``code_eval``'s outcomes; its own files are refused."""

__all__ = ["BigcodeReader"]

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, ReadError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import head, kind_of, read_json, want
from bayes_passk.readers.verdicts import verdict_of

_DUMP = re.compile(r'\s*\{\s*"\d+"\s*:\s*\[\s*\[\s*\d+\s*,\s*\{')
_GENERATIONS = re.compile(r'\s*\[\s*\[\s*("|null|\])')
_AVERAGES = re.compile(r'\s*\{\s*"[^"]*"\s*:\s*\{\s*"pass@\d+"\s*:\s*[\d.]')


class BigcodeReader(AttemptReader):
    """Reader of the second value of ``code_eval``, dumped as JSON: problem, then its outcomes.

    What the harness writes itself is averages and ungraded generations.
    """

    name = "bigcode"
    title = "bigcode-evaluation-harness, `code_eval`"
    versions = "a dump of `code_eval`'s outcomes; averages and generations are refused"
    options = frozenset({"on_error", "on_timeout", "on_duplicate"})

    def sniff(self, path: Path) -> bool:
        """Whether it begins as a dump, as averages with their arguments, or as generations."""
        start = head(path) if path.is_file() else ""
        return _DUMP.match(start) is not None or _refusal(start) is not None

    def is_secondary(self, path: Path) -> bool:
        """Whether it holds averages or generations."""
        return _refusal(head(path)) is not None

    def attempts(self, path: Path, notes: Notes, *args: Any, **options: Any) -> Iterator[Attempt]:
        """Yield the outcomes of each problem; problems are positions in the data set."""
        if (refusal := _refusal(head(path))) is not None:
            raise ReadError(refusal)
        content = read_json(path)
        if not isinstance(content, dict):
            raise CountsError(f"expected an object of problems, got {kind_of(content)}")
        notes.rule("passed: field passed")
        notes.warn("problem names are positions in the data set, not task ids")
        for problem in content:
            notes.plan(problem)
            for entry in want(content, problem, list, "the file", []):
                yield _attempt(problem, entry)


def _refusal(start: str) -> str | None:
    if _GENERATIONS.match(start):
        return "unevaluated generations: no pass/fail in the file; evaluate them first"
    if _AVERAGES.match(start) and '"config"' in start:
        return (
            "no per-problem outcomes: only averaged pass@k and the run's arguments; give a dump "
            "of code_eval's second return value"
        )
    return None


def _attempt(problem: str, entry: Any) -> Attempt:
    where = f"problem {problem!r}"
    if not isinstance(entry, list) or len(entry) != 2:
        raise CountsError(f"{where}: expected [completion, record], got {kind_of(entry)}")
    index, record = entry
    verdict = verdict_of(want(record, "passed", object, where), where)
    reason = "error" if verdict is None else ""
    if verdict is False and record.get("result") == "timed out":
        verdict, reason = None, "timeout"
    return Attempt(problem, verdict, reason, identity=str(index), where=f"completion {index}")
