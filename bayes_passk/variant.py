"""What a model variant is, and how one is found by name or by path.

A variant is a Python file with a function ``difficulty(systems)`` that puts priors over the
systems (`bayes_passk.pooling.Systems`) and returns the difficulty distribution that they make.
Keyword-only arguments with defaults are its options; one named ``by`` is the name of a covariate
of the problems that splits each system into groups (`Systems.crossed`).
"""

__all__ = ["Variant", "find_variant", "variant_names"]

import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from bayes_passk.errors import OptionError, UnknownNameError, VariantError, did_you_mean

type Option = bool | int | float | str


@dataclass(frozen=True)
class Variant:
    """A model variant with its options chosen.

    Parameters
    ----------
    name : str
        Its file's name without the ending.
    build : callable
        ``build(systems, **options)`` inside a PyMC model returns a difficulty distribution.
    options : tuple of (str, value)
        Options that differ from the defaults, sorted by name.
    source : str
        Digest of the file's text, so that a fit says which text it was made with.
    description : str
        First line of the file's docstring.
    covariate : str or None
        Covariate of the problems that splits each system: the option ``by``, if there is one.
    path : str or None
        The file, where the variant was named by its path.
    """

    name: str
    build: Callable
    options: tuple[tuple[str, Option], ...]
    source: str
    description: str
    covariate: str | None = None
    path: str | None = None


def find_variant(variant: str | Path, **options: Option) -> Variant:
    """Find a variant by its name or by the path of its file.

    Parameters
    ----------
    variant : str or Path
        A name from `variant_names`, or a path that ends in ``.py``. A file that is named is
        imported, which runs it: name only files that you trust.
    **options
        The variant's own options.

    Raises
    ------
    UnknownNameError
        No variant of that name.
    VariantError
        The file does not import, or holds no function ``difficulty(systems)``.
    OptionError
        The variant has no such option.

    Examples
    --------
    >>> find_variant("beta_binomial").description
    'Beta-binomial: success probabilities follow a beta distribution over problems.'
    """
    module, path = _import(str(variant))
    build = getattr(module, "difficulty", None)
    if not inspect.isfunction(build):
        raise VariantError(f"{path}: expected a function difficulty(systems), found none")
    covariate = (_options(build) | options).get("by")
    _check_options(path.stem, build, options)
    description = (inspect.getdoc(module) or path.stem).splitlines()[0]
    source = hashlib.sha256(path.read_bytes()).hexdigest()
    chosen = tuple(sorted(options.items()))
    named_by_path = str(path) if str(variant).endswith(".py") else None
    return Variant(path.stem, build, chosen, source, description, covariate, named_by_path)


def variant_names() -> list[str]:
    """Names of the variants that come with the toolkit.

    Examples
    --------
    >>> "beta_binomial" in variant_names()
    True
    """
    return sorted(module.name for module in pkgutil.iter_modules(_models().__path__))


def _models() -> ModuleType:
    return importlib.import_module("bayes_passk.models")


def _import(variant: str) -> tuple[ModuleType, Path]:
    if variant.endswith(".py"):
        path = Path(variant)
        return _import_file(path), path
    if variant not in variant_names():
        hint = did_you_mean(variant, variant_names())
        raise UnknownNameError(f"expected a variant's name or a .py file, got {variant!r}: {hint}")
    module = importlib.import_module(f"{_models().__name__}.{variant}")
    return module, Path(inspect.getfile(module))


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise VariantError(f"{path}: expected a variant's Python file, found no such file")
    spec = importlib.util.spec_from_file_location(f"_bayes_passk_variant_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise VariantError(f"{path}: expected a Python file that can be imported")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise VariantError(f"{path}: the variant does not import: {reason}") from error
    return module


def _options(build: Callable) -> dict[str, Any]:
    known = inspect.signature(build).parameters.items()
    return {key: p.default for key, p in known if p.kind is inspect.Parameter.KEYWORD_ONLY}


def _check_options(name: str, build: Callable, options: dict[str, Option]) -> None:
    allowed = _options(build)
    for option in options:
        if option not in allowed:
            listed = ", ".join(allowed) or "none"
            raise OptionError(f"variant {name} has no option {option!r}; its options: {listed}")
