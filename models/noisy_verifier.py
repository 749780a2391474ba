r"""Noisy verifier: attempts are counted by a checker that errs at known or estimated rates.

.. math:: c_i \sim \mathrm{Binomial}\bigl(n_i,\ (1 - \text{specificity})(1 - p_i)
          + \text{sensitivity} \cdot p_i\bigr), \quad p_i \sim \mathrm{Beta}(\alpha, \beta)

pass@k is of the true success probability :math:`p`; the unbiased points beside it are of what was
counted.

**When.** The checker was itself checked: ``sensitivity`` is the share of correct attempts that it
passes, ``specificity`` the share of wrong ones that it fails.

**When not.** The rates are guesses: with a false-positive rate near the success rate the counts
hardly say anything on p.

**Priors.** As the beta-binomial. A rate is known, or has a Beta prior worth ``sensitivity_checks``
(``specificity_checks``) checked attempts with that share right.

**Source.** Rogan and Gladen 1978, American Journal of Epidemiology 107, 71-76.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.difficulty import Beta, Parameter
from bayes_passk.logit_density import LogitDensity
from bayes_passk.pooling import Systems


@dataclass(frozen=True)
class NoisyBeta(LogitDensity):
    """A beta's density on logit p, seen through a checker."""

    alpha: Parameter
    beta: Parameter
    sensitivity: Parameter
    specificity: Parameter

    def log_density(self, x: np.ndarray) -> TensorVariable:
        return -self.alpha * pt.softplus(-x) - self.beta * pt.softplus(x)

    def rates(self) -> tuple[Any, Any]:
        return 1 - self.specificity, self.sensitivity


def difficulty(
    systems: Systems,
    *,
    sensitivity: float = 0.95,
    specificity: float = 0.99,
    sensitivity_checks: float = 0.0,
    specificity_checks: float = 0.0,
) -> NoisyBeta:
    """Priors on mean and concentration, and on the rates if they are not known."""
    logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    beta = Beta.from_logit_mean(logit_mean, log_concentration)
    rates = [
        pt.ones_like(logit_mean) * _rate(name, share, checks)
        for name, share, checks in (
            ("verifier_sensitivity", sensitivity, sensitivity_checks),
            ("verifier_specificity", specificity, specificity_checks),
        )
    ]
    return NoisyBeta(beta.alpha, beta.beta, *rates)


def _rate(name: str, share: float, checks: float) -> Any:
    if not checks:
        return np.float64(share)
    return pm.Beta(name, np.float64(share * checks), np.float64((1 - share) * checks))
