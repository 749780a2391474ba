"""Inspect AI as the maker of attempts, with its own mock model: no network."""

import sqlite3
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_passk import Campaign, read_counts
from bayes_passk.campaign.runners import Ran, problems_of, run_inspect
from bayes_passk.campaign.runners.inspect_ai import _calls
from bayes_passk.errors import CampaignError, MissingExtraError, OptionError, UnknownNameError
from tests.campaign.test_runners_functions import interrupt

pytest.importorskip("inspect_ai")

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, includes, match, scorer
from inspect_ai.solver import generate

# Of Inspect's own parts.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*MemoryObject.*:pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
]

# The number says how often: q/3 passes every third time.
IDS = ["q/1", "q/2", "q/3"]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "store.db"


def task_of(ids, scorer=None, **options):
    samples = [Sample(input=str(i), target="yes", id=i) for i in ids]
    return Task(dataset=samples, solver=generate(), scorer=scorer or includes(), **options)


def counting_model(seen=None):
    seen = Counter() if seen is None else seen

    def answer(messages, tools, tool_choice, config):
        text = messages[-1].text
        seen[text] += 1
        if text.startswith("boom"):
            raise RuntimeError("refused: https://me:hidden@host/")
        good = seen[text] % int(text.rpartition("/")[2]) == 0
        output = ModelOutput.from_content("mockllm/model", "yes" if good else "no")
        output.usage = ModelUsage()  # else it would look for a tokenizer on the network
        return output

    return get_model("mockllm/model", custom_outputs=answer)


def campaign_at(path, problems, budget, **options):
    settings = {"k": 10, "rule": "uniform", "random_seed": 1, "batch": budget} | options
    return Campaign.create(path, problems, budget=budget, **settings)


def details(path):
    connection = sqlite3.connect(path)
    try:
        return [
            d for (d,) in connection.execute("select detail from attempt where state = 'error'")
        ]
    finally:
        connection.close()


def test_every_attempt_is_told_with_its_verdict_and_the_logs_agree(store):
    task = task_of(IDS)
    assert problems_of(task) == IDS
    campaign = campaign_at(store, problems_of(task), 36, batch=12)
    ran = run_inspect(campaign, task, model=counting_model(), log_dir="logs")
    assert ran == Ran(told=36, passed=12 + 6 + 4)
    counts = campaign.counts()
    assert counts["n_attempts"].values.tolist() == [[12, 12, 12]]
    assert counts["n_successes"].values.tolist() == [[12, 6, 4]]
    assert campaign.finished() == "budget"
    read = read_counts("logs")
    assert read["n_attempts"].sel(problem=IDS).values.tolist() == [[12, 12, 12]]
    assert read["n_successes"].sel(problem=IDS).values.tolist() == [[12, 6, 4]]


def test_uneven_attempts_on_ids_that_look_like_patterns(store):
    ids = [f"{name}/1" for name in ("q*", "[q]", "q?", "task:q", "qq", "ünï", "with space")]
    asked = {i: 3 * n + 1 for n, i in enumerate(ids)}
    table = {"problem": ids, "max_attempts": list(asked.values())}
    import pandas as pd

    campaign = campaign_at(store, pd.DataFrame(table), sum(asked.values()))
    seen = Counter()
    ran = run_inspect(campaign, task_of(ids), model=counting_model(seen), log_dir="logs")
    assert ran == Ran(told=70, passed=70)
    assert seen == asked
    assert 1 < len(list((store.parent / "logs").glob("*.eval"))) <= 5


def test_numbers_as_ids(store):
    task = Task(
        dataset=[Sample(input="q/1", target="yes") for _ in range(12)],
        solver=generate(),
        scorer=includes(),
    )
    assert problems_of(task) == [str(i) for i in range(1, 13)]
    campaign = campaign_at(store, problems_of(task), 24)
    assert run_inspect(campaign, task, model=counting_model()) == Ran(told=24, passed=24)


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(1, 300), min_size=1))
def test_calls_add_up_and_are_few(numbers):
    calls = _calls(numbers)
    made = Counter()
    for epochs, problems in calls:
        assert len(problems) == len(set(problems))
        made.update(dict.fromkeys(problems, epochs))
    assert made == numbers
    assert len(calls) <= max(4, max(numbers.values()).bit_length())
    if len(set(numbers.values())) <= 4:
        assert len(calls) == len(set(numbers.values()))


def test_a_sample_that_errs_is_an_error(store):
    campaign = campaign_at(store, ["q/1", "boom"], 12)
    ran = run_inspect(campaign, task_of(["q/1", "boom"]), model=counting_model())
    assert ran == Ran(told=12, passed=6, errors=6)
    assert set(details(store)) == {"RuntimeError('refused: https://me:***@host/')"}


def scoring(value):
    @scorer(metrics=[accuracy()], name="fixed")
    def fixed():
        async def score(state, target):
            return None if value is None else Score(value=value)

        return score

    return fixed()


@pytest.mark.parametrize(
    ("value", "threshold", "passed"),
    [
        *(("C", 1, 4), ("I", 1, 0), ("N", 1, 0), ("P", 1, 0), ("P", 0.5, 4), ("1.0", 1, 4)),
        *((True, 1, 4), (False, 1, 0), (1, 1, 4), (0.0, 1, 0), (0.7, 1, 0), (0.7, 0.6, 4)),
    ],
)
def test_scores_are_read_as_a_reader_of_logs_does(store, value, threshold, passed):
    campaign = campaign_at(store, ["q/1"], 4)
    task = task_of(["q/1"], scoring(value))
    ran = run_inspect(campaign, task, model=counting_model(), threshold=threshold, log_dir="logs")
    assert ran == Ran(told=4, passed=passed)
    read = read_counts("logs", threshold=threshold)
    assert int(read["n_successes"].sum()) == passed


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": 1}, "expected an outcome or a score"),
        (None, "Inspect left no score"),
        ("unsure", "neither passed nor failed"),
        (float("nan"), "no verdict"),
    ],
)
def test_scores_that_say_nothing_are_errors(store, value, said):
    campaign = campaign_at(store, ["q/1"], 4)
    ran = run_inspect(campaign, task_of(["q/1"], scoring(value)), model=counting_model())
    assert ran == Ran(told=4, errors=4)
    assert all(said in detail for detail in details(store))


