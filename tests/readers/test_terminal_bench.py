"""Runs of Terminal-Bench and jobs of Harbor beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, ReadError


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def trial(task, number, resolved, run="run1"):
    name = f"{task}.{number}-of-2.{run}"
    return {"id": f"{run}-{name}", "trial_name": name, "task_id": task, "is_resolved": resolved}


def harbor(job, task, number, rewards, model="m1", **more):
    name = f"{task}__{number:07d}"
    about = {"agent_info": {"name": "a", "model_info": {"name": model, "provider": "p"}}}
    result = {"verifier_result": None if rewards is None else {"rewards": rewards}}
    content = {"id": f"{job}-{name}", "task_name": task, "trial_name": name} | about | result | more
    return write(job / name / "result.json", content)


def totals(path):
    counts = read_counts(path)
    return counts["n_attempts"].values.tolist(), counts["n_successes"].values.tolist()


def test_a_trial_in_the_run_and_in_its_own_folder_counts_once(tmp_path):
    run = tmp_path / "run1"
    trials = [trial("x.hard", 1, True), trial("x.hard", 2, False), trial("y", 1, None)]
    write(run / "results.json", {"id": "run1", "results": trials})
    # The run was stopped before its list was written for the last time.
    for each in [*trials, trial("y", 2, True)]:
        write(run / each["task_id"] / each["trial_name"] / "results.json", each)
    assert totals(run) == ([[2, 1]], [[1, 1]])
    assert totals(run / "x.hard" / trials[0]["trial_name"] / "results.json") == ([[1]], [[1]])


def test_runs_of_one_model_are_repeats(tmp_path):
    for run, passed in (("run1", True), ("run2", False)):
        write(tmp_path / run / "results.json", {"results": [trial("x", 1, passed, run)]})
        write(tmp_path / run / "run_metadata.json", {"model_name": "m1", "agent_name": "a"})
    counts = read_counts(tmp_path)
    assert counts["system"].values.tolist() == ["m1"]
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (2, 1)


def test_an_exception_beside_a_reward_is_an_attempt(tmp_path):
    job = tmp_path / "job"
    write(job / "config.json", {"job_name": "job"})
    harbor(job, "a__b", 1, {"reward": 1.0}, exception_info={"exception_type": "AgentTimeoutError"})
    harbor(job, "a__b", 2, None, exception_info={"exception_type": "EnvironmentError"})
    (job / "a__b__0000003").mkdir()
    counts = read_counts(job)
    assert counts["system"].values.tolist() == ["p/m1"]
    assert counts["problem"].values.tolist() == ["a__b"]
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (1, 1)
    said = provenance_of(counts)
    assert said["dropped"] == {"error": 1}
    assert "a__b__0000003 has no result.json: not finished, no attempt" in said["warnings"]
    assert read_counts(job, on_error="fail")["n_attempts"].item() == 2


def test_several_rewards_need_a_name_and_partial_credit_a_threshold(tmp_path):
    job = tmp_path / "job"
    write(job / "config.json", {"job_name": "job"})
    harbor(job, "x", 1, {"tests": 0.75, "style": 1.0})
    with pytest.raises(CountsError, match=r"several rewards \(tests, style\): say which with key="):
        read_counts(job)
    assert read_counts(job, key="tests")["n_successes"].item() == 0
    assert read_counts(job, key="tests", threshold=0.75)["n_successes"].item() == 1


def test_a_jobs_totals_alone_are_refused(tmp_path):
    path = write(tmp_path / "result.json", {"id": "j", "n_total_trials": 3, "stats": {}})
    with pytest.raises(ReadError, match="holds a job's totals only: give the job's folder"):
        read_counts(path)


def test_a_verdict_of_another_kind_is_refused(tmp_path):
    write(tmp_path / "run" / "results.json", {"results": [trial("x", 1, "maybe")]})
    with pytest.raises(CountsError, match="expected is_resolved as true, false or null"):
        read_counts(tmp_path / "run")
