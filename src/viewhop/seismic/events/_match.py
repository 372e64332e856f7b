"""Matching: which event of a catalogue a detected event is."""

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
    """Events beside those of a catalogue.

    Attributes
    ----------
    events : tuple of Event
        All events, in their order; a matched one has the label of the catalogue.
    pairs : tuple of (int, int)
        Numbers of an event and of its match in the catalogue.
    offsets : (n_pairs,) array
        Seconds from the time in the catalogue to that of the event.
    unmatched_events, unmatched_catalogue : tuple of str
        Ids of what has no match.
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
            f"{len(self.pairs):,} events matched; {len(self.unmatched_events):,} events are not in "
            f"the catalogue, {len(self.unmatched_catalogue):,} of the catalogue were not found"
        )


def match(events: Sequence[Event], catalogue: Sequence[Event], *, tolerance: float) -> Matches:
    """Events labelled by a catalogue: one to one, the pairs that are nearest in time first.

    Parameters
    ----------
    events, catalogue : lists of Event
    tolerance : float
        Largest number of seconds between the two times of a pair. Catalogues have the origin, so
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
    >>> known = [Event("q1", time, label="blast"), Event("q2", time + 900 * second)]
    >>> events = [Event("a", time + second), Event("b", time + 90 * second)]
    >>> found = match(events, known, tolerance=10)
    >>> found.labels
    ('blast', None)
    >>> print(found)
    1 events matched; 1 events are not in the catalogue, 1 of the catalogue were not found
    """
    if not tolerance >= 0:
        raise ValueError(f"tolerance is a number of seconds, at least 0, not {tolerance!r}")
    pairs = _nearest(_times(events), _times(catalogue), tolerance * SECOND)
    known = dict(pairs)
    return Matches(
        events=tuple(
            replace(event, label=catalogue[known[k]].label) if k in known else event
            for k, event in enumerate(events)
        ),
        pairs=tuple(pairs),
        offsets=np.array(
            [(events[a].time.value - catalogue[b].time.value) / SECOND for a, b in pairs]
        ),
        unmatched_events=_others(events, known),
        unmatched_catalogue=_others(catalogue, set(known.values())),
    )


def _times(events: Sequence[Event]) -> NDArray[np.int64]:
    return np.array([event.time.as_unit("ns").value for event in events], dtype=np.int64)


def _others(events: Sequence[Event], matched: Any) -> tuple[str, ...]:
    return tuple(event.id for k, event in enumerate(events) if k not in matched)


def _nearest(
    left: NDArray[np.int64], right: NDArray[np.int64], tolerance: float
) -> list[tuple[int, int]]:
    """Pairs of places, each in one pair at most, taken from the nearest on; sorted by the first."""
    order = np.argsort(right, kind="stable")
    known = right[order]
    reach = min(tolerance, 2.0**62)
    candidates: list[tuple[int, int, int]] = []
    for a, time in enumerate(left.tolist()):
        # Python's integers: the sum may pass the end of time.
        first = int(np.searchsorted(known, max(time - int(reach), -(2**63))))
        last = int(np.searchsorted(known, min(time + int(reach), 2**63 - 1), side="right"))
        candidates.extend((abs(time - int(known[k])), a, int(order[k])) for k in range(first, last))
    used_left: set[int] = set()
    used_right: set[int] = set()
    pairs = []
    for _, a, b in sorted(candidates):
        if a not in used_left and b not in used_right:
            used_left.add(a)
            used_right.add(b)
            pairs.append((a, b))
    return sorted(pairs)
