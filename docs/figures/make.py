"""Draw the figures that the pages show."""

from pathlib import Path

import numpy as np

import bayes_passk as bp

HERE = Path(__file__).parent
KS = np.unique(np.geomspace(1, 1e6, 60).round()).astype(int)


def main() -> None:
    """Draw the demo's curve and the prior predictive of every variant."""
    fit = bp.fit(bp.thin(bp.load_smollm2(), 50, random_seed=1), random_seed=1)
    curve = bp.pass_at_k(fit, KS[KS <= 10_000])
    bp.plot_pass_at_k(curve, ci_prob=0.9, backend="matplotlib").savefig(HERE / "demo.png", dpi=110)
    for name in bp.variant_names():
        prior = bp.plot_pass_at_k(bp.prior_pass_at_k(KS, name), ci_prob=0.9, backend="matplotlib")
        prior.savefig(HERE / f"prior_{name}.png", dpi=110)


if __name__ == "__main__":
    main()
