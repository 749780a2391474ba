"""TRL: completions that GRPO and its kin logged, a Parquet file a training step."""

__all__ = ["TrlReader"]

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bayes_passk.errors import CountsError, OptionError, did_you_mean
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.parquets import column_names, parquet_rows
from bayes_passk.readers.prompts import prompt_name
from bayes_passk.readers.verdicts import check_threshold, verdict_of

_KEYS = ["step", "prompt", "completion"]
_NO_REWARD = {*_KEYS, "advantage", "step", "image", "images"}


class TrlReader(AttemptReader):
    """Reader of TRL's completions; each step is a system of its own, since each is another model.

    There is a column for each reward function, so one must be named where there are several. A
    reward that was not applicable (null or NaN) is no verdict.
    """

    name = "trl"
    title = "TRL"
    versions = "0.16 to 1.16, `completions_*.parquet`"
    options = frozenset({"on_error", "reward", "threshold"})

    def sniff(self, path: Path) -> bool:
        """Whether it is a table with a step, a prompt and a completion."""
        return path.is_file() and set(_KEYS) <= set(column_names(path))

    def attempts(
        self, path: Path, notes: Notes, *, reward: str | None = None, threshold: float = 1.0
    ) -> Iterator[Attempt]:
        """Yield an attempt a row.

        Parameters
        ----------
        path : Path
            The completions of one step.
        notes : Notes
            Takes warnings and rules.
        reward : str, optional
            Column of the reward that decides, where there are several.
        threshold : float
            A success is a reward from here on.
        """
        least = check_threshold(threshold)
        column = _reward(column_names(path), reward)
        notes.rule(f"passed: {column} >= {least:g}")
        folder = notes.folder(path)
        for number, row in parquet_rows(path, ["step", "prompt", column]):
            where = f"row {number}"
            problem = prompt_name(row["prompt"])
            if problem is None:
                raise CountsError(f"{where}: expected a prompt, as text or as turns")
            verdict = verdict_of(row[column], f"{where}, {column}", least)
            reason = "error" if verdict is None else ""
            yield Attempt(problem, verdict, reason, _system(row, path, folder), where=where)


def _reward(names: Sequence[str], asked: str | None) -> str:
    others = [name for name in names if name not in _NO_REWARD]
    if asked is not None:
        if asked not in others:
            raise OptionError(f"no reward {asked!r}: {did_you_mean(asked, others)}")
        return asked
    # Extra columns that a trainer was asked to log carry any name; rewards end so.
    found = [name for name in others if re.search(r"(^|_)reward(_func)?$", name)] or others
    if len(found) == 1:
        return found[0]
    if not names:
        raise CountsError("cut off or no Parquet")
    listed = ", ".join(found) or "none"
    raise CountsError(f"{len(found)} reward columns ({listed}): say which with reward=...")


def _system(row: dict[str, Any], path: Path, folder: str | None) -> str:
    step = row["step"]
    if step is None:
        number = re.search(r"(\d+)$", path.stem)
        step = int(number[1]) if number else path.stem
    return f"{folder} step {step}" if folder else f"step {step}"
