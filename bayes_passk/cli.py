"""The command line: parse, call, print. Results on stdout, everything else on stderr."""

__all__ = ["main"]

import json
import sys
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import bayes_passk as bp
from bayes_passk import output
from bayes_passk.campaign_commands import campaign_app
from bayes_passk.errors import BayesPasskError, NotDefinedError, OptionError
from bayes_passk.policy_options import takes_policy

app = typer.Typer(
    name="bayes-passk",
    help="Bayesian pass@k: honest intervals for systems sampled many times.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.add_typer(campaign_app, name="campaign")


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"


class Pooling(StrEnum):
    """What the systems share."""

    none = "none"
    partial = "partial"
    complete = "complete"


class LearnFrom(StrEnum):
    """Which attempts the difficulty distribution learns from."""

    all = "all"
    first_successes = "first_successes"


class Target(StrEnum):
    """What an allocation is to make certain."""

    benchmark = "benchmark"
    curve = "curve"
    difference = "difference"
    any_success = "any_success"


class Estimand(StrEnum):
    """What a curve is of."""

    benchmark = "benchmark"
    population = "population"
    future_run = "future_run"


class By(StrEnum):
    """What counts are taken apart by."""

    task = "task"


Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders or globs.")]
FitPath = Annotated[Path, typer.Argument(metavar="FIT", help="A saved fit (.nc or .zarr).")]
AsFormat = Annotated[Format, typer.Option("--format", help="How to print the result.")]
From = Annotated[str | None, typer.Option("--from", help="Format of the files, if not by content.")]
Ks = Annotated[str, typer.Option("-k", metavar="K,K,..", help="Attempts granted, up to 1e9.")]
CiProb = Annotated[float | None, typer.Option(help="Probability of the interval.")]


@app.command()
@takes_policy
def counts(
    paths: Paths,
    format: AsFormat = Format.table,
    from_format: From = None,
    by: Annotated[By | None, typer.Option(help="Each task apart.")] = None,
    *,
    policy: dict[str, Any],
) -> None:
    """Read files and say what they hold: systems, problems, attempts, and what was left out."""
    if by is None:
        output.print_counts(bp.read_counts(paths, format=from_format, **policy), format)
    else:
        tasks = bp.read_counts(paths, format=from_format, by="task", **policy)
        output.print_tasks(tasks, format)


@app.command()
@takes_policy
def fit(
    paths: Paths,
    out: Annotated[Path, typer.Option("-o", "--output", help="Where to save: .nc or .zarr.")],
    variant: Annotated[str, typer.Option(help="Name of a variant, or a .py file.")] = (
        "beta_binomial"
    ),
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the variant; may be repeated."),
    ] = None,
    pooling: Annotated[Pooling, typer.Option(help="What systems share.")] = Pooling.partial,
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness.")] = None,
    draws: Annotated[int, typer.Option(help="Draws a chain.")] = 1_000,
    tune: Annotated[int, typer.Option(help="Draws of adaptation a chain.")] = 1_000,
    chains: Annotated[int, typer.Option(help="Number of chains.")] = 4,
    learn_from: Annotated[
        LearnFrom, typer.Option(help="All attempts, or those up to each problem's third success.")
    ] = LearnFrom.all,
    max_attempts: Annotated[
        int | None, typer.Option(help="Thin every problem to at most so many attempts.")
    ] = None,
    format: AsFormat = Format.table,
    from_format: From = None,
    *,
    policy: dict[str, Any],
) -> None:
    """Fit a variant to counts with NUTS and save the fit."""
    started = time.perf_counter()
    bp.check_fit_path(out)
    chosen = _variant_options(option or [])
    bp.find_variant(variant, **chosen)
    read = bp.read_counts(paths, format=from_format, **policy)
    if max_attempts is not None:
        read = bp.thin(read, max_attempts, 0 if seed is None else seed)
    options = {
        "pooling": pooling.value,
        "learn_from": learn_from.value,
        "draws": draws,
        "tune": tune,
        "chains": chains,
    }
    fitted = bp.fit(read, variant, random_seed=seed, **options, **chosen)  # type: ignore[arg-type]
    bp.save_fit(fitted, out)
    output.print_fit(fitted, out, time.perf_counter() - started, format)


@app.command()
def curve(
    fit: FitPath,
    k: Ks = "1,10,100,1000",
    estimand: Annotated[Estimand, typer.Option(help="What it is of.")] = Estimand.benchmark,
    ci_prob: CiProb = None,
    format: AsFormat = Format.table,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the curve into a PNG, SVG or PDF.")
    ] = None,
) -> None:
    """Print pass@k of a saved fit, with credible intervals."""
    ks = _whole_list(k)
    loaded = bp.load_fit(fit)
    found = bp.pass_at_k(loaded, ks, estimand=estimand.value)
    table = bp.summary(found, ci_prob=ci_prob)
    if plot is not None:
        output.draw_curve(loaded, ks, estimand.value, ci_prob, plot)
    output.print_curve(table, format)
    output.warn(bp.record_of(loaded)["warnings"])


