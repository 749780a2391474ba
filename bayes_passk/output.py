"""What the command line prints and draws: tables for people, JSON and CSV for machines."""

__all__ = [
    "draw_curve",
    "fail",
    "print_counts",
    "print_csv",
    "print_curve",
    "print_fit",
    "print_json",
    "print_plan",
    "print_table",
    "print_tasks",
    "print_variants",
    "say",
    "say_held_out",
    "warn",
]

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import bayes_passk as bp
from bayes_passk.counts import describe, provenance_of
from bayes_passk.errors import OptionError
from bayes_passk.files import whole

_PICTURES = (".png", ".svg", ".pdf")
# Values of k between those asked for, so that the drawn curve is smooth.
_DRAWN_KS = 60
_LONGEST_NAME = 48
_LISTED = 12


def say(text: str) -> None:
    """Tell the person at the terminal something."""
    Console(stderr=True, highlight=False).print(text, markup=False, soft_wrap=True)


def warn(lines: Iterable[str]) -> None:
    """Print warnings, a line each."""
    for line in lines:
        say(f"warning: {_printable(line)}")


def fail(text: str) -> None:
    """Print an error, one line."""
    print(f"error: {_printable(text)}", file=sys.stderr)


def print_counts(counts: xr.Dataset, format: str) -> None:
    """Print what was read."""
    print_tasks({"": counts}, format)


def print_tasks(tasks: Mapping[str, xr.Dataset], format: str) -> None:
    """Print what was read, each task apart."""
    rows = pd.concat([_rows(counts, task) for task, counts in tasks.items()], ignore_index=True)
    # What was read and left out is said of all tasks together.
    said = provenance_of(next(iter(tasks.values())))
    about = [describe(counts) for counts in tasks.values()]
    warnings = list(dict.fromkeys([*said["warnings"], *(w for one in about for w in one.warnings)]))
    if format == "json":
        formats = sorted({file["format"] for file in said["files"]})
        print_json(
            {
                "format": formats[0] if len(formats) == 1 else formats,
                "systems": list(dict.fromkeys(rows["system"])),
                "n_problems": sum(one.n_problems for one in about),
                "n_attempts": sum(one.n_attempts for one in about),
                "n_successes": sum(one.n_successes for one in about),
                "dropped": said["dropped"],
                "counts": rows.to_dict("records"),
                "warnings": warnings,
                "files": said["files"],
                "rules": said.get("rules", []),
            }
        )
    elif format == "csv":
        print_csv(rows)
    else:
        for task, counts in tasks.items():
            print_table(_by_system(counts), f"Counts of {_printable(task)}" if task else "Counts")
        _say_provenance(said)
    if format != "json":
        warn(warnings)


def _say_provenance(said: Mapping[str, Any]) -> None:
    for file in said["files"][:_LISTED]:
        say(
            f"{_printable(file['path'])}: read as {file['format']}, "
            f"{file['n_attempts']:,} attempts{_left_out(file['dropped'])}"
        )
    if len(said["files"]) > _LISTED:
        say(f"and {len(said['files']) - _LISTED:,} more files{_left_out(said['dropped'])} in all")
    for rule in said.get("rules", []):
        say(_printable(rule))


def _left_out(dropped: Mapping[str, int]) -> str:
    return "".join(f", {number:,} left out ({reason})" for reason, number in dropped.items())


def print_fit(fit: xr.DataTree, path: Path, seconds: float, format: str) -> None:
    """Print how a fit went."""
    record = bp.record_of(fit)
    shown = {
        "fit": str(path),
        "variant": record["variant"],
        "r_hat_max": record["r_hat_max"],
        "ess_min": record["ess_min"],
        "divergences": record["divergences"],
        "warnings": record["warnings"],
        "seconds": round(seconds, 3),
    }
    if format == "json":
        print_json(shown)
        return
    table = pd.DataFrame([shown]).drop(columns="warnings")
    print_csv(table) if format == "csv" else print_table(table, "Fit")
    warn(record["warnings"])


def print_plan(plan: xr.Dataset, out: Path | None, format: str) -> None:
    """Print a plan of attempts, and write it as CSV where a path is given."""
    rows = plan[["n_attempts", "share_of_variance"]].reset_coords(drop=True)
    table = rows.to_dataframe(dim_order=["system", "problem"]).reset_index()
    if out is not None:
        with whole(out) as temporary:
            table.to_csv(temporary, index=False, lineterminator="\n")
    now, expected = (float(plan[name].mean()) for name in ("width_now", "width_expected"))
    if format == "json":
        budget = plan.attrs["budget"]
        print_json(
            {
                "budget": int(budget) if budget == int(budget) else budget,
                "width_now": now,
                "width_expected": expected,
                "ci_prob": plan.attrs["ci_prob"],
                "target": plan.attrs["target"],
                "quantities": _quantities(plan).to_dict("records"),
                "plan": table.to_dict("records"),
            }
        )
        return
    if format == "csv":
        print_csv(table)
        return
    most = table[table["n_attempts"] > 0].sort_values("n_attempts", ascending=False)
    print_table(most.head(_LISTED), f"Where to sample: {most['n_attempts'].sum():,} attempts")
    if len(most) > _LISTED:
        say(f"and {len(most) - _LISTED} more problems: -o plan.csv has all")
    percent = f"{100 * plan.attrs['ci_prob']:g} % {plan.attrs['ci_kind']}"
    print_table(_quantities(plan), f"Width of the {percent} of {plan.attrs['target']}")


