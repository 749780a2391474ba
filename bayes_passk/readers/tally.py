"""Attempts are added up: the same one twice is known again, what has no verdict is judged."""

__all__ = ["Tally"]

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayes_passk.counts import DEFAULT_SYSTEM, validate
from bayes_passk.errors import CountsError
from bayes_passk.readers.naming import naming
from bayes_passk.readers.records import Attempt, AttemptPolicy, Notes

_EXAMPLES = 3

_Pair = tuple[str, str, str]


class Tally:
    """Counts in the making.

    Parameters
    ----------
    policy : AttemptPolicy
        What to do with attempts without a verdict, and with the same attempt twice.
    """

    def __init__(self, policy: AttemptPolicy) -> None:
        self._policy = policy
        self._pairs: dict[_Pair, list[int]] = {}
        self._seen: dict[tuple[_Pair, str], tuple[Attempt, str]] = {}
        self._used: Counter[str] = Counter()
        self._dropped: dict[str, Counter[str]] = {}
        self._examples: dict[str, dict[str, None]] = {}
        self._differing = 0
        self._missing = 0

    def add_all(self, attempts: Iterable[Attempt], file: str) -> None:
        """Add the attempts of one file."""
        self._dropped.setdefault(file, Counter())
        each = self._policy.on_duplicate in ("keep_all", "add")
        with naming(file):
            for attempt in attempts:
                pair = (attempt.system or DEFAULT_SYSTEM, attempt.task or "", attempt.problem)
                # Of a problem whose count is not told, not even its n is known to belong here.
                if attempt.reason != "ambiguous":
                    self._pairs.setdefault(pair, [0, 0])
                if each or attempt.identity is None:
                    self._count(pair, attempt, file)
                else:
                    self._recognise(pair, attempt, file)

    def counts(self, notes: Notes) -> xr.Dataset:
        """Counts of all that was added; a problem that was planned only has none."""
        for (pair, _), (attempt, file) in self._seen.items():
            with naming(file):
                self._count(pair, attempt, file)
        self._seen.clear()
        for system, task, problem in notes.planned:
            self._pairs.setdefault((system or DEFAULT_SYSTEM, task or "", problem), [0, 0])
        if not self._pairs:
            raise CountsError("no attempts in the file")
        dropped: Counter[str] = sum(self._dropped.values(), Counter())  # none of 0 stays
        provenance = {
            "files": [],
            "dropped": dict(dropped),
            "warnings": [*notes.warnings, *self._warnings(dropped)],
            "rules": notes.rules,
        }
        return _dataset(self._pairs).assign_attrs(provenance=json.dumps(provenance))

    def files(self, format: str) -> list[dict[str, Any]]:
        """What was used of each file, and what was left out."""
        return [
            {
                "path": file,
                "format": format,
                "n_attempts": self._used[file],
                "dropped": dict(+dropped),
            }
            for file, dropped in self._dropped.items()
        ]

    def _recognise(self, pair: _Pair, attempt: Attempt, file: str) -> None:
        key = (pair, attempt.identity or "")
        if key not in self._seen:
            self._seen[key] = (attempt, file)
            return
        before = self._seen[key]
        if self._policy.on_duplicate == "raise":
            raise CountsError(
                f"{_at(attempt)} is there twice ({before[0].where or before[1]} and "
                f"{attempt.where or file}); say on_duplicate='first', 'last' or 'keep_all'"
            )
        known = None not in (before[0].verdict, attempt.verdict)
        self._differing += known and before[0].verdict != attempt.verdict
        loser = (attempt, file) if self._stays(before[0], attempt) else before
        if loser is before:
            self._seen[key] = (attempt, file)
        # A place that was planned in one file and filled in another is no second attempt.
        if loser[0].reason != "missing":
            self._drop(*loser, "duplicate")

    def _stays(self, before: Attempt, after: Attempt) -> bool:
        if self._policy.on_duplicate != "merge":
            return self._policy.on_duplicate == "first"
        # A retry that came to nothing does not undo a verdict; an invalidation does.
        lost = after.verdict is None and self._policy.option(after.reason) is not None
        return lost and before.verdict is not None

    def _count(self, pair: _Pair, attempt: Attempt, file: str) -> None:
        verdict = attempt.verdict
        if verdict is None:
            if not self._fails(attempt):
                self._drop(attempt, file, attempt.reason or "error")
                return
            verdict = False
        self._used[file] += attempt.count
        self._pairs[pair][0] += attempt.count
        self._pairs[pair][1] += attempt.count * verdict

    def _fails(self, attempt: Attempt) -> bool:
        action = self._policy.action(attempt.reason)
        if action == "raise":
            raise CountsError(
                f"{_at(attempt)} has no verdict ({attempt.reason or 'error'}); "
                f"say {self._policy.option(attempt.reason)}='drop' or 'fail'"
            )
        return action == "fail"

    def _drop(self, attempt: Attempt, file: str, reason: str) -> None:
        # What was never made was not left out, but is said.
        self._dropped[file][reason] += attempt.count if reason != "missing" else 0
        self._missing += attempt.count if reason == "missing" else 0
        examples = self._examples.setdefault(reason, {})
        if len(examples) < _EXAMPLES:
            examples[_at(attempt)] = None

    def _warnings(self, dropped: Mapping[str, int]) -> Iterator[str]:
        for reason, number in {**dropped, "missing": self._missing}.items():
            if not number:
                continue
            more = ", ..." if number > len(self._examples[reason]) else ""
            what = "planned and not made" if reason == "missing" else f"left out ({reason})"
            examples = "; ".join(self._examples[reason])
            yield f"{number} attempt{'s' * (number > 1)} {what}: {examples}{more}"
        if self._differing:
            yield f"{self._differing} attempts are there twice with different verdicts"
        if not any(n for n, _ in self._pairs.values()):
            yield "no attempt has a verdict: every problem has n = 0"


def _at(attempt: Attempt) -> str:
    parts = [f"problem {attempt.problem[:80]!r}"]
    if attempt.task:
        parts.insert(0, f"task {attempt.task[:80]!r}")
    if attempt.where:
        parts.append(attempt.where[:120])
    return ", ".join(parts)


def _dataset(pairs: Mapping[_Pair, Sequence[int]]) -> xr.Dataset:
    systems = {name: i for i, name in enumerate(dict.fromkeys(s for s, _, _ in pairs))}
    rows = {row: j for j, row in enumerate(dict.fromkeys((t, p) for _, t, p in pairs))}
    values = np.zeros((2, len(systems), len(rows)), dtype=np.int64)
    for (system, task, problem), total in pairs.items():
        values[:, systems[system], rows[task, problem]] = total
    several = len({task for task, _ in rows}) > 1
    names = [f"{task}/{problem}" if several and task else problem for task, problem in rows]
    counts = xr.Dataset(
        {
            name: (("system", "problem"), array)
            for name, array in zip(("n_attempts", "n_successes"), values, strict=True)
        },
        coords={
            "system": np.array(list(systems), dtype=object),
            "problem": np.array(names, dtype=object),
        },
    )
    if any(task for task, _ in rows):
        tasks = np.array([task for task, _ in rows], dtype=object)
        counts = counts.assign_coords(task=("problem", tasks))
    # Counts without any attempt are no error here: they say which problems were lost.
    if values[0].any():
        validate(counts)
    return counts
