"""Laws of a difficulty distribution, for every family."""

from itertools import pairwise, product

import mpmath
import numpy as np
import pytest

from bayes_passk.difficulty import Beta, Difficulty, compile_log_moment, family_named
from bayes_passk.errors import UnknownNameError

FAMILIES = [
    Beta(np.array(0.05), np.array(3.0)),
    Beta(np.array(0.7), np.array(0.4)),
    Beta(np.array(30.0), np.array(200.0)),
]


def log_moment(difficulty, s, f, given=(0, 0)):
    return float(difficulty.given(*map(float, given)).log_moment(float(s), float(f)).eval())


def test_beta_agrees_with_arbitrary_precision():
    function = compile_log_moment(FAMILIES[0].structure())
    shape = (1, 1, 1)
    for alpha, beta, s, f in product(
        (1e-3, 0.03, 1.0, 50.0, 1e4), (0.1, 1.0, 15.0, 1e4), (0, 1, 37, 1000), (0, 1, 500, 10**9)
    ):
        zero = np.zeros(shape)
        orders = [np.full(shape, float(value)) for value in (s, f)]
        got = function(zero, zero, *orders, *(np.full(shape, v) for v in (alpha, beta))).item()
        with mpmath.workdps(60):
            a, b = mpmath.mpf(alpha), mpmath.mpf(beta)
            want = _log_beta(a + s, b + f) - _log_beta(a, b)
        assert got == pytest.approx(float(want), rel=1e-10, abs=0), (alpha, beta, s, f)


def _log_beta(a, b):
    return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


@pytest.mark.parametrize("difficulty", FAMILIES)
def test_moments_of_a_distribution(difficulty):
    assert log_moment(difficulty, 0, 0) == 0.0
    ks = (1, 2, 5, 50, 1000)
    for k, longer in pairwise(ks):
        fail, later = log_moment(difficulty, 0, k), log_moment(difficulty, 0, longer)
        assert later < fail < 0
        # Jensen: E[q^longer] >= E[q^k]^(longer/k).
        assert later >= fail * longer / k
    # p + q = 1 under the expectation.
    whole = np.exp(log_moment(difficulty, 1, 3)) + np.exp(log_moment(difficulty, 0, 4))
    assert whole == pytest.approx(np.exp(log_moment(difficulty, 0, 3)), rel=1e-12)


@pytest.mark.parametrize("difficulty", FAMILIES)
def test_given_is_the_ratio_of_moments(difficulty):
    ratio = log_moment(difficulty, 3, 17) - log_moment(difficulty, 2, 8)
    assert log_moment(difficulty, 1, 9, given=(2, 8)) == pytest.approx(ratio, rel=1e-11)


@pytest.mark.parametrize("difficulty", FAMILIES)
def test_samples_have_the_moments(difficulty):
    n = 200_000
    wide = difficulty.map(lambda value: np.full(n, float(value))).given(1.0, 4.0)
    log_p, log_q = wide.sample(np.random.default_rng(3))
    np.testing.assert_allclose(np.exp(log_p) + np.exp(log_q), 1.0, rtol=1e-12)
    for s, f in ((1, 0), (0, 1), (0, 20), (2, 3)):
        draws = np.exp(s * log_p + f * log_q)
        error = draws.std() / np.sqrt(n)
        want = np.exp(log_moment(difficulty, s, f, given=(1, 4)))
        assert abs(draws.mean() - want) < 4.5 * error


def test_samples_of_tiny_shapes_do_not_underflow():
    log_p, log_q = Beta(np.full(1000, 1e-3), np.full(1000, 5.0)).sample(np.random.default_rng(1))
    assert np.isfinite(log_p).all()
    assert np.isfinite(log_q).all()
    # Half of such problems have a success probability below 1e-300.
    assert (log_p < -690).mean() > 0.3


def test_structure_survives_a_round_trip():
    for difficulty in FAMILIES:
        again = Difficulty.rebuild(difficulty.structure(), difficulty.parameters())
        assert again == difficulty


def test_unknown_family_is_named():
    with pytest.raises(UnknownNameError, match="did you mean 'Beta'"):
        family_named("Bta")
