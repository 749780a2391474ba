r"""Scaled beta: success probabilities follow a beta distribution up to a ceiling below 1.

.. math:: p_i = \text{scale} \cdot X_i, \quad X_i \sim \mathrm{Beta}(\alpha, \beta)

**When.** Even the easiest problems are far from always solved: single attempts have a ceiling.

**When not.** Some problem is always solved: the scale is then 1, and this is the beta-binomial.

**Priors.** log α Normal(log 0.2, 1.2); log(β - 3) Normal(log 5, 1), so that no problem sits at the
ceiling itself, which thousands of attempts would turn into a cliff; logit scale Normal(1.5, 1.5):
90 % between 0.28 and 0.98.

**Source.** Schaeffer et al. 2025, How Do Large Language Monkeys Get Their Power (Laws)?
(arXiv 2502.17578), there with the scale fixed at the largest c/n.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.difficulty import Parameter
from bayes_passk.logit_density import LogitDensity
from bayes_passk.pooling import Systems


@dataclass(frozen=True)
class ScaledBeta(LogitDensity):
    """Density of logit X, with successes at the rate ``scale`` times X."""

    predicts_rate = True

    alpha: Parameter
    beta: Parameter
    scale: Parameter

    def log_density(self, x: np.ndarray) -> TensorVariable:
        return -self.alpha * pt.softplus(-x) - self.beta * pt.softplus(x)

    def rates(self) -> tuple[Any, Any]:
        return 0.0, self.scale


def difficulty(systems: Systems) -> ScaledBeta:
    """Priors on the shapes of X, and on the ceiling."""
    log_alpha = systems.normal("log_alpha", np.log(0.2), sigma=1.2, spread=0.5)
    log_beta = systems.normal("log_beta_above_3", np.log(5.0), sigma=1.0, spread=0.5)
    logit_scale = systems.normal("logit_scale", 1.5, sigma=1.5, spread=0.7)
    return ScaledBeta(pt.exp(log_alpha), 3.0 + pt.exp(log_beta), pt.sigmoid(logit_scale))
