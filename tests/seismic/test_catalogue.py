"""Catalogues and lists of events: read, written, matched; and what they cannot do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment

from viewhop.errors import SeismicError
from viewhop.seismic._event import parse_utc
from viewhop.seismic.events import Event, Pick, StaLta, detect, match
from viewhop.seismic.io import read_catalogue, write_events
from viewhop.seismic.io._quakeml import quakeml_events

START = pd.Timestamp("2010-05-27T16:24:00Z")


def at(seconds):
    return START + pd.Timedelta(seconds, unit="s")


def test_detected_events_are_written_and_read_back_to_the_last_digit(record, tmp_path):
    found = detect(record, trigger=StaLta(), band=(10, 20), min_stations=3)
    path = tmp_path / "events.csv"
    write_events(path, found)
    assert read_catalogue(path).events == found.events
    assert path.read_text().splitlines()[1].startswith("ev20100527T1624")


def test_labels_and_dangerous_text_come_back(tmp_path):
    path = tmp_path / "events.csv"
    events = (
        Event("=cmd|' /C calc'!A0", at(0), (Pick("-X.+Y..Z", at(1.5)),), label="@blast"),
        Event("007", at(0.000000001)),
    )
    write_events(path, events)
    assert "\n'=cmd" in path.read_text()
    back = read_catalogue(path).events
    assert [(event.id, event.time, event.label) for event in back] == [
        (event.id, event.time, event.label) for event in events
    ]
    assert back[0].picks[0].channel == "-X.+Y..Z"
    assert back[0].picks[0].time == at(1.5)
    assert np.isnan(back[1].snr)


def test_a_list_without_events_is_written(tmp_path):
    write_events(tmp_path / "events.csv", [])
    assert (tmp_path / "events.csv").read_text() == "id,time,label,duration,snr,stations\n"
    with pytest.raises(SeismicError, match="has no usable event"):
        read_catalogue(tmp_path / "events.csv")


def test_a_csv_of_another_agency_is_read(tmp_path):
    path = tmp_path / "query.csv"
    path.write_text(
        "time,latitude,mag,id,type\n"
        "2010-05-27T16:24:33.210Z,48.1,1.2,us1,earthquake\n"
        "2010-05-27T18:27:01+02:00,48.1,1.2,us2,quarry blast\n"
        "2010-05-28,48.1,1.2,us3,\n"
    )
    known = read_catalogue(path)
    assert [event.label for event in known] == ["earthquake", "quarry blast", None]
    assert known[1].time == pd.Timestamp("2010-05-27T16:27:01Z")
    assert known.to_frame()["id"].tolist() == ["us1", "us2", "us3"]
    path.write_text("when;what;name\n2010-05-27;blast;a\n")
    (event,) = read_catalogue(path, time="when", label="what", id="name")
    assert (event.id, event.label) == ("a", "blast")
    path.write_text("time\n2010-05-27\n2010-05-28\n")
    assert [event.id for event in read_catalogue(path)] == ["line2", "line3"]


def test_bad_rows_are_named_and_the_others_read(tmp_path):
    path = tmp_path / "events.csv"
    path.write_text(
        "id,time,label,snr,pick IS.A,channel IS.A\n"
        "a,2010-05-27T16:24:33Z,blast,3,,\n"
        "b,now,blast,3,,\n"
        "a,2010-05-27T16:24:34Z,blast,3,,\n"
        ",2010-05-27T16:24:34Z,blast,3,,\n"
        "c,2010-05-27T16:24:34Z,blast,loud,,\n"
        "d,2010-13-27T16:24:34Z,blast,3,,\n"
        "e,2010-05-27T16:24:34Z,blast,3,2010-05-27T16:24:35Z,IS.B..BHZ\n"
        "f,2010-05-27T16:24:34Z,blast,3,2010-05-27T16:24:35Z,\n"
    )
    known = read_catalogue(path)
    assert [event.id for event in known] == ["a", "f"]
    assert known[1].stations == ("IS.A",)
    assert known.summary.counts == {"row": 6}
    assert [lost.trace[-6:] for lost in known.summary.left_out] == [
        f"line {k}" for k in range(3, 9)
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,when\na,2010-05-27\n", "no column 'time'"),
        ("id,time\n", "has no usable event"),
        ("id,time\na,soon\n", r"has no usable event: .*line 2: expected a time"),
        ("", "empty"),
        ("id,time\na,2010-05-27,x\n", "line 2"),
    ],
)
def test_a_catalogue_without_events_says_why(tmp_path, text, told):
    path = tmp_path / "catalogue.csv"
    path.write_text(text)
    with pytest.raises(SeismicError, match=told) as caught:
        read_catalogue(path)
    assert "catalogue.csv" in str(caught.value)


def test_only_files_are_read(tmp_path):
    with pytest.raises(SeismicError, match="URL"):
        read_catalogue("http://127.0.0.1:9/query.xml")
    with pytest.raises(SeismicError, match="No such file"):
        read_catalogue(tmp_path / "none.csv")


@pytest.mark.parametrize("text", ["now", "today", "NaT", "2010", "1274977473", "", "27.05.2010"])
def test_only_iso_times_are_times(text):
    with pytest.raises(ValueError, match="expected a time"):
        parse_utc(text)


@pytest.fixture
def quakeml(obspy, tmp_path):
    """A QuakeML file of two events, the second without an origin."""
    from viewhop.seismic._obspy import obspy_module

    model = obspy_module("obspy.core.event")

    def arrival(station, seconds, channel="BHZ"):
        source = model.WaveformStreamID("IS", station, None, channel)
        return model.Pick(time=obspy.UTCDateTime(START.isoformat()) + seconds, waveform_id=source)

    event = model.Event(
        event_type="quarry blast",
        origins=[model.Origin(time=obspy.UTCDateTime(START.isoformat()), latitude=1, longitude=2)],
        picks=[arrival("MMLI", 9, "BHN"), arrival("MMLI", 5.25), arrival("HRFI", 7)],
    )
    path = tmp_path / "some.xml"
    model.Catalog([event, model.Event(event_type="earthquake")]).write(str(path), format="QUAKEML")
    return path


def test_quakeml_gives_type_origin_and_first_picks(quakeml):
    known = read_catalogue(quakeml)
    (event,) = known
    assert event.label == "quarry blast"
    assert event.time == START
    assert [(pick.channel, (pick.time - START).total_seconds()) for pick in event.picks] == [
        ("IS.MMLI..BHZ", 5.25),
        ("IS.HRFI..BHZ", 7.0),
    ]
    assert known.summary.counts == {"event": 1}
    assert "no origin time" in str(known.summary.left_out[0])


def test_quakeml_picks_of_other_phases_or_rejected_ones_are_not_taken(obspy, tmp_path):
    from viewhop.seismic._obspy import obspy_module

    model = obspy_module("obspy.core.event")
    begin = obspy.UTCDateTime(START.isoformat())

    def arrival(station, seconds, phase=None, status=None):
        source = model.WaveformStreamID("IS", station, None, "BHZ")
        return model.Pick(
            time=begin + seconds, waveform_id=source, phase_hint=phase, evaluation_status=status
        )

    def event(kind, *picks):
        origin = model.Origin(time=begin, latitude=1, longitude=2)
        return model.Event(event_type=kind, origins=[origin], picks=list(picks))

    model.Catalog(
        [
            event(
                "earthquake",
                arrival("A", -300, "P", "rejected"),
                arrival("A", 5, "Pn", "reviewed"),
                arrival("B", 2, "AML"),
                arrival("B", 6, "p"),
                arrival("C", 12, "Sg"),
                arrival("D", 7),
                arrival("E", 8, "P", "rejected"),
            ),
            event("not reported", arrival("A", 5, "P")),
            event("not existing", arrival("A", 5, "P")),
        ]
    ).write(str(tmp_path / "some.xml"), format="QUAKEML")
    known = read_catalogue(tmp_path / "some.xml")
    assert [event.label for event in known] == ["earthquake", None]
    seconds = {pick.station: (pick.time - START).total_seconds() for pick in known[0].picks}
    assert seconds == {"IS.A": 5.0, "IS.B": 6.0, "IS.D": 7.0}
    assert known.summary.counts == {"no P pick": 2, "event": 1}
    told = "\n".join(map(str, known.summary.left_out))
    assert "its pick is Sg, not P" in told
    assert "its pick was rejected" in told
    assert "'not existing': it was withdrawn" in told


def test_columns_that_cannot_be_understood_are_named(tmp_path):
    path = tmp_path / "some.csv"
    row = "a,2010-05-27T16:24:33Z,blast,2010-05-27T16:24:40Z"
    path.write_text(f"id,time,label,label\n{row}\n")
    with pytest.raises(SeismicError, match="two columns are named 'label'"):
        read_catalogue(path)
    path.write_text(f"id,time,label,pick SOUTH\n{row}\n")
    known = read_catalogue(path)
    assert known[0].picks == ()
    assert known.summary.counts == {"column": 1}
    assert "column 'pick SOUTH': expected a pick column named 'pick NET.STA'" in str(
        known.summary.left_out[0]
    )
    # Spreadsheets leave columns without a name.
    path.write_text(f"id,time,label,pick IS.A,,\n{row},,\n")
    assert read_catalogue(path)[0].stations == ("IS.A",)


def test_what_was_left_out_goes_with_the_error(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("id,time\na,soon\nb,later\n")
    with pytest.raises(SeismicError, match="no usable event") as caught:
        read_catalogue(path)
    assert [lost.reason for lost in caught.value.left_out] == ["row", "row"]


def with_entity(text, declaration, use):
    """QuakeML whose type of event is the text of an entity."""
    head, rest = text.split("?>", 1)
    return f"{head}?>\n<!DOCTYPE q [{declaration}]>{rest}".replace("quarry blast", use)


BOMB = '<!ENTITY a "{}">'.format("lol" * 10) + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", "declares"),
        ("utf-16", "declares"),
        ("iso-8859-1", "declares"),
        ("utf-7", "encoding utf-7 is not supported"),
        ("utf-32", "supported encoding"),
        ("utf-16-le", "supported encoding"),
        ("cp037", "is invalid in its encoding"),
    ],
)
@pytest.mark.parametrize("kind", ["small", "bomb", "file", "parameter"])
def test_entities_are_refused_in_any_encoding(quakeml, tmp_path, encoding, told, kind):
    secret = tmp_path / "secret"
    secret.write_text("earthquake")
    declaration = {
        "small": '<!ENTITY i "earthquake">',
        "bomb": BOMB,
        "file": f'<!ENTITY i SYSTEM "{secret.as_uri()}">',
        "parameter": f'<!ENTITY % p SYSTEM "{secret.as_uri()}"> %p; <!ENTITY i "x">',
    }[kind]
    text = with_entity(quakeml.read_text(), declaration, "&i;")
    data = text.replace("utf-8", encoding, 1).encode(encoding)
    with pytest.raises(ValueError, match=told):
        quakeml_events("some.xml", data)
    for lie in (encoding, "utf-8", "utf-7"):
        quakeml.write_bytes(text.replace("utf-8", lie, 1).encode(encoding))
        with pytest.raises(SeismicError, match=r"some\.xml"):
            read_catalogue(quakeml)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "utf-8-sig"])
def test_plain_quakeml_is_read_in_its_encoding(quakeml, encoding):
    text = quakeml.read_text().replace("utf-8", encoding.removesuffix("-sig"), 1)
    quakeml.write_bytes(text.encode(encoding))
    assert read_catalogue(quakeml)[0].label == "quarry blast"


def test_what_is_no_quakeml_is_refused(tmp_path):
    for name, text in {
        "html": "<html><body>no</body></html>",
        "cut": '<?xml version="1.0"?><q:quakeml xmlns:q="http://quakeml.org/xmlns/quakeml/1.2">',
        "twice": '<?xml version="1.0"?><?xml version="1.0" encoding="utf-7"?><a/>',
    }.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(SeismicError, match=name):
            read_catalogue(tmp_path / name)


def test_events_take_the_label_of_the_nearest_in_time():
    events = [Event("a", at(10)), Event("b", at(13)), Event("c", at(500), label="kept")]
    known = [Event("k1", at(12.5), label="blast"), Event("k2", at(9), label="quake")]
    known.append(Event("k3", at(900), label="other"))
    found = match(events, known, tolerance=5)
    assert found.labels == ("quake", "blast", "kept")
    assert found.pairs == ((0, 1), (1, 0))
    assert_allclose(found.offsets, [1.0, 0.5], atol=1e-9)
    assert found.unmatched_events == ("c",)
    assert found.unmatched_catalogue == ("k3",)
    assert "2 matched" in str(found)


def test_one_event_of_the_catalogue_labels_one_event():
    found = match([Event("a", at(10)), Event("b", at(11))], [Event("k", at(11.2))], tolerance=5)
    assert found.pairs == ((1, 0),)
    assert found.unmatched_events == ("a",)


def test_nothing_is_matched_with_an_empty_catalogue():
    found = match([Event("a", at(10))], [], tolerance=np.inf)
    assert found.unmatched_events == ("a",)
    assert found.offsets.size == 0
    assert match([], [Event("a", at(10))], tolerance=1).unmatched_catalogue == ("a",)
    with pytest.raises(ValueError, match="tolerance"):
        match([], [], tolerance=-1)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 300), max_size=8, unique=True),
    st.lists(st.integers(0, 300), max_size=8, unique=True),
    st.integers(0, 40),
)
def test_matching_takes_the_nearest_pair_again_and_again(left, right, tolerance):
    found = match(
        [Event(f"a{k}", at(second)) for k, second in enumerate(left)],
        [Event(f"k{k}", at(second)) for k, second in enumerate(right)],
        tolerance=tolerance,
    )
    apart = np.abs(np.subtract.outer(left, right)).astype(float).reshape(len(left), len(right))
    expected = []
    while apart.size and apart.min() <= tolerance:
        a, b = np.unravel_index(apart.argmin(), apart.shape)
        expected.append((int(a), int(b)))
        apart[a], apart[:, b] = np.inf, np.inf
    assert found.pairs == tuple(sorted(expected))
    assert len(found.pairs) + len(found.unmatched_events) == len(left)
    assert len(found.pairs) + len(found.unmatched_catalogue) == len(right)
    if left and right and len(found.pairs) == min(len(left), len(right)):
        gaps = np.abs(np.subtract.outer(left, right))
        best = gaps[linear_sum_assignment(gaps)].sum()
        assert best <= np.abs(found.offsets).sum() + 1e-6
