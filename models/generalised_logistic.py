r"""Generalised logistic: the beta's shape on logits, stretched.

.. math:: \operatorname{logit} p_i = s \cdot \operatorname{logit} X_i, \quad
          X_i \sim \mathrm{Beta}(\alpha, \beta)

The lower tail is :math:`p^{\alpha/s - 1}` and the upper :math:`(1-p)^{\beta/s - 1}`, while the
middle has a width of its own: easy problems do not dictate the tail where the hard ones lie.

**When.** With hundreds of attempts a problem, where the beta-binomial is too sure of its tail.

**When not.** With few attempts: the data then say nothing on s.

**Priors.** Of X as the beta-binomial's; log s Normal(0, 0.6).

**Source.** Type IV generalised logistic: Prentice 1976, Biometrics 32, 761-768.
"""

from dataclasses import dataclass

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.difficulty import Beta, Parameter
from bayes_passk.logit_density import LogitDensity
from bayes_passk.pooling import Systems


@dataclass(frozen=True)
class GeneralisedLogistic(LogitDensity):
    """Density of ``stretch`` times the logit of a beta."""

    alpha: Parameter
    beta: Parameter
    stretch: Parameter

    def log_density(self, x: np.ndarray) -> TensorVariable:
        y = x / self.stretch
        return -self.alpha * pt.softplus(-y) - self.beta * pt.softplus(y)


def difficulty(systems: Systems) -> GeneralisedLogistic:
    """Priors on mean and concentration of X, and on the stretch."""
    logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    log_stretch = systems.normal("log_stretch", 0.0, sigma=0.6, spread=0.3)
    x = Beta.from_logit_mean(logit_mean, log_concentration)
    return GeneralisedLogistic(x.alpha, x.beta, pt.exp(log_stretch))
