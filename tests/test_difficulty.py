"""Laws of a difficulty distribution, for every family, and exact values where there are any."""

from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from bayes_passk.models.flexible import Flexible
from bayes_passk.models.generalised_logistic import GeneralisedLogistic
from bayes_passk.models.kumaraswamy import Kumaraswamy
from bayes_passk.models.logit_normal import LogitNormal
from bayes_passk.models.noisy_verifier import NoisyBeta
from bayes_passk.models.scaled_beta import ScaledBeta

from bayes_passk.composed import Mixture, OneInflated, SharedMixture, ZeroInflated
from bayes_passk.difficulty import (
    Beta,
    Difficulty,
    compile_log_evidence,
    compile_log_moment,
    compile_sampler,
    family_named,
)
from bayes_passk.errors import UnknownNameError


def array(*values):
    return np.array(values, dtype=np.float64)


BUMPS = 0.3 * np.sin(np.arange(9.0))[None, None]
WEIGHTS = np.log([[[0.7, 0.3]]])
TWO = Beta(array([[0.2, 4.0]]), array([[5.0, 2.0]]))
# A draw and a system each, as the posterior of a fit has them.
FAMILIES = {
    "beta": Beta(array([0.05]), array([3.0])),
    "beta, U-shaped": Beta(array([0.7]), array([0.4])),
    "beta, narrow": Beta(array([30.0]), array([200.0])),
    "zero-inflated": ZeroInflated(array([-1.0]), Beta(array([0.7]), array([2.0]))),
    "one-inflated": OneInflated(array([-2.0]), Beta(array([0.7]), array([2.0]))),
    "both": ZeroInflated(
        array([-1.0]), OneInflated(array([-2.0]), Beta(array([0.7]), array([2.0])))
    ),
    "mixture": Mixture(WEIGHTS, TWO),
    "logit-normal": LogitNormal(array([-3.0]), array([1.7])),
    "kumaraswamy": Kumaraswamy(array([0.3]), array([2.5])),
    "generalised logistic": GeneralisedLogistic(array([0.4]), array([3.0]), array([1.6])),
    "scaled beta": ScaledBeta(array([0.4]), array([5.0]), array([0.6])),
    "flexible": Flexible(array([0.4]), array([5.0]), BUMPS),
}
EACH = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())


def log_moment(family, s, f, given=(0, 0)):
    """Through the function that predictions use, for one unit."""
    function = compile_log_moment(family.structure())
    index = np.zeros(1, dtype=np.int64)
    seen = [array(float(x)) for x in given]
    orders = [array([float(x)]) for x in (s, f)]
    return function(index, *seen, *orders, *family.parameters().values()).item()


def beta_density(alpha, beta):
    return lambda p: p ** (alpha - 1) * (1 - p) ** (beta - 1)


def logistic_density(log_density):
    return lambda p: mpmath.exp(log_density(mpmath.log(p / (1 - p)))) / (p * (1 - p))


def bumpy(x):
    bumps = sum(
        BUMPS.ravel()[j] * mpmath.exp(-(((x - c) / 2) ** 2) / 2)
        for j, c in enumerate(range(-12, 5, 2))
    )
    return bumps - 0.4 * mpmath.log1p(mpmath.exp(-x)) - 5 * mpmath.log1p(mpmath.exp(x))


def stretched(x):
    y = x / mpmath.mpf("1.6")
    return -0.4 * mpmath.log1p(mpmath.exp(-y)) - 3 * mpmath.log1p(mpmath.exp(y))


# Unnormalised densities of p, written apart from the package.
DENSITIES = {
    "logit-normal": logistic_density(lambda x: -(((x + 3) / mpmath.mpf("1.7")) ** 2) / 2),
    "kumaraswamy": lambda p: p ** mpmath.mpf("-0.7") * (1 - p ** mpmath.mpf("0.3")) ** 1.5,
    "generalised logistic": logistic_density(stretched),
    "scaled beta": lambda p: beta_density(mpmath.mpf("0.4"), 5)(p / mpmath.mpf("0.6")),
    "flexible": logistic_density(bumpy),
}


def integral(density, s, f, top):
    """By quadrature on logit p, 25 digits, over pieces."""

    def integrand(x):
        p = 1 / (1 + mpmath.exp(-x))
        q = 1 / (1 + mpmath.exp(x))
        return density(top * p) * (top * p) ** s * (1 - top * p) ** f * p * q

    peak = mpmath.log((s + 1) * 1.0 / (f + 1) / float(top)) if s + f else 0
    pieces = {-250, -120, -60, -30, 40, *(peak + d for d in (-15, -8, -4, -2, -1, 1, 2, 4, 8, 15))}
    near = [peak + d / mpmath.mpf(10) for d in range(-8, 9, 2)]
    return mpmath.quad(integrand, sorted(x for x in {*pieces, *near} if x <= 40))


