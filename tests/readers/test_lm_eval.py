"""lm-evaluation-harness beyond the fixtures: runs, models, metrics, pass@k turned back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError
from bayes_passk.readers.inversion import matching_successes

NAME = "samples_sums_2026-01-05T10-00-00.000001.jsonl"


def line(doc_id, n=1, filter="none", **metrics):
    return {
        "doc_id": doc_id,
        "resps": [["x"] * n],
        "filter": filter,
        "metrics": list(metrics),
    } | metrics


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


def pass_at_k(n, c, k):
    """The estimator as harnesses compute it, in floating point."""
    product = 1.0
    for i in range(n - c + 1, n + 1):
        product *= max(1 - k / i, 0)
    return 1 - product


@given(st.integers(1, 300), st.data())
def test_pass_at_1_tells_every_count(n, data):
    c = data.draw(st.integers(0, n))
    assert matching_successes(n, {1: pass_at_k(n, c, 1)}) == [c]


@given(st.integers(1, 200), st.data())
def test_the_true_count_is_always_among_those_that_match(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    found = matching_successes(n, {k: pass_at_k(n, c, k), n + 5: 1.0})
    assert found == [c] or (c in found and pass_at_k(n, c, k) > 1 - 1e-7)


def test_the_model_is_named_by_the_results_file_or_a_sanitised_folder(tmp_path):
    one = write(tmp_path / "gpt2" / NAME, line(0, acc=1))
    assert read_counts(one)["system"].item() == "system"
    results = {"results": {}, "model_name_sanitized": "gpt2"}
    (one.parent / NAME.replace("samples_sums", "results").replace("jsonl", "json")).write_text(
        json.dumps(results)
    )
    assert read_counts(one)["system"].item() == "gpt2"
    assert read_counts(write(tmp_path / "org__m" / NAME, line(0, acc=1)))["system"].item() == (
        "org__m"
    )


def test_a_folder_of_results_and_samples_is_read_by_its_samples(tmp_path):
    write(tmp_path / "org__m" / NAME, line(0, acc=1), line(1, acc=0))
    (tmp_path / "org__m" / "results_x.json").write_text('{"results": {"sums": {}}}')
    counts = read_counts(tmp_path)
    assert counts["n_successes"].values.tolist() == [[1, 0]]
    assert "1 file passed over, without outcomes of their own" in str(provenance_of(counts))
    assert counts["task"].values.tolist() == ["sums", "sums"]


def test_a_copy_of_a_run_is_no_second_run(tmp_path):
    for folder in ("a", "b"):
        write(tmp_path / folder / NAME, line(0, acc=1))
    with pytest.raises(CountsError, match="problem '0', line 1 is there twice"):
        read_counts(tmp_path)
    assert read_counts(tmp_path, on_duplicate="first")["n_attempts"].item() == 1
    same = tmp_path / "a" / NAME
    with pytest.raises(CountsError, match="given twice"):
        read_counts([same, same])


def test_one_metric_must_decide(tmp_path):
    path = write(tmp_path / NAME, line(0, acc=1, acc_norm=0))
    with pytest.raises(CountsError, match="expected one metric, got acc, acc_norm"):
        read_counts(path)
    assert read_counts(path, metric="acc_norm")["n_successes"].item() == 0
    with pytest.raises(OptionError, match="no metric 'ac': did you mean 'acc'"):
        read_counts(path, metric="ac")
    with pytest.raises(OptionError, match="no line of filter 'x': known: none"):
        read_counts(path, metric="acc", filter="x")
    path = write(tmp_path / NAME, line(0, f1=[0.2, 3]))
    with pytest.raises(CountsError, match="line 1, f1: expected an outcome or a score, got a list"):
        read_counts(path)


def test_older_lines_do_not_list_their_metrics(tmp_path):
    old = {"doc_id": 4, "doc": {}, "target": "x", "resps": [["a"]], "exact_match": True}
    assert read_counts(write(tmp_path / NAME, old))["n_successes"].item() == 1


def test_choices_are_no_repeats(tmp_path):
    choice = line(0, acc=1) | {"resps": [[["-1.5", "False"]], [["-0.5", "True"]]]}
    assert provenance_of(read_counts(write(tmp_path / NAME, choice)))["warnings"] == []


def test_pass_at_1_settles_what_larger_k_leave_open(tmp_path):
    given_ = {f"pass@{k}": pass_at_k(64, 63, k) for k in (2, 8, 64)}
    path = write(tmp_path / NAME, line(0, 64, **given_), line(1, 64, **{"pass@2": 0.0}))
    with pytest.raises(CountsError, match=r"problem '0': pass@2 is 1.0 with n = 64.* 63 to 64"):
        read_counts(path)
    counts = read_counts(path, on_ambiguous="drop")
    assert counts["problem"].values.tolist() == ["1"]
    assert provenance_of(counts)["dropped"] == {"ambiguous": 64}
    path = write(tmp_path / NAME, line(0, 64, **given_, **{"pass@1": 63 / 64}))
    assert read_counts(path)["n_successes"].item() == 63
    path = write(tmp_path / NAME, line(0, 64, **{"pass@1": 0.123}))
    with pytest.raises(CountsError, match="no number of successes among 64 attempts gives"):
        read_counts(path)


def test_bad_lines(tmp_path):
    path = write(tmp_path / NAME, line(0, acc=1))
    path.write_text(path.read_text() + '{"doc_id": 1, "acc"')
    with pytest.raises(OSError, match=r"line 2: cut off or no JSON.*on_bad_line='skip'"):
        read_counts(path)
    counts = read_counts(path, on_bad_line="skip")
    assert counts["n_attempts"].item() == 1
    assert "1 bad lines left out (line 2 is the first)" in str(provenance_of(counts)["warnings"])
