"""tau-bench and tau2-bench: trials of an agent at tasks of a domain."""

__all__ = ["TauReader"]

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError
from bayes_passk.readers.attempts import Attempt, AttemptPolicy, AttemptReader, Notes
from bayes_passk.readers.jsons import head, kind_of, parse_json, read_json, want
from bayes_passk.readers.naming import naming

_INDEX, _TRIALS = "results.json", "simulations"
_LOST = "infrastructure_error"
# <strategy>-<model>-<temperature>_range_...
_NAME = re.compile(r"(?:tool-calling|act|react|few-shot)-(.+?)-[\d.]+_range_")
_MOST = 10**6
_FIRST = re.compile(r'\s*\[\s*\{\s*"task_id"\s*:')


class TauReader(AttemptReader):
    """Reader of tau-bench's lists and tau2-bench's results; a reward of 1 is a success.

    What the agent did wrong (too many steps, too many errors) is a failure. A trial that crashed
    (written as reward 0 with an error by tau-bench, without a reward by tau2-bench) has no verdict,
    and its task stays in the benchmark.
    """

    name = "tau"
    title = "tau-bench and tau2-bench"
    versions = "tau-bench 1 lists; tau2-bench 2026, one file or `results.json` + `simulations/`"
    options = frozenset({"on_error", "on_missing", "on_duplicate", "tolerance"})
    defaults = AttemptPolicy(on_duplicate="merge")

    def sniff(self, path: Path) -> bool:
        """Whether it begins as a list of trials, or as tau2's results; or holds those in parts."""
        if path.is_dir():
            return (path / _TRIALS).is_dir() and _is_results(path / _INDEX)
        return path.is_file() and (_is_list(path) or _is_results(path))

    def attempts(self, path: Path, notes: Notes, *, tolerance: float = 1e-6) -> Iterator[Attempt]:
        """Yield the trials of a file, or of a folder in parts.

        Parameters
        ----------
        path : Path
            The results.
        notes : Notes
            Takes warnings and rules.
        tolerance : float
            How far from 1 a reward is still a success.
        """
        if not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
            raise OptionError(f"tolerance: expected a number from 0 to 1, got {tolerance!r}")
        notes.rule(f"passed: |reward - 1| <= {tolerance:g}")
        content = read_json(path / _INDEX if path.is_dir() else path)
        if isinstance(content, list):
            yield from _of_list(content, path, tolerance)
        else:
            yield from _of_results(content, path, notes, tolerance)


def _is_list(path: Path) -> bool:
    start = head(path)
    return _FIRST.match(start) is not None and '"reward"' in start and '"info"' in start


def _is_results(path: Path) -> bool:
    start = head(path) if path.is_file() and not path.is_symlink() else ""
    return start.lstrip().startswith("{") and '"agent_info"' in start and '"num_trials"' in start


def _of_list(content: list[Any], path: Path, tolerance: float) -> Iterator[Attempt]:
    named = _NAME.match(path.name)
    system = named[1] if named else None
    made: Counter[str] = Counter()
    for i, entry in enumerate(content):
        where = f"entry {i}"
        problem, trial = _task(entry, where), entry.get("trial", i)
        made[problem] += 1
        # A crash is written as a reward of 0.
        crashed = "error" in want(entry, "info", dict, where, {})
        verdict = None if crashed else _passed(entry, where, tolerance)
        # Another run of the same model has another time in its name.
        identity = f"{path.name} {trial}"
        reason = "error" if verdict is None else ""
        yield Attempt(problem, verdict, reason, system, None, identity, f"trial {trial}")
    yield from _never_made(made, max(made.values(), default=0), system, None)


def _of_results(content: Any, path: Path, notes: Notes, tolerance: float) -> Iterator[Attempt]:
    info = want(content, "info", dict, "the results", {})
    system = want(want(info, "agent_info", dict, "info", {}), "llm", str, "agent_info")
    about = want(info, "environment_info", dict, "info", {})
    domain = want(about, "domain_name", str, "environment_info")
    made = Counter(dict.fromkeys(_tasks(content), 0))
    for problem in made:
        notes.plan(problem, system, domain)
    for where, entry in _simulations(content, path):
        problem, trial = _task(entry, where), entry.get("trial", where)
        made[problem] += 1
        verdict = _verdict(entry, where, tolerance)
        identity = str(entry.get("id") or f"{path} {trial}")
        reason = "error" if verdict is None else ""
        yield Attempt(problem, verdict, reason, system, domain, identity, f"trial {trial}")
    yield from _never_made(made, want(info, "num_trials", int, "info", 0), system, domain)


def _never_made(
    made: Counter[str], planned: int, system: str | None, domain: str | None
) -> Iterator[Attempt]:
    for problem, number in made.items():
        if (count := min(planned, _MOST) - number) > 0:
            yield Attempt(problem, None, "missing", system, domain, count=count)


def _tasks(content: Any) -> Iterator[str]:
    for i, task in enumerate(want(content, "tasks", list, "the results", [])):
        problem = want(task, "id", object, f"task {i}")
        if problem is None:
            raise CountsError(f"task {i}: expected an id")
        yield str(problem)


def _simulations(content: Any, path: Path) -> Iterator[tuple[str, Any]]:
    inline = want(content, "simulations", list, "the results", [])
    yield from ((f"simulation {i}", entry) for i, entry in enumerate(inline))
    folder = (path if path.is_dir() else path.parent) / _TRIALS
    # In parts, the results hold an index, and each simulation has its own file.
    if "simulation_index" in content and not inline:
        for file in sorted(folder.glob("*.json")):
            if not file.is_symlink():
                with naming(file):
                    entry = parse_json(file.read_bytes())
                yield file.stem, entry


def _task(entry: Any, where: str) -> str:
    problem = want(entry, "task_id", object, where)
    if problem is None or isinstance(problem, dict | list):
        raise CountsError(f"{where}: expected a task_id, got {kind_of(problem)}")
    return str(problem)


def _verdict(entry: Any, where: str, tolerance: float) -> bool | None:
    reward = want(entry, "reward_info", dict, where)
    if reward is None or entry.get("termination_reason") == _LOST:
        return None
    return _passed(reward, where, tolerance)


def _passed(entry: Any, where: str, tolerance: float) -> bool | None:
    reward = want(entry, "reward", object, where)
    if reward is None:
        return None
    if not isinstance(reward, int | float):
        raise CountsError(f"{where}: expected a reward, got {kind_of(reward)}")
    return None if math.isnan(reward) else abs(reward - 1) <= tolerance
