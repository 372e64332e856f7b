"""Events: detected in waveforms, matched with a catalogue, cut out as views."""

from viewhop.seismic.event import Event, Pick, events_frame
from viewhop.seismic.events.detection import Detections, detect
from viewhop.seismic.events.matching import Matches, match
from viewhop.seismic.events.observed import EventViews, event_views
from viewhop.seismic.events.ratios import StaLta
from viewhop.seismic.summary import LeftOut, Summary

__all__ = [
    "Detections",
    "Event",
    "EventViews",
    "LeftOut",
    "Matches",
    "Pick",
    "StaLta",
    "Summary",
    "detect",
    "event_views",
    "events_frame",
    "match",
]
