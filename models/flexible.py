r"""Flexible: a smooth log-density on logit p, a beta's times a Gaussian process.

.. math:: \log g(x) = \log g_{\mathrm{Beta}(\alpha, \beta)}(x)
          + \tau \sum_j z_j \exp\left(-\frac{(x - x_j)^2}{2 \cdot 2^2}\right), \quad
          x = \operatorname{logit} p

Nine bumps from x = -12 to 4, whose weights are normal, make a Gaussian process with a length of 2
to 3 logits; outside them the density goes on as the beta's.

**When.** No family fits: the predictive checks fail for all others.

**When not.** To extrapolate: below what n attempts can see it is the beta with a wider prior.

**Priors.** As the beta-binomial; z Normal(0, 1); log τ Normal(log 0.5, 0.5).

**Source.** Logistic Gaussian process: Leonard 1978, Journal of the Royal Statistical Society B 40,
113-146.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.difficulty import Beta, Parameter
from bayes_passk.logit_density import LogitDensity
from bayes_passk.pooling import Systems

_CENTRES = np.arange(-12.0, 5.0, 2.0)
_WIDTH = 2.0


@dataclass(frozen=True)
class Flexible(LogitDensity):
    """A beta's density on logit p times the exponential of a sum of bumps."""

    own_ndim: ClassVar[Mapping[str, int]] = {"bumps": 1}

    alpha: Parameter
    beta: Parameter
    bumps: Parameter

    def log_density(self, x: np.ndarray) -> TensorVariable:
        basis = np.exp(-0.5 * ((x - _CENTRES[:, None]) / _WIDTH) ** 2)
        beta = -self.alpha * pt.softplus(-x) - self.beta * pt.softplus(x)
        return beta + (self.bumps * basis).sum(axis=-2)


def difficulty(systems: Systems) -> Flexible:
    """Priors on the beta, and on the size of the deviations from it."""
    logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    log_tau = systems.normal("log_tau", np.log(0.5), sigma=0.5, spread=0.3)
    z = systems.standard_normal("z", size=len(_CENTRES))
    beta = Beta.from_logit_mean(logit_mean, log_concentration)
    return Flexible(beta.alpha, beta.beta, pt.exp(log_tau)[:, None] * z)
