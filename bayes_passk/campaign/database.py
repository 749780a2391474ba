"""Opening the store: SQLite in a file, or PostgreSQL; what is waited for, and what is not said."""

__all__ = ["Database"]

import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    InternalError,
    NoSuchModuleError,
    OperationalError,
)

from bayes_passk.campaign.address import hidden, parsed, shown
from bayes_passk.campaign.schema import upgrade
from bayes_passk.errors import CampaignError, MissingExtraError

# A server that restarts, or a file that another process writes, is waited for so many seconds.
PATIENCE = 60.0
_PATIENCE_TO_OPEN = 10.0
_SECONDS_TO_CONNECT = "10"
_LONGEST_PAUSE = 1.0
# What a wait does not mend.
_HOPELESS = (
    "disk is full",
    "disk full",
    "no space left",
    "disk i/o error",
    "disk quota",
    "readonly",
    "read-only",
    "unable to open",
    "not a database",
    "malformed",
    "authentication failed",
    "no password supplied",
    "does not exist",
    "permission denied",
    "could not translate host",
    "failed to resolve host",
    "role ",
)
_FULL = ("disk is full", "disk full", "no space left", "disk i/o error", "disk quota")


class Database:
    """A store that is open.

    Parameters
    ----------
    url : str
        ``sqlite:///file.db``, the path of a file, or ``postgresql://user:password@host/name``.
    new : bool
        A file that is not there is made.

    Raises
    ------
    CampaignError
        It cannot be opened; the message holds no password.
    MissingExtraError
        PostgreSQL without its driver.
    """

    def __init__(self, url: str, *, new: bool = False) -> None:
        self._url = parsed(url)
        if not new:
            _check_there(self._url)
        self._engine = _engine(self._url)
        # Connections are given back when nobody holds the store any more.
        weakref.finalize(self, self._engine.dispose)
        self.run(upgrade, patience=_PATIENCE_TO_OPEN)

    @property
    def shown(self) -> str:
        """The address without anything secret."""
        return shown(self._url)

    @property
    def locks_rows(self) -> bool:
        """Whether workers can take different rows at a time."""
        return self._url.get_backend_name() == "postgresql"

    def now(self, connection: sa.Connection) -> float:
        """The time: the server's where there is one, since machines' clocks differ."""
        if not self.locks_rows:
            return time.time()
        return float(
            connection.execute(sa.text("select extract(epoch from clock_timestamp())")).scalar_one()
        )

    def read[T](self, work: Callable[[sa.Connection], T]) -> T:
        """Do work that writes nothing, as `run` does; nobody has to wait for it."""
        return self._patiently(self._engine.execution_options(reads=True), work, PATIENCE)

    def run[T](self, work: Callable[[sa.Connection], T], *, patience: float = PATIENCE) -> T:
        """Do work in one transaction, again where the connection was lost or the file busy.

        The work may run more than once, the last time of which counts.

        Raises
        ------
        CampaignError
            The store is full, gone, or did not answer in time.
        """
        return self._patiently(self._engine, work, patience)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def _patiently[T](
        self, engine: sa.Engine, work: Callable[[sa.Connection], T], patience: float
    ) -> T:
        deadline = time.monotonic() + patience
        pause = 0.01
        while True:
            try:
                with engine.begin() as connection:
                    return work(connection)
            except DBAPIError as error:
                if not _passes(error) or time.monotonic() > deadline:
                    raise CampaignError(self._why(error)) from None
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE, 2 * pause)

    def _why(self, error: DBAPIError) -> str:
        said = str(error.orig).strip().splitlines()
        reason = hidden(self._url, said[0] if said else type(error.orig).__name__)
        if any(word in reason.lower() for word in _FULL):
            return (
                f"{self.shown}: no space left to record this ({reason}); nothing of it was kept, "
                "all that was acknowledged is; make room and tell it again"
            )
        return f"{self.shown}: the store cannot be used: {reason}"


def _check_there(url: sa.URL) -> None:
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
        raise CampaignError(f"{url.database}: expected a store of campaigns, found no such file")


def _engine(url: sa.URL) -> sa.Engine:
    on_server = url.get_backend_name() == "postgresql"
    if on_server:
        url = url.update_query_dict({"connect_timeout": _SECONDS_TO_CONNECT} | dict(url.query))
    try:
        engine = sa.create_engine(url, pool_pre_ping=on_server)
    except ModuleNotFoundError:
        raise MissingExtraError(
            "PostgreSQL needs its driver: pip install 'bayes-passk[postgresql]'"
        ) from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise CampaignError(f"{shown(url)}: no such database can be opened") from None
    if not on_server:
        sa.event.listen(engine, "connect", _set_up_sqlite)
        sa.event.listen(engine, "begin", _begin)
    return engine


def _set_up_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    # A commit is on the disk when it returns; readers do not wait for writers.
    for pragma in ("busy_timeout=20000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    reads = connection.get_execution_options().get("reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _passes(error: DBAPIError) -> bool:
    said = str(error.orig).lower()
    if any(word in said for word in _HOPELESS):
        return False
    # Two that write the same at a time break the integrity: the second then sees the first's.
    passing = (OperationalError, InterfaceError, InternalError, IntegrityError)
    return error.connection_invalidated or isinstance(error, passing)


def new_token() -> str:
    """A name that no other campaign has."""
    return uuid4().hex[:12]
