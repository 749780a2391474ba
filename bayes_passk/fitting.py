"""Fit a variant to counts with NUTS."""

__all__ = ["constants_of", "fit", "log_likelihood_of", "with_log_likelihood"]

import json
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import gammaln

from bayes_passk.compiled import CompiledModel, compiled_model
from bayes_passk.counts import Cells, cells_of, digest, levels_of, validate
from bayes_passk.diagnostics import diagnose
from bayes_passk.difficulty import family_of
from bayes_passk.errors import OptionError, did_you_mean
from bayes_passk.learning import LearnFrom, learned_counts
from bayes_passk.pooling import POOLINGS, Pooling
from bayes_passk.posterior import Posterior
from bayes_passk.progress import sampling_progress
from bayes_passk.record import record_of
from bayes_passk.unsolvable_share import tail_warnings
from bayes_passk.variant import Option, Variant, find_variant

_VERSIONED = ("bayes-passk", "pymc", "nutpie", "pytensor", "arviz", "numpy")


def fit(
    counts: xr.Dataset,
    variant: str | Path = "beta_binomial",
    *,
    pooling: Pooling = "partial",
    learn_from: LearnFrom = "all",
    draws: int = 1_000,
    tune: int = 1_000,
    chains: int = 4,
    random_seed: int | None = None,
    progress: bool = True,
    **options: Option,
) -> xr.DataTree:
    r"""Fit a variant to counts with NUTS.

    The problems' success probabilities are integrated out: nutpie samples the parameters
    :math:`\theta` of the difficulty distribution from

    .. math:: p(\theta) \prod_i \binom{n_i}{c_i} M(c_i, n_i - c_i; \theta).

    Parameters
    ----------
    counts : xarray.Dataset
        ``n_attempts`` and ``n_successes`` over (``system``, ``problem``).
    variant : str or Path
        Name of a variant, or the path of a file that holds one.
    pooling : {"partial", "none", "complete"}
        What the systems share: a population, nothing, or all parameters.
    learn_from : {"all", "first_successes"}
        What the difficulty distribution learns from: all attempts, or those up to each problem's
        third success (`learned_counts`), so that easy problems do not dictate the shape where
        the hard ones lie. A problem's own posterior always uses all: with ``first_successes``
        the two are a modular posterior, not one coherent one.
    draws, tune, chains : int
        Draws kept and draws of adaptation for each chain, and the number of chains.
    random_seed : int, optional
        Same seed, same counts and same versions give the same draws. It is recorded in the fit;
        where none is given, the operating system provides one.
    progress : bool
        Show a progress bar if standard error is a terminal.
    **options
        Options of the variant.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, ``sample_stats``, ``prior``, ``log_likelihood`` (of one problem in
        each cell), ``observed_data`` (the counts) and ``constant_data`` (the cells). The
        attribute ``bayes_passk`` is a JSON text, read by `record_of`.

    Raises
    ------
    CountsError
        The counts are not valid.
    UnknownNameError, VariantError
        There is no such variant, or it is unusable.
    OptionError
        An option is out of its range.
    FitError
        The sampler found no starting point of finite density.

    Examples
    --------
    >>> from bayes_passk.counts import counts_from_arrays
    >>> counts = counts_from_arrays([10, 10, 10, 10], [0, 0, 3, 9])
    >>> tree = fit(counts, draws=200, tune=200, chains=2, random_seed=1)
    >>> dict(tree["posterior"]["alpha"].sizes)
    {'chain': 2, 'draw': 200, 'system': 1}
    """
    started = time.perf_counter()
    validate(counts)
    _check_pooling(pooling)
    for name, value, least in (("draws", draws, 4), ("tune", tune, 1), ("chains", chains, 1)):
        _check_whole(name, value, least)
    seed = _seed(random_seed)
    found = find_variant(variant, **options)
    learned = learned_counts(counts, learn_from, seed)
    with sampling_progress(progress, chains * (draws + tune)) as callback:
        levels, _ = levels_of(counts, found.covariate)
        compiled = compiled_model(found, pooling, counts.sizes["system"], len(levels))
        joint = family_of(compiled.difficulty).joint
        cells = cells_of(counts, by=found.covariate, joint=joint)
        learned_cells = (
            cells if learned is counts else cells_of(learned, by=found.covariate, joint=joint)
        )
        trace = compiled.sample(
            learned_cells,
            draws=draws,
            tune=tune,
            chains=chains,
            random_seed=seed,
            callback=callback,
        )
    tree = _assemble(trace, compiled, counts, cells, found.covariate)
    record = _record(found, pooling, compiled, counts, seed) | diagnose(tree)
    record["learn_from"] = learn_from
    record |= {"draws": draws, "tune": tune, "chains": chains}
    record["seconds"] = round(time.perf_counter() - started, 3)
    tree.attrs["bayes_passk"] = json.dumps(record)
    record["warnings"] += tail_warnings(tree)
    tree.attrs["bayes_passk"] = json.dumps(record)
    return with_log_likelihood(tree, log_likelihood_of(tree, learned_cells))


