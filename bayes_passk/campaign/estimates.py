"""Where pass@k of a campaign stands, from a fit that is kept in the store for whoever goes on."""

__all__ = ["Estimates", "Estimator"]

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import xarray as xr

from bayes_passk.campaign import store
from bayes_passk.campaign.database import Database


@dataclass(frozen=True)
class Estimates:
    """Posterior of the benchmark's pass@k, summed up.

    Parameters
    ----------
    overall : dict
        ``k``, ``mean``, ``lower``, ``upper`` and ``ci_prob``, over systems on average.
    by_system : list of dict
        The same for each ``system``.
    """

    overall: dict[str, Any]
    by_system: list[dict[str, Any]]

    @property
    def width(self) -> float:
        """Of the widest system's interval."""
        return max(row["upper"] - row["lower"] for row in self.by_system)


class Estimator:
    """Fits a campaign's counts as they grow.

    Parameters
    ----------
    database : Database
        Where the campaign is.
    row : Row
        The campaign.
    """

    def __init__(self, database: Database, row: store.Row) -> None:
        self._database = database
        self._row = row
        self._live: Any = None
        self._kept: Any = None

    @property
    def has_fit(self) -> bool:
        """Whether a fit was asked for in this process."""
        return self._live is not None

    def fit(self, counts: xr.Dataset) -> xr.DataTree:
        """Fit of these counts; one made by NUTS is kept in the store.

        Raises
        ------
        CountsError
            There is no attempt yet.
        """
        if self._live is None:
            self._live = self._loaded()
        fit = self._live.at(counts)
        self._keep()
        return fit

    def estimates(self, counts: xr.Dataset) -> Estimates:
        """Where pass@k stands.

        Raises
        ------
        CountsError
            There is no attempt yet.
        """
        from bayes_passk.estimands import pass_at_k

        draws = pass_at_k(self.fit(counts), self._row.settings.k)["pass_at_k"].isel(k=0)
        flat = draws.stack(sample=("chain", "draw")).transpose("system", "sample").values
        by_system = [
            {"system": str(name)} | self._interval(own)
            for name, own in zip(counts["system"].values, flat, strict=True)
        ]
        return Estimates(self._interval(flat.mean(axis=0)), by_system)

    def _interval(self, draws: np.ndarray) -> dict[str, Any]:
        settings = self._row.settings
        lower, upper = np.quantile(draws, [(1 - settings.ci_prob) / 2, (1 + settings.ci_prob) / 2])
        return {
            "k": settings.k,
            "mean": float(draws.mean()),
            "lower": float(lower),
            "upper": float(upper),
            "ci_prob": settings.ci_prob,
        }

    def _loaded(self) -> Any:
        from bayes_passk.store import load_fit
        from bayes_passk.updating import LivePosterior

        settings = self._row.settings
        live = LivePosterior(settings.variant, random_seed=settings.random_seed, **settings.options)
        kept = self._database.read(lambda c: store.kept_fit(c, self._row))
        if kept is not None:
            with TemporaryDirectory() as folder:
                path = Path(folder) / "fit.nc"
                path.write_bytes(kept)
                live.load(load_fit(path))
            self._kept = live.sampled
        return live

    def _keep(self) -> None:
        sampled = self._live.sampled
        if sampled is None or sampled is self._kept:
            return
        from bayes_passk.store import save_fit

        with TemporaryDirectory() as folder:
            content = save_fit(sampled, Path(folder) / "fit.nc").read_bytes()
        self._database.run(lambda c: store.keep_fit(c, self._row, content))
        self._kept = sampled
