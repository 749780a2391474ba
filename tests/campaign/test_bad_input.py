"""What people get wrong, and what they are told; a password is never repeated."""

import datetime
import os
import sqlite3

import numpy as np
import pytest

from bayes_passk import BayesPasskError, Campaign
from bayes_passk.campaign import database
from bayes_passk.errors import CampaignError, OptionError, UnknownNameError


def campaign_at(url, problems=("a", "b"), **options):
    settings = {"budget": 20, "k": 5, "rule": "uniform", "random_seed": 1} | options
    return Campaign.create(url, list(problems), **settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": -1}, "budget: expected a number above 0, got -1"),
        ({"budget": 0}, "budget: expected a number above 0, got 0"),
        ({"budget": 2.5}, "budget: expected a whole number of attempts, got 2.5"),
        ({"budget": float("nan")}, "budget: expected a number above 0, got nan"),
        ({"budget": "20"}, "budget: expected a number above 0, got '20'"),
        ({"budget": True}, "budget: expected a number above 0, got True"),
        ({"k": 0}, "k: expected whole numbers from 1"),
        ({"k": 1.5}, "k: expected whole numbers from 1"),
        ({"k": [1, 2]}, "k: expected one number"),
        ({"batch": 0}, "batch: expected a number above 0"),
        ({"lease": -5}, "lease: expected a number above 0"),
        ({"width": "narrow"}, "width: expected a number above 0, got 'narrow'"),
        ({"deadline": "tomorrow"}, "deadline: expected a time, got 'tomorrow'"),
        ({"ci_prob": 90}, "ci_prob: expected a number between 0 and 1, got 90"),
        ({"on_error": "ignore"}, "on_error: expected drop or fail, got 'ignore'"),
        ({"on_timeout": None}, "on_timeout: expected fail or drop, got None"),
        ({"target": "bench"}, "target: expected one of .* did you mean 'benchmark'"),
        ({"target": "difference"}, "target difference: expected two systems, got 1"),
        ({"rule": "unifrm"}, "no rule 'unifrm': did you mean 'uniform'"),
        ({"variant": "beta_binomal"}, "did you mean 'beta_binomial'"),
        ({"variant": "grouped", "by": "level"}, "no covariates to go by"),
        ({"shape": 3}, "variant beta_binomial has no option 'shape'"),
        ({"draws": object()}, "options of the variant: expected plain values"),
        ({"random_seed": -1}, "random_seed: expected a whole number of at least 0, got -1"),
        ({"random_seed": "x"}, "random_seed: expected a whole number of at least 0, got 'x'"),
        ({"name": ""}, "name: expected a text, got ''"),
        ({"name": "\ud800"}, "name: expected a text, got"),
        ({"name": 5}, "name: expected a text, got 5"),
    ],
)
def test_a_wrong_setting_is_said_and_makes_no_store(tmp_path, options, message):
    with pytest.raises((OptionError, UnknownNameError), match=message):
        campaign_at(tmp_path / "store.db", **options)
    assert list(tmp_path.iterdir()) == []


def test_what_numpy_and_datetime_give_is_taken(tmp_path):
    deadline = datetime.datetime(2999, 1, 1, tzinfo=datetime.UTC)
    campaign = campaign_at(
        tmp_path / "store.db",
        budget=np.int64(20),
        k=np.int64(5),
        batch=np.int32(4),
        lease=np.float32(9),
        random_seed=np.int64(1),
        deadline=deadline,
    )
    assert campaign.settings.deadline == deadline.timestamp()
    assert len(campaign.ask(np.int64(3))) == 3


@pytest.mark.parametrize("n", [0, -1, 1.5, "3", True, None])
def test_a_number_of_attempts_is_whole(tmp_path, n):
    campaign = campaign_at(tmp_path / "store.db")
    with pytest.raises(OptionError, match="n: expected a whole number above 0"):
        campaign.ask(n)


def test_two_campaigns_of_the_same_name(store_url):
    before = campaign_at(store_url, budget=20)
    with pytest.raises(CampaignError, match="'campaign' is there already: open it"):
        campaign_at(store_url, budget=30)
    assert before.status(estimate=False).budget == 20


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"passed": None}, "expected one of passed and error"),
        ({"passed": True, "error": "both"}, "expected one of passed and error"),
        ({"passed": True, "timeout": True}, "expected one of passed and error"),
        ({"passed": "yes"}, "expected passed to be true or false, got 'yes'"),
        ({"passed": 1}, "expected passed to be true or false, got 1"),
        ({"error": 5}, "expected error to be a text, got 5"),
        ({"timeout": "no", "error": "x"}, "expected timeout to be true or false, got 'no'"),
    ],
)
def test_an_outcome_that_is_none(tmp_path, told, message):
    campaign = campaign_at(tmp_path / "store.db")
    attempt = campaign.ask(1)[0].id
    with pytest.raises(OptionError, match=message):
        campaign.tell(attempt, **told)
    assert campaign.status(estimate=False).told == 0
    assert campaign.tell(attempt, True) == "accepted"


