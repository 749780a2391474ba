"""Published predictors of pass@k beyond the attempts made, to compare with.

Each takes counts and k, treats every system by itself, leaves problems without attempts out, and
returns a point estimate over (``system``, ``k``). None has an interval of its own:
`bootstrap_interval` gives any of them one.
"""

__all__ = [
    "Baseline",
    "beta_binomial_mle",
    "bootstrap_interval",
    "discretized_beta",
    "power_law_regression",
]

from bayes_passk.baselines.bootstrap import Baseline, bootstrap_interval
from bayes_passk.baselines.discretized import discretized_beta
from bayes_passk.baselines.maximum_likelihood import beta_binomial_mle
from bayes_passk.baselines.power_law import power_law_regression
