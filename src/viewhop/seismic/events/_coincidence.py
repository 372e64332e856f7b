"""Coincidence: groups of triggers at several stations at about the same time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace

from viewhop.seismic._channels import SECOND
from viewhop.seismic.events._triggers import Trigger

__all__ = ["drop_close_groups", "find_coincidences", "merge_by_station"]


def merge_by_station(triggers: Iterable[Trigger]) -> list[Trigger]:
    """Triggers of stations in order of time.

    Overlapping triggers of one station's channels are merged: the result is on while any of them
    is, and names the channel that triggered first.
    """
    merged: list[Trigger] = []
    latest: dict[str, int] = {}
    for trigger in sorted(triggers):
        place = latest.get(trigger.station)
        if place is not None and trigger.on <= merged[place].off:
            merged[place] = replace(merged[place], off=max(merged[place].off, trigger.off))
        else:
            latest[trigger.station] = len(merged)
            merged.append(trigger)
    return merged


def find_coincidences(
    triggers: Sequence[Trigger], *, min_stations: int, allowance: float = 0.0
) -> list[tuple[Trigger, ...]]:
    """Groups of overlapping triggers from enough stations, each with its earliest first.

    Parameters
    ----------
    triggers : list of Trigger
        Triggers of stations in order of time.
    min_stations : int
    allowance : float
        Seconds by which a trigger may start after the others have ended.

    Notes
    -----
    The rule of obspy's ``coincidence_trigger``, but counting stations instead of traces: a group
    starts with any trigger, takes the first trigger of every other station that starts before the
    group has ended, and ends with the last of them. A group that ends no later than the previous
    one is part of it.
    """
    wait = round(allowance * SECOND)
    groups: list[tuple[Trigger, ...]] = []
    last_off: int | None = None
    for k, first in enumerate(triggers):
        group = {first.station: first}
        off = first.off
        for j in range(k + 1, len(triggers)):
            other = triggers[j]
            if other.on > off + wait:
                break
            if other.station not in group:
                group[other.station] = other
                off = max(off, other.off)
        if len(group) < min_stations or (last_off is not None and off <= last_off):
            continue
        groups.append(tuple(group.values()))
        last_off = off
    return groups


def drop_close_groups(
    groups: Sequence[tuple[Trigger, ...]], seconds: float
) -> list[tuple[Trigger, ...]]:
    """Groups in order of time, without those too close to a group of more stations.

    Parameters
    ----------
    groups : list of tuples of Trigger
    seconds : float
        Minimum time between the starts of two groups. Of two groups with equally many stations,
        the earlier is kept.
    """
    least = seconds * SECOND
    kept: list[tuple[Trigger, ...]] = []
    times: list[int] = []  # sorted starts of the groups kept
    for group in sorted(groups, key=lambda group: (-len(group), group[0].on)):
        time = group[0].on
        place = bisect_left(times, time)
        if all(abs(time - other) >= least for other in times[max(0, place - 1) : place + 1]):
            times.insert(place, time)
            kept.append(group)
    return sorted(kept, key=lambda group: group[0].on)
