r"""Beta-binomial: success probabilities follow a beta distribution over problems.

.. math:: c_i \sim \mathrm{Binomial}(n_i, p_i), \quad p_i \sim \mathrm{Beta}(\alpha, \beta),

one system by mean :math:`\alpha / (\alpha + \beta)` and concentration :math:`\alpha + \beta`.

**When.** The default. Its lower tail, :math:`p^{\alpha - 1}`, gives the power law in k that
repeated sampling of language models shows, with exponent :math:`\alpha`.

**When not.** With thousands of attempts a problem, if the easy problems' shape contradicts the
hard ones' (the predictive checks tell), or if the problems fall into distinct kinds.

**Priors.** The mean is vague (logit mean Normal(-4, 2.5), 90 % between 3e-4 and 0.53): benchmarks
differ that much. The concentration is informed where most benchmarks lie and gives way where one
does not (log concentration Student-t with 4 degrees of freedom, log 15, 0.8; 90 % between 2.7 and
83). Before data, 90 % intervals of a new
problem's pass@1 are 0.0003 to 0.51 (median 0.02), of its pass@1000 0.016 to 1 (median 0.64).

Several systems, partially pooled, have a population over logit mean and :math:`\log \alpha`
instead: their means differ by orders of magnitude, while they nearly share the exponent of the
tail, which is what few attempts tell least about. Log α around Normal(log 0.2, 1.2), systems apart
by some 0.3; logit mean around Normal(-4, 2.5), systems apart by some 1.

**Source.** Kazdan et al. 2025 (arXiv 2510.05197), there with maximum likelihood.
"""

import numpy as np
import pytensor.tensor as pt

from bayes_passk.difficulty import Beta
from bayes_passk.pooling import Systems


def difficulty(systems: Systems) -> Beta:
    """Priors on mean and concentration, or on exponent and mean of a population of systems."""
    if systems.have_population:
        log_alpha = systems.normal("log_alpha", np.log(0.2), sigma=1.2, spread=0.3)
        logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
        # logit of the mean is log(alpha / beta).
        return Beta(pt.exp(log_alpha), pt.exp(log_alpha - logit_mean))
    logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    return Beta.from_logit_mean(logit_mean, log_concentration)
