"""Inspect AI logs: ``.eval`` archives and ``.json`` files, one sample an attempt."""

__all__ = ["InspectReader"]

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError, ReadError, did_you_mean
from bayes_passk.readers.archives import Archive
from bayes_passk.readers.attempts import Attempt, AttemptPolicy, AttemptReader, Notes
from bayes_passk.readers.jsons import head, kind_of, parse_json, read_json, want
from bayes_passk.readers.verdicts import check_threshold, verdict_of

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_HEADERS = ("header.json", "_journal/start.json")
_ZIP = b"PK\x03\x04"


class InspectReader(AttemptReader):
    """Reader of Inspect AI logs, of finished, failed, retried and killed runs.

    A sample's identity is its task id and epoch: a retried run copies the finished samples of the
    one before, and those are counted once. A sample that a limit stopped has a score and counts;
    one with an error has no verdict, even where it has a score. An invalidated one never counts.
    """

    name = "inspect"
    title = "Inspect AI"
    versions = "logs of 2024 (one score a sample) to 0.3.285; Zstandard and deflate"
    options = frozenset({"on_error", "on_missing", "on_duplicate", "scorer", "key", "threshold"})
    defaults = AttemptPolicy(on_duplicate="merge")

    def sniff(self, path: Path) -> bool:
        """Whether it is an archive with Inspect's members, or JSON with its first keys."""
        if not path.is_file():
            return False
        start = head(path)
        if start.startswith("PK"):
            return path.suffix == ".eval" or _is_archive(path)
        return bool(re.match(r'\s*\{\s*"(version|status|eval)"', start)) and '"task"' in start

    def attempts(
        self,
        path: Path,
        notes: Notes,
        *,
        scorer: str | None = None,
        key: str | None = None,
        threshold: float = 1.0,
    ) -> Iterator[Attempt]:
        """Yield the samples of a log, then those that were planned and are not there.

        Parameters
        ----------
        path : Path
            The log.
        notes : Notes
            Takes warnings and rules.
        scorer : str, optional
            Which score decides, where samples have several.
        key : str, optional
            Which entry of a score that is an object or a list.
        threshold : float
            A success is a value from here on; the letters C, P, I and N are 1, 0.5, 0 and 0.
        """
        judge = _Judge(scorer, key, check_threshold(threshold))
        with _open(path) as log:
            yield from _attempts(log, judge, notes)
        judge.check()
        notes.rule(f"passed: score{judge.described} >= {threshold:g}")


@dataclass
class _Log:
    path: Path
    header: dict[str, Any]
    samples: Iterator[tuple[str, Any]]

    def __post_init__(self) -> None:
        self.eval: dict[str, Any] = want(self.header, "eval", dict, "the log", {})
        if not self.eval:
            raise CountsError("not an Inspect log: no eval/samples")
        self.config: dict[str, Any] = want(self.eval, "config", dict, "eval", {})
        self.system = want(self.eval, "model", str, "eval")
        self.task = want(self.eval, "task", str, "eval")
        self.run = str(self.eval.get("task_id") or self.eval.get("run_id") or self.path)

    def planned(self) -> Iterator[tuple[str, int]]:
        dataset = want(self.eval, "dataset", dict, "eval", {})
        epochs = want(self.config, "epochs", int, "eval.config", 1)
        for epoch in range(1, min(epochs, 10**6) + 1):
            for problem in want(dataset, "sample_ids", list, "eval.dataset", []):
                yield str(problem), epoch


