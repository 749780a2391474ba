"""simple-evals: averages only, refused with a word on what to give instead."""

__all__ = ["SimpleEvalsReader"]

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayes_passk.errors import ReadError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import head


class SimpleEvalsReader(AttemptReader):
    """Knows results of simple-evals so as to say that they hold no outcomes."""

    name = "simple_evals"
    title = "simple-evals"
    versions = "refused: averages only"
    options = frozenset[str]()

    def sniff(self, path: Path) -> bool:
        """Whether it is a flat object with a score and its standard deviation."""
        start = head(path) if path.is_file() else ""
        flat = re.fullmatch(r"\s*\{[^{}\[\]]*\}\s*", start)
        return flat is not None and '"score"' in start and '"score:std"' in start

    def is_secondary(self, path: Path) -> bool:
        """Always: it holds averages."""
        return True

    def attempts(self, path: Path, notes: Notes, *args: Any, **options: Any) -> Iterator[Attempt]:
        """Refuse.

        Raises
        ------
        ReadError
            Always.
        """
        raise ReadError(
            "no per-problem outcomes in a simple-evals result: it holds averages over all "
            "problems and repeats; save each problem's score while it runs, as a table"
        )
