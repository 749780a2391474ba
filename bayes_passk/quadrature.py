r"""Log-moments of any density on logit p, by quadrature that follows the integrand.

With :math:`x = \operatorname{logit} X` and a log-density :math:`L(x)`,

.. math::

    \log \int e^{L(x)} \, r(x)^c \, (1 - r(x))^d \, X^s (1 - X)^f \, dx, \qquad
    r = \text{lowest} \, (1 - X) + \text{highest} \, X,

is summed by the trapezoid rule, which converges faster than any power of the spacing where the
integrand is smooth and vanishes at both ends. :math:`L` is tabulated on a fixed grid; between its
nodes it is interpolated by quintics, and the sum runs over a spacing finer than the integrand's own
peak: a problem with 10^5 attempts needs no finer table. Beyond the ends of the grid the integrand
goes on log-linearly, as a geometric series with the slope it has there: a beta with a shape of
0.03 has 60 % of its mass below logit p = -20.

The kernel :math:`r^c (1-r)^d X^s (1-X)^f` is evaluated only where the integrand is not negligible,
so it costs less than a product with a stored matrix of it, and no data need be kept for it.
"""

__all__ = ["GRID", "log_integral", "sample_logits"]

import math
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key
from pytensor.tensor import TensorVariable
from pytensor.tensor.rewriting.basic import register_specialize

_STEP = 0.25
GRID = np.arange(-144, 145) * _STEP
"""Nodes on logit p, from -36 to 36."""

# Nodes that lie further below the peak (in logs) add nothing to the last digit.
_NEGLIGIBLE = 37.0
# Spacing in standard deviations of the peak: the rule's error is then below 1e-15.
_FINENESS = 0.75
# A finer spacing than this fraction of a step is never needed: 10^9 attempts.
_FINEST = 40_000
# Raise it when a kernel changes: it is part of the key of PyTensor's cache on disk.
_KERNEL_VERSION = 1


def log_integral(
    log_density: Any, row: Any, c: Any, d: Any, lowest: Any, highest: Any, s: Any, f: Any
) -> TensorVariable:
    """Graph of the integral above for rows of a table of log-densities.

    Parameters
    ----------
    log_density : tensor, shape (table, node)
        Log-densities at the nodes of `GRID`, not necessarily normalised.
    row : tensor of int
        Which density; broadcasts with the others.
    c, d, s, f : tensor
        Orders, at least 0.
    lowest, highest : tensor
        Ends of the rate ``r``, between 0 and 1.

    Returns
    -------
    TensorVariable
        NaN where a density does not fall towards an end of the grid.
    """
    values: Any = pt.broadcast_arrays(
        pt.as_tensor(row).astype("int64"), *(_float(v) for v in (c, d, lowest, highest, s, f))
    )
    shape = values[0].shape
    ndim = values[0].ndim
    inputs = [_float(log_density), *(value.ravel() for value in values)]
    outputs: Any = _linearised_log_integral(*inputs)
    reshaped: TensorVariable = outputs[0].reshape(shape, ndim=ndim)
    return reshaped


