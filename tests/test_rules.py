"""Laws that every rule obeys, and what sets each apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayes_passk as bp
from bayes_passk.errors import OptionError, UnknownNameError
from bayes_passk.rules import RULES, find_rule
from bayes_passk.standing import Standing, spread
from tests.helpers import fit_with

COUNTS = bp.counts_from_arrays(
    [[20] * 8, [6] * 8], [[0, 0, 0, 1, 1, 3, 9, 20], [0, 0, 0, 0, 1, 2, 5, 6]], systems=["A", "B"]
)
TREE = fit_with(COUNTS, 0.3, 2.0, n_draws=400)
SHAPE = COUNTS["n_attempts"].shape


def standing(room=1_000, cost=1.0, pending=0, posterior=lambda: TREE):
    full = [np.broadcast_to(np.asarray(x), SHAPE) for x in (pending, cost, room)]
    return Standing(
        COUNTS,
        full[0].astype(int),
        full[1].astype(float),
        full[2].astype(int),
        50,
        "benchmark",
        posterior,
    )


def rng():
    return np.random.default_rng(1)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_spends_the_batch_in_whole_numbers(name):
    for batch in (0, 1, 13, 400):
        plan = find_rule(name)(standing(), batch, rng())
        assert plan.dtype == np.int64
        assert plan.shape == SHAPE
        assert plan.sum() == batch
        assert (plan >= 0).all()


@pytest.mark.parametrize("name", RULES)
def test_every_rule_keeps_to_the_room(name):
    room = np.zeros(SHAPE, dtype=int)
    room[0, :3], room[1, 2] = 2, 5
    plan = find_rule(name)(standing(room), 9, rng())
    assert (plan <= room).all()
    assert plan.sum() == 9
    assert find_rule(name)(standing(room), 50, rng()).sum() == room.sum()
    assert not find_rule(name)(standing(0), 50, rng()).any()


@pytest.mark.parametrize("name", RULES)
def test_every_rule_keeps_within_the_cost(name):
    cost = np.where(np.arange(8) % 2, 7.0, 1.0) * np.array([[1.0], [2.0]])
    plan = find_rule(name)(standing(cost=cost), 200.0, rng())
    assert 200 - cost.max() < (plan * cost).sum() <= 200
    scaled = find_rule(name)(standing(cost=1_000 * cost), 200_000.0, rng())
    np.testing.assert_array_equal(plan, scaled)


@pytest.mark.parametrize("name", ["uniform", "fewest_successes", "until_successes"])
def test_rules_without_a_model_ask_for_no_fit(name):
    def no_fit():
        raise AssertionError("asked for a fit")

    find_rule(name)(standing(posterior=no_fit), 30, rng())


def test_uniform_levels_what_was_made_and_what_is_out():
    pending = np.zeros(SHAPE, dtype=int)
    pending[1, 0] = 9
    plan = find_rule("uniform")(standing(pending=pending), 68, rng())
    total = COUNTS["n_attempts"].values + pending + plan
    assert np.ptp(total[1]) <= 1
    assert plan[0].sum() == 0


def test_fewest_successes_goes_to_the_unsolved():
    plan = find_rule("fewest_successes")(standing(), 30, rng())
    assert not plan[COUNTS["n_successes"].values > 0].any()
    assert plan[0, :3].sum() == 0  # the unsolved of B have fewer attempts


def test_until_successes_leaves_the_solved_alone():
    plan = find_rule("until_successes", successes=2)(standing(), 300, rng())
    assert not plan[COUNTS["n_successes"].values >= 2].any()
    assert (plan[COUNTS["n_successes"].values == 1] > 0).all()


@pytest.mark.parametrize("name", ["posterior_sd", "thompson", "variance_reduction"])
def test_rules_with_a_model_prefer_what_is_uncertain(name):
    plan = find_rule(name)(standing(), 400, rng())
    assert plan[0, 0] > plan[0, 7]


@given(
    made=st.lists(st.integers(0, 50), min_size=3, max_size=9),
    batch=st.integers(0, 300),
    cap=st.integers(0, 40),
)
def test_spread_is_as_level_as_can_be(made, batch, cap):
    made = np.array(made)[None]
    room = np.full(made.shape, cap)
    plan = spread(made, room, np.ones(made.shape), batch, rng())
    assert plan.sum() == min(batch, cap * made.size)
    total = made + plan
    # Nobody who got an attempt stands two above anyone who could still have had it.
    given_one, could = total[plan > 0], total[plan < room]
    assert not len(given_one) or not len(could) or given_one.max() <= could.min() + 1


def test_unknown_rules_and_options_are_named():
    with pytest.raises(UnknownNameError, match="did you mean 'uniform'"):
        find_rule("unifrom")
    with pytest.raises(OptionError, match="no option depth"):
        find_rule("uniform", depth=3)
    with pytest.raises(OptionError, match="successes"):
        find_rule("until_successes", successes=0)
