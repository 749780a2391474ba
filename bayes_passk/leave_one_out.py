"""Leave one problem out: how well a fit predicts the counts of each problem from the others."""

__all__ = ["LeaveOneOut", "learned_cells", "leave_one_out"]

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from arviz_stats import loo
from arviz_stats.utils import ELPDDataLOO
from scipy.special import logsumexp

from bayes_passk.compiled import compiled_model
from bayes_passk.counts import Cells, cells_of
from bayes_passk.difficulty import family_of
from bayes_passk.fitting import log_likelihood_of
from bayes_passk.learning import learned_counts
from bayes_passk.record import record_of
from bayes_passk.variant import Variant, find_variant, variant_names

# Draws of an exact refit: the mean of a likelihood over them is good to some thousandths.
_DRAWS = 500


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-problem-out results of a fit.

    Parameters
    ----------
    elpd : arviz_stats.utils.ELPDDataLOO
        What `arviz_stats.compare` takes, an observation a problem that was attempted.
    pareto_k_max : float
        Largest Pareto k before exact refits.
    n_exact : int
        Problems whose value comes from a refit without them.
    """

    elpd: ELPDDataLOO
    pareto_k_max: float
    n_exact: int


def leave_one_out(fit: xr.DataTree) -> LeaveOneOut:
    r"""PSIS-LOO over problems, exact where it is not reliable.

    .. math:: \sum_i \log p(c_i \mid n_i, c_{-i})

    A problem is left out with the counts of all systems on it. Problems with equal counts have
    equal terms, so each distinct row of counts is computed once. Where the Pareto k exceeds its
    limit, the fit is made again without the problem. Problems that no system attempted do not
    enter. (Vehtari, Gelman and Gabry 2017.)
    """
    cells = learned_cells(fit)
    rows = _Rows.of(cells)
    terms = _terms(fit, cells, rows)
    with warnings.catch_warnings():
        # It warns of large Pareto k, which are mended below and reported.
        warnings.simplefilter("ignore", UserWarning)
        tree = _tree(terms, fit["posterior"].sizes)
        estimated = loo(tree, pointwise=True, reff=_relative_efficiency(fit))
    elpd, pareto_k = estimated.elpd_i.values.copy(), estimated.pareto_k.values.copy()
    worst = float(pareto_k.max())
    variant = _variant_of(fit)
    unreliable = np.flatnonzero((pareto_k > estimated.good_k) & (variant is not None))
    for row in unreliable:
        elpd[row] = _exact(fit, variant, cells, rows, int(row))
        pareto_k[row] = 0.0
    p = logsumexp(terms, axis=0) - np.log(len(terms)) - elpd
    n_exact = int(rows.multiplicity[unreliable].sum())
    return LeaveOneOut(_expanded(estimated, rows, elpd, p, pareto_k), worst, n_exact)


def learned_cells(fit: xr.DataTree) -> Cells:
    """Cells that a fit learnt from, in the order of its log-likelihood."""
    record = record_of(fit)
    counts = learned_counts(fit["observed_data"].to_dataset(), record["learn_from"], record["seed"])
    joint = family_of(record["difficulty"]).joint
    return cells_of(counts, by=record["covariate"], joint=joint)


@dataclass(frozen=True)
class _Rows:
    # Distinct rows of cells over the systems that attempted them, and the row of each problem.
    cells: np.ndarray  # (system, row)
    of_problem: np.ndarray  # (problem that was attempted,)
    multiplicity: np.ndarray  # (row,)

    @classmethod
    def of(cls, cells: Cells) -> "_Rows":
        attempted = (cells.n_attempts[cells.index] > 0).any(axis=0)
        distinct, of_problem, multiplicity = np.unique(
            cells.index[:, attempted], axis=1, return_inverse=True, return_counts=True
        )
        return cls(distinct, of_problem.ravel(), multiplicity)

    def sum_of(self, log_likelihood: np.ndarray, *, joint: bool) -> np.ndarray:
        """Sum over systems, shape (sample, row); a joint log-likelihood is of rows already."""
        if joint:
            return log_likelihood[:, self.cells[0] // len(self.cells)]
        return log_likelihood[:, self.cells].sum(axis=1)


def _terms(fit: xr.DataTree, cells: Cells, rows: _Rows) -> np.ndarray:
    joint = family_of(record_of(fit)["difficulty"]).joint
    return rows.sum_of(log_likelihood_of(fit, cells), joint=joint)


def _tree(terms: np.ndarray, sizes: Any) -> xr.DataTree:
    values = terms.reshape(sizes["chain"], sizes["draw"], -1)
    likelihood = xr.Dataset({"n_successes": (("chain", "draw", "row"), values)})
    return xr.DataTree.from_dict({"log_likelihood": likelihood})


def _relative_efficiency(fit: xr.DataTree) -> float:
    sizes = fit["posterior"].sizes
    return min(1.0, record_of(fit)["ess_min"] / (sizes["chain"] * sizes["draw"]))


def _variant_of(fit: xr.DataTree) -> Variant | None:
    # A variant from a path cannot be found again: a fit's file must not name what is run.
    record = record_of(fit)
    if record["variant"] not in variant_names():
        return None
    return find_variant(record["variant"], **record["options"])


def _exact(fit: xr.DataTree, variant: Any, cells: Cells, rows: _Rows, row: int) -> float:
    record = record_of(fit)
    n_systems = len(cells.index)
    compiled = compiled_model(variant, record["pooling"], n_systems, cells.n_levels)
    multiplicity = cells.multiplicity.copy()
    np.subtract.at(multiplicity, rows.cells[:, row], 1.0)
    trace = compiled.sample(
        replace(cells, multiplicity=multiplicity),
        draws=_DRAWS,
        tune=_DRAWS,
        chains=record["chains"],
        random_seed=record["seed"],
    )
    without = xr.DataTree.from_dict(
        {"posterior": trace["posterior"].to_dataset(), "constant_data": fit["constant_data"]}
    )
    without.attrs = dict(fit.attrs)
    if record["covariate"]:
        renamed = without["posterior"].to_dataset().rename({"covariate": record["covariate"]})
        without["posterior"] = xr.DataTree(renamed)
    terms = _terms(without, cells, rows)[:, row]
    return float(logsumexp(terms) - np.log(len(terms)))


def _expanded(
    estimated: ELPDDataLOO, rows: _Rows, elpd: np.ndarray, p: np.ndarray, pareto_k: np.ndarray
) -> ELPDDataLOO:
    problems = rows.of_problem
    n = len(problems)
    each = elpd[problems]
    return replace(
        estimated,
        elpd=float(each.sum()),
        se=float(np.sqrt(n * each.var())),
        p=float(p[problems].sum()),
        n_data_points=n,
        warning=bool((pareto_k[problems] > estimated.good_k).any()),
        elpd_i=xr.DataArray(each, dims="problem"),
        pareto_k=xr.DataArray(pareto_k[problems], dims="problem"),
    )
