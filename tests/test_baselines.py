"""The published predictors against other ways to the same numbers."""

from functools import partial
from itertools import product

import mpmath
import numpy as np
import pytest
import xarray as xr
from scipy.optimize import differential_evolution
from scipy.stats import beta as beta_distribution
from scipy.stats import betabinom, linregress

from bayes_passk.baselines import (
    beta_binomial_mle,
    bootstrap_interval,
    discretized_beta,
    power_law_regression,
)
from bayes_passk.baselines.discretized import _BIN_EDGES, _scaled_beta_pass_at_k
from bayes_passk.counts import counts_from_arrays
from bayes_passk.errors import CountsError, NotDefinedError, OptionError
from bayes_passk.unbiased import unbiased_pass_at_k

N = np.array([20, 20, 20, 20, 20, 20, 20, 20])
C = np.array([0, 0, 0, 0, 1, 2, 5, 12])
COUNTS = counts_from_arrays(N, C)
KS = [1, 10, 1_000, 10**6]
FULL_REGRESSION = partial(power_law_regression, form="log")
BASELINES = [power_law_regression, FULL_REGRESSION, discretized_beta, beta_binomial_mle]
WIDE = partial(beta_binomial_mle, shape_bounds=(1e-4, 1e6))


def simulated(alpha, beta, n_problems, n_attempts, scale=1.0, seed=1):
    rng = np.random.default_rng(seed)
    p = scale * rng.beta(alpha, beta, n_problems)
    return counts_from_arrays(np.full(n_problems, n_attempts), rng.binomial(n_attempts, p))


def beta_pass_at_k(alpha, beta, k):
    with mpmath.workdps(60):
        a, b = mpmath.mpf(alpha), mpmath.mpf(beta)
        return float(1 - mpmath.gammaprod([a + b, b + int(k)], [b, a + b + int(k)]))


# What all of them promise.


@pytest.mark.parametrize("baseline", BASELINES)
def test_result_is_labelled_and_a_probability(baseline):
    counts = counts_from_arrays(np.stack([N, N]), np.stack([C, C[::-1]]), systems=["A", "B"])
    result = baseline(counts, KS)
    assert isinstance(result, xr.DataArray)
    assert result.dims == ("system", "k")
    assert result["k"].values.tolist() == KS
    assert result["system"].values.tolist() == ["A", "B"]
    assert ((result >= 0) & (result <= 1)).all()
    assert (result.diff("k") >= 0).all()
    # The order of problems is of no consequence.
    np.testing.assert_allclose(result[0], result[1], rtol=1e-9)


@pytest.mark.parametrize("baseline", BASELINES)
def test_problems_without_attempts_are_left_out(baseline):
    more = counts_from_arrays([*N, 0, 0], [*C, 0, 0])
    np.testing.assert_allclose(baseline(more, KS), baseline(COUNTS, KS), rtol=1e-9)


@pytest.mark.parametrize("baseline", BASELINES)
def test_one_k_gives_one_column(baseline):
    assert baseline(COUNTS, 10).shape == (1, 1)


@pytest.mark.parametrize("baseline", BASELINES)
def test_bad_input(baseline):
    with pytest.raises(OptionError, match="expected whole numbers"):
        baseline(COUNTS, 0)
    with pytest.raises(CountsError, match="is more than"):
        baseline(COUNTS.assign(n_successes=COUNTS["n_attempts"] + 1), 10)
    untried = counts_from_arrays([[5, 5], [0, 0]], [[1, 2], [0, 0]], systems=["A", "B"])
    with pytest.raises(NotDefinedError, match=r"system 'B' has no attempts: .*bp\.fit"):
        baseline(untried, 10)


# Regression.


@pytest.mark.parametrize("form", ["log_log", "log"])
def test_regression_is_ordinary_least_squares(form):
    j = np.arange(1, 21)
    points = -np.log(unbiased_pass_at_k(N[:, None], C[:, None], j[None]).mean(axis=0))
    line = linregress(np.log(j), np.log(points) if form == "log_log" else points)
    at = line.intercept + line.slope * np.log([1, 100])
    want = np.exp(-np.exp(at)) if form == "log_log" else np.exp(-at)
    got = power_law_regression(COUNTS, [1, 100], form=form).values[0]
    np.testing.assert_allclose(got, np.minimum(want, 1.0), rtol=1e-10)


