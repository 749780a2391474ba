"""The draws of a fit as estimands need them: difficulty parameters beside the cells."""

__all__ = ["Posterior"]

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from bayes_passk.counts import Cells
from bayes_passk.difficulty import (
    Difficulty,
    compile_log_evidence,
    compile_log_moment,
    compile_sampler,
    family_of,
)
from bayes_passk.record import record_of
from bayes_passk.variant import find_variant, variant_names

# Most numbers that one block of draws × units × orders holds: 32 MB each.
_BLOCK = 4_194_304


@dataclass(frozen=True)
class Posterior:
    """Difficulty parameters of every draw, and the cells that problems show.

    Parameters
    ----------
    structure : str
        Structure of the difficulty distribution (`Difficulty.structure`).
    parameters : dict of str to ndarray
        Arrays of shape (sample, group) + own dimensions; a sample is a (chain, draw), a group a
        system, or a system at a level of a covariate.
    cells : Cells
        Distinct counts of each group.
    """

    structure: str
    parameters: dict[str, np.ndarray]
    cells: Cells

    @classmethod
    def of(cls, fit: xr.DataTree) -> "Posterior":
        """Take the parameters and the cells out of a fit."""
        record = record_of(fit)
        structure = record["difficulty"]
        batch = ["system", *([record["covariate"]] if record.get("covariate") else [])]
        _register(record["variant"])
        stacked = fit["posterior"].to_dataset().stack(sample=("chain", "draw"), create_index=False)
        parameters = {}
        for name in Difficulty.own_dimensions(structure):
            values = stacked[name].transpose("sample", *batch, ...).to_numpy()
            shape = (values.shape[0], -1, *values.shape[1 + len(batch) :])
            parameters[name] = values.reshape(shape)
        return cls(structure, parameters, cells_from_dataset(fit["constant_data"].to_dataset()))

    @cached_property
    def n_samples(self) -> int:
        """Number of draws of all chains together."""
        return len(next(iter(self.parameters.values())))

    def sample(
        self,
        cells: np.ndarray,
        samples: slice,
        repeats: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw ``log p`` and ``log(1-p)`` of problems in some cells given their counts.

        Returns arrays of shape (sample, sum of ``repeats``): so many problems of each cell.
        """
        function = compile_sampler(self.structure)
        chosen = (value[samples] for value in self.parameters.values())
        return function(rng, repeats, self.cells.group[cells], *self._seen(cells), *chosen)

    def log_moment(
        self, cells: np.ndarray, s: np.ndarray, f: np.ndarray, *, given_data: bool = True
    ) -> np.ndarray:
        """``log E[p^s (1-p)^f]`` of the problems in some cells, for every draw.

        Parameters
        ----------
        cells : ndarray of int, shape (unit,)
            Which cells.
        s, f : ndarray, broadcast to shape (unit, order)
            Orders of the moment in successes and in failures.
        given_data : bool
            Whether each cell's own counts are taken as seen; else it is a new problem of the
            cell's system.

        Returns
        -------
        ndarray, shape (sample, unit, order)
        """
        shape = np.broadcast_shapes(np.shape(s), np.shape(f), (len(cells), 1))
        orders = [np.array(np.broadcast_to(x, shape), dtype=np.float64) for x in (s, f)]
        seen = [x * given_data for x in self._seen(cells)]
        function = compile_log_moment(self.structure)
        blocks = (
            function(
                self.cells.group[cells],
                *seen,
                *orders,
                *(value[rows] for value in self.parameters.values()),
            )
            for rows in self.blocks(shape[0] * shape[1])
        )
        return np.concatenate(list(blocks))

    def log_evidence(self) -> np.ndarray:
        """Log-probability of the counts of each cell in one order, shape (sample, cell).

        Of a joint difficulty: of each row of cells, shape (sample, row).
        """
        function = compile_log_evidence(self.structure)
        counts = [self.cells.n_successes, self.cells.n_failures]
        if self.joint:
            counts = [x.reshape(-1, self._n_groups).T for x in counts]
        blocks = (
            function(
                self.cells.group, *counts, *(value[rows] for value in self.parameters.values())
            )
            for rows in self.blocks(len(self.cells.group))
        )
        return np.concatenate(list(blocks))

    @cached_property
    def joint(self) -> bool:
        """Whether the counts of all systems on a problem bear on each other."""
        return family_of(self.structure).joint

    def blocks(self, width: int) -> Iterator[slice]:
        """Slices over the draws that keep ``draws × width × own`` below the size of a block."""
        own = max(int(np.prod(value.shape[2:])) for value in self.parameters.values())
        return blocks_of(self.n_samples, width * own * (self._n_groups if self.joint else 1))

    @property
    def _n_groups(self) -> int:
        return next(iter(self.parameters.values())).shape[1]

    def _seen(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        counts = self.cells.n_successes, self.cells.n_failures
        if not self.joint:
            return counts[0][cells], counts[1][cells]
        # The cells of a row stand together, one for each system.
        row = cells // self._n_groups
        successes, failures = (x.reshape(-1, self._n_groups).T[:, row] for x in counts)
        return successes, failures


def _register(variant: str) -> None:
    # A variant of the toolkit may bring a family of its own.
    if variant in variant_names():
        find_variant(variant)


def cells_from_dataset(constants: xr.Dataset) -> Cells:
    """Cells as they are kept in the ``constant_data`` group of a fit."""
    return Cells(
        group=constants["cell_group"].to_numpy(),
        n_attempts=constants["cell_n_attempts"].to_numpy(),
        n_successes=constants["cell_n_successes"].to_numpy(),
        multiplicity=constants["cell_multiplicity"].to_numpy(),
        index=constants["cell_index"].to_numpy(),
        n_levels=int(constants.attrs["n_levels"]),
    )


def blocks_of(n_samples: int, width: int) -> Iterator[slice]:
    """Slices over the draws that keep ``draws × width`` below the size of a block."""
    step = max(1, _BLOCK // max(1, width))
    return (slice(start, min(start + step, n_samples)) for start in range(0, n_samples, step))
