"""An Inspect AI task as the maker of attempts: rounds of ``eval``, each epoch of a sample one."""

__all__ = ["problems_of", "run_inspect"]

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from glob import escape
from typing import Any

from bayes_passk.campaign.runners.bookkeeper import Bookkeeper
from bayes_passk.campaign.runners.dispatch import LONGEST_PAUSE, SHORTEST_PAUSE
from bayes_passk.campaign.runners.inspect_task import About, about, evaluate
from bayes_passk.campaign.runners.masking import masked
from bayes_passk.campaign.runners.outcomes import Outcome
from bayes_passk.campaign.runners.protocol import Asks, Made, Ran
from bayes_passk.errors import CountsError, OptionError, UnknownNameError, did_you_mean

# Where problems differ in their number of attempts: so many calls, or powers of two.
_FEW_CALLS = 4
_OURS = ("sample_id", "epochs", "limit", "run_samples", "sample_shuffle")
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def run_inspect(
    campaign: Asks,
    task: Any,
    *,
    model: Any,
    log_dir: str | None = None,
    scorer: str | None = None,
    threshold: float = 1.0,
    batch: int | None = None,
    worker: str | None = None,
    **options: Any,
) -> Ran:
    """Make a campaign's attempts with an Inspect AI task until the campaign is finished.

    The campaign's problems are the task's sample ids (`problems_of`). In each round the samples
    that are to get the same number of attempts are evaluated together, with that number of epochs.
    Each epoch is told when it ends, so that Ctrl-C loses none that is done. A sample's error is an
    error; one that a limit stopped counts by its score.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    task : Task, callable or str
        One task, as Inspect's ``eval`` takes it: an object, ``file.py``, or ``file.py@name``.
    model : str, Model or mapping
        The model; for a campaign of several systems, the model of each system's name.
    log_dir : str, optional
        Folder of Inspect's logs, ``./logs`` by default.
    scorer : str, optional
        Which score decides, where the task has several.
    threshold : float
        A success is a value from here on; the letters C, P, I and N are 1, 0.5, 0 and 0.
    batch : int, optional
        Attempts of a round; by default the campaign's own.
    worker : str, optional
        Who asks, for the campaign's record.
    **options
        Other arguments of Inspect's ``eval``: ``max_samples``, ``time_limit``, ``retry_on_error``,
        ``task_args``, ``temperature`` and so on.

    Returns
    -------
    Ran
        What this run told.

    Raises
    ------
    MissingExtraError
        Inspect AI is not installed.
    OptionError
        An option is not for the caller to give, or a scorer or model has to be named.
    UnknownNameError
        The campaign has a problem that is no sample of the task, or there is no such scorer.
    CampaignError
        Inspect cannot run the task, or the store does not answer.
    """
    for name in _OURS:
        if name in options:
            raise OptionError(f"{name}: not expected; the campaign decides what is sampled")
    found = about(task, options.get("task_args", {}))
    _check_scorer(found, scorer)
    evaluation = _Evaluation(
        task, found, model, scorer, threshold, {"log_dir": log_dir, "display": "none"} | options
    )
    size = batch or max(1, int(getattr(getattr(campaign, "settings", None), "batch", 100)))
    with Bookkeeper(campaign, worker) as book:
        _run(book, evaluation, size)
    return book.ran


def problems_of(task: Any, *, task_args: Mapping[str, Any] | None = None) -> list[str]:
    """List a task's sample ids, which are the problems of its campaign.

    Parameters
    ----------
    task : Task, callable or str
        One task, as Inspect's ``eval`` takes it.
    task_args : mapping, optional
        Its arguments.

    Raises
    ------
    MissingExtraError
        Inspect AI is not installed.
    CampaignError
        The task cannot be loaded.
    OptionError
        There are several tasks.

    Examples
    --------
    >>> from inspect_ai import Task
    >>> from inspect_ai.dataset import Sample
    >>> problems_of(Task(dataset=[Sample(input="1+1", id="sum"), Sample(input="2*2", id=7)]))
    ['sum', '7']
    """
    return list(about(task, task_args or {}).problems)


