"""Simulation-based calibration: each variant passes, its wrong twin does not.

Parameters are drawn from the prior, counts from the parameters, and the posterior from the
counts; the rank of the drawn parameter among the posterior's draws is then uniform (Talts et al.
2018). The counts are simulated with NumPy, apart from the package. The wrong twin is the same
variant on counts that pass@4 makes where its model says pass@1.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

from bayes_passk import find_variant, variant_names
from bayes_passk.compiled import compiled_model
from bayes_passk.counts import cells_of, counts_from_arrays
from bayes_passk.difficulty import family_of

from .simulators import SIMULATORS

N_PROBLEMS, N_ATTEMPTS = 30, 20
N_BINS, N_RANKS = 10, 50
SYSTEMS = {"shared_difficulty": 2}
LEVELS = {"grouped": 2}
# Its systems and nodes make it ten times as slow as the others.
FEWER = {"shared_difficulty": 0.5}


def simulated_counts(name, rng, parameters, distort):
    p = distort(np.clip(SIMULATORS[name](rng, parameters, N_PROBLEMS), 0.0, 1.0))
    c = rng.binomial(N_ATTEMPTS, p)
    levels = [str(i % LEVELS.get(name, 1)) for i in range(N_PROBLEMS)]
    return counts_from_arrays(np.full_like(c, N_ATTEMPTS), c, coords={"level": levels})


def ranks(name, n_simulations, *, pooling="partial", n_systems=None, distort=lambda p: p):
    """Rank of each parameter among 49 nearly independent draws, for every simulation."""
    variant = find_variant(name)
    n_systems = n_systems or SYSTEMS.get(name, 1)
    compiled = compiled_model(variant, pooling, n_systems, LEVELS.get(name, 1))
    joint = family_of(compiled.difficulty).joint
    free = [variable.name for variable in compiled.model.free_RVs]

    def simulation(i):
        rng = np.random.default_rng([20261201, i])
        drawn = compiled.prior.isel(chain=0, draw=i)
        parameters = {key: value.values for key, value in drawn.items()}
        counts = simulated_counts(name, rng, parameters, distort)
        cells = cells_of(counts, by=variant.covariate, joint=joint)
        seed = int(rng.integers(2**31))
        trace = compiled.sample(cells, draws=300, tune=300, chains=1, random_seed=seed)
        posterior = trace["posterior"]
        return {
            key: int((_thinned(posterior[key].values) < parameters[key].ravel()[0]).sum())
            for key in free
        }

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(simulation, range(n_simulations)))
    return {key: np.array([one[key] for one in found]) for key in free}


def _thinned(values):
    return values.reshape(300, -1)[5::6, 0][: N_RANKS - 1]


def p_values(found):
    """Chi-square of the ranks against uniform, one p-value a parameter."""
    return {
        key: stats.chisquare(np.bincount(values * N_BINS // N_RANKS, minlength=N_BINS)).pvalue
        for key, values in found.items()
    }


def test_every_variant_has_a_simulator():
    assert sorted(SIMULATORS) == variant_names()


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATORS)
def test_is_calibrated(name):
    found = p_values(ranks(name, int(80 * FEWER.get(name, 1))))
    assert min(found.values()) > 0.01 / len(found), found


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATORS)
def test_its_wrong_twin_is_not(name):
    found = p_values(ranks(name, int(50 * FEWER.get(name, 1)), distort=lambda p: 1 - (1 - p) ** 4))
    assert min(found.values()) < 1e-4, found


@pytest.mark.slow
def test_the_pooled_default_is_calibrated():
    found = p_values(ranks("beta_binomial", 80, n_systems=3))
    assert min(found.values()) > 0.01 / len(found), found
