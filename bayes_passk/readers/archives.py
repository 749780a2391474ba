"""Zip archives read in memory, member by member; nothing is ever extracted.

Python's ``zipfile`` reads Zstandard members only from 3.14 on, so the packed bytes are taken as
they stand and inflated by Arrow's codec.
"""

__all__ = ["Archive"]

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from bayes_passk.errors import ReadError

_ZSTANDARD = 93
_LOCAL_HEADER = 30
# A member over a GiB, or an archive that claims to unpack to a thousand times its size, is a bomb.
_MAX_MEMBER = 2**30
_MAX_RATIO = 1000
_SMALL = 2**26


class Archive:
    """An open zip archive.

    Parameters
    ----------
    file : zipfile.ZipFile
        The archive; of members with one name the last counts, as later edits are appended.
    """

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._members = {info.filename: info for info in file.infolist() if not info.is_dir()}

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator["Archive"]:
        """Open an archive.

        Raises
        ------
        ReadError
            It is cut off or no zip, or would unpack to over a thousand times its size.
        """
        try:
            file = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            raise ReadError(f"the archive is cut off or no zip ({error})") from error
        with file:
            total = sum(info.file_size for info in file.infolist())
            if total > max(_SMALL, _MAX_RATIO * path.stat().st_size):
                raise ReadError(
                    f"refused: {total:,} bytes in an archive of {path.stat().st_size:,}, over "
                    f"{_MAX_RATIO} times its size"
                )
            yield cls(file)

    @property
    def names(self) -> list[str]:
        """Names of the members, in the order of the archive."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """Content of a member.

        Raises
        ------
        ReadError
            It is damaged, encrypted, packed in an unknown way, or over 1 GiB.
        """
        info = self._members[name]
        if info.file_size > _MAX_MEMBER:
            raise ReadError(f"member {name!r} is over {_MAX_MEMBER >> 30} GiB")
        try:
            data = self._inflate(info)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error) as error:
            raise ReadError(f"member {name!r} is damaged ({error})") from error
        except (NotImplementedError, RuntimeError) as error:
            raise ReadError(f"member {name!r} cannot be unpacked ({error})") from error
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise ReadError(f"member {name!r} is damaged (its checksum differs)")
        return data

    def _inflate(self, info: zipfile.ZipInfo) -> bytes:
        if info.compress_type != _ZSTANDARD:
            with self._file.open(info) as stream:
                return stream.read(info.file_size + 1)
        packed = pa.py_buffer(self._packed(info))
        with pa.input_stream(packed, compression="zstd") as stream:
            return stream.read(info.file_size + 1)

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        stream = self._file.fp
        if stream is None or info.flag_bits & 1:
            raise NotImplementedError("encrypted")
        stream.seek(info.header_offset)
        header = stream.read(_LOCAL_HEADER)
        if not header.startswith(b"PK\x03\x04"):
            raise zipfile.BadZipFile("no local header")
        # The lengths of name and extra field may differ from those in the directory.
        name, extra = struct.unpack_from("<HH", header, 26)
        stream.seek(name + extra, 1)
        return stream.read(info.compress_size)
