"""A campaign: ask for attempts, tell what became of them, and see where pass@k stands."""

__all__ = ["Campaign"]

import math
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from bayes_passk.campaign import store
from bayes_passk.campaign.checking import checked_budget, checked_name, checked_settings
from bayes_passk.campaign.database import Database, new_token
from bayes_passk.campaign.estimates import Estimates, Estimator
from bayes_passk.campaign.planning import Planner, Standpoint
from bayes_passk.campaign.problems import pairs_from
from bayes_passk.campaign.records import Attempt, Settings, Status, Told
from bayes_passk.campaign.texts import storable
from bayes_passk.errors import OptionError, UnknownNameError

_ROUNDS = 10
_LEASE = 900.0
_LONGEST_PAUSE = 1.0
_LAST_NUMBER = 2**31 - 1  # that the store can hold


class Campaign:
    """Attempts asked for and told, in a store that outlives the processes that make them.

    Made by `Campaign.create` or `Campaign.open`. Any number of processes may have it open.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "evaluation.db"
    >>> campaign = Campaign.create(path, ["p1", "p2"], budget=20, k=10)
    >>> attempts = campaign.ask(4)
    >>> sorted({attempt.problem for attempt in attempts})
    ['p1', 'p2']
    >>> [campaign.tell(attempt.id, attempt.problem == "p1") for attempt in attempts[:1]]
    ['accepted']
    >>> campaign.tell(attempts[0].id, True)
    'repeated'
    >>> campaign.status(estimate=False).told
    1
    """

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._row = database.read(lambda c: store.row_of(c, name))
        self._pairs = database.read(lambda c: store.pairs_of(c, self._row.id))
        self._planner = Planner(database)
        self._estimator = Estimator(database, self._row)

    @classmethod
    def create(
        cls,
        url: str | Path,
        problems: Any,
        *,
        name: str = "campaign",
        budget: float,
        k: int,
        target: str = "benchmark",
        rule: str = "variance_reduction",
        batch: float | None = None,
        lease: float = _LEASE,
        width: float | None = None,
        deadline: float | datetime | None = None,
        ci_prob: float = 0.9,
        on_error: str = "drop",
        on_timeout: str = "fail",
        variant: str = "beta_binomial",
        random_seed: int | None = None,
        **options: Any,
    ) -> "Campaign":
        """Start a campaign.

        Parameters
        ----------
        url : str or Path
            A file (SQLite), ``sqlite:///file.db`` or ``postgresql://user:password@host/name``.
        problems : path, data frame, counts, or iterable of ids
            What to try: a table with ``problem`` and, if wanted, ``system``, ``cost``,
            ``max_attempts``, and ``n_attempts`` and ``n_successes`` made before.
        name : str
            Tells campaigns of one store apart.
        budget : float
            Attempts in all; where problems have costs, their sum.
        k : int
            Attempts granted, of the pass@k that is wanted.
        target : {"benchmark", "difference", "any_success"}
            What is to become certain, as in `allocate`.
        rule : str
            Where to sample next, a name of `bayes_passk.rules`; the first round is even.
        batch : float, optional
            Cost of a round; a tenth of the budget by default.
        lease : float
            Seconds after which an attempt that was not told is handed out again.
        width : float, optional
            Stop when the interval of each system's pass@k is at most so wide. The interval is the
            posterior's, so that looking at it after each round does not spoil it.
        deadline : datetime or float, optional
            Stop then (a float: seconds since 1970).
        ci_prob : float
            Probability of the interval.
        on_error : {"drop", "fail"}
            Whether an attempt that ended in an error is none, or failed.
        on_timeout : {"fail", "drop"}
            The same of one that took too long.
        variant : str
            Variant of the fits; more keywords are its options.
        random_seed : int, optional
            Seed of plans and fits.

        Raises
        ------
        CampaignError
            The store cannot be opened, a campaign of this name is there, or the problems are none.
        OptionError
            A value is out of its range.
        UnknownNameError
            There is no such rule or variant.
        """
        table = pairs_from(problems)
        budget = checked_budget(budget, table)
        settings = checked_settings(
            table["system"].nunique(),
            k=k,
            target=target,
            rule=rule,
            batch=max(1.0, math.ceil(budget / _ROUNDS)) if batch is None else batch,
            lease=lease,
            width=width,
            deadline=deadline,
            ci_prob=ci_prob,
            on_error=on_error,
            on_timeout=on_timeout,
            variant=variant,
            options=options,
            random_seed=random_seed,
        )
        name = checked_name(name)
        database, token = Database(str(url), new=True), new_token()
        database.run(lambda c: store.create(c, name, token, settings, budget, table))
        return cls(database, name)

    @classmethod
    def open(cls, url: str | Path, name: str = "campaign") -> "Campaign":
        """Open a campaign that was created before.

        Raises
        ------
        CampaignError
            The store cannot be opened, or is of another schema.
        UnknownNameError
            It holds no campaign of this name.
        """
        return cls(Database(str(url)), name)

    @staticmethod
    def names(url: str | Path) -> list[str]:
        """Names of the campaigns of a store."""
        return Database(str(url)).read(store.names)

    @property
    def name(self) -> str:
        """Its name in the store."""
        return self._row.name

    @property
    def lease(self) -> float:
        """Seconds that a worker has for an attempt before it is handed out again."""
        return self._row.settings.lease

    @property
    def settings(self) -> Settings:
        """How it was set up."""
        return self._row.settings

    @property
    def problems(self) -> list[str]:
        """Ids of its problems."""
        return list(dict.fromkeys(self._pairs["problem"]))

    def ask(self, n: int = 1, worker: str | None = None) -> list[Attempt]:
        """Take attempts to make, at most ``n``.

        They are this caller's for the length of a lease. Fewer, or none, when the budget is used,
        a stop rule holds, or all that is left is out on lease.

        Raises
        ------
        OptionError
            ``n`` is no whole number above 0.
        CampaignError
            The store does not answer.
        """
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise OptionError(f"n: expected a whole number above 0, got {n!r}")
        taken: list[Attempt] = []
        pause = 0.02
        while True:
            taken += self._take(int(n) - len(taken), worker)
            if len(taken) == n or not self._may_plan():
                return taken
            if not self._plan():
                # Somebody else plans: the plan is worth waiting for.
                time.sleep(pause)
                pause = min(_LONGEST_PAUSE, 2 * pause)

    def tell(
        self,
        attempt: str,
        passed: bool | None = None,
        *,
        error: str | None = None,
        timeout: bool = False,
    ) -> str:
        """Tell the outcome of an attempt; when it returns, that is durable.

        Parameters
        ----------
        attempt : str
            Its id.
        passed : bool, optional
            The verdict; none where there is an error.
        error : str, optional
            What went wrong, where there is no verdict.
        timeout : bool
            It took too long, which is recorded apart from errors.

        Returns
        -------
        str
            ``accepted``, or ``repeated`` where it was told before: the first outcome stays.

        Raises
        ------
        UnknownNameError
            This campaign has handed out no such attempt.
        OptionError
            Both or neither of a verdict and an error, or a verdict that is no bool.
        """
        outcome = {"attempt": attempt, "passed": passed, "error": error, "timeout": timeout}
        given = {name: value for name, value in outcome.items() if value not in (None, False)}
        if passed is not None:
            given["passed"] = passed
        told = self.tell_many([{"attempt": attempt} | given])
        if told.rejected:
            reason = told.rejected[0]["reason"]
            kind = OptionError if reason.startswith("expected") else UnknownNameError
            raise kind(f"attempt {attempt!r:.80}: {reason}")
        return "accepted" if told.accepted else "repeated"

    def tell_many(self, outcomes: Sequence[Mapping[str, Any]]) -> Told:
        """Tell several outcomes in one transaction: mappings with the arguments of `tell`.

        Those that are wrong are rejected, each with its reason; the others count.
        """
        read, rejected = [], []
        for outcome in outcomes:
            try:
                read.append(self._read(outcome))
            except (OptionError, UnknownNameError) as error:
                rejected.append({"attempt": _named(outcome), "reason": str(error)})
        if not read:
            return Told(rejected=rejected)
        told = self._database.run(lambda c: store.tell(c, self._row, read, self._database.now(c)))
        return Told(told.accepted, told.repeated, [*rejected, *told.rejected])

    def give_back(self, attempts: Sequence[str]) -> None:
        """Return attempts that will not be made: they are handed out again at once."""
        numbers = [self._number(attempt) for attempt in attempts]
        self._database.run(lambda c: store.give_back(c, self._row, numbers))

    def renew(self, attempts: Sequence[str]) -> None:
        """Lengthen the lease of attempts that take long."""
        numbers = [self._number(attempt) for attempt in attempts]
        self._database.run(lambda c: store.renew(c, self._row, numbers, self._database.now(c)))

    def finished(self) -> str | None:
        """Why nothing more is handed out: ``budget``, ``width``, ``deadline``, ``rule``; or None.

        With the budget used, or a rule that asks for nothing more, only once all is told.
        """
        row = self._refreshed()
        if row.finished == "width":
            return "width"
        if self._past_deadline():
            return "deadline"
        if not row.finished and self._affordable(row):
            return None
        waits = self._database.read(lambda c: store.has_open(c, row))
        return None if waits else row.finished or "budget"

    def counts(self) -> xr.Dataset:
        """Counts of what was told, and of what was there before, by the policy for errors."""
        return self._standpoint().counts(self._database.shown)

    def fit(self) -> xr.DataTree:
        """Fit of the counts now, as `bayes_passk.fit` gives it.

        Raises
        ------
        CountsError
            No attempt was told yet.
        """
        return self._estimator.fit(self.counts())

    def status(self, *, estimate: bool = True) -> Status:
        """Where the campaign stands; with ``estimate``, pass@k too, which needs a fit."""
        standpoint = self._standpoint()
        tally, row = standpoint.tally, standpoint.row
        number = {state: int(tally.of(state).sum()) for state in store.STATES}
        counts = standpoint.counts(self._database.shown)
        known = estimate and bool(counts["n_attempts"].values.any())
        now = self._estimator.estimates(counts) if known else None
        if now and self._narrow(now):
            self._finish("width")
        return Status(
            budget=_plain(row.budget),
            handed_out=tally.handed_out,
            told=standpoint.told,
            passed=number["passed"],
            failed=number["failed"],
            errors=number["error"],
            timeouts=number["timeout"],
            outstanding=number["out"],
            spent=_plain(row.spent),
            rounds=row.round,
            estimate=now.overall if now else None,
            estimates=now.by_system if now else [],
            history=self._database.read(lambda c: store.history(c, row)),
            finished=self.finished(),
        )

    def close(self) -> None:
        """Close the store."""
        self._database.close()

    # Asking.

    def _take(self, n: int, worker: str | None) -> list[Attempt]:
        def take(connection: Any) -> list[Attempt]:
            self._row = row = store.row_of(connection, self._row.name)
            now = self._database.now(connection)
            if row.finished == "width" or _past(row, now):
                return []
            skip = self._database.locks_rows
            return store.hand_out(connection, row, n, worker, now, skip_locked=skip)

        return self._database.run(take)

    def _may_plan(self) -> bool:
        row = self._refreshed()
        return not row.finished and not self._past_deadline() and self._affordable(row)

    def _affordable(self, row: store.Row) -> bool:
        return row.budget - row.spent >= float(self._pairs["cost"].min()) * (1 - 1e-9)

    def _plan(self) -> bool:
        with self._planner.claim(self._row) as held:
            if not held:
                return False
            standpoint = self._standpoint()
            counts = standpoint.counts(self._database.shown)
            if self._stops_by_width(counts):
                return True
            planned = self._planner.plan(
                standpoint,
                counts,
                lambda: self._estimator.fit(counts),
                lambda: self._width(counts),
            )
            if not planned:
                self._finish("rule")
            return True

    def _stops_by_width(self, counts: xr.Dataset) -> bool:
        if self.settings.width is None or not counts["n_attempts"].values.any():
            return False
        narrow = self._narrow(self._estimator.estimates(counts))
        if narrow:
            self._finish("width")
        return narrow

    def _narrow(self, estimates: Estimates) -> bool:
        return self.settings.width is not None and estimates.width <= self.settings.width

    def _width(self, counts: xr.Dataset) -> float | None:
        # Rules without a model plan without a fit, however long one would take.
        return self._estimator.estimates(counts).width if self._estimator.has_fit else None

    def _finish(self, reason: str) -> None:
        self._database.run(lambda c: store.finish(c, self._row, reason))

    def _past_deadline(self) -> bool:
        return self.settings.deadline is not None and _past(
            self._row, self._database.read(self._database.now)
        )

    def _refreshed(self) -> store.Row:
        self._row = self._database.read(lambda c: store.row_of(c, self._row.name))
        return self._row

    def _standpoint(self) -> Standpoint:
        def read(connection: Any) -> Standpoint:
            row = store.row_of(connection, self._row.name)
            return Standpoint(row, self._pairs, store.tally(connection, row, len(self._pairs)))

        return self._database.read(read)

    # Telling.

    def _read(self, outcome: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(outcome, Mapping) or not isinstance(outcome.get("attempt"), str):
            raise OptionError("expected an object with attempt, and passed or error")
        passed, error = outcome.get("passed"), outcome.get("error")
        if (passed is None) == (error is None and not outcome.get("timeout")):
            raise OptionError("expected one of passed and error")
        if passed is not None and not isinstance(passed, bool | np.bool_):
            raise OptionError(f"expected passed to be true or false, got {passed!r:.60}")
        if error is not None and not isinstance(error, str):
            raise OptionError(f"expected error to be a text, got {error!r:.60}")
        if not isinstance(outcome.get("timeout", False), bool):
            raise OptionError(
                f"expected timeout to be true or false, got {outcome['timeout']!r:.60}"
            )
        state = "timeout" if outcome.get("timeout") else "error"
        if passed is not None:
            state = "passed" if passed else "failed"
        number = self._number(outcome["attempt"])
        return {"attempt": outcome["attempt"], "number": number, "state": state, "detail": error}

    def _number(self, attempt: str) -> int:
        token, _, number = str(attempt).rpartition("-")
        if not token or not number.isascii() or not number.isdigit() or len(number) > 15:
            raise UnknownNameError(f"no attempt {attempt!r:.80} was handed out by this campaign")
        if token != self._row.token:
            raise UnknownNameError(f"attempt {attempt!r:.80} is of another campaign")
        if int(number) > _LAST_NUMBER:
            raise UnknownNameError(f"attempt {attempt!r:.80} was never handed out")
        return int(number)


def _named(outcome: Any) -> str | None:
    attempt = outcome.get("attempt") if isinstance(outcome, Mapping) else None
    return storable(attempt[:80]) if isinstance(attempt, str) else None


def _past(row: store.Row, now: float) -> bool:
    return row.settings.deadline is not None and now >= row.settings.deadline


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number
