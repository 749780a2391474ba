"""A dump of code_eval's outcomes, and what the harness writes itself."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.errors import CountsError, ReadError


def write(path, content):
    path.write_text(json.dumps(content))
    return path


def test_timeouts_errors_and_repeated_completions(tmp_path):
    entries = [[0, {"passed": False, "result": "timed out"}], [1, {"passed": None}]]
    path = write(tmp_path / "x.json", {"0": entries, "1": [[0, {"passed": True}]]})
    assert read_counts(path)["n_attempts"].values.tolist() == [[1, 1]]
    assert read_counts(path, on_timeout="drop")["n_attempts"].values.tolist() == [[0, 1]]
    path = write(tmp_path / "x.json", {"0": [entries[0], entries[0]]})
    with pytest.raises(CountsError, match="problem '0', completion 0 is there twice"):
        read_counts(path)


def test_the_harness_own_files_are_passed_over_beside_a_dump(tmp_path):
    write(tmp_path / "generations_x.json", [["a", None]])
    write(tmp_path / "evaluation_results.json", {"x": {"pass@1": 0.5}, "config": {}})
    with pytest.raises(ReadError, match=r"only averaged pass@k|unevaluated generations"):
        read_counts(tmp_path)
    write(tmp_path / "dump.json", {"0": [[0, {"passed": True}]]})
    assert read_counts(tmp_path)["n_successes"].item() == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"0": [3]}, r"problem '0': expected \[completion, record\], got 3"),
        ({"0": [[0, 3]]}, "problem '0': expected an object, got 3"),
        ({"0": 3}, "expected '0' as a list, got 3"),
        ([3], "expected an object of problems, got a list"),
    ],
)
def test_another_shape_is_refused(tmp_path, content, message):
    with pytest.raises(CountsError, match=message):
        read_counts(write(tmp_path / "x.json", content), format="bigcode")
