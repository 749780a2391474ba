"""Version of the package, and nothing else."""

__version__ = "0.1.0"
