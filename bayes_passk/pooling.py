"""What the systems of a model share: nothing, a population, or everything."""

__all__ = ["POOLINGS", "Systems"]

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

type Pooling = Literal["none", "partial", "complete"]
POOLINGS: tuple[str, ...] = get_args(Pooling.__value__)

# Scale of the population's log-spread: spreads from a third to three times the prior's guess.
_LOG_SPREAD_SCALE = 0.5
# Degrees of freedom: tails heavy enough to let one system stand apart.
_NU = 4.0


@dataclass(frozen=True)
class Systems:
    """The systems that a variant puts priors over, inside the model's context.

    Parameters
    ----------
    size : int
        How many systems there are.
    pooling : {"none", "partial", "complete"}
        Whether a parameter is one for each system on its own, drawn from a population of
        systems, or one for all.
    """

    size: int
    pooling: Pooling = "partial"

    def normal(self, name: str, mu: float, sigma: float, spread: float) -> TensorVariable:
        """Parameter of every system, shape (system,), with a normal prior.

        Without pooling each system's has the prior, with complete pooling there is one for all.
        Partial pooling draws each from a population: Student-t with 4 degrees of freedom around a
        location that has the prior, its scale log-normal around ``spread``. The scale stays away
        from 0, so the population can be written centred, which is what NUTS takes well when
        every system has many attempts.

        Parameters
        ----------
        name : str
            Name in the posterior.
        mu, sigma : float
            Location and scale of the prior.
        spread : float
            How far systems lie apart, as a prior guess.
        """
        # Python floats would become float32 constants.
        mu, sigma = np.float64(mu), np.float64(sigma)
        return self._pooled(name, partial(pm.Normal, mu=mu, sigma=sigma), spread)

    def student_t(self, name: str, mu: float, sigma: float, spread: float) -> TensorVariable:
        """Parameter of every system, as `normal`, with a prior of 4 degrees of freedom.

        As informative near its centre, and gives way where the data stand far from it.
        """
        mu, sigma = np.float64(mu), np.float64(sigma)
        return self._pooled(name, partial(pm.StudentT, nu=_NU, mu=mu, sigma=sigma), spread)

    def _pooled(
        self, name: str, prior: Callable[..., TensorVariable], spread: float
    ) -> TensorVariable:
        if self.pooling == "complete":
            return pt.repeat(prior(name)[None], self.size)
        if self.pooling == "none" or self.size == 1:
            return prior(name, dims="system")
        location = prior(f"{name}_location")
        log_spread = pm.Normal(f"{name}_log_spread", np.log(spread), _LOG_SPREAD_SCALE)
        return pm.StudentT(name, nu=_NU, mu=location, sigma=pt.exp(log_spread), dims="system")
