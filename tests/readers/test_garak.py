"""Reports of garak beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError, ReadError


def entry(uuid, scores, *, status=2, probe="p.Q", prompt="attack", detector="d.D", **more):
    turns = {"turns": [{"role": "user", "content": {"text": prompt}}]}
    results = {} if scores is None else {detector: scores}
    about = {"entry_type": "attempt", "uuid": uuid, "status": status, "probe_classname": probe}
    return about | {"prompt": turns, "detector_results": results} | more


def write(path, *entries, model="m"):
    setup = {"entry_type": "start_run setup", "plugins.model_name": model}
    path.write_text("\n".join(json.dumps(line) for line in (setup, *entries)))
    return path


def test_generations_without_a_score_are_no_attempts(tmp_path):
    path = write(tmp_path / "x.report.jsonl", entry("u", [0.5, 0.49, None, 1]))
    counts = read_counts(path)
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (3, 2)
    assert provenance_of(counts)["dropped"] == {"unscored": 1}
    assert read_counts(path, threshold=1)["n_successes"].item() == 1


def test_a_prompt_evaluated_twice_counts_once(tmp_path):
    twice = [entry("u", [0.0, 1.0]), entry("u", [1.0, 1.0])]
    counts = read_counts(write(tmp_path / "x.report.jsonl", *twice))
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (2, 2)
    assert "1 attempts are there twice with different verdicts" in provenance_of(counts)["warnings"]


def test_systems_are_compared_by_prompt(tmp_path):
    for model in ("m1", "m2"):
        write(tmp_path / f"{model}.report.jsonl", entry(model, [float(model == "m1")]), model=model)
    assert read_counts(tmp_path)["problem"].values.tolist() == ["m1", "m2"]
    counts = read_counts(tmp_path, problem="prompt")
    assert counts["problem"].values.tolist() == ["attack"]
    assert counts["n_successes"].values.tolist() == [[1], [0]]
    with pytest.raises(OptionError, match="problem: expected uuid or prompt, got 'goal'"):
        read_counts(tmp_path, problem="goal")


def test_probes_are_tasks_and_older_prompts_are_text(tmp_path):
    several = [entry("u", [1.0], probe="a.A"), {**entry("v", [0.0], probe="b.B"), "prompt": "text"}]
    path = write(tmp_path / "x.report.jsonl", *several)
    assert list(read_counts(path, by="task")) == ["a.A", "b.B"]
    assert read_counts(path, problem="prompt")["problem"].values.tolist() == [
        "a.A/attack",
        "b.B/text",
    ]


def test_a_list_of_hits_is_refused_and_passed_over(tmp_path):
    hit = {"goal": "g", "prompt": "", "detector": "d", "attempt_id": "u", "probe": "p", "score": 1}
    path = tmp_path / "x.hitlog.jsonl"
    path.write_text(json.dumps(hit))
    with pytest.raises(ReadError, match=r"lists the hits only: give the \*.report.jsonl"):
        read_counts(path)
    write(tmp_path / "x.report.jsonl", entry("u", [1.0]))
    assert read_counts(tmp_path)["n_attempts"].item() == 1


def test_nothing_evaluated_and_nothing_known(tmp_path):
    path = write(tmp_path / "x.report.jsonl", entry("u", None, status=1))
    with pytest.raises(CountsError, match="no attempt in the report has been evaluated"):
        read_counts(path)
    write(path, entry("u", None))
    with pytest.raises(CountsError, match="expected one detector, got none"):
        read_counts(path)
    write(path, entry("u", [1.0]))
    with pytest.raises(OptionError, match="no detector 'x'"):
        read_counts(path, detector="x")
