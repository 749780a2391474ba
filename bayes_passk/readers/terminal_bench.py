"""Terminal-Bench run folders, and the job folders of Harbor, which followed it."""

__all__ = ["TerminalBenchReader"]

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, ReadError
from bayes_passk.readers.attempts import Attempt, AttemptPolicy, AttemptReader, Notes
from bayes_passk.readers.jsons import head, kind_of, read_json, want
from bayes_passk.readers.naming import naming
from bayes_passk.readers.verdicts import check_threshold, verdict_of

_RUN, _TRIAL, _JOB = "results.json", "result.json", "config.json"
_REWARD = "reward"


class TerminalBenchReader(AttemptReader):
    """Reader of the verdict of each trial; a trial without one (null, no reward) is no attempt.

    The results of a run stand at its top and again with each trial: a trial counts once. One that
    has a reward counts, whatever exception is recorded beside it.
    """

    name = "terminal_bench"
    title = "Terminal-Bench and Harbor"
    versions = "tb `results.json`, Harbor `result.json`; run and job folders"
    options = frozenset({"on_error", "on_duplicate", "key", "threshold"})
    defaults = AttemptPolicy(on_duplicate="merge")

    def sniff(self, path: Path) -> bool:
        """Whether it is a run's or a job's folder, or one of their result files."""
        if path.is_dir():
            return _is_run(path / _RUN) or _is_job(path)
        return path.is_file() and (_is_run(path) or _is_trial(path) or _is_totals(path))

    def is_secondary(self, path: Path) -> bool:
        """Whether it holds a job's totals only."""
        return path.is_file() and _is_totals(path)

    def attempts(
        self, path: Path, notes: Notes, *, key: str | None = None, threshold: float = 1.0
    ) -> Iterator[Attempt]:
        """Yield the trials of a folder or a file.

        Parameters
        ----------
        path : Path
            A run's folder, a job's folder, or a result file.
        notes : Notes
            Takes warnings and rules.
        key : str, optional
            Name of the reward that decides, where Harbor's trials have several.
        threshold : float
            A reward is a success from here on.
        """
        check_threshold(threshold)
        trials = _named_systems(list(_trials(path, notes)))
        if not trials:
            raise CountsError("no trial has a result")
        sources = {trial.source for trial in trials if trial.source}
        for trial in trials:
            notes.plan(trial.problem, trial.system, trial.source if len(sources) > 1 else None)
            _say_agent(notes, trial)
            verdict, rule = _verdict(trial, key, threshold)
            if rule:
                notes.rule(rule)
            yield Attempt(
                trial.problem,
                verdict,
                "" if verdict is not None else "error",
                trial.system,
                trial.source if len(sources) > 1 else None,
                trial.identity,
                trial.where,
            )


@dataclass
class _Trial:
    problem: str
    system: str | None
    agent: str | None
    source: str | None
    identity: str
    where: str
    # True, false or null of Terminal-Bench; the rewards of Harbor.
    resolved: Any = None
    rewards: Mapping[str, Any] | None = None


def _is_run(path: Path) -> bool:
    start = head(path) if path.is_file() and not path.is_symlink() else ""
    return '"is_resolved"' in start and '"task_id"' in start


def _is_trial(path: Path) -> bool:
    start = head(path) if path.is_file() and not path.is_symlink() else ""
    return '"trial_name"' in start and '"task_name"' in start


def _is_totals(path: Path) -> bool:
    start = head(path, 2_000)
    return '"n_total_trials"' in start and '"stats"' in start


def _is_job(folder: Path) -> bool:
    # A job that was killed has no totals yet.
    marked = any((folder / name).is_file() for name in (_TRIAL, _JOB))
    return marked and not _is_trial(folder / _TRIAL) and any(_job_trials(folder))


def _job_trials(folder: Path) -> Iterator[Path]:
    return (place / _TRIAL for place in _folders(folder) if _is_trial(place / _TRIAL))


def _folders(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink())


def _trials(path: Path, notes: Notes) -> Iterator[_Trial]:
    if path.is_file():
        yield from _of_file(path, _about_run(path.parent) or _about_run(path.parent.parent.parent))
    elif _is_run(path / _RUN):
        yield from _of_run(path)
    else:
        yield from _of_job(path, notes)


def _of_file(path: Path, about: tuple[str | None, str | None] | None) -> Iterator[_Trial]:
    if _is_totals(path):
        raise ReadError("holds a job's totals only: give the job's folder")
    with naming(path):
        content = read_json(path)
        if _is_trial(path):
            yield _harbor(content, path)
            return
        several = isinstance(content, dict) and "results" in content
        trials = want(content, "results", list, "the file", []) if several else [content]
        for i, trial in enumerate(trials):
            yield _terminal_bench(trial, f"trial {i}", about or (None, None))


