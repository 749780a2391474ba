r"""What more attempts on a problem are worth: the expected reduction of posterior variance.

``m`` more attempts on a problem show ``y`` successes with probability :math:`P_t(y)` given the
parameters of draw ``t``, and leave :math:`E_t[(1-p)^k \mid y] = G_t(y) / P_t(y)`, where

.. math:: P_t(y) = \binom{m}{y} E_t[p^y (1-p)^{m-y}], \qquad
          G_t(y) = \binom{m}{y} E_t[p^y (1-p)^{m-y+k}]

are log-moments given the counts so far. Over the draws, which the outcome reweighs as well,

.. math:: E[F \mid y] = \frac{\sum_t P_t(y) E_t[F] + s_t (G_t(y) - P_t(y) E_t[(1-p)^k])}
                             {\sum_t P_t(y)},
          \qquad V(m) = \sum_y P(y) \left( E[F \mid y] - E[F] \right)^2,

the law of total variance: what the problem itself and what the difficulty distribution is
expected to lose. Outcomes are lumped into classes, which bounds ``V`` from below.
"""

__all__ = ["Beliefs", "expected_reduction"]

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import betaincinv, gammaln

from bayes_passk.posterior import Posterior
from bayes_passk.targets import Functionals

_DRAWS = 32
# First outcomes of the classes near 0, which decide about hard problems; the rest lie where a
# seventh of the outcomes each is expected.
_GROWING = np.array([0, 1, 2, 3, 4, 6, 9, 13, 19, 28, 42, 80, 160, 400, 1_000, 3_000, 10_000])
_QUANTILES = np.linspace(0, 1, 9)[1:-1]
# Sum over a wide class: the integrand is smooth, three Gauss-Legendre nodes do.
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(3)
# Outcomes × draws held at once.
_BLOCK = 2_000_000
# Share of the functionals' variance over draws that may be lost where systems inform each other.
_CROSS_LOST = 1e-6


@dataclass(frozen=True)
class Beliefs:
    """Some draws of a posterior, and what they make of the functionals.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    functionals : Functionals
        What is to be made certain.
    importance : ndarray, shape (J,)
        Weight of each functional's variance in the total.
    """

    posterior: Posterior
    functionals: Functionals
    importance: np.ndarray

    @classmethod
    def of(
        cls, posterior: Posterior, functionals: Functionals, importance: np.ndarray
    ) -> "Beliefs":
        """Take a few draws, evenly over all."""
        n = posterior.n_samples
        rows = np.unique(np.linspace(0, n - 1, min(n, _DRAWS)).round().astype(int))
        chosen = {name: values[rows] for name, values in posterior.parameters.items()}
        return cls(replace(posterior, parameters=chosen), functionals, importance)

    @cached_property
    def fail(self) -> np.ndarray:
        """``E_t[(1-p)^k]`` of each cell, shape (draw, cell, k)."""
        cells = np.arange(len(self.posterior.cells.group))
        ks = self.functionals.ks.astype(float)
        return np.exp(self.posterior.log_moment(cells, np.zeros(1), ks))

    @cached_property
    def values(self) -> np.ndarray:
        """``E_t[F]``, shape (draw, J)."""
        own = {int(s): self.cells_of(s) for s in self.functionals.systems}
        multiplicity = self.posterior.cells.multiplicity
        return self.functionals.values(
            {s: self.fail[:, cells] for s, cells in own.items()},
            {s: multiplicity[cells] for s, cells in own.items()},
        )

    def cells_of(self, system: int) -> np.ndarray:
        """Cells of a system."""
        return np.flatnonzero(self.posterior.cells.system == system)

    def cross(self, system: int) -> np.ndarray:
        """What the draws say of all functionals but the system's own, shape (draw, rank).

        The sum of their variances under any reweighting of the draws is that of these few
        principal components.
        """
        others = ~self.functionals.weights[:, system].any(axis=1)
        centred = (self.values - self.values.mean(axis=0)) * np.sqrt(self.importance)
        left, size, _ = np.linalg.svd(centred[:, others], full_matrices=False)
        kept = np.cumsum(size[::-1] ** 2)[::-1] > _CROSS_LOST * (size**2).sum()
        return left[:, kept] * size[kept]


