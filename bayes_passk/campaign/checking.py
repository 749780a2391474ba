"""What a campaign may be set up with."""

__all__ = ["checked_budget", "checked_name", "checked_settings"]

import json
import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayes_passk.campaign.records import Settings
from bayes_passk.campaign.texts import storable
from bayes_passk.errors import OptionError, did_you_mean
from bayes_passk.rules import find_rule

_TARGETS = ("benchmark", "difference", "any_success")
_POLICIES = {"on_error": ("drop", "fail"), "on_timeout": ("fail", "drop")}
_OF_FIT = ("pooling", "learn_from", "draws", "tune", "chains")
_MAX_SEED = 2**63 - 1


def checked_name(name: Any) -> str:
    """Name of a campaign.

    Raises
    ------
    OptionError
        It is empty, or no text that can be stored.
    """
    if not isinstance(name, str) or not name or storable(name) != name:
        raise OptionError(f"name: expected a text, got {name!r:.80}")
    return name


def checked_budget(budget: Any, table: pd.DataFrame) -> float:
    """Budget of a campaign: whole where all attempts cost 1.

    Raises
    ------
    OptionError
        It is no number above 0, is a fraction of an attempt, or pays for no attempt.
    """
    if not _real(budget) or budget <= 0:
        raise OptionError(f"budget: expected a number above 0, got {budget!r}")
    if (table["cost"] == 1).all() and budget != int(budget):
        raise OptionError(f"budget: expected a whole number of attempts, got {budget!r}")
    if budget < table["cost"].min():
        cheapest = table["cost"].min()
        raise OptionError(f"budget: expected at least one attempt's cost, {cheapest:g}: {budget!r}")
    return float(budget)


def checked_settings(n_systems: int, **values: Any) -> Settings:
    """Settings of a campaign.

    Raises
    ------
    OptionError
        One is out of its range.
    UnknownNameError
        There is no such rule or variant.
    """
    for name, choices in _POLICIES.items():
        if values[name] not in choices:
            raise OptionError(f"{name}: expected {' or '.join(choices)}, got {values[name]!r}")
    _check_target(values["target"], n_systems)
    find_rule(values["rule"])
    found = {
        "batch": _above_0("batch", values["batch"]),
        "lease": _above_0("lease", values["lease"]),
        "width": None if values["width"] is None else _above_0("width", values["width"]),
        "ci_prob": _probability(values["ci_prob"]),
        "k": _one_k(values["k"]),
        "deadline": _time(values["deadline"]),
        "random_seed": _seed(values["random_seed"]),
        "variant": _variant(values["variant"], values["options"]),
    }
    return Settings(**(values | found))


def _check_target(target: Any, n_systems: int) -> None:
    if target not in _TARGETS:
        hint = did_you_mean(str(target), _TARGETS)
        raise OptionError(f"target: expected one of {', '.join(_TARGETS)}: {hint}")
    if target == "difference" and n_systems != 2:
        raise OptionError(f"target difference: expected two systems, got {n_systems}")


def _above_0(name: str, value: Any) -> float:
    if not _real(value) or value <= 0:
        raise OptionError(f"{name}: expected a number above 0, got {value!r}")
    return float(value)


def _probability(value: Any) -> float:
    if not _real(value) or not 0 < value < 1:
        raise OptionError(f"ci_prob: expected a number between 0 and 1, got {value!r}")
    return float(value)


def _one_k(k: Any) -> int:
    from bayes_passk.unbiased import whole_ks  # takes a second, which a worker need not wait

    ks = whole_ks(k)
    if len(ks) != 1:
        raise OptionError(f"k: expected one number, got {k!r}")
    return int(ks[0])


def _time(deadline: Any) -> float | None:
    if isinstance(deadline, datetime):
        return deadline.timestamp()
    if deadline is not None and not _real(deadline):
        raise OptionError(f"deadline: expected a time, got {deadline!r}")
    return None if deadline is None else float(deadline)


def _seed(seed: Any) -> int:
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed <= _MAX_SEED:
        raise OptionError(f"random_seed: expected a whole number of at least 0, got {seed!r}")
    return int(seed)


def _variant(variant: Any, options: Mapping[str, Any]) -> str:
    if variant == "beta_binomial" and not options:
        return variant  # known to be there, without the seconds that imports take
    from bayes_passk.variant import find_variant

    own = {name: value for name, value in options.items() if name not in _OF_FIT}
    if find_variant(variant, **own).covariate is not None:
        raise OptionError(f"variant {variant}: a campaign's problems have no covariates to go by")
    try:
        json.dumps(options)
    except (TypeError, ValueError):
        raise OptionError(
            f"options of the variant: expected plain values, got {options!r:.80}"
        ) from None
    # Whoever goes on may do so from another folder.
    return str(Path(variant).resolve()) if str(variant).endswith(".py") else str(variant)


def _real(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and math.isfinite(value)
