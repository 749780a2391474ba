"""Best-of-N logs beyond the fixtures."""

import json

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError


def write(path, **runs):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {"i": i, "flagged": mark == "T", "n": n, "behavior_id": name}
        for i, (name, marks) in enumerate(runs.items())
        for n, mark in enumerate(marks)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


@pytest.mark.parametrize(
    ("runs", "stopped"),
    [
        ({"a": "FFT", "b": "T", "c": "FFFFF"}, "its first success"),
        ({"a": "FTFT", "b": "TT", "c": "FFTFFF"}, "its 2 successes"),
        ({"a": "FTF", "b": "T", "c": "FFFFF"}, None),
        ({"a": "FFT", "b": "TTFFT", "c": "FFFFF"}, None),
        ({"a": "FFF", "b": "F", "c": "FFFFF"}, None),
        ({"a": "FFT", "b": "FFT"}, None),
    ],
)
def test_runs_that_the_outcome_stopped(tmp_path, runs, stopped):
    counts = read_counts(write(tmp_path / "x.jsonl", **runs))
    said = " ".join(provenance_of(counts)["warnings"])
    assert ("stopped by the outcome" in said) == (stopped is not None)
    assert stopped is None or f"every run ends at {stopped} or at" in said
    assert counts["n_attempts"].values.tolist() == [[len(marks) for marks in runs.values()]]


@pytest.mark.parametrize(
    ("marks", "padded"),
    [
        ("FFTFFTFFTF", True),
        ("FTFT", False),
        ("FFTFFTFFF", False),
        ("TTTTTT", False),
        ("FFF", False),
    ],
)
def test_outcomes_that_are_copies(tmp_path, marks, padded):
    counts = read_counts(write(tmp_path / "x.jsonl", a=marks))
    said = " ".join(provenance_of(counts)["warnings"])
    assert ("one block of 3 repeated" in said) == padded


def test_steps_of_a_search(tmp_path):
    path = tmp_path / "12" / "bon_search_steps.jsonl"
    path.parent.mkdir()
    steps = [
        {
            "n": n,
            "best_k": 0,
            "search_steps": [{"n": n, "k": k, "asr": float(n == k == 1)} for k in (0, 1)],
        }
        for n in (0, 1)
    ]
    path.write_text("\n".join(map(json.dumps, steps)))
    counts = read_counts(path)
    assert counts["problem"].item() == "12"
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (4, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"i": 0, "flagged": 0.25, "n": 0}, "0.25 is the share of several answers, not one answer"),
        ({"i": 0, "flagged": True, "n": None}, "expected the attempt's position 'n'"),
        ({"i": None, "flagged": True, "n": 0}, "expected a problem in 'i', got null"),
        ({"i": 0, "flagged": [1], "n": 0}, "expected an outcome or a score, got a list"),
    ],
)
def test_another_shape_is_refused(tmp_path, line, message):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(line))
    with pytest.raises(CountsError, match=message):
        read_counts(path)


def test_the_same_position_twice_is_an_error(tmp_path):
    path = write(tmp_path / "x.jsonl", a="FT")
    path.write_text(path.read_text() + "\n" + path.read_text())
    with pytest.raises(CountsError, match="problem 'a', line 3 is there twice"):
        read_counts(path)
