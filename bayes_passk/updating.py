"""A posterior that keeps up with counts as they come in."""

__all__ = ["LivePosterior"]

from pathlib import Path
from typing import Any

import xarray as xr

from bayes_passk.counts import digest
from bayes_passk.fitting import fit
from bayes_passk.record import record_of
from bayes_passk.reweighting import can_reweight, reweight


class LivePosterior:
    """Fits of counts that grow: draws reweighted while that holds, NUTS where it does not.

    Parameters
    ----------
    variant : str or Path
        Name of a variant, or the path of its file.
    random_seed : int, optional
        Seed of the fits.
    **options
        Other arguments of `bayes_passk.fit`.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, record_of
    >>> live = LivePosterior(random_seed=1)
    >>> first = live.at(counts_from_arrays([20] * 4, [0, 1, 5, 20]))
    >>> soon = live.at(counts_from_arrays([21, 20, 20, 20], [0, 1, 5, 20]))
    >>> "reweighted" in record_of(first), "reweighted" in record_of(soon)
    (False, True)
    """

    def __init__(
        self,
        variant: str | Path = "beta_binomial",
        *,
        random_seed: int | None = None,
        **options: Any,
    ) -> None:
        self.variant = variant
        self.random_seed = random_seed
        self.options = options
        self._sampled: xr.DataTree | None = None
        self._newest: xr.DataTree | None = None

    @property
    def sampled(self) -> xr.DataTree | None:
        """The newest fit that NUTS made."""
        return self._sampled

    def load(self, fit: xr.DataTree) -> None:
        """Go on from a fit that was made elsewhere."""
        self._newest = fit
        # What was reweighted is no basis to reweigh again: weights would compound unseen.
        self._sampled = None if "reweighted" in record_of(fit) else fit

    def at(self, counts: xr.Dataset) -> xr.DataTree:
        """Fit of these counts; as `bayes_passk.fit` gives it.

        Raises
        ------
        CountsError
            The counts are not valid.
        """
        if self._newest is None or record_of(self._newest)["counts_digest"] != digest(counts):
            self._newest = self._reweighted(counts) or self._fitted(counts)
        return self._newest

    def _reweighted(self, counts: xr.Dataset) -> xr.DataTree | None:
        if self._sampled is None or not can_reweight(self._sampled, counts):
            return None
        carried = reweight(self._sampled, counts)
        return carried.fit if carried.reliable else None

    def _fitted(self, counts: xr.Dataset) -> xr.DataTree:
        self._sampled = fit(
            counts, self.variant, random_seed=self.random_seed, progress=False, **self.options
        )
        return self._sampled
