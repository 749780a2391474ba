"""The side of a run that talks to the campaign: asks, tells, renews leases, gives back."""

__all__ = ["Bookkeeper"]

import queue
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from bayes_passk.campaign.runners.outcomes import Outcome
from bayes_passk.campaign.runners.progress import Progress
from bayes_passk.campaign.runners.protocol import Asks, Made, Ran
from bayes_passk.errors import CampaignError

# So many errors in a row mean that something is wrong with all attempts, not with one.
_ERRORS_IN_A_ROW = 100
_LONGEST_WAIT = 3_600.0
_AT_ONCE = 500


class Bookkeeper:
    """Attempts in hand, from asking to telling; a context that leaves none behind.

    Outcomes are told, and leases renewed at a third of their length, in a thread of its own, so
    that no attempt waits for the store. Leaving the context tells what is done and gives back what
    is not.

    Parameters
    ----------
    campaign : Asks
        The campaign.
    worker : str, optional
        Who asks.
    """

    def __init__(self, campaign: Asks, worker: str | None = None) -> None:
        self.ran = Ran()
        self._campaign, self._worker = campaign, worker
        self._lock = threading.Lock()
        self._in_hand: dict[str, Made] = {}
        self._closed = False
        self._done: queue.SimpleQueue[tuple[str, Outcome] | None] = queue.SimpleQueue()
        self._failure: Exception | None = None
        self._store_answers = True
        self._errors_in_a_row = 0
        self._renewing = campaign.lease / 3
        self._renew_at = time.monotonic() + self._renewing
        self._progress = Progress()
        self._thread = threading.Thread(target=self._keep, name="bookkeeper", daemon=True)

    def __enter__(self) -> Self:
        self._progress.start()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._close()
        finally:
            self._progress.stop()
        if error is None:
            self.check()

    def take(self, n: int) -> Sequence[Made]:
        """Ask for attempts; they are in hand until they are told."""
        attempts = self._campaign.ask(n, self._worker)
        with self._lock:
            if not self._closed:
                self._in_hand.update({attempt.id: attempt for attempt in attempts})
                return attempts
        self._campaign.give_back([attempt.id for attempt in attempts])
        return []

    def tell(self, attempt: Made, outcome: Outcome) -> None:
        """Hand over an outcome; it is told soon after."""
        wrong = outcome.error is not None and not outcome.timeout
        self._errors_in_a_row = self._errors_in_a_row + 1 if wrong else 0
        if self._errors_in_a_row >= _ERRORS_IN_A_ROW and self._failure is None:
            self._failure = CampaignError(
                f"stopped: {_ERRORS_IN_A_ROW} attempts in a row ended in errors, "
                f"the last: {outcome.error}"
            )
        self._done.put((attempt.id, outcome))

    def finished(self) -> bool:
        """Whether nothing more will be handed out."""
        return self._campaign.finished() is not None

    def check(self) -> None:
        """Raise what keeps the run from going on: the store is gone, or everything fails."""
        if self._failure is not None:
            raise self._failure

    def _close(self) -> None:
        with self._lock:
            self._closed = True
        self._done.put(None)
        self._thread.join()
        with self._lock:
            left = list(self._in_hand)
        if left and self._store_answers:
            self._campaign.give_back(left)

    def _keep(self) -> None:
        try:
            while self._step():
                pass
        except Exception as error:
            self._store_answers = False
            self._failure = error

    def _step(self) -> bool:
        done, open_still = self._drain(self._renew_at - time.monotonic())
        if done:
            self._record(done)
        if time.monotonic() >= self._renew_at:
            with self._lock:
                held = list(self._in_hand)
            if held:
                self._campaign.renew(held)
            self._renew_at = time.monotonic() + self._renewing
        return open_still

    def _drain(self, patience: float) -> tuple[dict[str, Outcome], bool]:
        # Whatever came in while the store was busy is told together.
        done: dict[str, Outcome] = {}
        try:
            item = self._done.get(timeout=min(max(patience, 0), _LONGEST_WAIT))
            while item is not None:
                done[item[0]] = item[1]
                if len(done) == _AT_ONCE:
                    return done, True
                item = self._done.get_nowait()
        except queue.Empty:
            return done, True
        return done, False

    def _record(self, done: dict[str, Outcome]) -> None:
        told = self._campaign.tell_many([outcome.of(attempt) for attempt, outcome in done.items()])
        with self._lock:
            for attempt in done:
                self._in_hand.pop(attempt, None)
        outcomes = done.values()
        self.ran = Ran(
            told=self.ran.told + len(done),
            passed=self.ran.passed + sum(o.passed is True for o in outcomes),
            errors=self.ran.errors + sum(o.error is not None and not o.timeout for o in outcomes),
            timeouts=self.ran.timeouts + sum(o.timeout for o in outcomes),
        )
        self._progress.show(self.ran)
        if told.rejected:
            wrong = told.rejected[0]
            raise CampaignError(f"attempt {wrong['attempt']!r:.80}: {wrong['reason']}")