def _check_pooling(pooling: str) -> None:
    if pooling not in POOLINGS:
        hint = did_you_mean(str(pooling), POOLINGS)
        raise OptionError(
            f"pooling: expected one of {', '.join(POOLINGS)}, got {pooling!r}: {hint}"
        )


def _check_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int | np.integer) or value < least:
        raise OptionError(f"{name}: expected a whole number of at least {least}, got {value!r}")


def _seed(random_seed: int | None) -> int:
    if random_seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    _check_whole("random_seed", random_seed, 0)
    return int(random_seed)


def _assemble(
    trace: xr.DataTree,
    compiled: CompiledModel,
    counts: xr.Dataset,
    cells: Cells,
    covariate: str | None,
) -> xr.DataTree:
    labels = {"system": counts["system"].to_numpy()}
    if covariate is not None:
        labels[covariate] = np.array(levels_of(counts, covariate)[0], dtype=object)
    posterior, prior = (
        _labelled(group, covariate, labels)
        for group in (trace["posterior"].to_dataset(), compiled.prior)
    )
    groups = {
        "posterior": posterior.drop_attrs(),
        "sample_stats": trace["sample_stats"].to_dataset().drop_attrs(),
        "prior": prior.drop_attrs(),
        "observed_data": counts,
        "constant_data": constants_of(cells),
    }
    return xr.DataTree.from_dict(groups)


def _labelled(
    group: xr.Dataset, covariate: str | None, labels: dict[str, np.ndarray]
) -> xr.Dataset:
    if "covariate" in group.dims:
        group = group.rename({"covariate": covariate})
    return group.assign_coords({dim: ids for dim, ids in labels.items() if dim in group.dims})


def constants_of(cells: Cells) -> xr.Dataset:
    """Cells as the group ``constant_data`` of a fit keeps them."""
    return xr.Dataset(
        {
            "cell_group": ("cell", cells.group),
            "cell_system": ("cell", cells.system),
            "cell_n_attempts": ("cell", cells.n_attempts),
            "cell_n_successes": ("cell", cells.n_successes),
            "cell_multiplicity": ("cell", cells.multiplicity),
            "cell_index": (("system", "problem"), cells.index),
        },
        attrs={"n_levels": cells.n_levels},
    )


def _record(
    variant: Variant, pooling: Pooling, compiled: CompiledModel, counts: xr.Dataset, seed: int
) -> dict[str, Any]:
    return {
        "variant": variant.name,
        "options": dict(variant.options),
        "variant_source": variant.source,
        "covariate": variant.covariate,
        "pooling": pooling,
        "difficulty": compiled.difficulty,
        "seed": seed,
        "counts_digest": digest(counts),
        "versions": {name: version(name) for name in _VERSIONED},
    }


def log_likelihood_of(fit: xr.DataTree, cells: Cells) -> np.ndarray:
    """Log-likelihood of one problem in each cell, shape (sample, cell).

    Of a joint difficulty, of one problem with each row of cells, shape (sample, row).
    """
    posterior = replace(Posterior.of(fit), cells=cells)
    n, c = cells.n_attempts, cells.n_successes
    choose = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
    if posterior.joint:
        choose = choose.reshape(-1, len(cells.index)).sum(axis=1)
    return choose + posterior.log_evidence()


def with_log_likelihood(tree: xr.DataTree, values: np.ndarray) -> xr.DataTree:
    """Give a fit its group ``log_likelihood``; the values are `log_likelihood_of` it."""
    sizes = tree["posterior"].sizes
    dim = "row" if family_of(record_of(tree)["difficulty"]).joint else "cell"
    shaped = values.reshape(sizes["chain"], sizes["draw"], -1)
    tree["log_likelihood"] = xr.DataTree(
        xr.Dataset(
            {"n_successes": (("chain", "draw", dim), shaped)},
            coords={name: tree["posterior"][name] for name in ("chain", "draw")},
        )
    )
    return tree
