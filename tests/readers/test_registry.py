"""Which reader takes which file: folders, globs, links, other packages, tasks."""

import json
import re
import sys
from pathlib import Path

import pytest

from bayes_passk import read_counts
from bayes_passk import readers as registry
from bayes_passk.counts import provenance_of
from bayes_passk.errors import BayesPasskError, CountsError, OptionError, ReadError
from bayes_passk.readers import READERS

TABLE = "problem,n,c\na,3,1\n"
RESULT = '{"task_id": "T/0", "completion": "", "result": "passed", "passed": true}\n'
HOSTILE = [b"", b"PK\x03\x04", b"\x1f\x8b", b"[" * 10_000, b"{" * 10_000, b"\xff\xfe\x00", b"PAR1"]
HOSTILE += [b'{"a": ' * 5_000, b"null", b"\x00" * 99, b'"\\ud800"', b"[[[", b'{"eval": {"task"']


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_says_what_it_is(reader):
    assert reader.name.replace("_", "").isalnum()
    assert reader.title
    assert reader.versions
    assert isinstance(reader.options, frozenset)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_sniffing_never_raises_and_reading_only_refuses(reader, tmp_path):
    assert not reader.sniff(tmp_path)
    assert not reader.sniff(tmp_path / "nothing")
    for name in ("x.json", "x.jsonl", "x.eval", "x.parquet", "x.yaml", "x.jsonl.gz"):
        for data in HOSTILE:
            path = tmp_path / name
            path.write_bytes(data)
            reader.sniff(path)
            with pytest.raises(BayesPasskError, match=r"."):
                read_counts(path, format=reader.name)


def test_names_are_distinct_and_tables_come_last():
    names = [reader.name for reader in READERS]
    assert len(set(names)) == len(names)
    assert names[-1] == "tables"


def test_a_table_beside_logs_is_no_log(tmp_path):
    (tmp_path / "summary.csv").write_text(TABLE)
    (tmp_path / "notes.txt").write_text("hello")
    assert read_counts(tmp_path)["problem"].item() == "a"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "results.jsonl").write_text(RESULT)
    counts = read_counts(tmp_path)
    assert counts["problem"].item() == "T/0"
    said = " ".join(provenance_of(counts)["warnings"])
    assert "1 file passed over, tables beside logs (summary.csv); name a file to read it" in said
    assert "1 file passed over, of no known format (notes.txt)" in said
    both = read_counts([tmp_path, tmp_path / "summary.csv"])
    assert both["problem"].values.tolist() == ["T/0", "a"]
    assert json.loads(both.attrs["source"])[1].endswith("summary.csv")


def test_a_folder_without_anything_known(tmp_path):
    (tmp_path / "notes.md").write_text("hello")
    with pytest.raises(ReadError, match="no file in it is of a known format"):
        read_counts(tmp_path)
    (tmp_path / "notes.csv").write_text("hello")
    with pytest.raises(CountsError, match=r"notes.csv: no problem column found among: hello"):
        read_counts(tmp_path)
    with pytest.raises(ReadError, match=r"no file in it is of a known format \(inspect\)"):
        read_counts(tmp_path, format="inspect")


def test_links_are_not_followed_out_of_a_folder(tmp_path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
        (folder / f"{folder.name}.jsonl").write_text(RESULT.replace("T/0", folder.name))
    (inside / "link").symlink_to(outside)
    (inside / "link.jsonl").symlink_to(outside / "outside.jsonl")
    (inside / "loop").symlink_to(inside)
    (inside / "broken.jsonl").symlink_to(tmp_path / "nothing")
    assert read_counts(inside)["problem"].values.tolist() == ["inside"]


def test_a_very_deep_folder(tmp_path):
    deep = tmp_path
    for _ in range(200):
        deep = deep / "d"
        deep.mkdir()
    (deep / "x.jsonl").write_text(RESULT)
    assert read_counts(tmp_path)["n_attempts"].item() == 1


def test_options(tmp_path):
    (tmp_path / "x.csv").write_text(TABLE)
    with pytest.raises(OptionError, match="by: expected 'task', got 'system'"):
        read_counts(tmp_path, by="system")
    assert list(read_counts(tmp_path, by="task")) == [""]


@pytest.fixture
def coins(tmp_path, monkeypatch):
    """The reader that docs/adding_a_reader.md makes, registered as another package would."""
    text = (Path(__file__).parents[2] / "docs" / "adding_a_reader.md").read_text()
    package = tmp_path / "package"
    info = package / "coin_reader-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "coin_reader.py").write_text(re.search(r"```python\n(.*?)```", text, re.S)[1])
    entry = re.search(r'coin = "(.*?)"', text)[1]
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin_reader\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[bayes_passk.readers]\ncoin = {entry}\n")
    monkeypatch.syspath_prepend(package)
    registry._registered.cache_clear()
    yield package
    sys.modules.pop("coin_reader", None)
    registry._registered.cache_clear()


def toss(path, *sides):
    lines = [{"coin": "c1", "toss": i, "side": side} for i, side in enumerate(sides)]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_a_reader_of_another_package(coins, tmp_path):
    path = toss(tmp_path / "x.jsonl", "heads", "tails", None, "heads")
    counts = read_counts(path)
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (3, 2)
    said = provenance_of(counts)
    assert said["files"][0]["format"] == "coin"
    assert said["dropped"] == {"error": 1}
    assert said["rules"] == ["passed: side is heads"]
    with pytest.raises(OptionError, match="the format coin has no option 'on_timeout'"):
        read_counts(path, on_timeout="drop")


def test_a_reader_of_another_package_that_does_not_load(coins, tmp_path):
    (coins / "coin_reader.py").write_text("class Other: pass")
    with pytest.raises(ReadError, match=r"'coin' of another package .* repair or uninstall"):
        read_counts(toss(tmp_path / "x.jsonl", "heads"))


def test_tasks_of_different_formats_keep_their_names(tmp_path):
    (tmp_path / "x.csv").write_text(TABLE)
    samples = {"doc_id": 0, "resps": [["x"]], "filter": "none", "metrics": ["acc"], "acc": 1}
    (tmp_path / "samples_sums.jsonl").write_text(json.dumps(samples))
    counts = read_counts([tmp_path / "x.csv", tmp_path / "samples_sums.jsonl"])
    assert counts["problem"].values.tolist() == ["a", "sums/0"]
    assert counts["task"].values.tolist() == ["", "sums"]
    apart = read_counts([tmp_path / "x.csv", tmp_path / "samples_sums.jsonl"], by="task")
    assert apart["sums"]["problem"].values.tolist() == ["0"]
