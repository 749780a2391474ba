"""Readers of logs that hold attempts one by one.

A reader of such a log says only two things: which files are its own (`sniff`), and which attempts
they hold (`attempts`). `AttemptReader` does the rest, over one file or over all files of a call,
so that the same attempt in two files is known again.
"""

__all__ = ["Attempt", "AttemptPolicy", "AttemptReader", "Notes", "counts_of"]

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

import xarray as xr

from bayes_passk.errors import CountsError, OptionError, did_you_mean
from bayes_passk.readers.records import Attempt, AttemptPolicy, Notes
from bayes_passk.readers.tally import Tally


class AttemptReader:
    """Base of readers of logs that hold attempts: a subclass gives `sniff` and `attempts`."""

    name: ClassVar[str]
    title: ClassVar[str]
    versions: ClassVar[str]
    # Fields of the policy that make sense for the format, and the format's own options.
    options: ClassVar[frozenset[str]]
    # What the format says by default, e.g. on_duplicate="merge" where it defines identity.
    defaults: ClassVar[AttemptPolicy] = AttemptPolicy()

    def sniff(self, path: Path) -> bool:
        """Whether a file, or a folder, is of this format, judged by its content."""
        raise NotImplementedError

    def is_secondary(self, path: Path) -> bool:
        """Whether a file of this format is passed over where a folder has others.

        Such hold averages, answers that nobody graded, or a second copy of the same attempts.
        """
        return False

    def attempts(self, path: Path, notes: Notes, *args: Any, **options: Any) -> Iterator[Attempt]:
        """Yield the attempts of one file, or folder; subclasses name the format's own options."""
        raise NotImplementedError

    def read(self, path: Path, **policy: Any) -> xr.Dataset:
        """Read one file, or folder, into counts."""
        return self.read_together([path], **policy)

    def read_together(self, paths: Sequence[Path], **policy: Any) -> xr.Dataset:
        """Read several files, or folders, into one set of counts.

        Raises
        ------
        OptionError
            The format has no such option, or the option no such value.
        CountsError, ReadError
            A file is damaged, or what it holds is no attempts.
        """
        rule, own = self._split(policy)
        if rule.on_duplicate not in ("keep_all", "add"):
            _check_distinct(paths)
        notes, tally = Notes(files=paths), Tally(rule)
        for path in paths:
            tally.add_all(self.attempts(path, notes, **own), file=str(path))
        counts = tally.counts(notes)
        provenance = json.loads(counts.attrs["provenance"])
        provenance["files"] = tally.files(self.name)
        return counts.assign_attrs(provenance=json.dumps(provenance))

    def _split(self, policy: Mapping[str, Any]) -> tuple[AttemptPolicy, dict[str, Any]]:
        for name in policy:
            if name not in self.options:
                hint = did_you_mean(name, self.options)
                raise OptionError(f"the format {self.name} has no option {name!r}: {hint}")
        shared = {f.name: getattr(self.defaults, f.name) for f in fields(AttemptPolicy)}
        own = {name: value for name, value in policy.items() if name not in shared}
        given = {name: value for name, value in policy.items() if name in shared}
        return AttemptPolicy(**(shared | given)), own


def counts_of(
    attempts: Iterable[Attempt],
    *,
    policy: AttemptPolicy | None = None,
    notes: Notes | None = None,
) -> xr.Dataset:
    """Count attempts.

    Parameters
    ----------
    attempts : iterable of Attempt
        In the order of the log.
    policy : AttemptPolicy, optional
        What to do with the doubtful ones.
    notes : Notes, optional
        Planned problems, warnings and rules; all land in the attribute ``provenance``.

    Returns
    -------
    xarray.Dataset
        Counts. A problem whose attempts were all left out stays, with none. Where attempts name
        tasks, the problems have the covariate ``task``; with several tasks a problem is called
        ``task/problem``.

    Raises
    ------
    CountsError
        There is neither an attempt nor a planned problem, or the policy refuses one.

    Examples
    --------
    >>> found = [Attempt("a", True), Attempt("a", False), Attempt("b", None, "error")]
    >>> counts_of(found)["n_attempts"].values.tolist()
    [[2, 0]]
    """
    tally = Tally(policy or AttemptPolicy())
    tally.add_all(attempts, file="")
    return tally.counts(notes or Notes())


def _check_distinct(paths: Sequence[Path]) -> None:
    places = [path.resolve() for path in paths]
    if len(set(places)) < len(places):
        twice = next(
            path for path, place in zip(paths, places, strict=True) if places.count(place) > 1
        )
        raise CountsError(f"{twice}: given twice; its attempts count once")
