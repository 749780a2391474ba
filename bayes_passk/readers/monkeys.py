"""Large Language Monkeys: lists of verdicts, a YAML file or a row a problem."""

__all__ = ["MonkeysReader"]

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bayes_passk.errors import CountsError, ReadError
from bayes_passk.readers.attempts import Attempt, AttemptReader, Notes
from bayes_passk.readers.jsons import first_record, head, json_lines, kind_of
from bayes_passk.readers.parquets import column_names, parquet_rows
from bayes_passk.readers.verdicts import verdict_of

# The code writes the one, the project's README says the other.
_LISTS = ("is_corrects", "is_correct")
_ID = "orig_dset_idx"
_TOP = re.compile(r"^(?:prompt|question|samples|gt_answer|is_corrects?):", re.MULTILINE)
# The C loader is a tenth as slow; a problem of 10,000 samples is megabytes of YAML.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class MonkeysReader(AttemptReader):
    """Reader of verdicts listed by problem; a problem listed twice has the attempts of both.

    A YAML file is named after its problem. Neither kind names the model: where the files of a call
    lie in several folders, each folder is a system.
    """

    name = "monkeys"
    title = "Large Language Monkeys"
    versions = "2024, `<problem>.yaml`; the published tables, JSONL and Parquet"
    options = frozenset({"on_error", "on_bad_line"})

    def sniff(self, path: Path) -> bool:
        """Whether it is a table of verdict lists, or YAML of a problem and its samples."""
        if not path.is_file():
            return False
        if path.suffix in (".yaml", ".yml"):
            return len(set(_TOP.findall(head(path)))) >= 2
        names = {*column_names(path), *first_record(path)}
        return _ID in names and any(name in names for name in _LISTS)

    def attempts(
        self, path: Path, notes: Notes, *, on_bad_line: str = "raise"
    ) -> Iterator[Attempt]:
        """Yield the attempts of one file.

        Parameters
        ----------
        path : Path
            A problem, or a table of them.
        notes : Notes
            Takes warnings and rules.
        on_bad_line : {"raise", "skip"}
            A line that is no JSON.
        """
        notes.rule("passed: is_corrects")
        system, rows = notes.folder(path), Counter[str]()
        for where, problem, verdicts in _problems(path, notes, on_bad_line):
            rows[problem] += 1
            notes.plan(problem, system)
            for i, value in enumerate(verdicts):
                verdict = verdict_of(value, f"{where}, attempt {i}")
                reason = "error" if verdict is None else ""
                yield Attempt(problem, verdict, reason, system, where=f"{where}, attempt {i}")
        for problem, number in rows.items():
            if number > 1:
                notes.warn(f"problem {problem} is in {number} rows; their attempts are added")


def _problems(path: Path, notes: Notes, on_bad_line: str) -> Iterator[tuple[str, str, list[Any]]]:
    if path.suffix in (".yaml", ".yml"):
        yield "the file", path.stem, _verdicts(_read_yaml(path), "the file")
        return
    names = column_names(path)
    columns = [_ID, *(name for name in _LISTS if name in names)]
    rows = parquet_rows(path, columns) if names else json_lines(path, notes, on_bad_line)
    for number, row in rows:
        where = f"row {number}"
        problem = row.get(_ID)
        if not isinstance(problem, int | str) or isinstance(problem, bool):
            raise CountsError(f"{where}: expected {_ID}, got {kind_of(problem)}")
        yield where, str(problem), _verdicts(row, where)


def _verdicts(row: Any, where: str) -> list[Any]:
    if not isinstance(row, dict):
        raise CountsError(f"{where}: expected a problem with its verdicts, got {kind_of(row)}")
    given = [row[name] for name in _LISTS if row.get(name) is not None]
    if not given:
        raise ReadError(f"{where}: no is_corrects: these are samples that nobody evaluated")
    if not isinstance(given[0], list):
        raise CountsError(f"{where}: expected a list of verdicts, got {kind_of(given[0])}")
    return given[0]


def _read_yaml(path: Path) -> Any:
    try:
        return yaml.load(path.read_bytes(), _LOADER)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ReadError(f"cut off or no YAML ({' '.join(str(error).split())[:200]})") from error
