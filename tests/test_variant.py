"""Variants by name and by path, and what every variant of the toolkit must hold."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from bayes_passk.models import beta_binomial

from bayes_passk import counts_from_arrays, find_variant, fit, pass_at_k, variant_names
from bayes_passk.errors import UnknownNameError, VariantError

VARIANTS = ("beta_binomial",)
COUNTS = counts_from_arrays([15] * 12, [0, 0, 0, 0, 0, 1, 1, 2, 4, 7, 12, 15])


def test_the_tuple_names_every_variant():
    assert sorted(VARIANTS) == variant_names()


@pytest.mark.parametrize("name", VARIANTS)
def test_says_when_to_use_it(name):
    text = importlib.import_module(f"bayes_passk.models.{name}").__doc__
    for word in ("**When.**", "**When not.**", "**Priors.**", "**Source.**"):
        assert word in text


@pytest.mark.parametrize("name", VARIANTS)
def test_recovers_what_simulated_the_data(name):
    rng = np.random.default_rng(11)
    counts = counts_from_arrays([60] * 400, rng.binomial(60, rng.beta(0.4, 3.0, 400)))
    curve = pass_at_k(fit(counts, name, random_seed=1), [1, 60], estimand="population")
    low, high = curve["pass_at_k"].quantile([0.005, 0.995], ("chain", "draw")).values[:, 0]
    draws = rng.beta(0.4, 3.0, 2_000_000)
    truth = [1 - np.mean((1 - draws) ** k) for k in (1, 60)]
    assert (low < truth).all()
    assert (truth < high).all()


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def difficulty(:\n", "does not import: SyntaxError"),
        ("import nowhere_at_all\n", "does not import: ModuleNotFoundError"),
        ("x = 1\n", "expected a function difficulty"),
        ("def difficulty(systems):\n    return 1\n", "expected a Difficulty, got int"),
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
