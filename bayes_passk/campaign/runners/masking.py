"""Texts of strangers, made fit to be kept: one line, not long, no secrets."""

__all__ = ["masked", "one_line"]

import os
import re

_LONGEST = 500
# Looked at before it is cut: what a message says on its first pages.
_LOOKED_AT = 20_000
_SHORTEST_SECRET = 8
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.I)
_SECRETS = (
    # user:password@ of an address
    (re.compile(r"(://[^\s/:@]{0,200}):[^\s/@]{1,500}@"), r"\1:***@"),
    # keys that say by their beginning what they are
    (
        re.compile(
            r"\b(sk|pk|rk|xai|gsk|hf|ghp|gho|ghs|github_pat|glpat|xox[abps]|r8|pplx|nvapi)"
            r"([-_])[\w-]{8,}"
        ),
        r"\1\2***",
    ),
    (re.compile(r"\b(AKIA|ASIA|AIza)[\w-]{12,}"), r"\1***"),
    (re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]{8,}", re.I), r"\1 ***"),
    # name=value, "name": "value"
    (
        re.compile(
            r"((?:api|access|secret|private)[-_ ]?(?:key|token)|passw(?:or)?d|secret|token|pwd)"
            r"""(["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"'&,;)}\]]{3,}""",
            re.I,
        ),
        r"\1\2***",
    ),
)


def masked(text: str, longest: int = _LONGEST) -> str:
    """One line of a text, shortened, without passwords and keys.

    Masked are passwords of addresses, keys of well-known form, and whatever the environment holds
    under a name that sounds secret.

    Examples
    --------
    >>> masked("401: wrong key sk-proj-1234567890abcdef, see https://u:pw@host/")
    '401: wrong key sk-***, see https://u:***@host/'
    """
    text = text[:_LOOKED_AT]
    for secret in _of_environment():
        text = text.replace(secret, "***")
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return one_line(text, longest)


def one_line(text: str, longest: int) -> str:
    r"""Put a text on one line and cut it; what cannot be printed is replaced.

    Examples
    --------
    >>> one_line("a  b\nmore", 6)
    'a b m…'
    """
    line = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _of_environment() -> list[str]:
    # Longest first, so that no part of one stays when another is cut out of it.
    found = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    return sorted((v for v in found if len(v) >= _SHORTEST_SECRET), key=len, reverse=True)
