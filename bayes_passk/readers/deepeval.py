"""DeepEval: saved test runs, where repeats are further test cases with the same input."""

__all__ = ["DeepevalReader"]

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError, ReadError, did_you_mean
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import head, kind_of, read_json, want

_CASES = ("testCases", "conversationalTestCases")
_LATEST, _FULL = ".latest_test_run.json", ".latest_run_full.json"


class DeepevalReader(AttemptReader):
    """Reader of DeepEval's test runs; a case without success true or false has no verdict."""

    name = "deepeval"
    title = "DeepEval"
    versions = "3 and 4, `.latest_test_run.json` and `test_run_*.json`"
    options = frozenset({"on_error", "problem", "metric"})

    def sniff(self, path: Path) -> bool:
        """Whether it begins as a test run, or as a link to one."""
        start = head(path) if path.is_file() else ""
        run = '"testRunData"' in start or ('"testCases"' in start and '"metricsData"' in start)
        return start.lstrip().startswith("{") and (run or '"testRunLink"' in start)

    def is_secondary(self, path: Path) -> bool:
        """Whether it is a link, or a second copy of the run beside it."""
        if path.name == _FULL and '"testCases"' in head(path.with_name(_LATEST)):
            return True
        return '"testCases"' not in head(path)

    def attempts(
        self, path: Path, notes: Notes, *, problem: str = "input", metric: str | None = None
    ) -> Iterator[Attempt]:
        """Yield an attempt a test case.

        Parameters
        ----------
        path : Path
            The test run.
        notes : Notes
            Takes warnings and rules.
        problem : str
            Field that names the problem, such as ``name``.
        metric : str, optional
            The metric whose success decides; by default all of them.
        """
        decides = f"success of {metric}" if metric else "success (of all metrics)"
        notes.rule(f"passed: {decides}")
        for where, case in _cases(read_json(path)):
            name = case.get(problem)
            if name is None and problem == "input":
                # A conversation has no input.
                name = case.get("scenario") or case.get("name")
            if not isinstance(name, str | int) or isinstance(name, bool):
                raise CountsError(
                    f"{where}: expected a problem in {problem!r}, got {kind_of(name)}"
                )
            verdict = _success(case, metric, where)
            reason = "error" if verdict is None else ""
            notes.plan(str(name))
            yield Attempt(str(name), verdict, reason, where=where)


def _cases(content: Any) -> Iterator[tuple[str, Any]]:
    run = want(content, "testRunData", dict, "the file") or content
    if "testRunLink" in run and not any(name in run for name in _CASES):
        raise ReadError("holds a link only, and links are not followed: give the saved run's file")
    cases = [
        (f"{name} {i}", case)
        for name in _CASES
        for i, case in enumerate(want(run, name, list, "the run", []))
    ]
    if not cases:
        raise ReadError("no test cases, only sums over them: give a test run saved with its cases")
    for where, case in cases:
        if not isinstance(case, dict):
            raise CountsError(f"{where}: expected an object, got {kind_of(case)}")
        yield where, case


def _success(case: Any, metric: str | None, where: str) -> bool | None:
    decides = case
    if metric is not None:
        metrics = want(case, "metricsData", list, where, [])
        known = {m.get("name"): m for m in metrics if isinstance(m, dict)}
        if known and metric not in known:
            raise OptionError(
                f"{where}: no metric {metric!r}: {did_you_mean(metric, map(str, known))}"
            )
        decides = known.get(metric, {})
    success = decides.get("success")
    if success is not None and not isinstance(success, bool):
        raise CountsError(f"{where}: expected success as true or false, got {kind_of(success)}")
    return None if decides.get("error") and not success else success
