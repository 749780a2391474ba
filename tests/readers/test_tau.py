"""tau-bench and tau2-bench results beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError


def results(domain="retail", trials=1, tasks=("0",), model="m1", **more):
    about = {"agent_info": {"llm": model}, "environment_info": {"domain_name": domain}}
    ids = [{"id": task} for task in tasks]
    return {"timestamp": "t", "info": {"num_trials": trials} | about, "tasks": ids} | more


def simulation(task, trial, reward, reason="agent_stop", **more):
    info = None if reward is None else {"reward": reward}
    about = {"task_id": task, "trial": trial, "termination_reason": reason, "reward_info": info}
    return {"id": f"{task}-{trial}"} | about | more


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_a_folder_in_parts_counts_each_simulation_once(tmp_path):
    several = [simulation("0", 0, 1.0), simulation("0", 1, 0.0)]
    index = [{"id": each["id"]} for each in several]
    write(tmp_path / "run" / "results.json", results(trials=3, simulation_index=index))
    for each in several:
        write(tmp_path / "run" / "simulations" / f"{each['id']}.json", each)
    for place in (tmp_path, tmp_path / "run", tmp_path / "run" / "results.json"):
        counts = read_counts(place)
        assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (2, 1)
    said = provenance_of(counts)
    assert "1 attempt planned and not made: task 'retail', problem '0'" in said["warnings"]
    assert read_counts(tmp_path / "run", on_missing="fail")["n_attempts"].item() == 3


def test_domains_keep_their_tasks_apart(tmp_path):
    for domain in ("airline", "retail"):
        several = [simulation("0", 0, float(domain == "retail"), id=domain)]
        write(tmp_path / f"{domain}.json", results(domain, simulations=several))
    counts = read_counts(tmp_path)
    assert counts["problem"].values.tolist() == ["airline/0", "retail/0"]
    assert counts["n_successes"].values.tolist() == [[0, 1]]


def test_lost_to_infrastructure_is_no_verdict_whatever_the_reward(tmp_path):
    several = [
        simulation("0", 0, 0.0, "infrastructure_error"),
        simulation("0", 1, 0.0, "max_steps"),
    ]
    path = write(tmp_path / "x.json", results(trials=2, simulations=several))
    counts = read_counts(path)
    assert (counts["n_attempts"].item(), provenance_of(counts)["dropped"]) == (1, {"error": 1})


def test_runs_of_tau_bench_1_are_told_by_their_names(tmp_path):
    for time in ("0112100000", "0113100000"):
        trials = [
            {"task_id": 0, "reward": 1.0 - 5e-7, "info": {}, "traj": [], "trial": 0},
            {"task_id": 0, "reward": 0.5, "info": {}, "traj": [], "trial": 1},
            {"task_id": 1, "reward": 1, "info": {}, "traj": [], "trial": 0},
        ]
        write(tmp_path / f"tool-calling-org-m1-0.0_range_0-2_user-u-llm_{time}.json", trials)
    counts = read_counts(tmp_path)
    assert counts["system"].item() == "org-m1"
    assert counts["n_attempts"].values.tolist() == [[4, 2]]
    assert counts["n_successes"].values.tolist() == [[2, 2]]
    # What tau-bench itself does: it divides by the most trials of any task.
    assert read_counts(tmp_path, on_missing="fail")["n_attempts"].values.tolist() == [[4, 4]]
    assert read_counts(tmp_path, tolerance=0.5)["n_successes"].values.tolist() == [[4, 2]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (results(simulations=[{"trial": 0}]), "simulation 0: expected a task_id, got null"),
        (results(simulations=[simulation("0", 0, "x")]), 'expected a reward, got "x"'),
        (results(simulations=3), "expected 'simulations' as a list, got 3"),
        (results(tasks=[None], simulations=[]), "task 0: expected an id"),
        ([3], "entry 0: expected an object, got 3"),
    ],
)
def test_another_shape_is_refused(tmp_path, content, message):
    with pytest.raises(CountsError, match=message):
        read_counts(write(tmp_path / "x.json", content), format="tau")


@pytest.mark.parametrize("tolerance", ["x", -1, 1])
def test_tolerance_is_checked(tmp_path, tolerance):
    path = write(tmp_path / "x.json", results(simulations=[simulation("0", 0, 1.0)]))
    with pytest.raises(OptionError, match="tolerance: expected a number from 0 to 1"):
        read_counts(path, tolerance=tolerance)
