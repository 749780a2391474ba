"""LiveCodeBench: ``*_eval_all.json``, and ``*_eval.json`` where that is all there is."""

__all__ = ["LivecodebenchReader"]

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, ReadError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import head, kind_of, parse_json, read_json, want
from bayes_passk.readers.verdicts import verdict_of

_QUESTIONS = re.compile(r'\s*\[\s*\{\s*"(question_title|question_content|question_id)"')
_CODES = re.compile(r'\s*\[\s*\{\s*"(pass@\d+|detail)"')
_PLANNED = re.compile(r"_(\d+)_[\d.]+(?:_cot)?(?:_eval(?:_all)?)?\.json")
# Error codes of one attempt: the whole run killed, a time limit, a grader that broke.
_TIMEOUTS = (-1, -3)
_BROKEN = -5


class LivecodebenchReader(AttemptReader):
    """Reader of graded LiveCodeBench output; time limits are failures, as the benchmark has it.

    An attempt that no test was run on, or whose grader broke, has no verdict. The number of
    attempts in the file's name is the plan: fewer are said.
    """

    name = "livecodebench"
    title = "LiveCodeBench"
    versions = "2025, `*_eval_all.json` and `*_eval.json`"
    options = frozenset({"on_error", "on_timeout", "on_missing", "on_duplicate"})

    def sniff(self, path: Path) -> bool:
        """Whether it begins as questions, or as metrics with their details."""
        start = head(path) if path.is_file() else ""
        questions = _QUESTIONS.match(start) and '"contest_id"' in start
        return bool(questions or (_CODES.match(start) and '"detail"' in start))

    def is_secondary(self, path: Path) -> bool:
        """Whether the graded file with the questions' ids stands beside it."""
        stem = re.sub(r"(_eval)?\.json$", "", path.name)
        graded = path.with_name(f"{stem}_eval_all.json")
        return not path.name.endswith("_eval_all.json") and graded.is_file()

    def attempts(self, path: Path, notes: Notes, *args: Any, **options: Any) -> Iterator[Attempt]:
        """Yield the attempts at each question, then those planned and not made."""
        content = read_json(path)
        if not isinstance(content, list):
            raise CountsError(f"expected a list, got {kind_of(content)}")
        plan = _PLANNED.search(path.name)
        planned, system = int(plan[1]) if plan else 0, _system(path)
        questions = _codes(content, notes) if _is_codes(content) else _graded(content, notes)
        for problem, attempts in questions:
            notes.plan(problem, system)
            missing = [(None, "missing")] * (min(planned, 10**6) - len(attempts))
            for i, (verdict, reason) in enumerate([*attempts, *missing]):
                yield Attempt(problem, verdict, reason, system, None, str(i), f"attempt {i}")


_Verdict = tuple[bool | None, str]


def _system(path: Path) -> str | None:
    folders = path.resolve().parents
    return folders[0].name if folders[1].name == "output" else None


def _is_codes(content: list[Any]) -> bool:
    return len(content) == 3 and isinstance(content[0], dict) and "question_id" not in content[0]


def _graded(content: list[Any], notes: Notes) -> Iterator[tuple[str, list[_Verdict]]]:
    notes.rule("passed: graded_list")
    for i, question in enumerate(content):
        where = f"entry {i}"
        problem = want(question, "question_id", object, where)
        if problem is None:
            raise CountsError(f"{where}: expected a question_id")
        where = f"problem {str(problem)!r}"
        grades = want(question, "graded_list", list, where)
        if grades is None:
            raise ReadError(
                "no graded_list: these are unevaluated generations; give the *_eval_all.json file"
            )
        about = want(question, "metadata", list, where, [])
        about += [None] * (len(grades) - len(about))
        yield (
            str(problem),
            [_grade(g, m, where) for g, m in zip(grades, about, strict=False)],
        )


def _grade(grade: Any, about: Any, where: str) -> _Verdict:
    verdict = verdict_of(grade, where)
    if verdict:
        return True, ""
    code = _error_code(about)
    if code == _BROKEN or verdict is None:
        return None, "error"
    return (None, "timeout") if code in _TIMEOUTS else (False, "")


def _error_code(about: Any) -> Any:
    if isinstance(about, str):
        try:
            about = parse_json(about)
        except ReadError:
            return None
    return about.get("error_code") if isinstance(about, dict) else None


def _codes(content: list[Any], notes: Notes) -> Iterator[tuple[str, list[_Verdict]]]:
    notes.rule("passed: every test's code above 0")
    notes.warn("problem names are positions in the run; the *_eval_all.json file has the real ids")
    results, about = content[1], content[2] if isinstance(content[2], list) else []
    if not isinstance(results, dict):
        raise CountsError(f"expected an object of results, got {kind_of(results)}")
    for i, problem in enumerate(results):
        attempts = want(results, problem, list, "the results", [])
        texts = about[i] if i < len(about) and isinstance(about[i], list) else []
        texts = [*texts, *[None] * len(attempts)]
        yield problem, [_judge(a, m, problem) for a, m in zip(attempts, texts, strict=False)]


def _judge(codes: Any, about: Any, problem: str) -> _Verdict:
    if not isinstance(codes, list) or not all(isinstance(code, int | float) for code in codes):
        raise CountsError(f"problem {problem!r}: expected a list of codes, got {kind_of(codes)}")
    # Upstream calls an attempt without a single test passed; nothing was seen of it.
    if not codes or _error_code(about) == _BROKEN:
        return None, "error"
    failed = [code for code in codes if code <= 0]
    if not failed:
        return True, ""
    return (None, "timeout") if set(failed) <= set(_TIMEOUTS) else (False, "")
