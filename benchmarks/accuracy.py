"""Accuracy of predictors of pass@k on real counts, by the protocol of Kazdan et al. 2025.

The truth is pass@k of the problems' own rates over all attempts of the file; systems that were not
tried on every problem are left out. For every budget
(attempts in all, of each system) and seed, attempts are drawn from those without replacement and
every method predicts from them: methods that sample alike see the same attempts.

A method is a name of ``METHODS``, or a fit: ``default`` or the name of a variant, then any of
``:alone`` (each system fitted by itself) and ``:first_successes`` (learn from the attempts up to
the third success). ``@uniform``, ``@fewest_successes`` or the name of a rule at the end changes the
sampling; a rule samples in ten rounds, the first one even, each system by a budget of its own.

Finished runs are in DIR/runs.jsonl and are not repeated: delete it where code or data changed.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from runs import Task, complete_counts, run_all, true_pass_at_k
from sampling import check_sampling, sampled

import bayes_passk as bp
from bayes_passk import baselines
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
    alone: bool = False


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
        Method("default", "variance_reduction", partial(fitted, {})),
        Method("default@uniform", "uniform", partial(fitted, {})),
    )
}


def find_method(text: str) -> Method:
    """Method of a name such as ``regression`` or ``kumaraswamy:alone@fewest_successes``."""
    base, _, sampling = text.partition("@")
    name, *modifiers = base.split(":")
    method = METHODS.get(base) or _fit_method(name, modifiers)
    if sampling:
        check_sampling(sampling)
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
    alone = "alone" in modifiers
    sampling = METHODS["default"].sampling if name == "default" else "uniform"
    return Method(name, sampling, partial(each_alone, predict) if alone else predict, alone)


# Runs, one line each in a file that grows.


def run(counts: xr.Dataset, ks: list[int], task: Task) -> dict[str, Any]:
    """Predictions of a task as a record."""
    method = find_method(task.method)
    sample = sample_for(method, counts, task, ks)
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


def sample_for(method: Method, counts: xr.Dataset, task: Task, ks: list[int]) -> xr.Dataset:
    """Counts that a method sees; where it is alone, so is the rule that samples for it."""
    given = method.sampling, task.budget, task.seed, ks
    if not method.alone:
        return sampled(counts, *given)
    systems = range(counts.sizes["system"])
    return xr.concat([sampled(counts.isel(system=[i]), *given) for i in systems], "system")


def _nulls(values: np.ndarray) -> list[list[float | None]]:
    return [[x if math.isfinite(x) else None for x in row] for row in values.tolist()]


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
    runs = run_all(run, tasks, asked.counts, asked.k, asked.out, asked.jobs)
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
