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
    n_levels : int
        Levels of the covariate of the problems that the variant asks for, else 1.
    """

    size: int
    pooling: Pooling = "partial"
    n_levels: int = 1

    @property
    def have_population(self) -> bool:
        """Whether several systems are drawn from a population."""
        return self.pooling == "partial" and self.size > 1

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

    def standard_normal(self, name: str, size: int) -> TensorVariable:
        """Independent standard normals of every system, shape (system, size).

        With complete pooling all systems have the same.
        """
        pm.modelcontext(None).add_coord(f"{name}_dim", np.arange(size))
        if self.pooling == "complete":
            return pt.repeat(pm.Normal(name, dims=f"{name}_dim")[None], self.size, axis=0)
        return pm.Normal(name, dims=("system", f"{name}_dim"))

    def crossed(self, name: str, of_system: TensorVariable, spread: float) -> TensorVariable:
        """Parameter of every system at every level of the covariate, (system, covariate).

        The system's own plus an effect of the level that all systems share (they sum to 0), plus
        a smaller effect of each combination where there are several systems. Both have a normal
        population with a log-normal scale around ``spread``, and around a third of it.

        Parameters
        ----------
        name : str
            Name in the posterior.
        of_system : tensor, shape (system,)
            What `normal` or `student_t` gave.
        spread : float
            How far levels lie apart, as a prior guess.
        """
        scale = self._scale(f"{name}_level", spread)
        level = pm.ZeroSumNormal(f"{name}_level", sigma=scale, dims="covariate")
        mean = of_system[:, None] + level[None, :]
        if self.size == 1 or self.pooling == "complete":
            return pm.Deterministic(name, mean, dims=("system", "covariate"))
        scale = self._scale(name, spread / 3)
        return pm.Normal(name, mu=mean, sigma=scale, dims=("system", "covariate"))

    def _scale(self, name: str, spread: float) -> TensorVariable:
        return pt.exp(pm.Normal(f"{name}_log_spread", np.log(spread), _LOG_SPREAD_SCALE))

    def _pooled(
        self, name: str, prior: Callable[..., TensorVariable], spread: float
    ) -> TensorVariable:
        if self.pooling == "complete":
            common = prior(f"{name}_common")
            return pm.Deterministic(name, pt.repeat(common[None], self.size), dims="system")
        if not self.have_population:
            return prior(name, dims="system")
        location = prior(f"{name}_location")
        scale = self._scale(name, spread)
        return pm.StudentT(name, nu=_NU, mu=location, sigma=scale, dims="system")
