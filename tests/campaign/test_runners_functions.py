"""Laws of a run, with a function that makes the attempts."""

import asyncio
import functools
import sqlite3
import subprocess
import sys
import threading
import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from bayes_passk import Campaign
from bayes_passk.campaign.runners import Ran, run_function
from bayes_passk.errors import CampaignError, OptionError

PROBLEMS = [f"p{i}" for i in range(6)]


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store.db"


def campaign_at(path, budget=24, **options):
    settings = {"k": 10, "rule": "uniform", "random_seed": 1, "batch": budget} | options
    return Campaign.create(path, PROBLEMS, budget=budget, **settings)


def rows(path, columns="number, state, detail"):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(f"select {columns} from attempt order by number").fetchall()
    finally:
        connection.close()


def passes(attempt):
    return zlib.crc32(attempt.id.encode()) % 3 == 0


async def passes_later(attempt):
    await asyncio.sleep(0)
    return passes(attempt)


class Later:
    async def __call__(self, attempt):
        return await passes_later(attempt)


def check_as_passes_says(path, campaign):
    for number, state, _ in rows(path):
        expected = passes(SimpleNamespace(id=f"{campaign._row.token}-{number}"))
        assert state == ("passed" if expected else "failed")


@pytest.mark.parametrize("concurrency", [1, 3, 50])
@pytest.mark.parametrize(
    "function",
    [passes, passes_later, Later(), functools.partial(passes_later), lambda a: passes_later(a)],
    ids=["plain", "async", "async object", "async partial", "gives an awaitable"],
)
def test_every_attempt_is_told_once_with_its_verdict(store, function, concurrency):
    campaign = campaign_at(store)
    ran = run_function(campaign, function, concurrency=concurrency)
    status = campaign.status(estimate=False)
    assert status.told == status.handed_out == ran.told == 24
    assert (status.passed, status.finished) == (ran.passed, "budget")
    check_as_passes_says(store, campaign)


def test_attempts_are_made_at_a_time_and_never_more(store):
    barrier, lock, now, most = threading.Barrier(4), threading.Lock(), [0], [0]

    def together(attempt):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        barrier.wait(30)  # breaks unless four are here
        with lock:
            now[0] -= 1
        return True

    assert run_function(campaign_at(store), together, concurrency=4).passed == 24
    assert most == [4]


def test_an_async_function_meets_itself_on_one_loop(store):
    seen = set()

    async def together(attempt):
        seen.add(asyncio.get_running_loop())
        if not hasattr(together, "barrier"):
            together.barrier = asyncio.Barrier(6)
        async with asyncio.timeout(30), together.barrier:
            return True

    assert run_function(campaign_at(store), together, concurrency=6).passed == 24
    assert len(seen) == 1


@pytest.mark.parametrize("retries", [0, 2])
def test_an_exception_is_tried_again_and_then_an_error(store, retries):
    tries = []

    def fails(attempt):
        tries.append(attempt.id)
        raise ConnectionError("no route\nto https://me:hidden@host/v1")

    campaign = campaign_at(store, budget=12)
    ran = run_function(campaign, fails, retries=retries, backoff=0)
    assert ran == Ran(told=12, errors=12)
    assert {tries.count(i) for i in tries} == {retries + 1}
    assert {detail for _, _, detail in rows(store)} == {
        "ConnectionError: no route to https://me:***@host/v1"
    }


@pytest.mark.parametrize("concurrency", [1, 5])
def test_an_exception_that_passes_is_no_error(store, concurrency):
    tried = set()

    async def first_fails(attempt):
        if attempt.id not in tried:
            tried.add(attempt.id)
            raise RuntimeError
        return True

    ran = run_function(campaign_at(store), first_fails, concurrency=concurrency, backoff=0)
    assert ran == Ran(told=24, passed=24)


