"""Neighbours: the training samples near each row."""

from viewhop.neighbours._cells import Cells
from viewhop.neighbours._choose import Searched, searched
from viewhop.neighbours._exact import neighbourhoods
from viewhop.neighbours._faiss import Index, nearby
from viewhop.neighbours._lists import Neighbourhood, symmetric

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
