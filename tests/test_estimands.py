"""Estimands where the answer is known: fixed difficulty, so only the problems' own p vary."""

import numpy as np
import pytest
from scipy import stats

from bayes_passk import counts_from_arrays, fail_at_k, pass_at_k, pass_hat_k, summary
from bayes_passk.errors import NotDefinedError, OptionError
from bayes_passk.estimands import _simulated_in_each
from tests.helpers import fit_with


def draws(curve):
    name = next(iter(curve.data_vars))
    return curve[name].stack(sample=("chain", "draw")).transpose("sample", "system", "k").values


def mean_error(values):
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize(
    ("n", "c", "k", "quantiles"),
    [(10, 0, 5, (0.011, 0.270, 0.813)), (20, 20, 1, (0.839, 0.968, 0.999))],
)
def test_one_problem_under_a_flat_prior(n, c, k, quantiles):
    # p is Beta(1 + c, 1 + n - c): the quantiles of pass@k are those of 1 - (1-p)^k.
    fit = fit_with(counts_from_arrays([n], [c]), 1.0, 1.0)
    exact = 1 - (1 - stats.beta.ppf([0.025, 0.5, 0.975], 1 + c, 1 + n - c)) ** k
    np.testing.assert_allclose(exact, quantiles, atol=1e-3)
    values = draws(pass_at_k(fit, k))[:, 0, 0]
    for probability, want in zip((0.025, 0.5, 0.975), exact, strict=True):
        below = (values < want).mean()
        assert abs(below - probability) < 4 * np.sqrt(probability * (1 - probability) / len(values))


def test_flat_prior_means():
    # E[1 - (1-p)^k] = 1 - B(1 + c, 1 + n - c + k) / B(1 + c, 1 + n - c).
    for n, c, k, want in ((99, 0, 100, 0.5), (2, 0, 5, 0.625)):
        values = draws(pass_at_k(fit_with(counts_from_arrays([n], [c]), 1.0, 1.0), k))[:, 0, 0]
        assert abs(values.mean() - want) < 4.5 * mean_error(values)
    hat = draws(pass_hat_k(fit_with(counts_from_arrays([4], [3]), 1.0, 1.0), 2))[:, 0, 0]
    assert abs(hat.mean() - 0.4762) < 4.5 * mean_error(hat)


@pytest.mark.parametrize("size", [3, 60, 5_000, 100_000])
def test_benchmark_carries_the_problems_own_uncertainty(size):
    # Half the problems never solved, half 3 of 10; mean and spread are known in closed form, also
    # where a cell has more problems than are simulated.
    alpha, beta, n = 0.3, 2.0, 10
    c = np.where(np.arange(size) % 2, 3, 0)
    ks = np.array([1, 10, 200])
    values = draws(pass_at_k(fit_with(counts_from_arrays([n] * size, c), alpha, beta), ks))[:, 0]
    a, b = alpha + c[:, None], beta + n - c[:, None]
    first = np.exp(_log_fail(a, b, ks))
    second = np.exp(_log_fail(a, b, 2 * ks))
    variance = (second - first**2).sum(axis=0) / size**2
    assert (np.abs(values.mean(axis=0) - 1 + first.mean(axis=0)) < 4.5 * mean_error(values)).all()
    kurtosis = stats.kurtosis(values, axis=0, fisher=False)
    relative_error = np.sqrt((kurtosis - 1) / len(values))
    assert (np.abs(values.var(axis=0) / variance - 1) < 5 * relative_error).all()


def _log_fail(a, b, k):
    from scipy.special import betaln

    return betaln(a, b + k) - betaln(a, b)


def test_every_draw_rises_with_k_and_stays_within_bounds():
    counts = counts_from_arrays([5] * 3_000, np.arange(3_000) % 6)
    values = draws(pass_at_k(fit_with(counts, 0.4, 1.0), [1, 2, 7, 50, 10**6, 10**9]))[:, 0]
    assert (np.diff(values, axis=1) >= 0).all()
    assert values.min() > 0
    assert values.max() <= 1
    hat = draws(pass_hat_k(fit_with(counts, 0.4, 1.0), [1, 2, 7, 50]))[:, 0]
    assert (np.diff(hat, axis=1) <= 0).all()


def test_draws_do_not_depend_on_the_other_k():
    fit = fit_with(counts_from_arrays([5] * 9, [0, 0, 1, 2, 3, 4, 5, 0, 0]), 0.4, 1.0)
    alone, among = pass_at_k(fit, 10), pass_at_k(fit, [1, 10, 300])
    np.testing.assert_array_equal(draws(alone)[..., 0], draws(among)[..., 1])


