"""Progress of a run, on standard error and only where somebody looks."""

__all__ = ["Progress"]

import sys

from rich import progress
from rich.console import Console

from bayes_passk.campaign.runners.protocol import Ran


class Progress:
    """A line that says what was told so far; nothing where standard error is no terminal."""

    def __init__(self) -> None:
        self._bar: progress.Progress | None = None
        if sys.stderr.isatty():
            columns = (
                progress.SpinnerColumn(),
                progress.TextColumn("{task.description}"),
                progress.TimeElapsedColumn(),
            )
            self._bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("asking for attempts", total=None)

    def start(self) -> None:
        """Show it."""
        if self._bar is not None:
            self._bar.start()

    def show(self, ran: Ran) -> None:
        """Show what was told."""
        if self._bar is not None:
            said = f"{ran.told} attempts, {ran.passed} passed"
            rest = ((ran.errors, "errors"), (ran.timeouts, "timeouts"))
            said += "".join(f", {number} {name}" for number, name in rest if number)
            self._bar.update(self._task, description=said)

    def stop(self) -> None:
        """Take it away."""
        if self._bar is not None:
            self._bar.stop()
