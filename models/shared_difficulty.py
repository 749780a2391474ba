r"""Shared difficulty: a problem is as hard for one system as for another, up to its own noise.

.. math:: p_{si} \sim \mathrm{Beta}\text{ with }
          \operatorname{logit} \text{mean} = \theta_s - \delta_i, \quad
          \delta_i \sim \mathrm{Normal}(0, \sigma^2)

with the ability :math:`\theta_s` and a concentration of each system. The difficulty δ of a problem
is integrated out by Gauss-Hermite quadrature, over the counts of all systems together.

**When.** Several systems on the same problems, unequally sampled: a cheap system's attempts inform
a dear one's problems.

**When not.** Systems of different kinds that find different problems hard; one system alone, where
the two sources of spread cannot be told apart.

**Priors.** θ Normal(-4, 2.5); log σ Normal(log 1.5, 0.5); log concentrations Student-t(4 degrees of
freedom, log 15, 0.8).

**Source.** Item response theory (Rasch 1960) with beta-binomial noise; in evaluation, Luettgau et
al. 2025 (arXiv 2505.05602).
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_passk.composed import SharedMixture
from bayes_passk.difficulty import Beta
from bayes_passk.pooling import Systems


def difficulty(systems: Systems, *, nodes: int = 21) -> SharedMixture:
    """Priors on abilities, concentrations and the spread of the problems' difficulty."""
    ability = systems.normal("ability", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    log_sigma = pm.Normal("log_sigma", np.log(1.5), np.float64(0.5))
    node, weight = np.polynomial.hermite_e.hermegauss(nodes)
    logit_mean = ability[:, None] - pt.exp(log_sigma) * node
    log_weight = np.tile(np.log(weight / weight.sum()), (systems.size, 1))
    return SharedMixture(
        pt.constant(log_weight), Beta.from_logit_mean(logit_mean, log_concentration[:, None])
    )
