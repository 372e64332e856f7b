"""STA/LTA: how much louder a trace is now than it was for a while."""

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
    """A trigger by the ratio of a short- to a long-term average of energy, as obspy computes it.

    Attributes
    ----------
    sta, lta : float
        Seconds over which the energy is averaged.
    on, off : float
        Ratio at which the trigger goes on, and below which it goes off.
    method : {"recursive", "classic"}
        Averages that fade, or over a window.

    Notes
    -----
    The defaults are those of obspy's tutorial, for local events. Regional ones want longer
    averages: 1 to 2 s, and 30 to 60 s.

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
            raise ValueError(f'method is "recursive" or "classic", not {self.method!r}')

    def lengths(self, sampling_rate: float) -> tuple[int, int]:
        """Number of samples in the short and in the long average, as obspy rounds them."""
        return int(self.sta * sampling_rate), int(self.lta * sampling_rate)

    def ratio(self, data: ArrayLike, *, sampling_rate: float) -> NDArray[np.float64]:
        """STA/LTA at each sample; 0 until the long average is full.

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
        """Samples between which the trigger is on, (n_triggers, 2).

        Parameters
        ----------
        ratio : (n_samples,) array
        """
        onset = obspy_module("obspy.signal.trigger").trigger_onset
        return np.asarray(onset(ratio, self.on, self.off), dtype=np.int64).reshape(-1, 2)
