"""lm-evaluation-harness: ``samples_*.jsonl``, a line a document and filter."""

__all__ = ["LmEvalReader"]

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError, ReadError, did_you_mean
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.inversion import OnAmbiguous
from bayes_passk.readers.jsons import first_record, head, json_lines, read_json, want
from bayes_passk.readers.verdicts import check_threshold, verdict_of

_TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_NAME = re.compile(rf"(?:samples_)?(?P<task>.+?)(?:_(?P<time>{_TIME}))?\.jsonl(?:\.gz)?")
_PASS_AT_K = re.compile(r"pass@(\d+)")
# What a line holds besides its metrics, where it does not list them.
_OTHER = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"}
_OTHER |= {"doc_hash", "prompt_hash", "target_hash"}


class LmEvalReader(AttemptReader):
    """Reader of the samples that lm-evaluation-harness writes with ``--log_samples``.

    A line is one attempt, however many responses it holds: the harness scores one of them. Only
    code tasks score all and write pass@k of the document, from which the count is recovered.
    Repeats are several files of one task, one a run.
    """

    name = "lm_eval"
    title = "lm-evaluation-harness"
    versions = "0.4, `samples_*.jsonl`"
    options = frozenset(
        {"on_error", "on_duplicate", "on_bad_line", "on_ambiguous", "filter", "metric", "threshold"}
    )

    def sniff(self, path: Path) -> bool:
        """Whether its first line has a document and responses, or it is a results file."""
        if not path.is_file():
            return False
        return {"doc_id", "resps"} <= set(first_record(path)) or self.is_secondary(path)

    def is_secondary(self, path: Path) -> bool:
        """Whether it is a results file: averages only."""
        start = head(path)
        results = re.match(r'\s*\{\s*"results"\s*:\s*\{', start) is not None
        return results and '"config_general"' not in start

    def attempts(
        self,
        path: Path,
        notes: Notes,
        *,
        filter: str | None = None,
        metric: str | None = None,
        threshold: float = 1.0,
        on_ambiguous: str = "raise",
        on_bad_line: str = "raise",
    ) -> Iterator[Attempt]:
        """Yield an attempt a line, or all of a document from its pass@k.

        Parameters
        ----------
        path : Path
            The samples.
        notes : Notes
            Takes warnings and rules.
        filter, metric : str, optional
            Which of several decides.
        threshold : float
            A success is a metric's value from here on.
        on_ambiguous : {"raise", "drop"}
            A document whose pass@k does not tell the count.
        on_bad_line : {"raise", "skip"}
            A line that is no JSON.
        """
        if self.is_secondary(path):
            raise ReadError(
                "no per-problem outcomes in a results_*.json file: give the samples_*.jsonl "
                "beside it (written with --log_samples)"
            )
        run = _Run(path, filter, metric, check_threshold(threshold), OnAmbiguous(on_ambiguous))
        for number, line in json_lines(path, notes, on_bad_line):
            yield from run.attempts(number, line, notes)
        run.check(notes)


@dataclass
class _Run:
    path: Path
    filter: str | None
    metric: str | None
    threshold: float
    ambiguous: OnAmbiguous
    filters: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = _NAME.fullmatch(self.path.name)
        self.task = name["task"] if name else None
        self.system = _model(self.path, name["time"] if name else None)
        # The name holds the time of the run: a copy elsewhere is the same run.
        self.identity = self.path.name if name and name["time"] else str(self.path.resolve())

    def attempts(self, number: int, line: dict[str, Any], notes: Notes) -> Iterator[Attempt]:
        where = f"line {number}"
        if "doc_id" not in line:
            raise CountsError(f"{where}: expected a sample of lm-evaluation-harness with a doc_id")
        if not self._wanted(str(line.get("filter", "none"))):
            return
        values, like = self._values(line, where), self._attempt(line, where)
        if all(_PASS_AT_K.fullmatch(name) for name in values):
            yield from self._inverted(line, values, like)
            notes.rule("passed: counts recovered from pass@k of each document")
            return
        ((name, value),) = values.items()
        verdict = verdict_of(value, f"{where}, {name}", self.threshold)
        notes.rule(f"passed: {name} >= {self.threshold:g}")
        _warn_of_repeats(line, notes)
        reason = "unscored" if verdict is None else ""
        yield Attempt(
            like.problem, verdict, reason, like.system, like.task, like.identity, like.where
        )

    def check(self, notes: Notes) -> None:
        if self.filter is not None and self.filters and self.filter not in self.filters:
            hint = did_you_mean(self.filter, self.filters)
            raise OptionError(f"no line of filter {self.filter!r}: {hint}")
        self.ambiguous.check(notes)

    def _wanted(self, name: str) -> bool:
        self.filters[name] = None
        if self.filter is None and len(self.filters) > 1:
            raise CountsError(
                f"more than one filter ({', '.join(self.filters)}): say which with filter=..."
            )
        return self.filter in (None, name)

    def _attempt(self, line: dict[str, Any], where: str) -> Attempt:
        problem = str(line["doc_id"])
        return Attempt(problem, None, "", self.system, self.task, self.identity, where)

    def _values(self, line: dict[str, Any], where: str) -> dict[str, Any]:
        listed = want(line, "metrics", list, where) or [n for n in line if n not in _OTHER]
        names = [str(name) for name in listed]
        if self.metric is not None:
            names = [name for name in names if name == self.metric] or self._unknown(names, where)
        elif len(names) != 1 and not (names and all(map(_PASS_AT_K.fullmatch, names))):
            shown = ", ".join(names) or "none"
            raise CountsError(f"{where}: expected one metric, got {shown}: say metric=...")
        return {name: line.get(name) for name in names}

    def _unknown(self, names: list[str], where: str) -> list[str]:
        hint = did_you_mean(str(self.metric), names)
        raise OptionError(f"{self.path}: {where} has no metric {self.metric!r}: {hint}")

    def _inverted(
        self, line: dict[str, Any], values: dict[str, Any], like: Attempt
    ) -> Iterator[Attempt]:
        responses = want(line, "resps", list, like.where, [])
        n = len(responses[0]) if responses and isinstance(responses[0], list) else 0
        estimates = {}
        for name, value in values.items():
            if not isinstance(value, int | float):
                raise CountsError(f"{like.where}: expected {name} as a number, got {value!r}")
            estimates[int(name.removeprefix("pass@"))] = float(value)
        yield from self.ambiguous.attempts(like, n, estimates)


def _warn_of_repeats(line: dict[str, Any], notes: Notes) -> None:
    responses = line.get("resps")
    if not isinstance(responses, list) or len(responses) != 1:
        return
    texts = responses[0]
    # A log-probability and whether it was the greedy choice are a pair of texts as well.
    if isinstance(texts, list) and len(texts) > 1 and texts[-1] not in ("True", "False"):
        notes.warn(
            f"resps holds {len(texts)} responses per document but only the first is scored: n is 1"
        )


def _model(path: Path, time: str | None) -> str | None:
    folder = path.resolve().parent
    for beside in sorted(folder.glob(f"*_{time}.json")) if time else ():
        try:
            content = read_json(beside)
        except (ReadError, OSError):
            continue
        if isinstance(content, dict) and isinstance(content.get("model_name_sanitized"), str):
            return content["model_name_sanitized"]
    # Without a results file only the harness's own way of writing organisation/model tells it.
    return folder.name if "__" in folder.name else None
