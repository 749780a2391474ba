"""A Python function as the maker of attempts."""

__all__ = ["run_function"]

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from bayes_passk.campaign.runners.bookkeeper import Bookkeeper
from bayes_passk.campaign.runners.dispatch import (
    check_numbers,
    dispatch,
    in_thread,
    run_on_loop,
)
from bayes_passk.campaign.runners.outcomes import TIMED_OUT, Outcome, error_of, verdict_of
from bayes_passk.campaign.runners.protocol import Asks, Made, Ran
from bayes_passk.errors import OptionError


def run_function(
    campaign: Asks,
    function: Callable[[Any], Any],
    *,
    concurrency: int = 1,
    timeout: float | None = None,
    retries: int = 2,
    backoff: float = 1.0,
    worker: str | None = None,
) -> Ran:
    """Make a campaign's attempts with a function until the campaign is finished.

    An exception is tried again, and becomes an error when it comes back; what is neither True nor
    False is an error that quotes it; neither ends the run, 100 errors in a row do. Ctrl-C does:
    outcomes are told, the other attempts given back, and KeyboardInterrupt is raised. A later run
    goes on from there.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    function : callable
        Takes an attempt (``id``, ``system``, ``problem``), returns whether it passed. A plain
        function runs in threads; an async one is awaited, all on one event loop.
    concurrency : int
        Attempts at a time.
    timeout : float, optional
        Seconds for one try. An async function is cancelled then. A thread cannot be stopped: it is
        left to itself, and its result ignored.
    retries : int
        Times an attempt that raised is tried again.
    backoff : float
        Seconds before the first of these; doubled each time.
    worker : str, optional
        Who asks, for the campaign's record.

    Returns
    -------
    Ran
        What this run told.

    Raises
    ------
    OptionError
        A number cannot be, or the function is none.
    CampaignError
        The store does not answer, or 100 attempts in a row ended in errors.

    Examples
    --------
    >>> from bayes_passk import Campaign
    >>> path = getfixture("tmp_path") / "evaluation.db"
    >>> campaign = Campaign.create(path, ["easy", "hard"], budget=20, k=10, rule="uniform")
    >>> run_function(campaign, lambda attempt: attempt.problem == "easy", concurrency=4)
    Ran(told=20, passed=10, errors=0, timeouts=0)
    """
    check_numbers(concurrency=concurrency, timeout=timeout, retries=retries, backoff=backoff)
    if not callable(function):
        raise OptionError(f"function: expected a callable, got {function!r:.80}")
    make = partial(_make, function, timeout, retries, backoff)
    with Bookkeeper(campaign, worker) as book:
        run_on_loop(dispatch(book, make, concurrency))
    return book.ran


async def _make(
    function: Callable[[Any], Any],
    timeout: float | None,
    retries: int,
    backoff: float,
    attempt: Made,
) -> Outcome:
    outcome = Outcome()
    for trial in range(retries + 1):
        if trial:
            await asyncio.sleep(backoff * 2 ** (trial - 1))
        try:
            async with asyncio.timeout(timeout) as limit:
                return verdict_of(await _call(function, attempt))
        except asyncio.CancelledError as error:
            # Ours, when the run is stopped; else the function's own, which is an error like others.
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            outcome = error_of(error)
        except Exception as error:
            if limit.expired():
                return TIMED_OUT
            outcome = error_of(error)
    return outcome


async def _call(function: Callable[[Any], Any], attempt: Made) -> Any:
    if _is_async(function):
        return await function(attempt)
    value = await in_thread(function, attempt)
    return await value if inspect.isawaitable(value) else value


def _is_async(function: Callable[[Any], Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )
