"""Accuracy of predictors of pass@k on real counts, by the protocol of Kazdan et al. 2025.

The truth is pass@k of the problems' own rates over all attempts of the file; systems that were not
tried on every problem are left out. For every budget
(attempts in all, of each system) and seed, attempts are drawn from those without replacement and
every method predicts from them: methods that sample alike see the same attempts.

A method is a name of ``METHODS``, or a fit: ``default`` or the name of a variant, then any of
``:alone`` (each system fitted by itself) and ``:first_successes`` (learn from the attempts up to
the third success). ``@uniform`` or ``@fewest_successes`` at the end changes the sampling.

Finished runs are in DIR/runs.jsonl and are not repeated: delete it where code or data changed.
"""

import argparse
import hashlib
import heapq
import json
import math
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from rich.console import Console
from rich.progress import Progress

import bayes_passk as bp
from bayes_passk import baselines
from bayes_passk.counts import digest
from bayes_passk.errors import (
    BayesPasskError,
    CountsError,
    FitError,
    NotDefinedError,
    OptionError,
    did_you_mean,
)

CI_PROB = 0.9
REFERENCE = "dynamic_mle"
COLUMNS = "system budget k method sampling n_seeds truth bias mse coverage_90 width_90".split()

type Predict = Callable[[xr.Dataset, list[int], int], "Prediction"]
type Sampler = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], tuple[Any, Any]]


@dataclass(frozen=True)
class Prediction:
    """Estimates and interval ends over (system, k); NaN where there is none."""

    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@dataclass(frozen=True)
class Method:
    """A predictor, and how the attempts it sees are sampled."""

    name: str
    sampling: str
    predict: Predict


@dataclass(frozen=True)
class Task:
    """One method on one sample of every system."""

    method: str
    budget: int
    seed: int


# How attempts are sampled: from each problem's attempts and successes, the counts seen.


