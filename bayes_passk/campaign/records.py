"""What a campaign hands out and reports."""

__all__ = ["Attempt", "Settings", "Status", "Told"]

import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Attempt:
    """An attempt to be made: a system on a problem, once.

    Parameters
    ----------
    id : str
        What to tell the outcome under.
    system, problem : str
        Who is to try what.
    """

    id: str
    system: str
    problem: str


@dataclass(frozen=True)
class Told:
    """What became of outcomes that were told.

    Parameters
    ----------
    accepted : int
        Recorded, and durable.
    repeated : int
        Told before; the first outcome stays.
    rejected : list of dict
        ``attempt`` and ``reason`` of those that are not of this campaign.
    """

    accepted: int = 0
    repeated: int = 0
    rejected: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Settings:
    """How a campaign was set up; kept with it as JSON.

    Parameters
    ----------
    k : int
        Attempts granted, of the pass@k that is wanted.
    target : str
        What the variance is of (`bayes_passk.targets`).
    rule : str
        Where to sample next (`bayes_passk.rules`).
    batch : float
        Cost of a round.
    lease : float
        Seconds after which an attempt that was not told is handed out again.
    width : float or None
        The campaign ends when the interval of every system is at most so wide.
    deadline : float or None
        The campaign ends then (seconds since 1970, of the database's clock).
    ci_prob : float
        Probability of the interval.
    on_error, on_timeout : str
        Whether an error or a timeout is a failure (``fail``) or no attempt (``drop``).
    variant : str
        Variant of the fits, with its ``options``.
    options : dict
        Options of the variant.
    random_seed : int
        Seed of plans and fits.
    """

    k: int
    target: str
    rule: str
    batch: float
    lease: float
    width: float | None
    deadline: float | None
    ci_prob: float
    on_error: str
    on_timeout: str
    variant: str
    options: dict[str, Any]
    random_seed: int

    def to_json(self) -> str:
        """As the store keeps it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Settings":
        """As it was."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Status:
    """Where a campaign stands.

    Parameters
    ----------
    budget : float
        Attempts in all, or their cost.
    handed_out, told, passed, failed, errors, timeouts, outstanding : int
        Attempts handed out at least once, told, by outcome, and out now.
    spent : float
        Cost of the attempts planned so far.
    rounds : int
        Rounds planned.
    estimate : dict or None
        ``k``, ``mean``, ``lower``, ``upper``, ``ci_prob`` of pass@k, over systems on average; None
        without attempts.
    estimates : list of dict
        The same for each ``system``.
    history : list of dict
        ``round``, ``told`` and ``width`` when each round was planned from a fit.
    finished : str or None
        Why nothing more is handed out: ``budget``, ``width``, ``deadline`` or ``rule``.
    """

    budget: float
    handed_out: int
    told: int
    passed: int
    failed: int
    errors: int
    timeouts: int
    outstanding: int
    spent: float
    rounds: int
    estimate: dict[str, Any] | None
    estimates: list[dict[str, Any]]
    history: list[dict[str, Any]]
    finished: str | None

    def to_dict(self) -> dict[str, Any]:
        """Keys and plain values."""
        return asdict(self)
