"""Attempts become counts: policies, identity, tasks, provenance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_passk.counts import provenance_of
from bayes_passk.errors import CountsError, OptionError
from bayes_passk.readers.attempts import Attempt, AttemptPolicy, Notes, counts_of

VERDICTS = st.sampled_from([True, False, None])
REASONS = st.sampled_from(["error", "timeout", "missing", "unscored", "invalidated"])
ATTEMPTS = st.lists(
    st.builds(
        Attempt,
        problem=st.sampled_from("abc"),
        verdict=VERDICTS,
        reason=REASONS,
        system=st.sampled_from([None, "m1", "m2"]),
    ),
    min_size=1,
)


@given(ATTEMPTS)
def test_every_attempt_is_counted_or_said_to_be_left_out(attempts):
    counts = counts_of(attempts)
    dropped = provenance_of(counts)["dropped"]
    made = [a for a in attempts if a.verdict is not None or a.reason != "missing"]
    assert int(counts["n_attempts"].sum()) + sum(dropped.values()) == len(made)
    assert int(counts["n_successes"].sum()) == sum(a.verdict is True for a in attempts)
    assert set(counts["problem"].values) == {a.problem for a in attempts}


@given(ATTEMPTS, st.randoms(use_true_random=False))
def test_the_order_of_attempts_does_not_matter(attempts, random):
    shuffled = random.sample(attempts, len(attempts))
    one, other = (counts_of(a).sortby(["system", "problem"]) for a in (attempts, shuffled))
    assert one.drop_attrs().identical(other.drop_attrs())


@given(ATTEMPTS)
def test_fail_makes_failures_of_all_but_the_invalidated(attempts):
    policy = AttemptPolicy(on_error="fail", on_timeout="fail", on_missing="fail")
    counts = counts_of(attempts, policy=policy)
    invalid = sum(a.verdict is None and a.reason == "invalidated" for a in attempts)
    assert int(counts["n_attempts"].sum()) == len(attempts) - invalid


@pytest.mark.parametrize(
    ("how", "n", "c"),
    [("first", 1, 1), ("last", 1, 0), ("merge", 1, 0), ("keep_all", 2, 1), ("add", 2, 1)],
)
def test_the_same_attempt_twice(how, n, c):
    twice = [Attempt("a", True, identity="1"), Attempt("a", False, identity="1")]
    counts = counts_of(twice, policy=AttemptPolicy(on_duplicate=how))
    assert (counts["n_attempts"].item(), counts["n_successes"].item()) == (n, c)
    said = provenance_of(counts)
    assert said["dropped"] == ({"duplicate": 1} if n == 1 else {})
    assert ("different verdicts" in " ".join(said["warnings"])) == (n == 1)


def test_the_same_attempt_twice_is_an_error_by_default():
    twice = [
        Attempt("a", True, identity="1", where="line 3"),
        Attempt("a", False, identity="1", where="line 9"),
    ]
    with pytest.raises(CountsError, match=r"problem 'a', line 9 is there twice \(line 3 and"):
        counts_of(twice)


def test_merging_keeps_a_verdict_and_heeds_an_invalidation():
    merge = AttemptPolicy(on_duplicate="merge")
    passed, lost = Attempt("a", True, identity="1"), Attempt("a", None, "error", identity="1")
    invalid = Attempt("a", None, "invalidated", identity="1")
    for several, n in (([passed, lost], 1), ([lost, passed], 1), ([passed, invalid], 0)):
        counts = counts_of([*several, Attempt("b", True)], policy=merge)
        assert counts["n_attempts"].sel(problem="a").item() == n


def test_a_planned_place_filled_elsewhere_is_no_duplicate():
    planned = Attempt("a", None, "missing", identity="1")
    counts = counts_of(
        [planned, Attempt("a", True, identity="1")], policy=AttemptPolicy(on_duplicate="merge")
    )
    assert provenance_of(counts)["dropped"] == {}
    assert counts["n_attempts"].item() == 1


def test_problems_of_several_tasks_are_named_with_them():
    attempts = [Attempt("1", True, task="x"), Attempt("1", False, task="y"), Attempt("2", True)]
    counts = counts_of(attempts)
    assert counts["problem"].values.tolist() == ["x/1", "y/1", "2"]
    assert counts["task"].values.tolist() == ["x", "y", ""]
    assert counts_of(attempts[:1])["problem"].values.tolist() == ["1"]


def test_planned_problems_stay_and_notes_are_kept():
    notes = Notes()
    notes.plan("b")
    notes.warn("look")
    notes.warn("look")
    notes.rule("passed: a coin")
    counts = counts_of([Attempt("a", True)], notes=notes)
    np.testing.assert_array_equal(counts["n_attempts"], [[1, 0]])
    said = provenance_of(counts)
    assert (said["warnings"], said["rules"]) == (["look"], ["passed: a coin"])


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(CountsError, match="no attempts"):
        counts_of([])
    with pytest.raises(OptionError, match="on_error: expected one of drop, fail, raise, got 'x'"):
        AttemptPolicy(on_error="x")
    lost = [Attempt("a", None, "timeout", task="t", where="line 4")]
    with pytest.raises(CountsError, match=r"task 't', problem 'a', line 4 .*on_timeout='drop'"):
        counts_of(lost, policy=AttemptPolicy(on_timeout="raise"))


def test_counts_without_any_verdict_say_so():
    counts = counts_of([Attempt("a", None), Attempt("b", None, "unscored", count=3)])
    said = provenance_of(counts)
    assert said["dropped"] == {"error": 1, "unscored": 3}
    assert "every problem has n = 0" in said["warnings"][-1]
