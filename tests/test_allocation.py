"""Plans: what they add up to, whom they leave alone, and that they do what they are for."""

import numpy as np
import pytest
import xarray as xr

import bayes_passk as bp
from bayes_passk.allocation import planned
from bayes_passk.errors import BayesPasskError, OptionError, UnknownNameError
from bayes_passk.standing import Standing
from tests.helpers import fit_with

COUNTS = bp.counts_from_arrays(
    [[20] * 12, [10] * 12],
    [[0, 0, 0, 0, 0, 0, 1, 1, 2, 5, 12, 20], [0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 10]],
    systems=["A", "B"],
)


@pytest.fixture(scope="module")
def tree():
    rng = np.random.default_rng(3)
    alpha = rng.lognormal(-1.2, 0.3, (4, 100, 2))
    beta = rng.lognormal(1.0, 0.4, (4, 100, 2))
    return fit_with(COUNTS, alpha, beta, n_draws=400)


@pytest.mark.parametrize("budget", [0, 1, 7, 500, 100_000])
@pytest.mark.parametrize("target", ["benchmark", "curve", "difference", "any_success"])
def test_plan_adds_up_in_whole_numbers(tree, budget, target):
    plan = bp.allocate(tree, budget, 30, target=target)
    attempts = plan["n_attempts"].values
    assert attempts.dtype == np.int64
    assert attempts.sum() == budget
    assert (attempts >= 0).all()
    assert (plan["variance_expected"] <= plan["variance_now"]).all()
    assert (plan["width_expected"] <= plan["width_now"]).all()
    assert 0 <= plan["share_of_variance"].sum() <= 1 + 1e-9


def test_equal_seeds_give_equal_plans(tree):
    first, second = (bp.allocate(tree, 77, 30, random_seed=5) for _ in range(2))
    assert first.identical(second)
    other = bp.allocate(tree, 77, 30, random_seed=6)
    assert (first["n_attempts"] != other["n_attempts"]).any()


def test_problems_and_systems_outside_are_left_alone(tree):
    plan = bp.allocate(tree, 400, 30, systems=["B"], problems=["0", "5", "11"])["n_attempts"]
    outside = plan.sel(system="B").drop_sel(problem=["0", "5", "11"])
    assert plan.sum() == 400
    assert not plan.sel(system="A").any()
    assert not outside.any()
    assert list(bp.allocate(tree, 5, 30, systems=["B"])["quantity_system"].values) == ["B"]


def test_caps_hold_and_too_small_ones_are_said(tree):
    plan = bp.allocate(tree, 60, 30, cap=3)["n_attempts"]
    assert plan.max() <= 3
    assert plan.sum() == 60
    some = bp.allocate(tree, 100, 30, cap={"0": 0, "1": 2})["n_attempts"]
    assert not some.sel(problem="0").any()
    assert some.sel(problem="1").max() <= 2
    with pytest.raises(OptionError, match=r"at most 72.*got 73"):
        bp.allocate(tree, 73, 30, cap=3)


def test_scale_of_costs_does_not_matter(tree):
    cost = {"0": 5.0, "1": 0.5}
    dear = {name: 8 * price for name, price in cost.items()} | {
        str(name): 8.0 for name in COUNTS["problem"].values if str(name) not in cost
    }
    plan = bp.allocate(tree, 300, 30, cost=cost)["n_attempts"]
    assert plan.equals(bp.allocate(tree, 2400, 30, cost=dear)["n_attempts"])
    prices = xr.ones_like(plan, dtype=float)
    prices.loc[{"problem": "0"}], prices.loc[{"problem": "1"}] = 5.0, 0.5
    assert 300 - 0.5 < float((plan * prices).sum()) <= 300


def test_what_is_dear_is_sampled_less(tree):
    even = bp.allocate(tree, 2_000, 30)["n_attempts"].sel(system="A").sum()
    dear = bp.allocate(tree, 2_000, 30, cost={"A": 10.0})["n_attempts"].sel(system="A").sum()
    assert dear < even / 2


def test_a_difference_needs_two_systems_and_samples_both(tree):
    plan = bp.allocate(tree, 300, 30, target="difference")
    assert list(plan["quantity_system"].values) == ["A - B"]
    assert (plan["n_attempts"].sum("problem") > 0).all()
    with pytest.raises(OptionError, match="two systems, got 1"):
        bp.allocate(tree, 5, 30, target="difference", systems=["A"])


def test_what_is_out_counts_as_made(tree):
    shape = COUNTS["n_attempts"].shape
    pending = np.zeros(shape, dtype=np.int64)
    pending[0, 0] = 10_000
    ones = np.ones(shape)

    def plan(out):
        standing = Standing(
            COUNTS, out, ones, 50_000 * ones.astype(int), 30, "benchmark", lambda: tree
        )
        return planned(standing, 2_000, np.random.default_rng(1))

    assert plan(0 * pending)[0, 0] > 0
    assert plan(pending)[0, 0] == 0


WRONG = [
    ({"budget": -1}, OptionError, "budget.*-1"),
    ({"budget": 2.5}, OptionError, "whole number of attempts, got 2.5"),
    ({"budget": float("nan")}, OptionError, "budget"),
    ({"budget": "many"}, OptionError, "budget"),
    ({"budget": 5, "cost": 0.0}, OptionError, "cost.*above 0, got 0"),
    ({"budget": 5, "cost": {"A": -1.0}}, OptionError, "cost.*above 0, got -1"),
    ({"budget": 5, "cost": {"a": 1.0}}, UnknownNameError, "no problem or system 'a'"),
    ({"budget": 5, "cost": [1.0, 2.0, 3.0]}, OptionError, "cost: expected a number"),
    ({"budget": 5, "cap": -1}, OptionError, "cap"),
    ({"budget": 5, "cap": 1.5}, OptionError, "cap"),
    ({"budget": 5, "problems": ["nope"]}, UnknownNameError, "no problem 'nope'"),
    ({"budget": 5, "systems": ["a"]}, OptionError, "no system 'a'"),
    ({"budget": 5, "target": "bench"}, OptionError, "did you mean 'benchmark'"),
    ({"budget": 5, "k": 0}, OptionError, "k"),
    ({"budget": 5, "k": [1, 10], "target": "any_success"}, OptionError, "one k, got 1, 10"),
    ({"budget": 5, "ci_prob": 1.0}, OptionError, "ci_prob"),
]


@pytest.mark.parametrize(("options", "kind", "message"), WRONG)
def test_wrong_requests_are_refused(tree, options, kind, message):
    with pytest.raises(kind, match=message) as caught:
        bp.allocate(tree, **({"k": 30} | options))
    assert isinstance(caught.value, BayesPasskError)
