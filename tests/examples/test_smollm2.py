"""The example's problems and checker, and the recorded table they led to."""

import hashlib
import importlib.util
import sys
from pathlib import Path

import pytest

from bayes_passk import load_smollm2
from bayes_passk.datasets import smollm2_path

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def problems():
    path = ROOT / "examples" / "smollm2" / "problems.py"
    spec = importlib.util.spec_from_file_location("smollm2_problems", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_problems_are_distinct_and_prompted(problems):
    ids = [problem.id for problem in problems.PROBLEMS]
    assert len(ids) == len(set(ids)) == 118
    for problem in problems.PROBLEMS:
        assert problem.prompt.count("Q: ") == 4
        assert f"Q: {problem.question}\nA: " not in problems.FEW_SHOT[problem.category]


def test_checker(problems):
    right = {problem.id: problem for problem in problems.PROBLEMS}
    product = right["product/37 * 46"]
    assert product.answer == "1702"
    for completion in ("1702", " 1702.", "1702\nQ: 2 * 2"):
        assert problems.is_correct(product, completion)
    for completion in ("", "17020", "The answer is 1702", "170 2", "1\n702"):
        assert not problems.is_correct(product, completion)
    assert problems.is_correct(right["capital/capital of France"], " paris")
    assert right["reverse/spell orange backwards"].answer == "egnaro"


def test_recorded_table_is_the_one_described(problems):
    page = smollm2_path().with_name("SMOLLM2.md").read_text()
    assert hashlib.sha256(smollm2_path().read_bytes()).hexdigest() in page
    counts = load_smollm2()
    assert counts["problem"].values.tolist() == [problem.id for problem in problems.PROBLEMS]
    assert (counts["n_attempts"] == 200).all()
    for i, system in enumerate(("SmolLM2-135M T=0.6", "SmolLM2-135M T=1.2")):
        assert counts["system"].values[i] == system
        rate = float(counts["n_successes"][i].sum()) / (200 * 118)
        never = int((counts["n_successes"][i] == 0).sum())
        assert f"| {rate:.3f} |" in page
        assert f"| {never} |" in page
