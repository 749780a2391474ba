"""SWE-bench: evaluation reports, logs of instances, and results of the experiments repository."""

__all__ = ["SwebenchReader"]

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError, ReadError
from bayes_passk.readers.attempts import Attempt, AttemptPolicy, AttemptReader, Notes
from bayes_passk.readers.jsons import head, kind_of, parse_json, read_json, want

_REPORT, _LOG = "report.json", "run_instance.log"
_MARKS = ('"patch_is_None"', '"patch_exists"', '"patch_successfully_applied"')
# What the harness calls an instance, the verdict and the reason; a report may name it twice.
_LISTS: Mapping[str, tuple[bool | None, str]] = {
    "resolved_ids": (True, ""),
    "unresolved_ids": (False, ""),
    "empty_patch_ids": (False, ""),
    "error_ids": (None, "error"),
    "incomplete_ids": (None, "missing"),
}

# Lists of the experiments repository's results.
_COLLECTED = ("resolved", "no_generation", "no_logs", "generated", "applied", "with_logs")


class SwebenchReader(AttemptReader):
    """Reader of SWE-bench: one report is one attempt on every instance.

    An empty patch is a failure, an error of the harness is no verdict, and an instance without a
    prediction was not attempted. Instances of the old ``results.json`` that failed their tests
    are not in that file: they come from ``problems``.
    """

    name = "swebench"
    title = "SWE-bench"
    versions = "reports of schema 1 and 2, `logs/run_evaluation`, experiments' `results.json`"
    options = frozenset({"on_error", "on_missing", "on_duplicate", "problems"})
    defaults = AttemptPolicy(on_duplicate="merge")

    def sniff(self, path: Path) -> bool:
        """Whether it is a report, an instance's report or log, or a list of those resolved."""
        if not path.is_file():
            return False
        if path.name in (_REPORT, _LOG):
            return _is_instance(path)
        start = head(path)
        report = '"resolved_ids"' in start and '"submitted_instances"' in start
        return report or _is_collected(start)

    def attempts(
        self, path: Path, notes: Notes, *, problems: Sequence[str] | None = None
    ) -> Iterator[Attempt]:
        """Yield the attempts of one file.

        Parameters
        ----------
        path : Path
            A report, or what the harness left of one instance.
        notes : Notes
            Takes warnings and rules.
        problems : sequence of str, optional
            All instances, which the old ``results.json`` does not list.
        """
        planned = _ids(problems)
        if path.name in (_REPORT, _LOG):
            notes.rule("passed: resolved")
            yield _of_instance(path)
            return
        content = read_json(path)
        if isinstance(content, dict) and "resolved_ids" in content:
            notes.rule("passed: resolved_ids")
            yield from _of_report(content, path, notes)
        else:
            notes.rule("passed: resolved")
            yield from _of_collected(content, path, planned)


def _ids(problems: Any) -> list[str] | None:
    if problems is None:
        return None
    if isinstance(problems, str) or not all(isinstance(name, str) for name in problems):
        raise OptionError(f"problems: expected a list of instances, got {problems!r:.60}")
    return list(problems)


def _is_instance(path: Path) -> bool:
    if path.name == _LOG:
        # A log without a report is of an instance that the harness counts as an error.
        return not (path.parent / _REPORT).exists()
    start = head(path)
    beside = (path.parent / _LOG).exists()
    return not start.strip() or beside or any(mark in start for mark in _MARKS)


def _is_collected(start: str) -> bool:
    return '"resolved"' in start and ('"no_generation"' in start or '"no_logs"' in start)


def _of_instance(path: Path) -> Attempt:
    folders = path.resolve().parents
    problem, system, run = (folder.name for folder in folders[:3])
    where = f"run {run!r}"
    verdict = None
    if path.name == _REPORT:
        try:
            content = parse_json(path.read_bytes())
        except ReadError:
            content = None
        if isinstance(content, dict) and content:
            problem = problem if problem in content else next(iter(content))
            verdict = _resolved(content[problem], problem)
    reason = "error" if verdict is None else ""
    return Attempt(problem, verdict, reason, system, None, run, where)


