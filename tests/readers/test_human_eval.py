"""HumanEval results beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError, ReadError


def write(path, *lines):
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return path


def line(task_id="T/0", passed=True, result="passed", **more):
    return {"task_id": task_id, "completion": "", "result": result, "passed": passed} | more


def test_blank_lines_and_a_model_of_the_samples(tmp_path):
    path = write(tmp_path / "x.jsonl", line(model="m1"), line(passed=False, result="failed: x"))
    path.write_text("\n" + path.read_text() + "\n\n")
    counts = read_counts(path)
    assert counts["system"].values.tolist() == ["m1", "system"]
    assert int(counts["n_attempts"].sum()) == 2


def test_samples_beside_their_results_are_passed_over(tmp_path):
    unevaluated = {"task_id": "T/0", "completion": ""}
    write(tmp_path / "samples.jsonl", unevaluated, unevaluated)
    write(tmp_path / "samples.jsonl_results.jsonl", line(), line(passed=False))
    for place in (tmp_path, str(tmp_path / "*.jsonl*")):
        counts = read_counts(place)
        assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (2, 1)
        assert "(samples.jsonl)" in provenance_of(counts)["warnings"][0]
    with pytest.raises(CountsError, match="unevaluated samples; give the"):
        read_counts(tmp_path / "samples.jsonl")


def test_bad_lines_are_named(tmp_path):
    path = write(tmp_path / "x.jsonl", line(), line(passed="perhaps"))
    with pytest.raises(CountsError, match=r'x.jsonl: line 2: "perhaps" is neither passed nor'):
        read_counts(path)
    path = write(tmp_path / "x.jsonl", line(), {"passed": True})
    with pytest.raises(CountsError, match="line 2: expected a task_id"):
        read_counts(path)
    path = write(tmp_path / "x.jsonl", line(), line(passed=None))
    with pytest.raises(CountsError, match=r"line 2 has no verdict \(error\); say on_error="):
        read_counts(path, on_error="raise")
    with pytest.raises(OptionError, match="human_eval has no option 'threshold'"):
        read_counts(path, threshold=0.5)
    path.write_text(path.read_text() + "[1]\n")
    with pytest.raises(ReadError, match="line 3: expected an object, got a list"):
        read_counts(path)


def test_a_table_of_task_ids_and_outcomes_stays_a_table(tmp_path):
    path = write(tmp_path / "x.jsonl", {"task_id": "a", "passed": True, "llm": "m"})
    counts = read_counts(path)
    assert provenance_of(counts)["files"][0]["format"] == "tables"
    assert counts["system"].item() == "m"