@pytest.mark.parametrize("error", [StopIteration(1), asyncio.CancelledError("own"), TimeoutError()])
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_exceptions_that_mean_something_to_a_loop_are_errors_too(store, kind, error):
    def plain(attempt):
        raise error

    async def later(attempt):
        raise error

    function = plain if kind == "plain" else later
    campaign = campaign_at(store, budget=6)
    assert run_function(campaign, function, timeout=60, backoff=0) == Ran(told=6, errors=6)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "got None"),
        ("True", "got 'True'"),
        (2, "got 2"),
        (0.5, "got 0.5"),
        (float("nan"), "got nan"),
        (10**400, "got 1000"),
        ([True], r"got [True]"),
        ("x" * 1_000, "xxx…"),
        ("sk-abcdefgh12345678", "got 'sk-***'"),
    ],
)
def test_what_is_no_verdict_is_quoted(store, value, said):
    assert run_function(campaign_at(store, budget=6), lambda _: value) == Ran(told=6, errors=6)
    details = {detail for _, _, detail in rows(store)}
    assert len(details) == 1
    [detail] = details
    assert detail.startswith("expected True or False, got ")
    assert said in detail
    assert len(detail) < 200


@pytest.mark.parametrize("value", [True, 1, 1.0, np.True_, np.int64(1)])
def test_what_is_a_verdict(store, value):
    assert run_function(campaign_at(store, budget=6), lambda _: value) == Ran(told=6, passed=6)
    path = store.with_name("second.db")
    assert run_function(campaign_at(path, budget=6), lambda _: not value) == Ran(told=6)


def test_an_async_function_that_takes_too_long_is_cancelled(store):
    cancelled = []

    async def hangs(attempt):
        if attempt.problem != "p0":
            return True
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(attempt.id)
            raise

    campaign = campaign_at(store)
    ran = run_function(campaign, hangs, concurrency=4, timeout=0.2)
    assert ran == Ran(told=24, passed=20, timeouts=4)
    assert len(set(cancelled)) == len(cancelled) == 4
    assert campaign.status(estimate=False).timeouts == 4


def test_a_thread_that_takes_too_long_is_left_behind(store):
    release = threading.Event()

    def hangs(attempt):
        return attempt.problem != "p0" or release.wait(60)

    try:
        ran = run_function(campaign_at(store), hangs, concurrency=4, timeout=0.5)
        assert ran == Ran(told=24, passed=20, timeouts=4)
    finally:
        release.set()


def test_leases_are_renewed_while_attempts_run(store):
    campaign = campaign_at(store, budget=6, lease=1.0)

    def waits_for_renewals(attempt):
        number = int(attempt.id.rpartition("-")[2])
        leases = set()
        while len(leases) < 4:
            leases.add(rows(store, "lease_until")[number])
            threading.Event().wait(0.02)
        return True

    assert run_function(campaign, waits_for_renewals, concurrency=3) == Ran(told=6, passed=6)
    assert {count for (count,) in rows(store, "leases")} == {1}


def test_a_run_waits_for_what_others_hold(store):
    campaign = campaign_at(store)
    [other] = campaign.ask(1)
    held = []
    runner = threading.Thread(
        target=lambda: held.append(run_function(Campaign.open(store), passes)), daemon=True
    )
    runner.start()
    while campaign.status(estimate=False).told < 23:
        threading.Event().wait(0.02)
    assert runner.is_alive()
    campaign.tell(other.id, False)
    runner.join(60)
    assert [ran.told for ran in held] == [23]


def test_a_hundred_errors_in_a_row_stop_it(store):
    campaign = campaign_at(store, budget=600)

    def unlucky(attempt):
        raise PermissionError("401")

    with pytest.raises(CampaignError, match=r"100 attempts in a row.*PermissionError: 401"):
        run_function(campaign, unlucky, concurrency=8, retries=0)
    status = campaign.status(estimate=False)
    assert 100 <= status.errors < 120
    # The rest can be had at once.
    assert len(campaign.ask(600)) == 600 - status.told


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_exit_stops_it_and_gives_the_rest_back(store, kind):
    def leaves(attempt):
        sys.exit("no model here")

    async def leaves_later(attempt):
        leaves(attempt)

    campaign = campaign_at(store)
    with pytest.raises(SystemExit, match="no model here"):
        run_function(campaign, leaves if kind == "plain" else leaves_later, concurrency=3)
    assert campaign.status(estimate=False).told == 0
    assert len(campaign.ask(24)) == 24


