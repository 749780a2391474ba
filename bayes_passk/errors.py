"""What can go wrong through a user's input: one family, each also the built-in that fits."""

__all__ = [
    "BayesPasskError",
    "CampaignError",
    "ComparisonError",
    "CountsError",
    "FitError",
    "MissingExtraError",
    "NotDefinedError",
    "OptionError",
    "ReadError",
    "UnknownNameError",
    "VariantError",
    "did_you_mean",
]

from collections.abc import Iterable
from difflib import get_close_matches


class BayesPasskError(Exception):
    """Base of every error that a user's input can cause."""


class CountsError(BayesPasskError, ValueError):
    """Counts that cannot be: more successes than attempts, a fraction, a pair given twice."""


class OptionError(BayesPasskError, ValueError):
    """An option's value is outside what it may be."""


class CampaignError(BayesPasskError, ValueError):
    """A campaign that cannot be made, opened or told this."""


class NotDefinedError(BayesPasskError, ValueError):
    """The quantity asked for does not exist for these data."""


class FitError(BayesPasskError, ValueError):
    """A fit that cannot be made, or that does not belong to these counts."""


class ComparisonError(BayesPasskError, ValueError):
    """Fits that cannot be set against each other."""


class VariantError(BayesPasskError, ValueError):
    """A variant file that holds no usable variant."""


class ReadError(BayesPasskError, OSError):
    """A file that cannot be read as what it should be."""


class MissingExtraError(BayesPasskError, ImportError):
    """An optional dependency is needed; the message names the extra to install."""


class UnknownNameError(BayesPasskError, KeyError):
    """A name that is not among the known ones."""

    def __str__(self) -> str:
        # KeyError would show the repr of the message, quotes and escapes included.
        return str(self.args[0]) if self.args else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """End of an error message: the closest known name, or the list of them all.

    Examples
    --------
    >>> did_you_mean("beta_binomal", ["beta_binomial", "logit_normal"])
    "did you mean 'beta_binomial'?"
    >>> did_you_mean("x", ["b", "a"])
    'known: a, b'
    """
    known = sorted(known)
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
