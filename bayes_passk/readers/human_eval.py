"""HumanEval's ``*_results.jsonl`` and its children: a line an attempt, with ``passed``."""

__all__ = ["HumanEvalReader"]

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import first_record, json_lines
from bayes_passk.readers.verdicts import verdict_of


class HumanEvalReader(AttemptReader):
    """Reader of evaluated samples; a timeout is a failed attempt, as the harness has it."""

    name = "human_eval"
    title = "HumanEval and kin"
    versions = "human_eval 1.0, `*_results.jsonl`"
    options = frozenset({"on_error", "on_timeout", "on_bad_line"})

    def sniff(self, path: Path) -> bool:
        """Whether its first line has a task, and a completion or its result.

        A table with ``task_id`` and ``passed`` alone is left to the tables.
        """
        record = first_record(path) if path.is_file() else {}
        evaluated = "passed" in record and ("completion" in record or "result" in record)
        return "task_id" in record and (evaluated or _is_unevaluated(record))

    def is_secondary(self, path: Path) -> bool:
        """Whether it holds samples before evaluation."""
        return _is_unevaluated(first_record(path))

    def attempts(
        self, path: Path, notes: Notes, *, on_bad_line: str = "raise"
    ) -> Iterator[Attempt]:
        """Yield an attempt a line.

        Parameters
        ----------
        path : Path
            The results.
        notes : Notes
            Takes warnings and rules.
        on_bad_line : {"raise", "skip"}
            A line that is no JSON.
        """
        notes.rule("passed: field passed")
        for number, line in json_lines(path, notes, on_bad_line):
            yield _attempt(line, f"line {number}")


def _is_unevaluated(record: dict[str, Any]) -> bool:
    return {"task_id", "completion"} <= set(record) and "passed" not in record


def _attempt(line: dict[str, Any], where: str) -> Attempt:
    if line.get("task_id") is None:
        raise CountsError(f"{where}: expected a task_id")
    if "passed" not in line:
        raise CountsError(
            f"{where}: no pass/fail field ('passed'): these are unevaluated samples; give the "
            "*_results.jsonl that the evaluation writes"
        )
    verdict = verdict_of(line["passed"], where)
    reason = "error" if verdict is None else ""
    if verdict is False and line.get("result") == "timed out":
        verdict, reason = None, "timeout"
    system = line.get("model")
    named = system if isinstance(system, str) else None
    return Attempt(str(line["task_id"]), verdict, reason, named, where=where)
