"""Reports: a fitted estimator as one HTML file that needs no network."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from viewhop._runtime.files import replace_file
from viewhop.report import _content as content
from viewhop.report import _page as page
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
) -> None:
    """Write the report of a fitted estimator; a file that is there is replaced, whole.

    Parameters
    ----------
    path : path
        ``.html`` by custom.
    estimator, ids, labels, label_name, clusters, features, title, about, repeat
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
    text = render(
        estimator,
        ids=ids,
        labels=labels,
        label_name=label_name,
        clusters=clusters,
        features=features,
        title=title,
        about=about,
        repeat=repeat,
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
) -> str:
    """The report of a fitted estimator as the text of one HTML page.

    Parameters
    ----------
    estimator : fitted MultiViewDiffusionMaps, DiffusionMaps, DeSaEmbedding or \
MultiViewSpectralClustering
        The clusters of the last are shown unless others are given.
    ids : (n_samples,) sequence or None
        What the samples are called; None takes those of `features`, or counts them from 1.
    labels : (n_samples,) array or None
        Numbers or text to colour by; None and NaN are missing.
    label_name : str
    clusters : (n_samples,) int array or None
        Negative numbers are samples of no cluster.
    features : Views or None
        The training data: their columns can be coloured by.
    title : str
    about : dict of str or None
        Shown as a table: parameters, versions, inputs, timings. None is the parameters of the
        estimator, versions and timings.
    repeat : str
        How to repeat the run, as text to copy.

    Raises
    ------
    ImportError
        If plotly is not installed.
    ValueError
        If something has another number of samples than the estimator.

    Notes
    -----
    Text from the data is never markup: it goes in as JSON with every ``<``, ``>`` and ``&``
    escaped, is shown by ``textContent`` alone, never reaches plotly, and a content security policy
    lets no other script run and nothing be loaded.

    Examples
    --------
    >>> import viewhop as vh
    >>> circles = vh.datasets.make_circles(100, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(3, kernel="gaussian", random_state=0).fit(circles.views)
    >>> vh.report.render(est, labels=["<b>"] * 100).startswith("<!doctype html>")
    True
    """
    plotly = page.plotly_source()  # before any work: it may be missing
    found = content.gathered(
        estimator,
        ids=ids,
        labels=labels,
        label_name=label_name,
        clusters=clusters,
        features=features,
        title=title,
        about=about,
        repeat=repeat,
    )
    return page.assembled(found, title=title, plotly=plotly)
