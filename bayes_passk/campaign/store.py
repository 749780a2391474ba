"""What is written and read in one transaction each; every function may run twice."""

__all__ = [
    "Row",
    "Tally",
    "add_round",
    "claim_planning",
    "create",
    "finish",
    "give_back",
    "hand_out",
    "has_open",
    "history",
    "keep_fit",
    "kept_fit",
    "names",
    "pairs_of",
    "release_planning",
    "renew",
    "renew_planning",
    "row_of",
    "tally",
    "tell",
]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from bayes_passk.campaign.records import Attempt, Settings, Told
from bayes_passk.campaign.schema import attempts, campaigns, pairs, rounds
from bayes_passk.campaign.texts import storable
from bayes_passk.errors import CampaignError, UnknownNameError, did_you_mean

STATES = ("queued", "out", "passed", "failed", "error", "timeout")
_TOLD = ("passed", "failed", "error", "timeout")
_LONGEST_DETAIL = 2_000
_MANY = 500


@dataclass(frozen=True)
class Row:
    """A campaign as the store has it."""

    id: int
    name: str
    token: str
    settings: Settings
    budget: float
    spent: float
    round: int
    finished: str | None


@dataclass(frozen=True)
class Tally:
    """How many attempts of each pair are in each state, shape (pair, state)."""

    by_pair: np.ndarray
    handed_out: int

    def of(self, state: str) -> np.ndarray:
        """Attempts of each pair in a state."""
        return self.by_pair[:, STATES.index(state)]


def create(
    connection: sa.Connection,
    name: str,
    token: str,
    settings: Settings,
    budget: float,
    table: pd.DataFrame,
) -> None:
    """Write a new campaign with its pairs.

    Raises
    ------
    CampaignError
        There is one of this name.
    """
    found = connection.execute(
        sa.select(campaigns.c.token).where(campaigns.c.name == name)
    ).scalar()
    if found == token:
        return  # written before the connection was lost
    if found is not None:
        raise CampaignError(
            f"a campaign named {name!r} is there already: open it, or take another name"
        )
    values = {"name": name, "token": token, "settings": settings.to_json(), "budget": budget}
    made = connection.execute(campaigns.insert().values(values | {"spent": 0.0, "round": 0}))
    assert made.inserted_primary_key is not None
    key = made.inserted_primary_key[0]
    rows = [
        {
            "campaign": key,
            "number": number,
            "system": row.system,
            "problem": row.problem,
            "cost": float(row.cost),
            "cap": None if np.isnan(row.max_attempts) else int(row.max_attempts),
            "n_attempts": int(row.n_attempts),
            "n_successes": int(row.n_successes),
        }
        for number, row in enumerate(table.itertuples(index=False))
    ]
    connection.execute(pairs.insert(), rows)


def row_of(connection: sa.Connection, name: str) -> Row:
    """Find a campaign by its name.

    Raises
    ------
    UnknownNameError
        There is none of this name.
    """
    name = storable(name)
    columns = [c for c in campaigns.c if c.name not in ("fit", "planner", "planning_until")]
    found = (
        connection.execute(sa.select(*columns).where(campaigns.c.name == name)).mappings().first()
    )
    if found is None:
        known = connection.execute(sa.select(campaigns.c.name)).scalars().all()
        hint = did_you_mean(name, known) if known else "there is none yet"
        raise UnknownNameError(f"no campaign named {name!r} in this store: {hint}")
    values = {
        key: found[key] for key in ("id", "name", "token", "budget", "spent", "round", "finished")
    }
    return Row(settings=Settings.from_json(found["settings"]), **values)


def names(connection: sa.Connection) -> list[str]:
    """Names of all campaigns, in the order they were made."""
    query = sa.select(campaigns.c.name).order_by(campaigns.c.id)
    return list(connection.execute(query).scalars())


def pairs_of(connection: sa.Connection, campaign: int) -> pd.DataFrame:
    """Pairs of a campaign, in their order."""
    query = sa.select(pairs).where(pairs.c.campaign == campaign).order_by(pairs.c.number)
    return pd.DataFrame(
        connection.execute(query).mappings().all(), columns=[c.name for c in pairs.c]
    )


