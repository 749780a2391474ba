"""The PyMC model of a variant: priors, the difficulty they make, and cells as its data."""

__all__ = ["build_model"]

from typing import Any, cast

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.counts import Cells
from bayes_passk.difficulty import Difficulty
from bayes_passk.errors import VariantError
from bayes_passk.pooling import Pooling, Systems
from bayes_passk.variant import Variant


def build_model(
    variant: Variant, cells: Cells, n_systems: int, pooling: Pooling
) -> tuple[pm.Model, Difficulty]:
    r"""Build the PyMC model in which the problems' probabilities are integrated out.

    A cell of counts ``(n, c)`` that ``m`` problems share adds
    :math:`m \left(\log\binom{n}{c} + \log M(c, n - c)\right)`, so the cost of a gradient depends
    on the number of distinct cells, not on the number of problems. Cells are ``pm.Data``: other
    counts, also another number of them, take their place without a new compilation.

    Parameters
    ----------
    variant : Variant
        Priors and difficulty distribution.
    cells : Cells
        Distinct counts with their multiplicity.
    n_systems : int
        Number of systems, the dimension ``system``.
    pooling : {"none", "partial", "complete"}
        What the systems share.

    Returns
    -------
    model : pymc.Model
        A draw from its prior predictive is a count for one problem of each cell.
    difficulty : Difficulty
        The difficulty with its symbolic parameters, each of shape (system,) + own.

    Raises
    ------
    VariantError
        The variant returns something else than a difficulty distribution.
    """
    with pm.Model(coords={"system": np.arange(n_systems)}) as model:
        difficulty = variant.build(Systems(n_systems, pooling), **dict(variant.options))
        if not isinstance(difficulty, Difficulty):
            got = type(difficulty).__name__
            raise VariantError(f"variant {variant.name}: expected a Difficulty, got {got}")
        _name_parameters(model, difficulty)
        _observe(difficulty, cells)
    return model, difficulty


def _name_parameters(model: pm.Model, difficulty: Difficulty) -> None:
    for name, value in difficulty.parameters().items():
        if name not in model.named_vars:
            own = [f"{name}_dim_{axis}" for axis in range(value.ndim - 1)]
            for axis, dim in enumerate(own, start=1):
                model.add_coord(dim, np.arange(cast(TensorVariable, value).type.shape[axis]))
            pm.Deterministic(name, value, dims=("system", *own))


def _observe(difficulty: Difficulty, cells: Cells) -> TensorVariable:
    group = pm.Data("group", cells.group)
    n_attempts = pm.Data("n_attempts", cells.n_attempts)
    multiplicity = pm.Data("multiplicity", cells.multiplicity)
    n_successes = pm.Data("cell_successes", cells.n_successes)
    structure = difficulty.structure()
    names = list(difficulty.parameters())

    def logp(c: Any, n: Any, m: Any, *values: TensorVariable) -> TensorVariable:
        of_cell = Difficulty.rebuild(structure, dict(zip(names, values, strict=True)))
        choose = pt.gammaln(n + 1) - pt.gammaln(c + 1) - pt.gammaln(n - c + 1)
        return m * (choose + of_cell.log_moment(c, n - c))

    def random(n: Any, m: Any, *values: Any, rng: Any = None, size: Any = None) -> np.ndarray:
        of_cell = Difficulty.rebuild(structure, dict(zip(names, values, strict=True)))
        log_p, _ = of_cell.sample(rng)
        return rng.binomial(np.asarray(n, dtype=np.int64), np.exp(log_p)).astype(np.float64)

    return pm.CustomDist(
        "n_successes",
        n_attempts,
        multiplicity,
        *(value[group] for value in difficulty.parameters().values()),
        logp=logp,
        random=random,
        signature=_signature(structure),
        observed=n_successes,
    )


def _signature(structure: str) -> str:
    # NumPy's generalised signature: own dimensions of the parameters do not broadcast.
    own = Difficulty.own_dimensions(structure).items()
    inputs = [f"({','.join(f'{name}{axis}' for axis in range(ndim))})" for name, ndim in own]
    return ",".join(["()", "()", *inputs]) + "->()"
