"""What the campaign commands print, and the live view of a campaign."""

__all__ = [
    "print_counts",
    "print_created",
    "print_names",
    "print_status",
    "print_told",
    "watch",
]

import time
from typing import Any

import pandas as pd
from rich.console import Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from bayes_passk.campaign import Campaign, Status
from bayes_passk.output import print_counts, print_csv, print_json, print_table, say

_REFRESH = 2.0
_BARS = "▁▂▃▄▅▆▇█"
_CONTRACT = ("budget", "handed_out", "told", "passed", "errors", "outstanding", "estimate")


def print_created(campaign: Campaign, format: str) -> None:
    """Print what was created."""
    shown = {
        "name": campaign.name,
        "n_problems": len(campaign.problems),
        "budget": campaign.status(estimate=False).budget,
    }
    if format == "json":
        print_json(shown)
    elif format == "csv":
        print_csv(pd.DataFrame([shown]))
    else:
        print_table(pd.DataFrame([shown]), "Campaign created")


def print_told(accepted: int, repeated: int, rejected: list[dict[str, Any]]) -> None:
    """Print what became of outcomes."""
    print_json({"accepted": accepted, "repeated": repeated, "rejected": rejected})


def print_names(names: list[str], format: str) -> None:
    """Print the names of campaigns."""
    if format == "json":
        print_json(names)
    elif format == "csv":
        print_csv(pd.DataFrame({"name": names}))
    else:
        print_table(pd.DataFrame({"name": names}), "Campaigns")


def print_status(campaign: Campaign, status: Status, format: str) -> None:
    """Print where a campaign stands."""
    values = status.to_dict()
    if format == "json":
        print_json({name: values[name] for name in _CONTRACT} | values)
        return
    counted = "budget spent handed_out told passed failed errors timeouts outstanding".split()
    table = pd.DataFrame([{name: values[name] for name in counted}])
    if format == "csv":
        print_csv(table)
        return
    print_table(table, f"Campaign {campaign.name}")
    if status.estimates:
        print_table(pd.DataFrame(status.estimates), "pass@k of the benchmark now")
    if status.finished:
        say(f"ended: {status.finished}")


def watch(campaign: Campaign, estimate: bool) -> None:
    """Show a campaign live until it ends or Ctrl-C."""
    seen: list[tuple[float, int]] = []
    status = campaign.status(estimate=estimate)
    with Live(_view(campaign, status, seen), refresh_per_second=2) as live:
        while status.finished is None:
            time.sleep(_REFRESH)
            told = campaign.status(estimate=False).told
            if told != status.told:
                status = campaign.status(estimate=estimate)
            seen.append((time.monotonic(), told))
            live.update(_view(campaign, status, seen[-60:]))
            status = status if campaign.finished() is None else campaign.status(estimate=estimate)
        live.update(_view(campaign, status, seen))


def _view(campaign: Campaign, status: Status, seen: list[tuple[float, int]]) -> Panel:
    grid = Table.grid(padding=(0, 2))
    grid.add_row("attempts", f"{status.told:,} told, {status.outstanding:,} out")
    grid.add_row("", ProgressBar(total=status.budget, completed=status.told, width=40))
    outcomes = f"{status.passed:,} passed, {status.failed:,} failed, {status.errors:,} errors"
    grid.add_row("outcomes", f"{outcomes}, {status.timeouts:,} timeouts")
    for row in status.estimates:
        interval = f"{row['mean']:.3f} ({row['lower']:.3f} to {row['upper']:.3f})"
        percent = f"{100 * row['ci_prob']:g} % interval"
        grid.add_row(Text(f"pass@{row['k']:,} {row['system']}"), f"{interval}, {percent}")
    grid.add_row("width by round", _sparkline([row["width"] for row in status.history]))
    grid.add_row("ends", status.finished or _expected_end(status, seen))
    return Panel(Group(grid), title=Text(f"campaign {campaign.name}"), title_align="left")


def _sparkline(widths: list[float | None]) -> str:
    known = [width for width in widths if width is not None]
    if not known:
        return "-"
    top = max(known)
    bars = (_BARS[min(7, int(8 * width / top))] if top else _BARS[0] for width in known)
    return f"{''.join(bars)}  {known[-1]:.3f}"


def _expected_end(status: Status, seen: list[tuple[float, int]]) -> str:
    if len(seen) < 2 or seen[-1][1] == seen[0][1]:
        return "-"
    rate = (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])
    # In attempts where they cost one each; else by the share of the budget planned so far.
    planned = max(status.spent, 1)
    left = status.budget * (status.told + status.outstanding) / planned - status.told
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + max(0.0, left / rate)))
