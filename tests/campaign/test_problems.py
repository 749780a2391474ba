"""What a campaign can be about."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayes_passk import counts_from_arrays
from bayes_passk.campaign.problems import COLUMNS, pairs_from
from bayes_passk.errors import CampaignError, CountsError, ReadError

ROWS = [
    {"problem": "a", "system": "A", "cost": 2.5, "n_attempts": 10, "n_successes": 3},
    {"problem": "b", "system": "B", "cost": 1, "n_attempts": 0, "n_successes": 0},
]
CSV = "problem,system,cost,n_attempts,n_successes\na,A,2.5,10,3\nb,B,1,0,0\n"


def written(path, text):
    path.write_text(text)
    return path


def test_tables_of_any_kind_say_the_same(tmp_path):
    frame = pd.DataFrame(ROWS)
    frame.to_parquet(tmp_path / "x.parquet")
    same = [
        frame,
        pl.DataFrame(ROWS),
        tmp_path / "x.parquet",
        written(tmp_path / "x.csv", CSV),
        written(tmp_path / "bom.csv", "\ufeff" + CSV),
        written(tmp_path / "x.tsv", CSV.replace(",", "\t")),
        written(tmp_path / "x.txt", CSV),
        written(tmp_path / "x.json", json.dumps(ROWS)),
        str(written(tmp_path / "x.jsonl", "\n".join(map(json.dumps, ROWS)))),
    ]
    expected = [["A", "a", 2.5, None, 10, 3], ["B", "b", 1.0, None, 0, 0]]
    for table in same:
        pairs = pairs_from(table)
        assert tuple(pairs.columns) == COLUMNS
        assert pairs.astype(object).where(pairs.notna(), None).values.tolist() == expected


def test_ids_alone(tmp_path):
    for ids in (["HumanEval/0", "x, y"], written(tmp_path / "ids.txt", "HumanEval/0\n\nx, y\n")):
        pairs = pairs_from(ids)
        assert pairs["problem"].tolist() == ["HumanEval/0", "x, y"]
        assert set(pairs["system"]) == {"system"}
        assert (pairs["cost"] == 1).all()
    assert pairs_from(np.array([7, 8]))["problem"].tolist() == ["7", "8"]
    assert pairs_from(f"p{i}" for i in range(3))["problem"].tolist() == ["p0", "p1", "p2"]


def test_counts_and_what_becomes_counts():
    counts = counts_from_arrays([[5, 0], [7, 8]], [[1, 0], [2, 3]], systems=["A", "B"])
    assert pairs_from(counts)["n_attempts"].tolist() == [5, 0, 7, 8]
    pairs = pairs_from({"a": (10, 3), "b": [True, False]})
    assert pairs[["problem", "n_attempts", "n_successes"]].values.tolist() == [
        ["a", 10, 3],
        ["b", 2, 1],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("problem,cost\na,0\n", "problem 'a': cost: expected a number above 0, got 0"),
        ("problem,cost\na,-1\n", "cost: expected a number above 0, got -1"),
        ("problem,cost\na,inf\n", "cost: expected a number above 0, got inf"),
        ("problem,cost\na,cheap\n", "cost: expected a number, got 'cheap'"),
        ("problem,max_attempts\na,1.5\n", "max_attempts: expected a whole number"),
        ("problem,max_attempts\na,inf\n", "max_attempts: expected a whole number"),
        ("problem,n_attempts\na,inf\n", "n_attempts: expected a whole number"),
        ("problem,n_attempts\na,1e300\n", "n_attempts: expected a whole number"),
        ("problem,n_attempts\na,nan\n", "n_attempts: expected a whole number"),
        ("problem,n_attempts,n_successes\na,1,2\n", "at most n_attempts, got 2"),
        ("problem,n_attempts,n_successes\na,1,-1\n", "at most n_attempts, got -1"),
        ("problem\na\na\n", "problem 'a' stands there twice"),
        ("problem,costs\na,1\n", "column 'costs': did you mean 'cost'"),
        ("problem,problem\na,b\n", "expected different headings"),
        ("problem,cost\na,1,1\n", "row 2 does not fit the headings"),
        ("problem,cost\n,1\n", "row 2 does not fit the headings"),
        ("task,cost\na,1\n", "expected a column problem, got task, cost"),
        ("problem\n", "expected at least one problem, got none"),
        ("\n \n", "expected at least one problem, got an empty file"),
        ('[{"problem": null}]', "expected an id for each system and problem, got None"),
        ('[{"problem": "\\ud800"}]', "expected an id for each system and problem, got"),
        ("[1, 2]", "expected a column problem"),
    ],
)
def test_a_table_that_cannot_be(tmp_path, text, message):
    with pytest.raises(CampaignError, match=message):
        pairs_from(written(tmp_path / "x.csv", text))


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"{broken", b'problem,cost\n"a' + b"x" * 200_000]
)
def test_a_file_that_cannot_be_read(tmp_path, content):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(ReadError, match="cannot be read as a table of problems"):
        pairs_from(path)


def test_files_that_are_none(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no")
    for path in (tmp_path, tmp_path / "none.csv", tmp_path / "x.parquet"):
        with pytest.raises(ReadError, match="cannot be read as a table of problems"):
            pairs_from(path)


@pytest.mark.parametrize(
    ("problems", "message"),
    [
        ([], "expected at least one problem, got none"),
        (["a", None], "expected an id for each system and problem, got None"),
        ([""], "expected an id for each system and problem, got ''"),
        (["a\0b"], "expected an id for each system and problem, got"),
        (7, "problems: expected ids, a table or a path, got 7"),
        (pl.LazyFrame({"problem": ["a"]}), "expected a data frame in memory, got LazyFrame"),
    ],
)
def test_no_problems(problems, message):
    with pytest.raises(CampaignError, match=message):
        pairs_from(problems)


def test_a_dict_that_holds_no_counts():
    with pytest.raises(CountsError, match="got none in these counts"):
        pairs_from({"a": (0, 0)})
