"""Number of columns that kernels are multiplied by, counted in the multiplication."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, local
from typing import Any

__all__ = ["count_columns"]

#: Columns by (stage, view, number of samples).
Columns = Counter[tuple[str, str, int]]


@contextmanager
def count_columns(stage: Callable[[], str]) -> Iterator[Columns]:
    """A counter of the columns that affinities are multiplied by within the context.

    Parameters
    ----------
    stage : callable
        Names the stage that a product belongs to.
    """
    from viewhop.affinity import Affinity

    columns: Columns = Counter()
    lock, inside = Lock(), local()

    def count_products(multiply: Callable[..., Any]) -> Callable[..., Any]:
        def product(self: Any, V: Any) -> Any:
            if getattr(inside, "a_product", False):  # one class calls another: count once
                return multiply(self, V)
            with lock:
                width = 1 if V.ndim == 1 else V.shape[1]
                columns[stage(), self.name, self.n_samples] += width
            inside.a_product = True
            try:
                return multiply(self, V)
            finally:
                inside.a_product = False

        return product

    classes = [kind for kind in _subclasses(Affinity) if "__matmul__" in vars(kind)]
    plain = [kind.__matmul__ for kind in classes]
    for kind, multiply in zip(classes, plain, strict=True):
        kind.__matmul__ = count_products(multiply)
    try:
        yield columns
    finally:
        for kind, multiply in zip(classes, plain, strict=True):
            kind.__matmul__ = multiply


def _subclasses(kind: type) -> Iterator[type]:
    """All subclasses of a class, once each."""
    for child in dict.fromkeys(kind.__subclasses__()):
        yield child
        yield from _subclasses(child)
