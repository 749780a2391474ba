"""Planning a round: by one process at a time, outside of transactions, queued whole or not."""

__all__ = ["Planner", "Standpoint"]

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
import pandas as pd
import sqlalchemy as sa
import xarray as xr

from bayes_passk.campaign import store
from bayes_passk.campaign.database import Database
from bayes_passk.errors import CampaignError
from bayes_passk.rules import find_rule
from bayes_passk.standing import Standing

# A planner that died is replaced after so many seconds; a living one says so more often.
_PLANNING_LEASE = 20.0
_NO_CAP = 2**53


@dataclass(frozen=True)
class Standpoint:
    """A campaign's pairs and what became of their attempts, laid out over (system, problem).

    Parameters
    ----------
    row : Row
        The campaign.
    table : pandas.DataFrame
        Its pairs.
    tally : Tally
        Their attempts by state.
    """

    row: store.Row
    table: pd.DataFrame
    tally: store.Tally

    @property
    def systems(self) -> list[str]:
        """Systems, in their order."""
        return list(dict.fromkeys(self.table["system"]))

    @property
    def problems(self) -> list[str]:
        """Problems, in their order."""
        return list(dict.fromkeys(self.table["problem"]))

    @property
    def place(self) -> tuple[np.ndarray, np.ndarray]:
        """Index of the system and of the problem of each pair."""
        systems = pd.Index(self.systems).get_indexer(self.table["system"])
        return systems, pd.Index(self.problems).get_indexer(self.table["problem"])

    def laid_out(self, values: np.ndarray, empty: float = 0) -> np.ndarray:
        """Values of the pairs over (system, problem); ``empty`` where there is no pair."""
        grid = np.full(
            (len(self.systems), len(self.problems)), empty, dtype=np.asarray(values).dtype
        )
        grid[self.place] = values
        return grid

    @property
    def told(self) -> int:
        """Attempts told."""
        return int(sum(self.tally.of(s).sum() for s in ("passed", "failed", "error", "timeout")))

    def counts(self, path: str) -> xr.Dataset:
        """Counts by the campaign's policy for errors and timeouts, with their provenance."""
        settings = self.row.settings
        failed = self.tally.of("failed").copy()
        dropped = {}
        for state, policy in (("error", settings.on_error), ("timeout", settings.on_timeout)):
            if policy == "fail":
                failed += self.tally.of(state)
            elif number := int(self.tally.of(state).sum()):
                dropped[state] = number
        passed = self.tally.of("passed")
        n = self.table["n_attempts"].to_numpy() + passed + failed
        c = self.table["n_successes"].to_numpy() + passed
        # Before the first outcome these are counts of nothing, which others refuse.
        counts = xr.Dataset(
            {
                "n_attempts": (("system", "problem"), self.laid_out(n)),
                "n_successes": (("system", "problem"), self.laid_out(c)),
            },
            coords={
                "system": np.array(self.systems, dtype=object),
                "problem": np.array(self.problems, dtype=object),
            },
        )
        file = {"path": path, "format": "campaign", "n_attempts": int(n.sum()), "dropped": dropped}
        provenance = {"files": [file], "dropped": dropped, "warnings": []}
        return counts.assign_attrs(provenance=json.dumps(provenance))

    def standing(self, counts: xr.Dataset, posterior: Callable[[], xr.DataTree]) -> Standing:
        """What a rule needs to know."""
        made = self.tally.by_pair.sum(axis=1)
        caps = self.table["cap"].astype(float).fillna(_NO_CAP).to_numpy().astype(np.int64)
        return Standing(
            counts=counts,
            pending=self.laid_out(self.tally.of("queued") + self.tally.of("out")),
            cost=self.laid_out(self.table["cost"].to_numpy(), 1.0),
            room=self.laid_out(np.maximum(caps - made, 0)),
            k=self.row.settings.k,
            target=self.row.settings.target,
            posterior=posterior,
        )


class Planner:
    """Plans rounds of a campaign, while it holds the planning lease.

    Parameters
    ----------
    database : Database
        Where the campaign is.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._me = uuid4().hex

    @contextmanager
    def claim(self, row: store.Row) -> Iterator[bool]:
        """Hold the planning lease if it is free, and keep it alive; yields whether it is held."""
        held = self._database.run(lambda c: self._claimed(c, row))
        if not held:
            yield False
            return
        done = threading.Event()
        keeper = threading.Thread(target=self._keep, args=(row, done), daemon=True)
        keeper.start()
        try:
            yield True
        finally:
            done.set()
            keeper.join()
            self._database.run(lambda c: store.release_planning(c, row, self._me))

    def _claimed(self, connection: sa.Connection, row: store.Row) -> bool:
        now = self._database.now(connection)
        return store.claim_planning(connection, row, self._me, now, now + _PLANNING_LEASE)

    def _keep(self, row: store.Row, done: threading.Event) -> None:
        # Where the store is gone the lease ends, and with it the right to add the round.
        with suppress(CampaignError):
            while not done.wait(_PLANNING_LEASE / 4):
                self._database.run(
                    lambda c: store.renew_planning(
                        c, row, self._me, self._database.now(c) + _PLANNING_LEASE
                    )
                )

    def plan(
        self,
        standpoint: Standpoint,
        counts: xr.Dataset,
        posterior: Callable[[], xr.DataTree],
        width: Callable[[], float | None],
    ) -> bool:
        """Plan a round and queue it; False where there is nothing more to ask for.

        Nothing is queued where the planning lease was lost: somebody else then plans.
        The first round is even, as is any before there is an attempt to learn from.
        """
        row = standpoint.row
        standing = standpoint.standing(counts, posterior)
        made = int(counts["n_attempts"].values.sum())
        first = row.round == 0 and made < standing.room.size
        even = first or made == 0
        rng = np.random.default_rng([row.settings.random_seed, row.round])
        batch = _batch(standpoint, first)
        plan = find_rule("uniform" if even else row.settings.rule)(standing, batch, rng)
        of_pair = plan[standpoint.place]
        if not of_pair.any():
            return False
        order = _ordered(of_pair, rng)
        cost = float(of_pair @ standpoint.table["cost"].to_numpy())
        now_wide = None if even else width()
        self._database.run(
            lambda c: store.add_round(
                c, row, self._me, order, cost, standpoint.told, now_wide, self._database.now(c)
            )
        )
        return True


def _ordered(of_pair: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    # Each pair once before any twice, so that a round that is cut short is an even one.
    pair = np.repeat(np.arange(len(of_pair)), of_pair)
    nth = np.arange(len(pair)) - np.repeat(np.cumsum(of_pair) - of_pair, of_pair)
    return pair[np.lexsort((rng.random(len(pair)), nth))]


def _batch(standpoint: Standpoint, first: bool) -> float:
    row, cost = standpoint.row, standpoint.table["cost"].to_numpy()
    # The first round tries every problem once if the budget allows, any other the dearest.
    least = float(cost.sum() if first else cost.max())
    return min(max(row.settings.batch, least), row.budget - row.spent)
