"""``bayes-passk campaign``: create, ask, tell, run, watch and export a campaign."""

__all__ = ["campaign_app"]

import json
import shlex
import sys
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from itertools import batched
from pathlib import Path
from typing import Annotated, Any

import typer

import bayes_passk as bp
from bayes_passk import campaign_output as output
from bayes_passk.errors import CampaignError, OptionError

campaign_app = typer.Typer(
    help="Attempts asked for and told, in a store that outlives the processes that make them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_AT_ONCE = 200


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"


Url = Annotated[
    str, typer.Argument(metavar="URL", help="A file, sqlite:///FILE or postgresql://...")
]
Name = Annotated[str, typer.Option(help="The campaign's name in the store.")]
AsFormat = Annotated[Format, typer.Option("--format", help="How to print the result.")]


@campaign_app.command()
def create(
    url: Url,
    problems: Annotated[
        Path, typer.Option(help="Table with problem (system, cost, ...), or an id a line.")
    ],
    budget: Annotated[float, typer.Option(help="Attempts in all, or their cost.")],
    k: Annotated[int, typer.Option("-k", help="Attempts granted, of the pass@k wanted.")],
    name: Name = "campaign",
    batch: Annotated[float | None, typer.Option(help="Cost of a round.")] = None,
    target: Annotated[str, typer.Option(help="benchmark, difference or any_success.")] = (
        "benchmark"
    ),
    rule: Annotated[str, typer.Option(help="Where to sample next.")] = "variance_reduction",
    width: Annotated[float | None, typer.Option(help="Stop at this width.")] = None,
    deadline: Annotated[datetime | None, typer.Option(help="Stop then.")] = None,
    ci_prob: Annotated[float, typer.Option(help="Probability of the interval.")] = 0.9,
    lease: Annotated[float, typer.Option(help="Seconds that a worker has for an attempt.")] = 900,
    on_error: Annotated[str, typer.Option(help="Errors: drop or fail.")] = "drop",
    on_timeout: Annotated[str, typer.Option(help="Timeouts: fail or drop.")] = "fail",
    variant: Annotated[str, typer.Option(help="Variant of the fits.")] = "beta_binomial",
    seed: Annotated[int | None, typer.Option(help="Seed of plans and fits.")] = None,
    format: AsFormat = Format.table,
) -> None:
    """Start a campaign."""
    made = bp.Campaign.create(
        url,
        problems,
        name=name,
        budget=budget,
        k=k,
        batch=batch,
        target=target,
        rule=rule,
        width=width,
        deadline=deadline,
        ci_prob=ci_prob,
        lease=lease,
        on_error=on_error,
        on_timeout=on_timeout,
        variant=variant,
        random_seed=seed,
    )
    output.print_created(made, format)


@campaign_app.command()
def ask(
    url: Url,
    n: Annotated[int, typer.Option("-n", help="Attempts wanted.")] = 1,
    name: Name = "campaign",
    worker: Annotated[str | None, typer.Option(help="Who asks.")] = None,
) -> None:
    """Take attempts to make: one JSON object a line, none when there is nothing to do."""
    for attempt in bp.Campaign.open(url, name).ask(n, worker):
        line = {"attempt": attempt.id, "system": attempt.system, "problem": attempt.problem}
        print(json.dumps(line, ensure_ascii=False), flush=True)


@campaign_app.command()
def tell(url: Url, name: Name = "campaign") -> None:
    """Record outcomes from stdin, a JSON object a line; exit code 1 if any was rejected."""
    campaign = bp.Campaign.open(url, name)
    accepted, repeated, rejected = 0, 0, []
    for lines in batched(_lines(), _AT_ONCE):
        read = [_outcome(line) for line in lines]
        rejected += [wrong for _, wrong in read if wrong]
        told = campaign.tell_many([outcome for outcome, wrong in read if not wrong])
        accepted, repeated = accepted + told.accepted, repeated + told.repeated
        rejected += told.rejected
    output.print_told(accepted, repeated, rejected)
    if rejected:
        raise typer.Exit(1)


@campaign_app.command()
def status(
    url: Url,
    name: Name = "campaign",
    estimate: Annotated[bool, typer.Option(help="Fit the counts and show pass@k.")] = True,
    watch: Annotated[bool, typer.Option("--watch", help="Show it live until it ends.")] = False,
    format: AsFormat = Format.table,
) -> None:
    """Show where a campaign stands."""
    campaign = bp.Campaign.open(url, name)
    if watch:
        output.watch(campaign, estimate)
    else:
        output.print_status(campaign, campaign.status(estimate=estimate), format)


@campaign_app.command()
def export(url: Url, name: Name = "campaign", format: AsFormat = Format.table) -> None:
    """Print the counts, as `bayes-passk counts` does."""
    output.print_counts(bp.Campaign.open(url, name).counts(), format)


@campaign_app.command("list")
def list_campaigns(url: Url, format: AsFormat = Format.table) -> None:
    """List the campaigns of a store."""
    output.print_names(bp.Campaign.names(url), format)


@campaign_app.command()
def run(
    url: Url,
    name: Name = "campaign",
    command: Annotated[
        str | None, typer.Option(help="Command that reads and answers JSON lines.")
    ] = None,
    function: Annotated[
        str | None, typer.Option(metavar="MODULE:NAME", help="Python function of an attempt.")
    ] = None,
    inspect: Annotated[
        str | None, typer.Option(metavar="TASK", help="Inspect AI task file, with --model.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model of the Inspect AI task.")] = None,
    workers: Annotated[int, typer.Option(help="Attempts at a time.")] = 1,
    timeout: Annotated[float | None, typer.Option(help="Seconds for an attempt.")] = None,
    retries: Annotated[int, typer.Option(help="Times an error is tried again.")] = 2,
    format: AsFormat = Format.table,
) -> None:
    """Make attempts until the campaign ends; Ctrl-C stops it, and it can be run again."""
    from bayes_passk.campaign import runners

    if sum(x is not None for x in (command, function, inspect)) != 1:
        raise OptionError("expected one of --command, --function and --inspect")
    campaign = bp.Campaign.open(url, name)
    options: dict[str, Any] = {"concurrency": workers, "timeout": timeout, "retries": retries}
    if command is not None:
        runners.run_command(campaign, shlex.split(command), **options)
    elif function is not None:
        runners.run_function(campaign, _imported(function), **options)
    else:
        if model is None:
            raise OptionError("--inspect: expected --model too")
        runners.run_inspect(campaign, inspect, model=model)
    output.print_status(campaign, campaign.status(), format)


def _lines() -> Iterator[str]:
    # Bytes that are no UTF-8 spoil their own line at most.
    decoded = (line.decode("utf-8", "surrogateescape") for line in sys.stdin.buffer)
    return (line for line in decoded if line.strip())


def _outcome(line: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    try:
        outcome = json.loads(line)
    except (ValueError, RecursionError):
        outcome = None
    if isinstance(outcome, dict):
        return outcome, None
    reason = f"expected a JSON object, got {line.strip()[:80]!r}"
    return {}, {"attempt": None, "reason": reason}


def _imported(text: str) -> Any:
    from importlib import import_module

    module, colon, name = text.partition(":")
    if not colon or not module or not name:
        raise OptionError(f"--function: expected MODULE:NAME, got {text!r}")
    sys.path.insert(0, "")
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # whatever that module does when it is imported
        reason = f"{type(error).__name__}: {error}"
        raise CampaignError(f"--function {text}: cannot be imported: {reason}") from error
