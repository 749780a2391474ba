"""Reweighted draws against a fit of the same counts, and against exact weights."""

import numpy as np
import pytest
from scipy.special import betaln

import bayes_passk as bp
from bayes_passk.errors import FitError
from bayes_passk.reweighting import _smoothed, _systematic

N = np.full(40, 20)
C = np.r_[np.zeros(20), np.ones(8), np.full(6, 3), np.full(4, 9), [20, 20]].astype(int)


@pytest.fixture(scope="module")
def fitted():
    return bp.fit(bp.counts_from_arrays(N, C), random_seed=1)


def more(seed, size):
    rng = np.random.default_rng(seed)
    extra = rng.integers(0, size, len(N))
    return bp.counts_from_arrays(N + extra, C + rng.binomial(extra, (C + 0.2) / 20.4))


def test_reweighted_and_refitted_agree(fitted):
    counts = more(1, 20)
    carried = bp.reweight(fitted, counts)
    assert carried.reliable
    assert carried.pareto_k < 0.7
    again = bp.fit(counts, random_seed=2)
    for k in (1, 50, 1_000):
        both = [bp.pass_at_k(x, k)["pass_at_k"].values.ravel() for x in (carried.fit, again)]
        error = both[1].std() * (carried.ess**-0.5 + 1_000**-0.5)
        assert abs(both[0].mean() - both[1].mean()) < 4 * error
        assert abs(np.log(both[0].std() / both[1].std())) < 0.12


def test_means_are_those_of_exact_weights(fitted):
    counts = more(2, 4)
    n, c = counts["n_attempts"].values[0], counts["n_successes"].values[0]
    a, b = (fitted["posterior"][x].values.reshape(-1, 1) for x in ("alpha", "beta"))
    log_weight = (betaln(a + c, b + n - c) - betaln(a + C, b + N - C)).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    right = float((weight @ np.log(a)).item() / weight.sum())
    found = np.log(bp.reweight(fitted, counts).fit["posterior"]["alpha"].values)
    assert abs(found.mean() - right) < 0.02 * found.std()


def test_a_reweighted_fit_does_what_a_fit_does(fitted, tmp_path):
    counts = more(3, 5)
    carried = bp.reweight(fitted, counts).fit
    loaded = bp.load_fit(bp.save_fit(carried, tmp_path / "fit.nc"), counts=counts)
    assert bp.record_of(loaded)["reweighted"]["pareto_k"] < 0.7
    assert bp.pass_at_k(loaded, 9).equals(bp.pass_at_k(carried, 9))
    assert set(carried.children) == set(fitted.children)
    assert carried["log_likelihood"].sizes["cell"] == carried["constant_data"].sizes["cell"]
    assert bp.allocate(carried, 10, 5)["n_attempts"].sum() == 10


def test_a_great_surprise_is_not_trusted(fitted):
    assert not bp.reweight(fitted, bp.counts_from_arrays(N + 4_000, C + 3_500)).reliable


def test_other_problems_are_refused(fitted):
    with pytest.raises(FitError, match="its systems and problems"):
        bp.reweight(fitted, bp.counts_from_arrays(N[:-1], C[:-1]))
    other = bp.counts_from_arrays(N, C, systems=["else"])
    with pytest.raises(FitError, match="its systems and problems"):
        bp.reweight(fitted, other)


def test_joint_fits_are_reweighted_by_rows():
    counts = bp.counts_from_arrays(np.stack([N, N])[:, ::3], np.stack([C, C[::-1]])[:, ::3])
    tree = bp.fit(counts, "shared_difficulty", random_seed=1, draws=300, tune=300)
    same = bp.reweight(tree, counts)
    assert same.ess == pytest.approx(1_200)
    again = counts.assign(n_attempts=counts["n_attempts"] + 1)
    carried = bp.reweight(tree, again)
    assert 1 < carried.ess < 1_200
    assert carried.fit["log_likelihood"].sizes["row"] == tree["log_likelihood"].sizes["row"]


def test_equal_weights_stay_equal_and_resampling_keeps_shares():
    log_weight, pareto_k = _smoothed(np.full(50, -3.0))
    np.testing.assert_allclose(np.exp(log_weight), 0.02)
    assert pareto_k == -np.inf
    weight = np.array([0.5, 0.1, 0.4, 0.0])
    chosen = np.bincount(_systematic(np.repeat(weight, 25) / 25, np.random.default_rng(1)) // 25)
    np.testing.assert_allclose(chosen, 100 * weight[:3], atol=1)


def test_live_posterior_reweighs_then_refits(fitted):
    live = bp.LivePosterior(random_seed=1)
    live.load(fitted)
    assert live.at(bp.counts_from_arrays(N, C)) is fitted
    soon = live.at(more(4, 3))
    assert "reweighted" in bp.record_of(soon)
    assert live.at(more(4, 3)) is soon
    late = live.at(bp.counts_from_arrays(N + 4_000, C + 3_500))
    assert "reweighted" not in bp.record_of(late)
    resumed = bp.LivePosterior(random_seed=1)
    resumed.load(soon)
    assert "reweighted" not in bp.record_of(resumed.at(more(5, 3)))
