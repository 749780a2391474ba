"""The log of a beta moment against arbitrary precision."""

from itertools import product

import mpmath
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from bayes_passk.special import (
    beta_log_moment,
    digamma_difference_kernel,
    log_beta_moment_kernel,
)

XS = (1e-6, 1e-3, 0.1, 1.0, 3.3, 9.99, 10.0, 100.0, 1e4, 1e9)
AS = (1e-3, 0.5, 1.0, 7.0, 1e3, 1e6, 1e9)
BS = (1e-3, 0.1, 1.0, 30.0, 1e4, 1e7)


def exact(x, a, b):
    with mpmath.workdps(60):
        x, a, b = map(mpmath.mpf, (x, a, b))
        numerator = mpmath.loggamma(x + a) + mpmath.loggamma(x + b)
        return float(numerator - mpmath.loggamma(x) - mpmath.loggamma(x + a + b))


@pytest.mark.parametrize("x", XS)
def test_agrees_with_arbitrary_precision(x):
    for a, b in product(AS, BS):
        assert log_beta_moment_kernel(x, a, b) == pytest.approx(exact(x, a, b), rel=1e-11, abs=0)


def test_is_symmetric_and_zero_without_order():
    for x, a, b in product(XS, AS, BS):
        one, other = log_beta_moment_kernel(x, a, b), log_beta_moment_kernel(x, b, a)
        assert one == pytest.approx(other, rel=1e-11)
        assert one <= 0
    assert log_beta_moment_kernel(0.3, 0.0, 5.0) == 0.0


@pytest.mark.parametrize("x", XS)
def test_digamma_difference(x):
    for a in AS:
        with mpmath.workdps(60):
            want = float(
                mpmath.digamma(mpmath.mpf(x) + mpmath.mpf(a)) - mpmath.digamma(mpmath.mpf(x))
            )
        assert digamma_difference_kernel(x, a) == pytest.approx(want, rel=1e-11, abs=0)


def test_gradient_is_the_derivative():
    inputs = pt.dscalars("alpha", "beta", "s", "f")
    value = beta_log_moment(*inputs)
    gradient = pytensor.function(inputs, pytensor.grad(value, list(inputs)))
    for point in ((0.3, 20.0, 1.5, 7.0), (5.0, 0.2, 1e3, 2.0), (200.0, 3.0, 40.0, 1e6)):
        with mpmath.workdps(40):
            for axis in range(4):
                want = mpmath.diff(
                    lambda t, axis=axis, point=point: _moved(point, axis, t), point[axis]
                )
                assert float(gradient(*point)[axis]) == pytest.approx(float(want), rel=1e-9)


def _moved(point, axis, value):
    a, b, s, f = (value if i == axis else mpmath.mpf(v) for i, v in enumerate(point))
    above = mpmath.loggamma(a + s) + mpmath.loggamma(b + f) - mpmath.loggamma(a + b + s + f)
    return above - mpmath.loggamma(a) - mpmath.loggamma(b) + mpmath.loggamma(a + b)


def test_compiled_and_interpreted_agree():
    inputs = pt.dvectors("alpha", "beta", "s", "f")
    values = [np.array(pair) for pair in ((0.1, 3.0), (5.0, 1e8), (2.0, 0.01), (0.0, 30.0))]
    compiled = pytensor.function(inputs, beta_log_moment(*inputs))
    interpreted = pytensor.function(inputs, beta_log_moment(*inputs), mode="FAST_COMPILE")
    np.testing.assert_allclose(compiled(*values), interpreted(*values), rtol=1e-14)
