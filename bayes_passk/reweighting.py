r"""New counts without sampling anew: the draws of a fit, reweighted.

The problems' success probabilities are integrated out, so that a draw's weight under new counts
is the ratio of its collapsed likelihoods,

.. math:: w_t \propto \prod_i \frac{M(c_i', n_i' - c_i'; \theta_t)}{M(c_i, n_i - c_i; \theta_t)},

smoothed by a Pareto tail (Vehtari et al. 2024, Journal of Machine Learning Research 25). Its
shape says whether that can be trusted.
"""

__all__ = ["Reweighted", "can_reweight", "reweight"]

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from bayes_passk.counts import Cells, cells_of, digest, validate
from bayes_passk.difficulty import family_of
from bayes_passk.errors import FitError
from bayes_passk.fitting import constants_of, log_likelihood_of, with_log_likelihood
from bayes_passk.posterior import cells_from_dataset
from bayes_passk.record import record_of

# Beyond this shape of the tail the weights have no useful law of large numbers.
_LARGEST_PARETO_K = 0.7
_LEAST_ESS = 400


@dataclass(frozen=True)
class Reweighted:
    """A fit carried over to new counts, and whether to trust it.

    Parameters
    ----------
    fit : xarray.DataTree
        As `bayes_passk.fit` gives it, its draws resampled by their weights.
    pareto_k : float
        Shape of the tail of the weights.
    ess : float
        Effective number of draws, ``1 / sum w^2``.
    """

    fit: xr.DataTree
    pareto_k: float
    ess: float

    @property
    def reliable(self) -> bool:
        """Whether the tail is light enough and enough draws count."""
        return self.pareto_k <= _LARGEST_PARETO_K and self.ess >= _LEAST_ESS


def reweight(fit: xr.DataTree, counts: xr.Dataset, *, random_seed: int = 0) -> Reweighted:
    """Carry a fit over to new counts of the same systems and problems.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit that learnt from all attempts.
    counts : xarray.Dataset
        Its counts with attempts added (or taken away).
    random_seed : int
        Seed of the resampling.

    Raises
    ------
    CountsError
        The counts are not valid.
    FitError
        Other systems or problems, or a fit that learnt from the first successes only.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit
    >>> tree = fit(counts_from_arrays([20] * 8, [0, 0, 0, 1, 2, 5, 9, 20]), random_seed=1)
    >>> more = reweight(tree, counts_from_arrays([22] * 8, [0, 0, 1, 1, 2, 5, 10, 22]))
    >>> more.reliable, more.ess > 2000
    (True, True)
    """
    validate(counts)
    record = record_of(fit)
    if not can_reweight(fit, counts):
        raise FitError(
            "expected a fit that learnt from all attempts, and counts of its systems and problems "
            "in its order; fit these counts anew"
        )
    joint = family_of(record["difficulty"]).joint
    cells = cells_of(counts, by=record["covariate"], joint=joint)
    before = cells_from_dataset(fit["constant_data"].to_dataset())
    known = fit["log_likelihood"]["n_successes"].to_numpy()
    known = known.reshape(-1, known.shape[-1])
    values = log_likelihood_of(fit, cells) if joint else _extended(fit, known, before, cells)
    gained = values @ cells.unit_multiplicity(joint) - known @ before.unit_multiplicity(joint)
    log_weight, pareto_k = _smoothed(gained)
    ess = float(np.exp(-logsumexp(2 * log_weight)))
    rng = np.random.default_rng(random_seed)
    # Shuffled over the chains, which no longer are any.
    chosen = rng.permutation(_systematic(np.exp(log_weight), rng))
    tree = _resampled(fit, chosen)
    tree["observed_data"] = xr.DataTree(counts)
    tree["constant_data"] = xr.DataTree(constants_of(cells))
    record |= {"counts_digest": digest(counts)}
    record["reweighted"] = {"pareto_k": round(pareto_k, 3), "ess": round(ess, 1)}
    tree.attrs["bayes_passk"] = json.dumps(record)
    return Reweighted(with_log_likelihood(tree, values[chosen]), pareto_k, ess)


def can_reweight(fit: xr.DataTree, counts: xr.Dataset) -> bool:
    """Whether the counts are of the fit's systems and problems, and the fit learnt from all."""
    before = fit["observed_data"].to_dataset()
    same = (np.array_equal(before[dim].values, counts[dim].values) for dim in before.dims)
    return record_of(fit)["learn_from"] == "all" and all(same)


def _extended(fit: xr.DataTree, known: np.ndarray, before: Cells, cells: Cells) -> np.ndarray:
    # Log-likelihood of one problem in each cell: those there were before are there already.
    place = {key: column for column, key in enumerate(_keys(before))}
    column = np.array([place.get(key, -1) for key in _keys(cells)])
    new = np.flatnonzero(column < 0)
    values = known[:, column]
    if len(new):
        fresh = replace(
            cells,
            group=cells.group[new],
            n_attempts=cells.n_attempts[new],
            n_successes=cells.n_successes[new],
        )
        values[:, new] = log_likelihood_of(fit, fresh)
    return values


def _keys(cells: Cells) -> list[tuple[float, ...]]:
    return list(zip(cells.group, cells.n_attempts, cells.n_successes, strict=True))


def _smoothed(log_ratio: np.ndarray) -> tuple[np.ndarray, float]:
    from arviz_stats.base import array_stats  # takes seconds to import

    spread = float(np.ptp(log_ratio))
    if spread < 1e-9:
        return np.full(len(log_ratio), -np.log(len(log_ratio))), float("-inf")
    # It takes the negative of the log-weights, a log-likelihood that is left out.
    log_weight, pareto_k = array_stats.psislw(-log_ratio)
    return log_weight - logsumexp(log_weight), float(pareto_k)


def _systematic(weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    # As many draws as there are, each as often as its weight says, give or take one.
    points = (np.arange(len(weight)) + rng.random()) / len(weight)
    return np.minimum(np.searchsorted(np.cumsum(weight), points), len(weight) - 1)


def _resampled(fit: xr.DataTree, chosen: np.ndarray) -> xr.DataTree:
    sizes = fit["posterior"].sizes
    groups = {name: fit[name].to_dataset() for name in fit.children if name != "log_likelihood"}
    for name in ("posterior", "sample_stats"):
        flat = groups[name].stack(sample=("chain", "draw"), create_index=False)
        picked = flat.isel(sample=chosen).drop_vars(["chain", "draw"], errors="ignore")
        index = {"chain": fit["posterior"]["chain"], "draw": fit["posterior"]["draw"]}
        groups[name] = _unstacked(picked, sizes).assign_coords(index)
    return xr.DataTree.from_dict(groups)


def _unstacked(flat: xr.Dataset, sizes: Mapping[Hashable, int]) -> xr.Dataset:
    unstacked = {}
    for name, values in flat.data_vars.items():
        array = values.transpose("sample", ...)
        shape = (sizes["chain"], sizes["draw"], *array.shape[1:])
        unstacked[name] = (("chain", "draw", *array.dims[1:]), array.to_numpy().reshape(shape))
    return xr.Dataset(unstacked, coords=flat.coords)