def hand_out(
    connection: sa.Connection,
    row: Row,
    n: int,
    worker: str | None,
    now: float,
    *,
    skip_locked: bool,
) -> list[Attempt]:
    """Lease attempts: first those that came back, then the queue in its order."""
    came_back = sa.and_(attempts.c.state == "out", attempts.c.lease_until < now)
    picked: list[Any] = []
    for waiting in (came_back, attempts.c.state == "queued"):
        query = (
            sa.select(attempts.c.number, pairs.c.system, pairs.c.problem)
            .join(
                pairs,
                sa.and_(pairs.c.campaign == attempts.c.campaign, pairs.c.number == attempts.c.pair),
            )
            .where(attempts.c.campaign == row.id, waiting)
            .order_by(attempts.c.number)
            .limit(n - len(picked))
        )
        if skip_locked:
            query = query.with_for_update(skip_locked=True, of=attempts)
        if len(picked) < n:
            picked += connection.execute(query).all()
    leased = {
        "state": "out",
        "lease_until": now + row.settings.lease,
        "worker": None if worker is None else storable(str(worker)),
        "leases": attempts.c.leases + 1,
    }
    _update(connection, row, [found.number for found in picked], leased)
    return [Attempt(f"{row.token}-{f.number}", f.system, f.problem) for f in picked]


def tell(
    connection: sa.Connection, row: Row, outcomes: Sequence[Mapping[str, Any]], now: float
) -> Told:
    """Record outcomes: ``number``, ``state`` and ``detail``; the first of each attempt stays."""
    accepted, repeated, rejected = 0, 0, []
    for outcome in outcomes:
        mine = sa.and_(attempts.c.campaign == row.id, attempts.c.number == outcome["number"])
        values = {
            "state": outcome["state"],
            "told_at": now,
            "detail": storable((outcome["detail"] or "")[:_LONGEST_DETAIL]) or None,
            "lease_until": None,
        }
        changed = attempts.update().where(mine, attempts.c.state == "out").values(values)
        if connection.execute(changed).rowcount:
            accepted += 1
        elif connection.execute(sa.select(attempts.c.state).where(mine)).scalar() in _TOLD:
            repeated += 1
        else:
            rejected.append({"attempt": outcome["attempt"], "reason": "was never handed out"})
    return Told(accepted, repeated, rejected)


def give_back(connection: sa.Connection, row: Row, numbers: Sequence[int]) -> None:
    """End leases, so that the attempts are handed out again at once."""
    _update(connection, row, numbers, {"lease_until": 0.0}, only_out=True)


def renew(connection: sa.Connection, row: Row, numbers: Sequence[int], now: float) -> None:
    """Lengthen leases from now on."""
    _update(connection, row, numbers, {"lease_until": now + row.settings.lease}, only_out=True)


def _update(
    connection: sa.Connection,
    row: Row,
    numbers: Sequence[int],
    values: Mapping[str, Any],
    *,
    only_out: bool = False,
) -> None:
    for start in range(0, len(numbers), _MANY):
        chosen = attempts.c.number.in_(list(numbers[start : start + _MANY]))
        states = attempts.c.state == "out" if only_out else attempts.c.state.not_in(_TOLD)
        where = sa.and_(attempts.c.campaign == row.id, chosen, states)
        connection.execute(attempts.update().where(where).values(**values))


def tally(connection: sa.Connection, row: Row, n_pairs: int) -> Tally:
    """Count attempts by pair and state."""
    query = (
        sa.select(attempts.c.pair, attempts.c.state, sa.func.count())
        .where(attempts.c.campaign == row.id)
        .group_by(attempts.c.pair, attempts.c.state)
    )
    counted = np.zeros((n_pairs, len(STATES)), dtype=np.int64)
    for pair, state, number in connection.execute(query):
        counted[pair, STATES.index(state)] = number
    handed_out = connection.execute(
        sa.select(sa.func.count()).where(attempts.c.campaign == row.id, attempts.c.leases > 0)
    ).scalar_one()
    return Tally(counted, int(handed_out))


