"""The PyMC model of a variant: priors, the difficulty they make, and cells as its data."""

__all__ = ["build_model"]

from typing import Any, cast

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.composed import SharedMixture
from bayes_passk.counts import Cells
from bayes_passk.difficulty import Difficulty
from bayes_passk.errors import VariantError
from bayes_passk.pooling import Pooling, Systems
from bayes_passk.variant import Variant


def build_model(
    variant: Variant, cells: Cells, n_systems: int, pooling: Pooling, n_levels: int = 1
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
    n_levels : int
        Levels of the covariate that the variant asks for.

    Returns
    -------
    model : pymc.Model
        A draw from its prior predictive is a count for one problem of each cell.
    difficulty : Difficulty
        The difficulty with its symbolic parameters, each of shape (system,) + own, or
        (system, covariate) + own where the variant asks for a covariate.

    Raises
    ------
    VariantError
        The variant returns something else than a difficulty distribution.
    """
    coords = {"system": np.arange(n_systems)}
    if variant.covariate is not None:
        coords["covariate"] = np.arange(n_levels)
    with pm.Model(coords=coords) as model:
        systems = Systems(n_systems, pooling, n_levels)
        difficulty = variant.build(systems, **dict(variant.options))
        if not isinstance(difficulty, Difficulty):
            got = type(difficulty).__name__
            raise VariantError(f"variant {variant.name}: expected a Difficulty, got {got}")
        _name_parameters(model, difficulty, tuple(coords))
        _observe(_flat(difficulty, len(coords)), cells, n_systems)
    return model, difficulty


def _name_parameters(model: pm.Model, difficulty: Difficulty, batch: tuple[str, ...]) -> None:
    for name, value in difficulty.parameters().items():
        if name not in model.named_vars:
            own = [f"{name}_dim_{axis}" for axis in range(value.ndim - len(batch))]
            for axis, dim in enumerate(own, start=len(batch)):
                model.add_coord(dim, np.arange(_length(cast(TensorVariable, value), axis)))
            pm.Deterministic(name, value, dims=(*batch, *own))


def _length(value: TensorVariable, axis: int) -> int:
    static = value.type.shape[axis]
    return int(value.shape[axis].eval()) if static is None else static


def _flat(difficulty: Difficulty, batch: int) -> Difficulty:
    # Groups along one axis: systems, or systems by levels.
    if batch == 1:
        return difficulty

    def flat(value: Any) -> TensorVariable:
        return value.reshape((-1, *value.shape[batch:]), ndim=value.ndim - batch + 1)

    return difficulty.map(flat)


def _observe(difficulty: Difficulty, cells: Cells, n_systems: int) -> TensorVariable:
    group = pm.Data("group", cells.group)
    n_attempts = pm.Data("n_attempts", cells.n_attempts)
    multiplicity = pm.Data("multiplicity", cells.multiplicity)
    n_successes = pm.Data("cell_successes", cells.n_successes)
    structure = difficulty.structure()
    names = list(difficulty.parameters())

    def rebuilt(values: Any) -> Difficulty:
        return Difficulty.rebuild(structure, dict(zip(names, values, strict=True)))

    def logp(c: Any, n: Any, m: Any, g: Any, *values: TensorVariable) -> TensorVariable:
        choose = pt.gammaln(n + 1) - pt.gammaln(c + 1) - pt.gammaln(n - c + 1)
        prior = rebuilt(values)
        if isinstance(prior, SharedMixture):
            # Cells are ordered by row, then system; each carries its share of the row's.
            rows = [x.reshape((-1, n_systems)).T for x in (c, n - c)]
            of_row = prior.log_evidence_of_rows(*rows)
            return m * (choose + pt.repeat(of_row, n_systems) / n_systems)
        return m * (choose + prior.at(g).log_evidence(c, n - c))

    def random(n: Any, m: Any, g: Any, *values: Any, rng: Any = None, size: Any = None) -> Any:
        of_cell = rebuilt(values).at(np.asarray(g, dtype=np.int64))
        log_p, log_q = of_cell.sample(rng)
        rate = of_cell.observed(log_p, log_q)
        return rng.binomial(np.asarray(n, dtype=np.int64), rate).astype(np.float64)

    return pm.CustomDist(
        "n_successes",
        n_attempts,
        multiplicity,
        group,
        *difficulty.parameters().values(),
        logp=logp,
        random=random,
        signature=_signature(structure),
        observed=n_successes,
    )


def _signature(structure: str) -> str:
    # NumPy's generalised signature: cells are the batch, groups and own dimensions are not.
    own = Difficulty.own_dimensions(structure).items()
    inputs = [
        f"({','.join(['g', *(f'{name}{axis}' for axis in range(ndim))])})" for name, ndim in own
    ]
    return ",".join(["()", "()", "()", *inputs]) + "->()"
