"""What a runner needs of a campaign, and what it gives back."""

__all__ = ["Asks", "Made", "Ran"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Made(Protocol):
    """An attempt to be made."""

    @property
    def id(self) -> str:
        """What its outcome is told under."""

    @property
    def system(self) -> str:
        """Who tries."""

    @property
    def problem(self) -> str:
        """What is tried."""


class Asks(Protocol):
    """A campaign, as far as a runner knows it; its methods may be called from several threads."""

    @property
    def lease(self) -> float:
        """Seconds after which an attempt that was not told is handed out again."""

    def ask(self, n: int, worker: str | None = None) -> Sequence[Made]:
        """Hand out at most ``n`` attempts; none when nothing is available now."""

    def tell_many(self, outcomes: Sequence[Mapping[str, Any]]) -> Any:
        """Record outcomes; those in ``rejected`` of the answer are not of this campaign."""

    def give_back(self, attempts: Sequence[str]) -> None:
        """Take back attempts that will not be made."""

    def renew(self, attempts: Sequence[str]) -> None:
        """Lengthen the lease of attempts."""

    def finished(self) -> str | None:
        """Why nothing more will be handed out, or None."""


@dataclass(frozen=True)
class Ran:
    """What a run told its campaign.

    Parameters
    ----------
    told : int
        Attempts in all.
    passed, errors, timeouts : int
        Those that passed, ended in an error, or took too long; the others failed.
    """

    told: int = 0
    passed: int = 0
    errors: int = 0
    timeouts: int = 0