def has_open(connection: sa.Connection, row: Row) -> bool:
    """Whether an attempt waits to be made or told."""
    waiting = sa.select(attempts.c.number).where(
        attempts.c.campaign == row.id, attempts.c.state.in_(("queued", "out"))
    )
    return connection.execute(waiting.limit(1)).first() is not None


def claim_planning(
    connection: sa.Connection, row: Row, planner: str, now: float, until: float
) -> bool:
    """Become the one who plans the next round, if nobody is or whoever was has gone."""
    free = sa.or_(campaigns.c.planner.is_(None), campaigns.c.planning_until < now)
    claimed = connection.execute(
        campaigns.update()
        .where(campaigns.c.id == row.id, campaigns.c.round == row.round, free)
        .values(planner=planner, planning_until=until)
    )
    return claimed.rowcount == 1


def renew_planning(connection: sa.Connection, row: Row, planner: str, until: float) -> None:
    """Stay the one who plans."""
    mine = sa.and_(campaigns.c.id == row.id, campaigns.c.planner == planner)
    connection.execute(campaigns.update().where(mine).values(planning_until=until))


def release_planning(connection: sa.Connection, row: Row, planner: str) -> None:
    """Let somebody else plan."""
    mine = sa.and_(campaigns.c.id == row.id, campaigns.c.planner == planner)
    connection.execute(campaigns.update().where(mine).values(planner=None, planning_until=None))


def add_round(
    connection: sa.Connection,
    row: Row,
    planner: str,
    order: np.ndarray,
    cost: float,
    told: int,
    width: float | None,
    now: float,
) -> None:
    """Queue a round's attempts, one for each pair in ``order``, if it is still ours to plan."""
    mine = sa.and_(
        campaigns.c.id == row.id, campaigns.c.planner == planner, campaigns.c.round == row.round
    )
    values = {
        "round": row.round + 1,
        "spent": campaigns.c.spent + cost,
        "planner": None,
        "planning_until": None,
    }
    if connection.execute(campaigns.update().where(mine).values(values)).rowcount != 1:
        return
    last = connection.execute(
        sa.select(sa.func.max(attempts.c.number)).where(attempts.c.campaign == row.id)
    ).scalar()
    first = 0 if last is None else int(last) + 1
    queued = {"campaign": row.id, "round": row.round + 1, "state": "queued", "leases": 0}
    if len(order):
        connection.execute(
            attempts.insert(),
            [queued | {"number": first + i, "pair": int(pair)} for i, pair in enumerate(order)],
        )
    connection.execute(
        rounds.insert().values(
            campaign=row.id, number=row.round + 1, made_at=now, told=told, width=width
        )
    )


def finish(connection: sa.Connection, row: Row, reason: str) -> None:
    """Hand out nothing more, and say why."""
    mine = sa.and_(campaigns.c.id == row.id, campaigns.c.finished.is_(None))
    connection.execute(campaigns.update().where(mine).values(finished=reason))


def keep_fit(connection: sa.Connection, row: Row, fit: bytes) -> None:
    """Keep the newest fit, for whoever goes on."""
    connection.execute(campaigns.update().where(campaigns.c.id == row.id).values(fit=fit))


def kept_fit(connection: sa.Connection, row: Row) -> bytes | None:
    """The newest fit that was kept."""
    return connection.execute(sa.select(campaigns.c.fit).where(campaigns.c.id == row.id)).scalar()


def history(connection: sa.Connection, row: Row) -> list[dict[str, Any]]:
    """How the width fell from round to round."""
    query = (
        sa.select(rounds.c.number, rounds.c.made_at, rounds.c.told, rounds.c.width)
        .where(rounds.c.campaign == row.id)
        .order_by(rounds.c.number)
    )
    names = ("round", "made_at", "told", "width")
    return [dict(zip(names, found, strict=True)) for found in connection.execute(query)]