def print_variants(table: pd.DataFrame, format: str) -> None:
    """Print a comparison of variants."""
    contract = ["variant", "elpd_loo", "se", "weight", "p_loo", "pareto_k_max", "n_exact"]
    if format == "json":
        print_json(table[contract].to_dict("records"))
    elif format == "csv":
        print_csv(table[contract])
    else:
        print_table(table.round(2), "Variants, best first")


def print_curve(table: pd.DataFrame, format: str) -> None:
    """Print a summary of a curve."""
    if format == "json":
        print_json(table.to_dict("records"))
    elif format == "csv":
        print_csv(table)
    else:
        first = table.iloc[0]
        title = (
            f"pass@k, {first['estimand'].replace('_', ' ')}, "
            f"{100 * first['ci_prob']:g} % {first['ci_kind']}"
        )
        shown = table[["system", "k", "mean", "median", "lower", "upper", "unbiased"]].copy()
        shown["extrapolated"] = np.where(table["extrapolated"], "yes", "")
        print_table(shown, title)


def say_held_out(table: pd.DataFrame, counts: xr.Dataset, k: int) -> None:
    """Say what all attempts made give at k, beside the interval from a part of them."""
    for system in counts["system"].values:
        row = table[(table["system"] == system) & (table["k"] == k)].iloc[0]
        own = counts.sel(system=system)
        estimates = bp.unbiased_pass_at_k(own["n_attempts"], own["n_successes"], k)
        value = float(estimates.mean())
        inside = "inside" if row["lower"] <= value <= row["upper"] else "outside"
        say(f"All attempts of {system} give pass@{k} = {value:.3f}: {inside} the interval.")


def draw_curve(
    fit: xr.DataTree, ks: Sequence[int], estimand: str, ci_prob: float | None, path: Path
) -> None:
    """Draw a curve from the smallest to the largest k into a picture."""
    if path.suffix not in _PICTURES:
        raise OptionError(f"--plot {path}: expected a name that ends in {', '.join(_PICTURES)}")
    import matplotlib as mpl

    mpl.use("Agg")
    low, high = min(ks), max(max(ks), 2)
    grid = np.unique(np.geomspace(low, high, _DRAWN_KS).round()).astype(int)
    curve = bp.pass_at_k(fit, grid, estimand=estimand)  # type: ignore[arg-type]
    collection = bp.plot_pass_at_k(curve, ci_prob=ci_prob, backend="matplotlib")
    with whole(path) as temporary:
        collection.savefig(temporary, dpi=150)


def print_table(frame: pd.DataFrame, title: str) -> None:
    """Print a table for people; what comes from logs cannot steer the terminal."""
    table = Table(title=title, title_justify="left")
    for name in frame.columns:
        left = name in ("system", "variant", "fit", "extrapolated")
        table.add_column(name.replace("_", " "), justify="left" if left else "right")
    for row in frame.itertuples(index=False):
        table.add_row(*(escape(_cell(value)) for value in row))
    console = Console(highlight=False)
    # A pipe has no width: let nothing be cut there.
    console.width = console.width if console.is_terminal else max(console.width, 200)
    console.print(table)


def print_json(value: Any) -> None:
    """Print a value as JSON of plain numbers; what is not finite is null."""
    print(json.dumps(_plain(value), allow_nan=False, ensure_ascii=False))


def print_csv(frame: pd.DataFrame) -> None:
    """Print a table as CSV."""
    frame.to_csv(sys.stdout, index=False, lineterminator="\n")


def _quantities(plan: xr.Dataset) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "system": plan["quantity_system"].values,
            "k": plan["quantity_k"].values,
            "width_now": plan["width_now"].values,
            "width_expected": plan["width_expected"].values,
        }
    )


def _by_system(counts: xr.Dataset) -> pd.DataFrame:
    n, c = counts["n_attempts"].values, counts["n_successes"].values
    return pd.DataFrame(
        {
            "system": counts["system"].values,
            "problems": n.shape[1],
            "without attempts": (n == 0).sum(axis=1),
            "attempts": n.sum(axis=1),
            "successes": c.sum(axis=1),
            "smallest n": n.min(axis=1),
            "largest n": n.max(axis=1),
            "never solved": ((c == 0) & (n > 0)).sum(axis=1),
        }
    )


def _rows(counts: xr.Dataset, task: str = "") -> pd.DataFrame:
    systems, problems = np.indices(counts["n_attempts"].shape).reshape(2, -1)
    rows = pd.DataFrame(
        {
            "system": counts["system"].values[systems],
            "problem": counts["problem"].values[problems],
            "n_attempts": counts["n_attempts"].values.ravel(),
            "n_successes": counts["n_successes"].values.ravel(),
        }
    )
    if "task" in counts.coords:
        return rows.assign(task=counts["task"].values[problems])
    return rows.assign(task=task) if task else rows


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = _printable(str(value))
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def _printable(text: str) -> str:
    # Names come from logs: no control character or direction mark reaches the terminal.
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
