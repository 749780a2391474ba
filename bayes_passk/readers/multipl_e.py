"""MultiPL-E: ``<problem>.results.json``, one file a problem, often gzipped."""

__all__ = ["MultipleReader"]

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import head, read_json, want


class MultipleReader(AttemptReader):
    """Reader of executed completions; the run's folder names the system.

    An attempt passed where its status is OK and its exit code 0; a timeout is a failure.
    """

    name = "multipl_e"
    title = "MultiPL-E"
    versions = "`*.results.json`, plain or gzipped"
    options = frozenset({"on_error", "on_timeout"})

    def sniff(self, path: Path) -> bool:
        """Whether its name ends so, and it has results with an exit code."""
        if not path.name.removesuffix(".gz").endswith(".results.json") or not path.is_file():
            return False
        start = head(path)
        return '"results"' in start and ('"exit_code"' in start or '"status"' in start)

    def attempts(self, path: Path, notes: Notes, *args: Any, **options: Any) -> Iterator[Attempt]:
        """Yield the executions of one problem."""
        content = read_json(path)
        results = want(content, "results", list, "the file")
        if results is None:
            raise CountsError("not MultiPL-E results: no list of results")
        named = want(content, "name", str, "the file")
        problem = named or path.name.removesuffix(".gz").removesuffix(".results.json")
        system = path.resolve().parent.name or None
        notes.rule("passed: status OK and exit code 0")
        notes.plan(problem, system)
        for i, result in enumerate(results):
            where = f"result {i}"
            status = want(result, "status", str, where)
            verdict, reason = status == "OK" and result.get("exit_code") == 0, ""
            if status is None or status.lower() == "timeout":
                verdict, reason = None, "timeout" if status else "error"
            yield Attempt(problem, verdict, reason, system, where=where)
