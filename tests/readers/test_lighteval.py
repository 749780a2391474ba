"""lighteval details beyond the fixtures."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError, ReadError

NAME = "details_sums|0_2026-01-15T10-00-00.000001.parquet"


def row(id, responses=1, **metrics):
    return {
        "doc": {"id": id, "task_name": "sums|0"},
        "metric": metrics,
        "model_response": {"text": ["x"] * responses},
    }


def write(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


@pytest.mark.parametrize(
    "name", ["pass@k:k=1&n=8", "avg@n:n=8", "math_pass@1:8_samples", "math_avg@8"]
)
def test_metrics_over_samples_are_turned_back(tmp_path, name):
    path = write(tmp_path / NAME, row("a", 8, **{name: 0.375}), row("b", 8, **{name: 0.0}))
    counts = read_counts(path)
    assert counts["n_attempts"].values.tolist() == [[8, 8]]
    assert counts["n_successes"].values.tolist() == [[3, 0]]
    assert counts["task"].values.tolist() == ["sums|0"] * 2


def test_fewer_responses_than_planned(tmp_path):
    name = "pass@k:k=1&n=8"
    counts = read_counts(write(tmp_path / NAME, row("a", 5, **{name: 0.375})))
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (5, 3)
    with pytest.raises(CountsError, match="no number of successes among 2 attempts"):
        read_counts(write(tmp_path / NAME, row("a", 2, **{name: 0.375})))


def test_saturated_documents(tmp_path):
    name = "pass@k:k=4&n=8"
    path = write(tmp_path / NAME, row("a", 8, **{name: 1.0}), row("b", 8, **{name: 0.5}))
    with pytest.raises(CountsError, match=r"problem 'a': pass@4 is 1.0 with n = 8, so c may be 5"):
        read_counts(path)
    counts = read_counts(path, on_ambiguous="drop")
    assert counts["problem"].values.tolist() == ["b"]
    assert counts["n_successes"].item() == 1
    path = write(tmp_path / NAME, row("a", 8, **{name: float("nan")}))
    assert provenance_of(read_counts(path))["dropped"] == {"unscored": 8}


def test_plain_metrics_are_one_attempt(tmp_path):
    path = write(tmp_path / NAME, row("a", em=1.0, f1=0.7), row("b", em=float("nan"), f1=0.2))
    with pytest.raises(CountsError, match="row 1: expected one metric, got em, f1: say metric="):
        read_counts(path)
    assert read_counts(path, metric="em")["n_attempts"].values.tolist() == [[1, 0]]
    assert read_counts(path, metric="f1", threshold=0.5)["n_successes"].values.tolist() == [[1, 0]]
    with pytest.raises(OptionError, match="no metric 'emm': did you mean 'em'"):
        read_counts(path, metric="emm")


def test_the_folders_name_the_model_and_runs_add_up(tmp_path):
    for date in ("d1", "d2"):
        folder = tmp_path / "details" / "org" / "m" / date
        write(folder / NAME.replace("2026", f"202{date[1]}"), row("a", em=1))
    (tmp_path / "results.json").write_text('{"config_general": {}, "results": {}}')
    counts = read_counts(tmp_path)
    assert counts["system"].item() == "org/m"
    assert counts["n_attempts"].item() == 2
    with pytest.raises(ReadError, match=r"give the details_\*.parquet file"):
        read_counts(tmp_path / "results.json")


def test_what_is_no_details_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(CountsError, match="no column 'doc'"):
        read_counts(path, format="lighteval")
    path.write_bytes(b"PAR1")
    with pytest.raises(ReadError, match="cut off or no Parquet"):
        read_counts(path, format="lighteval")
