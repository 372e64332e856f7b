"""Reading several views at once, none of which may be missing."""

from __future__ import annotations

from typing import Any

from viewhop.views._checks import is_mudata
from viewhop.views._views import Views

__all__ = ["read_every_view"]


def read_every_view(X: Any) -> Views:
    """The views of a list, dict, Views or MuData; ValueError if one of them is None.

    Parameters
    ----------
    X : list or dict of (n_samples, n_features) arrays, Views or MuData
    """
    views = Views(X)
    n_given = len(X.mod if is_mudata(X) else getattr(X, "names", X))
    if views.n_views < n_given:
        raise ValueError(
            "a view is None, and a fit needs every view: leave it out of the list or dict "
            "(only transform accepts None, for a view that was not measured)"
        )
    return views
