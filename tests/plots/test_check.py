"""The predictive check as a figure."""

import numpy as np
import pytest
from arviz_base import rc_context

from bayes_passk import counts_from_arrays, fit, plot_check


@pytest.fixture(scope="module")
def tree():
    n = np.full((2, 30), 20)
    c = np.random.default_rng(1).binomial(20, np.random.default_rng(2).beta(0.5, 2, (2, 30)))
    return fit(counts_from_arrays(n, c), random_seed=1, draws=200, tune=300)


def test_a_plot_for_each_statistic_and_system(tree):
    with rc_context({"plot.backend": "none"}):
        collection = plot_check(tree)
    assert "pass@20" in collection.viz["plot"]
    assert dict(collection.viz["plot"]["pass@20"].sizes) == {"system": 2}


def test_it_can_be_saved(tree, tmp_path):
    plot_check(tree, k=5).savefig(tmp_path / "check.png")
    assert (tmp_path / "check.png").stat().st_size > 10_000
