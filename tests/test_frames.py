"""The same counts out of every layout and every data frame library."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayes_passk import counts_from_frame
from bayes_passk.counts import counts_from_arrays, digest, provenance_of
from bayes_passk.errors import CountsError, OptionError
from bayes_passk.frames import find_layout

N, C = np.array([[3, 2, 4]]), np.array([[2, 0, 4]])
COUNTS = counts_from_arrays(N, C, systems=["A"], problems=["007", "7", "NA"])
LONG = pd.DataFrame(
    [
        {"model": "A", "task_id": problem, "trial": i, "passed": bool(i < c)}
        for problem, n, c in zip(COUNTS["problem"].values, N[0], C[0], strict=True)
        for i in range(n)
    ]
)
COUNTED = pd.DataFrame(
    {"model": "A", "problem": COUNTS["problem"].values, "c": C[0], "n": N[0].astype(float)}
)
WIDE = LONG.pivot(index=["model", "task_id"], columns="trial", values="passed").astype(object)
WIDE = WIDE.rename(columns=lambda i: f"attempt {i}").reset_index()

LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame(frame.to_dict("list"), strict=False),
    "polars lazy": lambda frame: pl.DataFrame(frame.to_dict("list"), strict=False).lazy(),
    "pyarrow": lambda frame: pa.table(frame.to_dict("list")),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("frame", [LONG, COUNTED], ids=["long", "counted"])
def test_all_libraries_give_the_same_counts(library, frame):
    assert digest(counts_from_frame(LIBRARIES[library](frame))) == digest(COUNTS)


def test_wide():
    counts = counts_from_frame(WIDE)
    assert digest(counts) == digest(COUNTS)
    assert provenance_of(counts)["dropped"] == {"missing": 3}
    planned = counts_from_frame(WIDE, on_missing="fail")
    assert planned["n_attempts"].values.tolist() == [[4, 4, 4]]


@pytest.mark.parametrize("seed", range(3))
def test_order_of_rows_does_not_matter(seed):
    assert digest(counts_from_frame(LONG.sample(frac=1, random_state=seed))) == digest(COUNTS)


def test_covariates_come_along_where_constant():
    level = LONG.assign(level=LONG["task_id"].map(len), split=range(len(LONG)))
    counts = counts_from_frame(level)
    assert counts["level"].values.tolist() == ["3", "1", "2"]
    assert "split" not in counts.coords
    assert digest(counts.drop_vars("level")) == digest(COUNTS)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_an_attempt_given_twice_is_named(library):
    twice = LIBRARIES[library](pd.concat([LONG, LONG.iloc[[4]]]))
    with pytest.raises(CountsError, match=r"attempt \(A, 7, 1\): given twice"):
        counts_from_frame(twice)
    kept = counts_from_frame(twice, on_duplicate="first")
    assert digest(kept) == digest(COUNTS)
    assert provenance_of(kept)["dropped"] == {"duplicate": 1}


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ([1, 2], r"row 2: the outcomes hold values other than 0 and 1 \(2\)"),
        ([True, "maybe"], "row 2: outcome 'maybe' is not known"),
        ([0.5, 1.0], r"row 1: .* \(0.5\): say what counts as a success"),
    ],
)
def test_outcomes_that_are_no_verdict(outcomes, message):
    frame = pd.DataFrame({"problem": ["a", "b"], "correct": pd.Series(outcomes, dtype=object)})
    with pytest.raises(CountsError, match=message):
        counts_from_frame(frame)


@pytest.mark.parametrize(
    "texts", [("True", "False"), ("yes", "No"), ("1.0", "0"), ("pass", "FAIL")]
)
def test_words_mean_what_they_say(texts):
    frame = pd.DataFrame({"problem": ["a", "a"], "correct": texts})
    counts = counts_from_frame(frame)
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (2, 1)


def test_threshold_decides_on_scores():
    frame = pd.DataFrame({"problem": ["a"] * 3, "reward": [-1.0, 0.4, 1.2]})
    assert counts_from_frame(frame)["n_successes"].item() == 1
    assert counts_from_frame(frame, threshold=0.4)["n_successes"].item() == 2
    with pytest.raises(OptionError, match="expected a finite number"):
        counts_from_frame(frame, threshold="high")


def test_bad_counts_name_system_problem_row_and_value():
    bad = COUNTED.assign(c=[2, 5, 4])
    with pytest.raises(
        CountsError, match=r"row 2, system 'A', problem '7': c = 5 is more than n = 2"
    ):
        counts_from_frame(bad)
    with pytest.raises(
        CountsError, match=r"row 3, system 'A', problem '7': the pair appears twice"
    ):
        counts_from_frame(COUNTED.assign(problem=["007", "7", "7"]))


def test_columns_are_found_or_named():
    assert find_layout(["id", "score"]).problem == "id"
    assert find_layout(["sample", "task_id", "passed"]).attempt == "sample"
    with pytest.raises(CountsError, match="no problem column found among: x, y"):
        find_layout(["x", "y"])
    with pytest.raises(CountsError, match="no column 'z' among: x, y"):
        find_layout(["x", "y"], {"problem": "z"})
    named = counts_from_frame(
        LONG.rename(columns={"task_id": "x", "passed": "y"}), problem="x", outcome="y"
    )
    assert digest(named) == digest(COUNTS)


def test_unknown_options_are_refused():
    with pytest.raises(OptionError, match="did you mean 'on_error'"):
        counts_from_frame(LONG, on_eror="drop")
    with pytest.raises(OptionError, match="expected one of drop, fail, raise, got 'skip'"):
        counts_from_frame(LONG, on_error="skip")
