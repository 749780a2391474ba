"""Completions of TRL beyond the fixtures."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError

TURNS = [{"role": "user", "content": "Q"}]


def write(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    number = len(next(iter(columns.values())))
    whole = {"step": [5] * number, "prompt": ["Q"] * number, "completion": ["."] * number}
    pq.write_table(pa.table(whole | columns), path)
    return path


def test_one_reward_needs_no_name_and_nan_is_no_verdict(tmp_path):
    path = write(tmp_path / "completions_00005.parquet", my_reward=[1.0, 0.0, None, float("nan")])
    counts = read_counts(path)
    assert counts["system"].item() == "step 5"
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (2, 1)
    assert provenance_of(counts)["dropped"] == {"error": 2}
    assert read_counts(path, on_error="fail")["n_attempts"].item() == 4


def test_prompts_as_turns_and_extra_columns(tmp_path):
    path = write(
        tmp_path / "c.parquet", prompt=[TURNS, TURNS], reward=[1.0, 0.0], difficulty=["x", "y"]
    )
    counts = read_counts(path)
    assert counts["problem"].values.tolist() == ["Q"]
    assert provenance_of(counts)["rules"] == ["passed: reward >= 1"]


def test_which_reward(tmp_path):
    path = write(tmp_path / "c.parquet", a=[1.0], b=[0.0])
    with pytest.raises(CountsError, match=r"2 reward columns \(a, b\): say which with reward="):
        read_counts(path)
    with pytest.raises(OptionError, match="no reward 'c': "):
        read_counts(path, reward="c")
    assert read_counts(path, reward="b")["n_successes"].item() == 0
    with pytest.raises(CountsError, match=r"0 reward columns \(none\)"):
        read_counts(write(tmp_path / "none.parquet", advantage=[0.0]))


def test_the_same_step_of_two_runs_is_two_systems(tmp_path):
    for run in ("a", "b"):
        write(tmp_path / run / "completions" / "completions_00005.parquet", reward=[1.0])
    systems = read_counts(tmp_path)["system"].values.tolist()
    assert systems == ["a/completions step 5", "b/completions step 5"]


def test_a_missing_prompt_is_an_error(tmp_path):
    path = write(tmp_path / "c.parquet", prompt=[None, "Q"], reward=[1.0, 0.0])
    with pytest.raises(CountsError, match="row 1: expected a prompt"):
        read_counts(path)
