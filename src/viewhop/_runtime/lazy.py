"""Names that load their module on first use (PEP 562): scikit-learn alone takes a second."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # not from typing, which takes longer to import than this package
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package that loads its names lazily.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    homes : dict of str by name
        The module that defines each name; ``package.name`` if the name is that module.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = import_module(home)
        value = module if home == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(homes)