def sample_logits(
    log_density: np.ndarray,
    row: np.ndarray,
    weighting: Sequence[np.ndarray],
    repeats: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw logit X from the normalised integrand, ``repeats`` times for each unit.

    Parameters
    ----------
    log_density : ndarray, shape (table, node)
        Log-densities at the nodes of `GRID`.
    row : ndarray of int, shape (sample, unit)
        Which density.
    weighting : sequence of four ndarray, shape (sample, unit)
        ``c``, ``d``, ``lowest`` and ``highest`` of the kernel that weights it.
    repeats : ndarray of int, shape (unit,)
        How many draws of each unit.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray, shape (sample, sum of repeats)
    """
    uniform = rng.random((2, len(row), int(repeats.sum())))
    c, d, lowest, highest = weighting
    return _sample(log_density, row, c, d, lowest, highest, repeats, uniform)


def _float(value: Any) -> TensorVariable:
    return pt.as_tensor(np.float64(value) if isinstance(value, int | float) else value)


def _log_sigmoid(x: np.ndarray) -> np.ndarray:
    return -np.logaddexp(0.0, -x)


_LOG_P, _LOG_Q = _log_sigmoid(GRID), _log_sigmoid(-GRID)
_P, _Q = np.exp(_LOG_P), np.exp(_LOG_Q)


@numba.njit(cache=True)
def _tabulate_rate(lowest: float, highest: float, log_r: np.ndarray, log_not_r: np.ndarray) -> None:
    if lowest == 0.0 and highest == 1.0:
        log_r[:] = _LOG_P
        log_not_r[:] = _LOG_Q
        return
    for j in range(len(GRID)):
        log_r[j] = math.log(lowest * _Q[j] + highest * _P[j])
        log_not_r[j] = math.log((1.0 - lowest) * _Q[j] + (1.0 - highest) * _P[j])


@numba.njit(cache=True)
def _probabilities(x: float) -> tuple[float, float]:
    e = math.exp(-abs(x))
    small, large = e / (1.0 + e), 1.0 / (1.0 + e)
    return (small, large) if x < 0.0 else (large, small)


@numba.njit(cache=True)
def _logs(x: float, lowest: float, highest: float) -> tuple[float, float, float, float]:
    # log X, log(1-X), log r, log(1-r), each with all its digits.
    large = -math.log1p(math.exp(-abs(x)))
    log_p, log_q = (x + large, large) if x < 0.0 else (large, large - x)
    if lowest == 0.0 and highest == 1.0:
        return log_p, log_q, log_p, log_q
    p, q = _probabilities(x)
    log_r = math.log(lowest * q + highest * p)
    return log_p, log_q, log_r, math.log((1.0 - lowest) * q + (1.0 - highest) * p)


@numba.njit(cache=True)
def _product(order: float, log_base: float) -> float:
    # 0^0 is 1: a rate whose end is 0 or 1 has a log of -inf.
    return 0.0 if order == 0.0 else order * log_base


@numba.njit(cache=True)
def _weights_of(t: float, out: np.ndarray) -> None:
    # Lagrange's weights of the quintic through the nodes -2, -1, 0, 1, 2, 3.
    a, b, c, d, e, f = t + 2.0, t + 1.0, t, t - 1.0, t - 2.0, t - 3.0
    out[0] = -b * c * d * e * f / 120.0
    out[1] = a * c * d * e * f / 24.0
    out[2] = -a * b * d * e * f / 12.0
    out[3] = a * b * c * e * f / 12.0
    out[4] = -a * b * c * d * f / 24.0
    out[5] = a * b * c * d * e / 120.0


@numba.njit(cache=True)
def _place(i: int, m: int) -> tuple[int, float]:
    # First of the six table nodes around the i-th fine node, and its place from the third of them.
    j = min(max(i // m - 2, 0), len(GRID) - 6)
    return j, i / m - (j + 2)


@numba.njit(cache=True)
def _fine(
    density: np.ndarray,
    i: int,
    m: int,
    orders: tuple[float, float, float, float],
    rate: tuple[float, float],
    six: np.ndarray,
) -> float:
    # Log of the integrand at the i-th node of a grid m times as fine.
    c, d, s, f = orders
    j, t = _place(i, m)
    _weights_of(t, six)
    table = 0.0
    for n in range(6):
        table += six[n] * density[j + n]
    log_p, log_q, log_r, log_not_r = _logs(GRID[0] + i * (_STEP / m), rate[0], rate[1])
    kernel = _product(c, log_r) + _product(d, log_not_r) + s * log_p + f * log_q
    return table + kernel


@numba.njit(cache=True)
def _integrand(
    density: np.ndarray,
    orders: tuple[float, float, float, float],
    rate: tuple[float, float],
    log_r: np.ndarray,
    log_not_r: np.ndarray,
    coarse: np.ndarray,
    node: np.ndarray,
    weight: np.ndarray,
) -> tuple[int, int, float, float, float]:
    """Nodes of the rule and the logs of their shares, tails in the first and last node.

    Returns the number of nodes, how many times finer than the table they are, the slopes of the
    tails (0 where the sum does not reach them), and the log of the integral.
    """
    c, d, s, f = orders
    last = len(GRID) - 1
    for j in range(last + 1):
        coarse[j] = density[j] + s * _LOG_P[j] + f * _LOG_Q[j]
    if c > 0.0:
        for j in range(last + 1):
            coarse[j] += c * log_r[j]
    if d > 0.0:
        for j in range(last + 1):
            coarse[j] += d * log_not_r[j]
    peak = int(np.argmax(coarse))
    top = coarse[peak]
    if not np.isfinite(top):
        return 0, 1, 0.0, 0.0, np.nan
    inner = min(max(peak, 1), last - 1)
    curvature = 2.0 * coarse[inner] - coarse[inner - 1] - coarse[inner + 1]
    m = max(1, math.ceil(math.sqrt(max(curvature, 0.0)) / _FINENESS))
    m = int(min(m, _FINEST))
    count = 0
    six = np.empty(6)
    if m == 1:
        for j in range(last + 1):
            if coarse[j] > top - _NEGLIGIBLE or j == 0 or j == last:
                node[count], weight[count] = j, coarse[j]
                count += 1
    else:
        start = peak * m
        for direction in (-1, 1):
            i = start if direction == 1 else start - 1
            while 0 <= i <= last * m and count < len(node):
                value = _fine(density, i, m, orders, rate, six)
                top = max(top, value)
                if value < top - _NEGLIGIBLE:
                    break
                node[count], weight[count] = i, value
                count += 1
                i += direction
    left = right = 0.0
    total = 0.0
    for n in range(count):
        if node[n] == 0:
            left = (density[1] - density[0]) / _STEP + s + (c if rate[0] == 0.0 else 0.0)
            if not left > 0.0:
                return 0, 1, 0.0, 0.0, np.nan
            weight[n] -= math.log(-math.expm1(-left * _STEP / m))
        elif node[n] == last * m:
            right = (density[last - 1] - density[last]) / _STEP + f + (d if rate[1] == 1.0 else 0.0)
            if not right > 0.0:
                return 0, 1, 0.0, 0.0, np.nan
            weight[n] -= math.log(-math.expm1(-right * _STEP / m))
        weight[n] = math.exp(weight[n] - top)
        total += weight[n]
    for n in range(count):
        weight[n] /= total
    return count, m, left, right, top + math.log(total) + math.log(_STEP / m)


@numba.njit(cache=True)
def _scratch() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    size = len(GRID)
    # A peak that needs finer steps is steep on both sides: some tens of nodes, far below this.
    room = 8 * size
    return np.empty(size), np.empty(size), np.empty(size), np.empty(room, np.int64), np.empty(room)


@numba.njit(cache=True)
def _evaluate(
    table: np.ndarray,
    row: np.ndarray,
    c: np.ndarray,
    d: np.ndarray,
    lowest: np.ndarray,
    highest: np.ndarray,
    s: np.ndarray,
    f: np.ndarray,
) -> np.ndarray:
    log_r, log_not_r, coarse, node, weight = _scratch()
    out = np.empty(len(row))
    for u in range(len(row)):
        if u == 0 or lowest[u] != lowest[u - 1] or highest[u] != highest[u - 1]:
            _tabulate_rate(lowest[u], highest[u], log_r, log_not_r)
        orders, rate = (c[u], d[u], s[u], f[u]), (lowest[u], highest[u])
        out[u] = _integrand(table[row[u]], orders, rate, log_r, log_not_r, coarse, node, weight)[4]
    return out


@numba.njit(cache=True)
def _linearise(
    table: np.ndarray,
    row: np.ndarray,
    c: np.ndarray,
    d: np.ndarray,
    lowest: np.ndarray,
    highest: np.ndarray,
    s: np.ndarray,
    f: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    # The integrals, and their derivatives in the table's row and in both ends of the rate.
    log_r, log_not_r, coarse, node, weight = _scratch()
    out = np.empty(len(row))
    jacobian = np.zeros((len(row), table.shape[1]))
    by_lowest, by_highest = np.zeros(len(row)), np.zeros(len(row))
    six = np.empty(6)
    last = len(GRID) - 1
    for u in range(len(row)):
        if u == 0 or lowest[u] != lowest[u - 1] or highest[u] != highest[u - 1]:
            _tabulate_rate(lowest[u], highest[u], log_r, log_not_r)
        orders, rate = (c[u], d[u], s[u], f[u]), (lowest[u], highest[u])
        count, m, left, right, total = _integrand(
            table[row[u]], orders, rate, log_r, log_not_r, coarse, node, weight
        )
        out[u] = total
        by_node = jacobian[u]
        if not np.isfinite(total):
            by_node[:] = np.nan
            continue
        for n in range(count):
            share = weight[n]
            if m == 1:
                by_node[node[n]] += share
            else:
                j, t = _place(node[n], m)
                _weights_of(t, six)
                for q in range(6):
                    by_node[j + q] += share * six[q]
            # The tail's sum depends on its slope, which two nodes of the table give.
            if node[n] == 0:
                slope = share / math.expm1(min(left * _STEP / m, 700.0)) / m
                by_node[0] += slope
                by_node[1] -= slope
            elif node[n] == last * m:
                slope = share / math.expm1(min(right * _STEP / m, 700.0)) / m
                by_node[last] += slope
                by_node[last - 1] -= slope
        if rate[0] != 0.0 or rate[1] != 1.0:
            for n in range(count):
                p, not_p = _probabilities(GRID[0] + node[n] * (_STEP / m))
                per_rate = c[u] / (rate[0] * not_p + rate[1] * p) if c[u] > 0.0 else 0.0
                if d[u] > 0.0:
                    per_rate -= d[u] / ((1.0 - rate[0]) * not_p + (1.0 - rate[1]) * p)
                by_lowest[u] += weight[n] * per_rate * not_p
                by_highest[u] += weight[n] * per_rate * p
    return out, jacobian, by_lowest, by_highest


@numba.njit(cache=True)
def _accumulate(rows: np.ndarray, row: np.ndarray, bar: np.ndarray, like: np.ndarray) -> np.ndarray:
    # The rows of a Jacobian, times their cotangents, added up in the rows of the table.
    out = np.zeros(like.shape)
    for u in range(len(row)):
        for j in range(rows.shape[1]):
            out[row[u], j] += bar[u] * rows[u, j]
    return out


@numba.njit(cache=True)
def _sample(
    table: np.ndarray,
    row: np.ndarray,
    c: np.ndarray,
    d: np.ndarray,
    lowest: np.ndarray,
    highest: np.ndarray,
    repeats: np.ndarray,
    uniform: np.ndarray,
) -> np.ndarray:
    log_r, log_not_r, coarse, node, weight = _scratch()
    out = np.empty(uniform.shape[1:])
    last = len(GRID) - 1
    for t in range(row.shape[0]):
        position = 0
        for u in range(row.shape[1]):
            rate = (lowest[t, u], highest[t, u])
            _tabulate_rate(rate[0], rate[1], log_r, log_not_r)
            orders = (c[t, u], d[t, u], 0.0, 0.0)
            count, m, left, right, _total = _integrand(
                table[row[t, u]], orders, rate, log_r, log_not_r, coarse, node, weight
            )
            cumulative = np.cumsum(weight[:count])
            for _ in range(repeats[u]):
                if count == 0:
                    out[t, position] = np.nan
                    position += 1
                    continue
                pick = np.searchsorted(cumulative, uniform[0, t, position] * cumulative[-1])
                i = node[min(pick, count - 1)]
                spacing = _STEP / m
                x = GRID[0] + i * spacing
                within = uniform[1, t, position]
                if i == 0:
                    x += 0.5 * spacing + math.log1p(-within) / left
                elif i == last * m:
                    x -= 0.5 * spacing + math.log1p(-within) / right
                else:
                    x += (within - 0.5) * spacing
                out[t, position] = x
                position += 1
    return out


class _LogIntegral(Op):
    """The integrals alone, where nobody asks for a gradient."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, [pt.as_tensor(x) for x in inputs], [pt.dvector()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = _evaluate(*inputs)

    def infer_shape(self, node: Apply, input_shapes: Any) -> Any:
        return [input_shapes[1]]


class _LinearisedLogIntegral(Op):
    """The integrals and what their gradient needs, from one pass over the nodes."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        outputs = [pt.dvector(), pt.dmatrix(), pt.dvector(), pt.dvector()]
        return Apply(self, [pt.as_tensor(x) for x in inputs], outputs)

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        for storage, value in zip(output_storage, _linearise(*inputs), strict=True):
            storage[0] = value

    def infer_shape(self, node: Apply, input_shapes: Any) -> Any:
        size = input_shapes[1]
        return [size, (size[0], input_shapes[0][1]), size, size]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        # The orders and the row are data, and the Jacobian is not differentiated again.
        return [[i in (0, 4, 5), False, False, False] for i in range(8)]

    def pullback(self, inputs: Any, outputs: Any, grads: Any) -> list[Any]:
        bar = grads[0]
        if isinstance(bar.type, DisconnectedType):
            return [disconnected_type() for _ in inputs]
        _, jacobian, by_lowest, by_highest = outputs
        found = {
            0: _accumulate_rows(jacobian, inputs[1], bar, inputs[0]),
            4: bar * by_lowest,
            5: bar * by_highest,
        }
        return [found[i] if i in found else disconnected_type() for i in range(8)]


class _AccumulateRows(Op):
    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, [pt.as_tensor(x) for x in inputs], [pt.dmatrix()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = _accumulate(*inputs)

    def infer_shape(self, node: Apply, input_shapes: Any) -> Any:
        return [input_shapes[3]]


_log_integral = _LogIntegral()
_linearised_log_integral = _LinearisedLogIntegral()
_accumulate_rows = _AccumulateRows()


@register_specialize
@node_rewriter([_LinearisedLogIntegral])
def _without_gradient(fgraph: Any, node: Apply) -> Any:
    if any(fgraph.clients[output] for output in node.outputs[1:]):
        return None
    return {node.outputs[0]: _log_integral(*node.inputs)}


@register_funcify_default_op_cache_key(_LogIntegral)
def _funcify_log_integral(op: Op, node: Apply, **kwargs: Any) -> tuple[Any, int]:
    return _evaluate, _KERNEL_VERSION


@register_funcify_default_op_cache_key(_LinearisedLogIntegral)
def _funcify_linearised(op: Op, node: Apply, **kwargs: Any) -> tuple[Any, int]:
    return _linearise, _KERNEL_VERSION


@register_funcify_default_op_cache_key(_AccumulateRows)
def _funcify_accumulate_rows(op: Op, node: Apply, **kwargs: Any) -> tuple[Any, int]:
    return _accumulate, _KERNEL_VERSION