def expected_reduction(
    beliefs: Beliefs, system: int, cells: np.ndarray, size: np.ndarray
) -> np.ndarray:
    """Expected reduction of the weighted variances by ``size`` more attempts on one problem.

    Parameters
    ----------
    beliefs : Beliefs
        Draws and functionals.
    system : int
        The system of the cells.
    cells, size : ndarray of int, shape (unit,)
        The cell that the problem is in, and how many more attempts.

    Returns
    -------
    ndarray, shape (unit,)
        In units of the variance; from below, and 0 for no attempts.
    """
    found = np.zeros(len(cells))
    some = np.flatnonzero(size > 0)
    if not len(some):
        return found
    cross = beliefs.cross(system)
    lattice = _Lattice.of(beliefs.posterior, cells[some], size[some])
    per_unit = np.bincount(lattice.unit, minlength=len(some))
    step = max(1, _BLOCK // (len(beliefs.values) * max(1, int(per_unit.max()))))
    for start in range(0, len(some), step):
        units = slice(start, min(start + step, len(some)))
        part = lattice.part(units)
        found[some[units]] = _reduction(beliefs, system, cross, cells[some[units]], part)
    return found


@dataclass(frozen=True)
class _Lattice:
    """Outcomes at which probabilities are evaluated: classes of units, nodes of classes."""

    unit: np.ndarray  # (node,) the unit of each node
    cell: np.ndarray  # (node,)
    y: np.ndarray  # (node,) successes, whole in narrow classes
    m: np.ndarray  # (node,) attempts
    weight: np.ndarray  # (node,)
    first: np.ndarray  # (class,) first node
    class_unit: np.ndarray  # (class,)

    @classmethod
    def of(cls, posterior: Posterior, cells: np.ndarray, size: np.ndarray) -> "_Lattice":
        start, stop, class_unit = _classes(posterior, cells, size)
        wide = stop - start > len(_NODES)
        n_nodes = np.where(wide, len(_NODES), stop - start).astype(np.int64)
        first = np.concatenate([[0], np.cumsum(n_nodes)[:-1]])
        owner = np.repeat(np.arange(len(start)), n_nodes)
        nth = np.arange(len(owner)) - first[owner]
        middle, half = (start + stop - 1) / 2, (stop - start) / 2
        y = np.where(wide[owner], middle[owner] + half[owner] * _NODES[nth], start[owner] + nth)
        weight = np.where(wide[owner], half[owner] * _NODE_WEIGHTS[nth], 1.0)
        unit = class_unit[owner]
        return cls(unit, cells[unit], y, size[unit].astype(float), weight, first, class_unit)

    def part(self, units: slice) -> "_Lattice":
        """Those of some units, in a row."""
        nodes = slice(*np.searchsorted(self.unit, [units.start, units.stop]))
        classes = slice(*np.searchsorted(self.class_unit, [units.start, units.stop]))
        return _Lattice(
            self.unit[nodes] - units.start,
            self.cell[nodes],
            self.y[nodes],
            self.m[nodes],
            self.weight[nodes],
            self.first[classes] - nodes.start,
            self.class_unit[classes] - units.start,
        )


def _classes(
    posterior: Posterior, cells: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # First and past-the-last outcome of every class, and its unit.
    low, high = _typical(posterior, cells)
    quantiles = betaincinv(low[:, None], high[:, None], _QUANTILES)
    expected = np.rint(size[:, None] * quantiles)
    growing = np.broadcast_to(_GROWING, (len(size), len(_GROWING)))
    edges = np.concatenate([growing, expected, size[:, None], size[:, None] + 1.0], axis=1)
    edges = np.sort(np.minimum(edges, size[:, None] + 1.0), axis=1)
    keep = np.diff(edges, axis=1) > 0
    start, stop = edges[:, :-1][keep], edges[:, 1:][keep]
    return start, stop, np.nonzero(keep)[0]


def _typical(posterior: Posterior, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # A beta of the mean and variance that the draws give the problems of each cell.
    known, back = np.unique(cells, return_inverse=True)
    moments = np.exp(posterior.log_moment(known, np.array([1.0, 2.0]), np.zeros(1))).mean(axis=0)
    mean = np.clip(moments[:, 0], 1e-12, 1 - 1e-12)
    variance = np.clip(moments[:, 1] - mean**2, 1e-12 * mean * (1 - mean), None)
    concentration = np.maximum(mean * (1 - mean) / variance - 1, 1e-6)
    return (mean * concentration)[back], ((1 - mean) * concentration)[back]


def _reduction(
    beliefs: Beliefs, system: int, cross: np.ndarray, cells: np.ndarray, lattice: _Lattice
) -> np.ndarray:
    functionals, posterior = beliefs.functionals, beliefs.posterior
    choose = gammaln(lattice.m + 1) - gammaln(lattice.y + 1) - gammaln(lattice.m - lattice.y + 1)
    orders = np.concatenate([[0.0], functionals.ks])
    failures = lattice.m - lattice.y
    log_moment = posterior.log_moment(lattice.cell, lattice.y[:, None], failures[:, None] + orders)
    chance = np.exp(log_moment + choose[:, None]) * lattice.weight[:, None]
    chance = np.add.reduceat(chance, lattice.first, axis=1)
    # Quadrature over wide classes is off by a little: the outcomes' chances sum to one.
    start = np.searchsorted(lattice.class_unit, np.arange(len(cells)))
    chance /= np.add.reduceat(chance[..., :1], start, axis=1)[:, lattice.class_unit]
    seen, fail_seen = chance[..., 0], chance[..., 1:]
    own = functionals.weights[:, system].any(axis=1)
    unit_fail = beliefs.fail[:, cells]
    everyone = beliefs.cells_of(system)
    number = posterior.cells.multiplicity[everyone]
    slopes = _slopes(beliefs, system, cells, everyone, number)[:, :, own]
    centred = (beliefs.values - beliefs.values.mean(axis=0))[:, own]
    surprise = fail_seen - seen[..., None] * unit_fail[:, lattice.class_unit]
    shift = np.einsum("tck,tcjk->cj", surprise, slopes[:, lattice.class_unit])
    shift += seen.T @ centred
    total = seen.sum(axis=0)
    squares = (shift**2) @ beliefs.importance[own] + ((seen.T @ cross) ** 2).sum(axis=1)
    reduction = squares / np.maximum(total, 1e-300) / len(seen)
    return np.add.reduceat(reduction, start)


def _slopes(
    beliefs: Beliefs, system: int, cells: np.ndarray, everyone: np.ndarray, number: np.ndarray
) -> np.ndarray:
    whole = beliefs.functionals.slopes(system, beliefs.fail[:, everyone], number)
    return whole[:, np.searchsorted(everyone, cells)]
