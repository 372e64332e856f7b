"""The claims of the paper, each with the rule by which a run decides on it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Claim", "read_claims"]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    Attributes
    ----------
    key : str
        Name under which experiments report on it.
    where : str
        Place in the paper.
    says : str
        The claim, in our words.
    experiment : str
        Name of the experiment that tests it; empty if none can.
    rule : str
        How the verdict follows from the numbers.
    untestable : str
        Why it cannot be tested; empty if it can.
    """

    key: str
    where: str
    says: str
    experiment: str = ""
    rule: str = ""
    untestable: str = ""

    def __post_init__(self) -> None:
        if bool(self.experiment and self.rule) == bool(self.untestable):
            raise ValueError(
                f"{self.key}: expected an experiment with a rule, or a reason for none"
            )


@cache
def read_claims() -> tuple[Claim, ...]:
    """All claims, in the order of the paper.

    Examples
    --------
    >>> from viewhop.experiments import read_claims
    >>> read_claims()[0].where
    'Eqs. (13)–(14)'
    """
    table = tomllib.loads(files(__package__).joinpath("claims.toml").read_text("utf-8"))
    return tuple(Claim(key, **fields) for key, fields in table.items())
