"""Checks of a fit against its counts."""

import numpy as np
import pytest

from bayes_passk import (
    check_fit,
    check_held_out,
    counts_from_arrays,
    fit,
    predictive_draws,
    prior_sensitivity,
    unsolvable,
)
from bayes_passk.errors import NotDefinedError, OptionError, VariantError
from bayes_passk.learning import learned_counts
from bayes_passk.record import record_of


def beta_counts(n_problems=200, n=40, seed=5):
    rng = np.random.default_rng(seed)
    return counts_from_arrays([n] * n_problems, rng.binomial(n, rng.beta(0.5, 3.0, n_problems)))


@pytest.fixture(scope="module")
def right():
    return fit(beta_counts(), random_seed=1)


def test_counts_from_the_model_pass(right):
    table = check_fit(right)
    assert table["fits"].all(), table
    assert table["statistic"].tolist()[-1] == "pass@40"
    assert check_fit(right, k=5)["statistic"].tolist()[-1] == "pass@5"
    with pytest.raises(OptionError, match="smallest n, 40, got 41"):
        check_fit(right, k=41)


def test_counts_of_another_shape_fail():
    # A third never, a third at a half, a third always: no beta.
    counts = counts_from_arrays([40] * 150, [0] * 50 + [20] * 50 + [40] * 50)
    table = check_fit(fit(counts, random_seed=1)).set_index("statistic")
    assert not table["fits"].all()


def test_replications_are_of_the_difficulty(right):
    drawn = predictive_draws(right)["posterior_predictive"]["n_successes"]
    alpha, beta = (right["posterior"][name].values.ravel() for name in ("alpha", "beta"))
    mean = float((alpha / (alpha + beta)).mean())
    assert float(drawn.mean()) / 40 == pytest.approx(mean, rel=0.05)
    assert set(drawn.dims) == {"chain", "draw", "system", "problem"}


def test_held_out_attempts_are_covered():
    table = check_held_out(beta_counts(n_problems=400), random_seed=2)
    # Binomial error of 400 problems, and discrete intervals cover more.
    assert 0.86 < table["coverage_90"].item() <= 1
    assert table["lower"].item() < table["observed"].item() < table["upper"].item()
    with pytest.raises(OptionError, match="between 0 and 1"):
        check_held_out(beta_counts(), share=1.0)


def test_prior_sensitivity_names_the_parameters(right, tmp_path):
    table = prior_sensitivity(right)
    assert [name.split("[")[0] for name in table.index] == ["logit_mean", "log_concentration"]
    copy = tmp_path / "mine.py"
    copy.write_text(
        "from bayes_passk.models.beta_binomial import difficulty as original\n\n"
        "def difficulty(systems):\n    return original(systems)\n"
    )
    mine = fit(beta_counts(), copy, random_seed=1, draws=100, tune=100)
    with pytest.raises(VariantError, match="pass its path"):
        prior_sensitivity(mine)
    assert len(prior_sensitivity(mine, copy)) == 2


def test_impossible_is_told_from_rare_where_it_can_be():
    rng = np.random.default_rng(3)
    solvable = rng.binomial(400, rng.beta(5, 5, 60))
    clear = fit(
        counts_from_arrays([400] * 90, [0] * 30 + list(solvable)), "zero_inflated", random_seed=1
    )
    found = unsolvable(clear)
    assert (found.values[0, :30] > 0.99).all()
    assert (found.values[0, 30:] == 0).all()
    assert not found.attrs["warnings"]
    few = counts_from_arrays([5] * 90, [0] * 70 + [1] * 15 + [2] * 5)
    vague = fit(few, "zero_inflated", random_seed=1)
    assert "cannot tell impossible from rare" in unsolvable(vague).attrs["warnings"][0]
    assert any("cannot tell" in line for line in record_of(vague)["warnings"])


def test_only_inflated_fits_have_unsolvable_problems(right):
    with pytest.raises(NotDefinedError, match="fit zero_inflated"):
        unsolvable(right)


def test_first_successes_in_a_random_order():
    n, c = 30, 6
    counts = counts_from_arrays([n] * 20_000, [c] * 20_000)
    learned = learned_counts(counts, "first_successes", 7)
    kept = learned["n_attempts"].values.ravel()
    assert (learned["n_successes"].values == 3).all()
    # The third of six order statistics among 30 places is at 3 * 31 / 7 on average.
    error = kept.std() / np.sqrt(kept.size)
    assert abs(kept.mean() - 3 * 31 / 7) < 4.5 * error
    few = learned_counts(counts_from_arrays([9, 9, 0], [2, 0, 0]), "first_successes", 7)
    assert few["n_attempts"].values.tolist() == [[9, 9, 0]]
    assert few["n_successes"].values.tolist() == [[2, 0, 0]]
    with pytest.raises(OptionError, match="did you mean 'first_successes'"):
        learned_counts(counts, "first_success", 7)


def test_a_fit_learns_from_first_successes_and_predicts_from_all():
    counts = beta_counts()
    tree = fit(counts, random_seed=1, learn_from="first_successes")
    assert record_of(tree)["learn_from"] == "first_successes"
    assert tree["constant_data"]["cell_n_attempts"].values.max() == 40
    plain = fit(counts, random_seed=1)
    spread = [one["posterior"]["logit_mean"].std().item() for one in (tree, plain)]
    assert spread[0] > spread[1]


def test_prior_sensitivity_of_what_was_learnt_from():
    tree = fit(beta_counts(), random_seed=1, learn_from="first_successes")
    assert np.isfinite(prior_sensitivity(tree)["likelihood"].astype(float)).all()
