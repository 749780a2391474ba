"""Tables of the store, their version, and what brings an older store up to it."""

__all__ = ["SCHEMA_VERSION", "attempts", "campaigns", "pairs", "rounds", "upgrade"]

from collections.abc import Callable

import sqlalchemy as sa

from bayes_passk.errors import CampaignError

SCHEMA_VERSION = 2
_LOCK = 0x7061_7373_406B

_tables = sa.MetaData()

_meta = sa.Table(
    "bayes_passk_schema",
    _tables,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
)

campaigns = sa.Table(
    "campaign",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    # Part of every attempt's id, so that an outcome told to another store is known as foreign.
    sa.Column("token", sa.Text, nullable=False, unique=True),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("budget", sa.Float, nullable=False),
    sa.Column("spent", sa.Float, nullable=False),
    sa.Column("round", sa.Integer, nullable=False),
    sa.Column("finished", sa.Text),
    sa.Column("planner", sa.Text),
    sa.Column("planning_until", sa.Float),
    sa.Column("fit", sa.LargeBinary),
)

pairs = sa.Table(
    "pair",
    _tables,
    sa.Column("campaign", sa.ForeignKey(campaigns.c.id), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("system", sa.Text, nullable=False),
    sa.Column("problem", sa.Text, nullable=False),
    sa.Column("cost", sa.Float, nullable=False),
    sa.Column("cap", sa.BigInteger),
    sa.Column("n_attempts", sa.BigInteger, nullable=False),
    sa.Column("n_successes", sa.BigInteger, nullable=False),
)

attempts = sa.Table(
    "attempt",
    _tables,
    sa.Column("campaign", sa.ForeignKey(campaigns.c.id), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("pair", sa.Integer, nullable=False),
    sa.Column("round", sa.Integer, nullable=False),
    # queued, out, passed, failed, error, timeout
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("lease_until", sa.Float),
    sa.Column("leases", sa.Integer, nullable=False),
    sa.Column("worker", sa.Text),
    sa.Column("told_at", sa.Float),
    sa.Column("detail", sa.Text),
    sa.Index("attempt_by_state", "campaign", "state", "lease_until", "number"),
    sa.Index("attempt_by_pair", "campaign", "pair", "state"),
)

rounds = sa.Table(
    "round",
    _tables,
    sa.Column("campaign", sa.ForeignKey(campaigns.c.id), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("made_at", sa.Float, nullable=False),
    sa.Column("told", sa.Integer, nullable=False),
    sa.Column("width", sa.Float),
)


def upgrade(connection: sa.Connection) -> None:
    """Make the tables of a new store, or bring those of an older one up to this version.

    Raises
    ------
    CampaignError
        The store is of a newer version, or of one that cannot be brought up.
    """
    if connection.dialect.name == "postgresql":
        # One at a time, until the end of the transaction; SQLite's writers wait anyway.
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    if not sa.inspect(connection).has_table(_meta.name):
        _tables.create_all(connection)
        connection.execute(_meta.insert().values(version=SCHEMA_VERSION))
        return
    version = int(connection.execute(sa.select(_meta.c.version)).scalar_one())
    if version > SCHEMA_VERSION:
        raise CampaignError(
            f"this store is of schema version {version}, newer than {SCHEMA_VERSION}, which this "
            "bayes-passk knows: pip install --upgrade bayes-passk"
        )
    for step in range(version, SCHEMA_VERSION):
        if step not in _STEPS:
            raise CampaignError(
                f"this store is of schema version {version}, which cannot be brought up to "
                f"{SCHEMA_VERSION}: with the bayes-passk that made it, bayes-passk campaign export"
            )
        _STEPS[step](connection)
    if version < SCHEMA_VERSION:
        connection.execute(_meta.update().values(version=SCHEMA_VERSION))


def _add_rounds(connection: sa.Connection) -> None:
    # Version 1 did not keep how the width fell from round to round.
    rounds.create(connection)


_STEPS: dict[int, Callable[[sa.Connection], None]] = {1: _add_rounds}
