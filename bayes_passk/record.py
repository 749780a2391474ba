"""What a fit says of itself."""

__all__ = ["record_of"]

import json
from typing import Any

import xarray as xr


def record_of(fit: xr.DataTree) -> dict[str, Any]:
    """What a fit says of itself.

    Returns
    -------
    dict
        ``variant``, ``options``, ``variant_source`` (digest of its text), ``pooling``,
        ``difficulty`` (structure), ``seed``, ``counts_digest``, ``versions``, ``draws``,
        ``tune``, ``chains``, ``seconds``, ``r_hat_max``, ``ess_min``, ``divergences`` and
        ``warnings``.
    """
    return json.loads(fit.attrs["bayes_passk"])
