"""What an attempt costs, and how many of them may be asked for."""

__all__ = ["costs_from_table", "prices_of", "room_of"]

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_passk.errors import OptionError, ReadError, UnknownNameError, did_you_mean

# More than a count can hold: no cap.
_NO_CAP = 2**53


def costs_from_table(path: str | Path, counts: xr.Dataset) -> xr.DataArray:
    r"""Read a table of costs: columns ``cost`` and ``problem``, ``system`` or both.

    Parameters
    ----------
    path : str or Path
        CSV or Parquet.
    counts : xarray.Dataset
        Counts, whose pairs the table prices; those it does not name cost 1.

    Raises
    ------
    ReadError
        The file cannot be read, or lacks a column.
    OptionError
        A cost is no number above 0.
    UnknownNameError
        A system or a problem is not in the counts.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays
    >>> path = getfixture("tmp_path") / "costs.csv"
    >>> _ = path.write_text("problem,cost\n1,2.5\n")
    >>> costs_from_table(path, counts_from_arrays([5, 5], [0, 1])).values.tolist()
    [[1.0, 2.5]]
    """
    table = _read(Path(path))
    names = [name for name in ("system", "problem") if name in table]
    if "cost" not in table or not names:
        raise ReadError(
            f"{path}: expected the columns cost and problem (or system), got "
            f"{', '.join(map(str, table.columns))[:200]}"
        )
    costs = xr.ones_like(counts["n_attempts"], dtype=np.float64)
    for row in table[[*names, "cost"]].itertuples(index=False):
        labels = dict(zip(names, map(str, row[:-1]), strict=True))
        for name, label in labels.items():
            if label not in counts.get_index(name):
                hint = did_you_mean(label, list(map(str, counts[name].values[:1000])))
                raise UnknownNameError(f"{path}: no {name} {label!r} in these counts: {hint}")
        costs.loc[labels] = _number(path, row[-1])
    return costs


def _read(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise ReadError(f"{path}: cannot be read as a table: {error}") from error


def _number(path: str | Path, value: Any) -> float:
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise OptionError(f"{path}: cost: expected numbers above 0, got {value!r}")
    return number


def prices_of(cost: Any, counts: xr.Dataset) -> np.ndarray:
    """Cost of an attempt over (system, problem).

    Raises
    ------
    OptionError
        A cost is 0 or less, or the shape is another.
    UnknownNameError
        A name is neither a problem nor a system.
    """
    prices = _over_pairs("cost", cost, counts, 1.0)
    if not (np.isfinite(prices) & (prices > 0)).all():
        wrong = prices[~(np.isfinite(prices) & (prices > 0))][0]
        raise OptionError(f"cost: expected numbers above 0, got {wrong:g}")
    return prices


def room_of(
    cap: Any, counts: xr.Dataset, systems: np.ndarray, problems: Sequence[str] | None
) -> np.ndarray:
    """Attempts that may be planned over (system, problem): caps, and only where asked for.

    Raises
    ------
    OptionError
        A cap is negative or fractional, or its shape is another.
    UnknownNameError
        A problem is not there.
    """
    room = np.full(counts["n_attempts"].shape, _NO_CAP, dtype=np.int64)
    if cap is not None:
        caps = _over_pairs("cap", cap, counts, float(_NO_CAP))
        if not ((caps >= 0) & (caps == np.floor(caps))).all():
            raise OptionError("cap: expected whole numbers of at least 0")
        room = np.minimum(caps, _NO_CAP).astype(np.int64)
    matters = np.zeros(len(room), dtype=bool)
    matters[systems] = True
    room[~matters] = 0
    if problems is not None:
        known = counts.get_index("problem")
        for name in problems:
            if name not in known:
                hint = did_you_mean(str(name), list(map(str, known[:1000])))
                raise UnknownNameError(f"no problem {name!r} in this fit: {hint}")
        room[:, ~known.isin(list(problems))] = 0
    return room


def _over_pairs(name: str, value: Any, counts: xr.Dataset, default: float) -> np.ndarray:
    shape = counts["n_attempts"].shape
    if isinstance(value, Mapping):
        return _by_name(name, value, counts, default)
    if isinstance(value, xr.DataArray):
        return value.broadcast_like(counts["n_attempts"]).transpose("system", "problem").values
    try:
        return np.broadcast_to(np.asarray(value, dtype=float), shape).copy()
    except ValueError:
        raise OptionError(
            f"{name}: expected a number, a mapping of names, or an array over (system, problem) "
            f"= {shape}, got {value!r:.80}"
        ) from None


def _by_name(name: str, value: Mapping[Any, Any], counts: xr.Dataset, default: float) -> np.ndarray:
    # Names of problems, or else of systems.
    for dim, axis in (("problem", 1), ("system", 0)):
        labels = [str(label) for label in counts[dim].values]
        if set(map(str, value)) <= set(labels):
            given = {str(label): float(number) for label, number in value.items()}
            line = np.array([given.get(label, default) for label in labels])
            shape = counts["n_attempts"].shape
            return np.broadcast_to(np.expand_dims(line, 1 - axis), shape).copy()
    known = {str(label) for dim in ("problem", "system") for label in counts[dim].values}
    unknown = next(str(label) for label in value if str(label) not in known)
    raise UnknownNameError(
        f"{name}: no problem or system {unknown!r} in this fit: {did_you_mean(unknown, known)}"
    )
