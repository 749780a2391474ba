r"""Zero-inflated beta-binomial: a share of the problems that no attempt solves.

.. math:: p_i = 0 \text{ with probability } \psi, \quad
          p_i \sim \mathrm{Beta}(\alpha, \beta) \text{ otherwise}.

**When.** Some problems may be impossible (broken tests, missing tools), and the question is how
many: `unsolvable` gives each never-solved problem's probability. pass@k then levels off at
:math:`1 - \psi`.

**When not.** As a default: a beta with a small :math:`\alpha` has nearly impossible problems
already, and few attempts cannot tell impossible from rare; the fit says so where that is the case.

**Priors.** As the beta-binomial, and logit ψ Normal(-2, 1.5): 90 % between 0.011 and 0.62.

**Source.** Zero inflation: Lambert 1992, Technometrics 34, 1-14; of success counts, Hall 2000,
Biometrics 56, 1030-1039.
"""

import numpy as np
import pymc as pm

from bayes_passk.composed import ZeroInflated
from bayes_passk.difficulty import Beta
from bayes_passk.pooling import Systems


def difficulty(systems: Systems) -> ZeroInflated:
    """Priors on mean and concentration of the solvable problems, and on the share of the others."""
    logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    log_odds = systems.normal("unsolvable_log_odds", -2.0, sigma=1.5, spread=0.7)
    pm.Deterministic("unsolvable", pm.math.sigmoid(log_odds), dims="system")
    return ZeroInflated(log_odds, Beta.from_logit_mean(logit_mean, log_concentration))
