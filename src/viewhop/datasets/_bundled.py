"""The real data set included in the package."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from sklearn.utils import Bunch

from viewhop.views import Views

__all__ = ["load_mfeat"]

#: The views in the paper's order, which differs from the order in the file.
_MFEAT_VIEWS = ("fac", "kar", "zer", "mor", "pix", "fou")


def load_mfeat() -> Bunch:
    """Six views of 2,000 handwritten digits, with the digits as the target.

    Returns
    -------
    Bunch
        ``views`` : Views of 2,000 samples, float64, in the paper's order:
        ``fac`` (216 profile correlations), ``kar`` (64 Karhunen-Loève coefficients),
        ``zer`` (47 Zernike moments), ``mor`` (6 morphological features),
        ``pix`` (240 pixel averages) and ``fou`` (76 Fourier coefficients);
        ``target`` : (2000,) int array of digits, 200 of each;
        ``target_names`` : list of 10 str;
        ``DESCR`` : str, with the origin and the licence.

    Notes
    -----
    The Multiple Features set of the UCI Machine Learning Repository, by R. P. W. Duin, under
    CC BY 4.0. Samples are sorted by digit, so shuffle before taking the first few.

    Examples
    --------
    >>> from viewhop.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> digits.views.names, len(digits.views)
    (('fac', 'kar', 'zer', 'mor', 'pix', 'fou'), 2000)
    >>> digits.target_names[digits.target[-1]]
    '9'
    """
    folder = files("viewhop.datasets") / "data"
    with (folder / "mfeat.npz").open("rb") as file, np.load(file, allow_pickle=False) as tables:
        views = Views({name: tables[name] for name in _MFEAT_VIEWS})
        target = tables["label"].astype(np.int64)
    return Bunch(
        views=views,
        target=target,
        target_names=[str(digit) for digit in range(10)],
        DESCR=(folder / "README.md").read_text(encoding="utf-8"),
    )
