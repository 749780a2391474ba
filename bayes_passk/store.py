"""Fits on disk: netCDF or Zarr, written whole or not at all."""

__all__ = ["check_fit_path", "load_fit", "save_fit"]

from pathlib import Path

import xarray as xr

from bayes_passk.counts import digest
from bayes_passk.errors import FitError, OptionError, ReadError
from bayes_passk.files import whole
from bayes_passk.record import record_of

_GROUPS = ("posterior", "sample_stats", "observed_data", "constant_data")


def save_fit(fit: xr.DataTree, path: str | Path) -> Path:
    """Save a fit; the file appears whole or not at all.

    Parameters
    ----------
    fit : xarray.DataTree
        Result of `fit`.
    path : str or Path
        Ends in ``.nc`` (netCDF, one file) or ``.zarr`` (a folder).

    Raises
    ------
    OptionError
        The ending is another one.
    ReadError
        The place cannot be written.

    Examples
    --------
    >>> from bayes_passk import counts_from_arrays, fit, load_fit
    >>> folder = getfixture("tmp_path")
    >>> tree = fit(counts_from_arrays([5, 5], [0, 3]), draws=50, random_seed=1)
    >>> bool((load_fit(save_fit(tree, folder / "fit.nc"))["posterior"] == tree["posterior"]).all())
    True
    """
    path = check_fit_path(path)
    with whole(path) as temporary:
        if path.suffix == ".nc":
            fit.to_netcdf(temporary, engine="h5netcdf")
        else:
            fit.to_zarr(temporary, consolidated=False)
    return path


def check_fit_path(path: str | Path) -> Path:
    """Check that a fit can be saved under this name, before work is spent on it.

    Raises
    ------
    OptionError
        The name does not end in ``.nc`` or ``.zarr``.
    """
    path = Path(path)
    if path.suffix not in (".nc", ".zarr"):
        raise OptionError(f"{path}: expected a name that ends in .nc or .zarr")
    return path


def load_fit(path: str | Path, *, counts: xr.Dataset | None = None) -> xr.DataTree:
    """Load a saved fit; it does all that a fresh one does.

    Parameters
    ----------
    path : str or Path
        What `save_fit` wrote.
    counts : xarray.Dataset, optional
        Counts that the fit must have been made from.

    Raises
    ------
    ReadError
        There is no such file, or it is no fit.
    FitError
        The fit was made from other counts.
    """
    path = Path(path)
    if not path.exists():
        raise ReadError(f"{path}: expected a saved fit, found no such file")
    how = {"engine": "zarr", "consolidated": False} if path.is_dir() else {"engine": "h5netcdf"}
    try:
        tree = xr.open_datatree(path, **how)
        tree.load()
        tree.close()
    except Exception as error:
        raise ReadError(f"{path}: expected a saved fit, got a file that is not one") from error
    missing = [group for group in _GROUPS if group not in tree.children]
    if missing or "bayes_passk" not in tree.attrs:
        what = ", ".join(missing) or "the attribute bayes_passk"
        raise ReadError(f"{path}: expected a fit of this toolkit, but it lacks {what}")
    if counts is not None and record_of(tree)["counts_digest"] != digest(counts):
        raise FitError(f"{path}: this fit was made from other counts; fit these again")
    return tree
