"""Expected reduction of variance, against enumeration of every outcome."""

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import betabinom

from bayes_passk.counts import Cells
from bayes_passk.difficulty import Beta
from bayes_passk.gain import Beliefs, expected_reduction
from bayes_passk.posterior import Posterior
from bayes_passk.targets import functionals_of

RNG = np.random.default_rng(5)
N_DRAWS = 12
ALPHA = RNG.gamma(2.0, 0.2, (N_DRAWS, 2))
BETA = RNG.gamma(3.0, 3.0, (N_DRAWS, 2))
CELLS = Cells(
    group=np.array([0, 0, 0, 1, 1]),
    n_attempts=np.array([8.0, 8.0, 20.0, 8.0, 3.0]),
    n_successes=np.array([0.0, 3.0, 19.0, 0.0, 1.0]),
    multiplicity=np.array([4.0, 2.0, 1.0, 5.0, 2.0]),
    index=np.array([[0, 0, 0, 0, 1, 1, 2], [3, 3, 3, 3, 3, 4, 4]]),
)
POSTERIOR = Posterior(Beta(ALPHA, BETA).structure(), {"alpha": ALPHA, "beta": BETA}, CELLS)
NAMES = ["A", "B"]


def shapes(cell):
    group = CELLS.group[cell]
    c, n = CELLS.n_successes[cell], CELLS.n_attempts[cell]
    return ALPHA[:, group] + c, BETA[:, group] + n - c


def fail(cell, k, y=0, m=0):
    a, b = shapes(cell)
    return np.exp(betaln(a + y, b + m - y + k) - betaln(a + y, b + m - y))


def whole(system, k, product, swapped=None, value=None):
    # Mean failure of a system, or the chance that all fail; one problem of a cell replaced.
    cells = np.flatnonzero(CELLS.group == system)
    number = CELLS.multiplicity[cells]
    each = [fail(cell, k) for cell in cells]
    parts = [m * x if not product else x**m for m, x in zip(number, each, strict=True)]
    total = np.prod(parts, axis=0) if product else np.sum(parts, axis=0)
    if swapped is not None and CELLS.group[swapped] == system:
        own = fail(swapped, k)
        total = total / own * value if product else total - own + value
    return total if product else total / number.sum()


def enumerated(target, k, cell, m, importance, functionals):
    # Sum over all outcomes of P(y) (E[F|y] - E[F])^2, straight from the definition.
    a, b = shapes(cell)
    total = 0.0
    for y in range(m + 1):
        chance = betabinom.pmf(y, m, a, b)
        after = functionals(
            lambda s, kk, y=y: whole(s, kk, target == "any_success", cell, fail(cell, kk, y, m))
        )
        before = functionals(lambda s, kk: whole(s, kk, target == "any_success"))
        shift = (chance @ after) / chance.sum() - before.mean(axis=0)
        total += chance.mean() * (importance * shift**2).sum()
    return total


CASES = [
    ("benchmark", 50, None, lambda f: np.stack([f(0, 50), f(1, 50)], axis=1)),
    ("benchmark", 50, ["A"], lambda f: f(0, 50)[:, None]),
    ("curve", [1, 30], ["B"], lambda f: np.stack([f(1, 1), f(1, 30)], axis=1)),
    ("difference", 10, ["A", "B"], lambda f: (f(0, 10) - f(1, 10))[:, None]),
    ("any_success", 3, None, lambda f: np.stack([f(0, 3), f(1, 3)], axis=1)),
]


@pytest.mark.parametrize(("target", "k", "systems", "functionals"), CASES)
@pytest.mark.parametrize("cell", [0, 1, 2, 3])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_few_attempts_equal_the_enumeration(target, k, systems, functionals, cell, m):
    spec = functionals_of(target, k, NAMES, systems)
    importance = RNG.gamma(2.0, 1.0, len(spec.labels))
    beliefs = Beliefs(POSTERIOR, spec, importance)
    found = expected_reduction(beliefs, int(CELLS.group[cell]), np.array([cell]), np.array([m]))
    right = enumerated(target, k, cell, m, importance, functionals)
    np.testing.assert_allclose(found, right, rtol=2e-4)
    assert found <= right * (1 + 1e-6)


@pytest.mark.parametrize("k", [1, 20, 300])
@pytest.mark.parametrize("cell", [0, 1, 2])
@pytest.mark.parametrize("m", [25, 200, 1_500])
def test_classes_of_outcomes_lose_little(k, cell, m):
    spec = functionals_of("benchmark", k, NAMES, ["A"])
    beliefs = Beliefs(POSTERIOR, spec, np.ones(1))
    found = expected_reduction(beliefs, 0, np.array([cell]), np.array([m]))[0]
    right = enumerated("benchmark", k, cell, m, np.ones(1), lambda f: f(0, k)[:, None])
    assert 0.93 * right <= found <= 1.01 * right


def test_more_attempts_teach_more_and_none_teach_nothing():
    beliefs = Beliefs(POSTERIOR, functionals_of("benchmark", 50, NAMES), np.ones(2))
    sizes = np.array([0, 1, 3, 10, 40, 160])
    found = expected_reduction(beliefs, 0, np.zeros(6, dtype=int), sizes)
    assert found[0] == 0
    assert (np.diff(found) > 0).all()


def test_units_do_not_bear_on_each_other():
    beliefs = Beliefs(POSTERIOR, functionals_of("benchmark", 50, NAMES), np.ones(2))
    cells, sizes = np.array([0, 2, 1, 1, 0]), np.array([5, 0, 70, 1, 5])
    together = expected_reduction(beliefs, 0, cells, sizes)
    alone = [expected_reduction(beliefs, 0, cells[[i]], sizes[[i]])[0] for i in range(5)]
    np.testing.assert_allclose(together, alone, rtol=1e-12)
