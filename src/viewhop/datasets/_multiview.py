"""Standard sets of multi-view clustering: read from a folder, never downloaded."""

from __future__ import annotations

import os

import numpy as np
from sklearn.utils import Bunch

from viewhop.datasets._folder import find_file
from viewhop.views import Views

__all__ = ["MULTIVIEW", "load_multiview", "load_scgem"]

#: Name of a set, with the checksum of its file and a description.
MULTIVIEW = {
    "ORL": (
        "c52578b9198b047c91488c32e3ca515c46bcfd9279b3d32b3c394190524b53f7",
        "400 photographs of 40 faces, 10 of each, in four kinds of image features",
    ),
    "LandUse": (
        "cc3c2429e73d971f40a59552b46638d777aac63c77b85e2cc0c450b8b2525467",
        "2,100 aerial images of 21 kinds of land use, in three kinds of image features",
    ),
    "MNIST4": (
        "cef236cf8946659dc5d13c2f0db151425f34dfcc2b00aeea9b60106ba9f5e9a1",
        "4,000 images of four handwritten digits, in three linear projections",
    ),
    "PIE": (
        "9e5eb048137e9f6c34be1937485b7095aa66d49b5218f12e4df02162f3c1c913",
        "680 photographs of 68 faces, in three kinds of image features",
    ),
    "Wiki": (
        "351c1096f6ea2fe45b9f33dce93517287de614c906169121befd7688c3c0104a",
        "2,866 articles of 10 categories: image features and topics of the text",
    ),
    "BDGP": (
        "711396063ced8e9f97be7534ff3b7b88423bc9b6c08610daaf4e7d5ed1611e4a",
        "2,500 images of gene expression in five stages, in two kinds of image features",
    ),
    "Prokaryotic": (
        "396682228647e5bc56a64a5971c718cbb022b3e3b8ea0fcb4733c33f3b8483e8",
        "551 species of prokaryotes in four classes, in three views of genomes and texts",
    ),
    "Newsgroups": (
        "930e304f06104967f889f16490270f72f5b3c247b839cd635c6734e454d5ec40",
        "500 newsgroup messages of five topics: counts of words, prepared in three ways",
    ),
    "BBC": (
        "e0afded166cb9385e1ce43031c91e8979755ba441868d7f1dfa746b56c568df9",
        "685 news articles of five topics: counts of words in four parts of each",
    ),
    "Reuters": (
        "9eb9f8829aea3b1c677927a943319beeeefd5df3149b6159dbdc1456a63a7d22",
        "1,200 news articles of six topics: weights of words in five languages",
    ),
    "WebKB": (
        "79c65c1b40ddff85c8c181a17fb6f28f29fc2b6f65ffa642a34e67dd7158d3c6",
        "1,051 web pages, courses or not: weights of words in the page and in links to it",
    ),
    "Movies": (
        "689a2fcc0b1c7d5539bdf4880fa2e230ad1d00863bcf392c1db480f942320f37",
        "617 films of 17 genres: keywords and actors",
    ),
}
_SCGEM = "scgem.npz", "8d82c4ce3171ccf3e03e9d3bd22689eab7b4e7223e0153c430065847987a03bf"


def load_multiview(name: str, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """One of the standard sets of multi-view clustering, with its classes.

    Parameters
    ----------
    name : str
        "ORL", "LandUse", "MNIST4", "PIE", "Wiki", "BDGP", "Prokaryotic", "Newsgroups", "BBC",
        "Reuters", "WebKB" or "Movies".
    data_home : path or None
        Folder with ``multiview_<name>.npz``; None takes the environment variable
        ``VIEWHOP_DATA``.

    Returns
    -------
    Bunch
        ``views`` : Views ``view1``, ``view2``, …, float64;
        ``target`` : (n_samples,) int array, classes from 0;
        ``target_names`` : list of str, the labels of the classes in the file;
        ``DESCR`` : str.

    Raises
    ------
    DataMissingError
        If the file is not there.
    ValueError
        If the set is unknown, or the file is not the one that is known, by its checksum.

    Examples
    --------
    >>> from viewhop.datasets import load_multiview
    >>> load_multiview("WebKB", "folder").views  # doctest: +SKIP
    Views(1051 samples: view1 (1840), view2 (3000))
    """
    if name not in MULTIVIEW:
        raise ValueError(f"unknown set {name!r}; choose from {', '.join(MULTIVIEW)}")
    sha256, description = MULTIVIEW[name]
    return _read(
        f"multiview_{name}.npz",
        sha256,
        data_home,
        f"{name}, a standard set of multi-view clustering: {description}",
    )


def load_scgem(data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Expression and methylation of 177 cells, measured together in each cell.

    Parameters
    ----------
    data_home : path or None
        Folder with ``scgem.npz``; None takes the environment variable ``VIEWHOP_DATA``.

    Returns
    -------
    Bunch
        ``views`` : Views ``expression``, (177, 34), and ``methylation``, (177, 27), float64;
        ``target`` : (177,) int array, five stages from 0;
        ``target_names`` : list of 5 str, the labels of the stages in the file;
        ``DESCR`` : str.

    Raises
    ------
    DataMissingError
        If the file is not there.
    ValueError
        If it is not the file that is known, by its checksum.

    Examples
    --------
    >>> from viewhop.datasets import load_scgem
    >>> load_scgem("folder").views  # doctest: +SKIP
    Views(177 samples: expression (34), methylation (27))
    """
    return _read(
        *_SCGEM,
        data_home,
        "scGEM: expression and methylation of 177 cells in five stages of reprogramming",
    )


def _read(
    file: str, sha256: str, data_home: str | os.PathLike[str] | None, description: str
) -> Bunch:
    """The views of a file in their order, and its ``label`` as classes from 0."""
    origin = f"your own copy of {description}; as one array per view, and label"
    with np.load(find_file(file, sha256, data_home, origin), allow_pickle=False) as stored:
        views = Views({key: stored[key].astype(np.float64) for key in stored if key != "label"})
        labels, target = np.unique(stored["label"], return_inverse=True)
    return Bunch(
        views=views,
        target=target.astype(np.int64),
        target_names=[str(label) for label in labels],
        DESCR=f"{description}. For research use.",
    )
