"""Progress of long work, on standard error and only where somebody looks."""

__all__ = ["sampling_progress"]

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def sampling_progress(show: bool, total: int) -> Iterator[Callable[[list[Any]], None] | None]:
    """Show compiling and sampling as one bar; yield nutpie's callback, or None if not shown.

    Parameters
    ----------
    show : bool
        Whether a bar is wanted at all.
    total : int
        Draws of all chains, adaptation included.
    """
    if not (show and sys.stderr.isatty()):
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling", total=None)

        def callback(chains: list[Any]) -> None:
            done = sum(chain.finished_draws for chain in chains)
            bar.update(task, description="sampling", total=total, completed=done)

        yield callback
