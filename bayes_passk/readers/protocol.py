"""What the registry asks of a reader."""

__all__ = ["Reader"]

from pathlib import Path
from typing import Any, Protocol

import xarray as xr


class Reader(Protocol):
    """What reads one format.

    A reader may also have ``read_together(paths, **policy)``: it is then given all files of its
    format at once, as `bayes_passk.readers.attempts.AttemptReader` does.
    """

    @property
    def name(self) -> str:
        """What the format is called, by users too."""
        ...

    @property
    def title(self) -> str:
        """Name of the tool that writes it."""
        ...

    @property
    def versions(self) -> str:
        """Which versions or layouts are read."""
        ...

    @property
    def options(self) -> frozenset[str]:
        """Keywords that make sense for the format."""
        ...

    def sniff(self, path: Path) -> bool:
        """Whether a file, or a folder, is of this format; cheap, and it never raises."""
        ...

    def read(self, path: Path, **policy: Any) -> xr.Dataset:
        """Read one file, or folder, into counts."""
        ...
