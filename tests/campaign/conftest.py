"""A PostgreSQL server of our own, on loopback, for as long as the tests run."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest


class Server:
    """A cluster in a temporary folder; ended by its own id."""

    def __init__(self, binaries):
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="bayes-passk-postgresql-"))
        self._port = _free_port()
        self._password = secrets.token_hex(8)
        # The server refuses to run as root.
        self._as = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self._as:
            shutil.chown(self._folder, "postgres", "postgres")
        secret = self._folder / "secret"
        secret.write_text(self._password)
        secret.chmod(0o644)
        options = ("-U", "tester", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8")
        self._run("initdb", "-D", self._data, *options)
        self.start()
        self._names = 0

    @property
    def _data(self):
        return self._folder / "data"

    def _run(self, program, *arguments):
        command = [*self._as, str(self._binaries / program), *map(str, arguments)]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=120)

    def start(self):
        settings = f"-p {self._port} -k {self._folder} -c listen_addresses=127.0.0.1"
        self._run(
            "pg_ctl", "-D", self._data, "-w", "-o", settings, "-l", self._folder / "log", "start"
        )

    def stop(self, mode="fast"):
        self._run("pg_ctl", "-D", self._data, "-w", "-m", mode, "stop")

    def url(self, database="postgres"):
        return f"postgresql://tester:{self._password}@127.0.0.1:{self._port}/{database}"

    def new_database(self):
        import psycopg

        self._names += 1
        name = f"campaigns{self._names}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"create database {name}")
        return self.url(name)

    def remove(self):
        self.stop("immediate")
        shutil.rmtree(self._folder, ignore_errors=True)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def postgresql():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not found and on_path is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI needs PostgreSQL: apt-get install postgresql")
        pytest.skip("needs PostgreSQL's programs: apt-get install postgresql")
    server = Server((found[-1] if found else Path(on_path)).parent)
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    return request.getfixturevalue("postgresql").new_database()


@pytest.fixture
def unused_port():
    return _free_port()