def _resolved(entry: Any, problem: str) -> bool:
    value = want(entry, "resolved", object, f"instance {problem!r}")
    if not isinstance(value, bool):
        raise CountsError(
            f"instance {problem!r}: expected resolved as true or false, got {kind_of(value)}"
        )
    return value


def _of_report(content: dict[str, Any], path: Path, notes: Notes) -> Iterator[Attempt]:
    system, run = _named(path)
    outcomes: dict[str, tuple[bool | None, str]] = {}
    lists = {name: _list(content, name) for name in _LISTS}
    if lists["unresolved_ids"] is None:
        lists["unresolved_ids"] = _completed_only(content, lists["resolved_ids"] or [])
    for name, outcome in _LISTS.items():
        for problem in lists[name] or []:
            before = outcomes.setdefault(problem, outcome)
            if None not in (before[0], outcome[0]) and before[0] != outcome[0]:
                raise CountsError(f"instance {problem!r} is both resolved and {name[:-4]}")
    _check_number(content, outcomes)
    _warn_of_infrastructure(content, outcomes, notes)
    for problem, (verdict, reason) in outcomes.items():
        notes.plan(problem, system)
        yield Attempt(problem, verdict, reason, system, None, run or str(path), f"run {run!r}")


def _list(content: Any, name: str) -> list[str] | None:
    ids = want(content, name, list, "the report")
    if ids is not None and not all(isinstance(problem, str) for problem in ids):
        raise CountsError(f"the report: expected {name} as a list of instances")
    return ids


def _completed_only(content: dict[str, Any], resolved: Sequence[str]) -> list[str]:
    completed = _list(content, "completed_ids")
    if completed is None:
        raise CountsError(
            "the report: neither unresolved_ids nor completed_ids: what failed is not listed"
        )
    known = set(resolved)
    return [problem for problem in completed if problem not in known]


def _check_number(content: dict[str, Any], outcomes: Mapping[str, Any]) -> None:
    said = content.get("resolved_instances")
    found = sum(verdict is True for verdict, _ in outcomes.values())
    if isinstance(said, int) and said != found:
        raise CountsError(
            f"the report: resolved_instances is {said}, and resolved_ids has {found} of them"
        )


def _warn_of_infrastructure(
    content: dict[str, Any], outcomes: Mapping[str, tuple[bool | None, str]], notes: Notes
) -> None:
    infra = _list(content, "infra_failure_ids") or []
    failed = [problem for problem in infra if outcomes.get(problem, (None, ""))[0] is False]
    if failed:
        notes.warn(
            f"{len(failed)} unresolved instances failed for reasons of infrastructure, by the "
            f"report's own account ({failed[0]!r}): they count as failures"
        )


def _named(path: Path) -> tuple[str | None, str]:
    # <model>.<run>.json; a model's name may hold dots.
    stem = path.name.removesuffix(".gz").removesuffix(".json")
    model, dot, run = stem.rpartition(".")
    return (model, run) if dot and model else (None, stem)


def _of_collected(content: Any, path: Path, problems: list[str] | None) -> Iterator[Attempt]:
    if not isinstance(content, dict):
        raise CountsError(f"expected a report, got {kind_of(content)}")
    lists = {name: _list(content, name) or [] for name in content if name in _COLLECTED}
    resolved = set(lists.get("resolved", []))
    if problems is None and "generated" not in lists:
        raise CountsError(
            "the instances that failed are not listed here: give all of them as problems=..."
        )
    named = dict.fromkeys(problem for ids in lists.values() for problem in ids)
    planned = dict.fromkeys(problems) if problems is not None else named
    strange = [problem for problem in named if problem not in planned]
    if strange:
        raise CountsError(f"instance {strange[0]!r} is not one of the problems given")
    folders = path.resolve().parents
    system = folders[1].name if folders[0].name == "results" else None
    for problem in planned:
        yield Attempt(problem, problem in resolved, "", system, None, str(path), path.name)