@pytest.mark.parametrize("name", DENSITIES)
def test_quadrature_agrees_with_arbitrary_precision(name):
    top = mpmath.mpf("0.6") if name == "scaled beta" else mpmath.mpf(1)
    with mpmath.workdps(25):
        whole = integral(DENSITIES[name], 0, 0, top)
        for s, f in ((0, 30), (7, 23), (300, 700), (2, 10**6)):
            want = float(mpmath.log(integral(DENSITIES[name], s, f, top) / whole))
            assert log_moment(FAMILIES[name], s, f) == pytest.approx(want, rel=1e-6), (s, f)


def test_beta_agrees_with_arbitrary_precision():
    for alpha, beta, s, f in product(
        (1e-3, 0.03, 1.0, 50.0, 1e4), (0.1, 1.0, 15.0, 1e4), (0, 1, 37, 1000), (0, 1, 500, 10**9)
    ):
        got = log_moment(Beta(array([alpha]), array([beta])), s, f)
        with mpmath.workdps(60):
            a, b = mpmath.mpf(alpha), mpmath.mpf(beta)
            want = _log_beta(a + s, b + f) - _log_beta(a, b)
        assert got == pytest.approx(float(want), rel=1e-10, abs=0), (alpha, beta, s, f)


def _log_beta(a, b):
    return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


def test_composed_families_are_sums():
    beta = Beta(array([0.7]), array([2.0]))
    psi, omega = 1 / (1 + np.exp(1.0)), 1 / (1 + np.exp(2.0))
    for s, f in ((0, 0), (0, 9), (3, 0), (2, 5)):
        inner = np.exp(log_moment(beta, s, f))
        one = omega * (f == 0) + (1 - omega) * inner
        zero = psi * (s == 0) + (1 - psi) * inner
        both = psi * (s == 0) + (1 - psi) * one
        for name, want in (("zero-inflated", zero), ("one-inflated", one), ("both", both)):
            assert np.exp(log_moment(FAMILIES[name], s, f)) == pytest.approx(want, rel=1e-12)
        parts = [log_moment(Beta(array([a]), array([b])), s, f) for a, b in ((0.2, 5), (4, 2))]
        mixed = 0.7 * np.exp(parts[0]) + 0.3 * np.exp(parts[1])
        assert np.exp(log_moment(FAMILIES["mixture"], s, f)) == pytest.approx(mixed, rel=1e-12)


@EACH
def test_moments_of_a_distribution(family):
    assert log_moment(family, 0, 0) == pytest.approx(0.0, abs=1e-7)
    ks = (1, 2, 5, 50, 1000)
    for k, longer in pairwise(ks):
        fail, later = log_moment(family, 0, k), log_moment(family, 0, longer)
        assert later < fail < 0
        # Jensen: E[q^longer] >= E[q^k]^(longer/k).
        assert later >= fail * longer / k
    # p + q = 1 under the expectation.
    whole = np.exp(log_moment(family, 1, 3)) + np.exp(log_moment(family, 0, 4))
    assert whole == pytest.approx(np.exp(log_moment(family, 0, 3)), rel=1e-7)


@EACH
def test_given_is_the_ratio_of_moments(family):
    ratio = log_moment(family, 3, 17) - log_moment(family, 2, 8)
    assert log_moment(family, 1, 9, given=(2, 8)) == pytest.approx(ratio, rel=1e-7)


@EACH
@pytest.mark.parametrize("given", [(0, 40), (1, 4), (300, 700)])
def test_samples_have_the_moments(family, given):
    n = 100_000
    seen = [array(float(x)) for x in given]
    log_p, log_q = compile_sampler(family.structure())(
        np.random.default_rng(3),
        np.array([n]),
        np.zeros(1, dtype=np.int64),
        *seen,
        *family.parameters().values(),
    )
    np.testing.assert_allclose(np.exp(log_p) + np.exp(log_q), 1.0, rtol=1e-12)
    for s, f in ((1, 0), (0, 1), (0, 20), (2, 3)):
        with np.errstate(invalid="ignore"):
            draws = np.exp((s * log_p if s else 0) + (f * log_q if f else 0))
        error = draws.std() / np.sqrt(n) + 1e-9
        assert abs(draws.mean() - np.exp(log_moment(family, s, f, given=given))) < 4.5 * error


