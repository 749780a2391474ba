"""Counts: what is valid, and laws of merging, selecting, thinning and cells."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_passk.counts import (
    cells_of,
    counts_from_arrays,
    counts_from_dict,
    describe,
    digest,
    group,
    merge_counts,
    select,
    thin,
    validate,
)
from bayes_passk.errors import CountsError, OptionError, UnknownNameError

pairs = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda t: (max(t), min(t))),
    min_size=1,
    max_size=12,
).filter(lambda rows: any(n for n, _ in rows))


def build(rows, **kwargs):
    return counts_from_arrays([n for n, _ in rows], [c for _, c in rows], **kwargs)


@given(pairs, st.randoms(use_true_random=False))
def test_digest_ignores_order_and_sees_content(rows, random):
    counts = build(rows)
    order = list(range(len(rows)))
    random.shuffle(order)
    assert digest(counts.isel(problem=order)) == digest(counts)
    other = [*rows[:-1], (rows[-1][0] + 1, rows[-1][1])]
    assert digest(build(other)) != digest(counts)


def test_digest_sees_where_an_id_ends():
    one = counts_from_arrays([1, 1], [0, 0], problems=["ab", "c"])
    assert digest(one) != digest(counts_from_arrays([1, 1], [0, 0], problems=["a", "bc"]))


@given(pairs)
def test_cells_hold_the_counts(rows):
    cells = cells_of(build(rows))
    assert cells.multiplicity.sum() == len(rows)
    assert len(set(zip(cells.n_attempts, cells.n_successes, strict=True))) == len(cells.n_attempts)
    for i, (n, c) in enumerate(rows):
        cell = cells.index[0, i]
        assert (cells.n_attempts[cell], cells.n_successes[cell]) == (n, c)


def test_cells_of_several_systems_stay_apart():
    cells = cells_of(counts_from_arrays([[5, 5], [5, 10**9]], [[1, 1], [1, 7]]))
    assert cells.group.tolist() == [0, 1, 1]
    assert cells.multiplicity.tolist() == [2, 1, 1]
    assert cells.n_attempts.max() == 10**9


@given(pairs, pairs)
def test_merging_adds_up_and_commutes(first, second):
    a, b = build(first, systems=["A"]), build(second, systems=["B"])
    merged = merge_counts(a, b)
    assert digest(merged) == digest(merge_counts(b, a))
    for name in ("n_attempts", "n_successes"):
        assert merged[name].sum() == a[name].sum() + b[name].sum()


def test_merging_the_same_pair_needs_a_word():
    counts = counts_from_arrays([5], [2])
    with pytest.raises(CountsError, match=r"problem '0' appears twice.*on_duplicate"):
        merge_counts(counts, counts)
    assert merge_counts(counts, counts, on_duplicate="add")["n_attempts"].item() == 10
    with pytest.raises(OptionError, match="expected raise or add"):
        merge_counts(counts, on_duplicate="first")
    with pytest.raises(CountsError, match="at least one dataset"):
        merge_counts()


@given(pairs, st.integers(1, 8))
def test_thinning_keeps_at_most_so_many(rows, limit):
    counts = build(rows)
    thinned = thin(counts, limit, random_seed=1)
    validate(thinned)
    n, kept = counts["n_attempts"].values, thinned["n_attempts"].values
    assert (kept == np.minimum(n, limit)).all()
    whole = n <= limit
    same = thinned["n_successes"].values == counts["n_successes"].values
    assert same[whole].all()


def test_thinning_is_hypergeometric():
    counts = counts_from_arrays([40] * 4000, [10] * 4000)
    drawn = thin(counts, 8, random_seed=2)["n_successes"].values
    variance = 8 * 0.25 * 0.75 * (40 - 8) / 39
    assert abs(drawn.mean() - 2) < 4 * np.sqrt(variance / 4000)
    assert drawn.var() == pytest.approx(variance, rel=0.12)
    with pytest.raises(OptionError, match="above 0, got 0"):
        thin(counts, 0, random_seed=1)


def test_groups_partition_the_problems():
    counts = counts_from_arrays([1, 2, 3], [0, 0, 3], coords={"level": ["b", "a", "b"]})
    parts = dict(group(counts, "level"))
    assert list(parts) == ["a", "b"]
    assert digest(merge_counts(*parts.values())) == digest(counts)
    with pytest.raises(UnknownNameError, match="did you mean 'level'"):
        list(group(counts, "levels"))


def test_select_keeps_order_and_suggests():
    counts = counts_from_arrays([1, 2, 3], [0, 0, 3], problems=["x", "y", "z"])
    assert select(counts, problems=["z", "x"])["n_attempts"].values.tolist() == [[3, 1]]
    with pytest.raises(UnknownNameError, match=r"no system 'sistem'.*did you mean 'system'"):
        select(counts, systems=["sistem"])


@pytest.mark.parametrize(
    ("n", "c", "message"),
    [
        ([5, 4], [0, 5], "problem '1': n_successes = 5 is more than n_attempts = 4"),
        ([-1, 4], [0, 1], "problem '0': n_attempts = -1 is negative"),
        ([5, 4], [0, -2], "problem '1': n_successes = -2 is negative"),
        ([5, 4.5], [0, 1], "problem '1': n_attempts = 4.5 is not a whole number"),
        ([5, 4], [np.nan, 1], "problem '0': n_successes = nan is not a whole number"),
        ([np.inf, 4], [0, 1], "problem '0': n_attempts = inf is not a whole number"),
        ([5, "four"], [0, 1], "n_attempts = 'four' is not a number"),
        ([1e300, 4], [0, 1], "n_attempts = 1e.300 is not a whole number"),
        ([0, 0], [0, 0], "at least one attempt"),
        ([1, 2, 3], [0, 0], "expected one shape"),
    ],
)
def test_impossible_counts_are_named(n, c, message):
    if any(isinstance(value, str) for value in n):
        n = np.array(n, dtype=object)
    with pytest.raises(CountsError, match=message):
        counts_from_arrays(n, c)


def test_duplicate_and_missing_ids():
    with pytest.raises(CountsError, match="problem 'a' appears twice"):
        counts_from_arrays([1, 2], [0, 0], problems=["a", "a"])
    with pytest.raises(CountsError, match="problems: expected 2 values, got 1"):
        counts_from_arrays([1, 2], [0, 0], problems=["a"])
    counts = counts_from_arrays([1, 2], [0, 0])
    for broken, message in (
        (counts.drop_vars("n_successes"), "expected counts with n_successes"),
        (counts.drop_vars("problem"), "expected ids as the coordinate 'problem'"),
        (counts.astype(float), "expected int64"),
    ):
        with pytest.raises(CountsError, match=message):
            validate(broken)


def test_ids_are_text():
    counts = counts_from_arrays([1, 2, 3, 4], [0, 0, 0, 0], problems=["007", 7, "NA", "x" * 10_000])
    assert counts["problem"].values.tolist() == ["007", "7", "NA", "x" * 10_000]
    assert counts["problem"].dtype == object


def test_from_dict():
    nested = {"A": {"p1": [True, False], "p2": []}, "B": {"p1": {"n": 10, "c": 3}}}
    counts = counts_from_dict(nested)
    assert counts["n_attempts"].values.tolist() == [[2, 0], [10, 0]]
    assert counts["n_successes"].values.tolist() == [[1, 0], [3, 0]]
    with pytest.raises(CountsError, match="outcome 2 is neither true nor false"):
        counts_from_dict({"p": [1, 2]})
    with pytest.raises(CountsError, match="expected a list of outcomes"):
        counts_from_dict({"p": "yes"})


def test_description_warns():
    totals = describe(counts_from_arrays([164], [50])).warnings
    assert any("is this a total over a benchmark" in line for line in totals)
    empty = describe(counts_from_arrays([5, 0, 0], [1, 0, 0], problems=["a", "b", "c"]))
    assert empty.n_without_attempts == 2
    assert re.search(r"2 of 3 problems have no attempts \('b', 'c'\)", " ".join(empty.warnings))
    assert describe(counts_from_arrays([5, 5], [1, 0])).warnings == ()