def test_regression_uses_the_smallest_n_only():
    uneven = counts_from_arrays([3, 200, 200], [1, 20, 100])
    j = np.array([1, 2, 3])
    n, c = np.array([[3], [200], [200]]), np.array([[1], [20], [100]])
    points = unbiased_pass_at_k(n, c, j).mean(axis=0)
    line = linregress(np.log(j), np.log(-np.log(points)))
    want = np.exp(-np.exp(line.intercept + line.slope * np.log(7)))
    assert power_law_regression(uneven, 7).item() == pytest.approx(want, rel=1e-10)


def test_points_without_a_logarithm_are_left_out():
    # From j = 3 on, pass@j is exactly 1: the line goes through j = 1 and 2.
    counts = counts_from_arrays([4, 4, 4], [2, 2, 3])
    points = -np.log(unbiased_pass_at_k([[4], [4], [4]], [[2], [2], [3]], [1, 2]).mean(axis=0))
    slope = np.log(points[1] / points[0]) / np.log(2)
    want = np.exp(-points[0] * 9**slope)
    assert power_law_regression(counts, 9).item() == pytest.approx(want, rel=1e-10)


@pytest.mark.parametrize("form", ["log_log", "log"])
@pytest.mark.parametrize(
    ("n", "c", "why"),
    [([9, 9], [0, 0], "no attempt succeeded"), ([1, 9], [1, 5], "one attempt; make more")],
)
def test_regression_needs_two_points(form, n, c, why):
    with pytest.raises(NotDefinedError, match=rf"system 'system': .*{why}.*bp\.fit"):
        power_law_regression(counts_from_arrays(n, c), 100, form=form)


def test_regression_on_successes_only():
    solved = counts_from_arrays([9, 9], [9, 9])
    with pytest.raises(NotDefinedError, match="harder problems are needed"):
        power_law_regression(solved, 100)
    assert power_law_regression(solved, 100, form="log").item() == 1.0


def test_regression_form_must_be_known():
    with pytest.raises(OptionError, match="did you mean 'log_log'"):
        power_law_regression(COUNTS, 10, form="loglog")


def test_regression_with_very_many_attempts():
    assert 0 < power_law_regression(counts_from_arrays([2**50] * 2, [5, 2**40]), 10).item() < 1


# Discretized beta.


@pytest.mark.parametrize(
    ("alpha", "beta", "scale"), list(product([0.01, 0.3, 7], [0.01, 3, 100], [1e-3, 0.3, 0.9999]))
)
def test_scaled_beta_against_the_hypergeometric_function(alpha, beta, scale):
    ks = np.array([1.0, 2.0, 30.0, 400.0])
    with mpmath.workdps(60):
        a, b, s = mpmath.mpf(alpha), mpmath.mpf(beta), mpmath.mpf(scale)
        want = [float(1 - mpmath.hyp2f1(-int(k), a, a + b, s)) for k in ks]
    got = _scaled_beta_pass_at_k(alpha, beta, scale, ks)
    np.testing.assert_allclose(got, want, rtol=1e-11)


@pytest.mark.parametrize(("alpha", "beta"), list(product([0.01, 1, 100], [0.01, 3, 100])))
def test_scaled_beta_of_scale_one_is_the_beta(alpha, beta):
    ks = np.array([1.0, 30.0, 10**4, 10**9])
    want = [beta_pass_at_k(alpha, beta, k) for k in ks]
    np.testing.assert_allclose(_scaled_beta_pass_at_k(alpha, beta, 1.0, ks), want, rtol=1e-11)


def test_scaled_beta_at_large_k():
    # E[(1 - sX)^k] ~ Γ(α+β)/Γ(β) (s k)^-α where X near 0 decides.
    alpha, beta, scale, k = 0.4, 2.5, 0.3, 1e9
    ratio = mpmath.gammaprod([alpha + beta], [beta])
    want = 1 - float(ratio) * (scale * k) ** -alpha
    got = _scaled_beta_pass_at_k(alpha, beta, scale, np.array([k]))[0]
    assert 1 - got == pytest.approx(1 - want, rel=1e-6)


