"""Plain tables: every fixture with its right answer, and what breaks a table."""

import gzip
import json
import re
from pathlib import Path

import pytest

from bayes_passk import read_counts
from bayes_passk.counts import describe, provenance_of
from bayes_passk.errors import BayesPasskError, CountsError, OptionError, ReadError

TABLES = Path(__file__).parents[3] / "shared" / "formats" / "tables"


def _cases():
    if not TABLES.is_dir():
        return []
    files = json.loads((TABLES / "expected.json").read_text())["files"]
    return [
        pytest.param(name, case, id=f"{name}-{i}")
        for name, file in files.items()
        for i, case in enumerate(file["cases"])
        # Whether one system is needed is the caller's affair, not the reader's.
        if "need" not in case["options"]
    ]


def test_fixtures_are_there(shared):
    assert len(_cases()) > 40


@pytest.mark.parametrize(("name", "case"), _cases())
def test_fixture(name, case):
    if "error" in case:
        with pytest.raises(BayesPasskError) as caught:
            read_counts(TABLES / name, **case["options"])
        facts = re.findall(r"p\d|'\w+'|row \d+|-?\d+\.\d+|= -?\w+", case["error"])
        message = str(caught.value)
        assert all(fact.strip("= '") in message for fact in facts), (facts, message)
        return
    counts = read_counts(TABLES / name, **case["options"])
    for row in case["counts"]:
        pair = counts.sel(system=row["model"] or "system", problem=row["problem"])
        assert (int(pair["n_attempts"]), int(pair["n_successes"])) == (row["n"], row["c"])
    assert counts.sizes["problem"] == len({row["problem"] for row in case["counts"]})
    assert int(counts["n_attempts"].sum()) == sum(row["n"] for row in case["counts"])
    said = provenance_of(counts)
    if "dropped" in case:
        assert sum(said["dropped"].values()) == sum(case["dropped"].values())
    if "warn" in case:
        text = " ".join([*said["warnings"], *describe(counts).warnings])
        assert set(re.findall(r"p\d|\d+ row", case["warn"])) <= set(
            re.findall(r"p\d|\d+ row", text)
        )


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_json_lines_and_gzip(tmp_path):
    line = '{"problem": "a", "passed": true}\n'
    counts = read_counts(write(tmp_path, "x.jsonl.gz", gzip.compress((line * 3).encode())))
    assert counts["n_successes"].item() == 3
    bad = write(tmp_path, "y.jsonl", line + '{"problem": "a", "pas')
    with pytest.raises(ReadError, match=r"y.jsonl: line 2 is no JSON"):
        read_counts(bad)
    assert read_counts(bad, on_bad_line="skip")["n_attempts"].item() == 1


def test_utf16(tmp_path):
    text = "problem,correct\nä,1\n".encode("utf-16")
    assert read_counts(write(tmp_path, "x.csv", text))["problem"].item() == "ä"
    latin = write(tmp_path, "y.csv", "problem,correct\nä,1\n".encode("latin-1"))
    with pytest.raises(ReadError, match="say encoding"):
        read_counts(latin)
    assert read_counts(latin, encoding="latin-1")["problem"].item() == "ä"


def test_a_line_with_too_many_fields(tmp_path):
    path = write(tmp_path, "x.csv", "problem,correct\na,1\nb,0,7\n")
    with pytest.raises(ReadError, match="line 3 has more fields than the 2 headings"):
        read_counts(path)
    counts = read_counts(path, on_bad_line="skip")
    assert counts["problem"].values.tolist() == ["a"]
    assert provenance_of(counts)["warnings"] == ["1 bad lines left out"]


def test_folders_globs_and_lists(tmp_path):
    for i in range(3):
        write(tmp_path, f"run{i}.csv", f"model,problem,n,c\nm{i},a,10,{i}\n")
    (tmp_path / "notes.md").write_text("not a table")
    wanted = {"m0": 0, "m1": 1, "m2": 2}
    for given in (tmp_path, str(tmp_path / "*.csv"), sorted(tmp_path.glob("*.csv"))):
        counts = read_counts(given)
        found = dict(zip(counts["system"].values, counts["n_successes"].values[:, 0], strict=True))
        assert found == wanted
    twice = [tmp_path / "run0.csv", tmp_path / "run0.csv"]
    with pytest.raises(CountsError, match="appears twice"):
        read_counts(twice)
    assert read_counts(twice, on_duplicate="add")["n_attempts"].item() == 20


@pytest.mark.parametrize(
    "name", ["long_basic.csv", "records.json", "long_nullable.parquet", "long_basic.csv.gz"]
)
def test_truncation_never_gives_wrong_counts_in_silence(shared, tmp_path, name):
    data = (TABLES / name).read_bytes()
    whole = read_counts(write(tmp_path, name, data))
    for length in range(len(data)):
        try:
            cut = read_counts(write(tmp_path, name, data[:length]))
        except BayesPasskError:
            continue
        # What could be read is a part of the whole: rows of text tables end where they end.
        common = cut["problem"].values
        assert set(common) <= set(whole["problem"].values) | {"p"}
        assert int(cut["n_attempts"].sum()) <= int(whole["n_attempts"].sum())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "", "the file is empty"),
        ("x.csv", "\n\n", "the file is empty"),
        ("x.json", "{", "cut off or no JSON"),
        ("x.json", "3", "expected a list of records"),
        ("x.json", "[]", "no attempts"),
        ("x.json", "[" * 100_000, "cut off or no JSON"),
        ("x.parquet", "PAR1", "cut off or no table"),
        ("x.csv.gz", gzip.compress(b"problem,n,c\na,3,1\n")[:-9], "gzip stream is cut off"),
        ("x.csv.gz", b"problem,n,c\n", "gzip stream is cut off or damaged"),
        ("x.csv", "a,a\n1,2\n", "the headings repeat"),
        ("x.bin", "abc", "of no known format"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path, name, content, message):
    with pytest.raises(BayesPasskError, match=message) as caught:
        read_counts(write(tmp_path, name, content))
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there():
    with pytest.raises(ReadError, match="no such file"):
        read_counts("nowhere/*.csv")
    with pytest.raises(KeyError, match="no format 'inspct'"):
        read_counts(__file__, format="inspct")


def test_problems_without_attempts_can_be_named(tmp_path):
    path = write(tmp_path, "x.csv", "problem,correct\na,1\n")
    counts = read_counts(path, problems=["a", "b"])
    assert counts["n_attempts"].values.tolist() == [[1, 0]]
    with pytest.raises(OptionError, match="has no option 'scorer'"):
        read_counts(path, scorer="x")


def test_symbolic_links_are_not_followed(tmp_path):
    outside = write(tmp_path, "secret.csv", "problem,n,c\na,3,1\n")
    logs = tmp_path / "logs"
    logs.mkdir()
    write(logs, "x.csv", "problem,n,c\nb,3,1\n")
    (logs / "link.csv").symlink_to(outside)
    assert read_counts(logs)["problem"].values.tolist() == ["b"]
