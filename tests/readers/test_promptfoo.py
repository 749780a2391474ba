"""promptfoo output beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError


def result(x, success, *, label="p", description=None, **more):
    case = {"vars": {"x": x}} | ({"description": description} if description else {})
    about = {"provider": {"id": "m", "label": ""}, "prompt": {"raw": "r", "label": label}}
    row = {"testIdx": 0, "promptIdx": 0, "vars": {"x": x}, "testCase": case, "success": success}
    return row | about | {"failureReason": 0 if success else 1, "error": None} | more


def write(path, *results):
    content = {"evalId": "e", "results": {"version": 3, "results": results}}
    path.write_text(json.dumps(content))
    return path


def test_problems_are_named_as_shortly_as_tells_them_apart(tmp_path):
    path = write(tmp_path / "x.json", result("a", True), result("b", False), result("a", True))
    assert read_counts(path)["problem"].values.tolist() == ["x=a", "x=b"]
    same = [result(x, True, description="d") for x in "ab"]
    assert read_counts(write(path, *same))["problem"].values.tolist() == ["d x=a", "d x=b"]
    prompts = [result("a", True, label=label) for label in ("p", "q")]
    assert read_counts(write(path, *prompts))["problem"].values.tolist() == ["x=a | p", "x=a | q"]


def test_json_lines_and_a_labelled_provider(tmp_path):
    path = tmp_path / "out.jsonl"
    rows = [result("a", passed, provider={"id": "m", "label": "hot"}) for passed in (True, False)]
    path.write_text("\n".join(map(json.dumps, rows)))
    counts = read_counts(path)
    assert counts["system"].item() == "hot"
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (2, 1)


def test_a_failed_assertion_is_a_failure_though_it_is_told_as_an_error(tmp_path):
    failed = result("a", False, error="Expected x to equal y", gradingResult={"pass": False})
    lost = result("a", False, error="timed out", failureReason=2)
    old = {**failed, "failureReason": None}, {**lost, "failureReason": None}
    for rows in ((failed, lost), old):
        counts = read_counts(write(tmp_path / "x.json", *rows))
        assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (1, 0)
        assert provenance_of(counts)["dropped"] == {"error": 1}


def test_answers_from_the_cache(tmp_path):
    cached = result("a", True, response={"output": "", "cached": True})
    path = write(tmp_path / "x.json", result("a", True), cached)
    counts = read_counts(path)
    assert counts["n_attempts"].item() == 2
    assert "1 of 2 answers came from the cache" in provenance_of(counts)["warnings"][0]
    dropped = read_counts(path, on_cached="drop")
    assert dropped["n_attempts"].item() == 1
    assert provenance_of(dropped)["dropped"] == {"cached": 1}
    with pytest.raises(CountsError, match="1 answers came from the cache; say on_cached="):
        read_counts(path, on_cached="raise")
    with pytest.raises(OptionError, match="on_cached: expected one of count, drop, raise, got 'x'"):
        read_counts(path, on_cached="x")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (3, "result 0: expected an object, got 3"),
        (result("a", "yes"), 'expected success as true or false, got "yes"'),
        (result("a", True, provider=None), "expected a provider with an id, got null"),
        (result("a", True, vars={}, testCase={}), "names no problem"),
    ],
)
def test_another_shape_is_refused(tmp_path, row, message):
    with pytest.raises(CountsError, match=message):
        read_counts(write(tmp_path / "x.json", row))


def test_output_without_results_is_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"evalId": "e", "results": {"stats": {}}}')
    with pytest.raises(CountsError, match="no list of results"):
        read_counts(path)