@pytest.mark.parametrize(
    ("n", "c"),
    [
        (N, C),
        ([10] * 6, [0, 0, 0, 10, 10, 10]),
        ([100] * 5, [40] * 5),
        ([7, 50, 300], [0, 1, 299]),
    ],
)
def test_discretized_beta_maximises_its_likelihood(n, c):
    rate = np.array(c) / np.array(n)
    scale = rate.max()
    occupied, _ = np.histogram(rate, _BIN_EDGES)

    def negative(log_shapes):
        cdf = beta_distribution.cdf(_BIN_EDGES, *np.exp(log_shapes), scale=scale)
        return -occupied @ np.log(np.diff(cdf) + 1e-16)

    best = differential_evolution(negative, [np.log([0.01, 100.0])] * 2, rng=1, tol=1e-10)
    want = _scaled_beta_pass_at_k(*np.exp(best.x), scale, np.array([10.0, 1e4]))
    got = discretized_beta(counts_from_arrays(n, c), [10, 10**4]).values[0]
    np.testing.assert_allclose(got, want, rtol=1e-3)


def test_discretized_beta_finds_known_parameters():
    alpha, beta, scale = 0.8, 2.0, 0.4
    counts = simulated(alpha, beta, 5_000, 100_000, scale)
    ks = np.array([1.0, 30.0, 1_000.0])
    want = _scaled_beta_pass_at_k(alpha, beta, scale, ks)
    np.testing.assert_allclose(discretized_beta(counts, ks).values[0], want, rtol=0.03)


def test_discretized_beta_needs_a_success():
    with pytest.raises(NotDefinedError, match=r"system 'system': no attempt succeeded.*bp\.fit"):
        discretized_beta(counts_from_arrays([9, 9], [0, 0]), 100)


def test_discretized_beta_of_solved_problems_is_near_one():
    assert discretized_beta(counts_from_arrays([9, 9], [9, 9]), 100).item() > 0.99


# Beta-binomial.


@pytest.mark.parametrize(
    ("n", "c"),
    [(N, C), ([3, 100, 7, 40], [1, 3, 7, 0]), ([10**6] * 4, [0, 5, 10**4, 10**6])],
)
def test_mle_maximises_scipys_likelihood(n, c):
    n, c = np.array(n), np.array(c)

    def negative(log_shapes):
        return -betabinom.logpmf(c, n, *np.exp(log_shapes)).sum()

    best = differential_evolution(negative, [np.log([0.01, 100.0])] * 2, rng=1, tol=1e-10)
    want = [beta_pass_at_k(*np.exp(best.x), k) for k in KS]
    got = beta_binomial_mle(counts_from_arrays(n, c), KS).values[0]
    np.testing.assert_allclose(got, want, rtol=1e-4)


@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 2.0), (0.3, 3.0), (2.0, 0.5), (3.0, 40.0)])
def test_mle_finds_known_parameters(alpha, beta):
    counts = simulated(alpha, beta, 20_000, 100)
    want = [beta_pass_at_k(alpha, beta, k) for k in KS]
    np.testing.assert_allclose(beta_binomial_mle(counts, KS).values[0], want, rtol=0.05)


def test_mle_is_not_misled_by_stopping_at_successes():
    # Attempts until the second success, at most 200: c/n is biased, the likelihood is not.
    rng = np.random.default_rng(2)
    p = rng.beta(0.5, 4.0, 5_000)
    outcomes = rng.random((5_000, 200)) < p[:, None]
    reached = outcomes.cumsum(axis=1) == 2
    n = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, 200)
    counts = counts_from_arrays(n, np.minimum(outcomes.sum(axis=1), 2))
    got = beta_binomial_mle(counts, [10, 1_000]).values[0]
    want = [beta_pass_at_k(0.5, 4.0, k) for k in (10, 1_000)]
    np.testing.assert_allclose(got, want, rtol=0.03)


def test_mle_without_a_maximum_is_at_the_bounds():
    failed = counts_from_arrays([50] * 10, [0] * 10)
    want = [beta_pass_at_k(0.01, 100.0, k) for k in KS]
    np.testing.assert_allclose(beta_binomial_mle(failed, KS).values[0], want, rtol=1e-6)
    solved = counts_from_arrays([50] * 10, [50] * 10)
    want = [beta_pass_at_k(100.0, 0.01, k) for k in KS]
    np.testing.assert_allclose(beta_binomial_mle(solved, KS).values[0], want, rtol=1e-9)


def test_wider_bounds_let_equal_problems_be_equal():
    p = 0.03
    equal = counts_from_arrays([1_000] * 10, [30] * 10)
    np.testing.assert_allclose(
        WIDE(equal, [10, 100]).values[0], 1 - (1 - p) ** np.array([10, 100]), rtol=1e-3
    )
    assert WIDE(counts_from_arrays([50] * 10, [0] * 10), 100).item() < 1e-6


