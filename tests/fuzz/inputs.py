"""The inputs of a reader, each given by its number."""

from __future__ import annotations

import random

from tests.fuzz.mutators.plain import LONGEST, mutate_bytes
from tests.fuzz.readers import READERS


class Inputs:
    """The corpus, then mutants without end.

    Parameters
    ----------
    name : str
        Of the reader.
    seed : int
    """

    def __init__(self, name, seed):
        self._name, self._seed = name, seed
        self._mutate = READERS[name].mutate
        self._files = [*READERS[name].corpus().values()]

    def __getitem__(self, number):
        """The same bytes for the same reader, seed and number."""
        if number < len(self._files):
            return self._files[number]
        rng = random.Random(f"{self._name} {self._seed} {number}")
        data = rng.choice(self._files)
        for _ in range(rng.choice((1, 1, 1, 2))):
            try:
                data = self._mutate(rng, data, self._files)
            except Exception:  # a mutant may be too broken for the mutator that knows its format
                data = mutate_bytes(rng, data, self._files)
        return data[:LONGEST]
