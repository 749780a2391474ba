r"""Mixture of betas: problems fall into kinds, each with a beta of its own.

.. math:: p_i \sim \sum_{j} w_j\, \mathrm{Beta}(\alpha_j, \beta_j), \quad
          \text{means in rising order}

**When.** A benchmark is put together from parts of different difficulty that no covariate names.

**When not.** A covariate names the parts (`grouped`); or to extrapolate: the share and shape of
the hardest kind are what few attempts tell least about.

**Priors.** The lowest logit mean Normal(-4, 2.5), each next one higher by a gap whose log is
Normal(log 3, 0.3); log concentrations Normal(log 8, 0.6); logits of the
weights against the first Normal(0, 1).

**Source.** Finite mixtures: McLachlan and Peel 2000, Finite Mixture Models.
"""

import numpy as np
import pytensor.tensor as pt

from bayes_passk.composed import Mixture
from bayes_passk.difficulty import Beta
from bayes_passk.pooling import Systems


def difficulty(systems: Systems, *, components: int = 2) -> Mixture:
    """Priors on ordered means, concentrations and weights of the components."""
    logit_mean = [systems.normal("logit_mean_0", -4.0, sigma=2.5, spread=1.0)]
    log_weight = [pt.zeros_like(logit_mean[0])]
    for j in range(1, components):
        log_gap = systems.normal(f"log_gap_{j}", np.log(3.0), sigma=0.3, spread=0.3)
        logit_mean.append(logit_mean[-1] + pt.exp(log_gap))
        log_weight.append(systems.normal(f"log_odds_{j}", 0.0, sigma=1.0, spread=0.5))
    log_concentration = [
        systems.normal(f"log_concentration_{j}", np.log(8), sigma=0.6, spread=0.5)
        for j in range(components)
    ]
    betas = Beta.from_logit_mean(pt.stack(logit_mean, -1), pt.stack(log_concentration, -1))
    return Mixture(pt.special.log_softmax(pt.stack(log_weight, -1), axis=-1), betas)
