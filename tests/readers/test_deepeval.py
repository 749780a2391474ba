"""Test runs of DeepEval beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError, ReadError


def case(input, success, *metrics, **more):
    listed = [{"name": name, "success": passed, "error": None} for name, passed in metrics]
    return {"name": "t", "input": input, "success": success, "metricsData": listed} | more


def write(path, *cases, **run):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"testRunData": {"testCases": cases} | run}))
    return path


def test_one_metric_decides(tmp_path):
    several = [
        case("q", False, ("a", True), ("b", False)),
        case("q", True, ("a", True), ("b", True)),
    ]
    path = write(tmp_path / "test_run_1.json", *several)
    assert read_counts(path)["n_successes"].item() == 1
    counts = read_counts(path, metric="a")
    assert counts["n_successes"].item() == 2
    assert provenance_of(counts)["rules"] == ["passed: success of a"]
    with pytest.raises(OptionError, match="no metric 'c'"):
        read_counts(path, metric="c")


def test_a_metric_that_broke_is_no_verdict(tmp_path):
    broken = case("q", False)
    broken["metricsData"] = [{"name": "a", "success": False, "error": "timed out"}]
    path = write(tmp_path / "x.json", broken)
    assert read_counts(path)["n_attempts"].item() == 1
    assert read_counts(path, metric="a")["n_attempts"].item() == 0


def test_a_copy_of_the_run_and_a_link_are_passed_over(tmp_path):
    folder = tmp_path / ".deepeval"
    for name in (".latest_test_run.json", ".latest_run_full.json"):
        write(folder / name, case("q", True))
    (folder / "link.json").write_text(json.dumps({"testRunLink": "https://example.invalid"}))
    assert read_counts(folder)["n_attempts"].item() == 1
    with pytest.raises(ReadError, match="holds a link only, and links are not followed"):
        read_counts(folder / "link.json")


def test_conversations_and_sums(tmp_path):
    talk = {"name": "t0", "scenario": "s", "success": True, "metricsData": []}
    path = write(tmp_path / "x.json", conversationalTestCases=[talk])
    assert read_counts(path)["problem"].item() == "s"
    with pytest.raises(ReadError, match="no test cases, only sums over them"):
        read_counts(write(path, testPassed=3))


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([3], "testCases 0: expected an object, got 3"),
        ([case(None, True, name=None)], "expected a problem in 'input', got null"),
        ([case("q", "yes")], 'expected success as true or false, got "yes"'),
    ],
)
def test_another_shape_is_refused(tmp_path, cases, message):
    with pytest.raises(CountsError, match=message):
        read_counts(write(tmp_path / "x.json", *cases))
