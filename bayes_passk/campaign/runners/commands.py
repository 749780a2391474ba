"""Any command as the maker of attempts: JSON lines in and out."""

__all__ = ["run_command"]

import asyncio
import shlex
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from bayes_passk.campaign.runners.bookkeeper import Bookkeeper
from bayes_passk.campaign.runners.child import Child, Ended
from bayes_passk.campaign.runners.dispatch import check_numbers, dispatch, run_on_loop
from bayes_passk.campaign.runners.outcomes import TIMED_OUT, Outcome, quoted
from bayes_passk.campaign.runners.protocol import Asks, Made, Ran
from bayes_passk.errors import CampaignError, OptionError

# So many processes that end without an answer, and none that ever gave one.
_MOST_DEATHS = 5


def run_command(
    campaign: Asks,
    command: str | Sequence[str],
    *,
    concurrency: int = 1,
    timeout: float | None = None,
    retries: int = 2,
    backoff: float = 1.0,
    worker: str | None = None,
) -> Ran:
    r"""Make a campaign's attempts with a command until the campaign is finished.

    Each of ``concurrency`` processes reads an attempt a line from its standard input,

    ``{"attempt": "4f1c-17", "system": "my model", "problem": "gsm8k/12"}``

    and answers with a line on its standard output before the next comes: ``{"attempt": "4f1c-17",
    "passed": true}``, or ``{"attempt": "4f1c-17", "error": "no connection"}``. Its standard error
    is passed on. At the end its input is closed, and it should end.

    A process that ends is started again, and the attempt it had is given to the new one; it becomes
    an error when that happens more than ``retries`` times. A line that is no answer is quoted in
    the error of its attempt, and the run goes on. Ctrl-C ends the processes, gives their attempts
    back, and raises KeyboardInterrupt.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    command : str or list of str
        Program and arguments; a text is split as a shell would, but no shell runs it.
    concurrency : int
        Processes.
    timeout : float, optional
        Seconds for an attempt; then the process is killed and the attempt told as a timeout.
    retries : int
        Times an attempt whose process ended is tried again.
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
        A number cannot be, or there is no command.
    CampaignError
        The command cannot be started, ends again and again without any answer, or 100 attempts in
        a row ended in errors; or the store does not answer.

    Examples
    --------
    >>> from bayes_passk import Campaign
    >>> path = getfixture("tmp_path") / "evaluation.db"
    >>> campaign = Campaign.create(path, ["easy", "hard"], budget=20, k=10, rule="uniform")
    >>> edit = r's/, "system.*(easy|hard).*/, "passed": \1}/; s/easy/true/; s/hard/false/'
    >>> run_command(campaign, ["sed", "-uE", edit], concurrency=2)
    Ran(told=20, passed=10, errors=0, timeouts=0)
    """
    check_numbers(concurrency=concurrency, timeout=timeout, retries=retries, backoff=backoff)
    program = _split(command)

    async def main(book: Bookkeeper) -> None:
        async with _Crew(program, timeout, retries, backoff) as crew:
            await dispatch(book, crew.make, concurrency)

    with Bookkeeper(campaign, worker) as book:
        run_on_loop(main(book))
    return book.ran


class _Crew:
    """The processes of a command: idle ones are used again, those that ended are replaced."""

    def __init__(
        self, command: Sequence[str], timeout: float | None, retries: int, backoff: float
    ) -> None:
        self._command = command
        self._timeout, self._retries, self._backoff = timeout, retries, backoff
        self._idle: list[Child] = []
        self._deaths = 0
        self._works = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.gather(*(child.stop() for child in self._idle))

    async def make(self, attempt: Made) -> Outcome:
        """Make an attempt with the next free process."""
        trial = 0
        while True:
            child = await self._free()
            try:
                return await self._answer(child, attempt)
            except Ended:
                # One that ends in peace after an answer is spent, not broken.
                spent = child.answered > 0 and child.exit_code == 0
                trial += not spent
                self._check(child)
                if trial > self._retries:
                    return Outcome(error=f"the command ended, {child.how_it_ended()}")
                await asyncio.sleep(0 if spent else self._backoff * 2 ** (trial - 1))

    async def _free(self) -> Child:
        while self._idle:
            child = self._idle.pop()
            if child.alive:
                return child
            await child.stop()
        return await Child.start(self._command)

    async def _answer(self, child: Child, attempt: Made) -> Outcome:
        try:
            async with asyncio.timeout(self._timeout) as limit:
                outcome = await child.make(attempt)
        except TimeoutError:
            assert limit.expired()
            await child.stop(grace=0)
            return TIMED_OUT
        except Ended:
            await child.stop()
            raise
        except BaseException:
            await child.stop(grace=0)
            raise
        self._works = self._works or child.answered > 0
        self._idle.append(child)
        return outcome

    def _check(self, child: Child) -> None:
        self._deaths += 1
        if not self._works and self._deaths >= _MOST_DEATHS:
            raise CampaignError(
                f"command {quoted(self._command[0])} ended {self._deaths} times without an answer; "
                f"the last time: {child.how_it_ended()}"
            )


def _split(command: str | Sequence[str]) -> list[str]:
    try:
        program = shlex.split(command) if isinstance(command, str) else [str(c) for c in command]
    except ValueError as error:
        raise OptionError(f"command: cannot be split into words: {error}") from error
    if not program or not program[0]:
        raise OptionError("command: expected a program and its arguments, got nothing")
    return program
