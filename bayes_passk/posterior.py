"""The draws of a fit as estimands need them: difficulty parameters beside the cells."""

__all__ = ["Posterior"]

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from bayes_passk.counts import Cells
from bayes_passk.difficulty import Difficulty, compile_log_moment
from bayes_passk.record import record_of

# Most numbers that one block of draws × units × orders holds: 32 MB each.
_BLOCK = 4_194_304


@dataclass(frozen=True)
class Posterior:
    """Difficulty parameters of every draw, and the cells that they were learnt from.

    Parameters
    ----------
    structure : str
        Structure of the difficulty distribution (`Difficulty.structure`).
    parameters : dict of str to ndarray
        Arrays of shape (sample, system) + own dimensions; a sample is a (chain, draw).
    cells : Cells
        Distinct counts of each system.
    """

    structure: str
    parameters: dict[str, np.ndarray]
    cells: Cells

    @classmethod
    def of(cls, fit: xr.DataTree) -> "Posterior":
        """Take the parameters and the cells out of a fit."""
        structure = record_of(fit)["difficulty"]
        stacked = fit["posterior"].to_dataset().stack(sample=("chain", "draw"), create_index=False)
        parameters = {
            name: stacked[name].transpose("sample", "system", ...).to_numpy()
            for name in Difficulty.own_dimensions(structure)
        }
        return cls(structure, parameters, cells_from_dataset(fit["constant_data"].to_dataset()))

    @cached_property
    def n_samples(self) -> int:
        """Number of draws of all chains together."""
        return len(next(iter(self.parameters.values())))

    def difficulty(self, cells: np.ndarray, samples: slice = slice(None)) -> Difficulty:
        """Difficulty of the problems in some cells given their counts, as arrays of draws.

        Its parameters have the shape (sample, unit) + own, a unit for each cell named.
        """
        groups = self.cells.group[cells]
        chosen = {name: value[samples][:, groups] for name, value in self.parameters.items()}
        successes, failures = (seen[cells] for seen in self._seen)
        return Difficulty.rebuild(self.structure, chosen).given(successes, failures)

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
        orders = [np.array(np.broadcast_to(x, shape), dtype=np.float64)[None] for x in (s, f)]
        seen = [x[cells][None, :, None] * given_data for x in self._seen]
        function = compile_log_moment(self.structure)
        chosen = {n: v[:, self.cells.group[cells], None] for n, v in self.parameters.items()}
        blocks = (
            function(*seen, *orders, *(value[rows] for value in chosen.values()))
            for rows in blocks_of(self.n_samples, shape[0] * shape[1])
        )
        return np.concatenate(list(blocks))

    @property
    def _seen(self) -> tuple[np.ndarray, np.ndarray]:
        return self.cells.n_successes, self.cells.n_attempts - self.cells.n_successes


def cells_from_dataset(constants: xr.Dataset) -> Cells:
    """Cells as they are kept in the ``constant_data`` group of a fit."""
    return Cells(
        group=constants["cell_system"].to_numpy(),
        n_attempts=constants["cell_n_attempts"].to_numpy(),
        n_successes=constants["cell_n_successes"].to_numpy(),
        multiplicity=constants["cell_multiplicity"].to_numpy(),
        index=constants["cell_index"].to_numpy(),
    )


def blocks_of(n_samples: int, width: int) -> Iterator[slice]:
    """Slices over the draws that keep ``draws × width`` below the size of a block."""
    step = max(1, _BLOCK // max(1, width))
    return (slice(start, min(start + step, n_samples)) for start in range(0, n_samples, step))
