"""Variants by name and by path, and what every variant of the toolkit must hold."""

import importlib
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from bayes_passk.models import beta_binomial

from bayes_passk import (
    counts_from_arrays,
    find_variant,
    fit,
    load_fit,
    pass_at_k,
    record_of,
    save_fit,
    variant_names,
)
from bayes_passk.errors import UnknownNameError, VariantError

VARIANTS = (
    "beta_binomial",
    "beta_mixture",
    "flexible",
    "generalised_logistic",
    "grouped",
    "kumaraswamy",
    "logit_normal",
    "noisy_verifier",
    "scaled_beta",
    "shared_difficulty",
    "zero_inflated",
    "zero_one_inflated",
)
COUNTS = counts_from_arrays([15] * 12, [0, 0, 0, 0, 0, 1, 1, 2, 4, 7, 12, 15])


def simulated(n_problems=400, n_attempts=60):
    rng = np.random.default_rng(11)
    p = rng.beta(0.4, 3.0, n_problems)
    levels = {"level": np.where(np.arange(n_problems) % 2, "odd", "even")}
    return counts_from_arrays([n_attempts] * n_problems, rng.binomial(n_attempts, p), coords=levels)


@pytest.fixture(scope="module")
def fits():
    """One fit of each variant to the same simulated counts, made when asked for."""
    made = {}

    def of(name):
        if name not in made:
            # A perfect verifier, so that all variants can recover the same truth.
            perfect = {"sensitivity": 1.0, "specificity": 1.0}
            options = perfect if name == "noisy_verifier" else {}
            made[name] = fit(simulated(), name, random_seed=1, **options)
        return made[name]

    return of


def test_the_tuple_names_every_variant():
    assert sorted(VARIANTS) == variant_names()


@pytest.mark.parametrize("name", VARIANTS)
def test_says_when_to_use_it(name):
    text = importlib.import_module(f"bayes_passk.models.{name}").__doc__
    for word in ("**When.**", "**When not.**", "**Priors.**", "**Source.**"):
        assert word in text


@pytest.mark.parametrize("name", VARIANTS)
def test_recovers_what_simulated_the_data(fits, name):
    # Within the data all shapes must agree; beyond them they need not.
    tree = fits(name)
    record = record_of(tree)
    assert record["divergences"] == 0, record
    assert record["r_hat_max"] <= 1.01, record
    assert record["ess_min"] >= 400, record
    draws = np.random.default_rng(12).beta(0.4, 3.0, 2_000_000)
    truth = np.array([1 - np.mean((1 - draws) ** k) for k in (1, 30)])
    curve = pass_at_k(tree, [1, 30], estimand="population")["pass_at_k"]
    low, high = curve.quantile([0.0005, 0.9995], ("chain", "draw")).values[:, 0]
    assert ((low < truth) & (truth < high)).all(), (low, truth, high)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_loaded_fit_does_what_a_fresh_one_does(fits, name, tmp_path):
    tree = fits(name)
    loaded = load_fit(save_fit(tree, tmp_path / "fit.nc"))
    for estimand in ("benchmark", "population", "future_run"):
        curves = [pass_at_k(one, [1, 1000], estimand=estimand) for one in (tree, loaded)]
        xr.testing.assert_equal(*curves)
    draws = curves[0]["pass_at_k"].values
    assert ((draws >= 0) & (draws <= 1)).all()
    assert (draws[..., 0] <= draws[..., 1]).all()


def test_a_path_does_as_well_as_a_name(tmp_path):
    by_name = find_variant("beta_binomial")
    copy = tmp_path / "mine.py"
    copy.write_text(Path(beta_binomial.__file__).read_text())
    found = find_variant(copy)
    assert found.name == "mine"
    assert found.source == by_name.source
    one = fit(COUNTS, copy, random_seed=1, draws=50, tune=50)
    other = fit(COUNTS, random_seed=1, draws=50, tune=50)
    np.testing.assert_array_equal(one["posterior"]["alpha"], other["posterior"]["alpha"])


BELOW_ZERO = """
from bayes_passk.difficulty import Beta

def difficulty(systems):
    shape = systems.normal("shape", -3.0, sigma=0.1, spread=1.0)
    return Beta(shape, 0 * shape + 1.0)
"""
RISING = """
from dataclasses import dataclass
from bayes_passk.difficulty import Difficulty, Parameter

@dataclass(frozen=True)
class Rising(Difficulty):
    level: Parameter

    def log_moment(self, s, f):
        return self.level * 0 + s + f

    def given(self, successes, failures):
        return Rising(self.level + 0 * (successes + failures))

    def sample(self, rng, repeats=None):
        raise NotImplementedError

def difficulty(systems):
    return Rising(systems.normal("level", 0.0, sigma=1.0, spread=1.0))
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def difficulty(:\n", "does not import: SyntaxError"),
        ("import nowhere_at_all\n", "does not import: ModuleNotFoundError"),
        ("x = 1\n", "expected a function difficulty"),
        ("def difficulty(systems):\n    return 1\n", "expected a Difficulty, got int"),
        (BELOW_ZERO, r"broken.py: the log-moment is not finite: nan at .* alpha = "),
        (RISING, r"broken.py: the log-moment is above 0: .* at s = 0, f = 1 with level = "),
    ],
)
def test_a_file_without_a_variant(tmp_path, text, message):
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(VariantError, match=message):
        fit(COUNTS, path)


def test_names_are_suggested():
    with pytest.raises(UnknownNameError, match="did you mean 'beta_binomial'"):
        find_variant("betabinomial")
    with pytest.raises(VariantError, match="no such file"):
        find_variant("nowhere.py")
