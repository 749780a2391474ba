"""What a campaign promises to those who ask and tell."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from bayes_passk import Campaign, record_of
from bayes_passk.campaign.planning import Planner
from bayes_passk.campaign.schema import attempts, campaigns
from bayes_passk.counts import provenance_of
from bayes_passk.errors import CampaignError, UnknownNameError

PROBLEMS = ["p0", "p1", "p2", "p3"]


def campaign_at(url, problems=PROBLEMS, **options):
    settings = {"budget": 20, "k": 5, "rule": "uniform", "random_seed": 1} | options
    return Campaign.create(url, problems, **settings)


@pytest.fixture
def campaign(store_url):
    return campaign_at(store_url)


def ids(handed_out):
    return [attempt.id for attempt in handed_out]


def execute(campaign, statement):
    return campaign._database.run(lambda connection: connection.execute(statement))


def test_the_whole_budget_is_handed_out_once_and_no_more(campaign):
    handed_out = campaign.ask(100)
    assert len(handed_out) == len(set(ids(handed_out))) == 20
    assert campaign.ask(1) == []
    assert campaign.finished() is None
    campaign.tell_many([{"attempt": i, "passed": False} for i in ids(handed_out)])
    assert campaign.finished() == "budget"
    counts = campaign.counts()
    assert counts["n_attempts"].values.tolist() == [[5, 5, 5, 5]]
    assert counts["n_successes"].values.sum() == 0


def test_the_first_round_tries_every_problem(store_url):
    campaign = campaign_at(store_url, budget=100, rule="variance_reduction")
    assert sorted(attempt.problem for attempt in campaign.ask(4)) == PROBLEMS


def test_more_may_be_asked_for_before_anything_is_told(store_url):
    campaign = campaign_at(store_url, budget=1_000, rule="variance_reduction")
    problems = [attempt.problem for attempt in campaign.ask(300)]
    assert [problems.count(problem) for problem in PROBLEMS] == [75] * 4


def test_a_lease_that_ran_out_is_handed_out_first(store_url):
    campaign = campaign_at(store_url, lease=1e-6)
    first = campaign.ask(3)
    assert campaign.ask(3) == first
    assert campaign.status(estimate=False).handed_out == 3


def test_what_is_given_back_is_handed_out_first(campaign):
    first, second = campaign.ask(3), campaign.ask(2)
    campaign.give_back(ids(first[1:]))
    assert campaign.ask(2) == first[1:]
    assert not set(ids(second)) & set(ids(first))


def test_a_renewed_lease_lasts(campaign):
    taken = campaign.ask(2)
    execute(campaign, attempts.update().where(attempts.c.state == "out").values(lease_until=1.0))
    campaign.renew([taken[0].id])
    assert campaign.ask(1) == [taken[1]]
    assert campaign.ask(1)[0] not in taken


def test_the_first_outcome_stays_whoever_makes_it(store_url):
    campaign = campaign_at(store_url, lease=1e-6)
    late = campaign.ask(1, worker="slow")[0]
    again = campaign.ask(1, worker="fast")[0]
    assert again == late
    assert campaign.tell(again.id, True) == "accepted"
    assert campaign.tell(late.id, False) == "repeated"
    assert campaign.tell(late.id, error="it broke") == "repeated"
    status = campaign.status(estimate=False)
    assert (status.told, status.passed, status.errors) == (1, 1, 0)
    # A told attempt neither comes back nor has a lease to give.
    campaign.give_back([late.id])
    campaign.renew([late.id])
    assert late not in campaign.ask(20)


@pytest.mark.parametrize(
    ("policies", "n", "dropped"),
    [
        ({}, 3, {"error": 1}),
        ({"on_error": "fail", "on_timeout": "drop"}, 3, {"timeout": 1}),
        ({"on_error": "fail"}, 4, {}),
        ({"on_timeout": "drop"}, 2, {"error": 1, "timeout": 1}),
    ],
)
def test_errors_and_timeouts_are_apart_from_failures(store_url, policies, n, dropped):
    campaign = campaign_at(store_url, **policies)
    passed, failed, error, timeout = ids(campaign.ask(4))
    campaign.tell(passed, np.True_)
    campaign.tell(failed, False)
    campaign.tell(error, error="no connection")
    campaign.tell(timeout, error="after 60 s", timeout=True)
    status = campaign.status(estimate=False)
    assert (status.passed, status.failed, status.errors, status.timeouts) == (1, 1, 1, 1)
    assert (status.told, status.outstanding) == (4, 0)
    counts = campaign.counts()
    assert (counts["n_attempts"].values.sum(), counts["n_successes"].values.sum()) == (n, 1)
    assert provenance_of(counts)["dropped"] == dropped


def test_an_error_has_used_its_budget(campaign):
    handed_out = campaign.ask(20)
    campaign.tell_many([{"attempt": i, "error": "x"} for i in ids(handed_out)])
    assert campaign.ask(1) == []
    assert campaign.finished() == "budget"
    assert campaign.status().estimate is None


def test_costs_are_what_the_budget_is_in(store_url):
    table = pd.DataFrame({"problem": ["cheap", "dear"], "cost": [1, 6], "max_attempts": [2, None]})
    campaign = campaign_at(store_url, table, budget=50)
    problems = [attempt.problem for attempt in campaign.ask(100)]
    assert (problems.count("cheap"), problems.count("dear")) == (2, 8)
    assert campaign.status(estimate=False).spent == 50


def test_a_batch_below_the_cost_of_an_attempt_does_not_end_it(store_url):
    table = pd.DataFrame({"problem": ["a", "b"], "cost": [5, 5]})
    campaign = campaign_at(store_url, table, budget=20)
    assert len(campaign.ask(100)) == 4


def test_where_the_rule_asks_for_nothing_more_the_rest_is_still_made(store_url):
    campaign = campaign_at(store_url, pd.DataFrame({"problem": ["a", "b"], "max_attempts": [2, 3]}))
    taken = ids(campaign.ask(100))
    assert len(taken) == 5
    assert campaign.finished() is None
    campaign.give_back(taken[:1])
    assert ids(campaign.ask(100)) == taken[:1]
    campaign.tell_many([{"attempt": i, "passed": False} for i in taken])
    assert campaign.finished() == "rule"


def test_problems_that_are_solved_are_left_alone(store_url):
    campaign = campaign_at(store_url, budget=40, batch=4, rule="until_successes")
    while handed_out := campaign.ask(4):
        outcomes = [{"attempt": a.id, "passed": a.problem != "p3"} for a in handed_out]
        campaign.tell_many(outcomes)
    assert campaign.counts()["n_attempts"].values.tolist() == [[1, 1, 1, 37]]
    assert campaign.finished() == "budget"


def test_counts_made_before_count(store_url):
    table = pd.DataFrame(
        {"problem": PROBLEMS, "n_attempts": [9, 0, 0, 0], "n_successes": [4] + [0] * 3}
    )
    campaign = campaign_at(store_url, table, budget=9)
    campaign.tell_many([{"attempt": i, "passed": True} for i in ids(campaign.ask(9))])
    counts = campaign.counts()
    assert counts["n_attempts"].values.tolist() == [[9, 3, 3, 3]]
    assert counts["n_successes"].values.tolist() == [[4, 3, 3, 3]]
    assert campaign.status(estimate=False).told == 9


def test_nothing_is_handed_out_after_the_deadline(store_url):
    campaign = campaign_at(store_url, deadline=time.time() + 3_600)
    taken = campaign.ask(2)
    assert campaign.finished() is None
    settings = json.loads(campaign.settings.to_json()) | {"deadline": 1.0}
    execute(campaign, campaigns.update().values(settings=json.dumps(settings)))
    assert campaign.ask(1) == []
    assert campaign.finished() == "deadline"
    # What is out may still be told.
    assert campaign.tell(taken[0].id, True) == "accepted"


def test_several_campaigns_of_a_store_are_apart(store_url):
    one, other = campaign_at(store_url, name="one"), campaign_at(store_url, name="other")
    assert Campaign.names(store_url) == ["one", "other"]
    attempt = one.ask(1)[0].id
    with pytest.raises(UnknownNameError, match="of another campaign"):
        other.tell(attempt, True)
    assert other.status(estimate=False).told == 0
    with pytest.raises(UnknownNameError, match="did you mean 'other'"):
        Campaign.open(store_url, "othr")


def test_of_many_that_create_one_name_one_does(store_url):
    def create(number):
        try:
            return campaign_at(store_url).settings
        except CampaignError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(create, range(8)))
    refused = [answer for answer in made if isinstance(answer, str)]
    assert len(refused) == 7
    assert all("is there already" in answer for answer in refused)
    assert Campaign.names(store_url) == ["campaign"]


def test_a_planner_that_died_is_replaced(campaign):
    planner = Planner(campaign._database)
    assert campaign._database.run(lambda c: planner._claimed(c, campaign._row))
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(campaign.ask, 1)
        time.sleep(0.05)
        assert not asked.done()
        execute(campaign, campaigns.update().values(planning_until=1.0))
        assert len(asked.result(timeout=30)) == 1


def test_a_planner_that_was_replaced_queues_nothing(campaign):
    planner = campaign._planner
    standpoint = campaign._standpoint()
    with planner.claim(campaign._row) as held:
        assert held
        execute(campaign, campaigns.update().values(planner="another"))
        assert planner.plan(standpoint, campaign.counts(), lambda: None, lambda: None)
    assert execute(campaign, sa.select(sa.func.count()).select_from(attempts)).scalar() == 0
    assert campaign.finished() is None
    assert campaign._refreshed().finished is None


def test_two_plans_of_a_round_are_one(campaign, store_url):
    def ask(number):
        return Campaign.open(store_url).ask(3)

    with ThreadPoolExecutor(6) as pool:
        taken = [attempt.id for part in pool.map(ask, range(6)) for attempt in part]
    assert len(taken) == len(set(taken)) == 18
    assert campaign.status(estimate=False).spent <= 20


LIGHT = """
import sys
from bayes_passk import Campaign
campaign = Campaign.open(sys.argv[1])
attempt, = campaign.ask(1)
campaign.tell(attempt.id, True)
campaign.status(estimate=False), campaign.counts(), campaign.finished()
print(*[name for name in ("pymc", "arviz", "nutpie", "pytensor", "numba") if name in sys.modules])
"""


def test_asking_and_telling_needs_no_sampler(tmp_path):
    campaign_at(tmp_path / "store.db")
    command = [sys.executable, "-c", LIGHT, str(tmp_path / "store.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == []


@pytest.fixture
def told(tmp_path):
    """A campaign by the default rule, with fits, told to the end or until it is certain enough."""

    def run(**options):
        path = tmp_path / "store.db"
        budget = {"budget": 60, "batch": 20, "rule": "variance_reduction"}
        campaign = campaign_at(path, **budget | options)
        while handed_out := campaign.ask(20):
            outcomes = [{"attempt": a.id, "passed": a.problem in "p1 p2"} for a in handed_out]
            campaign.tell_many(outcomes)
        return path, campaign

    return run


def test_rounds_are_planned_from_fits_that_others_go_on_from(told):
    path, campaign = told(draws=200, tune=200, chains=2)
    status = campaign.status()
    assert status.told == status.handed_out == 60
    assert [row["round"] for row in status.history] == [1, 2, 3]
    assert [row["width"] is None for row in status.history] == [True, False, False]
    assert status.estimate["lower"] < status.estimate["mean"] < status.estimate["upper"]
    assert status.estimate["k"] == 5
    assert status.finished == "budget"
    fit = campaign.fit()
    assert record_of(fit)["variant"] == "beta_binomial"
    other = Campaign.open(path)
    assert other.status().estimate == status.estimate
    assert (other.fit()["posterior"]["alpha"] == fit["posterior"]["alpha"]).all()


def test_it_ends_when_the_interval_is_narrow_enough(told):
    path, campaign = told(width=0.99, draws=200, tune=200, chains=2)
    assert campaign.finished() == "width"
    assert campaign.status(estimate=False).told == 20
    assert Campaign.open(path).ask(1) == []


def test_a_fit_of_nothing_is_refused(campaign):
    with pytest.raises(ValueError, match="at least one attempt"):
        campaign.fit()
    assert campaign.status().estimate is None