@dataclass(frozen=True)
class _Evaluation:
    task: Any
    about: About
    model: Any
    scorer: str | None
    threshold: float
    options: Mapping[str, Any]
    systems: set[str] = field(default_factory=set)

    def model_of(self, system: str) -> Any:
        self.systems.add(system)
        if not isinstance(self.model, Mapping):
            if len(self.systems) > 1:
                named = ", ".join(map(repr, sorted(self.systems)))
                raise OptionError(f"model: expected a mapping with a model for each of {named}")
            return self.model
        if system not in self.model:
            hint = did_you_mean(system, self.model)
            raise OptionError(f"model: expected one for the system {system!r}: {hint}")
        return self.model[system]

    def outcome(self, sample: Any) -> Outcome:
        if sample.error is not None:
            return Outcome(error=masked(sample.error.message) or "error")
        scores = sample.scores or {}
        name = self.scorer or next(iter(scores), None)
        if name not in scores:
            return Outcome(error="Inspect left no score")
        value = scores[name].value
        return self._judged(_LETTERS.get(value, value) if isinstance(value, str) else value)

    def _judged(self, value: Any) -> Outcome:
        from bayes_passk.readers.verdicts import verdict_of

        try:
            passed = verdict_of(value, "score", self.threshold)
        except CountsError as error:
            return Outcome(error=masked(str(error)))
        return Outcome(passed=passed) if passed is not None else Outcome(error="no verdict")


def _run(book: Bookkeeper, evaluation: _Evaluation, size: int) -> None:
    pause = SHORTEST_PAUSE
    while True:
        book.check()
        if attempts := book.take(size):
            _round(book, evaluation, attempts)
            pause = SHORTEST_PAUSE
        elif book.finished():
            return
        else:
            time.sleep(pause)
            pause = min(LONGEST_PAUSE, 2 * pause)


def _round(book: Bookkeeper, evaluation: _Evaluation, attempts: Sequence[Made]) -> None:
    by_system: dict[str, dict[str, list[Made]]] = defaultdict(lambda: defaultdict(list))
    for attempt in attempts:
        by_system[attempt.system][attempt.problem].append(attempt)
    for waiting in by_system.values():
        _check_problems(evaluation.about, waiting)
    models = {system: evaluation.model_of(system) for system in by_system}
    for system, waiting in by_system.items():
        for epochs, problems in _calls({name: len(w) for name, w in waiting.items()}):
            chosen = {name: [waiting[name].pop() for _ in range(epochs)] for name in problems}
            _evaluate(book, evaluation, models[system], chosen, epochs)


def _calls(numbers: Mapping[str, int]) -> list[tuple[int, list[str]]]:
    """Epochs and problems of each call, so that every problem gets its number of attempts."""
    calls = defaultdict(list)
    for problem, number in numbers.items():
        calls[number].append(problem)
    if len(calls) > _FEW_CALLS:
        calls.clear()
        for problem, number in numbers.items():
            for power in range(number.bit_length()):
                if number >> power & 1:
                    calls[1 << power].append(problem)
    return sorted(calls.items())


def _evaluate(
    book: Bookkeeper,
    evaluation: _Evaluation,
    model: Any,
    chosen: Mapping[str, Sequence[Made]],
    epochs: int,
) -> None:
    left = {
        (name, epoch): attempt
        for name, attempts in chosen.items()
        for epoch, attempt in enumerate(attempts, start=1)
    }

    def ended(sample: Any) -> None:
        # What was cancelled is not told: it is given back.
        cancelled = sample.error is not None and "Cancelled" in sample.error.message
        attempt = None if cancelled else left.pop((str(sample.id), sample.epoch), None)
        if attempt is not None:
            book.tell(attempt, evaluation.outcome(sample))

    from inspect_ai import Epochs

    # Ids are patterns to Inspect, and may have the task's name before them.
    ids = [f"{evaluation.about.name}:{escape(name)}" for name in chosen]
    evaluate(
        evaluation.task,
        ended,
        model=model,
        sample_id=ids,
        epochs=Epochs(epochs, "mean"),
        **({"fail_on_error": False} | dict(evaluation.options)),
    )
    for attempt in left.values():
        book.tell(attempt, Outcome(error="Inspect left no result of this sample"))


def _check_scorer(about: About, scorer: str | None) -> None:
    if scorer is None and len(about.scorers) > 1:
        names = ", ".join(about.scorers)
        raise OptionError(f"scorer: expected one of {names}, since the task has several")
    # A scorer's second score has a number at its end.
    if scorer is not None and not {scorer, scorer.rstrip("0123456789")} & {*about.scorers}:
        hint = did_you_mean(scorer, about.scorers)
        raise UnknownNameError(f"scorer: the task has none named {scorer!r}: {hint}")


def _check_problems(about: About, problems: Iterable[str]) -> None:
    known = set(about.problems)
    for problem in problems:
        if problem not in known:
            hint = did_you_mean(problem, known) if len(known) < 50 else ""
            raise UnknownNameError(f"the task {about.name!r} has no sample {problem!r}; {hint}")
