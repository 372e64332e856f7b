"""The paper's figures and tables, one file each: data, fit, measure, draw."""

from viewhop.experiments.experiment import Context, Experiment, Picture, Result, Table, Trials
from viewhop.experiments.listing import NAMES, find
from viewhop.experiments.running import Outcome, reproduce

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
