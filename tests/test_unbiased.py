"""The unbiased estimators against exact integers."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from bayes_passk import unbiased_pass_at_k, unbiased_pass_hat_k
from bayes_passk.errors import CountsError, NotDefinedError, OptionError


def test_agrees_with_exact_fractions():
    for n in (1, 2, 7, 40, 300):
        for c, k in product({0, 1, n // 3, n - 1, n}, {1, 2, n // 2, n}):
            if k < 1 or k > n:
                continue
            fail, succeed = Fraction(comb(n - c, k), comb(n, k)), Fraction(comb(c, k), comb(n, k))
            assert unbiased_pass_at_k(n, c, k) == pytest.approx(float(1 - fail), rel=1e-12)
            assert unbiased_pass_hat_k(n, c, k) == pytest.approx(float(succeed), rel=1e-12)


def test_is_unbiased():
    # Over all outcomes of n attempts, the estimate averages to 1 - (1-p)^k.
    n, p = 9, 0.3
    chances = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    for k in (1, 4, 9):
        mean = np.dot(chances, unbiased_pass_at_k(n, np.arange(n + 1), k))
        assert mean == pytest.approx(1 - (1 - p) ** k, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "c", "k", "want"),
    [(8, 2, 4, 0.785714), (10**6, 1, 10**5, 0.1), (4, 1, 4, 1.0), (164, 50, 10, 0.9768)],
)
def test_known_values(n, c, k, want):
    assert unbiased_pass_at_k(n, c, k) == pytest.approx(want, rel=1e-4)


def test_known_values_of_pass_hat():
    assert unbiased_pass_hat_k(4, 3, 2) == pytest.approx(0.5)
    assert unbiased_pass_hat_k(12, 9, 8) == pytest.approx(0.0182, abs=5e-5)


def test_beyond_the_attempts_it_does_not_exist():
    with pytest.raises(NotDefinedError, match=r"pass@100 needs n >= 100 .* smallest n is 99"):
        unbiased_pass_at_k([200, 99], [0, 0], 100)
    with pytest.raises(NotDefinedError, match=r"pass\^5 needs n >= 5"):
        unbiased_pass_hat_k(2, 0, 5)


@pytest.mark.parametrize("k", [0, -1, 1.5, float("nan"), True, "x", 10**10, []])
def test_k_must_be_a_whole_number(k):
    with pytest.raises(OptionError, match="expected whole numbers from 1"):
        unbiased_pass_at_k(10, 1, k)


@pytest.mark.parametrize(("n", "c"), [(5, 6), (5, -1), (5.5, 1)])
def test_counts_must_be_possible(n, c):
    with pytest.raises(CountsError, match="expected"):
        unbiased_pass_at_k(n, c, 1)
