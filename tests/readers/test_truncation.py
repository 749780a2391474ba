"""A log cut off anywhere gives a part of its counts or an error in one line, never more."""

import json
import random
from pathlib import Path

import pytest

from bayes_passk import read_counts
from bayes_passk.errors import BayesPasskError

FORMATS = Path(__file__).parents[3] / "shared" / "formats"
FILES = {
    "inspect/tiny_sums_deflate.eval": {},
    "inspect/tiny_sums_epochs4.eval": {},
    "inspect/old_single_score.json": {},
    "inspect/invalidated_sample.json": {},
    "lm_eval/three_runs/samples_tiny_math_2026-01-08T10-00-00.000001.jsonl": {},
    "human_eval/samples.jsonl_results.jsonl": {},
    "human_eval/results.jsonl.gz": {},
    "evalplus/old_2023_eval_results.json": {"tests": "base"},
    "bigcode/code_eval_logs.json": {},
    "livecodebench/Scenario.codegeneration_4_0.2_eval_all.json": {},
    "livecodebench/Scenario.codegeneration_4_0.2_eval.json": {},
    "lighteval/details_demo_math|0_2026-01-15T10-00-00.000001.parquet": {
        "metric": "pass@k:k=1&n=4"
    },
    "swebench/three_runs/demo__agent.run1.json": {},
    "terminal_bench/run_flat_results.json": {},
    "tau/tau2_results.json": {},
    "tau/tool-calling-demo-model-0.0_range_0-3_user-demo-llm_0112100000.json": {},
    "verl/rollouts/40.jsonl": {},
    "trl/completions/completions_00010.parquet": {"reward": "accuracy_reward"},
    "monkeys/yaml_per_problem/0.yaml": {},
    "monkeys/monkey_business_style.jsonl": {},
    "monkeys/monkey_business_style.parquet": {},
    "promptfoo/output.json": {},
    "garak/garak.demo.report.jsonl": {"detector": "demo.Detector"},
    "bon_jailbreak/powerlaw_4.jsonl": {},
    "deepeval/.latest_test_run.json": {},
}


@pytest.mark.parametrize("name", FILES)
def test_cut_at_every_byte(shared, tmp_path, name):
    data = (FORMATS / name).read_bytes()
    whole = pairs_of(read_counts(FORMATS / name, **FILES[name]))
    path = tmp_path / Path(name).name
    for length in range(0, len(data), 1 if len(data) < 5_000 else 11):
        path.write_bytes(data[:length])
        cut = read_or_refuse(path, FILES[name])
        assert all(n <= whole[p][0] and c <= whole[p][1] for p, (n, c) in cut.items()), length


@pytest.mark.parametrize("name", FILES)
def test_a_byte_changed_anywhere(shared, tmp_path, name):
    data = (FORMATS / name).read_bytes()
    path = tmp_path / Path(name).name
    for at in range(0, len(data), max(1, len(data) // 200)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :])
        read_or_refuse(path, FILES[name])


ODD = [None, True, -1, 0.5, 10**30, float("nan"), "", "x", "C", "1", [], {}, [[]], [None], {"a": 1}]


@pytest.mark.parametrize("name", [name for name in FILES if ".json" in name and ".gz" not in name])
def test_a_value_replaced_anywhere(shared, tmp_path, name):
    text = (FORMATS / name).read_text()
    lines = text.splitlines() if name.endswith("jsonl") else [text]
    path = tmp_path / Path(name).name
    chance = random.Random(1)
    for _ in range(300):
        records = [json.loads(line) for line in lines]
        holder, key = chance.choice(list(places_in(records)))
        holder[key] = chance.choice(ODD)
        path.write_text("\n".join(map(json.dumps, records)))
        read_or_refuse(path, {"format": name.split("/")[0], **FILES[name]})


def places_in(value):
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places_in(value[key])


def read_or_refuse(path, options):
    try:
        return pairs_of(read_counts(path, **options))
    except BayesPasskError as error:
        refusal = str(error)
    assert "\n" not in refusal
    return {}


def pairs_of(counts):
    n, c = counts["n_attempts"].values[0], counts["n_successes"].values[0]
    return {
        problem: (int(a), int(b))
        for problem, a, b in zip(counts["problem"].values, n, c, strict=True)
    }
