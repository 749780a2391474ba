"""Zip archives: both compressions, damage, bombs."""

import io
import struct
import zipfile
import zlib

import pyarrow as pa
import pytest

from bayes_passk.errors import ReadError
from bayes_passk.readers.archives import Archive

CONTENT = b'{"a": 1}' * 500


def write(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


def write_zstandard(path, name, content, frames=1):
    """A zip with one Zstandard member of several frames, as method 93 has it."""
    size = -(-len(content) // frames)
    codec = pa.Codec("zstd")
    parts = [content[i : i + size] for i in range(0, len(content), size)]
    packed = b"".join(codec.compress(part, asbytes=True) for part in parts)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        file.writestr(name, packed)
    data = bytearray(buffer.getvalue())
    directory = data.index(b"PK\x01\x02")
    for method, crc, real in ((8, 14, 22), (directory + 10, directory + 16, directory + 24)):
        struct.pack_into("<H", data, method, 93)
        struct.pack_into("<L", data, crc, zlib.crc32(content))
        struct.pack_into("<L", data, real, len(content))
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("frames", [1, 3])
def test_zstandard_members_of_one_or_several_frames(tmp_path, frames):
    path = write_zstandard(tmp_path / "x.eval", "a.json", CONTENT, frames)
    with Archive.open(path) as archive:
        assert archive.names == ["a.json"]
        assert archive.read("a.json") == CONTENT


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_last_of_two_members_with_one_name_counts(tmp_path, compression):
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = write(tmp_path / "x.zip", [("a", b"old"), ("a", b"new")], compression)
    with Archive.open(path) as archive:
        assert archive.read("a") == b"new"


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = write(tmp_path / "x.zip", [(str(i), bytes(2**20)) for i in range(100)])
    data = path.read_bytes()
    with Archive.open(path) as archive:
        assert len(archive.read("7")) == 2**20
    first = data.index(b"PK\x01\x02")
    entry = bytearray(data[first : data.index(b"PK\x01\x02", first + 4)])
    struct.pack_into("<L", entry, 24, 2**31 - 1)
    path.write_bytes(data[:first] + bytes(entry) + data[first + len(entry) :])
    with (
        pytest.raises(ReadError, match="refused: 2,251,292,671 bytes in an archive of"),
        Archive.open(path),
    ):
        pass


def test_a_member_that_is_larger_than_it_says_is_not_unpacked_further(tmp_path):
    path = write(tmp_path / "x.zip", [("a", bytes(2**20))])
    data = bytearray(path.read_bytes())
    struct.pack_into("<L", data, data.index(b"PK\x01\x02") + 24, 10)
    path.write_bytes(data)
    with Archive.open(path) as archive, pytest.raises(ReadError, match="'a' is damaged"):
        archive.read("a")


def test_damage_and_encryption_are_named(tmp_path):
    path = write_zstandard(tmp_path / "x.eval", "a.json", CONTENT)
    data = bytearray(path.read_bytes())
    data[50] ^= 0xFF
    path.write_bytes(data)
    with Archive.open(path) as archive, pytest.raises(ReadError, match=r"'a.json' is damaged"):
        archive.read("a.json")
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with Archive.open(path) as archive, pytest.raises(ReadError, match="cannot be unpacked"):
        archive.read("a.json")
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(ReadError, match="cut off or no zip"), Archive.open(path):
        pass
