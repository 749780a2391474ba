"""The laws that every difficulty distribution obeys, checked on a variant from a file."""

__all__ = ["check_laws"]

import numpy as np
import xarray as xr

from bayes_passk.difficulty import Difficulty, compile_log_moment, family_of
from bayes_passk.errors import VariantError

_ORDERS = np.array([0.0, 1.0, 3.0, 30.0, 1000.0])
_DRAWS = 50
# What rounding leaves of log M(0, 0) = 0, and of equal neighbours.
_ROUNDING = 1e-3


def check_laws(where: str, structure: str, prior: xr.Dataset) -> None:
    """Check the log-moment on draws from the prior.

    Parameters
    ----------
    where : str
        The variant's file, for the message.
    structure : str
        Structure of its difficulty.
    prior : xarray.Dataset
        Draws of its parameters.

    Raises
    ------
    VariantError
        A log-moment is not finite, ``M(0, 0)`` is not 1, one is above 0, or one rises with s or f.
    """
    names = list(Difficulty.own_dimensions(structure))
    stacked = prior.isel(chain=0, draw=slice(_DRAWS))
    arrays = [stacked[name].transpose("draw", "system", ...).to_numpy()[:, :1] for name in names]
    if "covariate" in stacked.dims:
        arrays = [array[:, :, 0] for array in arrays]
    s, f = (x.reshape(1, -1) for x in np.meshgrid(_ORDERS, _ORDERS, indexing="ij"))
    index, seen = np.zeros(1, dtype=np.int64), np.zeros((1, 1) if family_of(structure).joint else 1)
    values = compile_log_moment(structure)(index, seen, seen, s, f, *arrays)[:, 0]
    grid = values.reshape(-1, len(_ORDERS), len(_ORDERS))
    broken = {
        "is not finite": ~np.isfinite(grid),
        "is above 0": grid > _ROUNDING,
        "is not 0 at s = f = 0": np.where(np.add.outer(_ORDERS, _ORDERS) == 0, np.abs(grid), 0)
        > _ROUNDING,
        "rises with s": np.diff(grid, axis=1, prepend=grid[:, :1]) > _ROUNDING,
        "rises with f": np.diff(grid, axis=2, prepend=grid[:, :, :1]) > _ROUNDING,
    }
    for law, violated in broken.items():
        if violated.any():
            draw, i, j = np.argwhere(violated)[0]
            shown = ", ".join(
                f"{name} = {np.array2string(array[draw, 0], precision=4)}"
                for name, array in zip(names, arrays, strict=True)
            )
            raise VariantError(
                f"{where}: the log-moment {law}: {grid[draw, i, j]:.4g} at s = {_ORDERS[i]:g}, "
                f"f = {_ORDERS[j]:g} with {shown}"
            )
