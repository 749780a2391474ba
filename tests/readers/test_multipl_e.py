"""MultiPL-E results: one file a problem, plain or gzipped."""

import gzip
import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError

RESULTS = [
    {"status": "OK", "exit_code": 0},
    {"status": "OK", "exit_code": 1},
    {"status": "Exception", "exit_code": 1},
    {"status": "Timeout", "exit_code": -1},
    {"exit_code": 0},
]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(content).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_a_folder_of_problems(tmp_path):
    run = tmp_path / "humaneval-lua-m1-0.2"
    write(run / "P_0.results.json.gz", {"name": "P_0_sums", "results": RESULTS})
    write(run / "P_1.results.json", {"results": RESULTS[:1]})
    write(run / "P_1.json", {"name": "P_1", "completions": ["x"]})
    counts = read_counts(run)
    assert counts["system"].item() == run.name
    assert counts["problem"].values.tolist() == ["P_0_sums", "P_1"]
    assert counts["n_attempts"].values.tolist() == [[4, 1]]
    assert counts["n_successes"].values.tolist() == [[1, 1]]
    said = provenance_of(counts)
    assert said["dropped"] == {"error": 1}
    assert "of no known format (P_1.json)" in " ".join(said["warnings"])
    assert read_counts(run, on_timeout="drop")["n_attempts"].values.tolist() == [[3, 1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"name": "a"}, "not MultiPL-E results: no list of results"),
        ({"results": [3]}, "result 0: expected an object, got 3"),
        ({"results": [{"status": 3}]}, "expected 'status' as text, got 3"),
        ([], "the file: expected an object, got a list"),
    ],
)
def test_another_shape_is_refused(tmp_path, content, message):
    with pytest.raises(CountsError, match=message):
        read_counts(write(tmp_path / "x.results.json", content), format="multipl_e")
