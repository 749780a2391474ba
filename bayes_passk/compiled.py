"""Compiled models, one for each variant, pooling and number of systems, reused with new data."""

__all__ = ["CompiledModel", "compiled_model", "prior_draws"]

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import nutpie
import pymc as pm
import xarray as xr

from bayes_passk.counts import Cells
from bayes_passk.errors import FitError
from bayes_passk.laws import check_laws
from bayes_passk.model import build_model
from bayes_passk.pooling import Pooling
from bayes_passk.variant import Variant

_PRIOR_DRAWS = 1_000
# Parameters correlate: a low-rank mass matrix halves the steps. Populations, and shapes beyond mean
# and concentration, bend the posterior: shorter steps keep it free of divergences.
_TARGET_ACCEPT = 0.9
_TARGET_ACCEPT_POOLED = 0.95
_TARGET_ACCEPT_BENT = 0.97
_TARGET_ACCEPT_FIELD = 0.99
_PLAIN_PARAMETERS = 2
# A model holds its machine code, some megabytes; the oldest is dropped beyond this many.
_CACHE_SIZE = 16
_CACHE: dict[Hashable, "CompiledModel"] = {}


@dataclass(frozen=True)
class CompiledModel:
    """A model ready to be sampled with the cells of any counts.

    Parameters
    ----------
    model : pymc.Model
        The model as PyMC knows it.
    sampler : nutpie.CompiledModel
        Its density, gradient and expansion in machine code.
    difficulty : str
        Structure of its difficulty distribution.
    prior : xarray.Dataset
        Draws from the prior of all parameters.
    settings : dict
        How nutpie adapts.
    """

    model: pm.Model
    sampler: Any
    difficulty: str
    prior: xr.Dataset
    settings: dict[str, Any]

    def sample(
        self,
        cells: Cells,
        *,
        draws: int,
        tune: int,
        chains: int,
        random_seed: int,
        callback: Callable[[list[Any]], None] | None = None,
    ) -> xr.DataTree:
        """Sample the posterior given the cells with NUTS."""
        background = nutpie.sample(
            self._with(cells),
            draws=draws,
            tune=tune,
            chains=chains,
            seed=random_seed,
            **self.settings,
            save_warmup=False,
            progress_bar=False,
            progress_callback=callback,
            blocking=False,
        )
        try:
            return background.wait()
        except RuntimeError as error:
            raise FitError(f"the sampler stopped: {error}; is a prior impossible?") from error
        except KeyboardInterrupt:
            # nutpie would hand back the draws made so far as if they were all.
            background.cancel()
            raise

    def _with(self, cells: Cells) -> Any:
        data = {
            "group": cells.group,
            "n_attempts": cells.n_attempts,
            "multiplicity": cells.multiplicity,
            "cell_successes": cells.n_successes,
        }
        # A joint difficulty knows a cell's system by its place, so its density has no group.
        known = {variable.name for variable in self.sampler.shared_var_keys}
        return self.sampler.with_data(**{name: data[name] for name in data.keys() & known})


def compiled_model(
    variant: Variant, pooling: Pooling, n_systems: int, n_levels: int = 1
) -> CompiledModel:
    """Compile a variant, or take it from the cache of this process."""
    if n_systems == 1:
        pooling = "none"
    key = (variant, pooling, n_systems, n_levels)
    if key not in _CACHE:
        while len(_CACHE) >= _CACHE_SIZE:
            del _CACHE[next(iter(_CACHE))]
        _CACHE[key] = _compile(variant, pooling, n_systems, n_levels)
    return _CACHE[key]


def prior_draws(variant: Variant) -> tuple[xr.Dataset, str]:
    """Draws from the prior for one system, and the structure of its difficulty."""
    model, difficulty = build_model(variant, _placeholder(1), 1, "none")
    return _prior(model), difficulty.structure()


def _compile(variant: Variant, pooling: Pooling, n_systems: int, n_levels: int) -> CompiledModel:
    model, difficulty = build_model(variant, _placeholder(n_systems), n_systems, pooling, n_levels)
    prior = _prior(model)
    if variant.path is not None:
        check_laws(variant.path, difficulty.structure(), prior)
    sampler = nutpie.compile_pymc_model(model)
    settings = {"adaptation": "low_rank", "target_accept": _target_accept(model, pooling)}
    return CompiledModel(model, sampler, difficulty.structure(), prior, settings)


def _target_accept(model: pm.Model, pooling: Pooling) -> float:
    if pooling == "partial":
        return _TARGET_ACCEPT_POOLED
    if any(variable.ndim > 1 for variable in model.free_RVs):  # many weights a system
        return _TARGET_ACCEPT_FIELD
    plain = len(model.free_RVs) <= _PLAIN_PARAMETERS
    return _TARGET_ACCEPT if plain else _TARGET_ACCEPT_BENT


def _placeholder(n_systems: int) -> Cells:
    # Only the types matter: every fit brings cells of its own.
    group, one = np.zeros(n_systems, dtype=np.int64), np.ones(n_systems)
    return Cells(group, one, 0 * one, one, np.arange(n_systems)[:, None])


def _prior(model: pm.Model) -> xr.Dataset:
    # A thousand draws of a few numbers: not worth compiling for.
    variables = [*model.free_RVs, *model.deterministics]
    drawn = pm.draw(variables, draws=_PRIOR_DRAWS, random_seed=0, mode="FAST_COMPILE")
    dims = [model.named_vars_to_dims.get(variable.name, ()) for variable in variables]
    return xr.Dataset(
        {
            variable.name: (("chain", "draw", *names), values[None])
            for variable, names, values in zip(variables, dims, drawn, strict=True)
        },
        coords={"chain": [0], "draw": np.arange(_PRIOR_DRAWS)},
    )
