r"""What an allocation is to make certain: functions of the problems' ``(1-p)^k``.

Given the parameters :math:`\theta_t` of a draw the problems are independent, and each
functional here is affine in the ``(1-p_i)^k`` of any one problem:

.. math:: E_t[F_j \mid y_i] = E_t[F_j] + \sum_k s_{tjik}
          \left( E_t[(1-p_i)^k \mid y_i] - E_t[(1-p_i)^k] \right)

with a slope that does not depend on that problem's outcomes ``y_i``. A weighted mean over
problems has constant slopes; the risk that any of them succeeds, ``1 - prod_i (1-p_i)^k``, has the
product of the others.
"""

__all__ = ["TARGETS", "Functionals", "fail_draws", "fail_moments", "functionals_of"]

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayes_passk.errors import OptionError, did_you_mean
from bayes_passk.posterior import Posterior
from bayes_passk.unbiased import whole_ks

# A curve asked for by its last k alone is weighed at so many k, evenly over log k.
_CURVE_POINTS = 5


@dataclass(frozen=True)
class Functionals:
    """The quantities whose variances an allocation reduces.

    Parameters
    ----------
    ks : ndarray of int, shape (k,)
        The orders that they are made of.
    weights : ndarray, shape (functional, system, k)
        Weight of the mean failure ``mean_i (1-p_i)^k`` of each system in each functional.
    product : bool
        The functional is the chance that all attempts of the system fail, not the mean failure.
    labels : tuple of (str, int)
        System (or pair of systems) and k of each functional.
    """

    ks: np.ndarray
    weights: np.ndarray
    product: bool
    labels: tuple[tuple[str, int], ...]

    @property
    def systems(self) -> np.ndarray:
        """Indices of the systems that matter."""
        return np.flatnonzero(self.weights.any(axis=(0, 2)))

    def of_draws(self, log_fail: dict[int, np.ndarray]) -> np.ndarray:
        """Functionals of ``log(1-p)`` of shape (draw, problem) for each system: (draw, J)."""
        total: np.ndarray | float = 0.0
        for system, log_q in log_fail.items():
            summed = log_q.sum(axis=1) if self.product else log_q
            parts = [np.exp(k * summed) for k in self.ks]
            means = [part if self.product else part.mean(axis=1) for part in parts]
            total = total + np.stack(means, axis=1) @ self.weights[:, system].T
        return np.asarray(total)

    def values(self, mean_fail: dict[int, np.ndarray], share: dict[int, np.ndarray]) -> np.ndarray:
        """Conditional expectations, shape (draw, J).

        ``mean_fail[system]`` is ``E_t[(1-p)^k]`` of shape (draw, unit, k), ``share[system]`` the
        number of problems of each unit.
        """
        total: np.ndarray | float = 0.0
        for system, fail in mean_fail.items():
            total = total + self._whole(fail, share[system]) @ self.weights[:, system].T
        return np.asarray(total)

    def slopes(self, system: int, fail: np.ndarray, number: np.ndarray) -> np.ndarray:
        """Slope of each functional in a unit's ``(1-p)^k``, shape (draw, unit, J, k)."""
        weights = self.weights[:, system]
        if self.product:
            whole = self._whole(fail, number)[:, None, :] / fail
            return whole[:, :, None, :] * weights
        return np.broadcast_to(weights / number.sum(), (*fail.shape[:2], *weights.shape))

    def _whole(self, fail: np.ndarray, number: np.ndarray) -> np.ndarray:
        if self.product:
            return np.exp(np.einsum("tuk,u->tk", np.log(fail), number))
        return np.einsum("tuk,u->tk", fail, number / number.sum())


def functionals_of(
    target: str, k: int | Sequence[int], names: Sequence[str], systems: Sequence[str] | None = None
) -> Functionals:
    """Functionals of a target.

    Parameters
    ----------
    target : {"benchmark", "curve", "difference", "any_success"}
        The benchmark's pass@k of each system; its curve, by the variances relative to those now,
        all k alike (of one k: five from 1 to k, evenly over log k); pass@k of the first system
        less that of the second; the risk that any problem is solved within k attempts.
    k : int or sequence of int
        Attempts granted.
    names : sequence of str
        Systems of the fit.
    systems : sequence of str, optional
        Those that matter; all by default, of which a difference needs two.

    Raises
    ------
    OptionError
        Unknown target, wrong k, unknown systems or not two for a difference.
    """
    if target not in TARGETS:
        raise OptionError(f"no target {target!r}: {did_you_mean(str(target), TARGETS)}")
    ks = np.unique(whole_ks(k)).astype(np.int64)
    if target == "curve" and len(ks) == 1:
        ks = np.unique(np.geomspace(1, ks[0], _CURVE_POINTS).round().astype(np.int64))
    if len(ks) > 1 and target not in ("curve", "benchmark"):
        raise OptionError(f"target {target}: expected one k, got {', '.join(map(str, ks))}")
    chosen = _chosen(names, systems)
    if target != "difference":
        return _each(target, ks, names, chosen)
    if len(chosen) != 2:
        raise OptionError(f"target difference: expected two systems, got {len(chosen)}; name them")
    weights = np.zeros((1, len(names), 1))
    weights[0, chosen, 0] = 1.0, -1.0
    label = f"{names[chosen[0]]} - {names[chosen[1]]}"
    return Functionals(ks, weights, False, ((label, int(ks[0])),))


def fail_moments(fit: xr.DataTree, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean and sd of each problem's ``(1-p)^k``, shape (system, problem)."""
    posterior = Posterior.of(fit)
    cells = np.arange(len(posterior.cells.group))
    first, second = np.moveaxis(
        posterior.log_moment(cells, np.zeros(1), k * np.array([1.0, 2.0])), 2, 0
    )
    mean = np.exp(first).mean(axis=0)
    within = np.exp(2 * first) * np.expm1(second - 2 * first)
    sd = np.sqrt(within.mean(axis=0) + np.exp(first).var(axis=0))
    index = posterior.cells.index
    return mean[index], sd[index]


def fail_draws(fit: xr.DataTree, k: int, rng: np.random.Generator) -> np.ndarray:
    """Posterior draws of each problem's ``(1-p)^k``, shape (draw, system, problem)."""
    posterior = Posterior.of(fit)
    index = posterior.cells.index
    cells, back, repeats = np.unique(index, return_inverse=True, return_counts=True)
    _, log_q = posterior.sample(cells, slice(None), repeats, rng)
    order = np.argsort(back.ravel(), kind="stable")
    drawn = np.empty_like(log_q)
    drawn[:, order] = np.exp(k * log_q)
    return drawn.reshape(-1, *index.shape)


TARGETS = ("benchmark", "curve", "difference", "any_success")


def _chosen(names: Sequence[str], systems: Sequence[str] | None) -> list[int]:
    known = {str(name): index for index, name in enumerate(names)}
    chosen = list(known) if systems is None else [str(name) for name in systems]
    for name in chosen:
        if name not in known:
            raise OptionError(f"no system {name!r} in this fit: {did_you_mean(name, known)}")
    return list(dict.fromkeys(known[name] for name in chosen))


def _each(target: str, ks: np.ndarray, names: Sequence[str], chosen: list[int]) -> Functionals:
    pairs = [(system, j) for system in chosen for j in range(len(ks))]
    weights = np.zeros((len(pairs), len(names), len(ks)))
    for row, (system, j) in enumerate(pairs):
        weights[row, system, j] = 1.0
    labels = tuple((str(names[system]), int(ks[j])) for system, j in pairs)
    return Functionals(ks, weights, target == "any_success", labels)
