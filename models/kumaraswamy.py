r"""Kumaraswamy: a two-parameter shape on (0, 1) close to the beta, with a distribution function.

.. math:: P(p \le t) = 1 - (1 - t^a)^b

**When.** To see how far results depend on the beta's exact shape: its lower tail is a power,
:math:`p^{a-1}`, as the beta's is, its upper tail differs.

**When not.** As a remedy for a misfit: it bends where the beta bends.

**Priors.** The shape ``a`` is the power law's exponent (log a Normal(log 0.3, 1)); ``b`` places
the mass given it (log b Normal(log 3, 1)).

**Source.** Kumaraswamy 1980, Journal of Hydrology 46, 79-88.
"""

from dataclasses import dataclass

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import TensorVariable

from bayes_passk.difficulty import Parameter
from bayes_passk.logit_density import LogitDensity
from bayes_passk.pooling import Systems


@dataclass(frozen=True)
class Kumaraswamy(LogitDensity):
    """Density ``a b p^(a-1) (1 - p^a)^(b-1)``, here on logit p."""

    a: Parameter
    b: Parameter

    def log_density(self, x: np.ndarray) -> TensorVariable:
        log_p, log_q = -pt.softplus(-x), -pt.softplus(x)
        return self.a * log_p + (self.b - 1) * pt.log1mexp(self.a * log_p) + log_q


def difficulty(systems: Systems) -> Kumaraswamy:
    """Priors on both shapes."""
    log_a = systems.normal("log_a", np.log(0.3), sigma=1.0, spread=0.5)
    log_b = systems.normal("log_b", np.log(3.0), sigma=1.0, spread=0.5)
    return Kumaraswamy(pt.exp(log_a), pt.exp(log_b))