def uniform(
    n: np.ndarray, c: np.ndarray, budget: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Spread the budget evenly over problems that have attempts left, the rest in random order."""
    taken = np.zeros_like(n)
    left = min(budget, int(n.sum()))
    while left:
        room = rng.permutation(np.flatnonzero(taken < n))
        share = np.full(len(room), left // len(room))
        share[: left % len(room)] += 1
        share = np.minimum(share, n[room] - taken[room])
        taken[room] += share
        left -= int(share.sum())
    return taken, rng.hypergeometric(c, n - c, taken)


def fewest_successes(
    n: np.ndarray, c: np.ndarray, budget: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Try the problem with the fewest successes, then the fewest attempts, one at a time."""
    taken, passed = np.zeros_like(n), np.zeros_like(n)
    ties = rng.permutation(len(n))
    queue = [(0, 0, int(ties[i]), i) for i in np.flatnonzero(n)]
    heapq.heapify(queue)
    for chance in rng.random(min(budget, int(n.sum()))):
        _, _, tie, i = queue[0]
        passed[i] += chance * (n[i] - taken[i]) < c[i] - passed[i]
        taken[i] += 1
        if taken[i] < n[i]:
            heapq.heapreplace(queue, (int(passed[i]), int(taken[i]), tie, i))
        else:
            heapq.heappop(queue)
    return taken, passed


SAMPLERS: dict[str, Sampler] = {"uniform": uniform, "fewest_successes": fewest_successes}


def sampled(counts: xr.Dataset, sampling: str, budget: int, seed: int) -> xr.Dataset:
    """Counts of one sample: it depends on the seed, and not on the other systems of the file."""
    drawn = []
    for i, system in enumerate(counts["system"].values):
        rng = np.random.default_rng([seed, budget, zlib.crc32(str(system).encode())])
        n, c = (counts[name].values[i] for name in ("n_attempts", "n_successes"))
        drawn.append(SAMPLERS[sampling](n, c, budget, rng))
    names = ("n_attempts", "n_successes")
    both = zip(names, np.stack(drawn, axis=1), strict=True)
    return counts.assign({name: (("system", "problem"), array) for name, array in both})


def true_pass_at_k(counts: xr.Dataset, ks: Sequence[int]) -> np.ndarray:
    """Mean over problems of ``1 - (1 - c/n)^k``, shape (system, k)."""
    n, c = (counts[name].values[..., None] for name in ("n_attempts", "n_successes"))
    with np.errstate(divide="ignore"):
        solved = -np.expm1(np.array(ks) * np.log1p(-c / n))
    return solved.mean(axis=1)


# Predictors: counts of all systems in, a Prediction out.


def point(baseline: baselines.Baseline, counts: xr.Dataset, ks: list[int], seed: int) -> Prediction:
    """Point estimates, system by system: where one is not defined, the others are."""
    mean = np.full((counts.sizes["system"], len(ks)), np.nan)
    for i in range(len(mean)):
        try:
            mean[i] = baseline(counts.isel(system=[i]), ks)[0]
        except NotDefinedError:
            continue  # counted in the report
    return Prediction(mean, *np.full((2, *mean.shape), np.nan))


def fitted(options: dict[str, Any], counts: xr.Dataset, ks: list[int], seed: int) -> Prediction:
    """Posterior mean and equal-tailed interval of one fit of all systems."""
    try:
        fit = bp.fit(counts, **options, random_seed=seed, progress=False)
    except FitError:
        nothing = np.full((counts.sizes["system"], len(ks)), np.nan)
        return Prediction(nothing, nothing, nothing)
    draws = bp.pass_at_k(fit, ks)["pass_at_k"].stack(sample=("chain", "draw"))
    draws = draws.transpose("sample", "system", "k").values
    tails = (1 - CI_PROB) / 2, (1 + CI_PROB) / 2
    return Prediction(draws.mean(axis=0), *np.quantile(draws, tails, axis=0))


def each_alone(predict: Predict, counts: xr.Dataset, ks: list[int], seed: int) -> Prediction:
    """Predict every system by itself."""
    systems = range(counts.sizes["system"])
    parts = [predict(counts.isel(system=[i]), ks, seed) for i in systems]
    rows = ("mean", "lower", "upper")
    return Prediction(*(np.concatenate([getattr(part, row) for part in parts]) for row in rows))


_log_regression = partial(baselines.power_law_regression, form="log")

METHODS = {
    method.name: method
    for method in (
        Method("regression", "uniform", partial(point, _log_regression)),
        Method("discretized_beta", "uniform", partial(point, baselines.discretized_beta)),
        Method(REFERENCE, "fewest_successes", partial(point, baselines.beta_binomial_mle)),
        Method("uniform_mle", "uniform", partial(point, baselines.beta_binomial_mle)),
        Method("default", "uniform", partial(fitted, {})),
    )
}


def find_method(text: str) -> Method:
    """Method of a name such as ``regression`` or ``kumaraswamy:alone@fewest_successes``."""
    base, _, sampling = text.partition("@")
    name, *modifiers = base.split(":")
    method = METHODS.get(base) or _fit_method(name, modifiers)
    if sampling and sampling not in SAMPLERS:
        raise OptionError(f"no sampling {sampling!r}: {did_you_mean(sampling, SAMPLERS)}")
    return replace(method, name=text, sampling=sampling or method.sampling)


def _fit_method(name: str, modifiers: list[str]) -> Method:
    known = [*METHODS, *bp.variant_names()]
    if name not in ("default", *bp.variant_names()):
        raise OptionError(f"no method {name!r}: {did_you_mean(name, known)}")
    options = {} if name == "default" else {"variant": name}
    if unknown := set(modifiers) - {"alone", "first_successes"}:
        raise OptionError(f"{name}: expected alone or first_successes after ':', got {unknown}")
    if "first_successes" in modifiers:
        options["learn_from"] = "first_successes"
    predict: Predict = partial(fitted, options)
    if "alone" in modifiers:
        predict = partial(each_alone, predict)
    return Method(name, "uniform", predict)


# Runs, one line each in a file that grows.


def run(counts: xr.Dataset, ks: list[int], task: Task) -> dict[str, Any]:
    """Predictions of a task as a record."""
    method = find_method(task.method)
    sample = sampled(counts, method.sampling, task.budget, task.seed)
    started = time.perf_counter()
    predicted = method.predict(sample, ks, task.seed)
    return {
        "method": task.method,
        "budget": task.budget,
        "seed": task.seed,
        "seconds": round(time.perf_counter() - started, 3),
        "mean": _nulls(predicted.mean),
        "lower": _nulls(predicted.lower),
        "upper": _nulls(predicted.upper),
    }


def _nulls(values: np.ndarray) -> list[list[float | None]]:
    return [[x if math.isfinite(x) else None for x in row] for row in values.tolist()]


@cache
def complete_counts(path: Path) -> xr.Dataset:
    """Counts of the systems that were tried on every problem."""
    counts = bp.read_counts(path)
    return counts.isel(system=(counts["n_attempts"] > 0).all("problem").values)


def run_in_process(path: Path, ks: list[int], task: Task) -> dict[str, Any]:
    """Run a task in a process of its own, which reads the counts once."""
    return run(complete_counts(path), ks, task)


def finished(path: Path, key: str) -> dict[Task, dict[str, Any]]:
    """Runs in the file that were made with these counts and k."""
    runs = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # cut off while it was written: that run is repeated
        if record["key"] == key:
            runs[Task(record["method"], record["budget"], record["seed"])] = record
    return runs


def records(
    tasks: list[Task], path: Path, counts: xr.Dataset, ks: list[int], jobs: int
) -> Iterator[dict[str, Any]]:
    """Records of tasks in the order they are finished."""
    if jobs == 1:
        yield from (run(counts, ks, task) for task in tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(run_in_process, path, ks, task) for task in tasks]
        try:
            yield from (future.result() for future in as_completed(futures))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def key_of(counts: xr.Dataset, ks: list[int]) -> str:
    """What a run depends on beside its task: the counts, the order of systems, and k."""
    systems = counts["system"].values.tolist()
    return hashlib.sha256(json.dumps([digest(counts), systems, ks]).encode()).hexdigest()[:16]


def run_all(
    tasks: list[Task], path: Path, counts: xr.Dataset, ks: list[int], out: Path, jobs: int
) -> list[dict[str, Any]]:
    """Records of all tasks; those not yet in the file are made and added to it."""
    log, key = out / "runs.jsonl", key_of(counts, ks)
    done = finished(log, key)
    missing = [task for task in tasks if task not in done]
    console = Console(stderr=True)
    with (
        log.open("a") as file,
        Progress(console=console, disable=not sys.stderr.isatty()) as progress,
    ):
        if log.stat().st_size and not log.read_bytes().endswith(b"\n"):
            file.write("\n")
        bar = progress.add_task("runs", total=len(tasks), completed=len(tasks) - len(missing))
        for record in records(missing, path, counts, ks, jobs):
            file.write(json.dumps({"key": key} | record) + "\n")
            file.flush()
            done[Task(record["method"], record["budget"], record["seed"])] = record
            progress.advance(bar)
    return [done[task] for task in tasks]


# What the runs amount to.


def score(runs: list[dict[str, Any]], counts: xr.Dataset, ks: list[int]) -> pd.DataFrame:
    """A row per (system, budget, k, method); statistics over the seeds with an estimate."""
    truth = true_pass_at_k(counts, ks)
    rows = []
    for (method, budget), group in _grouped(runs):
        mean, lower, upper = (
            np.array([run[name] for run in group], dtype=float)
            for name in ("mean", "lower", "upper")
        )
        for i, system in enumerate(counts["system"].values):
            for j, k in enumerate(ks):
                row = {"system": system, "budget": budget, "k": k, "method": method}
                row["sampling"] = find_method(method).sampling
                seen = mean[:, i, j], lower[:, i, j], upper[:, i, j]
                rows.append(row | _cell(float(truth[i, j]), *seen))
    return pd.DataFrame(rows, columns=COLUMNS)


def _grouped(runs: list[dict[str, Any]]) -> Iterator[tuple[tuple[str, int], list[dict[str, Any]]]]:
    keys = dict.fromkeys((run["method"], run["budget"]) for run in runs)
    for key in keys:
        yield key, [run for run in runs if (run["method"], run["budget"]) == key]


def _cell(
    truth: float, mean: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> dict[str, float | int | None]:
    error = mean[np.isfinite(mean)] - truth
    has_interval = np.isfinite(lower)
    inside = ((lower <= truth) & (truth <= upper))[has_interval]
    return {
        "n_seeds": len(error),
        "truth": truth,
        "bias": _mean(error),
        "mse": _mean(error**2),
        "coverage_90": _mean(inside),
        "width_90": _mean((upper - lower)[has_interval]),
    }


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def report(scores: pd.DataFrame, runs: list[dict[str, Any]], source: str, n_seeds: int) -> str:
    """Markdown: a table over methods, and the ratio to the reference for each system."""
    methods = list(dict.fromkeys(scores["method"]))
    ratios = _ratios(scores)
    seconds = pd.DataFrame(runs).groupby("method")["seconds"].median()
    head = (
        f"# Accuracy on {source}\n\n{n_seeds} seeds; budgets {_listed(scores['budget'])} attempts "
        f"in all; k {_listed(scores['k'])}. Ratios are MSE / MSE of `{REFERENCE}`, geometric means "
        "over cells (system, budget, k) where neither is null or 0; a cell is won below 1. "
        "Coverage and width are of 90 % intervals, means over cells. Undefined: predictions, of "
        "all systems, budgets and seeds, that a method could not make; the other statistics leave "
        "them out.\n"
    )
    table = _table(
        ["method", "sampling", "ratio", "won", "coverage", "width", "undefined", "seconds"],
        ([*_summary(m, scores, ratios, n_seeds), f"{seconds[m]:.2g}"] for m in methods),
    )
    by_system = _table(
        ["system", *methods],
        (
            [system, *(_number(_geometric(own[m])) for m in methods)]
            for system, own in ratios.groupby("system", sort=False)
        ),
    )
    return f"{head}\n{table}\n## Ratio by system\n\n{by_system}"


def _ratios(scores: pd.DataFrame) -> pd.DataFrame:
    wide = scores.pivot(index=["system", "budget", "k"], columns="method", values="mse")
    if REFERENCE not in wide:
        return wide * np.nan
    wide = wide.astype(float).where(lambda mse: mse > 0)
    return wide.div(wide[REFERENCE], axis=0)


def _summary(method: str, scores: pd.DataFrame, ratios: pd.DataFrame, n_seeds: int) -> list[str]:
    own, ratio = scores[scores["method"] == method], ratios[method].dropna()
    per_k = own.groupby(["system", "budget"])["n_seeds"].first()
    missing, all_of_them = int((n_seeds - per_k).sum()), n_seeds * len(per_k)
    return [
        f"`{method}`",
        own["sampling"].iloc[0],
        _number(_geometric(ratio)),
        _number((ratio < 1).mean() if method != REFERENCE else np.nan),
        _number(own["coverage_90"].astype(float).mean()),
        _number(own["width_90"].astype(float).mean()),
        f"{missing} of {all_of_them}",
    ]


def _geometric(ratio: pd.Series) -> float:
    return float(np.exp(np.log(ratio.dropna()).mean()))


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "-"


def _listed(values: Iterable[int]) -> str:
    return ", ".join(f"{value:,}" for value in sorted(set(values)))


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def whole_numbers(text: str) -> list[int]:
    """Parse ``100,1000``."""
    return [int(part) for part in text.split(",")]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("counts", type=Path, help="counts, in any form that bp.read_counts reads")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--seeds", type=int, default=100, metavar="N")
    parser.add_argument("--budgets", type=whole_numbers, default=[1_000, 2_000, 5_000, 10_000])
    parser.add_argument("--k", type=whole_numbers, default=[100, 300, 1_000, 10_000])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="processes")
    return parser.parse_args()


def main() -> None:
    """Run what is not yet there, then write accuracy.parquet and accuracy.md."""
    asked = arguments()
    numbers = [asked.seeds, asked.jobs, *asked.budgets, *asked.k]
    if min(numbers) < 1:
        raise OptionError(f"seeds, jobs, budgets and k: expected 1 or more, got {min(numbers)}")
    for method in asked.methods:
        find_method(method)
    counts = complete_counts(asked.counts)
    if not counts.sizes["system"]:
        raise CountsError(f"{asked.counts}: no system was tried on every problem")
    asked.out.mkdir(parents=True, exist_ok=True)
    tasks = [
        Task(method, budget, seed)
        for seed in range(asked.seeds)
        for budget in asked.budgets
        for method in dict.fromkeys(asked.methods)
    ]
    runs = run_all(tasks, asked.counts, counts, asked.k, asked.out, asked.jobs)
    scores = score(runs, counts, asked.k)
    scores.to_parquet(asked.out / "accuracy.parquet", index=False)
    text = report(scores, runs, asked.counts.name, asked.seeds)
    (asked.out / "accuracy.md").write_text(text)
    print(text)


if __name__ == "__main__":
    try:
        main()
    except BayesPasskError as error:
        sys.exit(f"accuracy.py: {error}")
