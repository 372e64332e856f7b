"""Matching of detected events with a catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._channels import SECOND
from viewhop.seismic._event import Event

__all__ = ["Matches", "match"]


@dataclass(frozen=True)
class Matches:
    """Events matched with those of a catalogue.

    Attributes
    ----------
    events : tuple of Event
        All events in their order; a matched one has the label of the catalogue.
    pairs : tuple of (int, int)
        Indices of an event and of its match in the catalogue.
    offsets : (n_pairs,) array
        Seconds from the time in the catalogue to that of the event.
    unmatched_events, unmatched_catalogue : tuple of str
        Ids of events without a match.
    """

    events: tuple[Event, ...]
    pairs: tuple[tuple[int, int], ...]
    offsets: NDArray[np.float64]
    unmatched_events: tuple[str, ...]
    unmatched_catalogue: tuple[str, ...]

    @property
    def labels(self) -> tuple[str | None, ...]:
        """Label of each event, None where it has no match."""
        return tuple(event.label for event in self.events)

    def __str__(self) -> str:
        return (
            f"{len(self.pairs):,} matched; {len(self.unmatched_events):,} not in the catalogue, "
            f"{len(self.unmatched_catalogue):,} in the catalogue but not detected"
        )


def match(events: Sequence[Event], catalogue: Sequence[Event], *, tolerance: float) -> Matches:
    """Events labelled from a catalogue, matched one to one starting with the nearest in time.

    Parameters
    ----------
    events, catalogue : lists of Event
    tolerance : float
        Maximum number of seconds between the two times of a pair. Catalogues list origin times, so
        it must cover the travel time.

    Returns
    -------
    Matches

    Examples
    --------
    >>> import pandas as pd
    >>> from viewhop.seismic.events import Event, match
    >>> time = pd.Timestamp("2010-05-27T16:24:33", tz="UTC")
    >>> second = pd.Timedelta(seconds=1)
    >>> catalogue = [Event("q1", time, label="blast"), Event("q2", time + 900 * second)]
    >>> events = [Event("a", time + second), Event("b", time + 90 * second)]
    >>> matches = match(events, catalogue, tolerance=10)
    >>> matches.labels
    ('blast', None)
    >>> print(matches)
    1 matched; 1 not in the catalogue, 1 in the catalogue but not detected
    """
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be at least 0 seconds, got {tolerance!r}")
    pairs = _nearest_pairs(_times(events), _times(catalogue), tolerance * SECOND)
    partners = dict(pairs)
    return Matches(
        events=tuple(
            replace(event, label=catalogue[partners[k]].label) if k in partners else event
            for k, event in enumerate(events)
        ),
        pairs=tuple(pairs),
        offsets=np.array(
            [(events[a].time.value - catalogue[b].time.value) / SECOND for a, b in pairs]
        ),
        unmatched_events=_unmatched_ids(events, partners),
        unmatched_catalogue=_unmatched_ids(catalogue, set(partners.values())),
    )


def _times(events: Sequence[Event]) -> NDArray[np.int64]:
    return np.array([event.time.as_unit("ns").value for event in events], dtype=np.int64)


def _unmatched_ids(events: Sequence[Event], matched: Any) -> tuple[str, ...]:
    return tuple(event.id for k, event in enumerate(events) if k not in matched)


def _nearest_pairs(
    left: NDArray[np.int64], right: NDArray[np.int64], tolerance: float
) -> list[tuple[int, int]]:
    """Index pairs matched greedily from the nearest on, each index at most once, sorted."""
    order = np.argsort(right, kind="stable")
    sorted_times = right[order]
    reach = min(tolerance, 2.0**62)
    candidates: list[tuple[int, int, int]] = []
    for a, time in enumerate(left.tolist()):
        # Python integers: the sum may exceed the range of int64.
        first = int(np.searchsorted(sorted_times, max(time - int(reach), -(2**63))))
        last = int(np.searchsorted(sorted_times, min(time + int(reach), 2**63 - 1), side="right"))
        candidates.extend(
            (abs(time - int(sorted_times[k])), a, int(order[k])) for k in range(first, last)
        )
    used_left: set[int] = set()
    used_right: set[int] = set()
    pairs = []
    for _, a, b in sorted(candidates):
        if a not in used_left and b not in used_right:
            used_left.add(a)
            used_right.add(b)
            pairs.append((a, b))
    return sorted(pairs)
