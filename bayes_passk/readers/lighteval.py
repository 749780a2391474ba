"""lighteval: ``details_*.parquet``, a row a document, its metrics estimated already."""

__all__ = ["LightevalReader"]

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError, ReadError, did_you_mean
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.inversion import OnAmbiguous
from bayes_passk.readers.jsons import head, kind_of, want
from bayes_passk.readers.parquets import column_names, parquet_rows
from bayes_passk.readers.verdicts import check_threshold, verdict_of

_COLUMNS = ["doc", "metric", "model_response"]
_PASS = re.compile(
    r"pass@k:k=(?P<k>\d+)&n=(?P<n>\d+)|(?:\w*_)?pass@(?P<k2>\d+):(?P<n2>\d+)_samples"
)
_MEAN = re.compile(r"avg@n:n=(?P<n>\d+)|(?:\w*_)?avg@(?P<n2>\d+)")


class LightevalReader(AttemptReader):
    """Reader of lighteval's details.

    Metrics over samples (``pass@k:k=1&n=16``, ``avg@n:n=64``) hold an estimate of each document,
    from which the count is recovered; any other metric is one attempt a document.
    """

    name = "lighteval"
    title = "lighteval"
    versions = "0.8 to 2026, `details_*.parquet`"
    options = frozenset({"on_error", "on_duplicate", "on_ambiguous", "metric", "threshold"})

    def sniff(self, path: Path) -> bool:
        """Whether it is a table of documents, metrics and responses, or a results file."""
        if not path.is_file():
            return False
        return set(_COLUMNS) <= set(column_names(path)) or self.is_secondary(path)

    def is_secondary(self, path: Path) -> bool:
        """Whether it is a results file: averages only."""
        start = head(path)
        return re.match(r'\s*\{\s*"config_general"', start) is not None and '"results"' in start

    def attempts(
        self,
        path: Path,
        notes: Notes,
        *,
        metric: str | None = None,
        threshold: float = 1.0,
        on_ambiguous: str = "raise",
    ) -> Iterator[Attempt]:
        """Yield the attempts of each document.

        Parameters
        ----------
        path : Path
            The details.
        notes : Notes
            Takes warnings and rules.
        metric : str, optional
            Which of several decides.
        threshold : float
            A success is a value from here on, of a metric that is no estimate over samples.
        on_ambiguous : {"raise", "drop"}
            A document whose pass@k does not tell the count.
        """
        if self.is_secondary(path):
            raise ReadError("no per-problem outcomes; give the details_*.parquet file")
        ambiguous = OnAmbiguous(on_ambiguous)
        file = _File(path, metric, check_threshold(threshold))
        for number, row in parquet_rows(path, _COLUMNS):
            yield from file.attempts(number, row, ambiguous, notes)
        ambiguous.check(notes)


@dataclass(frozen=True)
class _File:
    path: Path
    metric: str | None
    threshold: float

    def attempts(
        self, number: int, row: dict[str, Any], ambiguous: OnAmbiguous, notes: Notes
    ) -> Iterator[Attempt]:
        where = f"row {number}"
        doc, metrics = (want(row, name, dict, where, {}) for name in ("doc", "metric"))
        responses = want(want(row, "model_response", dict, where, {}), "text", list, where, [])
        if doc.get("id") is None:
            raise CountsError(f"{where}: expected a document with an id")
        task = want(doc, "task_name", str, where)
        like = Attempt(
            str(doc["id"]), None, "unscored", _system(self.path), task, self.path.name, where
        )
        name, value = self._metric(metrics, where)
        estimate = _estimate(name)
        if estimate is None or value is None:
            notes.rule(f"passed: {name} >= {self.threshold:g}")
            yield _single(like, verdict_of(value, f"{where}, {name}", self.threshold))
            return
        notes.rule(f"passed: counts recovered from {name}")
        k, n = estimate
        if not isinstance(value, int | float):
            raise CountsError(f"{where}: expected {name} as a number, got {kind_of(value)}")
        # It divides by the planned n even where fewer responses came back.
        made = min(n, len(responses)) if responses else n
        yield from ambiguous.attempts(like, n, {k: float(value)}, made)

    def _metric(self, metrics: dict[str, Any], where: str) -> tuple[str, Any]:
        given = [name for name, value in metrics.items() if value is not None] or list(metrics)
        if self.metric is None:
            if len(given) != 1:
                listed = ", ".join(given) or "none"
                raise CountsError(f"{where}: expected one metric, got {listed}: say metric=...")
            return given[0], metrics[given[0]]
        if self.metric not in metrics:
            hint = did_you_mean(self.metric, metrics)
            raise OptionError(f"{self.path}: no metric {self.metric!r}: {hint}")
        return self.metric, metrics[self.metric]


def _single(like: Attempt, verdict: bool | None) -> Attempt:
    reason = "unscored" if verdict is None else ""
    return Attempt(like.problem, verdict, reason, like.system, like.task, like.identity, like.where)


def _estimate(name: str) -> tuple[int, int] | None:
    """The k and n of a metric over samples; its mean is pass@1."""
    if (found := _PASS.fullmatch(name)) is not None:
        return int(found["k"] or found["k2"]), int(found["n"] or found["n2"])
    if (found := _MEAN.fullmatch(name)) is not None:
        return 1, int(found["n"] or found["n2"])
    return None


def _system(path: Path) -> str | None:
    # details/<organisation>/<model>/<date>/details_<task>_<date>.parquet
    folders = path.resolve().parts[:-2]
    if "details" not in folders:
        return None
    last = len(folders) - 1 - folders[::-1].index("details")
    return "/".join(folders[last + 1 :]) or None