@app.command()
def allocate(
    fit: FitPath,
    k: Ks,
    budget: Annotated[
        float | None, typer.Option(help="Attempts in all, or their cost where --cost is given.")
    ] = None,
    target_width: Annotated[
        float | None, typer.Option(help="Instead of a budget: the interval's width wanted.")
    ] = None,
    target: Annotated[Target, typer.Option(help="What is to become certain.")] = Target.benchmark,
    systems: Annotated[str | None, typer.Option(metavar="A,B", help="These systems only.")] = None,
    cost: Annotated[
        Path | None,
        typer.Option(help="Table with the cost of an attempt by problem, by system, or both."),
    ] = None,
    cap: Annotated[int | None, typer.Option(help="Most attempts for a problem.")] = None,
    ci_prob: CiProb = None,
    seed: Annotated[int, typer.Option(help="Seed of ties and simulated futures.")] = 0,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the plan as CSV.")
    ] = None,
    format: AsFormat = Format.table,
) -> None:
    """Plan where to sample next, so that pass@k becomes as certain as the budget allows."""
    ks = _whole_list(k)
    loaded = bp.load_fit(fit)
    chosen = None if systems is None else systems.split(",")
    if (budget is None) == (target_width is None):
        raise OptionError("expected one of --budget and --target-width")
    if target_width is not None:
        budget = _budget_for(loaded, ks, target_width, chosen, ci_prob, seed)
    plan = bp.allocate(
        loaded,
        budget,  # type: ignore[arg-type]
        ks,
        target="curve" if len(ks) > 1 and target == Target.benchmark else target.value,
        systems=chosen,
        cost=1.0
        if cost is None
        else bp.costs_from_table(cost, loaded["observed_data"].to_dataset()),
        cap=cap,
        ci_prob=ci_prob,
        random_seed=seed,
    )
    output.print_plan(plan, out, format)
    output.warn(bp.record_of(loaded)["warnings"])


@app.command()
def variants(
    fits: Annotated[list[Path], typer.Argument(metavar="FIT FIT..", help="Fits of one dataset.")],
    format: AsFormat = Format.table,
) -> None:
    """Compare fits of the same counts by leaving one problem out; weights are of stacking."""
    loaded = {str(path): bp.load_fit(path) for path in fits}
    names = [bp.record_of(fit)["variant"] for fit in loaded.values()]
    unique = len(set(names)) == len(names)
    named = dict(zip(names if unique else loaded, loaded.values(), strict=True))
    output.print_variants(bp.compare_variants(named), format)


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the fit and the plot.")
    ] = Path("demo"),
) -> None:
    """Run the main job on bundled real counts: fit, pass@k with intervals, plot."""
    out.mkdir(parents=True, exist_ok=True)
    everything = bp.load_smollm2()
    output.say(
        "SmolLM2-135M on 118 problems at two temperatures; a fit of 50 of 200 attempts each."
    )
    fitted = bp.fit(bp.thin(everything, 50, random_seed=1), random_seed=1)
    bp.save_fit(fitted, out / "fit.nc")
    ks = [1, 10, 50, 200, 1_000]
    table = bp.summary(bp.pass_at_k(fitted, ks), ci_prob=0.9)
    output.print_curve(table, Format.table)
    output.say_held_out(table, everything, k=200)
    output.draw_curve(fitted, ks, "benchmark", 0.9, out / "pass_at_k.png")
    output.warn(bp.record_of(fitted)["warnings"])
    output.say(f"Written: {out / 'fit.nc'} and {out / 'pass_at_k.png'}.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors that a user can cause take one line and exit code 1."""
    try:
        app(args=arguments, standalone_mode=True)
    except BayesPasskError as error:
        output.fail(str(error))
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        output.fail("interrupted")
        sys.exit(130)


def _budget_for(
    fit: Any,
    ks: list[int],
    width: float,
    systems: list[str] | None,
    ci_prob: float | None,
    seed: int,
) -> int:
    alone = fit["observed_data"].sizes["system"] == 1 if systems is None else len(systems) == 1
    if len(ks) != 1 or not alone:
        raise OptionError("--target-width: expected one k and one system")
    needed = bp.attempts_needed(
        fit,
        ks[0],
        width=width,
        ci_prob=ci_prob,
        system=systems[0] if systems else None,
        random_seed=seed,
    )
    output.say(needed.answer)
    if needed.n_attempts is None:
        raise NotDefinedError(needed.answer)
    return needed.n_attempts


def _variant_options(given: Sequence[str]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise OptionError(f"--option: expected NAME=VALUE, got {text!r}")
        try:
            chosen[name] = json.loads(value)
        except json.JSONDecodeError:
            chosen[name] = value
    return chosen


def _whole_list(text: str) -> list[int]:
    try:
        return [int(part) if part.strip().isdigit() else _whole(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"-k: expected whole numbers with commas between, got {text!r}") from None


def _whole(part: str) -> int:
    number = float(part)
    if number != int(number):
        raise ValueError(part)
    return int(number)