def test_a_notebook_has_a_loop_of_its_own(store):
    async def cell():
        return run_function(campaign_at(store), passes_later, concurrency=3)

    assert asyncio.run(cell()).told == 24


class Losing:
    """A campaign whose store is lost once five outcomes were told."""

    lease = 60.0

    def __init__(self):
        self.told = []

    def ask(self, n, worker=None):
        return [SimpleNamespace(id=f"a{i}", system="s", problem="p") for i in range(n)]

    def tell_many(self, outcomes):
        if len(self.told) >= 5:
            raise CampaignError("the store is gone")
        self.told += outcomes
        return SimpleNamespace(rejected=[])

    def give_back(self, attempts):
        raise AssertionError("not asked: the store does not answer")

    renew = give_back

    def finished(self):
        return None


def test_a_store_that_is_lost_ends_the_run():
    campaign = Losing()
    with pytest.raises(CampaignError, match="the store is gone"):
        run_function(campaign, passes)
    assert len(campaign.told) == 5


def test_an_attempt_of_nobody_ends_the_run(store):
    campaign = campaign_at(store)

    def wiped(attempt):
        connection = sqlite3.connect(store)
        with connection:
            connection.execute("update attempt set state = 'queued', leases = 0")
        connection.close()
        return True

    with pytest.raises(CampaignError, match="was never handed out"):
        run_function(campaign, wiped)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concurrency": 0}, "concurrency: expected a whole number from 1 on, got 0"),
        ({"concurrency": True}, "concurrency"),
        ({"retries": -1}, "retries: expected a whole number from 0 on, got -1"),
        ({"retries": 1.5}, "retries"),
        ({"timeout": 0}, "timeout: expected seconds above 0, got 0"),
        ({"timeout": "5"}, "timeout"),
        ({"backoff": -1}, "backoff: expected seconds from 0 on, got -1"),
        ({"backoff": float("nan")}, "backoff"),
        ({"function": 3}, "function: expected a callable, got 3"),
    ],
)
def test_options_that_cannot_be(store, options, message):
    campaign = campaign_at(store)
    function = options.pop("function", passes)
    with pytest.raises(OptionError, match=message):
        run_function(campaign, function, **options)


INTERRUPTED = """
import asyncio, sys, threading, zlib
from bayes_passk import Campaign
from bayes_passk.campaign.runners import run_function

def slow(attempt):
    return attempt.problem in ("p0", "p1")

def plain(attempt):
    if slow(attempt):
        threading.Event().wait()
    return zlib.crc32(attempt.id.encode()) % 3 == 0

async def later(attempt):
    if slow(attempt):
        await asyncio.Event().wait()
    return zlib.crc32(attempt.id.encode()) % 3 == 0

campaign = Campaign.open(sys.argv[1])
try:
    run_function(campaign, {"plain": plain, "async": later}[sys.argv[2]], concurrency=9)
except KeyboardInterrupt:
    print("stopped", flush=True)
    raise
"""


def interrupt(arguments, campaign, n_told):
    """Run a script on a campaign, send it Ctrl-C once it told so many, and see it end."""
    process = subprocess.Popen(
        [sys.executable, "-c", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while campaign.status(estimate=False).told < n_told:
            assert process.poll() is None, process.communicate()
            threading.Event().wait(0.02)
        process.send_signal(2)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert output == "stopped\n", errors
    assert process.returncode in (-2, 130)


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_ctrl_c_loses_nothing(store, kind):
    campaign = campaign_at(store)
    interrupt([INTERRUPTED, str(store), kind], campaign, 16)
    status = campaign.status(estimate=False)
    assert status.told == 16
    # What was under way was given back: the leases of 900 s need not run out.
    assert run_function(campaign, passes, concurrency=4).told == 8
    check_as_passes_says(store, campaign)
    assert {count for (count,) in rows(store, "leases")} == {1, 2}
