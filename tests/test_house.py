"""The parts of the house that say the same thing in several places."""

import re
import subprocess
import tomllib
from pathlib import Path

import bayes_passk

ROOT = Path(__file__).parents[1]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def tracked():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_one_version():
    version = bayes_passk.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == version


def test_constraints_pin_every_dependency_and_hold_no_address():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = [re.fullmatch(r"([\w.-]+)==[\w.]+", line) for line in lines]
    assert all(pinned), [line for line, match in zip(lines, pinned, strict=True) if not match]
    names = {match[1].lower().replace("_", "-") for match in pinned}
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    wanted = {re.match(r"[\w-]+", x)[0].lower() for x in [*PROJECT["dependencies"], *extras]}
    assert wanted - {PROJECT["name"]} <= names


def test_python_version_satisfies_the_project():
    assert PROJECT["requires-python"] == f">={(ROOT / '.python-version').read_text().strip()}"


def test_public_names_exist_and_are_described():
    for name in bayes_passk.__all__:
        assert getattr(bayes_passk, name).__doc__, name
    assert set(bayes_passk.__all__) <= set(dir(bayes_passk))


def test_readme_names_every_variant_and_public_example_name():
    readme = (ROOT / "README.md").read_text()
    methods = readme[readme.index("## Methods") : readme.index("## Data")]
    rows = dict(re.findall(r"^\|[^|]*\| `(?:bp\.)?([\w/]+)` \| (.*) \|$", methods, re.M))
    public = {name for name in bayes_passk.__all__ if name in rows}
    assert set(rows) - public - {"tests/models"} == set(bayes_passk.variant_names())
    # Every method has a source with its year.
    assert all(re.search(r"\b(19|20)\d\d\b", source) for source in rows.values()), rows
    for name in re.findall(r"\bbp\.(\w+)", readme):
        assert name in bayes_passk.__all__, name


def test_no_path_of_a_machine_and_no_registry():
    found = re.compile(rb"(?<![\w.])/(?:root|home|work)/\w|https?://[^ ]+/(?:simple|packages)/")
    for path in tracked():
        if path.suffix not in (".gz", ".png"):
            assert not found.search(path.read_bytes()), path


def test_imports_point_down():
    # Each module may import only what stands before it; commands and plots come last.
    order = (
        "errors files special difficulty composed quadrature logit_density pooling variant counts "
        "learning outcomes frames readers policy_options datasets record unbiased posterior "
        "model laws compiled "
        "progress diagnostics unsolvable_share fitting store estimands summaries predictive "
        "baselines leave_one_out compare checks held_out sensitivity extrapolate targets gain "
        "forecast standing costs allocation rules planner reweighting updating "
        "campaign plots output campaign_output campaign_commands cli"
    ).split()
    for path in tracked():
        if path.parent.name == "bayes_passk" and path.stem in order:
            text = path.read_text()
            used = re.findall(r"^\s*from bayes_passk\.(\w+)", text, re.M)
            later = [name for name in used if order.index(name) >= order.index(path.stem)]
            assert not later, (path.stem, later)