def _of_run(folder: Path) -> Iterator[_Trial]:
    about = _about_run(folder)
    seen = set()
    for trial in _of_file(folder / _RUN, about):
        seen.add(trial.identity)
        yield trial
    # A run that was stopped may have trials that its own list has not.
    for task in _folders(folder):
        for path in (place / _RUN for place in _folders(task)):
            if _is_run(path):
                yield from (t for t in _of_file(path, about) if t.identity not in seen)


def _of_job(folder: Path, notes: Notes) -> Iterator[_Trial]:
    default = _model_of_config(folder / _JOB)
    for place in _folders(folder):
        path = place / _TRIAL
        if not path.is_file():
            if "__" in place.name:
                notes.warn(f"{place.name} has no {_TRIAL}: not finished, no attempt")
            continue
        with naming(path):
            trial = _harbor(read_json(path), path)
        trial.system = trial.system or default
        yield trial


def _about_run(folder: Path) -> tuple[str | None, str | None] | None:
    about = _read_object(folder / "run_metadata.json")
    locked = _read_object(folder / "tb.lock").get("agent")
    agent = locked if isinstance(locked, dict) else {}
    model = about.get("model_name") or agent.get("model_name")
    name = about.get("agent_name") or agent.get("name")
    return (_text(model), _text(name)) if model or name else None


def _model_of_config(path: Path) -> str | None:
    agents = _read_object(path).get("agents")
    models = [a.get("model_name") for a in agents if isinstance(a, dict)] if agents else []
    return _text(models[0]) if len(models) == 1 else None


def _read_object(path: Path) -> dict[str, Any]:
    if not path.is_file() or path.is_symlink():
        return {}
    with naming(path):
        content = read_json(path)
    return content if isinstance(content, dict) else {}


def _terminal_bench(trial: Any, where: str, about: tuple[str | None, str | None]) -> _Trial:
    problem = want(trial, "task_id", str, where)
    if not problem:
        raise CountsError(f"{where}: expected a task_id")
    identity = trial.get("id") or trial.get("trial_name") or where
    place = f"trial {_text(trial.get('trial_name')) or where}"
    resolved = trial.get("is_resolved")
    if resolved is not None and not isinstance(resolved, bool):
        raise CountsError(
            f"{place}: expected is_resolved as true, false or null, got {kind_of(resolved)}"
        )
    return _Trial(problem, *about, None, str(identity), place, resolved)


def _harbor(trial: Any, path: Path) -> _Trial:
    where = f"trial {path.parent.name}"
    problem = want(trial, "task_name", str, where) or path.parent.name.rpartition("__")[0]
    if not problem:
        raise CountsError(f"{where}: expected a task_name")
    agent = want(trial, "agent_info", dict, where, {})
    model = want(agent, "model_info", dict, where, {})
    name = "/".join(str(model[part]) for part in ("provider", "name") if model.get(part))
    config = want(want(trial, "config", dict, where, {}), "agent", dict, where, {})
    result = want(trial, "verifier_result", dict, where, {})
    rewards = want(result, "rewards", dict, where, None)
    if rewards is None and result.get(_REWARD) is not None:
        rewards = {_REWARD: result[_REWARD]}
    return _Trial(
        problem,
        name or _text(config.get("model_name")),
        _text(agent.get("name")),
        _text(trial.get("source")),
        str(trial.get("id") or trial.get("trial_name") or path.parent.name),
        where,
        rewards=rewards or {},
    )


def _verdict(trial: _Trial, key: str | None, threshold: float) -> tuple[bool | None, str]:
    if trial.rewards is None:
        return trial.resolved, "passed: is_resolved"
    if not trial.rewards:
        return None, ""
    chosen = key or (_REWARD if _REWARD in trial.rewards else None)
    if chosen is None:
        if len(trial.rewards) > 1:
            names = ", ".join(map(str, trial.rewards))
            raise CountsError(f"{trial.where}: several rewards ({names}): say which with key=...")
        chosen = next(iter(trial.rewards))
    place = f"{trial.where}, reward {chosen!r}"
    return (
        verdict_of(trial.rewards.get(chosen), place, threshold),
        f"passed: reward {chosen!r} >= {threshold:g}",
    )


def _named_systems(trials: list[_Trial]) -> list[_Trial]:
    """Tell several agents of one model apart by the agent's name."""
    agents: dict[str | None, set[str | None]] = {}
    for trial in trials:
        agents.setdefault(trial.system, set()).add(trial.agent)
    for trial in trials:
        if len(agents[trial.system]) > 1 and trial.agent:
            trial.system = f"{trial.agent}: {trial.system}" if trial.system else trial.agent
    return trials


def _say_agent(notes: Notes, trial: _Trial) -> None:
    if not trial.agent or not trial.system:
        return
    start = f"system {trial.system!r}: agent "
    others = [rule for rule in notes.rules if rule.startswith(start)]
    notes.rule(start + repr(trial.agent))
    if others and start + repr(trial.agent) not in others:
        notes.warn(f"{start}s differ between folders: read them apart if they are not one system")


def _text(value: Any) -> str | None:
    return str(value) if value not in (None, "") else None
