"""Simulation-based calibration: each variant passes, its wrong twin does not.

Parameters are drawn from the prior, counts from the parameters, and the posterior from the
counts; the rank of the drawn parameter among the posterior's draws is then uniform (Talts et al.
2018). The simulation is written here with NumPy, apart from the package.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bayes_passk.compiled import compiled_model
from bayes_passk.counts import cells_of, counts_from_arrays
from bayes_passk.variant import find_variant

N_PROBLEMS, N_ATTEMPTS = 30, 20
N_BINS = 10
WRONG = Path(__file__).with_name("wrong_beta_binomial.py")


def prior_beta_binomial(rng, n_systems):
    """Parameters of the systems, and what is ranked, drawn by hand from the stated priors."""
    if n_systems == 1:
        logit_mean = rng.normal(-4, 2.5, 1)
        log_concentration = np.log(15) + 0.8 * rng.standard_t(4, 1)
        ranked = {"logit_mean": logit_mean[0], "log_concentration": log_concentration[0]}
    else:
        ranked, values = {}, []
        for name, location, spread in (
            ("logit_mean", rng.normal(-4, 2.5), 1.0),
            ("log_concentration", np.log(15) + 0.8 * rng.standard_t(4), 0.5),
        ):
            ranked[f"{name}_location"] = location
            ranked[f"{name}_log_spread"] = rng.normal(np.log(spread), 0.5)
            scale = np.exp(ranked[f"{name}_log_spread"])
            values.append(ranked[f"{name}_location"] + scale * rng.standard_t(4, n_systems))
            ranked[name] = values[-1][0]
        logit_mean, log_concentration = values
    mean = 1 / (1 + np.exp(-logit_mean))
    return mean, np.exp(log_concentration), ranked


def ranks(variant, n_systems, n_simulations, seed):
    """Rank of each parameter among 99 nearly independent draws, for every simulation."""
    rng = np.random.default_rng(seed)
    compiled = compiled_model(find_variant(variant), "partial", n_systems)
    found = {}
    for _ in range(n_simulations):
        mean, concentration, drawn = prior_beta_binomial(rng, n_systems)
        shapes = mean * concentration, (1 - mean) * concentration
        p = rng.beta(
            *(np.maximum(shape, 1e-300)[:, None] for shape in shapes), (n_systems, N_PROBLEMS)
        )
        c = rng.binomial(N_ATTEMPTS, p)
        cells = cells_of(counts_from_arrays(np.full_like(c, N_ATTEMPTS), c))
        trace = compiled.sample(
            cells, draws=500, tune=500, chains=2, random_seed=int(rng.integers(2**31))
        )
        for name, value in drawn.items():
            values = trace["posterior"][name].values.reshape(1000, -1)[:, 0]
            found.setdefault(name, []).append(int((values[5::10][:99] < value).sum()))
    return {name: np.array(values) for name, values in found.items()}


def p_values(found):
    """Chi-square of the ranks against uniform, one p-value a parameter."""
    return {
        name: stats.chisquare(np.bincount(values * N_BINS // 100, minlength=N_BINS)).pvalue
        for name, values in found.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(("n_systems", "n_simulations"), [(1, 300), (3, 120)])
def test_beta_binomial_is_calibrated(n_systems, n_simulations):
    found = p_values(ranks("beta_binomial", n_systems, n_simulations, seed=20261201))
    assert min(found.values()) > 0.01 / len(found), found


@pytest.mark.slow
def test_its_wrong_twin_is_not():
    found = p_values(ranks(str(WRONG), 1, 300, seed=20261201))
    assert min(found.values()) < 1e-6, found
