r"""Beta-binomial: success probabilities follow a beta distribution over problems.

.. math:: c_i \sim \mathrm{Binomial}(n_i, p_i), \quad p_i \sim \mathrm{Beta}(\alpha, \beta),

by mean :math:`\alpha / (\alpha + \beta)` and concentration :math:`\alpha + \beta`.

**When.** The default. Its lower tail, :math:`p^{\alpha - 1}`, gives the power law in k that
repeated sampling of language models shows, with exponent :math:`\alpha`.

**When not.** With thousands of attempts a problem, if the easy problems' shape contradicts the
hard ones' (the predictive checks tell), or if the problems fall into distinct kinds.

**Priors.** The mean is vague (logit mean Normal(-4, 2.5), 90 % between 3e-4 and 0.53): benchmarks
differ that much. The concentration is informed where most benchmarks lie and gives way where one
does not (log concentration Student-t with 4 degrees of freedom, log 15, 0.8; 90 % between 2.7 and
83). Before data, 90 % intervals of a new
problem's pass@1 are 0.0003 to 0.51 (median 0.02), of its pass@1000 0.016 to 1 (median 0.64).

**Source.** Kazdan et al. 2025 (arXiv 2510.05197), there with maximum likelihood.
"""

import numpy as np

from bayes_passk.difficulty import Beta
from bayes_passk.pooling import Systems


def difficulty(systems: Systems) -> Beta:
    """Priors on mean and concentration, and the beta distribution that they make."""
    logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    return Beta.from_logit_mean(logit_mean, log_concentration)
