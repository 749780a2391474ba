r"""Grouped beta-binomial: mean and concentration by a covariate of the problems.

.. math:: p_i \sim \mathrm{Beta}(\alpha_{s, g(i)}, \beta_{s, g(i)}), \quad
          \operatorname{logit} \text{mean}_{s,g} = \mu_s + \lambda_g + \epsilon_{s,g}

and likewise the log concentration: a system's own, an effect of the group that all systems share,
and a smaller one of the combination, each partially pooled.

**When.** Problems come with a level or category that tells their difficulty; groups are compared.

**When not.** The covariate has nearly as many values as there are problems.

**Priors.** Of the systems as the beta-binomial; spread of the groups' logit means log-normal
around 1, of their log concentrations around 0.3, of the combinations a third of that.

**Source.** Crossed random effects: Gelman and Hill 2007, Data Analysis Using Regression and
Multilevel/Hierarchical Models, chapter 13; in evaluation, Luettgau et al. 2025 (arXiv 2505.05602).
"""

import numpy as np

from bayes_passk.difficulty import Beta
from bayes_passk.pooling import Systems


def difficulty(systems: Systems, *, by: str = "level") -> Beta:
    """Priors on mean and concentration of every system in every group."""
    logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    return Beta.from_logit_mean(
        systems.crossed("logit_mean_by", logit_mean, spread=1.0),
        systems.crossed("log_concentration_by", log_concentration, spread=0.3),
    )
