"""JSON as it is found: bare NaN, depth, length, gzip, lines cut off."""

import gzip
import math

import pytest

from bayes_passk.errors import CountsError, OptionError, ReadError
from bayes_passk.readers.jsons import (
    first_record,
    head,
    json_lines,
    kind_of,
    parse_json,
    read_json,
    want,
)
from bayes_passk.readers.records import Notes


def test_tokens_that_python_writes():
    value = parse_json(b'\xef\xbb\xbf{"a": NaN, "b": [Infinity, -Infinity]}')
    assert math.isnan(value["a"])
    assert value["b"] == [math.inf, -math.inf]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{", '{"a": 1' + "0" * 5_000 + "}", b"\xff\xfe{", "", '{"a" 1}']
)
def test_what_is_no_json_is_refused_in_one_line(text):
    with pytest.raises(ReadError, match=r"line 7: cut off or no JSON") as caught:
        parse_json(text, "line 7")
    assert "\n" not in str(caught.value)


def test_a_file_is_opened_by_its_bytes_not_by_its_name(tmp_path):
    plain, packed = tmp_path / "a.json.gz", tmp_path / "b.json"
    plain.write_text('{"a": 1}')
    packed.write_bytes(gzip.compress(b'{"a": 1}'))
    for path in (plain, packed):
        assert read_json(path) == first_record(path) == {"a": 1}
        assert head(path, 4) == '{"a"'


def test_lines(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n\n[1]\n{"a": 2}\n{"a"')
    with pytest.raises(ReadError, match=r"line 3: expected an object, got a list; say on_bad"):
        list(json_lines(path, Notes()))
    notes = Notes()
    assert list(json_lines(path, notes, "skip")) == [(1, {"a": 1}), (4, {"a": 2})]
    assert notes.warnings == [f"{path}: 2 bad lines left out (line 3 is the first)"]
    with pytest.raises(OptionError, match="on_bad_line: expected raise or skip, got 'x'"):
        list(json_lines(path, Notes(), "x"))


def test_a_line_or_a_stream_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("bayes_passk.readers.jsons._MAX_LINE", 100)
    monkeypatch.setattr("bayes_passk.readers.jsons._MAX_INFLATED", 1_000)
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "' + "b" * 200 + '"}')
    with pytest.raises(ReadError, match="line 1 is longer than"):
        list(json_lines(path, Notes()))
    path.write_bytes(gzip.compress(b'{"a": 1}\n' * 1_000))
    with pytest.raises(ReadError, match="inflates to more than"):
        list(json_lines(path, Notes()))
    with pytest.raises(ReadError, match="inflates to more than"):
        read_json(path)


def test_sniffing_never_raises(tmp_path):
    path = tmp_path / "x"
    for data in (b"", b"\x1f\x8b", b"\x1f\x8bgarbage", gzip.compress(b"{}" * 99)[:30], b"\xff" * 9):
        path.write_bytes(data)
        assert first_record(path) == {}
        assert isinstance(head(path), str)
    assert head(tmp_path) == head(tmp_path / "nothing") == ""
    assert first_record(tmp_path) == {}


def test_values_of_the_wrong_kind_are_named():
    with pytest.raises(CountsError, match=r"sample 3: expected 'scores' as an object, got a list"):
        want({"scores": []}, "scores", dict, "sample 3")
    with pytest.raises(CountsError, match=r"sample 3: expected an object, got 7"):
        want(7, "scores", dict, "sample 3")
    assert want({"scores": None}, "scores", dict, "sample 3", {}) == {}
    assert kind_of("x" * 100) == '"' + "x" * 59