@dataclass
class _Judge:
    scorer: str | None
    key: str | None
    threshold: float
    seen: dict[str, None] = field(default_factory=dict)

    @property
    def described(self) -> str:
        scorer = self.scorer or next(iter(self.seen), None)
        return (f" of scorer {scorer!r}" if scorer else "") + (f", {self.key!r}" * bool(self.key))

    def verdict(self, scores: dict[str, Any], where: str) -> bool | None:
        self.seen.update(dict.fromkeys(scores))
        if self.scorer is None and len(self.seen) > 1:
            raise CountsError(
                f"more than one scorer: {', '.join(self.seen)}; say which with scorer=..."
            )
        score = scores.get(self.scorer or next(iter(self.seen), ""))
        if score is None:
            return None
        value = want(score, "value", object, where)
        return verdict_of(self._number(value, where), where, self.threshold)

    def check(self) -> None:
        if self.scorer is not None and self.seen and self.scorer not in self.seen:
            hint = did_you_mean(self.scorer, self.seen)
            raise OptionError(f"no sample has a score of scorer {self.scorer!r}: {hint}")

    def _number(self, value: Any, where: str) -> Any:
        if isinstance(value, list):
            value = {str(i): item for i, item in enumerate(value)}
        if isinstance(value, dict):
            value = self._entry(value, where)
        elif self.key is not None:
            raise OptionError(
                f"key={self.key!r}: the scores of this log have no keys ({where}: {kind_of(value)})"
            )
        return _LETTERS.get(value, value) if isinstance(value, str) else value

    def _entry(self, value: dict[str, Any], where: str) -> Any:
        if self.key is None:
            scorer = self.scorer or next(iter(self.seen))
            raise CountsError(
                f"scorer {scorer} has object values ({', '.join(value)}): say which with key=..."
            )
        if self.key not in value:
            hint = did_you_mean(self.key, value)
            raise OptionError(f"key={self.key!r}: {where} has no such entry: {hint}")
        return value[self.key]


@contextmanager
def _open(path: Path) -> Iterator[_Log]:
    with path.open("rb") as stream:
        zipped = stream.read(4) == _ZIP
    if not zipped:
        content = read_json(path)
        samples = want(content, "samples", list, "the log", [])
        numbered = ((f"sample {i}", sample) for i, sample in enumerate(samples, start=1))
        yield _Log(path, content, numbered)
        return
    with Archive.open(path) as archive:
        names = [name for name in archive.names if re.fullmatch(r"samples/.*\.json", name, re.S)]
        members = ((name, parse_json(archive.read(name), name)) for name in names)
        yield _Log(path, _header(archive), members)


def _header(archive: Archive) -> dict[str, Any]:
    for name in _HEADERS:
        if name in archive.names:
            return want({name: parse_json(archive.read(name), name)}, name, dict, "the log")
    raise ReadError(f"not an Inspect log: no {' and no '.join(_HEADERS)} in the archive")


def _is_archive(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as file:
            return any(name in file.namelist() for name in _HEADERS)
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return False


def _attempts(log: _Log, judge: _Judge, notes: Notes) -> Iterator[Attempt]:
    made = set()
    for member, sample in log.samples:
        attempt = _attempt(log, judge, sample, member)
        made.add((attempt.problem, attempt.identity))
        yield attempt
    status = want(log.header, "status", str, "the log", "started")
    if not made and status == "success":
        raise CountsError("the log holds no samples: run again with log_samples on")
    if status != "success":
        notes.warn(f"{log.path}: the run did not finish (status {status!r})")
    for problem, epoch in log.planned():
        identity = f"{log.run} {epoch}"
        if (problem, identity) not in made:
            yield Attempt(
                problem, None, "missing", log.system, log.task, identity, f"epoch {epoch}"
            )


def _attempt(log: _Log, judge: _Judge, sample: Any, member: str) -> Attempt:
    if want(sample, "id", object, member) is None:
        raise CountsError(f"{member}: expected a sample with an id")
    problem, epoch = str(sample["id"]), want(sample, "epoch", int, member, 1)
    where = f"epoch {epoch}"
    verdict = judge.verdict(_scores(log, sample, member), f"sample {problem!r}, {where}")
    reason = "unscored" if verdict is None else ""
    for sign, word in (("error", "error"), ("invalidation", "invalidated")):
        if sample.get(sign):
            verdict, reason = None, word
    return Attempt(problem, verdict, reason, log.system, log.task, f"{log.run} {epoch}", where)


def _scores(log: _Log, sample: dict[str, Any], member: str) -> dict[str, Any]:
    if "scores" in sample or sample.get("score") is None:
        return want(sample, "scores", dict, member, {})
    # Logs of early 2024: one score, named in the results.
    results = want(log.header, "results", dict, "the log", {})
    named = want(results, "scorer", dict, "results", {})
    return {str(named.get("name", "score")): sample["score"]}