def test_samples_of_tiny_shapes_do_not_underflow():
    log_p, log_q = Beta(np.full(1000, 1e-3), np.full(1000, 5.0)).sample(np.random.default_rng(1))
    assert np.isfinite(log_p).all()
    assert np.isfinite(log_q).all()
    # Half of such problems have a success probability below 1e-300.
    assert (log_p < -690).mean() > 0.3


def test_a_noisy_verifier_counts_what_is_not_so():
    noisy = NoisyBeta(array([0.4]), array([5.0]), array([0.9]), array([0.95]))
    exact = Beta(array([0.4]), array([5.0]))
    # Before data, a new problem's pass@k does not depend on the verifier.
    assert log_moment(noisy, 0, 50) == pytest.approx(log_moment(exact, 0, 50), rel=1e-6)
    evidence = compile_log_evidence(noisy.structure())
    got = evidence(np.zeros(1, np.int64), array(3.0), array(7.0), *noisy.parameters().values())
    with mpmath.workdps(30):
        a, b = mpmath.mpf("0.4"), 5

        def expected(weight):
            def integrand(x):
                p, q = 1 / (1 + mpmath.exp(-x)), 1 / (1 + mpmath.exp(x))
                rate = mpmath.mpf("0.05") * q + mpmath.mpf("0.9") * p
                return p**a * q**b * weight(rate, p)

            return mpmath.quad(integrand, [-250, -60, -20, -8, -4, -2, 0, 2, 8, 40])

        whole = expected(lambda rate, p: 1)
        want = expected(lambda rate, p: rate**3 * (1 - rate) ** 7)
        assert got.item() == pytest.approx(float(mpmath.log(want / whole)), rel=1e-6)
        solved = expected(lambda rate, p: rate**3 * (1 - rate) ** 7 * (1 - p) ** 20) / want
    moment = log_moment(noisy, 0, 20, given=(3, 7))
    assert moment == pytest.approx(float(mpmath.log(solved)), rel=1e-6)


def test_systems_inform_each_other_through_a_shared_component():
    # Two systems, two components: enumerated by hand.
    log_weight = np.log(np.array([[[0.6, 0.4], [0.6, 0.4]]]))
    alpha = np.array([[[0.3, 5.0], [0.6, 9.0]]])
    beta = np.array([[[7.0, 2.0], [4.0, 1.0]]])
    shared = SharedMixture(log_weight, Beta(alpha, beta))
    c, n = np.array([0.0, 6.0]), np.array([5.0, 8.0])

    def moment(system, component, s, f):
        a, b = alpha[0, system, component], beta[0, system, component]
        return np.exp(log_moment(Beta(array([a]), array([b])), s, f))

    weight = [w * moment(0, j, 0, 5) * moment(1, j, 6, 2) for j, w in enumerate((0.6, 0.4))]
    evidence = compile_log_evidence(shared.structure())
    got = evidence(
        np.zeros(1, np.int64), c[:, None], (n - c)[:, None], *shared.parameters().values()
    )
    assert got.item() == pytest.approx(np.log(sum(weight)), rel=1e-12)
    want = sum(
        w * moment(0, j, 0, 5 + 30) / moment(0, j, 0, 5) for j, w in enumerate(weight)
    ) / sum(weight)
    function = compile_log_moment(shared.structure())
    found = function(
        np.zeros(1, np.int64),
        c[:, None],
        (n - c)[:, None],
        array([0.0]),
        array([30.0]),
        *shared.parameters().values(),
    )
    assert np.exp(found.item()) == pytest.approx(want, rel=1e-12)
    _, log_q = compile_sampler(shared.structure())(
        np.random.default_rng(1),
        np.array([100_000]),
        np.zeros(1, np.int64),
        c[:, None],
        (n - c)[:, None],
        *shared.parameters().values(),
    )
    draws = np.exp(30 * log_q)
    assert abs(draws.mean() - want) < 4.5 * draws.std() / np.sqrt(draws.size)


@EACH
def test_structure_survives_a_round_trip(family):
    again = Difficulty.rebuild(family.structure(), family.parameters())
    assert again.structure() == family.structure()
    assert all(again.parameters()[name] is value for name, value in family.parameters().items())


def test_unknown_family_is_named():
    with pytest.raises(UnknownNameError, match="did you mean 'Beta'"):
        family_named("Bta")
