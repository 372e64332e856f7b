"""The errors and warnings that viewhop raises, each with what a caller may want to read.

Whatever stands beside the message has a default: an exception that comes back from a worker process
is made from its message first and given its attributes after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewhop.seismic._summary import LeftOut
    from viewhop.spectrum import Spectrum

__all__ = [
    "ConvergenceError",
    "DataMissingError",
    "DisconnectedWarning",
    "FarSampleWarning",
    "GapWarning",
    "MemoryBudgetError",
    "ModelDamagedError",
    "ModelFileError",
    "ModelSizeError",
    "ModelVersionError",
    "RecallWarning",
    "RunFileError",
    "ScaleWarning",
    "SeismicError",
    "SettingsError",
    "SlowSearchWarning",
    "TableError",
    "UnreachedViewWarning",
]


class ConvergenceError(RuntimeError):
    """An eigensolver stopped at its cap before every residual was small enough.

    Attributes
    ----------
    spectrum : Spectrum or None
        What had converged by then, residuals included; None if nothing had.
    """

    def __init__(self, message: str, spectrum: Spectrum | None = None) -> None:
        super().__init__(message)
        self.spectrum = spectrum


class MemoryBudgetError(MemoryError):
    """A request would need more memory than the budget; nothing was allocated.

    Attributes
    ----------
    needed, budget : int
        Bytes the request needs, and bytes it may use.
    """

    def __init__(self, message: str, needed: int = 0, budget: int = 0) -> None:
        super().__init__(message)
        self.needed = needed
        self.budget = budget


class DataMissingError(LookupError):
    """Data that do not come with the package are not where they were looked for.

    Attributes
    ----------
    file : str
        Name of the file.
    """

    def __init__(self, message: str, file: str = "") -> None:
        super().__init__(message)
        self.file = file


class ModelFileError(ValueError):
    """A file is not a model that can be loaded, or a model cannot be written as a file."""


class ModelVersionError(ModelFileError):
    """A model file has a format that this version of viewhop does not know."""


class ModelDamagedError(ModelFileError):
    """A model file is not as it was written: it is cut short, or a checksum does not fit."""


class ModelSizeError(ModelFileError):
    """A model file lies about the size of what it holds, or would take too much memory."""


class TableError(ValueError):
    """A file of data cannot be read as a table, or tables do not belong together.

    Attributes
    ----------
    path : str
        The file, as it was given.
    line : int or None
        Line of a text file, or row of an array, both counted from 1.
    column : str or None
        Name of the column.
    """

    def __init__(
        self, message: str, path: str = "", line: int | None = None, column: str | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.column = column


class SettingsError(ValueError):
    """A setting of a run is unknown, of the wrong kind, or does not go with another.

    Attributes
    ----------
    path : str or None
        The file that it stands in; None if it stands in none.
    key : str
        The setting: "kernel", or "views.rna.kernel" for that of a view.
    """

    def __init__(self, message: str, path: str | None = None, key: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.key = key


class RunFileError(ValueError):
    """A folder has no record of a run, or one that cannot be read."""


class SeismicError(ValueError):
    """Waveforms, a catalogue or events cannot be used.

    Attributes
    ----------
    trace : str
        The file, trace, station or event that the message names.
    left_out : tuple of LeftOut
        What was left out before nothing was left.
    """

    def __init__(self, message: str, trace: str = "", left_out: tuple[LeftOut, ...] = ()) -> None:
        super().__init__(message)
        self.trace = trace
        self.left_out = left_out


class DisconnectedWarning(UserWarning):
    """The walk falls into pieces, so the eigenvalue 1 is repeated.

    Attributes
    ----------
    n_pieces : int
        Number of pieces.
    """

    def __init__(self, message: str, n_pieces: int = 0) -> None:
        super().__init__(message)
        self.n_pieces = n_pieces


class FarSampleWarning(UserWarning):
    """Some new samples lie far from every training sample.

    Attributes
    ----------
    n_samples : int
        Number of such rows.
    """

    def __init__(self, message: str, n_samples: int = 0) -> None:
        super().__init__(message)
        self.n_samples = n_samples


class UnreachedViewWarning(UserWarning):
    """The walk has no way from the views of some samples to another view.

    Attributes
    ----------
    n_samples : int
        Number of such rows.
    """

    def __init__(self, message: str, n_samples: int = 0) -> None:
        super().__init__(message)
        self.n_samples = n_samples


class ScaleWarning(UserWarning):
    """A scale was chosen where its rule does not hold everywhere."""


class RecallWarning(UserWarning):
    """An approximate search missed more neighbours than it should.

    Attributes
    ----------
    recall : float
        Share of the true neighbours that it found.
    """

    def __init__(self, message: str, recall: float = 0.0) -> None:
        super().__init__(message)
        self.recall = recall


class GapWarning(UserWarning):
    """The last eigenvalue that is kept is close to the first that is not.

    Attributes
    ----------
    gap : float
        Their difference.
    """

    def __init__(self, message: str, gap: float = 0.0) -> None:
        super().__init__(message)
        self.gap = gap


class SlowSearchWarning(UserWarning):
    """Neighbours are searched exactly where approximate search would be faster.

    Attributes
    ----------
    n_samples : int
        Samples that are compared with each other.
    """

    def __init__(self, message: str, n_samples: int = 0) -> None:
        super().__init__(message)
        self.n_samples = n_samples
