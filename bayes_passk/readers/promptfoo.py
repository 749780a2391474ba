"""promptfoo: results of ``promptfoo eval --repeat N``, as JSON or JSON lines."""

__all__ = ["PromptfooReader"]

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import first_record, head, json_lines, kind_of, read_json, want

_CACHED = ("count", "drop", "raise")
_ERROR = 2


class PromptfooReader(AttemptReader):
    """Reader of promptfoo's results.

    Each repeat has a test index of its own, so attempts at the same problem are known by the test's
    description and variables, and by the prompt where there are several. The provider is the
    system. An error of the provider, or a time limit, is no verdict.
    """

    name = "promptfoo"
    title = "promptfoo"
    versions = "results of version 2 and 3, `-o out.json` and `-o out.jsonl`"
    options = frozenset({"on_error", "on_bad_line", "on_cached"})

    def sniff(self, path: Path) -> bool:
        """Whether it begins as an evaluation's output, or its first line is a result."""
        if not path.is_file():
            return False
        start = head(path)
        whole = '"evalId"' in start and '"results"' in start and start.lstrip().startswith("{")
        return whole or {"testIdx", "promptIdx", "provider"} <= set(first_record(path))

    def attempts(
        self, path: Path, notes: Notes, *, on_cached: str = "count", on_bad_line: str = "raise"
    ) -> Iterator[Attempt]:
        """Yield an attempt a result.

        Parameters
        ----------
        path : Path
            The output.
        notes : Notes
            Takes warnings and rules.
        on_cached : {"count", "drop", "raise"}
            An answer from the cache, which may be a copy of an earlier one.
        on_bad_line : {"raise", "skip"}
            A line that is no JSON.
        """
        if on_cached not in _CACHED:
            raise OptionError(f"on_cached: expected one of {', '.join(_CACHED)}, got {on_cached!r}")
        notes.rule("passed: success")
        rows = [_row(value, where) for where, value in _values(path, notes, on_bad_line)]
        names = _names(rows)
        cached = sum(row.cached for row in rows)
        if cached and on_cached == "raise":
            raise CountsError(
                f"{cached} answers came from the cache; say on_cached='drop' or 'count'"
            )
        if cached and on_cached == "count":
            notes.warn(
                f"{path}: {cached} of {len(rows)} answers came from the cache: copies of one "
                "answer are no independent attempts; run with --no-cache, or say on_cached='drop'"
            )
        for row in rows:
            problem = names[row.test, row.prompt]
            notes.plan(problem, row.system)
            verdict, reason = row.verdict, "error" if row.verdict is None else ""
            if row.cached and on_cached == "drop":
                verdict, reason = None, "cached"
            yield Attempt(problem, verdict, reason, row.system, where=row.where)


# A test as its description and its variables.
_Test = tuple[str, str]


@dataclass(frozen=True)
class _Row:
    test: _Test
    prompt: str
    system: str
    verdict: bool | None
    cached: bool
    where: str


def _values(path: Path, notes: Notes, on_bad_line: str) -> Iterator[tuple[str, Any]]:
    if "testIdx" in first_record(path):
        lines = json_lines(path, notes, on_bad_line)
        yield from ((f"line {number}", line) for number, line in lines)
        return
    results = want(read_json(path), "results", dict, "the output", {})
    rows = want(results, "results", list, "results")
    if rows is None:
        raise CountsError("no list of results: expected what promptfoo eval -o writes")
    yield from ((f"result {i}", row) for i, row in enumerate(rows))


def _row(row: Any, where: str) -> _Row:
    provider = want(row, "provider", object, where)
    about = provider if isinstance(provider, dict) else {"id": provider}
    system = about.get("label") or about.get("id")
    if not isinstance(system, str):
        raise CountsError(f"{where}: expected a provider with an id, got {kind_of(provider)}")
    prompt = want(row, "prompt", dict, where, {})
    response = row.get("response")
    cached = isinstance(response, dict) and response.get("cached") is True
    label = str(prompt.get("label") or prompt.get("raw") or row.get("promptIdx"))
    return _Row(_test(row, where), label, system, _verdict(row, where), cached, where)


def _test(row: dict[str, Any], where: str) -> _Test:
    case = want(row, "testCase", dict, where, {})
    variables = want(row, "vars", dict, where, None) or want(case, "vars", dict, where, {})
    description = want(case, "description", str, where) or row.get("description")
    if not description and not variables:
        raise CountsError(f"{where}: a test without description and variables names no problem")
    return str(description or ""), _said(variables)


def _said(variables: dict[str, Any]) -> str:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for name, value in sorted(variables.items())
    }
    return ", ".join(f"{name}={text}" for name, text in texts.items())


def _verdict(row: dict[str, Any], where: str) -> bool | None:
    success = row.get("success")
    if success is not None and not isinstance(success, bool):
        raise CountsError(f"{where}: expected success as true or false, got {kind_of(success)}")
    # A failed assertion is told in `error` as well; older results do not say why they failed.
    why = row.get("failureReason")
    if why is None:
        lost = bool(row.get("error")) and row.get("gradingResult") is None
    else:
        lost = why == _ERROR
    return None if lost else success


def _names(rows: Iterable[_Row]) -> dict[tuple[_Test, str], str]:
    """Name tests as shortly as tells them apart."""
    keys = dict.fromkeys((row.test, row.prompt) for row in rows)
    told: dict[str, set[str]] = {}
    for (description, variables), _ in keys:
        told.setdefault(description, set()).add(variables)
    several = len({prompt for _, prompt in keys}) > 1
    names = {}
    for (description, variables), prompt in keys:
        alone = description and len(told[description]) == 1
        name = description if alone else " ".join(filter(None, (description, variables)))
        names[(description, variables), prompt] = f"{name} | {prompt}" if several else name
    return names
