"""Seconds that a fit spends in some of its functions."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any
from unittest.mock import patch

__all__ = ["SOLVE", "profile"]

#: Parts of a sparse solve, each the places of its functions. Products and algebra of the coarse
#: start count in both.
SOLVE: dict[str, tuple[tuple[str, str], ...]] = {
    "merged samples and the start from them": (
        ("viewhop.solvers._multilevel", "_levels"),
        ("viewhop.solvers._multilevel", "_order_levels"),
        ("viewhop.solvers._multilevel", "_start_from_levels"),
    ),
    "products with the kernels": (("viewhop.affinity._graph.Graph", "__matmul__"),),
    "algebra of the basis": tuple(
        ("viewhop.solvers._tall.Tall", name)
        for name in ("inner", "product", "without", "turn", "residuals")
    ),
    "vectors between nodes from those between samples": (("viewhop.walks._hop.HopWalk", "lift"),),
    "connected pieces": (("viewhop.walks._hop.HopWalk", "pieces"),),
}


@contextmanager
def profile(parts: dict[str, tuple[tuple[str, str], ...]]) -> Iterator[dict[str, float]]:
    """Seconds by part, complete when the context ends."""
    seconds = dict.fromkeys(parts, 0.0)

    def timed(part: str, function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            start = perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                seconds[part] += perf_counter() - start

        return call

    patches = []
    try:
        for part, places in parts.items():
            for owner, name in places:
                replacement = patch(f"{owner}.{name}", timed(part, _resolve(owner, name)))
                replacement.start()
                patches.append(replacement)
        yield seconds
    finally:
        for replacement in patches:
            replacement.stop()


def _resolve(owner: str, name: str) -> Any:
    """The function that an owner, a module or a class, has under a name."""
    from pkgutil import resolve_name

    return getattr(resolve_name(owner), name)
