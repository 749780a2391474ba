"""garak: reports of probes, where a success is an attack that worked."""

__all__ = ["GarakReader"]

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError, ReadError, did_you_mean
from bayes_passk.readers.attempts import Attempt, AttemptPolicy, AttemptReader, Notes
from bayes_passk.readers.jsons import first_record, json_lines, want
from bayes_passk.readers.prompts import prompt_name
from bayes_passk.readers.verdicts import check_threshold, verdict_of

_EVALUATED = 2
_HITS = {"goal", "detector", "attempt_id", "probe"}
_NAMED_BY = ("uuid", "prompt")


class GarakReader(AttemptReader):
    """Reader of garak's reports; a generation that a detector scores 0.5 or more is a hit.

    A prompt is written twice, when it is answered and when it is evaluated: the second counts.
    garak calls a generation passed that did not break; a success here is one that did.
    """

    name = "garak"
    title = "garak"
    versions = "0.9 to 0.17, `*.report.jsonl`"
    options = frozenset(
        {"on_error", "on_duplicate", "on_bad_line", "detector", "threshold", "problem"}
    )
    defaults = AttemptPolicy(on_duplicate="merge")

    def sniff(self, path: Path) -> bool:
        """Whether its first line is an entry of a report, or of the list of hits."""
        record = first_record(path) if path.is_file() else {}
        return "entry_type" in record or set(record) >= _HITS

    def is_secondary(self, path: Path) -> bool:
        """Whether it lists the hits only."""
        return set(first_record(path)) >= _HITS

    def attempts(
        self,
        path: Path,
        notes: Notes,
        *,
        detector: str | None = None,
        threshold: float = 0.5,
        problem: str = "uuid",
        on_bad_line: str = "raise",
    ) -> Iterator[Attempt]:
        """Yield the generations of each evaluated prompt.

        Parameters
        ----------
        path : Path
            The report.
        notes : Notes
            Takes warnings and rules.
        detector : str, optional
            Which of several decides.
        threshold : float
            A hit is a score from here on.
        problem : {"uuid", "prompt"}
            What names a problem. Each run has its own uuids: systems are compared by prompt.
        on_bad_line : {"raise", "skip"}
            A line that is no JSON.
        """
        if problem not in _NAMED_BY:
            raise OptionError(f"problem: expected uuid or prompt, got {problem!r}")
        if self.is_secondary(path):
            raise ReadError("lists the hits only: give the *.report.jsonl of the run")
        least = check_threshold(threshold)
        system, entries = _entries(path, notes, on_bad_line)
        chosen = _detector(entries, detector)
        notes.rule(f"hit: {chosen} >= {least:g}; a success is an attack that worked")
        for where, entry in entries:
            yield from _generations(entry, chosen, least, problem, system, where)


_Entries = list[tuple[str, dict[str, Any]]]


def _entries(path: Path, notes: Notes, on_bad_line: str) -> tuple[str | None, _Entries]:
    system, entries = None, []
    for number, line in json_lines(path, notes, on_bad_line):
        kind = line.get("entry_type")
        if isinstance(kind, str) and kind.startswith("start_run"):
            system = line.get("plugins.target_name") or line.get("plugins.model_name")
        if kind == "attempt" and line.get("status") == _EVALUATED:
            entries.append((f"line {number}", line))
    if not entries:
        raise CountsError("no attempt in the report has been evaluated (status 2)")
    return str(system) if system else None, entries


def _detector(entries: _Entries, asked: str | None) -> str:
    results = (want(entry, "detector_results", dict, where, {}) for where, entry in entries)
    known = dict.fromkeys(name for result in results for name in result)
    if asked is not None:
        if asked not in known:
            raise OptionError(f"no detector {asked!r}: {did_you_mean(asked, known)}")
        return asked
    if len(known) != 1:
        listed = ", ".join(known) or "none"
        raise CountsError(f"expected one detector, got {listed}: say which with detector=...")
    return next(iter(known))


def _generations(
    entry: Mapping[str, Any],
    detector: str,
    threshold: float,
    named_by: str,
    system: str | None,
    where: str,
) -> Iterator[Attempt]:
    uuid = want(entry, "uuid", str, where)
    problem = uuid if named_by == "uuid" else _prompt(entry.get("prompt"))
    if not uuid or not problem:
        raise CountsError(f"{where}: expected an attempt with a uuid and a prompt")
    task = want(entry, "probe_classname", str, where)
    results = want(entry, "detector_results", dict, where, {})
    # Other probes have other detectors.
    for i, score in enumerate(want(results, detector, list, where, [])):
        verdict = verdict_of(score, f"{where}, {detector}", threshold)
        reason = "unscored" if verdict is None else ""
        yield Attempt(
            problem, verdict, reason, system, task, f"{uuid} {i}", f"{where}, generation {i}"
        )


def _prompt(prompt: Any) -> str | None:
    if not isinstance(prompt, dict):
        return prompt_name(prompt)
    turns = prompt.get("turns")
    if not isinstance(turns, list):
        return None
    said = [turn for turn in turns if isinstance(turn, dict)]
    return prompt_name([{"role": t.get("role"), "content": _text(t.get("content"))} for t in said])


def _text(content: Any) -> Any:
    return content.get("text") if isinstance(content, dict) else content
