"""New samples from files, placed by a model: the table of their coordinates."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.outputs import output_file
from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.suggestion import suggestion
from viewhop.errors import SettingsError, TableError
from viewhop.estimators import KernelCCA, load
from viewhop.runs._column_match import ignored_columns, read_model_views
from viewhop.runs._estimator import Model, embedder_of, schema_of
from viewhop.runs._record import MODEL
from viewhop.runs._result_table import write_table
from viewhop.runs._writing import check_apart
from viewhop.tables import Options, check_writable
from viewhop.views import Views

__all__ = ["TransformResult", "transform_files"]


@dataclass(frozen=True)
class TransformResult:
    """The result of placing new samples.

    Attributes
    ----------
    path : Path
        The table that was written.
    n_samples : int
    ignored : dict of list of str by file
        Columns that the model does not use.
    """

    path: Path
    n_samples: int
    ignored: dict[str, list[str]]


def transform_files(
    model: Model | KernelCCA | str | os.PathLike[str],
    views: Mapping[str, str],
    out: str | os.PathLike[str],
    *,
    options: Options | None = None,
    progress: Progress = no_progress,
) -> TransformResult:
    """Place new samples in the embedding of a model: what ``viewhop transform`` does.

    The table has the ids, the clusters if the model has any, the coverage (near 0: unlike all
    training samples; not of a `KernelCCA`), and the coordinates.

    Parameters
    ----------
    model : path or fitted estimator
        A model file, the folder of a run that has one, or what `viewhop.load` returns.
    views : dict of paths by view name
        Any of the views that the model was fitted on. Columns are matched by name, in any order.
    out : path
        A CSV, TSV or Parquet file, by its ending.
    options : Options or None
        How the files are read.
    progress : callable
        Called as ``progress(stage, done, total)``, from any thread.

    Returns
    -------
    TransformResult

    Raises
    ------
    SettingsError
        If the model has no such view, the output has an unknown ending, or would overwrite an
        input.
    TableError
        If a file cannot be read, or lacks a column.
    OutputError
        If the output cannot be written.
    ModelFileError
        If the model file cannot be loaded.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop.runs import transform_files
    >>> rolls = vh.datasets.make_swiss_rolls(60, noise=0.1, random_state=0).views
    >>> est = vh.MultiViewDiffusionMaps(random_state=0).fit(rolls)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/new.npy", rolls["x"][:5])
    ...     result = transform_files(est, {"x": f"{folder}/new.npy"}, f"{folder}/new.csv")
    ...     lines = result.path.read_text().splitlines()
    >>> lines[0]
    'coverage,consensus_1,consensus_2'
    """
    options = options or Options()
    path = Path(out)
    if isinstance(model, str | os.PathLike):
        model = _model_file(Path(model))
    files = [os.fspath(model)] if isinstance(model, str | os.PathLike) else []
    check_apart([path], [*files, *views.values()])
    with output_file(path):
        try:
            check_writable(path)
        except TableError as error:
            raise SettingsError(str(error), key="out") from None
        return _transform(model, views, path, options, progress)


def _model_file(path: Path) -> Path:
    """The model in the folder of a run, or the path itself."""
    if not path.is_dir():
        return path
    if not (path / MODEL).is_file():
        raise SettingsError(f"the folder {os.fspath(path)!r} has no {MODEL}", key="model")
    return path / MODEL


def _transform(
    model: Model | KernelCCA | str | os.PathLike[str],
    views: Mapping[str, str],
    path: Path,
    options: Options,
    progress: Progress,
) -> TransformResult:
    fitted: Any = load(model) if isinstance(model, str | os.PathLike) else model
    _check_views(fitted, views, options)
    samples = read_model_views(fitted, views, options=options, is_new=True)
    est = embedder_of(fitted)
    verbose = est.verbose
    est.set_params(verbose=progress)
    try:
        embedding, computed = _place(est, samples.views)
    finally:
        est.set_params(verbose=verbose)
    if hasattr(fitted, "cluster_centers_"):
        computed = {"cluster": fitted.clusters_.assign(embedding), **computed}
    write_table(
        path,
        fitted,
        embedding,
        samples,
        computed=computed,
        id=options.id,
        label=options.label,
    )
    ignored = {table.path: ignored_columns(table, options) for table in samples.tables.values()}
    return TransformResult(
        path, len(samples.views), {file: names for file, names in ignored.items() if names}
    )


def _place(est: Any, views: Views) -> tuple[NDArray[np.floating], dict[str, Any]]:
    """Coordinates of samples, and their coverage, which canonical functions do not have."""
    if isinstance(est, KernelCCA):
        return est.transform(views), {}
    embedding, coverage = est.transform(views, return_coverage=True)
    return embedding, {"coverage": coverage}


def _check_views(model: Model | KernelCCA, views: Mapping[str, str], options: Options) -> None:
    """Raise SettingsError for a view that the model does not have, or columns that it has."""
    schema = schema_of(model)
    unknown = [name for name in views if name not in schema.names]
    if unknown:
        raise SettingsError(
            f"the model has no view {unknown[0]!r}{suggestion(unknown[0], schema.names)}; it was "
            f"fitted on {', '.join(schema.names)}",
            key="views",
        )
    chosen = [options, *map(options.for_view, options.by_view)]
    if any(own.keep or own.drop for own in chosen) and None not in schema.feature_names:
        raise SettingsError(
            "the model selects its columns by name; --keep and --drop apply to arrays only",
            key="keep" if any(own.keep for own in chosen) else "drop",
        )
