"""LiveCodeBench output beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, ReadError


def question(id, grades, codes=None):
    about = [json.dumps({"error_code": code} if code else {}) for code in codes or []]
    graded = {} if grades is None else {"graded_list": grades}
    return {"question_title": "", "contest_id": "c", "question_id": id, "metadata": about} | graded


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_a_broken_grader_gives_no_verdict_and_a_time_limit_a_failure(tmp_path):
    path = write(tmp_path / "x.json", [question("q", [False] * 3 + [True], [-5, -3, -2, 0])])
    counts = read_counts(path)
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (3, 1)
    assert provenance_of(counts)["dropped"] == {"error": 1}
    assert read_counts(path, on_timeout="drop")["n_attempts"].item() == 2
    assert read_counts(path, on_error="fail")["n_attempts"].item() == 4


def test_codes_of_tests(tmp_path):
    codes = [[True, 1], [1, -2], [-3], [-1, -1], [], [1, 0], [0.5]]
    path = write(tmp_path / "x_eval.json", [{"pass@1": 0, "detail": {}}, {"0": codes}, []])
    counts = read_counts(path)
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (6, 2)
    assert read_counts(path, on_timeout="drop")["n_attempts"].item() == 4


def test_the_plan_in_the_name_tells_what_is_missing(tmp_path):
    name = "Scenario.codegeneration_5_0.2_cot_eval_all.json"
    path = write(tmp_path / "output" / "m1" / name, [question("q", [True, False])])
    counts = read_counts(path)
    assert counts["system"].item() == "m1"
    said = provenance_of(counts)
    assert said["dropped"] == {}
    assert any("3 attempts planned and not made" in text for text in said["warnings"])
    assert read_counts(path, on_missing="fail")["n_attempts"].item() == 5


def test_one_run_in_two_files_is_read_once(tmp_path):
    stem = tmp_path / "output" / "m1" / "Scenario.codegeneration_1_0.2"
    write(stem.with_name(stem.name + ".json"), [question("q", None)])
    write(stem.with_name(stem.name + "_eval.json"), [{"pass@1": 1, "detail": {}}, {"0": [[1]]}, []])
    write(stem.with_name(stem.name + "_eval_all.json"), [question("q", [True])])
    for place in (tmp_path, str(tmp_path / "output" / "m1" / "*.json")):
        assert read_counts(place)["problem"].values.tolist() == ["q"]
    with pytest.raises(ReadError, match=r"no graded_list: .*give the \*_eval_all.json file"):
        read_counts(stem.with_name(stem.name + ".json"))


def test_a_question_twice_is_an_error(tmp_path):
    path = write(tmp_path / "x.json", [question("q", [True]), question("q", [False])])
    with pytest.raises(CountsError, match="problem 'q', attempt 0 is there twice"):
        read_counts(path)
    assert read_counts(path, on_duplicate="keep_all")["n_attempts"].item() == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "expected a list, got an object"),
        ([3], "entry 0: expected an object, got 3"),
        ([{"question_title": ""}], "entry 0: expected a question_id"),
        ([question("q", 3)], "expected 'graded_list' as a list, got 3"),
        ([question("q", ["x"])], '"x" is neither passed nor failed'),
        ([{"pass@1": 1}, [], []], "expected an object of results, got a list"),
        ([{"pass@1": 1}, {"0": [3]}, []], "expected a list of codes, got 3"),
    ],
)
def test_another_shape_is_refused(tmp_path, content, message):
    with pytest.raises(CountsError, match=message):
        read_counts(write(tmp_path / "x.json", content), format="livecodebench")
