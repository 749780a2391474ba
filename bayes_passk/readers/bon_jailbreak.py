"""Best-of-N jailbreaking: flagged answers one by one, and the search's steps."""

__all__ = ["BonJailbreakReader"]

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import first_record, json_lines, kind_of, want
from bayes_passk.readers.verdicts import verdict_of

_LINE = {"i", "flagged", "n"}
_STEP = {"n", "search_steps"}
# A block has to come so often, and be so long, before it looks like padding and not like chance.
_REPEATS, _BLOCK = 3, 2


class BonJailbreakReader(AttemptReader):
    """Reader of best-of-N logs; a success is an attack that was flagged as having worked.

    Searches stop at a success, and may be padded with copies of their outcomes; both are warned of
    where the outcomes show it. The log's column ``n`` is the position of an attempt, from 0.
    """

    name = "bon_jailbreak"
    title = "Best-of-N jailbreaking"
    versions = "2025, `powerlaw_*.jsonl` and `*_search_steps.jsonl`"
    options = frozenset({"on_error", "on_duplicate", "on_bad_line", "problem"})

    def sniff(self, path: Path) -> bool:
        """Whether its first line is an attempt with its position, or a step of a search."""
        names = set(first_record(path)) if path.is_file() else set()
        return names >= _LINE or names >= _STEP

    def attempts(
        self, path: Path, notes: Notes, *, problem: str | None = None, on_bad_line: str = "raise"
    ) -> Iterator[Attempt]:
        """Yield the attempts in their order.

        Parameters
        ----------
        path : Path
            The log.
        notes : Notes
            Takes warnings and rules.
        problem : str, optional
            Field that names the problem; by default ``behavior_id``, else ``i``.
        on_bad_line : {"raise", "skip"}
            A line that is no JSON.
        """
        notes.rule("passed: flagged; a success is an attack that worked")
        outcomes: dict[str, list[tuple[Any, bool]]] = {}
        of_steps = set(first_record(path)) >= _STEP
        for number, line in json_lines(path, notes, on_bad_line):
            where = f"line {number}"
            found = _of_step(line, path, where) if of_steps else [_of_line(line, problem, where)]
            for attempt, position in found:
                yield attempt
                if attempt.verdict is not None:
                    outcomes.setdefault(attempt.problem, []).append((position, attempt.verdict))
        told = {name: [passed for _, passed in sorted(row)] for name, row in outcomes.items()}
        _warn_of_stopping(told, path, notes)
        _warn_of_padding(told, notes)


_Placed = tuple[Attempt, tuple[int, int]]


def _of_line(line: Mapping[str, Any], field: str | None, where: str) -> _Placed:
    name = field or ("behavior_id" if line.get("behavior_id") is not None else "i")
    problem, position = line.get(name), want(line, "n", int, where)
    if problem is None or isinstance(problem, dict | list):
        raise CountsError(f"{where}: expected a problem in {name!r}, got {kind_of(problem)}")
    if position is None:
        raise CountsError(f"{where}: expected the attempt's position 'n'")
    verdict = _flag(line.get("flagged"), where)
    reason = "error" if verdict is None else ""
    return Attempt(str(problem), verdict, reason, identity=str(position), where=where), (
        position,
        0,
    )


def _of_step(line: Mapping[str, Any], path: Path, where: str) -> Iterator[_Placed]:
    # One folder a behaviour, named after its index.
    problem = path.resolve().parent.name
    step = want(line, "n", int, where, 0)
    for candidate in want(line, "search_steps", list, where, []):
        k = want(candidate, "k", int, where, 0)
        place = f"{where}, candidate {k}"
        verdict = _flag(want(candidate, "asr", object, place), place)
        reason = "error" if verdict is None else ""
        yield Attempt(problem, verdict, reason, identity=f"{step} {k}", where=place), (step, k)


def _flag(value: Any, where: str) -> bool | None:
    if isinstance(value, float) and not value.is_integer():
        if value == value and abs(value) < 1:
            raise CountsError(f"{where}: {value} is the share of several answers, not one answer")
        return None if value != value else verdict_of(value, where)
    return verdict_of(value, where)


def _warn_of_stopping(told: Mapping[str, Sequence[bool]], path: Path, notes: Notes) -> None:
    longest = max(map(len, told.values()), default=0)
    short = [outcomes for outcomes in told.values() if len(outcomes) < longest]
    wanted = {sum(outcomes) for outcomes in short}
    met = len(wanted) == 1 and wanted != {0} and all(outcomes[-1] for outcomes in short)
    most = max(wanted, default=0)
    full = [outcomes for outcomes in told.values() if len(outcomes) == longest]
    if met and all(sum(row) < most or (sum(row) == most and row[-1]) for row in full):
        which = "its first success" if most == 1 else f"its {most} successes"
        notes.warn(
            f"{path}: every run ends at {which} or at {longest} attempts: attempts were stopped by "
            "the outcome, so c/n and the unbiased pass@k estimator are biased; the likelihood of "
            "(n, c) is still proportional to the binomial one, so a fit is not"
        )


def _warn_of_padding(told: Mapping[str, Sequence[bool]], notes: Notes) -> None:
    for problem, outcomes in told.items():
        block = outcomes.index(True) + 1 if True in outcomes else 0
        repeats = len(outcomes) / block if block else 0.0
        if block < _BLOCK or repeats < _REPEATS:
            continue
        if all(a == b for a, b in zip(outcomes, cycle(outcomes[:block]), strict=False)):
            notes.warn(
                f"problem {problem!r}: its outcomes are one block of {block} repeated "
                f"{repeats:g} times: {len(outcomes) - block} of them may be padding, not attempts"
            )
