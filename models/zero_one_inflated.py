r"""Zero-one-inflated beta-binomial: shares of problems never and always solved.

.. math:: p_i = 0 \text{ with probability } \psi, \quad
          p_i = 1 \text{ with probability } (1 - \psi)\,\omega, \quad
          p_i \sim \mathrm{Beta}(\alpha, \beta) \text{ otherwise}.

**When.** Deterministic attempts (temperature 0, cached answers): many problems are always or
never solved, whatever n is.

**When not.** With few attempts a problem: then always solved and easy look the same.

**Priors.** As the beta-binomial; logit ψ Normal(-2, 1.5), logit ω Normal(-3, 1.5).

**Source.** Zero-one-inflated beta: Ospina and Ferrari 2010, Statistical Papers 51, 111-126.
"""

import numpy as np
import pymc as pm

from bayes_passk.composed import OneInflated, ZeroInflated
from bayes_passk.difficulty import Beta
from bayes_passk.pooling import Systems


def difficulty(systems: Systems) -> ZeroInflated:
    """Priors on mean and concentration of the problems between, and on both shares."""
    logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    never = systems.normal("unsolvable_log_odds", -2.0, sigma=1.5, spread=0.7)
    always = systems.normal("certain_log_odds", -3.0, sigma=1.5, spread=0.7)
    pm.Deterministic("unsolvable", pm.math.sigmoid(never), dims="system")
    pm.Deterministic("certain", pm.math.sigmoid(-never) * pm.math.sigmoid(always), dims="system")
    between = Beta.from_logit_mean(logit_mean, log_concentration)
    return ZeroInflated(never, OneInflated(always, between))
