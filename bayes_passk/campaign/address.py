"""The address of a store: what is read from it, and what of it may be shown."""

__all__ = ["hidden", "parsed", "shown"]

import re

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from bayes_passk.errors import CampaignError

_BACKENDS = {
    "sqlite": "sqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}
_SECRET = ("password", "passwd", "passfile", "token", "secret", "key")
# What is a path to us but was meant as an address may hold a password.
_MEANT_AS_ADDRESS = re.compile(r"(postgres|sqlite)\w*(\+\w+)?:|.*:[^/]*@|.*password\s*=", re.I)
_EXPECTED = "expected a file, sqlite:///FILE or postgresql://user:password@host:port/name"


def parsed(text: str) -> sa.URL:
    """Address of a store, a path being one of a SQLite file.

    Raises
    ------
    CampaignError
        It is none; the message repeats nothing of it.

    Examples
    --------
    >>> parsed("campaign.db").render_as_string()
    'sqlite:///campaign.db'
    """
    is_path = "://" not in text and not _MEANT_AS_ADDRESS.match(text)
    url = sa.URL.create("sqlite", database=text) if is_path else _of_address(text)
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise CampaignError(f"{_EXPECTED}; in memory nothing would last")
    return url


def shown(url: sa.URL) -> str:
    """The address without anything secret.

    Examples
    --------
    >>> shown(parsed("postgresql://me:word@host/db?password=word"))
    'postgresql://me:***@host/db?password=***'
    """
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    query = {name: "***" if _is_secret(name) else value for name, value in url.query.items()}
    safe = url.set(drivername=url.get_backend_name(), query=query)
    return safe.render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def hidden(url: sa.URL, text: str) -> str:
    """A text, such as a driver's message, without the secrets of an address."""
    secrets = [url.password] if url.password else []
    for name, value in url.query.items():
        if _is_secret(name):
            secrets += [value] if isinstance(value, str) else value
    for secret in sorted(map(str, secrets), key=len, reverse=True):
        text = text.replace(secret, "***") if secret else text
    return text


def _of_address(text: str) -> sa.URL:
    scheme, slashes, _ = text.partition("://")
    backend = _BACKENDS.get(scheme.split("+")[0]) if slashes else None
    if backend is None:
        raise CampaignError(f"{_EXPECTED}, got an address of another kind")
    try:
        # A second @ is one in a password, the end of which would be taken for the host.
        if text.count("@") < 2:
            return sa.make_url(text).set(drivername=backend)
    except (ArgumentError, ValueError):
        pass
    raise CampaignError(f"{_EXPECTED}, special characters percent-encoded; got another form")


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in _SECRET)
