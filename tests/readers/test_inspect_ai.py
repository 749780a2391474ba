"""Inspect AI logs beyond the fixtures: killed runs, odd ids, edits, limits, bad options."""

import json
import zipfile

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError, ReadError


def log_of(samples, **changes):
    about = {
        "task": "sums",
        "task_id": "T1",
        "run_id": "R1",
        "model": "org/m",
        "config": {"epochs": 1},
        "dataset": {},
    }
    log = {"version": 2, "status": "success", "eval": about | changes.pop("eval", {})}
    return log | changes | {"samples": samples}


def sample(id, value="C", epoch=1, **more):
    return {"id": id, "epoch": epoch, "scores": {"match": {"value": value}}} | more


def write(path, log):
    path.write_text(json.dumps(log))
    return path


def write_eval(path, log, header="header.json"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        start = {key: value for key, value in log.items() if key != "samples"}
        file.writestr("_journal/start.json", json.dumps(start))
        for one in log["samples"]:
            file.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
        if header:
            file.writestr(header, json.dumps(start))
    return path


@pytest.mark.parametrize("id", ["a/b", "x_epoch_2", "007", "NA", "ä b", "..", 7])
def test_ids_are_taken_from_the_sample(tmp_path, id):
    path = write_eval(tmp_path / "x.eval", log_of([sample(id), sample("other", "I")]))
    assert read_counts(path)["problem"].values.tolist() == [str(id), "other"]


@pytest.mark.parametrize(
    ("value", "passed"),
    [
        ("C", 1), ("I", 0), ("P", 0), ("N", 0), (1, 1), (0.99, 0), (True, 1), (False, 0),
        ("yes", 1), ("no", 0), ("1", 1), ("0.5", 0), ("true", 1), (1e308, 1), (-1, 0),
    ],
)  # fmt: skip
def test_values(tmp_path, value, passed):
    counts = read_counts(write(tmp_path / "x.json", log_of([sample("a", value)])))
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (1, passed)


def test_a_killed_run_says_so_and_what_is_missing(tmp_path):
    log = log_of(
        [sample("a"), sample("b", epoch=2)],
        eval={"config": {"epochs": 2}, "dataset": {"sample_ids": ["a", "b", "c"]}},
    )
    del log["status"]
    counts = read_counts(write_eval(tmp_path / "x.eval", log, header=None))
    assert counts["n_attempts"].values.tolist() == [[1, 1, 0]]
    said = provenance_of(counts)
    assert said["dropped"] == {}
    assert any("4 attempts planned and not made" in text for text in said["warnings"])
    assert "did not finish (status 'started')" in said["warnings"][0]
    counts = read_counts(tmp_path / "x.eval", on_missing="fail")
    assert counts["n_attempts"].values.tolist() == [[2, 2, 2]]
    assert counts["n_successes"].values.tolist() == [[1, 1, 0]]


def test_two_runs_of_a_task_add_up_and_copies_do_not(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    write(folder / "1.json", log_of([sample("a")]))
    write(folder / "2.json", log_of([sample("a", "I")], eval={"task_id": "T2"}))
    assert read_counts(folder)["n_attempts"].item() == 2
    (folder / "copy.json").write_bytes((folder / "1.json").read_bytes())
    counts = read_counts(folder)
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (2, 1)
    assert provenance_of(counts)["dropped"] == {"duplicate": 1}
    with pytest.raises(CountsError, match="problem 'a', epoch 1 is there twice"):
        read_counts(folder, on_duplicate="raise")
    assert read_counts(folder, on_duplicate="keep_all")["n_attempts"].item() == 3


def test_several_models_and_tasks(tmp_path):
    for model in ("m1", "m2"):
        for task in ("x", "y"):
            name = f"{model}-{task}"
            about = {"model": model, "task": task, "task_id": name}
            write(tmp_path / f"{name}.json", log_of([sample("1"), sample("2", "I")], eval=about))
    counts = read_counts(tmp_path)
    assert counts["system"].values.tolist() == ["m1", "m2"]
    assert counts["problem"].values.tolist() == ["x/1", "x/2", "y/1", "y/2"]
    apart = read_counts(tmp_path, by="task")
    assert list(apart) == ["x", "y"]
    assert apart["y"]["problem"].values.tolist() == ["1", "2"]


def test_a_limit_is_an_attempt_and_an_error_with_a_score_is_not(tmp_path):
    samples = [
        sample("a", limit={"type": "time", "limit": 1}),
        sample("b", error={"message": "x"}),
        sample("c", invalidation={"reason": "x"}),
        sample("d", float("nan")),
    ]
    counts = read_counts(write(tmp_path / "x.json", log_of(samples)))
    assert counts["n_attempts"].values.tolist() == [[1, 0, 0, 0]]
    assert provenance_of(counts)["dropped"] == {"error": 1, "invalidated": 1, "unscored": 1}


def test_lists_take_positions_as_keys(tmp_path):
    path = write(tmp_path / "x.json", log_of([sample("a", [1, 0])]))
    with pytest.raises(CountsError, match=r"object values \(0, 1\): say which with key="):
        read_counts(path)
    assert read_counts(path, key="0")["n_successes"].item() == 1
    with pytest.raises(OptionError, match="no such entry: known: 0, 1"):
        read_counts(path, key="9")


def test_options_that_name_nothing(tmp_path):
    path = write(tmp_path / "x.json", log_of([sample("a")]))
    with pytest.raises(OptionError, match="scorer 'mach': did you mean 'match'"):
        read_counts(path, scorer="mach")
    with pytest.raises(OptionError, match="the scores of this log have no keys"):
        read_counts(path, key="x")
    with pytest.raises(OptionError, match="format inspect has no option 'scorers': did you mean"):
        read_counts(path, scorers="x")
    with pytest.raises(OptionError, match="threshold: expected a finite number, got nan"):
        read_counts(path, threshold=float("nan"))


def test_logs_without_samples_are_refused(tmp_path):
    with pytest.raises(CountsError, match="holds no samples: run again with log_samples on"):
        read_counts(write_eval(tmp_path / "x.eval", log_of([])))
    with zipfile.ZipFile(tmp_path / "y.eval", "w") as file:
        file.writestr("a.txt", "x")
    with pytest.raises(ReadError, match=r"y.eval: not an Inspect log: no header.json"):
        read_counts(tmp_path / "y.eval")


@pytest.mark.parametrize(
    "change",
    [
        {"eval": 3}, {"samples": 3}, {"samples": [3]}, {"samples": [{}]},
        {"samples": [{"id": "a", "epoch": "x"}]}, {"samples": [{"id": "a", "scores": [1]}]},
        {"samples": [{"id": "a", "scores": {"m": 3}}]},
        {"samples": [sample("a", {"x": 1})]}, {"samples": [sample("a", "perhaps")]},
        {"status": 7}, {"eval": {"task": "x", "config": 3}},
        {"eval": {"task": "x", "dataset": {"sample_ids": 3}}},
        {"eval": {"task": "x", "model": 3}},
    ],
)  # fmt: skip
def test_a_log_of_another_shape_is_refused_in_one_line(tmp_path, change):
    path = write(tmp_path / "x.json", log_of([sample("a")]) | change)
    with pytest.raises(CountsError, match=r"x.json: .*") as caught:
        read_counts(path, format="inspect")
    assert "\n" not in str(caught.value)
