"""Rules of where to sample next, replayed on complete counts.

Every rule samples each system of the file in rounds, the first one even, without replacement from
the attempts recorded; all systems are fitted together after every round, as their posterior then
is. The truth is pass@k of the problems' own rates. Written are DIR/allocation.parquet (a row per
rule, seed, round, system and k), DIR/allocation.png and DIR/allocation.md.

Finished runs are in DIR/runs.jsonl and are not repeated: delete it where code or data changed.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import xarray as xr
from runs import Task, complete_counts, run_all, true_pass_at_k
from sampling import by_rounds

import bayes_passk as bp
from bayes_passk.errors import BayesPasskError, OptionError
from bayes_passk.rules import RULES
from bayes_passk.updating import LivePosterior

CI_PROB = 0.9
REFERENCE = "uniform"


def run(counts: xr.Dataset, ks: list[int], task: Task) -> dict[str, Any]:
    """Mean and interval after every round of a rule, over (round, system, k)."""
    started = time.perf_counter()
    live = LivePosterior(random_seed=task.seed)
    rounds = by_rounds(counts, task.method, task.budget, task.seed, ks)
    found = [_interval(live.at(seen), ks) for seen in rounds]
    mean, lower, upper = (np.stack(part).tolist() for part in zip(*found, strict=True))
    return {
        "method": task.method,
        "budget": task.budget,
        "seed": task.seed,
        "seconds": round(time.perf_counter() - started, 3),
        "attempts": [seen["n_attempts"].sum("problem").values.tolist() for seen in rounds],
        "mean": mean,
        "lower": lower,
        "upper": upper,
    }


def _interval(fit: xr.DataTree, ks: list[int]) -> tuple[np.ndarray, ...]:
    draws = bp.pass_at_k(fit, ks)["pass_at_k"].stack(sample=("chain", "draw"))
    draws = draws.transpose("sample", "system", "k").values
    tails = (1 - CI_PROB) / 2, (1 + CI_PROB) / 2
    return draws.mean(axis=0), *np.quantile(draws, tails, axis=0)


def table_of(runs: list[dict[str, Any]], counts: xr.Dataset, ks: list[int]) -> pd.DataFrame:
    """A row per rule, seed, round, system and k."""
    return pd.DataFrame(_rows(runs, counts["system"].values, true_pass_at_k(counts, ks), ks))


def _rows(
    runs: list[dict[str, Any]], systems: np.ndarray, truth: np.ndarray, ks: list[int]
) -> Iterator[dict[str, Any]]:
    for one in runs:
        mean, lower, upper, attempts = (
            np.array(one[name]) for name in ("mean", "lower", "upper", "attempts")
        )
        for index, i, j in np.ndindex(mean.shape):
            at = index, i, j
            yield {
                "rule": one["method"],
                "seed": one["seed"],
                "round": index + 1,
                "system": systems[i],
                "k": ks[j],
                "attempts": attempts[index, i],
                "truth": truth[i, j],
                "error": mean[at] - truth[i, j],
                "width_90": upper[at] - lower[at],
                "covered_90": bool(lower[at] <= truth[i, j] <= upper[at]),
            }


def by_round(table: pd.DataFrame) -> pd.DataFrame:
    """Root mean squared error, width and coverage of each rule after each round, over all cells."""
    squared = table.assign(squared=table["error"] ** 2)
    found = squared.groupby(["rule", "round"], sort=False).agg(
        attempts=("attempts", "mean"),
        rmse=("squared", lambda values: float(np.sqrt(values.mean()))),
        width_90=("width_90", "mean"),
        coverage_90=("covered_90", "mean"),
    )
    return found.reset_index()


def attempts_to_match(rounds: pd.DataFrame, column: str) -> dict[str, float | None]:
    """Attempts after which each rule is as good as uniform at the end, log-interpolated."""
    goal = float(rounds.loc[rounds["rule"] == REFERENCE, column].iloc[-1])
    return {rule: _reached(own, column, goal) for rule, own in rounds.groupby("rule", sort=False)}


def _reached(own: pd.DataFrame, column: str, goal: float) -> float | None:
    values, attempts = own[column].values, own["attempts"].values
    good = np.flatnonzero(values <= goal * (1 + 1e-9))
    if not len(good):
        return None
    at = int(good[0])
    if at == 0:
        return float(attempts[0])
    pair = np.log(values[[at, at - 1]]), np.log(attempts[[at, at - 1]])
    return float(np.exp(np.interp(np.log(goal), *pair)))


def report(table: pd.DataFrame, source: str, n_seeds: int, ks: list[int]) -> str:
    """Markdown: each rule at the end, and the attempts it takes to match uniform."""
    rounds = by_round(table)
    last = rounds.groupby("rule", sort=False).last()
    matched = {column: attempts_to_match(rounds, column) for column in ("rmse", "width_90")}
    lines = [
        f"# Allocation on {source}",
        "",
        f"{n_seeds} seeds, {table['system'].nunique()} systems with {last['attempts'].max():,.0f} "
        f"attempts each, k {', '.join(f'{k:,}' for k in ks)}; means over all cells. The last two "
        f"columns: attempts after which a rule is as good as {REFERENCE} at the end.",
        "",
        "| rule | RMSE | width of 90 % | coverage | to match the RMSE | to match the width |",
        "|---|---|---|---|---|---|",
    ]
    for rule, row in last.iterrows():
        reached = (_attempts(matched[column][rule]) for column in ("rmse", "width_90"))
        numbers = f"{row['rmse']:.4f} | {row['width_90']:.4f} | {row['coverage_90']:.2f}"
        lines.append(f"| `{rule}` | {numbers} | {' | '.join(reached)} |")
    return "\n".join(lines) + "\n"


def _attempts(number: float | None) -> str:
    return "not reached" if number is None else f"{number:,.0f}"


def draw(table: pd.DataFrame, path: Path) -> None:
    """Error and interval width over the attempts made."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    rounds = by_round(table)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, column, label in zip(
        axes, ("rmse", "width_90"), ("RMSE of pass@k", "width of the 90 % interval"), strict=True
    ):
        for rule, own in rounds.groupby("rule", sort=False):
            axis.plot(own["attempts"], own[column], marker="o", markersize=3, label=rule)
        axis.set(xscale="log", yscale="log", xlabel="attempts for each system", ylabel=label)
    axes[0].legend()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def whole_numbers(text: str) -> list[int]:
    """Parse ``100,1000``."""
    return [int(part) for part in text.split(",")]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("counts", type=Path, help="counts, in any form that bp.read_counts reads")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--seeds", type=int, default=10, metavar="N")
    parser.add_argument("--budget", type=int, default=10_000, help="attempts of each system")
    parser.add_argument("--k", type=whole_numbers, default=[100, 1_000, 10_000])
    parser.add_argument("--rules", type=lambda text: text.split(","), default=list(RULES))
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="processes")
    return parser.parse_args()


def main() -> None:
    """Run what is not yet there, then write the table, the plot and the report."""
    asked = arguments()
    if min(asked.seeds, asked.jobs, asked.budget, *asked.k) < 1:
        raise OptionError("seeds, jobs, budget and k: expected 1 or more")
    rules = list(dict.fromkeys([REFERENCE, *asked.rules]))
    for rule in rules:
        bp.find_rule(rule)
    counts = complete_counts(asked.counts)
    asked.out.mkdir(parents=True, exist_ok=True)
    tasks = [Task(rule, asked.budget, seed) for seed in range(asked.seeds) for rule in rules]
    runs = run_all(run, tasks, asked.counts, asked.k, asked.out, asked.jobs)
    table = table_of(runs, counts, asked.k)
    table.to_parquet(asked.out / "allocation.parquet", index=False)
    draw(table, asked.out / "allocation.png")
    text = report(table, asked.counts.name, asked.seeds, asked.k)
    (asked.out / "allocation.md").write_text(text)
    print(text)


if __name__ == "__main__":
    try:
        main()
    except BayesPasskError as error:
        sys.exit(f"allocation.py: {error}")
