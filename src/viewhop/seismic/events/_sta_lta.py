"""STA/LTA trigger: the ratio of a short-term to a long-term average of energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.seismic._obspy import obspy_module

__all__ = ["StaLta"]

_METHODS = {"classic": "classic_sta_lta", "recursive": "recursive_sta_lta"}


@dataclass(frozen=True)
class StaLta:
    """Trigger on the ratio of short- to long-term average energy, computed by obspy.

    Attributes
    ----------
    sta, lta : float
        Lengths of the averages, in seconds.
    on, off : float
        Ratios above which the trigger switches on and below which it switches off.
    method : {"recursive", "classic"}
        Exponential averages, or averages over a sliding window.

    Notes
    -----
    The defaults are those of obspy's tutorial, for local events. Regional events need longer
    averages: 1 to 2 s and 30 to 60 s.

    Examples
    --------
    >>> from viewhop.seismic.events import StaLta
    >>> StaLta(sta=1.0, lta=30.0)
    StaLta(sta=1.0, lta=30.0, on=3.5, off=1.0, method='recursive')
    """

    sta: float = 0.5
    lta: float = 10.0
    on: float = 3.5
    off: float = 1.0
    method: Literal["recursive", "classic"] = "recursive"

    def __post_init__(self) -> None:
        if not 0 < self.sta < self.lta < np.inf:
            raise ValueError(
                f"expected 0 < sta < lta, in seconds; got sta={self.sta}, lta={self.lta}"
            )
        if not 0 < self.off <= self.on < np.inf:
            raise ValueError(f"expected 0 < off <= on; got on={self.on}, off={self.off}")
        if self.method not in _METHODS:
            raise ValueError(f'method must be "recursive" or "classic", got {self.method!r}')

    def lengths(self, sampling_rate: float) -> tuple[int, int]:
        """Number of samples in the short and the long average, rounded as in obspy."""
        return int(self.sta * sampling_rate), int(self.lta * sampling_rate)

    def ratio(self, data: ArrayLike, *, sampling_rate: float) -> NDArray[np.float64]:
        """STA/LTA at each sample, (n_samples,); 0 until the long average is full.

        Parameters
        ----------
        data : (n_samples,) array
            At least as long as the long average.
        sampling_rate : float
            In Hz, such that the short average has at least one sample.

        Returns
        -------
        (n_samples,) array
        """
        nsta, nlta = self.lengths(sampling_rate)
        function = getattr(obspy_module("obspy.signal.trigger"), _METHODS[self.method])
        samples = np.ascontiguousarray(data, dtype=np.float64)
        ratio: NDArray[np.float64] = function(samples, nsta, nlta)
        return ratio

    def intervals(self, ratio: NDArray[np.float64]) -> NDArray[np.int64]:
        """First and last sample of each interval with the trigger on, (n_triggers, 2).

        Parameters
        ----------
        ratio : (n_samples,) array
        """
        onset = obspy_module("obspy.signal.trigger").trigger_onset
        return np.asarray(onset(ratio, self.on, self.off), dtype=np.int64).reshape(-1, 2)
