"""Plain tables: every fixture with its right answer, and what breaks a table."""

import gzip
import json
import re
from pathlib import Path

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import describe, provenance_of
from bayes_passk.errors import BayesPasskError, CountsError, OptionError, ReadError

TABLES = Path(__file__).parents[3] / "shared" / "formats" / "tables"


def _cases():
    if not TABLES.is_dir():
        return []
    files = json.loads((TABLES / "expected.json").read_text())["files"]
    return [
        pytest.param(name, case, id=f"{name}-{i}")
        for name, file in files.items()
        for i, case in enumerate(file["cases"])
        # Whether one system is needed is the caller's affair, not the reader's.
        if "need" not in case["options"]
    ]


def test_fixtures_are_there(shared):
    assert len(_cases()) > 40


@pytest.mark.parametrize(("name", "case"), _cases())
def test_fixture(name, case):
    if "error" in case:
        with pytest.raises(BayesPasskError) as caught:
            read_counts(TABLES / name, **case["options"])
        facts = re.findall(r"p\d|'\w+'|row \d+|-?\d+\.\d+|= -?\w+", case["error"])
        message = str(caught.value)
        assert all(fact.strip("= '") in message for fact in facts), (facts, message)
        return
    counts = read_counts(TABLES / name, **case["options"])
    for row in case["counts"]:
        pair = counts.sel(system=row["model"] or "system", problem=row["problem"])
        assert (int(pair["n_attempts"]), int(pair["n_successes"])) == (row["n"], row["c"])
    assert counts.sizes["problem"] == len({row["problem"] for row in case["counts"]})
    assert int(counts["n_attempts"].sum()) == sum(row["n"] for row in case["counts"])
    said = provenance_of(counts)
    if "dropped" in case:
        assert sum(said["dropped"].values()) == sum(case["dropped"].values())
    if "warn" in case:
        text = " ".join([*said["warnings"], *describe(counts).warnings])
        assert set(re.findall(r"p\d|\d+ row", case["warn"])) <= set(re.findall(r"p\d|\d+ row", text))