def test_attempts_that_nobody_was_given(store_url):
    campaign = campaign_at(store_url)
    token = campaign.ask(1)[0].id.rpartition("-")[0]
    for attempt in ("", "x", "x-1", f"{token}-", f"{token}-x", f"{token}-٣", f"{token}--1"):
        with pytest.raises(UnknownNameError, match="attempt"):
            campaign.tell(attempt, True)
    # Planned, but not handed out; and never planned.
    for number in (1, 10**6, 10**14):
        with pytest.raises(UnknownNameError, match="was never handed out"):
            campaign.tell(f"{token}-{number}", True)
    with pytest.raises(OptionError, match="expected an object with attempt"):
        campaign.tell(7, True)
    with pytest.raises(UnknownNameError, match="no attempt 'x'"):
        campaign.give_back(["x"])
    with pytest.raises(UnknownNameError, match="no attempt 'x'"):
        campaign.renew(["x"])


def test_of_many_outcomes_the_wrong_ones_are_rejected(store_url):
    campaign = campaign_at(store_url)
    first, second = (attempt.id for attempt in campaign.ask(2))
    told = campaign.tell_many(
        [
            {"attempt": first, "passed": True},
            "nonsense",
            None,
            {},
            {"attempt": "\ud800" * 200, "passed": True},
            {"attempt": first, "passed": False},
            {"attempt": second, "error": "null \0 and half a pair \ud800 " + 5_000 * "x"},
        ]
    )
    assert (told.accepted, told.repeated) == (2, 1)
    assert [row["attempt"] for row in told.rejected] == [None, None, None, 80 * "\\ud800"]
    assert campaign.status(estimate=False).errors == 1
    assert campaign.ask(1, worker="\0\ud800")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hidden@127.0.0.1:{port}/none",
        "postgres://me@127.0.0.1:{port}/none?password=hidden",
        "postgresql+psycopg://me:hid%64en@127.0.0.1:{port}/none?sslpassword=hidden",
        "postgresql://me:hidden@127.0.0.1:port/none",
        "postgresql://me:x@hidden@127.0.0.1:{port}/none",
        "postgresql://me:hidden@[::1/none",
        "postgresql:/me:hidden@127.0.0.1/none",
        "postgresq://me:hidden@127.0.0.1/none",
        "mysql://me:hidden@127.0.0.1/none",
        "me:hidden@127.0.0.1/none",
        "host=127.0.0.1 password=hidden",
    ],
)
def test_an_address_that_cannot_be_opened_is_said_without_its_password(
    monkeypatch, unused_port, tmp_path, url
):
    monkeypatch.setattr(database, "_PATIENCE_TO_OPEN", 0.1)
    monkeypatch.chdir(tmp_path)
    for open_it in (Campaign.open, Campaign.names, campaign_at):
        with pytest.raises(CampaignError, match=r"cannot be used|expected a file") as caught:
            open_it(url.format(port=unused_port))
        assert "hidden" not in str(caught.value)
        assert "hid%64en" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_password_is_not_repeated(postgresql):
    right = postgresql.url()
    user, _, rest = right.partition("://tester:")[2].partition("@")
    wrong = f"postgresql://tester:{user[::-1]}wrong@{rest}"
    with pytest.raises(CampaignError, match="authentication failed") as caught:
        Campaign.open(wrong)
    assert user[::-1] not in str(caught.value)
    with pytest.raises(CampaignError, match="does not exist") as caught:
        Campaign.open(postgresql.url("no_such_database"))
    assert user not in str(caught.value)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", ":memory:", ""])
def test_a_store_in_memory_would_be_lost(url):
    with pytest.raises(CampaignError, match="in memory nothing would last"):
        campaign_at(url)


def test_files_that_are_no_store(tmp_path):
    with pytest.raises(CampaignError, match="found no such file"):
        Campaign.open(tmp_path / "none.db")
    with pytest.raises(CampaignError, match="unable to open"):
        campaign_at(tmp_path / "no folder" / "store.db")
    with pytest.raises(CampaignError, match="unable to open"):
        Campaign.open(tmp_path)
    (tmp_path / "text.db").write_text("no store " * 1_000)
    with pytest.raises(CampaignError, match="not a database"):
        Campaign.open(tmp_path / "text.db")
    with pytest.raises(UnknownNameError, match="no campaign named 'campaign'"):
        Campaign.open(_empty(tmp_path / "empty.db"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_may_not_be_written(tmp_path):
    path = tmp_path / "store.db"
    campaign_at(path).close()
    path.chmod(0o400)
    with pytest.raises(BayesPasskError, match="readonly"):
        Campaign.open(path)


def _empty(path):
    sqlite3.connect(path).close()
    path.touch()
    return path
