"""Commands that answer, err, die, hang and talk nonsense: real processes, all of them."""

import os
import random
import shlex
import sqlite3
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import pytest

from bayes_passk import Campaign
from bayes_passk.campaign.runners import Ran, run_command
from bayes_passk.errors import CampaignError, OptionError
from tests.campaign.test_runners_functions import interrupt

PROBLEMS = [f"p{i}" for i in range(6)]

# Reads attempts as `a`; what follows answers one with `say`, or does something else.
LOOP = """
import json, os, subprocess, sys, time, zlib
def say(passed, **more):
    print(json.dumps({"attempt": a["attempt"], "passed": passed} | more))
def passes():
    return zlib.crc32(a["attempt"].encode()) % 3 == 0
for line in sys.stdin:
    a = json.loads(line)
    bad = a["problem"] == "p0"
"""


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def program(tmp_path):
    def write(body, before=""):
        path = tmp_path / "program.py"
        indented = "".join(f"    {line}\n" for line in body.splitlines())
        path.write_text(before + LOOP + indented)
        return [sys.executable, str(path)]

    return write


def campaign_at(path, budget=24, **options):
    settings = {"k": 10, "rule": "uniform", "random_seed": 1, "batch": budget} | options
    return Campaign.create(path, PROBLEMS, budget=budget, **settings)


def details(path, state="error"):
    connection = sqlite3.connect(path)
    try:
        query = "select detail from attempt where state = ?"
        return [detail for (detail,) in connection.execute(query, [state])]
    finally:
        connection.close()


