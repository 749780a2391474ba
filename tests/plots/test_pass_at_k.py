"""The curve's plot, inspected through the backend that draws nothing."""

import numpy as np
import pytest

from bayes_passk import counts_from_arrays, fit, pass_at_k, plot_pass_at_k, prior_pass_at_k, summary
from bayes_passk.errors import OptionError


@pytest.fixture(scope="module")
def curve():
    counts = counts_from_arrays([[20] * 5, [20] * 5], [[0, 1, 2, 9, 20], [0, 0, 0, 1, 3]])
    return pass_at_k(fit(counts, random_seed=1, draws=200), [1, 5, 20, 100])


def drawn(collection, visual, system):
    return collection.viz[visual]["pass_at_k"].sel(system=system).item()


def test_draws_what_the_data_say(curve):
    collection = plot_pass_at_k(curve, ci_prob=0.8, backend="none")
    table = summary(curve, ci_prob=0.8).set_index("system")
    for system in curve["system"].values:
        median = drawn(collection, "median", system)
        np.testing.assert_allclose(median["x"], curve["k"])
        np.testing.assert_allclose(median["y"], table.loc[system, "median"])
        band = drawn(collection, "interval", system)
        np.testing.assert_allclose(band["y_bottom"], table.loc[system, "lower"])
        np.testing.assert_allclose(band["y_top"], table.loc[system, "upper"])
        points = drawn(collection, "unbiased", system)
        np.testing.assert_allclose(points["y"], table.loc[system, "unbiased"])
    end = collection.viz["data_end"]["pass_at_k"].item()
    assert float(end["x"]) == 20
    label = collection.viz["y_label"]["pass_at_k"].item()
    assert "benchmark" in label["string"]
    assert "80 % eti" in label["string"]


def test_systems_differ_in_more_than_colour(curve):
    collection = plot_pass_at_k(curve, backend="none")
    first, second = (drawn(collection, "median", system) for system in curve["system"].values)
    assert first["color"] != second["color"]
    assert first["linestyle"] != second["linestyle"]


def test_without_extrapolation_there_is_no_line(curve):
    collection = plot_pass_at_k(curve.sel(k=[1, 5, 20]), backend="none")
    assert "data_end" not in collection.viz


def test_a_prior_is_drawn_like_a_curve():
    collection = plot_pass_at_k(prior_pass_at_k([1, 10, 100]), backend="none")
    assert "unbiased" not in collection.viz
    assert "prior population" in collection.viz["y_label"]["pass_at_k"].item()["string"]


def test_one_k_is_no_curve(curve):
    with pytest.raises(OptionError, match="two values of k or more"):
        plot_pass_at_k(curve.sel(k=[1]), backend="none")
