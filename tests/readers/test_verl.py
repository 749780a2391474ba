"""Rollouts of verl beyond the fixtures, and names made of prompts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError
from bayes_passk.readers.prompts import prompt_name

CHAT = "system\nBe brief.\nuser\n{}\nassistant\n"


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = [{"input": "user\nQ\nassistant\n", "output": "", "step": 1} | line for line in lines]
    path.write_text("\n".join(map(json.dumps, whole)))
    return path


def test_scores_of_all_kinds(tmp_path):
    path = write(
        tmp_path / "7.jsonl",
        *({"score": s, "step": 7} for s in (1, -1, 0.1, None, float("nan"), 1.5)),
    )
    counts = read_counts(path)
    assert counts["system"].item() == "step 7"
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (4, 2)
    said = provenance_of(counts)
    assert said["dropped"] == {"error": 2}
    assert "2 values of score are none of -1, 0 and 1" in said["warnings"][0]
    assert read_counts(path, threshold=0.1)["n_successes"].item() == 3
    assert read_counts(path, success="score >= -1")["n_successes"].item() == 4


def test_another_field_decides_and_another_names_the_problem(tmp_path):
    lines = [{"score": -1, "acc": True, "uid": 3}, {"score": -1, "acc": False, "uid": 4}]
    path = write(tmp_path / "1.jsonl", *lines)
    counts = read_counts(path, success="acc >= 1", problem="uid")
    assert counts["problem"].values.tolist() == ["3", "4"]
    assert counts["n_successes"].values.tolist() == [[1, 0]]
    assert read_counts(path, key="acc")["n_successes"].item() == 1
    with pytest.raises(CountsError, match="line 1: no field 'reward', which is to decide; there a"):
        read_counts(path, key="reward")
    with pytest.raises(CountsError, match="line 1: expected a problem in 'id', got null"):
        read_counts(path, problem="id")
    with pytest.raises(OptionError, match="success: expected such as 'score >= 1', got 'acc'"):
        read_counts(path, success="acc")


def test_the_same_step_of_two_runs_is_two_systems(tmp_path):
    for run in ("a", "b"):
        write(tmp_path / run / "rollouts" / "1.jsonl", {"score": float(run == "a")})
    counts = read_counts(tmp_path)
    assert counts["system"].values.tolist() == ["a/rollouts step 1", "b/rollouts step 1"]
    assert counts["n_successes"].values.tolist() == [[1], [0]]


def test_a_prompt_with_more_to_it_than_the_user_says_has_a_mark():
    assert prompt_name("  plain text ") == "plain text"
    named = prompt_name(CHAT.format("Q"))
    assert named.startswith("Q [")
    assert named != prompt_name(CHAT.replace("brief", "long").format("Q"))
    several = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
    assert prompt_name(several).startswith("Q [")
    assert prompt_name([{"role": "user", "content": [{"type": "text", "text": "Q"}]}]) == "Q"
    assert prompt_name(CHAT.format("Q\nassistant\nA\nuser\nR")).count("\n") > 3
    assert [prompt_name(nothing) for nothing in ("", " ", [], None, 3)] == [None] * 5


@given(st.lists(st.text(), min_size=2, max_size=5, unique_by=str.strip))
def test_different_prompts_have_different_names(texts):
    for template in ("{}", "user\n{}\nassistant\n", CHAT):
        prompts = {t: prompt_name(template.replace("{}", t)) for t in texts}
        named = [name for name in prompts.values() if name is not None]
        assert len(set(named)) == len(named)