def is_gone(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("concurrency", [1, 3])
def test_every_attempt_is_told_once_with_its_verdict(store, program, tmp_path, concurrency):
    campaign = campaign_at(store)
    command = program(
        "open('made', 'a').write(f\"{a['attempt']} {os.getpid()}\\n\")\nsay(passes())",
        before=f"import os; os.chdir({str(tmp_path)!r})\n",
    )
    ran = run_command(campaign, shlex.join(command), concurrency=concurrency)
    made = dict(line.split() for line in (tmp_path / "made").read_text().splitlines())
    assert len(made) == ran.told == campaign.status(estimate=False).told == 24
    assert ran.passed == sum(zlib.crc32(attempt.encode()) % 3 == 0 for attempt in made)
    # Each process was kept, and was told to end.
    assert 1 <= len(set(made.values())) <= concurrency
    assert all(is_gone(process) for process in made.values())


def test_problems_of_any_name_arrive_whole(store, program):
    names = ["two words", 'quote"s', "ünïcødé ☃", "back\\slash", "$(touch here)", "; ls", "\u2028"]
    campaign = Campaign.create(store, names, budget=7, k=2, rule="uniform", batch=7)
    ran = run_command(campaign, program(f"say(a['problem'] in {names!r})"))
    assert ran == Ran(told=7, passed=7)


def test_errors_that_a_command_tells_are_kept_without_secrets(store, program):
    answer = "print(json.dumps({'attempt': a['attempt'], 'error': 'bad key sk-abcdefgh123'}))"
    ran = run_command(campaign_at(store, 6), program(answer))
    assert ran == Ran(told=6, errors=6)
    assert set(details(store)) == {"bad key sk-***"}


@pytest.mark.parametrize(("retries", "concurrency"), [(0, 1), (2, 1), (1, 3)])
def test_a_command_that_dies_of_a_problem(store, program, tmp_path, retries, concurrency):
    died = (
        "if bad:\n"
        "    open('died', 'a').write(a['attempt'] + '\\n')\n"
        "    print('first line', file=sys.stderr)\n"
        "    sys.exit('token=0123456789 was refused')\n"
        "say(True)"
    )
    campaign = Campaign.create(
        store, ["p1", "p0", "p2"], budget=9, k=2, rule="uniform", batch=9, random_seed=1
    )
    command = program(died, before=f"import os; os.chdir({str(tmp_path)!r})\n")
    ran = run_command(campaign, command, retries=retries, concurrency=concurrency, backoff=0)
    assert ran == Ran(told=9, passed=6, errors=3)
    assert set(details(store)) == {"the command ended, exit code 1: token=*** was refused"}
    tries = (tmp_path / "died").read_text().split()
    assert {tries.count(attempt) for attempt in tries} == {retries + 1}


def test_a_command_that_is_killed_says_by_which_signal(store, program):
    campaign = Campaign.create(store, ["p1", "p0"], budget=4, k=2, rule="uniform", batch=4)
    killed = "if bad:\n    os.kill(os.getpid(), 9)\nsay(True)"
    assert run_command(campaign, program(killed), retries=0) == Ran(told=4, passed=2, errors=2)
    assert set(details(store)) == {"the command ended, signal 9"}


def test_a_death_that_does_not_come_back_is_no_error(store, program, tmp_path):
    dies_once = (
        "if a['attempt'] not in os.listdir('.'):\n"
        "    open(a['attempt'], 'w').close()\n"
        "    if bad: sys.exit(3)\n"
        "say(True)"
    )
    command = program(dies_once, before=f"import os; os.chdir({str(tmp_path)!r})\n")
    ran = run_command(campaign_at(store), command, retries=1, backoff=0)
    assert ran == Ran(told=24, passed=24)


def test_a_command_may_end_after_each_answer(store, program):
    campaign = campaign_at(store)
    ran = run_command(campaign, program("say(True)\nbreak"), retries=0, concurrency=2)
    assert ran == Ran(told=24, passed=24)


def test_the_last_answer_may_lack_its_newline(store, program):
    answer = "print(json.dumps({'attempt': a['attempt'], 'passed': True}), end='')\nbreak"
    assert run_command(campaign_at(store, 6), program(answer)) == Ran(told=6, passed=6)


NONSENSE = [
    ("print('hello')", "'hello'"),
    ("print()", "''"),
    ("print('{\"passed\": tr')", "'{\"passed\": tr'"),
    ("print('[' * 100_000)", "[[[[…"),
    ("print(9 * '9' * 5_000)", "9999…"),
    ("print('3')", "'3'"),
    ("say('yes')", '"passed": "yes"'),
    ("say(1)", '"passed": 1'),
    ("say(None)", '"passed": null'),
    ("say(True, error='both')", '"error": "both"'),
    ("print(json.dumps({'attempt': 'x-1', 'passed': True}))", '"attempt": "x-1"'),
    ("print(json.dumps({'attempt': ['x'], 'passed': True}))", '"attempt": ["x"]'),
    ("print(json.dumps({'passed': True}))", '{"passed": true}'),
    ("sys.stdout.buffer.write(b'\\xff\\xfe\\x00\\x1b[2J\\n')", "[2J"),
]


@pytest.mark.parametrize(("answer", "said"), NONSENSE)
def test_nonsense_is_quoted_and_the_run_goes_on(store, program, answer, said):
    campaign = campaign_at(store)
    ran = run_command(campaign, program(f"if bad:\n    {answer}\nelse:\n    say(True)"))
    assert ran == Ran(told=24, passed=20, errors=4)
    for detail in details(store):
        assert detail.startswith("the command answered ")
        assert said in detail
        assert 'expected {"attempt": ..., "passed": true or false}' in detail
        assert detail.isprintable()
        assert len(detail) < 250


def test_any_bytes_are_nonsense_at_most(store, tmp_path, program):
    rng = random.Random(5)
    lines = [rng.randbytes(rng.randrange(200)).replace(b"\n", b"") for _ in range(40)]
    body = f"if n % 2: sys.stdout.buffer.write({lines!r}[n // 2] + b'\\n')\nelse: say(True)\nn += 1"
    ran = run_command(campaign_at(store, 60), program(body, before="n = 0\n"))
    assert ran == Ran(told=60, passed=30, errors=30)


def test_a_greeting_costs_one_attempt_and_late_or_double_answers_none(store, program):
    ran = run_command(
        campaign_at(store), program("say(True)\nsay(False)", before="print('model loaded')\n")
    )
    assert ran == Ran(told=24, passed=23, errors=1)
    assert "'model loaded'" in details(store)[0]


def test_lines_have_a_bound(store, program):
    ran = run_command(
        campaign_at(store), program("if bad: print('y' * 30_000_000)\nelse: say(True)")
    )
    assert ran == Ran(told=24, passed=20, errors=4)
    assert all("'yyy" in detail and len(detail) < 250 for detail in details(store))


def test_a_command_that_hangs_is_killed_with_what_it_started(store, program, tmp_path):
    hangs = (
        "if bad:\n"
        "    child = subprocess.Popen(['sleep', '1000'])\n"
        "    open('pids', 'a').write(f'{os.getpid()} {child.pid}\\n')\n"
        "    time.sleep(1000)\n"
        "say(True)"
    )
    command = program(hangs, before=f"import os; os.chdir({str(tmp_path)!r})\n")
    campaign = campaign_at(store)
    ran = run_command(campaign, command, timeout=2, concurrency=4)
    assert ran == Ran(told=24, passed=20, timeouts=4)
    assert set(details(store, "timeout")) == {"timed out"}
    started = (tmp_path / "pids").read_text().split()
    assert len(started) == 8
    assert all(is_gone(process) for process in started)


def test_a_process_left_behind_does_not_keep_the_dead_alive(store, program):
    campaign = Campaign.create(store, ["p1", "p0"], budget=4, k=2, rule="uniform", batch=4)
    leaves = "if bad:\n    subprocess.Popen(['sleep', '1000'])\n    os._exit(7)\nsay(True)"
    assert run_command(campaign, program(leaves), retries=0) == Ran(told=4, passed=2, errors=2)
    assert set(details(store)) == {"the command ended, exit code 7"}


def test_an_output_that_is_closed_is_an_end(store, program):
    campaign = Campaign.create(store, ["p1", "p0"], budget=4, k=2, rule="uniform", batch=4)
    closes = "if bad:\n    os.close(1)\n    time.sleep(1000)\nsay(True)"
    assert run_command(campaign, program(closes), retries=0) == Ran(told=4, passed=2, errors=2)
    assert set(details(store)) == {"the command ended, its output closed"}


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_command_that_dies_at_once_stops_the_run(store, concurrency):
    campaign = campaign_at(store)
    command = [sys.executable, "-c", "import sys; sys.exit('no GPU found')"]
    with pytest.raises(CampaignError, match=r"without an answer.*exit code 1: no GPU found$"):
        run_command(campaign, command, concurrency=concurrency, backoff=0, retries=2)
    status = campaign.status(estimate=False)
    assert status.told <= 1
    assert len(campaign.ask(24)) == 24 - status.told


def test_standard_error_is_passed_on(store, program, capfd):
    run_command(
        campaign_at(store, 6), program("print('saw', a['problem'], file=sys.stderr)\nsay(1>0)")
    )
    captured = capfd.readouterr()
    assert captured.out == ""
    assert sorted(captured.err.split("\n")) == ["", *(f"saw {name}" for name in PROBLEMS)]


def test_no_shell_runs_it(store, tmp_path):
    campaign = campaign_at(store, 6)
    ran = run_command(campaign, f"echo $(touch {tmp_path}/made) > {tmp_path}/made; ls")
    assert ran == Ran(told=6, errors=6)
    assert all("the command answered '$(touch " in detail for detail in details(store))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("command", ["no-such-program --x", ["no-such-program"], ["/"], ["a\0b"]])
def test_a_command_that_cannot_start(store, command):
    campaign = campaign_at(store)
    with pytest.raises(CampaignError, match=r"command '.*': cannot start: \w+"):
        run_command(campaign, command)
    assert len(campaign.ask(24)) == 24


@pytest.mark.parametrize("command", ["", [], "  ", [""], "unbalanced 'quote"])
def test_no_command(store, command):
    campaign = campaign_at(store)
    with pytest.raises(OptionError, match="command: "):
        run_command(campaign, command)


INTERRUPTED = """
import sys
from bayes_passk import Campaign
from bayes_passk.campaign.runners import run_command
try:
    run_command(Campaign.open(sys.argv[1]), sys.argv[2], concurrency=9)
except KeyboardInterrupt:
    print("stopped", flush=True)
    raise
"""


def test_ctrl_c_loses_nothing_and_ends_the_processes(store, program, tmp_path):
    slow = (
        "open('pids', 'a').write(f'{os.getpid()}\\n')\n"
        "if bad or a['problem'] == 'p1': time.sleep(1000)\n"
        "say(passes())"
    )
    command = program(slow, before=f"import os; os.chdir({str(tmp_path)!r})\n")
    campaign = campaign_at(store)
    interrupt([INTERRUPTED, str(store), shlex.join(command)], campaign, 16)
    assert all(is_gone(process) for process in (tmp_path / "pids").read_text().split())
    assert campaign.status(estimate=False).told == 16
    assert run_command(campaign, program("say(passes())"), concurrency=2).told == 8
    assert campaign.status(estimate=False).told == 24


def test_no_process_outlives_a_runner_that_is_killed(store, program, tmp_path):
    # It sees the end of its input.
    body = "open('pids', 'a').write(f'{os.getpid()}\\n')\nsay(passes())"
    command = program(body, before=f"import os; os.chdir({str(tmp_path)!r})\n")
    campaign = campaign_at(store)
    campaign.ask(1)  # so that the run waits at the end
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(store), shlex.join(command)])
    while campaign.status(estimate=False).told < 23:
        assert process.poll() is None
        threading.Event().wait(0.02)
    os.kill(process.pid, 9)
    process.wait()
    for child in set((tmp_path / "pids").read_text().split()):
        while not is_gone(child):
            threading.Event().wait(0.02)
