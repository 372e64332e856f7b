"""The paper's figures and tables, one module each: data, fit, measures, pictures."""

from viewhop.experiments._claims import Claim, read_claims
from viewhop.experiments._experiment import Context, Experiment, Picture, Result, Table, Trials
from viewhop.experiments._findings import Finding
from viewhop.experiments._index import NAMES, find
from viewhop.experiments._reproduce import Outcome, reproduce

__all__ = [
    "NAMES",
    "Claim",
    "Context",
    "Experiment",
    "Finding",
    "Outcome",
    "Picture",
    "Result",
    "Table",
    "Trials",
    "find",
    "read_claims",
    "reproduce",
]
