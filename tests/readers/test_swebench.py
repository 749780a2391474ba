"""SWE-bench reports beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError


def report(path, **lists):
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"submitted_instances": 4, "schema_version": 2, "resolved_ids": []} | lists
    path.write_text(json.dumps(content))
    return path


def counts_by_problem(counts):
    values = zip(
        counts["problem"].values,
        counts["n_attempts"].values[0],
        counts["n_successes"].values[0],
        strict=True,
    )
    return {problem: (int(n), int(c)) for problem, n, c in values}


def test_each_report_is_an_attempt_and_each_list_has_its_meaning(tmp_path):
    first = {"resolved_ids": ["a"], "unresolved_ids": ["b"], "empty_patch_ids": ["c"]}
    report(tmp_path / "m.x.run1.json", **first, error_ids=["d"], incomplete_ids=["e"])
    report(tmp_path / "m.x.run2.json", resolved_ids=["a", "b"], unresolved_ids=["c", "d", "e"])
    counts = read_counts(tmp_path)
    assert counts["system"].values.tolist() == ["m.x"]
    assert counts_by_problem(counts) == {
        "a": (2, 2),
        "b": (2, 1),
        "c": (2, 0),
        "d": (1, 0),
        "e": (1, 0),
    }
    said = provenance_of(counts)
    assert said["dropped"] == {"error": 1}
    failed = read_counts(tmp_path, on_error="fail", on_missing="fail")
    assert set(failed["n_attempts"].values[0]) == {2}


def test_a_report_and_its_instances_logs_count_once(tmp_path):
    report(tmp_path / "m.run1.json", resolved_ids=["a"], unresolved_ids=["b"])
    for name, resolved in (("a", True), ("b", False)):
        folder = tmp_path / "logs" / "run_evaluation" / "run1" / "m" / name
        folder.mkdir(parents=True)
        about = {"patch_is_None": False, "patch_exists": True, "resolved": resolved}
        (folder / "report.json").write_text(json.dumps({name: about}))
        (folder / "run_instance.log").write_text("log")
    assert counts_by_problem(read_counts(tmp_path)) == {"a": (1, 1), "b": (1, 0)}
    assert counts_by_problem(read_counts(tmp_path / "logs")) == {"a": (1, 1), "b": (1, 0)}


def test_an_old_report_names_what_it_completed(tmp_path):
    path = report(tmp_path / "m.r.json", resolved_ids=["a"], completed_ids=["a", "b"])
    assert counts_by_problem(read_counts(path)) == {"a": (1, 1), "b": (1, 0)}
    with pytest.raises(CountsError, match="what failed is not listed"):
        read_counts(report(tmp_path / "m.r.json", resolved_ids=["a"]))


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"resolved_ids": ["a"], "unresolved_ids": ["a"]}, "'a' is both resolved and unresolved"),
        (
            {"resolved_ids": ["a"], "unresolved_ids": [], "resolved_instances": 2},
            "resolved_instances is 2, and resolved_ids has 1 of them",
        ),
        ({"resolved_ids": [1], "unresolved_ids": []}, "expected resolved_ids as a list of inst"),
        ({"resolved_ids": "a"}, "expected 'resolved_ids' as a list"),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(tmp_path, lists, message):
    with pytest.raises(CountsError, match=message):
        read_counts(report(tmp_path / "m.r.json", **lists))


def test_failures_of_infrastructure_are_said(tmp_path):
    lists = {"resolved_ids": [], "unresolved_ids": ["a"], "infra_failure_ids": ["a"]}
    said = provenance_of(read_counts(report(tmp_path / "m.r.json", **lists)))
    assert any("1 unresolved instances failed for reasons of infra" in w for w in said["warnings"])


def test_collected_results_need_the_instances(tmp_path):
    path = tmp_path / "some_model" / "results" / "results.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"no_generation": ["c"], "no_logs": [], "resolved": ["a"]}))
    with pytest.raises(CountsError, match=r"give all of them as problems=\.\.\."):
        read_counts(path)
    counts = read_counts(path, problems=["a", "b", "c"])
    assert counts["system"].item() == "some_model"
    assert counts_by_problem(counts) == {"a": (1, 1), "b": (1, 0), "c": (1, 0)}
    with pytest.raises(CountsError, match="instance 'c' is not one of the problems given"):
        read_counts(path, problems=["a", "b"])
    with pytest.raises(OptionError, match="problems: expected a list of instances, got 'a'"):
        read_counts(path, problems="a")