def test_failing_keeps_its_digits():
    fit = fit_with(counts_from_arrays([50], [50]), 2.0, 3.0)
    fail = draws(fail_at_k(fit, 10))[:, 0, 0]
    # 1 - p is Beta(3, 52); its quartiles to the tenth power are those of the chance to fail.
    for probability in (0.25, 0.5, 0.75):
        below = (fail < stats.beta.ppf(probability, 3, 52) ** 10).mean()
        assert abs(below - probability) < 4 * np.sqrt(probability * (1 - probability) / len(fail))
    assert fail.min() < 1e-12
    assert (fail > 0).all()
    single = draws(pass_at_k(fit, 10))[:, 0, 0]
    np.testing.assert_allclose(single, 1 - fail, rtol=1e-14)


def test_population_is_the_moment():
    fit = fit_with(counts_from_arrays([10, 10], [0, 3]), 0.2, 1.8)
    values = draws(pass_at_k(fit, [100, 1000, 10**4], estimand="population"))[0, 0]
    np.testing.assert_allclose(values, [0.574, 0.7304, 0.830], atol=6e-4)


def test_future_run_adds_the_luck_of_the_run():
    alpha, beta, size = 0.5, 2.0, 40
    counts = counts_from_arrays([10] * size, [0] * 20 + [2] * 20)
    curve = pass_at_k(fit_with(counts, alpha, beta), [5, 20], estimand="future_run")
    values = draws(curve)[:, 0]
    np.testing.assert_allclose(values * size, np.round(values * size), atol=1e-9)
    assert (np.diff(values, axis=1) >= 0).all()
    c = np.array([0] * 20 + [2] * 20)
    for i, k in enumerate((5, 20)):
        solved = -np.expm1(_log_fail(alpha + c, beta + 10 - c, k))
        assert abs(values[:, i].mean() - solved.mean()) < 4.5 * mean_error(values[:, i])
        variance = (solved * (1 - solved)).sum() / size**2
        assert values[:, i].var() == pytest.approx(variance, rel=0.12)


def test_future_run_including_what_was_observed():
    counts = counts_from_arrays([10] * 4, [0, 0, 1, 9])
    fit = fit_with(counts, 0.5, 2.0)
    curve = pass_at_k(fit, [1, 50], estimand="future_run", including_observed=True)
    assert draws(curve).min() >= 0.5
    with pytest.raises(OptionError, match="only a future run"):
        pass_at_k(fit, 1, including_observed=True)


def test_results_say_what_they_are():
    counts = counts_from_arrays([[5, 9], [20, 20]], [[0, 9], [1, 2]], systems=["A", "B"])
    curve = pass_at_k(fit_with(counts, 1.0, 1.0), [1, 5, 7, 20, 21])
    assert curve["estimand"].item() == "benchmark"
    np.testing.assert_array_equal(curve["extrapolated"].sel(system="A"), [0, 0, 0, 1, 1])
    defined = np.isfinite(curve["unbiased"])
    np.testing.assert_array_equal(defined.sel(system="A"), [1, 1, 0, 0, 0])
    np.testing.assert_array_equal(defined.sel(system="B"), [1, 1, 1, 1, 0])
    assert float(curve["unbiased"].sel(system="A", k=1)) == pytest.approx(0.5)


def test_summary_takes_its_interval_from_the_draws():
    curve = pass_at_k(fit_with(counts_from_arrays([5, 5], [1, 4]), 1.0, 1.0), [1, 10])
    values = draws(curve)[:, 0, 0]
    row = summary(curve, ci_prob=0.8).iloc[0]
    assert row["lower"] == pytest.approx(np.quantile(values, 0.1))
    assert row["upper"] == pytest.approx(np.quantile(values, 0.9))
    assert row["sd"] == pytest.approx(values.std(ddof=1))
    narrow = summary(curve, ci_prob=0.8, ci_kind="hdi").iloc[0]
    assert narrow["upper"] - narrow["lower"] <= row["upper"] - row["lower"]
    assert summary(curve)["ci_prob"].iloc[0] == 0.89
    for ci_prob in (0.0, 1.0, 90):
        with pytest.raises(OptionError, match="between 0 and 1"):
            summary(curve, ci_prob=ci_prob)
    with pytest.raises(OptionError, match="expected one of eti, hdi"):
        summary(curve, ci_kind="etii")


def test_what_does_not_exist_is_refused():
    fit = fit_with(counts_from_arrays([5, 5], [1, 4]), 1.0, 1.0)
    with pytest.raises(OptionError, match="did you mean 'population'"):
        pass_at_k(fit, 1, estimand="populaton")
    with pytest.raises(NotDefinedError, match="no future run"):
        pass_hat_k(fit, 1, estimand="future_run")
    with pytest.raises(OptionError, match=r"got 1\.5"):
        pass_at_k(fit, [1, 1.5])


@pytest.mark.parametrize(
    "multiplicity", [[1.0], [400.0], [399.0, 5.0], [1e6, 3.0, 200.0], [1.0] * 999]
)
def test_simulated_problems_stay_few(multiplicity):
    m = np.array(multiplicity)
    each = _simulated_in_each(m)
    assert (each >= 1).all()
    assert (each <= m).all()
    assert each.sum() <= max(400, len(m))
