"""How far a posterior moves with its prior, and with its data."""

__all__ = ["prior_sensitivity"]

from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr
from arviz_stats import psense_summary
from pymc.stats import compute_log_prior

from bayes_passk.compiled import compiled_model
from bayes_passk.counts import levels_of
from bayes_passk.errors import VariantError
from bayes_passk.leave_one_out import learned_cells
from bayes_passk.record import record_of
from bayes_passk.variant import Option, Variant, find_variant, variant_names


def prior_sensitivity(
    fit: xr.DataTree, variant: str | Path | None = None, **options: Option
) -> pd.DataFrame:
    """Power-scaling sensitivity: how far the posterior moves with the prior, and with the data.

    Parameters
    ----------
    fit : xarray.DataTree
        Result of `fit` or `load_fit`.
    variant : str or Path, optional
        The variant's file, where it is not one of the toolkit's.
    **options
        Its options, where they differ from the defaults.

    Returns
    -------
    pandas.DataFrame
        ArviZ's ``psense_summary``: sensitivity to ``prior`` and ``likelihood``, and a
        ``diagnosis``, for each parameter that has a prior. (Kallioinen et al. 2023,
        arXiv 2107.14054.)

    Raises
    ------
    VariantError
        The variant came from a file that is not named.
    """
    record = record_of(fit)
    found = _variant_of(record, variant, options)
    counts = fit["observed_data"].to_dataset()
    levels, _ = levels_of(counts, record["covariate"])
    compiled = compiled_model(found, record["pooling"], counts.sizes["system"], len(levels))
    names = [variable.name for variable in compiled.model.free_RVs]
    posterior = fit["posterior"].to_dataset()[names]
    if record["covariate"]:
        posterior = posterior.rename({record["covariate"]: "covariate"})
    posterior = posterior.drop_vars([d for d in ("system", "covariate") if d in posterior.coords])
    with compiled.model:
        tree = compute_log_prior(xr.DataTree.from_dict({"posterior": posterior}), progressbar=False)
    tree["log_likelihood"] = xr.DataTree(_of_all_problems(fit))
    return psense_summary(tree, var_names=names)


def _variant_of(
    record: dict[str, Any], variant: str | Path | None, options: dict[str, Option]
) -> Variant:
    if variant is not None:
        return find_variant(variant, **options)
    if record["variant"] not in variant_names():
        raise VariantError(
            f"the fit's variant {record['variant']!r} came from a file: "
            "pass its path, prior_sensitivity(fit, 'mine.py')"
        )
    return find_variant(record["variant"], **record["options"])


def _of_all_problems(fit: xr.DataTree) -> xr.Dataset:
    likelihood = fit["log_likelihood"].to_dataset()
    joint = "row" in likelihood.dims
    multiplicity = learned_cells(fit).unit_multiplicity(joint)
    return likelihood * xr.DataArray(multiplicity, dims="row" if joint else "cell")
