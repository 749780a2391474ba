r"""The one special function that every log-moment here is made of, accurate everywhere.

For :math:`X \sim \mathrm{Beta}(x, b)`,

.. math::

    \log E[X^a] = \ln\frac{\Gamma(x+a)\,\Gamma(x+b)}{\Gamma(x)\,\Gamma(x+a+b)}
                = -\sum_{j \ge 0} \log\left(1 + \frac{ab}{(x+j)(x+j+a+b)}\right).

Differences of ``gammaln`` lose every digit where ``x`` is small and ``a`` is large. The sum has
terms of one sign only, so nothing cancels: the first terms are taken as they stand, the rest
through Stirling's series, differenced by hand.

It is a scalar operation of PyTensor with a gradient of its own: NUTS, the prediction over draws
and the allocation compile the same kernel.
"""

__all__ = ["log_beta_moment"]

import math
from typing import Any

import numba
from pytensor.graph.basic import Apply
from pytensor.link.numba.dispatch.scalar import register_scalar_funcify, scalar_op_cache_key
from pytensor.scalar.basic import ScalarOp, upgrade_to_float
from pytensor.scalar.math import tri_gamma
from pytensor.tensor import TensorLike, TensorVariable
from pytensor.tensor.elemwise import Elemwise

# Stirling's series, cut after five terms, is exact to the last digit from here on.
_STIRLING_FROM = 10.0
# Raise it when a kernel changes: it is part of the key of PyTensor's cache on disk.
_KERNEL_VERSION = 1


def log_beta_moment(x: TensorLike, a: TensorLike, b: TensorLike) -> TensorVariable:
    r"""Log of the ``a``-th moment of a Beta(``x``, ``b``), elementwise.

    :math:`\ln\Gamma(x+a) + \ln\Gamma(x+b) - \ln\Gamma(x) - \ln\Gamma(x+a+b) \le 0`,
    symmetric in ``a`` and ``b``.

    Parameters
    ----------
    x : tensor
        First shape parameter, above 0.
    a : tensor
        Order of the moment, real, at least 0.
    b : tensor
        Second shape parameter, at least 0.

    Returns
    -------
    TensorVariable
        Relative error below 1e-11 for ``x`` from 1e-6 to 1e9 and ``a``, ``b`` up to 1e9.

    Examples
    --------
    The mean of a Beta(1, 3) is 1/4:

    >>> float(log_beta_moment(1.0, 1.0, 3.0).exp().eval())
    0.25
    """
    return _log_beta_moment(x, a, b)


@numba.njit(cache=True)
def _stirling_tail(z: float) -> float:
    # Stirling's series for lnΓ(z) beyond its term 1/(12 z).
    w = 1.0 / (z * z)
    inner = 1 / 1188 + w * (-691 / 360360 + w / 156)
    return (-1 / 360 + w * (1 / 1260 + w * (-1 / 1680 + w * inner))) * w / z


@numba.njit(cache=True)
def log_beta_moment_kernel(x: float, a: float, b: float) -> float:
    """Evaluate `log_beta_moment` for three numbers."""
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


class _LogBetaMoment(ScalarOp):
    nin = 3

    def impl(self, x: float, a: float, b: float) -> float:
        return log_beta_moment_kernel(float(x), float(a), float(b))

    def pullback(self, inputs: list[Any], outputs: list[Any], grads: list[Any]) -> list[Any]:
        x, a, b = inputs
        (grad,) = grads
        wrt_x = _digamma_difference(x, a) - _digamma_difference(x + b, a)
        wrt_a, wrt_b = -_digamma_difference(x + a, b), -_digamma_difference(x + b, a)
        return [grad * wrt_x, grad * wrt_a, grad * wrt_b]


_digamma_difference = _DigammaDifference(upgrade_to_float, name="digamma_difference")
_log_beta_moment = Elemwise(_LogBetaMoment(upgrade_to_float, name="log_beta_moment"))


@register_scalar_funcify(_DigammaDifference)
def _funcify_digamma_difference(op: ScalarOp, node: Apply, **kwargs: Any) -> tuple[Any, str]:
    return digamma_difference_kernel, scalar_op_cache_key(op, version=_KERNEL_VERSION)


@register_scalar_funcify(_LogBetaMoment)
def _funcify_log_beta_moment(op: ScalarOp, node: Apply, **kwargs: Any) -> tuple[Any, str]:
    return log_beta_moment_kernel, scalar_op_cache_key(op, version=_KERNEL_VERSION)
