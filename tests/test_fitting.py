"""The posterior against numerical integration, and what a fit records and repeats."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, expit

from bayes_passk import compiled as compiled_module
from bayes_passk import (
    counts_from_arrays,
    fit,
    load_fit,
    pass_at_k,
    prior_pass_at_k,
    record_of,
    save_fit,
)
from bayes_passk.errors import CountsError, FitError, OptionError, ReadError, UnknownNameError

C = np.array([0] * 30 + [1, 1, 2, 3, 5, 8, 12, 20, 20, 20])
COUNTS = counts_from_arrays([20] * len(C), C)


@pytest.fixture(scope="module")
def tree():
    return fit(COUNTS, random_seed=1)


def grid_posterior(repeats=1):
    """Posterior of logit mean and log concentration by brute force on a grid."""
    logit_mean, log_concentration = np.meshgrid(
        np.linspace(-6, 3, 401), np.linspace(-5, 4, 401), indexing="ij"
    )
    concentration = np.exp(log_concentration)
    alpha, beta = expit(logit_mean) * concentration, expit(-logit_mean) * concentration
    log_density = stats.norm.logpdf(logit_mean, -4, 2.5)
    log_density += stats.t.logpdf(log_concentration, 4, np.log(15), 0.8)
    for c, multiplicity in zip(*np.unique(C, return_counts=True), strict=True):
        term = betaln(alpha + c, beta + 20 - c) - betaln(alpha, beta)
        log_density += repeats * multiplicity * term
    weight = np.exp(log_density - log_density.max())
    return logit_mean, log_concentration, alpha, beta, weight / weight.sum()


def test_posterior_agrees_with_a_grid(tree):
    logit_mean, log_concentration, alpha, beta, weight = grid_posterior()
    posterior = tree["posterior"]
    for name, values in (("logit_mean", logit_mean), ("log_concentration", log_concentration)):
        draws = posterior[name].values.ravel()
        mean = (weight * values).sum()
        sd = np.sqrt((weight * (values - mean) ** 2).sum())
        error = sd / np.sqrt(record_of(tree)["ess_min"])
        assert abs(draws.mean() - mean) < 4.5 * error
        assert draws.std() == pytest.approx(sd, rel=0.1)
    population = (weight * -np.expm1(betaln(alpha, beta + 100) - betaln(alpha, beta))).sum()
    draws = pass_at_k(tree, 100, estimand="population")["pass_at_k"].values
    assert abs(draws.mean() - population) < 4.5 * draws.std() / np.sqrt(record_of(tree)["ess_min"])


def test_log_likelihood_is_of_one_problem_in_each_cell(tree):
    alpha, beta = (tree["posterior"][name].values[0, 0, 0] for name in ("alpha", "beta"))
    cells = tree["constant_data"]
    want = stats.betabinom.logpmf(
        cells["cell_n_successes"].values, cells["cell_n_attempts"].values, alpha, beta
    )
    got = tree["log_likelihood"]["n_successes"].values[0, 0]
    np.testing.assert_allclose(got, want, rtol=1e-9)


def test_same_seed_same_draws_and_no_new_compilation(tree, monkeypatch):
    monkeypatch.setattr(compiled_module, "_compile", None)
    again, other = fit(COUNTS, random_seed=1), fit(COUNTS, random_seed=2)
    np.testing.assert_array_equal(again["posterior"]["alpha"], tree["posterior"]["alpha"])
    assert not np.array_equal(other["posterior"]["alpha"], tree["posterior"]["alpha"])
    # Other counts, another number of cells: still the same code.
    fit(counts_from_arrays([5, 7, 9], [0, 3, 9]), random_seed=1, draws=50, tune=50)


def test_identical_cells_cost_nothing_and_change_nothing():
    # A thousand times the problems, the same posterior as a thousand times the multiplicity.
    many = counts_from_arrays([20] * 20_000, np.tile(C, 500))
    draws = fit(many, random_seed=3)["posterior"]
    assert draws.sizes["system"] == 1
    _, _, alpha, _, weight = grid_posterior(repeats=500)
    mean = (weight * alpha).sum()
    assert draws["alpha"].values.mean() == pytest.approx(mean, rel=0.02)


@pytest.mark.parametrize("pooling", ["none", "partial", "complete"])
def test_pooling(pooling):
    c = np.stack([C, C[::-1], np.minimum(2 * C, 20)])
    pooled = fit(counts_from_arrays(np.full_like(c, 20), c), pooling=pooling, random_seed=1)
    record, posterior = record_of(pooled), pooled["posterior"]
    assert record["divergences"] == 0
    assert record["r_hat_max"] < 1.01
    assert posterior["alpha"].sizes["system"] == 3
    assert ("logit_mean_location" in posterior) == (pooling == "partial")
    same = bool((posterior["alpha"] == posterior["alpha"].isel(system=0)).all())
    assert same == (pooling == "complete")


def test_what_is_recorded(tree):
    record = record_of(tree)
    assert record["variant"] == "beta_binomial"
    assert record["seed"] == 1
    assert record["warnings"] == []
    assert record["divergences"] == 0
    assert record["r_hat_max"] < 1.01
    assert record["ess_min"] > 400
    assert record["versions"]["pymc"].startswith("6")
    unseeded = [record_of(fit(COUNTS, draws=50, tune=50))["seed"] for _ in range(2)]
    assert unseeded[0] != unseeded[1]


def test_the_gate_speaks():
    few = record_of(fit(COUNTS, draws=20, tune=100, random_seed=1))["warnings"]
    assert any("effective sample size" in line and "raise draws" in line for line in few)
    alone = record_of(fit(COUNTS, chains=1, random_seed=1))
    assert alone["r_hat_max"] is None
    assert any("one chain only" in line for line in alone["warnings"])
    certain = counts_from_arrays([10_000] * 200, [9_999] * 200)
    pressed = record_of(fit(certain, random_seed=1))["warnings"]
    assert any("presses on its prior" in line for line in pressed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "some"}, "expected one of none, partial, complete"),
        ({"draws": 0}, "draws: expected a whole number of at least 4, got 0"),
        ({"chains": 1.5}, "chains: expected a whole number of at least 1, got 1.5"),
        ({"random_seed": -1}, "random_seed: expected a whole number of at least 0"),
        ({"n_components": 2}, "has no option 'n_components'; its options: none"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(OptionError, match=message):
        fit(COUNTS, **options)


def test_unknown_variant_and_bad_counts():
    with pytest.raises(UnknownNameError, match="did you mean 'beta_binomial'"):
        fit(COUNTS, "beta_binom")
    with pytest.raises(CountsError, match="expected int64"):
        fit(COUNTS.astype(float))


@pytest.mark.parametrize("name", ["fit.nc", "fit.zarr"])
def test_saved_and_loaded_in_a_new_process(tree, tmp_path, name):
    path = save_fit(tree, tmp_path / name)
    save_fit(tree, path)  # replaces what stands there
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    code = (
        "import sys, numpy as np, bayes_passk as bp\n"
        "curve = bp.pass_at_k(bp.load_fit(sys.argv[1]), [1, 30, 1000])\n"
        "np.save(sys.argv[2], curve['pass_at_k'].values)\n"
    )
    out = tmp_path / "curve.npy"
    subprocess.run([sys.executable, "-c", code, str(path), str(out)], check=True)
    np.testing.assert_array_equal(np.load(out), pass_at_k(tree, [1, 30, 1000])["pass_at_k"])
    loaded = load_fit(path, counts=COUNTS)
    assert record_of(loaded) == record_of(tree)
    for group in tree.children:
        assert loaded[group].to_dataset().equals(tree[group].to_dataset()), group


def test_strange_names_survive_a_file(tmp_path):
    names = ["HumanEval/0", "题目 2", "a\nb", "", "x" * 5000, "007"]
    odd = counts_from_arrays([3] * 6, [0, 1, 2, 3, 0, 1], systems=["a/b"], problems=names)
    for ending in ("nc", "zarr"):
        path = save_fit(fit(odd, draws=20, tune=20, random_seed=1), tmp_path / f"x.{ending}")
        loaded = load_fit(path)
        assert loaded["observed_data"]["problem"].values.tolist() == names
        assert loaded["posterior"]["system"].item() == "a/b"


def test_what_is_no_fit_is_refused(tree, tmp_path):
    other = counts_from_arrays([20] * len(C), C[::-1])
    path = save_fit(tree, tmp_path / "fit.nc")
    assert load_fit(path, counts=COUNTS.isel(problem=slice(None, None, -1)))
    with pytest.raises(FitError, match="made from other counts"):
        load_fit(path, counts=other)
    (tmp_path / "text.nc").write_text("no fit")
    COUNTS.to_netcdf(tmp_path / "counts.nc", engine="h5netcdf")
    data = path.read_bytes()
    (tmp_path / "cut.nc").write_bytes(data[: len(data) // 2])
    for name, message in (
        ("none.nc", "no such file"),
        ("text.nc", "a file that is not one"),
        ("counts.nc", "lacks posterior"),
        ("cut.nc", "a file that is not one"),
    ):
        with pytest.raises(ReadError, match=message):
            load_fit(tmp_path / name)
    with pytest.raises(OptionError, match=r"ends in \.nc or \.zarr"):
        save_fit(tree, tmp_path / "fit.pkl")
    with pytest.raises(ReadError, match="cannot be written"):
        save_fit(tree, tmp_path / "nowhere" / "fit.nc")


def test_a_failed_save_leaves_what_was_there(tree, tmp_path, monkeypatch):
    path = tmp_path / "fit.nc"
    path.write_text("before")
    monkeypatch.setattr(type(tree), "to_netcdf", _disk_full)
    with pytest.raises(ReadError, match="No space left"):
        save_fit(tree, path)
    assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def _disk_full(*args, **kwargs):
    raise OSError(28, "No space left on device")


def test_prior_predictive_is_wide_and_agrees_with_the_priors():
    curve = prior_pass_at_k([1, 1000])["pass_at_k"].values[0, :, 0]
    rng = np.random.default_rng(5)
    mean = expit(rng.normal(-4, 2.5, 20_000))
    for quantile in (0.1, 0.5, 0.9):
        below = (curve[:, 0] < np.quantile(mean, quantile)).mean()
        assert abs(below - quantile) < 4 * np.sqrt(quantile * (1 - quantile) / len(curve))
    assert np.quantile(curve[:, 1], 0.05) < 0.1
    assert np.quantile(curve[:, 1], 0.95) > 0.95


def test_huge_concentration_is_no_garbage():
    # With float32 constants PyMC's own beta-binomial is off by thousands here.
    from bayes_passk.special import log_beta_moment_kernel as moment

    for shape, want in ((5e3, -3.7276), (5e9, -3.6799), (5e14, -3.6799)):
        choose = stats.binom.logpmf(500, 1000, 0.5) + 1000 * np.log(2)
        value = choose + moment(shape, 500, shape) + moment(shape, 500, shape + 500)
        assert value == pytest.approx(want, abs=1e-4)
