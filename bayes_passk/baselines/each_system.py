"""What the predictors share: every system by itself, from its distinct counts."""

__all__ = ["FIT", "SHAPE_BOUNDS", "Tally", "of_each_system"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayes_passk.counts import cells_of, validate
from bayes_passk.errors import NotDefinedError
from bayes_passk.unbiased import whole_ks

FIT = "a fit has an answer, with an interval: bp.pass_at_k(bp.fit(counts), k)"
# Bounds of a beta's shapes, as in the experiments of Kazdan et al. 2025.
SHAPE_BOUNDS = (0.01, 100.0)


@dataclass(frozen=True)
class Tally:
    """Distinct counts of one system, of problems that were attempted, and how many share them."""

    n: np.ndarray
    c: np.ndarray
    multiplicity: np.ndarray


def of_each_system(
    counts: xr.Dataset,
    k: int | Sequence[int],
    predict: Callable[[Tally, np.ndarray], np.ndarray],
) -> xr.DataArray:
    """Predict for each system, over (``system``, ``k``).

    Raises
    ------
    NotDefinedError
        A system has no attempts, or no prediction.
    CountsError
        The counts are not valid.
    OptionError
        k is not a whole number from 1 to 1e9.
    """
    validate(counts)
    ks = whole_ks(k)
    cells = cells_of(counts)
    systems = counts["system"].to_numpy()
    values = np.empty((len(systems), len(ks)))
    for i, system in enumerate(systems):
        own = (cells.system == i) & (cells.n_attempts > 0)
        n, c, m = cells.n_attempts[own], cells.n_successes[own], cells.multiplicity[own]
        if not own.any():
            raise NotDefinedError(f"system {system!r} has no attempts: {FIT}")
        try:
            values[i] = predict(Tally(n, c, m), ks)
        except NotDefinedError as error:
            raise NotDefinedError(f"system {system!r}: {error}") from None
    coords = {"system": systems, "k": ks.astype(np.int64)}
    return xr.DataArray(values, coords, dims=("system", "k"), name="pass_at_k")
