"""EvalPlus results beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError


def write(path, tasks):
    path.write_text(json.dumps({"date": "2026", "hash": "x", "eval": tasks}))
    return path


def sample(base, plus):
    return {"base_status": base, "plus_status": plus}


@pytest.mark.parametrize(
    ("base", "plus", "n", "c"),
    [
        ("pass", "pass", 1, 1), ("pass", "fail", 1, 0), ("fail", "pass", 1, 0),
        ("pass", "timeout", 1, 0), ("timeout", None, 1, 0), ("pass", None, 0, 0),
        ("fail", None, 1, 0), (None, "pass", 0, 0),
    ],
)  # fmt: skip
def test_plus_needs_base_and_plus(tmp_path, base, plus, n, c):
    path = write(tmp_path / "x.json", {"a": [sample(base, plus)], "b": [sample("pass", "pass")]})
    counts = read_counts(path, tests="plus").sel(problem="a")
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (n, c)


def test_timeouts_follow_the_policy(tmp_path):
    path = write(tmp_path / "x.json", {"a": [sample("timeout", None), sample("pass", None)]})
    assert read_counts(path)["n_attempts"].item() == 2
    assert read_counts(path, on_timeout="drop")["n_attempts"].item() == 1


def test_which_tests_decide_is_asked_where_both_were_run(tmp_path):
    both = write(tmp_path / "x.json", {"a": [sample("pass", "fail")], "b": []})
    with pytest.raises(CountsError, match="base and plus tests were run: say which with tests="):
        read_counts(both)
    counts = read_counts(both, tests="base")
    assert counts["n_attempts"].values.tolist() == [[1, 0]]
    assert provenance_of(counts)["rules"] == ["passed: base tests"]
    base = write(tmp_path / "y.json", {"a": [sample("pass", None)]})
    assert read_counts(base)["n_successes"].item() == 1
    with pytest.raises(CountsError, match="no plus test was run"):
        read_counts(base, tests="plus")
    with pytest.raises(OptionError, match="tests: expected base or plus, got 'both'"):
        read_counts(base, tests="both")


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({"a": [sample("maybe", None)]}, 'sample 0: status "maybe" is not known'),
        ({"a": [sample(["pass"], None)]}, "status a list is not known"),
        ({"a": [3]}, "problem 'a': expected an object, got 3"),
        ({"a": 3}, "problem 'a': expected an object, got 3"),
        ({"a": {"base": [["success", []]], "plus": [["success", []]] * 2}}, "1 base results and 2"),
        (3, "expected 'eval' as an object, got 3"),
        ({}, "no attempts in the file"),
    ],
)
def test_another_shape_is_refused(tmp_path, tasks, message):
    with pytest.raises(CountsError, match=message):
        read_counts(write(tmp_path / "x.json", tasks), format="evalplus")
