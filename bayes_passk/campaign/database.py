"""Opening the store: SQLite in a file, or PostgreSQL; what is waited for, and what is not said."""

__all__ = ["Database"]

import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from bayes_passk.campaign.schema import upgrade
from bayes_passk.errors import CampaignError, MissingExtraError

# A server that restarts, or a file that another process writes, is waited for so many seconds.
PATIENCE = 60.0
_PATIENCE_TO_OPEN = 10.0
_LONGEST_PAUSE = 1.0
_BACKENDS = {
    "sqlite": "sqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}
_SECRET = ("password", "passwd", "passfile", "sslpassword", "token", "secret", "key")
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
        self._url = _parsed(url)
        if not new:
            _check_there(self._url)
        self._engine = _engine(self._url)
        # Connections are given back when nobody holds the store any more.
        weakref.finalize(self, self._engine.dispose)
        self.run(upgrade, patience=_PATIENCE_TO_OPEN)

    @property
    def shown(self) -> str:
        """The address without anything secret."""
        return _shown(self._url)

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
        reason = said[0] if said else type(error.orig).__name__
        for secret in _secrets(self._url):
            reason = reason.replace(secret, "***")
        if any(word in reason.lower() for word in _FULL):
            return (
                f"{self.shown}: no space left to record this ({reason}); nothing of it was kept, "
                "all that was acknowledged is; make room and tell it again"
            )
        return f"{self.shown}: the store cannot be used: {reason}"


def _parsed(text: str) -> sa.URL:
    if "://" not in str(text):
        return sa.URL.create("sqlite", database=str(text))
    scheme = str(text).split("://", 1)[0]
    if (backend := _BACKENDS.get(scheme.split("+", 1)[0])) is None:
        raise CampaignError(
            f"expected a file, sqlite:///FILE or postgresql://..., got one of {scheme[:40]!r}"
        )
    try:
        url = sa.make_url(str(text))
    except (ArgumentError, ValueError):
        # What cannot be read may hold a password anywhere.
        raise CampaignError(
            f"this {scheme} address cannot be read: expected "
            f"{scheme}://user:password@host:port/name, special characters percent-encoded"
        ) from None
    if backend == "sqlite" and not url.database:
        raise CampaignError("expected a file: sqlite:///FILE; in memory nothing would last")
    return url.set(drivername=backend)


def _check_there(url: sa.URL) -> None:
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
        raise CampaignError(f"{url.database}: expected a store of campaigns, found no such file")


def _engine(url: sa.URL) -> sa.Engine:
    try:
        engine = sa.create_engine(url, pool_pre_ping=url.get_backend_name() == "postgresql")
    except ModuleNotFoundError:
        raise MissingExtraError(
            "PostgreSQL needs its driver: pip install 'bayes-passk[postgresql]'"
        ) from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise CampaignError(f"{_shown(url)}: no such database can be opened") from None
    if url.get_backend_name() == "sqlite":
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
    kind = type(error).__name__
    return error.connection_invalidated or kind in (
        "OperationalError",
        "InterfaceError",
        "InternalError",
    )


def _shown(url: sa.URL) -> str:
    query = {
        name: "***" if any(word in name.lower() for word in _SECRET) else value
        for name, value in url.query.items()
    }
    backend = url.get_backend_name()
    shown = url.set(drivername=backend, query=query)
    if backend == "sqlite":
        return str(url.database)
    return shown.render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def _secrets(url: sa.URL) -> list[str]:
    found = [str(url.password)] if url.password else []
    hidden = [v for n, v in url.query.items() if any(word in n.lower() for word in _SECRET)]
    return sorted([*found, *(str(value) for value in hidden)], key=len, reverse=True)


def new_token() -> str:
    """A name that no other campaign has."""
    return uuid4().hex[:12]
