"""What the docs tell people to do, done literally."""

import re
from pathlib import Path

import bayes_passk as bp
from bayes_passk.readers import READERS
from bayes_passk.rules import RULES
from bayes_passk.targets import TARGETS

DOCS = Path(__file__).parents[1] / "docs"


def test_adding_a_variant(tmp_path, monkeypatch):
    text = (DOCS / "adding_a_variant.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) == 3
    monkeypatch.chdir(tmp_path)
    Path("cautious.py").write_text(blocks[0])
    Path("heavy.py").write_text(blocks[2])
    names: dict = {}
    exec(blocks[1], names)
    assert names["mine"]["posterior"]["log_alpha"].dims == ("chain", "draw", "system")
    heavy = bp.fit(bp.thin(bp.load_smollm2(), 20, 1), "heavy.py", random_seed=1, pooling="complete")
    assert bp.record_of(heavy)["divergences"] == 0
    again = bp.load_fit(bp.save_fit(heavy, "heavy.nc"))
    assert bp.summary(bp.pass_at_k(again, [1, 1000]))["mean"].between(0, 1).all()


def test_choosing_names_every_variant_and_only_public_functions():
    text = (DOCS / "choosing_a_variant.md").read_text()
    for name in bp.variant_names():
        assert f"`{name}`" in text, name
    for name in re.findall(r"\bbp\.(\w+)", text):
        assert name in bp.__all__, name


def test_allocating_runs_and_names_every_rule_and_target():
    text = (DOCS / "allocating.md").read_text()
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], names)
    assert names["plan"]["n_attempts"].sum() == 2_000
    assert (names["plan"]["width_expected"] < names["plan"]["width_now"]).all()
    rows = re.findall(r"^\| `(\w+)`", text, re.M)
    assert set(rows) - {"target"} == {*TARGETS, *RULES}
    for name in re.findall(r"\bbp\.(\w+)", text):
        assert name in bp.__all__, name


def test_campaigns_runs(tmp_path, monkeypatch):
    text = (DOCS / "campaigns.md").read_text()
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], names)
    campaign = names["campaign"]
    assert campaign.status(estimate=False).told == 8
    for name in re.findall(r"`campaign\.(\w+)", text):
        assert callable(getattr(campaign, name)), name
    campaign.close()


def test_reading_logs_lists_every_reader_as_it_is():
    text = (DOCS / "reading_logs.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \| (.*) \|$", text, re.M)
    assert [row[:3] for row in rows[1:]] == [(one.name, one.title, one.versions) for one in READERS]
    assert [set(re.findall(r"`(\w+)`", row[3])) for row in rows[1:]] == [
        set(one.options) for one in READERS
    ]
    for name in re.findall(r"\bbp\.(\w+)", text):
        assert name in bp.__all__, name
