"""The paper's figures and tables, one module each: data, fit, measures, pictures."""

from viewhop.experiments._experiment import Context, Experiment, Picture, Result, Table, Trials
from viewhop.experiments._index import NAMES, find
from viewhop.experiments._reproduce import Outcome, reproduce

__all__ = [
    "NAMES",
    "Context",
    "Experiment",
    "Outcome",
    "Picture",
    "Result",
    "Table",
    "Trials",
    "find",
    "reproduce",
]
