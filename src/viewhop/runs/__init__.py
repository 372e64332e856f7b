"""Runs: what ``viewhop fit``, ``cluster``, ``advise``, ``transform`` and ``report`` do on files.

`execute` fits a model on files and writes a folder; `transform_files` places new samples;
`write_report` writes a report again; `verify` compares a folder with its record; `advise_files`
recommends settings. None of them needs the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewhop._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from viewhop._runtime.outputs import OutputError
    from viewhop.runs._advise_files import FileAdvice, advise_files
    from viewhop.runs._configuration import merge_settings, read_configuration
    from viewhop.runs._execute import RunResult, execute
    from viewhop.runs._kernel_settings import KernelSettings
    from viewhop.runs._record import read_record
    from viewhop.runs._run_report import ReportResult, write_report
    from viewhop.runs._settings import Settings, ViewSettings
    from viewhop.runs._transform import TransformResult, transform_files
    from viewhop.runs._verify import State, verify

__all__ = [
    "FileAdvice",
    "KernelSettings",
    "OutputError",
    "ReportResult",
    "RunResult",
    "Settings",
    "State",
    "TransformResult",
    "ViewSettings",
    "advise_files",
    "execute",
    "merge_settings",
    "read_configuration",
    "read_record",
    "transform_files",
    "verify",
    "write_report",
]

_HOMES = {
    "FileAdvice": "viewhop.runs._advise_files",
    "KernelSettings": "viewhop.runs._kernel_settings",
    "OutputError": "viewhop._runtime.outputs",
    "ReportResult": "viewhop.runs._run_report",
    "RunResult": "viewhop.runs._execute",
    "Settings": "viewhop.runs._settings",
    "State": "viewhop.runs._verify",
    "TransformResult": "viewhop.runs._transform",
    "ViewSettings": "viewhop.runs._settings",
    "advise_files": "viewhop.runs._advise_files",
    "execute": "viewhop.runs._execute",
    "merge_settings": "viewhop.runs._configuration",
    "read_configuration": "viewhop.runs._configuration",
    "read_record": "viewhop.runs._record",
    "transform_files": "viewhop.runs._transform",
    "verify": "viewhop.runs._verify",
    "write_report": "viewhop.runs._run_report",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
