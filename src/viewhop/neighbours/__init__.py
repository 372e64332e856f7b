"""Neighbours: the training samples near each row."""

from viewhop.neighbours.approximate import Index, nearby
from viewhop.neighbours.cells import Cells
from viewhop.neighbours.choice import Searched, searched
from viewhop.neighbours.exact import neighbourhoods
from viewhop.neighbours.lists import Neighbourhood, symmetric

__all__ = [
    "Cells",
    "Index",
    "Neighbourhood",
    "Searched",
    "nearby",
    "neighbourhoods",
    "searched",
    "symmetric",
]
