"""Files that appear whole or not at all."""

__all__ = ["whole"]

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from bayes_passk.errors import ReadError


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` and move it there if all goes well.

    Raises
    ------
    ReadError
        The folder does not exist or cannot be written.
    """
    try:
        folder = Path(mkdtemp(prefix=f".{path.name[:40]}.", dir=path.parent))
    except OSError as error:
        raise ReadError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        temporary = folder / path.name
        yield temporary
        if path.is_dir():
            path.rename(folder / "before")
        temporary.replace(path)
    except OSError as error:
        raise ReadError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