def test_mle_needs_two_attempts_on_a_problem():
    with pytest.raises(NotDefinedError, match=r"make a second attempt .*bp\.fit"):
        beta_binomial_mle(counts_from_arrays([1, 1], [0, 1]), 10)
    assert 0 < beta_binomial_mle(counts_from_arrays([1, 2], [0, 1]), 10).item() < 1


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (2.0, 1.0), (1.0, np.inf), (np.nan, 1.0)])
def test_shape_bounds_must_be_in_order(bounds):
    with pytest.raises(OptionError, match="expected 0 < least < largest"):
        beta_binomial_mle(COUNTS, 10, shape_bounds=bounds)


# Bootstrap.


def test_bootstrap_agrees_with_all_resamples():
    # Two problems have four equally likely resamples, three of them distinct.
    ends = bootstrap_interval(
        beta_binomial_mle,
        counts_from_arrays([10, 10], [1, 6]),
        [5, 50],
        n_resamples=100,
        ci_prob=0.9,
        random_seed=3,
    )
    resamples = [counts_from_arrays([10, 10], c) for c in ([1, 1], [1, 6], [6, 6])]
    curves = np.concatenate([beta_binomial_mle(counts, [5, 50]) for counts in resamples])
    np.testing.assert_allclose(ends["lower"].values[0], curves.min(axis=0), rtol=1e-9)
    np.testing.assert_allclose(ends["upper"].values[0], curves.max(axis=0), rtol=1e-9)


@pytest.mark.slow
def test_bootstrap_covers_the_truth_of_the_population():
    want, covered = beta_pass_at_k(0.5, 3.0, 20), 0
    for seed in range(40):
        counts = simulated(0.5, 3.0, 60, 40, seed=seed)
        ends = bootstrap_interval(
            beta_binomial_mle, counts, 20, n_resamples=60, ci_prob=0.9, random_seed=seed
        )
        covered += bool(ends["lower"] <= want <= ends["upper"])
    # 36 of 40 expected; below 29 with a chance of 0.2 %.
    assert covered >= 29


def test_bootstrap_is_seeded_labelled_and_leaves_counts_alone():
    counts = counts_from_arrays(
        [N, N[::-1]], [C, C], systems=["A", "B"], coords={"l": list("abcdefgh")}
    )
    before = counts.copy(deep=True)
    call = partial(bootstrap_interval, FULL_REGRESSION, counts, [1, 100], n_resamples=20)
    ends = call(random_seed=5)
    xr.testing.assert_identical(ends, call(random_seed=5))
    assert not ends.equals(call(random_seed=6))
    xr.testing.assert_identical(counts, before)
    assert ends["lower"].dims == ("system", "k")
    assert (ends["lower"] <= ends["upper"]).all()
    assert ends["system"].values.tolist() == ["A", "B"]
    assert ends.attrs["ci_kind"] == "eti"


def test_bootstrap_counts_the_resamples_without_an_estimate():
    counts = counts_from_arrays([9, 9], [0, 4])  # one resample of four has no success
    ends = bootstrap_interval(discretized_beta, counts, 10, n_resamples=40, random_seed=1)
    assert 20 <= ends["n_defined"].item() < 40
    with pytest.raises(NotDefinedError, match=r"no resample of system 'system' .* no attempt succ"):
        bootstrap_interval(discretized_beta, counts_from_arrays([9], [0]), 10, random_seed=1)


def test_bootstrap_of_a_system_without_attempts():
    untried = counts_from_arrays([[5, 5], [0, 0]], [[1, 2], [0, 0]], systems=["A", "B"])
    with pytest.raises(NotDefinedError, match="no resample of system 'B'"):
        bootstrap_interval(beta_binomial_mle, untried, 10, n_resamples=2, random_seed=1)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("n_resamples", 1),
        ("n_resamples", 2.5),
        ("ci_prob", 1.0),
        ("ci_prob", 0),
        ("random_seed", -1),
    ],
)
def test_bootstrap_options_must_be_in_range(option, value):
    options = {"random_seed": 1} | {option: value}
    with pytest.raises(OptionError, match=f"{option}: expected"):
        bootstrap_interval(beta_binomial_mle, COUNTS, 10, **options)
