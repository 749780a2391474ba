"""Tables counted out of core are counted as those in memory are."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_passk import read_counts
from bayes_passk.counts import digest, provenance_of
from bayes_passk.errors import BayesPasskError, CountsError, MissingExtraError, ReadError
from bayes_passk.readers import large_tables

duckdb = pytest.importorskip("duckdb")

TABLES = Path(__file__).parents[3] / "shared" / "formats" / "tables"
KINDS = (".csv", ".tsv", ".jsonl", ".parquet")


@pytest.fixture
def out_of_core(monkeypatch):
    """Every table is large."""

    def switch():
        monkeypatch.setattr(large_tables, "_LARGE", dict.fromkeys(KINDS, 0))

    return switch


def cases():
    if not TABLES.is_dir():
        return []
    files = json.loads((TABLES / "expected.json").read_text())["files"]
    return [
        pytest.param(name, case["options"], id=f"{name}-{i}")
        for name, file in files.items()
        for i, case in enumerate(file["cases"])
        if name.endswith(KINDS) and "need" not in case["options"]
    ]


@pytest.mark.parametrize(("name", "options"), cases())
def test_fixtures_are_counted_alike(name, options, out_of_core):
    in_memory = counts_or_refusal(TABLES / name, options)
    out_of_core()
    assert counts_or_refusal(TABLES / name, options) == in_memory


def counts_or_refusal(path, options):
    try:
        counts = read_counts(path, **options)
    except BayesPasskError:
        return "refused"
    return digest(counts), provenance_of(counts)["dropped"]


def frame(seed=1, n=5_000):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "model": rng.choice(["m1", "m 2", 'm"3'], n),
            "problem": rng.choice(["007", "7", "NA", "1e5", "2024-01-01", "ä"], n),
            "level": "x",
            "correct": rng.choice([True, False, None], n),
        }
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("on_error", ["drop", "fail"])
def test_every_kind_of_file(tmp_path, kind, on_error, out_of_core):
    path = tmp_path / f"odd [name]*{kind}"
    write(path, frame())
    in_memory = read_counts(path, on_error=on_error)
    out_of_core()
    counts = read_counts(path, on_error=on_error)
    assert digest(counts) == digest(in_memory)
    assert provenance_of(counts)["dropped"] == provenance_of(in_memory)["dropped"]
    assert set(counts["problem"].values) == {"007", "7", "NA", "1e5", "2024-01-01", "ä"}
    assert set(counts["level"].values) == {"x"}


def write(path, table):
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attempts", [range(4), ["a", "b", "c", "d"], ["1", "01", "2", "3"]])
def test_an_attempt_twice_is_found(tmp_path, kind, attempts, out_of_core):
    table = pd.DataFrame({"problem": ["x"] * 4, "attempt": attempts, "correct": [1, 0, 1, 0]})
    write(tmp_path / f"once{kind}", table)
    write(tmp_path / f"twice{kind}", pd.concat([table, table[1:2]]))
    out_of_core()
    assert read_counts(tmp_path / f"once{kind}")["n_attempts"].item() == 4
    with pytest.raises(CountsError, match=r"given twice.*say on_duplicate='first'"):
        read_counts(tmp_path / f"twice{kind}")
    for how, n in (("keep_all", 5), ("first", 4), ("last", 4)):
        counts = read_counts(tmp_path / f"twice{kind}", on_duplicate=how)
        assert counts["n_attempts"].item() == n


def test_scores_and_thresholds(tmp_path, out_of_core):
    write(tmp_path / "x.parquet", pd.DataFrame({"problem": list("aab"), "score": [0.2, 0.7, 1]}))
    write(tmp_path / "y.parquet", pd.DataFrame({"problem": list("ab"), "correct": [0.5, 1]}))
    out_of_core()
    assert read_counts(tmp_path / "x.parquet")["n_successes"].values.tolist() == [[0, 1]]
    counts = read_counts(tmp_path / "x.parquet", threshold=0.5)
    assert counts["n_successes"].values.tolist() == [[1, 1]]
    with pytest.raises(CountsError, match=r"values other than 0 and 1 \(0.5\)"):
        read_counts(tmp_path / "y.parquet")
    many = pd.DataFrame({"problem": "a", "score": np.linspace(0, 1, 3_001)})
    write(tmp_path / "z.parquet", many)
    assert read_counts(tmp_path / "z.parquet", threshold=0.5)["n_successes"].item() == 1_501


def test_rows_without_an_id(tmp_path, out_of_core):
    write(tmp_path / "x.parquet", pd.DataFrame({"problem": ["a", None, " "], "correct": [1, 1, 0]}))
    out_of_core()
    with pytest.raises(
        CountsError, match="2 rows with no problem id in 'problem'; say on_missing_id='drop'"
    ):
        read_counts(tmp_path / "x.parquet")
    counts = read_counts(tmp_path / "x.parquet", on_missing_id="drop")
    assert counts["problem"].values.tolist() == ["a"]
    assert "2 rows without a problem id left out" in provenance_of(counts)["warnings"]


def test_floats_that_were_whole_numbers_are_ids_as_such(tmp_path, out_of_core):
    write(tmp_path / "x.parquet", pd.DataFrame({"problem": [3.0, 4.0], "correct": [1, 0]}))
    out_of_core()
    assert read_counts(tmp_path / "x.parquet")["problem"].values.tolist() == ["3", "4"]


def test_a_damaged_file_is_refused_in_one_line(tmp_path, out_of_core):
    path = tmp_path / "x.jsonl"
    write(path, frame())
    path.write_text(path.read_text()[:-5])
    out_of_core()
    with pytest.raises(ReadError, match=r"x.jsonl: the file is cut off or no table") as caught:
        read_counts(path)
    assert "\n" not in str(caught.value)
    assert read_counts(path, on_bad_line="skip")["n_attempts"].sum() > 0


def test_without_duckdb_a_file_is_tried_in_memory_up_to_a_size(tmp_path, monkeypatch):
    path = tmp_path / "x.jsonl"
    write(path, frame())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(large_tables, "_LARGE", {".jsonl": path.stat().st_size // 15})
    assert read_counts(path)["n_attempts"].sum() > 0
    monkeypatch.setattr(large_tables, "_LARGE", {".jsonl": path.stat().st_size // 16})
    with pytest.raises(MissingExtraError, match=r"pip install 'bayes-passk\[duckdb\]'"):
        read_counts(path)
