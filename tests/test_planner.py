"""How many attempts: answers that hold when the plan is carried out, and when none can help."""

import numpy as np
import pytest

import bayes_passk as bp
from bayes_passk.errors import OptionError
from tests.helpers import fit_with

COUNTS = bp.counts_from_arrays(np.full(60, 15), np.r_[np.zeros(30), np.arange(30) // 2].astype(int))


@pytest.fixture(scope="module")
def tree():
    return fit_with(COUNTS, 0.4, 1.6, n_draws=2_000)


def test_the_forecast_of_the_answer_has_the_width(tree):
    needed = bp.attempts_needed(tree, 30, width=0.05, ci_prob=0.9)
    plan = bp.allocate(tree, needed.n_attempts, 30, ci_prob=0.9)
    assert 0.8 * 0.05 < float(plan["width_expected"].item()) <= 0.05
    widths = needed.table["width_expected"].values
    assert widths[0] == needed.width_now
    assert (np.diff(widths) < 0.002).all()
    assert f"{needed.n_attempts:,} more attempts" in needed.answer


def test_narrower_takes_more(tree):
    found = [bp.attempts_needed(tree, 30, width=w).n_attempts for w in (0.1, 0.05, 0.02)]
    assert sorted(found) == found
    assert found[0] < found[2]


def test_what_is_there_takes_nothing(tree):
    needed = bp.attempts_needed(tree, 30, width=0.9)
    assert needed.n_attempts == 0
    assert "no more attempts" in needed.answer


def test_a_population_needs_problems(tree):
    # A Beta(0.4, 1.6) is known here, so the floor is the sampling of its 60 problems.
    needed = bp.attempts_needed(tree, 1, width=0.05, ci_prob=0.9, estimand="population")
    floor = 2 * 1.6449 * np.sqrt(0.2 * 0.8 / 3 / 60)
    assert needed.n_attempts is None
    assert needed.width_floor == pytest.approx(floor, rel=1e-3)
    assert needed.n_problems == int(np.ceil(60 * (floor / 0.05) ** 2))
    assert f"at least {needed.n_problems:,} problems" in needed.answer
    wide = bp.attempts_needed(tree, 1, width=1.02 * floor, ci_prob=0.9, estimand="population")
    assert wide.n_attempts > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0.0}, "width.*above 0"),
        ({"width": "wide"}, "width"),
        ({"width": 0.1, "k": [1, 2]}, "k: expected one number"),
        ({"width": 0.1, "ci_prob": 2}, "ci_prob"),
        ({"width": 0.1, "estimand": "future_run"}, "benchmark or population"),
        ({"width": 0.1, "system": "nope"}, "no system 'nope'"),
    ],
)
def test_wrong_requests_are_refused(tree, options, message):
    with pytest.raises(OptionError, match=message):
        bp.attempts_needed(tree, **({"k": 5} | options))
