"""The accuracy benchmark: what it samples, what it writes, and that it goes on where it stopped."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_passk import counts_from_arrays

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accuracy.py"


@pytest.fixture(scope="module")
def accuracy():
    spec = importlib.util.spec_from_file_location("accuracy", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["accuracy"] = module
    spec.loader.exec_module(module)
    return module


def test_samples_spend_the_budget(accuracy):
    n = np.full((2, 30), 200)
    c = np.random.default_rng(1).binomial(n, np.random.default_rng(2).beta(0.4, 3, n.shape))
    counts = counts_from_arrays(n, c, systems=["A", "B"])
    for sampling in ("uniform", "fewest_successes"):
        drawn = accuracy.sampled(counts, sampling, 1_000, 5)
        assert (drawn["n_attempts"].sum("problem") == 1_000).all()
        assert (drawn["n_successes"] <= drawn["n_attempts"]).all()
        assert (drawn["n_attempts"] <= counts["n_attempts"]).all()
        # The attempts of a system do not depend on which others the file holds.
        alone = accuracy.sampled(counts.isel(system=[1]), sampling, 1_000, 5)
        np.testing.assert_array_equal(alone["n_successes"][0], drawn["n_successes"][1])
    spread = accuracy.sampled(counts, "uniform", 1_000, 5)["n_attempts"]
    assert spread.max() - spread.min() <= 1
    # Dynamic sampling never leaves a problem behind by more than one success while it has attempts.
    dynamic = accuracy.sampled(counts, "fewest_successes", 1_000, 5)
    open_ = dynamic["n_attempts"] < counts["n_attempts"]
    fewest = dynamic["n_successes"].where(open_).min("problem")
    assert (dynamic["n_successes"].where(open_).max("problem") - fewest <= 1).all()


def test_it_writes_the_table_and_goes_on(tmp_path):
    rng = np.random.default_rng(3)
    c = rng.binomial(500, rng.beta(0.4, 3, 40))
    table = pd.DataFrame({"problem": range(40), "n_attempts": 500, "n_successes": c})
    table.to_csv(tmp_path / "counts.csv", index=False)

    def run(seeds):
        command = [sys.executable, str(SCRIPT), "counts.csv", "--out", "out", "--seeds", str(seeds)]
        command += ["--budgets", "800", "--k", "50,400", "--methods", "regression,dynamic_mle"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        return (tmp_path / "out" / "runs.jsonl").read_text().splitlines()

    first = run(2)
    second = run(3)
    assert second[: len(first)] == first
    assert len(second) > len(first)
    found = pd.read_parquet(tmp_path / "out" / "accuracy.parquet")
    columns = "system budget k method sampling n_seeds truth bias mse coverage_90 width_90"
    assert found.columns.tolist() == columns.split()
    assert found["n_seeds"].tolist() == [3] * 4
    truth = [1 - np.mean((1 - c / 500) ** k) for k in (50, 400)]
    np.testing.assert_allclose(found.groupby("k")["truth"].first(), truth)
    assert found["coverage_90"].isna().all()
    assert "`regression`" in (tmp_path / "out" / "accuracy.md").read_text()
