r"""Logit-normal: logits of the success probabilities follow a normal distribution.

.. math:: \operatorname{logit} p_i \sim \mathrm{Normal}(\mu, \sigma^2)

**When.** As a contrast: its lower tail is lighter than any power of p, so pass@k reaches 1 faster
than a power law. Item response models have this shape.

**When not.** For extrapolation far beyond n on benchmarks with many unsolved problems, unless
the comparison of variants speaks for it.

**Priors.** μ Normal(-4, 3); log σ Normal(log 2.5, 0.5).

**Source.** Binomial-logit-normal: Williams 1982, Applied Statistics 31, 144-148; in evaluation,
Luettgau et al. 2025, HiBayES (arXiv 2505.05602).
"""

from dataclasses import dataclass

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.difficulty import Parameter
from bayes_passk.logit_density import LogitDensity
from bayes_passk.pooling import Systems


@dataclass(frozen=True)
class LogitNormal(LogitDensity):
    """Normal density on logit p."""

    mu: Parameter
    sigma: Parameter

    def log_density(self, x: np.ndarray) -> TensorVariable:
        return -0.5 * pt.square((x - self.mu) / self.sigma)


def difficulty(systems: Systems) -> LogitNormal:
    """Priors on centre and spread."""
    mu = systems.normal("mu", -4.0, sigma=3.0, spread=1.0)
    log_sigma = systems.normal("log_sigma", np.log(2.5), sigma=0.5, spread=0.3)
    return LogitNormal(mu, pt.exp(log_sigma))
