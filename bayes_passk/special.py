r"""The special function that every log-moment here is made of, accurate everywhere.

For :math:`X \sim \mathrm{Beta}(x, b)`,

.. math::

    \log E[X^a] = \ln\frac{\Gamma(x+a)\,\Gamma(x+b)}{\Gamma(x)\,\Gamma(x+a+b)}
                = -\sum_{j \ge 0} \log\left(1 + \frac{ab}{(x+j)(x+j+a+b)}\right).

Differences of ``gammaln`` lose every digit where ``x`` is small and ``a`` is large. The sum has
terms of one sign only, so nothing cancels: the first terms are taken as they stand, the rest
through Stirling's series, differenced by hand.

The log-moment of a beta is two of these. It is a scalar operation of PyTensor with a gradient of
its own: NUTS, the prediction over draws and the allocation compile the same kernel.
"""

__all__ = ["beta_log_moment"]

import math
from typing import Any

import numba
from pytensor.graph.basic import Apply
from pytensor.link.numba.dispatch.scalar import register_scalar_funcify, scalar_op_cache_key
from pytensor.scalar.basic import ScalarOp, upgrade_to_float
from pytensor.scalar.math import tri_gamma
from pytensor.tensor import TensorLike, TensorVariable
from pytensor.tensor.elemwise import Elemwise

# Stirling's series, cut after six terms, is exact to the last digit from here on.
_STIRLING_FROM = 10.0
# Raise it when a kernel changes: it is part of the key of PyTensor's cache on disk.
_KERNEL_VERSION = 2


def beta_log_moment(
    alpha: TensorLike, beta: TensorLike, s: TensorLike, f: TensorLike
) -> TensorVariable:
    r"""``log E[p^s (1-p)^f]`` for ``p`` from a Beta(``alpha``, ``beta``), elementwise.

    .. math::

        \ln\frac{B(\alpha+s, \beta+f)}{B(\alpha, \beta)}
        = \log E_{\mathrm{Beta}(\alpha, \beta)}[p^s]
        + \log E_{\mathrm{Beta}(\beta, \alpha+s)}[q^f] \le 0

    Parameters
    ----------
    alpha, beta : tensor
        Shape parameters, above 0.
    s, f : tensor
        Orders in successes and in failures, real, at least 0.

    Returns
    -------
    TensorVariable
        Relative error below 1e-11 for shapes from 1e-6 to 1e9 and orders up to 1e9.

    Examples
    --------
    The mean of a Beta(1, 3) is 1/4:

    >>> float(beta_log_moment(1.0, 3.0, 1.0, 0.0).exp().eval())
    0.25
    """
    return _beta_log_moment(alpha, beta, s, f)


@numba.njit(cache=True)
def _stirling_tail(z: float) -> float:
    # Stirling's series for lnΓ(z) beyond its term 1/(12 z).
    w = 1.0 / (z * z)
    inner = 1 / 1188 + w * (-691 / 360360 + w / 156)
    return (-1 / 360 + w * (1 / 1260 + w * (-1 / 1680 + w * inner))) * w / z


@numba.njit(cache=True)
def log_beta_moment_kernel(x: float, a: float, b: float) -> float:
    """Log of the ``a``-th moment of a Beta(``x``, ``b``); symmetric in ``a`` and ``b``."""
    if a == 0.0 or b == 0.0:
        return 0.0
    product = 0.0  # of the factors 1 + t, less one, so that small t keep their digits
    while x < _STIRLING_FROM:
        t = a / x * (b / (x + a + b))
        product += t + product * t
        x += 1.0
    xa, xb, xab = x + a, x + b, x + a + b
    t = a / x * (b / xab)
    leading = a * math.log1p(b / xa) + b * math.log1p(a / xb) - (x - 0.5) * math.log1p(t)
    twelfth = a / x * (b / xa) * ((x + xab) / xb) / (12.0 * xab)
    tail = _stirling_tail(xab) + _stirling_tail(x) - _stirling_tail(xa) - _stirling_tail(xb)
    return -(math.log1p(product) + leading + twelfth + tail)


@numba.njit(cache=True)
def beta_log_moment_kernel(alpha: float, beta: float, s: float, f: float) -> float:
    """Evaluate `beta_log_moment` for four numbers."""
    return log_beta_moment_kernel(alpha, s, beta) + log_beta_moment_kernel(beta, f, alpha + s)


@numba.njit(cache=True)
def _digamma_tail(z: float) -> float:
    # ψ(z) = ln z - 1/(2z) - this.
    w = 1.0 / (z * z)
    inner = 1 / 240 - w * (1 / 132 - w * (691 / 32760))
    return w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * inner)))


@numba.njit(cache=True)
def digamma_difference_kernel(x: float, a: float) -> float:
    """Evaluate ``ψ(x + a) - ψ(x)`` for ``x > 0`` and ``a >= 0`` without cancellation."""
    if a == 0.0:
        return 0.0
    total = 0.0
    while x < _STIRLING_FROM:
        total += a / (x + a) / x
        x += 1.0
    y = x + a
    return total + math.log1p(a / x) + 0.5 * a / y / x + _digamma_tail(x) - _digamma_tail(y)


class _DigammaDifference(ScalarOp):
    nin = 2

    def impl(self, x: float, a: float) -> float:
        return digamma_difference_kernel(float(x), float(a))

    def pullback(self, inputs: list[Any], outputs: list[Any], grads: list[Any]) -> list[Any]:
        x, a = inputs
        (grad,) = grads
        return [grad * (tri_gamma(x + a) - tri_gamma(x)), grad * tri_gamma(x + a)]


class _BetaLogMoment(ScalarOp):
    nin = 4

    def impl(self, alpha: float, beta: float, s: float, f: float) -> float:
        return beta_log_moment_kernel(float(alpha), float(beta), float(s), float(f))

    def pullback(self, inputs: list[Any], outputs: list[Any], grads: list[Any]) -> list[Any]:
        alpha, beta, s, f = inputs
        (grad,) = grads
        both = _digamma_difference(alpha + beta, s + f)
        wrt_alpha = _digamma_difference(alpha, s) - both
        wrt_beta = _digamma_difference(beta, f) - both
        wrt_s = -_digamma_difference(alpha + s, beta + f)
        wrt_f = -_digamma_difference(beta + f, alpha + s)
        return [grad * wrt_alpha, grad * wrt_beta, grad * wrt_s, grad * wrt_f]


_digamma_difference = _DigammaDifference(upgrade_to_float, name="digamma_difference")
_beta_log_moment = Elemwise(_BetaLogMoment(upgrade_to_float, name="beta_log_moment"))


@register_scalar_funcify(_DigammaDifference)
def _funcify_digamma_difference(op: ScalarOp, node: Apply, **kwargs: Any) -> tuple[Any, str]:
    return digamma_difference_kernel, scalar_op_cache_key(op, version=_KERNEL_VERSION)


@register_scalar_funcify(_BetaLogMoment)
def _funcify_beta_log_moment(op: ScalarOp, node: Apply, **kwargs: Any) -> tuple[Any, str]:
    return beta_log_moment_kernel, scalar_op_cache_key(op, version=_KERNEL_VERSION)
