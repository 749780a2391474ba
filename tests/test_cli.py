"""The command line as scripts call it: output, exit codes, and nothing half written."""

import json
import os
import subprocess
import sys

import pytest

from bayes_passk.cli import main
from bayes_passk.readers import READERS


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "counts.csv"
    rows = [f"{s},p{i},{20 + i % 2},{c}" for s in "AB" for i, c in enumerate([0, 0, 1, 3, 9, 20])]
    path.write_text("system,problem,n,c\n" + "\n".join([*rows, "A,p6,0,0", "B,p6,20,5"]) + "\n")
    return path


@pytest.fixture(scope="module")
def saved(table):
    path = table.with_name("fit.nc")
    run("fit", table, "-o", path, "--seed", 1)
    return path


def run(*arguments):
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code or 0
    return 0


def as_json(capsys, *arguments):
    capsys.readouterr()
    assert run(*arguments, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


def test_counts(capsys, table):
    said = as_json(capsys, "counts", table)
    assert said["format"] == "tables"
    assert said["systems"] == ["A", "B"]
    assert (said["n_problems"], said["n_attempts"], said["n_successes"]) == (7, 266, 71)
    assert said["dropped"] == {}
    assert {"system": "B", "problem": "p1", "n_attempts": 21, "n_successes": 0} in said["counts"]
    assert any("'p6'" in line for line in said["warnings"])
    assert run("counts", table) == 0
    out, err = capsys.readouterr()
    assert "without attempts" in out
    assert "read as tables" in err
    assert run("counts", table, "--format", "csv") == 0
    assert capsys.readouterr().out.startswith("system,problem,n_attempts,n_successes\nA,p0,20,0\n")


def test_policy_options_reach_the_reader(capsys, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("problem,attempt,score\na,0,0.5\na,1,\na,1,1\n")
    assert run("counts", path) == 1
    assert "given twice" in capsys.readouterr().err
    said = as_json(
        capsys,
        "counts",
        path,
        "--on-duplicate",
        "keep_all",
        "--on-error",
        "fail",
        "--threshold",
        0.5,
    )
    assert (said["n_attempts"], said["n_successes"]) == (3, 2)


def test_every_option_of_a_reader_is_one_of_the_command(capsys):
    assert run("counts", "--help") == 0
    said = capsys.readouterr().out
    for reader in READERS:
        for name in reader.options:
            assert f"--{name.replace('_', '-')} " in said, (reader.name, name)


def test_the_list_of_problems(capsys, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("problem,passed\na,1\na,0\n")
    (tmp_path / "all.txt").write_text("a\nb c\n\nd\n")
    for given, known in (("a,b", ["a", "b"]), (tmp_path / "all.txt", ["a", "b c", "d"])):
        said = as_json(capsys, "counts", path, "--problems", given, "--on-duplicate", "keep_all")
        assert [row["problem"] for row in said["counts"]] == known
    (tmp_path / "all.txt").write_bytes(b"\xff\xfe\x00")
    assert run("counts", path, "--problems", tmp_path / "all.txt") == 1
    assert "cannot be read as ids" in capsys.readouterr().err


def test_tasks_apart(capsys, tmp_path):
    for task, values in (("one", [1.0]), ("two", [1.0, 0.0])):
        lines = [
            {
                "doc_id": i,
                "doc": {},
                "target": "",
                "resps": [[""]],
                "acc": value,
                "metrics": ["acc"],
            }
            for i, value in enumerate(values)
        ]
        path = tmp_path / f"samples_{task}_2026-01-05T10-00-00.000001.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    together = as_json(capsys, "counts", tmp_path)
    assert [row["problem"] for row in together["counts"]] == ["one/0", "two/0", "two/1"]
    assert [file["n_attempts"] for file in together["files"]] == [1, 2]
    assert together["rules"] == ["passed: acc >= 1"]
    apart = as_json(capsys, "counts", tmp_path, "--by", "task")
    assert [(row["task"], row["problem"]) for row in apart["counts"]] == [
        ("one", "0"),
        ("two", "0"),
        ("two", "1"),
    ]
    assert (apart["n_problems"], apart["n_attempts"], apart["n_successes"]) == (3, 3, 2)
    assert run("counts", tmp_path, "--by", "task") == 0
    out, err = capsys.readouterr()
    assert "Counts of one" in out
    assert "Counts of two" in out
    assert "read as lm_eval, 2 attempts" in err


def test_fit_says_how_it_went(capsys, table, tmp_path):
    out = tmp_path / "fit.zarr"
    said = as_json(capsys, "fit", table, "-o", out, "--seed", 3, "--max-attempts", 10)
    assert set(said) == {
        "fit",
        "variant",
        "r_hat_max",
        "ess_min",
        "divergences",
        "warnings",
        "seconds",
    }
    assert said["variant"] == "beta_binomial"
    rows = as_json(capsys, "curve", out, "-k", "1,10,11")
    assert [row["extrapolated"] for row in rows[:3]] == [False, False, True]


def test_curve(capsys, saved, tmp_path):
    rows = as_json(capsys, "curve", saved, "-k", "1,20,1e6", "--ci-prob", 0.9)
    assert [row["k"] for row in rows] == [1, 20, 10**6] * 2
    columns = "system k estimand mean median sd lower upper ci_prob ci_kind extrapolated unbiased"
    assert list(rows[0]) == columns.split()
    assert {row["ci_prob"] for row in rows} == {0.9}
    assert rows[0]["unbiased"] is None  # A has a problem without attempts
    rates = [1 / 20, 3 / 21, 9 / 20, 20 / 21, 5 / 20]
    assert rows[3]["unbiased"] == pytest.approx(sum(rates) / 7)
    for row in rows:
        assert row["lower"] <= row["median"] <= row["upper"]
    other = as_json(capsys, "curve", saved, "-k", "5", "--estimand", "population")
    assert {row["estimand"] for row in other} == {"population"}
    picture = tmp_path / "curve.png"
    assert run("curve", saved, "-k", "1,1000", "--plot", picture) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run("curve", saved, "-k", "1,1000", "--format", "csv") == 0
    assert ",".join(columns.split()) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["counts", "nowhere.csv"], 1, "no such file"),
        (["curve", "nowhere.nc"], 1, "no such file"),
        (["curve", "SAVED", "-k", "0"], 1, "expected whole numbers from 1"),
        (["curve", "SAVED", "-k", "1.5"], 1, "expected whole numbers"),
        (["curve", "SAVED", "--ci-prob", "90"], 1, "between 0 and 1"),
        (["curve", "SAVED", "--plot", "x.exe"], 1, "ends in .png, .svg, .pdf"),
        (["curve", "TABLE"], 1, "a file that is not one"),
        (["fit", "TABLE", "-o", "OUT.nc", "--variant", "beta_binomal"], 1, "did you mean"),
        (["fit", "TABLE", "-o", "OUT.txt"], 1, "ends in .nc or .zarr"),
        (["fit", "TABLE", "-o", "OUT.nc", "--draws", "0"], 1, "draws: expected"),
        (["fit", "TABLE"], 2, "Missing option"),
        (["curve", "SAVED", "--estimand", "x"], 2, "Invalid value"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_failures_take_one_line_and_write_nothing(
    capsys, table, saved, tmp_path, arguments, code, message
):
    places = {
        "SAVED": saved,
        "TABLE": table,
        "OUT.nc": tmp_path / "x.nc",
        "OUT.txt": tmp_path / "x",
    }
    assert run(*(places.get(argument, argument) for argument in arguments)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    if code == 1:
        assert err.startswith("error: ")
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_hostile_names_are_shown_as_text(capsys, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("system,problem,n,c\n[red]\x1b[31m\u202ex,p,3,1\n")
    assert run("counts", path) == 0
    out = capsys.readouterr().out
    assert "[red]" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_installed_command_keeps_stdout_for_the_machine(table):
    code = "import sys; from bayes_passk.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, "counts", str(table), "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONWARNINGS": "error"},
    )
    assert json.loads(done.stdout)["n_problems"] == 7


def test_demo(capsys, tmp_path):
    assert run("demo", "-o", tmp_path) == 0
    out, err = capsys.readouterr()
    assert "SmolLM2-135M T=0.6" in out
    assert "give pass@200 = 0.805: inside the interval" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fit.nc", "pass_at_k.png"]


def test_variants_and_their_options(capsys, saved, table, tmp_path):
    other = tmp_path / "other.nc"
    arguments = ["--variant", "beta_mixture", "--option", "components=2", "--pooling", "complete"]
    run("fit", table, "-o", other, "--seed", 1, "--draws", 300, "--tune", 300, *arguments)
    shown = as_json(capsys, "variants", saved, other)
    assert sorted(row["variant"] for row in shown) == ["beta_binomial", "beta_mixture"]
    keys = {"variant", "elpd_loo", "se", "weight", "p_loo", "pareto_k_max"}
    assert keys <= set(shown[0])
    assert sum(row["weight"] for row in shown) == pytest.approx(1.0, abs=1e-6)
    assert run("variants", saved) == 1
    assert "two fits or more" in capsys.readouterr().err
    assert run("fit", table, "-o", other, "--option", "components") == 1
    assert "NAME=VALUE" in capsys.readouterr().err
    assert run("fit", table, "-o", other, "--variant", "grouped", "--option", "by=topic") == 1
    assert "no covariate 'topic'" in capsys.readouterr().err


def test_allocate_writes_a_plan_that_adds_up(capsys, saved, tmp_path):
    out = tmp_path / "plan.csv"
    found = as_json(capsys, "allocate", saved, "--budget", 500, "-k", 100, "-o", out)
    assert found["budget"] == 500
    assert 0 < found["width_expected"] < found["width_now"] < 1
    assert sum(row["n_attempts"] for row in found["plan"]) == 500
    assert set(found["plan"][0]) == {"system", "problem", "n_attempts", "share_of_variance"}
    header, *rows = out.read_text().splitlines()
    assert header == "system,problem,n_attempts,share_of_variance"
    assert sum(int(row.split(",")[2]) for row in rows) == 500
    again = as_json(capsys, "allocate", saved, "--budget", 500, "-k", 100)
    assert again == found


def test_allocate_by_cost_cap_system_and_width(capsys, saved, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("system,problem,cost\nB,p0,7\nB,p1,0.5\n")
    options = ("--systems", "B", "--cap", 40, "--cost", costs)
    found = as_json(capsys, "allocate", saved, "--budget", 90.5, "-k", "1,50", *options)
    prices = {("B", "p0"): 7.0, ("B", "p1"): 0.5}
    spent = sum(
        row["n_attempts"] * prices.get((row["system"], row["problem"]), 1.0)
        for row in found["plan"]
    )
    assert found["target"] == "curve"
    assert 90 <= spent <= 90.5
    assert all(row["n_attempts"] <= 40 for row in found["plan"])
    assert not any(row["n_attempts"] for row in found["plan"] if row["system"] == "A")
    width = ("--target-width", 0.2, "--systems", "B", "--ci-prob", 0.9)
    wanted = as_json(capsys, "allocate", saved, "-k", 50, *width)
    assert wanted["width_expected"] <= 0.2 < wanted["width_now"]
    assert run("allocate", saved, "-k", 50, *width) == 0
    out, err = capsys.readouterr()
    assert "Where to sample" in out
    assert "more attempts: the width is" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget", -5), "budget: expected a number of at least 0, got -5"),
        (("--budget", 2.5), "whole number of attempts"),
        ((), "--budget and --target-width"),
        (("--budget", 5, "--target-width", 0.1), "--budget and --target-width"),
        (("--target-width", 0.1), "one k and one system"),
        (("--budget", 5, "--systems", "C"), "no system 'C'"),
        (("--budget", 5, "--cost", "nowhere.csv"), "nowhere.csv: cannot be read"),
    ],
)
def test_allocate_says_what_is_wrong(capsys, saved, arguments, message):
    assert run("allocate", saved, "-k", 10, *arguments) == 1
    assert message in capsys.readouterr().err
