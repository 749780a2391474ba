"""Texts that every store can keep."""

__all__ = ["storable"]


def storable(text: str) -> str:
    r"""Escape what a store refuses: halves of surrogate pairs, and the null character.

    Examples
    --------
    >>> storable("naïve")
    'naïve'
    >>> storable("a\0b\ud800")
    'a\\x00b\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
