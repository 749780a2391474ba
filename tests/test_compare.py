"""Variants against each other."""

import json

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import betabinom

from bayes_passk import (
    compare_variants,
    counts_from_arrays,
    extrapolation,
    fit,
    pass_at_k,
    side_by_side,
    stacked_pass_at_k,
)
from bayes_passk.errors import ComparisonError
from bayes_passk.leave_one_out import leave_one_out

N = [20] * 13
C = [0, 0, 0, 0, 1, 1, 2, 3, 5, 9, 14, 20, 0]
COUNTS = counts_from_arrays([*N, 0], [*C, 0])


@pytest.fixture(scope="module")
def fits():
    return {name: fit(COUNTS, name, random_seed=1) for name in ("beta_binomial", "zero_inflated")}


def test_leaving_one_out_agrees_with_refits(fits):
    found = leave_one_out(fits["beta_binomial"]).elpd
    # The problem without attempts does not enter.
    assert found.n_data_points == 13
    problem = 9
    rest = [i for i in range(13) if i != problem]
    without = fit(counts_from_arrays([20] * 12, [C[i] for i in rest]), random_seed=3, draws=4000)
    alpha, beta = (without["posterior"][name].values.ravel() for name in ("alpha", "beta"))
    exact = logsumexp(betabinom.logpmf(C[problem], 20, alpha, beta)) - np.log(alpha.size)
    assert found.elpd_i.values[problem] == pytest.approx(exact, abs=0.03)


def test_equal_problems_are_not_left_out_together():
    # 200 problems in two cells: leaving a whole cell out would ruin the prediction.
    counts = counts_from_arrays([10] * 200, [0] * 100 + [5] * 100)
    result = leave_one_out(fit(counts, random_seed=1))
    assert result.elpd.p < 10
    assert result.pareto_k_max < 0.7
    assert result.elpd.n_data_points == 200


def test_exact_where_importance_sampling_fails():
    # One problem decides on the always-solved ones: the rest knows nothing of it.
    counts = counts_from_arrays([500] * 12, [0] * 11 + [500])
    result = leave_one_out(fit(counts, random_seed=1, draws=500, tune=500))
    assert result.pareto_k_max > 0.7
    assert result.n_exact >= 1
    assert np.isfinite(result.elpd.elpd)


def test_the_table(fits):
    table = compare_variants(fits)
    assert table["weight"].sum() == pytest.approx(1.0, abs=1e-6)
    assert (table["elpd_diff"].iloc[0]) == 0
    assert table["elpd_loo"].is_monotonic_decreasing
    again = compare_variants(list(fits.values()))
    assert again["elpd_loo"].tolist() == table["elpd_loo"].tolist()


def test_the_stacked_curve_lies_between(fits):
    stacked = stacked_pass_at_k(fits, [1, 10, 1000])
    means = [
        pass_at_k(tree, [1, 10, 1000])["pass_at_k"].mean(("chain", "draw"))
        for tree in fits.values()
    ]
    mixed = stacked["pass_at_k"].mean(("chain", "draw"))
    assert ((mixed > np.minimum(*means) - 0.01) & (mixed < np.maximum(*means) + 0.01)).all()
    assert sum(stacked.attrs["weights"].values()) == pytest.approx(1.0, abs=1e-6)
    assert (np.diff(stacked["pass_at_k"].values, axis=-1) >= 0).all()


def test_fits_that_cannot_be_compared(fits):
    one = fits["beta_binomial"]
    with pytest.raises(ComparisonError, match="two fits or more to compare, got 1"):
        compare_variants([one])
    other = fit(counts_from_arrays(N, C), random_seed=1, draws=50, tune=50)
    with pytest.raises(ComparisonError, match="the same counts, got different ones"):
        compare_variants([one, other])
    changed = one.copy()
    changed.attrs["bayes_passk"] = json.dumps(
        json.loads(one.attrs["bayes_passk"]) | {"learn_from": "first_successes"}
    )
    with pytest.raises(ComparisonError, match="attempts to learn from"):
        compare_variants([one, changed])


def test_what_extrapolation_rests_on(fits):
    table = extrapolation(fits, [1, 20, 2000, 200_000])
    one = table[table["variant"] == "beta_binomial"]
    assert one["times_beyond"].tolist() == [0.05, 1.0, 100.0, 10_000.0]
    # Beyond the data all that is uncertain are the problems never solved.
    assert one["unseen_share"].iloc[-1] == pytest.approx(1.0, abs=0.01)
    assert one["unseen_share"].iloc[0] < 0.9
    disagreement = one["disagreement"].tolist()
    assert disagreement[-1] > disagreement[0]
    assert extrapolation({"a": fits["beta_binomial"]}, 5)["disagreement"].isna().all()
    with pytest.raises(ComparisonError):
        extrapolation({}, 5)


def test_curves_side_by_side(fits):
    curves = {name: pass_at_k(tree, [1, 10]) for name, tree in fits.items()}
    both = side_by_side(curves)
    assert both["system"].values.tolist() == ["system, beta_binomial", "system, zero_inflated"]
    np.testing.assert_array_equal(
        both["pass_at_k"].isel(system=1), curves["zero_inflated"]["pass_at_k"].isel(system=0)
    )
