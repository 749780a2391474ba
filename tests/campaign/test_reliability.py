"""What happens to workers, servers and disks happens here for real."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from bayes_passk import Campaign
from bayes_passk.campaign.schema import SCHEMA_VERSION
from bayes_passk.errors import CampaignError

SWARM = Path(__file__).with_name("swarm.py")
BUDGET = 1_500
PROBLEMS = [f"p{i}" for i in range(40)]


def campaign_at(url, **options):
    settings = {"budget": BUDGET, "k": 10, "rule": "uniform", "random_seed": 1} | options
    return Campaign.create(url, PROBLEMS, **settings)


def swarm(url, folder, workers, kills):
    arguments = [url, "campaign", str(folder), str(workers), str(kills), "7"]
    command = [sys.executable, str(SWARM), *arguments]
    # One thread, since workers are forked.
    one = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | one)


def journaled(folder):
    texts = [path.read_text() for path in folder.glob("journal*")]
    lines = [line.split() for text in texts for line in text.splitlines()]
    # A kill may cut the last line of a journal: it was not acknowledged to anybody.
    return [(line[0], line[1] == "True", line[2]) for line in lines if len(line) == 3]


def check_all_there(campaign, folder):
    crashes = [path.read_text() for path in folder.glob("crash*")]
    assert not crashes
    status = campaign.status(estimate=False)
    assert status.handed_out == status.told == BUDGET
    assert status.finished == "budget"
    assert int(campaign.counts()["n_attempts"].sum()) == BUDGET
    told = stored(campaign)
    assert len(told) == BUDGET
    accepted = [
        (attempt, passed) for attempt, passed, answer in journaled(folder) if answer == "accepted"
    ]
    # Nobody was told "accepted" twice for one attempt, and what was accepted is what is stored.
    assert len(accepted) == len(set(accepted)) == len(dict(accepted))
    assert all(told[attempt] == passed for attempt, passed in accepted)
    assert len(accepted) > 0.8 * BUDGET
    # The rest was stored by workers that were killed before they could write it down.
    assert sum(told.values()) == int(campaign.counts()["n_successes"].sum())


def stored(campaign):
    def read(connection):
        rows = connection.execute(sa.text("select number, state from attempt"))
        return {f"{campaign._row.token}-{number}": state == "passed" for number, state in rows}

    return campaign._database.run(read)


@pytest.mark.slow
def test_sixteen_workers_killed_ten_times_each(store_url, tmp_path):
    campaign = campaign_at(store_url, lease=1.0)
    process = swarm(store_url, tmp_path, workers=16, kills=10)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0
    assert int(output) >= 80
    check_all_there(campaign, tmp_path)


@pytest.mark.slow
def test_workers_wait_while_the_server_restarts(postgresql, tmp_path):
    url = postgresql.new_database()
    campaign = campaign_at(url, lease=5.0)
    process = swarm(url, tmp_path, workers=4, kills=0)
    while campaign.status(estimate=False).told < 100:
        time.sleep(0.05)
    postgresql.stop("immediate")
    time.sleep(1.5)
    postgresql.start()
    process.communicate(timeout=240)
    assert process.returncode == 0
    check_all_there(campaign, tmp_path)


FILL = """
import os, resource, signal, sys
from bayes_passk import Campaign
from bayes_passk.errors import BayesPasskError
campaign = Campaign.open(sys.argv[1])
attempts = campaign.ask(1_000)
if len(sys.argv) > 2:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = os.path.getsize(sys.argv[1] + "-wal") + int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
accepted = 0
try:
    for attempt in attempts:
        accepted += campaign.tell(attempt.id, error="x" * 1_900) == "accepted"
except BayesPasskError as error:
    print(accepted, error)
"""


def fill(path, *limit):
    command = [sys.executable, "-c", FILL, str(path), *map(str, limit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    accepted, _, message = done.stdout.partition(" ")
    return int(accepted), message


def check_opens_with(path, accepted, message):
    assert 0 < accepted < 1_000
    assert "no space left to record this" in message
    campaign = Campaign.open(path)
    assert campaign.status(estimate=False).told == accepted
    assert campaign.status(estimate=False).outstanding == 1_000 - accepted


def test_a_file_that_may_not_grow(tmp_path):
    path = tmp_path / "store.db"
    campaign_at(path).close()
    check_opens_with(path, *fill(path, 200_000))


def test_a_disk_that_is_full(tmp_path):
    mounted = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
    if os.geteuid() or subprocess.run(mounted, capture_output=True).returncode:
        pytest.skip("may not mount a small disk here")
    try:
        path = tmp_path / "store.db"
        campaign_at(path).close()
        accepted, message = fill(path)
        assert "no space left to record this" in message
        # Room to open it: SQLite needs some for its log.
        subprocess.run(["mount", "-o", "remount,size=8m", str(tmp_path)], check=True)
        check_opens_with(path, accepted, message)
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def with_version(campaign, version):
    def write(connection):
        connection.execute(sa.text("update bayes_passk_schema set version = :v"), {"v": version})
        if version == 1:
            connection.execute(sa.text("drop table round"))

    campaign._database.run(write)
    campaign.close()


def test_an_older_store_is_brought_up(store_url):
    before = campaign_at(store_url)
    first = before.ask(5)
    before.tell(first[0].id, True)
    with_version(before, 1)
    campaign = Campaign.open(store_url)
    assert campaign.status(estimate=False).told == 1
    assert [campaign.tell(attempt.id, False) for attempt in first] == [
        "repeated",
        *["accepted"] * 4,
    ]
    assert campaign.status(estimate=False).history == []
    assert len(campaign.ask(BUDGET)) == BUDGET - 5


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (SCHEMA_VERSION + 1, "pip install --upgrade bayes-passk"),
        (0, "schema version 0.*bayes-passk campaign export"),
    ],
)
def test_a_store_of_an_unknown_version_is_refused(store_url, version, message):
    with_version(campaign_at(store_url), version)
    with pytest.raises(CampaignError, match=message):
        Campaign.open(store_url)
