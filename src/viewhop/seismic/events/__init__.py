"""Events: detection in waveforms, matching with a catalogue, and views of events."""

from viewhop.seismic._event import Event, Pick, events_frame
from viewhop.seismic._summary import LeftOut, Summary
from viewhop.seismic.events._detection import Detections, detect
from viewhop.seismic.events._event_views import EventViews, event_views
from viewhop.seismic.events._match import Matches, match
from viewhop.seismic.events._sta_lta import StaLta

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
