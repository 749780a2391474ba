r"""Beta-binomial: success probabilities follow a beta distribution over problems.

.. math:: c_i \sim \mathrm{Binomial}(n_i, p_i), \quad p_i \sim \mathrm{Beta}(\alpha, \beta),

by mean :math:`\alpha / (\alpha + \beta)` and concentration :math:`\alpha + \beta`.

**When.** The default. Its lower tail, :math:`p^{\alpha - 1}`, gives the power law in k that
repeated sampling of language models shows, with exponent :math:`\alpha`.

**When not.** With thousands of attempts a problem, if the easy problems' shape contradicts the
hard ones' (the predictive checks tell), or if the problems fall into distinct kinds.

**Priors.** The mean is vague, from 1e-4 to 0.7 (logit mean Normal(-4, 2.5)): benchmarks differ
that much. The concentration is informed, 3 to 70 (log concentration Normal(log 15, 0.8)), so that
:math:`\alpha` runs from 0.001 to 5. Before data, pass@1 of a new problem has a median of 0.02 and
pass@1000 one of 0.5, each with most of the unit interval inside its 90 % interval.

**Source.** Kazdan et al. 2025 (arXiv 2510.05197), there with maximum likelihood.
"""

import numpy as np

from bayes_passk.difficulty import Beta
from bayes_passk.pooling import Systems


def difficulty(systems: Systems) -> Beta:
    """Priors on mean and concentration, and the beta distribution that they make."""
    logit_mean = systems.normal("logit_mean", mu=-4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.normal("log_concentration", mu=np.log(15), sigma=0.8, spread=0.5)
    return Beta.from_logit_mean(logit_mean, log_concentration)
