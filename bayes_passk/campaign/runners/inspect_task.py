"""Inspect AI's side of a run: what a task holds, evaluating it, and hearing each sample end."""

__all__ = ["About", "about", "evaluate"]

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

from bayes_passk.campaign.runners.masking import masked
from bayes_passk.errors import CampaignError, MissingExtraError, OptionError

_listeners: list[Callable[[Any], None]] = []


@dataclass(frozen=True)
class About:
    """A task as it says of itself.

    Parameters
    ----------
    name : str
        Its name.
    problems : sequence of str
        Ids of its samples.
    scorers : sequence of str
        Names of its scorers.
    """

    name: str
    problems: Sequence[str]
    scorers: Sequence[str]


def about(task: Any, task_args: Mapping[str, Any]) -> About:
    """Load a task, without running it.

    Raises
    ------
    MissingExtraError
        Inspect AI is not installed.
    CampaignError
        The task cannot be loaded.
    OptionError
        There are several tasks.
    """
    with TemporaryDirectory() as folder:
        logs = _call(
            task,
            model="mockllm/model",
            run_samples=False,
            log_dir=folder,
            display="none",
            task_args=dict(task_args),
        )
    if len(logs) != 1:
        names = ", ".join(log.eval.task for log in logs)
        raise OptionError(f"task: expected one task, got {names}: name one, FILE.py@TASK")
    spec = logs[0].eval
    scorers = [scorer.name for scorer in spec.scorers or []]
    return About(spec.task, [str(i) for i in spec.dataset.sample_ids or []], scorers)


def evaluate(task: Any, ended: Callable[[Any], None], **options: Any) -> None:
    """Run a task's ``eval``; ``ended`` is called with each sample as it ends.

    Raises
    ------
    CampaignError
        Inspect refuses, or stopped before the end.
    KeyboardInterrupt
        It was stopped by Ctrl-C.
    """
    with _heard_by(ended):
        logs = _call(task, **options)
    # Stopped early enough, there is not even a log.
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    [log] = logs
    if log.status != "success":
        said = masked(log.error.message) if log.error else f"status {log.status!r}"
        raise CampaignError(f"Inspect stopped: {said}")


def _call(task: Any, **options: Any) -> list[Any]:
    try:
        import inspect_ai
    except ImportError:
        raise MissingExtraError(
            "Inspect AI is needed: pip install 'bayes-passk[inspect]'"
        ) from None
    try:
        # Standard output is for results.
        with redirect_stdout(sys.stderr):
            return list(inspect_ai.eval(_relative(task), score_display=False, **options))
    except Exception as error:
        said = re.sub(r"\[/?bold\]", "", str(error))
        raise CampaignError(f"Inspect: {masked(said)}") from error


def _relative(task: Any) -> Any:
    # Inspect looks for a file by a pattern from the current folder.
    absolute = isinstance(task, str) and os.path.isabs(task)
    return os.path.relpath(task) if absolute else task


@contextmanager
def _heard_by(ended: Callable[[Any], None]) -> Iterator[None]:
    _register_hook()
    _listeners.append(ended)
    try:
        yield
    finally:
        _listeners.remove(ended)


@cache
def _register_hook() -> None:
    from inspect_ai.hooks import Hooks, SampleEnd, hooks

    @hooks(name="bayes_passk_campaign", description="Tells a campaign the outcome of each epoch.")
    class CampaignHook(Hooks):
        def enabled(self) -> bool:
            return bool(_listeners)

        async def on_sample_end(self, data: SampleEnd) -> None:
            for ended in _listeners:
                ended(data.sample)
