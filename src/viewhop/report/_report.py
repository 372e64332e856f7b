"""Reports: a fitted estimator as one HTML file that needs no network."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from viewhop._runtime.files import replace_file
from viewhop._runtime.progress import Progress, no_progress
from viewhop.geometry import Layout
from viewhop.report._content import build_content
from viewhop.report._data import ReportData
from viewhop.report._page import assemble_page, plotly_source
from viewhop.views import Views

__all__ = ["render", "write"]


def write(
    path: str | os.PathLike[str],
    estimator: Any,
    *,
    ids: Sequence[Any] | None = None,
    labels: ArrayLike | Sequence[Any] | None = None,
    label_name: str = "label",
    clusters: ArrayLike | None = None,
    features: Views | None = None,
    title: str = "viewhop",
    about: Mapping[str, str] | None = None,
    repeat: str = "",
    layout: Layout | Literal[False] | None = None,
    progress: Progress = no_progress,
) -> None:
    """Write the report of a fitted estimator; an existing file is replaced once it is complete.

    Parameters
    ----------
    path : path
        Usually ``.html``.
    estimator, ids, labels, label_name, clusters, features, title, about, repeat, layout, progress
        As in `render`.

    Raises
    ------
    ImportError
        If plotly is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> import viewhop as vh
    >>> circles = vh.datasets.make_circles(100, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(3, kernel="gaussian", random_state=0).fit(circles.views)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "circles.html")
    ...     vh.report.write(path, est, features=circles.views, title="Two circles")
    ...     os.path.getsize(path) > 1_000_000
    True
    """
    text = _render(
        ReportData(
            estimator,
            ids,
            labels,
            label_name,
            clusters,
            features,
            title,
            about,
            repeat,
            layout,
            progress,
        )
    )
    with replace_file(path) as file:
        file.write(text.encode("utf-8"))


def render(
    estimator: Any,
    *,
    ids: Sequence[Any] | None = None,
    labels: ArrayLike | Sequence[Any] | None = None,
    label_name: str = "label",
    clusters: ArrayLike | None = None,
    features: Views | None = None,
    title: str = "viewhop",
    about: Mapping[str, str] | None = None,
    repeat: str = "",
    layout: Layout | Literal[False] | None = None,
    progress: Progress = no_progress,
) -> str:
    """The report of a fitted estimator as the text of one HTML page.

    Parameters
    ----------
    estimator : fitted MultiViewDiffusionMaps, DiffusionMaps, DeSaEmbedding or \
MultiViewSpectralClustering
        A clustering shows its own clusters unless others are given.
    ids : (n_samples,) sequence or None
        Names of the samples; None takes those of `features`, or numbers them from 1.
    labels : (n_samples,) array or None
        Numbers or text to colour by; None and NaN are missing values.
    label_name : str
    clusters : (n_samples,) int array or None
        A sample with a negative number has no cluster.
    features : Views or None
        The training data, to colour by its columns.
    title : str
    about : dict of str or None
        Facts that are shown as a table. None shows the parameters of the estimator, timings and
        versions.
    repeat : str
        The command that repeats the run, to copy.
    layout : Layout, False or None
        The map, which is the first panel. None lays the samples out, unless there are more than
        200,000; without the extra ``map`` the panel shows the first two coordinates. False leaves
        it out.
    progress : callable
        ``progress(stage, done, total)``.

    Raises
    ------
    ImportError
        If plotly is not installed.
    TypeError
        If `features`, `layout` or another argument has the wrong type.
    ValueError
        If something has another number of samples than the estimator.

    Notes
    -----
    Text from the data never becomes markup: it is embedded as JSON with every ``<``, ``>`` and
    ``&`` escaped, is shown by ``textContent`` alone, and never reaches plotly. A content security
    policy forbids any other script, and loading anything.

    Examples
    --------
    >>> import viewhop as vh
    >>> circles = vh.datasets.make_circles(100, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(3, kernel="gaussian", random_state=0).fit(circles.views)
    >>> vh.report.render(est, labels=["<b>"] * 100).startswith("<!doctype html>")
    True
    """
    return _render(
        ReportData(
            estimator,
            ids,
            labels,
            label_name,
            clusters,
            features,
            title,
            about,
            repeat,
            layout,
            progress,
        )
    )


def _render(data: ReportData) -> str:
    plotly = plotly_source()  # before any work: it may be missing
    return assemble_page(build_content(data), title=data.title, plotly=plotly)
