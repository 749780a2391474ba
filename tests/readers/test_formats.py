"""Every fixture of every format with its right answer, read without saying what it is."""

import json
import re
from pathlib import Path

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import describe, provenance_of
from bayes_passk.errors import BayesPasskError
from bayes_passk.readers import READERS

FORMATS = Path(__file__).parents[3] / "shared" / "formats"
NAMES = [reader.name for reader in READERS]
# Words of an expected complaint or warning that a message must hold; the rest is free.
FACTS = re.compile(r"[\w-]+_[\w-]+|sum-\w|\b\d+\.\d+\b|'\w+'|\bp\d\b|row \d+|\b\d+ row|= -?\w+")


def cases():
    for path in sorted(FORMATS.glob("*/expected.json")) if FORMATS.is_dir() else ():
        for name, file in json.loads(path.read_text())["files"].items():
            for i, case in enumerate(file["cases"]):
                # Whether one system is needed is the caller's affair, not the reader's.
                if "need" not in case["options"]:
                    yield pytest.param(path.parent, name, case, id=f"{path.parent.name}/{name}-{i}")


def test_fixtures_are_there(shared):
    assert {path.parent.name for path in FORMATS.glob("*/expected.json")} <= set(NAMES)
    assert len(list(cases())) > 130


@pytest.mark.parametrize(("folder", "name", "case"), list(cases()))
def test_fixture(folder, name, case):
    if "error" in case:
        check_error(folder, name, case)
        return
    counts = read_counts(folder / name, **case["options"])
    named = any(row["model"] for row in case["counts"])
    wanted = {
        (row["model"] if named else "", str(row["problem"])): (row["n"], row["c"])
        for row in case["counts"]
    }
    found = pairs_of(counts, named)
    assert {pair: found.get(pair) for pair in wanted} == wanted
    assert {n for pair, (n, _) in found.items() if pair not in wanted} <= {0}
    assert set(counts["problem"].values) == {problem for _, problem in wanted}
    tasks = {str(row["problem"]): row["task"] for row in case["counts"] if "task" in row}
    if tasks:
        assert dict(zip(counts["problem"].values, counts["task"].values, strict=True)) == tasks
    said = provenance_of(counts)
    assert {file["format"] for file in said["files"]} == {folder.name}
    assert sum(file["n_attempts"] for file in said["files"]) == sum(n for n, _ in wanted.values())
    check_said(counts, said, case)


def pairs_of(counts, named):
    """Counts by system and problem; a system that the log does not name is called nothing."""
    assert named or counts.sizes["system"] == 1
    n, c = counts["n_attempts"].values, counts["n_successes"].values
    return {
        (system if named else "", problem): (int(n[i, j]), int(c[i, j]))
        for i, system in enumerate(counts["system"].values)
        for j, problem in enumerate(counts["problem"].values)
    }


def check_error(folder, name, case):
    with pytest.raises(BayesPasskError, match=r".") as caught:
        read_counts(folder / name, format=folder.name, **case["options"])
    message = str(caught.value)
    assert "\n" not in message
    facts = [fact.strip("= '") for fact in FACTS.findall(case["error"])]
    assert all(fact in message for fact in facts), (facts, message)
    with pytest.raises(BayesPasskError, match=r"."):
        read_counts(folder / name, **case["options"])


def check_said(counts, said, case):
    if "dropped" in case:
        dropped = sum(n for reason, n in said["dropped"].items() if reason != "duplicate")
        assert dropped == sum(case["dropped"].values())
    if "warn" in case:
        text = " ".join([*said["warnings"], *describe(counts).warnings])
        facts = set(FACTS.findall(case["warn"]))
        assert all(fact in text for fact in facts), (facts, text)
