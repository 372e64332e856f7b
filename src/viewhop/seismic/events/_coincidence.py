"""Coincidence: an event is what several stations see at about the same time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace

from viewhop.seismic._channels import SECOND
from viewhop.seismic.events._triggers import Trigger

__all__ = ["coincident", "separated", "station_triggers"]


def station_triggers(triggers: Iterable[Trigger]) -> list[Trigger]:
    """The triggers of stations, in the order of time.

    Those of one station's channels that overlap are one: it is on while any of them is, and has the
    channel that was first.
    """
    found: list[Trigger] = []
    latest: dict[str, int] = {}
    for trigger in sorted(triggers):
        place = latest.get(trigger.station)
        if place is not None and trigger.on <= found[place].off:
            found[place] = replace(found[place], off=max(found[place].off, trigger.off))
        else:
            latest[trigger.station] = len(found)
            found.append(trigger)
    return found


def coincident(
    triggers: Sequence[Trigger], *, min_stations: int, allowance: float = 0.0
) -> list[tuple[Trigger, ...]]:
    """Groups of triggers that overlap, of enough stations, each with its earliest first.

    Parameters
    ----------
    triggers : list of Trigger
        Of stations, in the order of time.
    min_stations : int
    allowance : float
        Seconds that a trigger may follow the end of the others.

    Notes
    -----
    The rule of obspy's ``coincidence_trigger``, which counts traces where this counts stations: a
    group begins with any trigger, takes the first of every other station that begins before
    it has ended, and ends with the last of them. One that ends no later than the group before is
    a part of it.
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


def separated(groups: Sequence[tuple[Trigger, ...]], seconds: float) -> list[tuple[Trigger, ...]]:
    """The groups, in the order of time, without those too close to one of more stations.

    Parameters
    ----------
    groups : list of tuples of Trigger
    seconds : float
        Least time between the beginnings of two groups. Of two with as many stations, the earlier
        is kept.
    """
    least = seconds * SECOND
    kept: list[tuple[Trigger, ...]] = []
    times: list[int] = []  # of those that are kept, sorted
    for group in sorted(groups, key=lambda group: (-len(group), group[0].on)):
        time = group[0].on
        place = bisect_left(times, time)
        if all(abs(time - other) >= least for other in times[max(0, place - 1) : place + 1]):
            times.insert(place, time)
            kept.append(group)
    return sorted(kept, key=lambda group: group[0].on)
