"""Lists of verdicts beyond the fixtures."""

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, ReadError

YAML = "prompt: P\nquestion: Q\nsamples: [s, s]\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_folders_are_systems(tmp_path):
    for model, verdicts in (("m1", "[true, false]"), ("m2", "[false, null]")):
        write(tmp_path / model / "007.yaml", YAML + f"is_corrects: {verdicts}\n")
    counts = read_counts(tmp_path)
    assert counts["system"].values.tolist() == ["m1", "m2"]
    assert counts["problem"].values.tolist() == ["007"]
    assert counts["n_attempts"].values.tolist() == [[2], [1]]
    assert provenance_of(counts)["dropped"] == {"error": 1}


def test_a_problem_without_attempts_stays(tmp_path):
    rows = '{"orig_dset_idx": 1, "is_correct": []}\n{"orig_dset_idx": 2, "is_correct": [true]}'
    counts = read_counts(write(tmp_path / "x.jsonl", rows))
    assert counts["n_attempts"].sel(system="system").to_series().to_dict() == {"1": 0, "2": 1}


def test_samples_that_nobody_evaluated_are_refused(tmp_path):
    with pytest.raises(ReadError, match="no is_corrects: these are samples that nobody evaluated"):
        read_counts(write(tmp_path / "1.yaml", YAML))


def test_yaml_is_data_and_no_more(tmp_path):
    made = tmp_path / "made"
    harm = f"is_corrects: !!python/object/apply:os.mkdir ['{made}']\n"
    with pytest.raises(ReadError, match="cut off or no YAML"):
        read_counts(write(tmp_path / "1.yaml", YAML + harm))
    assert not made.exists()
    anchors = "a0: &a0 [x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30)
    )
    counts = read_counts(write(tmp_path / "1.yaml", anchors + YAML + "is_corrects: [true]\n"))
    assert counts["n_attempts"].item() == 1
    with pytest.raises(CountsError, match="expected an outcome or a score, got a list"):
        read_counts(write(tmp_path / "1.yaml", anchors + YAML + "is_corrects: *a29\n"))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"orig_dset_idx": null, "is_corrects": [true]}', "row 1: expected orig_dset_idx, got nu"),
        ('{"orig_dset_idx": 1, "is_corrects": 3}', "row 1: expected a list of verdicts, got 3"),
        ('{"orig_dset_idx": 1, "is_corrects": ["x"]}', 'row 1, attempt 0: "x" is neither'),
    ],
)
def test_another_shape_is_refused(tmp_path, row, message):
    with pytest.raises(CountsError, match=message):
        read_counts(write(tmp_path / "x.jsonl", row))
