"""Bundled counts that this project made itself; SMOLLM2.md tells how."""

__all__ = ["load_smollm2", "smollm2_path"]

from pathlib import Path

import xarray as xr

from bayes_passk.readers import read_counts


def smollm2_path() -> Path:
    """Path of the attempts, a gzipped CSV table with a row an attempt."""
    return Path(__file__).with_name("smollm2_attempts.csv.gz")


def load_smollm2() -> xr.Dataset:
    """Counts of SmolLM2-135M on 118 short problems at two temperatures, 200 attempts each.

    Returns
    -------
    xarray.Dataset
        Counts of the systems ``SmolLM2-135M T=0.6`` and ``SmolLM2-135M T=1.2``, with the
        covariate ``category``.

    Examples
    --------
    >>> load_smollm2().sizes["problem"]
    118
    """
    return read_counts(smollm2_path())
