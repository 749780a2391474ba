"""Speed and memory of the main job, beside the same model written the plain way, in one run.

Ratios and medians; absolute times are this machine's. Writes docs/benchmarks/speed.md.
"""

import multiprocessing
import platform
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bayes_passk as bp
from bayes_passk.counts import counts_from_arrays

OUT = Path(__file__).parents[1] / "docs" / "benchmarks" / "speed.md"
SHARED = Path(__file__).parents[2] / "shared" / "data" / "math_attempts.parquet"
REPEATS = 5


def simulated(n_problems: int, n_attempts: int, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.3, 3.0, n_problems)
    return counts_from_arrays(np.full(n_problems, n_attempts), rng.binomial(n_attempts, p))


def seconds(function: Callable[[], Any], repeats: int = REPEATS) -> float:
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def ours_per_second(n_problems: int) -> float:
    """Our model over cells; compiled beforehand, only sampling counts."""
    from bayes_passk.compiled import compiled_model

    compiled = compiled_model(bp.find_variant("beta_binomial"), "none", 1)
    cells = bp.cells_of(simulated(n_problems, 30))
    rates = []
    for seed in range(REPEATS):
        started = time.perf_counter()
        trace = compiled.sample(cells, draws=1000, tune=1000, chains=4, random_seed=seed)
        taken = time.perf_counter() - started
        rates.append(smallest_ess(trace["posterior"].to_dataset()[["alpha", "beta"]]) / taken)
    return statistics.median(rates)


def plain_per_second(n_problems: int) -> float:
    """The same priors with a Beta for each problem; compiled beforehand, only sampling counts."""
    import nutpie
    import pymc as pm

    counts = simulated(n_problems, 30)
    n, c = counts["n_attempts"].values[0], counts["n_successes"].values[0]
    with pm.Model() as model:
        logit_mean = pm.Normal("logit_mean", -4.0, 2.5)
        log_concentration = pm.StudentT("log_concentration", nu=4, mu=np.log(15), sigma=0.8)
        mean, concentration = pm.math.invlogit(logit_mean), pm.math.exp(log_concentration)
        alpha = pm.Deterministic("alpha", mean * concentration)
        beta = pm.Deterministic("beta", (1 - mean) * concentration)
        p = pm.Beta("p", alpha, beta, shape=n_problems)
        pm.Binomial("c", n, p, observed=c)
    compiled = nutpie.compile_pymc_model(model)
    started = time.perf_counter()
    trace = nutpie.sample(
        compiled, draws=1000, tune=1000, chains=4, seed=1, progress_bar=False, save_warmup=False
    )
    taken = time.perf_counter() - started
    return smallest_ess(trace["posterior"].to_dataset()[["alpha", "beta"]]) / taken


def smallest_ess(draws: Any) -> float:
    from arviz_stats import ess

    return min(float(value.min()) for value in ess(draws).data_vars.values())


def in_fresh_process(function: Callable[[], Any]) -> tuple[float, float]:
    """Result of a function, and the process's largest memory in GB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (function,))


def _measured(function: Callable[[], Any]) -> tuple[float, float]:
    result = function()
    return result, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def million_problems() -> float:
    counts = simulated(1_000_000, 50)
    bp.fit(simulated(1_000, 50), random_seed=1)
    return seconds(lambda: bp.fit(counts, random_seed=1), 3)


def attempts_from_parquet() -> float:
    return seconds(lambda: bp.read_counts(SHARED), 1)


def main() -> None:
    """Measure, print each row as it is known, and write the table."""
    rows: list[tuple[str, str, str]] = []

    def add(name: str, measured: str, goal: str) -> None:
        rows.append((name, measured, goal))
        print(f"| {name} | {measured} | {goal} |", flush=True)
        _write(rows)  # each row as it is known: the last takes minutes

    small, large = simulated(1_000, 50), simulated(1_000_000, 50)
    bp.fit(small, random_seed=1)
    refit = seconds(lambda: bp.fit(simulated(150, 30, seed=9), random_seed=1))
    add("fit of 150 problems, data swapped", f"{refit:.2f} s", "")
    cells = bp.cells_of(small), bp.cells_of(large)
    sampling = seconds(lambda: _sample(bp.cells_of(simulated(150, 30, seed=9))))
    add("its sampling alone", f"{sampling:.2f} s", "0.15 s")
    ratio = seconds(lambda: _sample(cells[1])) / seconds(lambda: _sample(cells[0]))
    add("sampling, a million problems against a thousand", f"{ratio:.2f} ×", "at most 1.5 ×")
    taken, memory = in_fresh_process(million_problems)
    add("a million problems, counts to posterior", f"{taken:.1f} s", "at most 5 s")
    add("the same, memory", f"{memory:.2f} GB", "under 1.5 GB")
    fit, ks = bp.fit(large, random_seed=1), np.unique(np.geomspace(1, 1e6, 60).astype(int))
    taken = seconds(lambda: bp.pass_at_k(fit, ks), 3)
    add(f"curve of a million problems, {len(ks)} k", f"{taken:.2f} s", "under 2 s")
    if SHARED.exists():
        taken, memory = in_fresh_process(attempts_from_parquet)
        add("counts of 6.4 million rows, Parquet", f"{taken:.1f} s", "under 3 s")
        add("the same, memory", f"{memory:.2f} GB", "under 1 GB")
    for n_problems, goal in ((150, 50), (10_000, 1_000)):
        ratio = ours_per_second(n_problems) / plain_per_second(n_problems)
        name = f"effective samples a second, {n_problems:,} problems, against a Beta per problem"
        add(name, f"{ratio:,.0f} ×", f"at least {goal:,} ×")


def _sample(cells: Any) -> None:
    from bayes_passk.compiled import compiled_model

    compiled = compiled_model(bp.find_variant("beta_binomial"), "none", 1)
    compiled.sample(cells, draws=1000, tune=1000, chains=4, random_seed=1)


def _write(rows: list[tuple[str, str, str]]) -> None:
    lines = ["| what | measured | goal |", "|---|---|---|"]
    lines += [f"| {name} | {measured} | {goal} |" for name, measured, goal in rows]
    machine = f"{multiprocessing.cpu_count()} cores, {platform.machine()}, Python "
    machine += platform.python_version()
    head = "# Speed and memory\n\nWritten by `make bench`, medians of one run on "
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(f"{head}{machine}.\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
