"""Bayesian pass@k: honest intervals for language models and agents sampled many times.

The public names, each imported when it is first used: PyMC and ArviZ take seconds to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayes_passk._version import __version__

if TYPE_CHECKING:
    from bayes_passk.allocation import allocate
    from bayes_passk.baselines import (
        beta_binomial_mle,
        bootstrap_interval,
        discretized_beta,
        power_law_regression,
    )
    from bayes_passk.campaign import Campaign
    from bayes_passk.checks import check_fit, predictive_draws
    from bayes_passk.compare import compare_variants, stacked_pass_at_k
    from bayes_passk.costs import costs_from_table
    from bayes_passk.counts import (
        cells_of,
        counts_from_arrays,
        counts_from_dict,
        describe,
        group,
        merge_counts,
        provenance_of,
        select,
        thin,
    )
    from bayes_passk.datasets import load_smollm2
    from bayes_passk.errors import BayesPasskError
    from bayes_passk.estimands import fail_at_k, pass_at_k, pass_hat_k
    from bayes_passk.extrapolate import extrapolation, side_by_side
    from bayes_passk.fitting import fit
    from bayes_passk.frames import counts_from_frame
    from bayes_passk.held_out import check_held_out
    from bayes_passk.planner import attempts_needed
    from bayes_passk.plots.check import plot_check
    from bayes_passk.plots.pass_at_k import plot_pass_at_k
    from bayes_passk.predictive import prior_pass_at_k
    from bayes_passk.readers import read_counts
    from bayes_passk.record import record_of
    from bayes_passk.reweighting import reweight
    from bayes_passk.rules import find_rule
    from bayes_passk.sensitivity import prior_sensitivity
    from bayes_passk.store import check_fit_path, load_fit, save_fit
    from bayes_passk.summaries import summary
    from bayes_passk.unbiased import unbiased_pass_at_k, unbiased_pass_hat_k
    from bayes_passk.unsolvable_share import unsolvable
    from bayes_passk.updating import LivePosterior
    from bayes_passk.variant import find_variant, variant_names

_MODULES = {
    "allocation": ("allocate",),
    "baselines": (
        "beta_binomial_mle",
        "bootstrap_interval",
        "discretized_beta",
        "power_law_regression",
    ),
    "campaign": ("Campaign",),
    "checks": ("check_fit", "predictive_draws"),
    "compare": ("compare_variants", "stacked_pass_at_k"),
    "costs": ("costs_from_table",),
    "counts": (
        "cells_of",
        "counts_from_arrays",
        "counts_from_dict",
        "describe",
        "group",
        "merge_counts",
        "provenance_of",
        "select",
        "thin",
    ),
    "datasets": ("load_smollm2",),
    "errors": ("BayesPasskError",),
    "estimands": ("fail_at_k", "pass_at_k", "pass_hat_k"),
    "extrapolate": ("extrapolation", "side_by_side"),
    "fitting": ("fit",),
    "frames": ("counts_from_frame",),
    "held_out": ("check_held_out",),
    "planner": ("attempts_needed",),
    "plots.check": ("plot_check",),
    "plots.pass_at_k": ("plot_pass_at_k",),
    "predictive": ("prior_pass_at_k",),
    "readers": ("read_counts",),
    "record": ("record_of",),
    "reweighting": ("reweight",),
    "rules": ("find_rule",),
    "sensitivity": ("prior_sensitivity",),
    "store": ("check_fit_path", "load_fit", "save_fit"),
    "summaries": ("summary",),
    "unbiased": ("unbiased_pass_at_k", "unbiased_pass_hat_k"),
    "unsolvable_share": ("unsolvable",),
    "updating": ("LivePosterior",),
    "variant": ("find_variant", "variant_names"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "__version__",
    *_HOME,
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
