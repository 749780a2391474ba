"""Expected variance after a plan, against closed forms and against every draw reweighed."""

import numpy as np
import pytest
from scipy.special import betaln

import bayes_passk as bp
from bayes_passk.forecast import forecast
from bayes_passk.targets import functionals_of
from tests.helpers import fit_with


def test_known_difficulty_has_the_conjugate_answer():
    # Var(p | m more) is (a + b) / (a + b + m) of Var(p) on average.
    n, c, alpha, beta = np.full(40, 10), np.arange(40) % 6, 0.7, 3.0
    tree = fit_with(bp.counts_from_arrays(n, c), alpha, beta, n_draws=4_000)
    plan = np.where(np.arange(40) % 2, 30, 0)[None]
    found = forecast(tree, functionals_of("benchmark", 1, ["system"]), plan, 0.9, rng())
    a, b = alpha + c, beta + n - c
    now = a * b / (a + b) ** 2 / (a + b + 1)
    after = now * (a + b) / (a + b + plan[0])
    np.testing.assert_allclose(found.variance_now, now.sum() / 40**2, rtol=0.12)
    ratio = found.variance_expected / found.variance_now
    np.testing.assert_allclose(ratio, after.sum() / now.sum(), rtol=0.1)
    np.testing.assert_allclose(found.width_expected / found.width_now, np.sqrt(ratio))


@pytest.mark.parametrize(("m", "k"), [(5, 30), (40, 30), (200, 5)])
def test_unknown_difficulty_comes_near_the_best_possible(m, k):
    # With few settings of the parameters, every one can be reweighed by each future.
    generator = np.random.default_rng(1)
    alphas, betas = generator.lognormal(-1.0, 0.4, 25), generator.lognormal(1.5, 0.5, 25)
    counts = bp.counts_from_arrays(np.full(30, 8), np.arange(30) // 6)
    rows = np.arange(4_000) % 25
    shape = (4, 1_000, 1)
    tree = fit_with(counts, alphas[rows].reshape(shape), betas[rows].reshape(shape))
    plan = np.full((1, 30), m)
    found = forecast(tree, functionals_of("benchmark", k, ["system"]), plan, 0.9, rng())
    best = best_possible(alphas, betas, counts, m, k)
    assert 0.92 * best <= found.variance_expected[0] / found.variance_now[0] <= 1.35 * best


def best_possible(alphas, betas, counts, m, k, n_futures=600):
    generator = np.random.default_rng(2)
    n, c = (counts[name].values[0] for name in ("n_attempts", "n_successes"))
    a, b = alphas[:, None] + c, betas[:, None] + n - c
    left, values = [], []
    for _ in range(n_futures):
        t = generator.integers(len(alphas))
        p = generator.beta(a[t], b[t])
        y = generator.binomial(m, p)
        log_weight = (betaln(a + y, b + m - y) - betaln(a, b)).sum(axis=1)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        lnb = betaln(a + y, b + m - y)
        first = np.exp(betaln(a + y, b + m - y + k) - lnb)
        second = np.exp(betaln(a + y, b + m - y + 2 * k) - lnb)
        mean = first.mean(axis=1)
        within = (second - first**2).sum(axis=1) / len(n) ** 2
        left.append(weight @ (within + mean**2) - (weight @ mean) ** 2)
        values.append(((1 - p) ** k).mean())
    return np.mean(left) / np.var(values)


def test_no_attempts_change_nothing():
    tree = fit_with(bp.counts_from_arrays([9, 9], [0, 4]), 0.5, 2.0)
    functionals = functionals_of("benchmark", 9, ["system"])
    found = forecast(tree, functionals, np.zeros((1, 2), dtype=int), 0.9, rng())
    np.testing.assert_array_equal(found.variance_expected, found.variance_now)


def rng():
    return np.random.default_rng(11)
