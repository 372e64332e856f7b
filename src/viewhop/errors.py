"""The errors and warnings of viewhop, with the details a caller may need as attributes.

Every argument but the message has a default: an exception from a worker process is rebuilt from its
message alone, and its attributes are set afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewhop.seismic import LeftOut
    from viewhop.spectrum import Spectrum

__all__ = [
    "CacheWarning",
    "ChangedInputWarning",
    "ConvergenceError",
    "DataMissingError",
    "DisconnectedWarning",
    "DroppedRowsWarning",
    "FarSampleWarning",
    "GapWarning",
    "MemoryBudgetError",
    "ModelDamagedError",
    "ModelFileError",
    "ModelSizeError",
    "ModelVersionError",
    "NoLockWarning",
    "RecallWarning",
    "RunFileError",
    "ScaleWarning",
    "SeismicError",
    "SettingsError",
    "SimilarIdsWarning",
    "SlowSearchWarning",
    "TableError",
    "UnderflowWarning",
    "UnreachedViewWarning",
]


class ConvergenceError(RuntimeError):
    """An eigensolver reached its iteration limit before every residual was small enough.

    Attributes
    ----------
    spectrum : Spectrum or None
        The pairs that had converged, with their residuals; None if there were none.
    """

    def __init__(self, message: str, spectrum: Spectrum | None = None) -> None:
        super().__init__(message)
        self.spectrum = spectrum


class MemoryBudgetError(MemoryError):
    """A request would need more memory than the budget; nothing was allocated.

    Attributes
    ----------
    needed, budget : int
        Bytes that the request needs, and bytes that it may use.
    """

    def __init__(self, message: str, needed: int = 0, budget: int = 0) -> None:
        super().__init__(message)
        self.needed = needed
        self.budget = budget


class DataMissingError(LookupError):
    """A data file that does not come with the package is not in the data folder.

    Attributes
    ----------
    file : str
        Name of the file.
    """

    def __init__(self, message: str, file: str = "") -> None:
        super().__init__(message)
        self.file = file


class ModelFileError(ValueError):
    """A file is not a loadable model, or a model cannot be saved."""


class ModelVersionError(ModelFileError):
    """A model file has a format version that this version of viewhop does not support."""


class ModelDamagedError(ModelFileError):
    """A model file was changed after it was written: it is truncated, or a checksum differs."""


class ModelSizeError(ModelFileError):
    """A model file declares a wrong size, or would take too much memory."""


class TableError(ValueError):
    """A data file cannot be read as a table, or tables cannot be joined.

    Attributes
    ----------
    path : str
        The file, as the caller gave it.
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
    """A setting of a run is unknown, has the wrong type, or conflicts with another.

    Attributes
    ----------
    path : str or None
        The settings file; None if the setting comes from elsewhere.
    key : str
        The setting: "kernel", or "views.rna.kernel" for a single view.
    """

    def __init__(self, message: str, path: str | None = None, key: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.key = key


class RunFileError(ValueError):
    """A folder has no record of a run, its record cannot be read, or it is of another run."""


class SeismicError(ValueError):
    """Waveforms, a catalogue or events cannot be used.

    Attributes
    ----------
    trace : str
        The file, trace, station or event that the message names.
    left_out : tuple of LeftOut
        The data that were left out, if nothing remained.
    """

    def __init__(self, message: str, trace: str = "", left_out: tuple[LeftOut, ...] = ()) -> None:
        super().__init__(message)
        self.trace = trace
        self.left_out = left_out


class DisconnectedWarning(UserWarning):
    """The walk is disconnected, so the eigenvalue 1 is repeated.

    Attributes
    ----------
    n_pieces : int
        Number of connected components.
    """

    def __init__(self, message: str, n_pieces: int = 0) -> None:
        super().__init__(message)
        self.n_pieces = n_pieces


class DroppedRowsWarning(UserWarning):
    """Rows with some values missing count as not observed, as ``missing="drop"`` asks.

    Attributes
    ----------
    n_rows : int
        Number of such rows, in all views together.
    """

    def __init__(self, message: str, n_rows: int = 0) -> None:
        super().__init__(message)
        self.n_rows = n_rows


class SimilarIdsWarning(UserWarning):
    """Ids of different views differ only by white space or case, so they are different samples.

    Attributes
    ----------
    n_pairs : int
        Number of ids that are spelled in several ways.
    """

    def __init__(self, message: str, n_pairs: int = 0) -> None:
        super().__init__(message)
        self.n_pairs = n_pairs


class ChangedInputWarning(UserWarning):
    """A run is repeated, but input files have changed since.

    Attributes
    ----------
    files : tuple of str
        The files that changed.
    """

    def __init__(self, message: str, files: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.files = files


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
    """The walk cannot reach another view from the views of some samples.

    Attributes
    ----------
    n_samples : int
        Number of such rows.
    """

    def __init__(self, message: str, n_samples: int = 0) -> None:
        super().__init__(message)
        self.n_samples = n_samples


class ScaleWarning(UserWarning):
    """A bandwidth was chosen although the condition of its rule does not hold everywhere."""


class UnderflowWarning(UserWarning):
    """Coordinates after very many steps are smaller than any number, so they are 0.

    Attributes
    ----------
    n_components : int
        Number of such coordinates.
    """

    def __init__(self, message: str, n_components: int = 0) -> None:
        super().__init__(message)
        self.n_components = n_components


class RecallWarning(UserWarning):
    """An approximate search missed more neighbours than it should.

    Attributes
    ----------
    recall : float
        Share of the true neighbours in its result.
    """

    def __init__(self, message: str, recall: float = 0.0) -> None:
        super().__init__(message)
        self.recall = recall


class GapWarning(UserWarning):
    """The last eigenvalue kept is close to the first one left out.

    Attributes
    ----------
    gap : float
        Difference of the two eigenvalues.
    """

    def __init__(self, message: str, gap: float = 0.0) -> None:
        super().__init__(message)
        self.gap = gap


class SlowSearchWarning(UserWarning):
    """The neighbour search is exact although an approximate one would be faster.

    Attributes
    ----------
    n_samples : int
        Number of samples compared with each other.
    """

    def __init__(self, message: str, n_samples: int = 0) -> None:
        super().__init__(message)
        self.n_samples = n_samples


class NoLockWarning(UserWarning):
    """A file system has no locks, so two processes may write the same output."""


class CacheWarning(UserWarning):
    """A result could not be read from the folder of `memory`, or is not kept there."""