def test_of_several_scorers_one_is_named(store):
    task = task_of(IDS, [includes(), match()])
    campaign = campaign_at(store, IDS, 6)
    with pytest.raises(OptionError, match="expected one of includes, match"):
        run_inspect(campaign, task, model=counting_model())
    with pytest.raises(UnknownNameError, match="none named 'macth': did you mean 'match'"):
        run_inspect(campaign, task, model=counting_model(), scorer="macth")
    assert run_inspect(campaign, task, model=counting_model(), scorer="match").told == 6


def test_systems_have_models_of_their_own(store):
    import pandas as pd

    table = pd.DataFrame({"system": ["a", "b"], "problem": ["q/1", "q/1"]})
    campaign = campaign_at(store, table, 8)
    task, model = task_of(["q/1"]), counting_model()
    with pytest.raises(OptionError, match="expected a mapping with a model for each of 'a', 'b'"):
        run_inspect(campaign, task, model=model)
    with pytest.raises(OptionError, match=r"expected one for the system '.': known: c"):
        run_inspect(campaign, task, model={"c": model})
    refusal = ModelOutput.from_content("mockllm/model", "no")
    refusal.usage = ModelUsage()
    never = get_model("mockllm/model", custom_outputs=lambda *_: refusal)
    ran = run_inspect(campaign, task, model={"a": model, "b": never})
    assert ran == Ran(told=8, passed=4)
    assert campaign.counts()["n_successes"].values.tolist() == [[4], [0]]


def test_a_problem_that_the_task_has_not(store):
    campaign = campaign_at(store, ["q/1", "q/22"], 4)
    with pytest.raises(UnknownNameError, match="no sample 'q/22'; did you mean 'q/2'"):
        run_inspect(campaign, task_of(IDS), model=counting_model())
    assert len(campaign.ask(4)) == 4


FILE = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def first(n=2):
    return Task(dataset=[Sample(input=f"q/{i + 1}", target="yes") for i in range(n)],
                solver=generate(), scorer=includes())

@task
def second():
    return Task(dataset=[Sample(input="q/1", target="yes", id="only")],
                solver=generate(), scorer=includes())
"""


def test_a_file_with_several_tasks(store, capfd):
    path = store.with_name("tasks.py")
    path.write_text(FILE)
    with pytest.raises(OptionError, match=r"expected one task, got first, second"):
        problems_of(str(path))
    assert problems_of(f"{path}@first", task_args={"n": 3}) == ["1", "2", "3"]
    assert problems_of(f"{path}@second") == ["only"]
    campaign = campaign_at(store, ["1", "2", "3"], 6)
    ran = run_inspect(campaign, f"{path}@first", model=counting_model(), task_args={"n": 3})
    assert ran == Ran(told=6, passed=3)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("task", "model", "message"),
    [
        ("nowhere.py", "mockllm/model", "No inspect tasks were found"),
        ("broken.py", "mockllm/model", "Inspect: "),
        (task_of(["q/1"]), "nosuch/model", "nosuch of model 'nosuch/model' not recognized"),
    ],
)
def test_what_inspect_refuses(store, task, model, message):
    store.with_name("broken.py").write_text("import no_such_module\n")
    campaign = campaign_at(store, ["q/1"], 4)
    with pytest.raises(CampaignError, match=message):
        run_inspect(campaign, task, model=model)
    assert len(campaign.ask(4)) == 4


@pytest.mark.parametrize("name", ["sample_id", "epochs", "limit", "run_samples"])
def test_options_that_the_campaign_decides(store, name):
    with pytest.raises(OptionError, match=f"{name}: .*the campaign decides"):
        run_inspect(None, task_of(IDS), model="mockllm/model", **{name: 1})


def test_without_inspect(store, monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bayes-passk\[inspect\]'"):
        problems_of("tasks.py")


INTERRUPTED = """
import asyncio, json, sys
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import solver
from bayes_passk import Campaign
from bayes_passk.campaign.runners import run_inspect

@solver
def answers():
    async def solve(state, generate):
        if state.sample_id != "quick":
            await asyncio.sleep(1000)
        state.output.completion = "yes"
        return state
    return solve

samples = [Sample(input="?", target="yes", id=name) for name in ("quick", "slow")]
task = Task(dataset=samples, solver=answers(), scorer=includes())
try:
    run_inspect(Campaign.open(sys.argv[1]), task, model="mockllm/model", log_dir="logs")
except KeyboardInterrupt:
    print("stopped", flush=True)
    raise
"""


def test_ctrl_c_loses_nothing(store):
    campaign = campaign_at(store, ["quick", "slow"], 12)
    interrupt([INTERRUPTED, str(store)], campaign, 6)
    status = campaign.status(estimate=False)
    assert (status.told, status.passed, status.errors) == (6, 6, 0)
    task = Task(
        dataset=[Sample(input="q/1", target="yes", id=i) for i in ("quick", "slow")],
        solver=generate(),
        scorer=includes(),
    )
    assert run_inspect(campaign, task, model=counting_model()) == Ran(told=6, passed=6)
    assert campaign.counts()["n_attempts"].values.tolist() == [[6, 6]]
