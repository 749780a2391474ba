"""A deliberate mistake: the beta's shapes are not those that the mean and concentration say."""

import numpy as np

from bayes_passk.difficulty import Beta
from bayes_passk.pooling import Systems


def difficulty(systems: Systems) -> Beta:
    """As the beta-binomial, with half of the concentration in the failures' shape."""
    logit_mean = systems.normal("logit_mean", -4.0, sigma=2.5, spread=1.0)
    log_concentration = systems.student_t("log_concentration", np.log(15), sigma=0.8, spread=0.5)
    right = Beta.from_logit_mean(logit_mean, log_concentration)
    return Beta(right.alpha, 0.5 * right.beta)
