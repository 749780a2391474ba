"""Each variant's success probabilities drawn with NumPy, apart from the package.

``SIMULATORS[name](rng, parameters, n_problems)`` takes one draw of the named parameters and gives
the probability of each problem, shape (system, problem).
"""

import numpy as np


def sigmoid(x):
    return np.exp(-np.logaddexp(0.0, -np.asarray(x, dtype=np.float64)))


def logit_of_beta(rng, alpha, beta, size):
    # Logs of gamma draws: shapes of 0.01 underflow.
    logs = [
        np.log(rng.standard_gamma(np.broadcast_to(shape, size) + 1))
        + np.log(rng.random(size)) / shape
        for shape in (alpha, beta)
    ]
    return logs[0] - logs[1]


def beta(rng, parameters, n_problems):
    alpha, shape = (np.atleast_1d(parameters[name])[:, None] for name in ("alpha", "beta"))
    return sigmoid(logit_of_beta(rng, alpha, shape, (len(alpha), n_problems)))


def zero_inflated(rng, parameters, n_problems):
    p = beta(rng, parameters, n_problems)
    never = sigmoid(parameters["unsolvable_log_odds"])[:, None]
    return np.where(rng.random(p.shape) < never, 0.0, p)


def zero_one_inflated(rng, parameters, n_problems):
    p = beta(rng, parameters, n_problems)
    always = sigmoid(parameters["certain_log_odds"])[:, None]
    p = np.where(rng.random(p.shape) < always, 1.0, p)
    never = sigmoid(parameters["unsolvable_log_odds"])[:, None]
    return np.where(rng.random(p.shape) < never, 0.0, p)


def scaled_beta(rng, parameters, n_problems):
    return parameters["scale"][:, None] * beta(rng, parameters, n_problems)


def kumaraswamy(rng, parameters, n_problems):
    a, b = (parameters[name][:, None] for name in ("a", "b"))
    log_tail = np.log(rng.random((len(a), n_problems))) / b
    return np.exp(np.log(-np.expm1(log_tail)) / a)


def logit_normal(rng, parameters, n_problems):
    mu, sigma = (parameters[name][:, None] for name in ("mu", "sigma"))
    return sigmoid(rng.normal(mu, sigma, (len(mu), n_problems)))


def generalised_logistic(rng, parameters, n_problems):
    alpha, shape, stretch = (parameters[n][:, None] for n in ("alpha", "beta", "stretch"))
    return sigmoid(stretch * logit_of_beta(rng, alpha, shape, (len(alpha), n_problems)))


def beta_mixture(rng, parameters, n_problems):
    weight = np.exp(parameters["log_weight"][0])
    kind = rng.choice(len(weight), n_problems, p=weight / weight.sum())
    alpha, shape = (parameters[name][0, kind] for name in ("alpha", "beta"))
    return sigmoid(logit_of_beta(rng, alpha, shape, n_problems))[None]


def flexible(rng, parameters, n_problems):
    # By the distribution function on a fine grid, far into the tails.
    x = np.linspace(-400, 60, 40_001)
    alpha, shape = (float(parameters[name][0]) for name in ("alpha", "beta"))
    centres = np.arange(-12.0, 5.0, 2.0)
    bumps = parameters["bumps"][0] @ np.exp(-(((x - centres[:, None]) / 2) ** 2) / 2)
    log_density = bumps - alpha * np.logaddexp(0, -x) - shape * np.logaddexp(0, x)
    cumulative = np.cumsum(np.exp(log_density - log_density.max()))
    uniform = rng.random(n_problems) * cumulative[-1]
    return sigmoid(np.interp(uniform, cumulative, x))[None]


def grouped(rng, parameters, n_problems):
    # Problems take turns over the levels.
    level = np.arange(n_problems) % parameters["alpha"].shape[1]
    alpha, shape = (parameters[name][:, level] for name in ("alpha", "beta"))
    return sigmoid(logit_of_beta(rng, alpha, shape, alpha.shape))


def shared_difficulty(rng, parameters, n_problems):
    node, weight = np.polynomial.hermite_e.hermegauss(21)
    drawn = node[rng.choice(21, n_problems, p=weight / weight.sum())]
    mean = sigmoid(parameters["ability"][:, None] - np.exp(parameters["log_sigma"]) * drawn)
    concentration = np.exp(parameters["log_concentration"])[:, None]
    size = mean.shape
    return sigmoid(logit_of_beta(rng, mean * concentration, (1 - mean) * concentration, size))


def noisy_verifier(rng, parameters, n_problems):
    p = beta(rng, parameters, n_problems)
    # Rates of the defaults: what is counted, not what is so.
    return 0.95 * p + (1 - 0.99) * (1 - p)


SIMULATORS = {
    "beta_binomial": beta,
    "beta_mixture": beta_mixture,
    "flexible": flexible,
    "generalised_logistic": generalised_logistic,
    "grouped": grouped,
    "kumaraswamy": kumaraswamy,
    "logit_normal": logit_normal,
    "noisy_verifier": noisy_verifier,
    "scaled_beta": scaled_beta,
    "shared_difficulty": shared_difficulty,
    "zero_inflated": zero_inflated,
    "zero_one_inflated": zero_one_inflated,
}
