"""``viewhop seismic``: detect, sonogram, classify and simulate, as a user runs them."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from tests.support.command_line import invoked, run
from viewhop.seismic import classify, make_events
from viewhop.seismic._gallery import choose_events, draw_gallery
from viewhop.seismic.events import event_views
from viewhop.seismic.io import read_catalogue, read_waveforms, write_events
from viewhop.seismic.io._simulated_files import write_simulated
from viewhop.seismic.sonogram import sonogram

HOSTILE = "</td><script>alert(1)</script> $\\frac$ \"'&"


@pytest.fixture(scope="module")
def simulated(obspy, tmp_path_factory):
    """Seven earthquakes and eight blasts as files, and as they were made."""
    events = make_events(7, 8, random_state=3)
    return write_simulated(tmp_path_factory.mktemp("simulated"), events), events


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_simulated_records_are_read_back_as_they_were_made(simulated):
    (south, north, catalogue), events = simulated
    waveforms = read_waveforms([south, north])
    assert len(waveforms.channels) == 6
    channel = waveforms.channels["XX.NORTH..BHN"]
    assert len(channel.segments) == 15
    assert_allclose(channel.segments[4].data, events.waveforms[4, 4], rtol=0, atol=0)
    known = read_catalogue(catalogue)
    assert [event.label for event in known] == ["earthquake"] * 7 + ["blast"] * 8
    seen = event_views(waveforms, known.events, before=20, length=5031 / 40)
    expected = sonogram(events.waveforms[:, 4], sampling_rate=40.0).reshape(15, -1)
    assert_allclose(seen.views["XX.NORTH..BHN"], expected, rtol=1e-10)


def test_detect_writes_events_that_a_catalogue_is_read_from(record_files, tmp_path):
    out = tmp_path / "new" / "events.csv"
    done = invoked(
        *("seismic", "detect", *record_files, "--band", "10", "20", "--min-stations", "3"),
        *("-o", out),
    )
    assert done.exit_code == 0, done.output
    # obspy's own record holds three events.
    assert len(read_catalogue(out)) == 3
    assert "3 events" in done.stderr
    assert f"wrote {out}" in done.stdout


def test_a_file_that_cannot_be_read_is_named_and_the_rest_goes_on(simulated, tmp_path):
    (south, north, _), _ = simulated
    bad = tmp_path / "broken.mseed"
    bad.write_bytes(b"this is no seismogram" * 50)
    done = invoked(
        "seismic", "detect", bad, south, north, tmp_path / "none.mseed", "-o", tmp_path / "e.csv"
    )
    assert done.exit_code == 0, done.output
    assert f"left out: {bad}: " in done.stderr
    assert "none.mseed: the file does not exist" in done.stderr
    # Both stations recorded fifteen events, each by itself.
    assert "left out 30: 28 gap, 2 unreadable file" in done.stderr
    assert rows(tmp_path / "e.csv")


def test_only_bad_files_are_an_error_in_a_line(obspy, tmp_path):
    bad = tmp_path / "broken.mseed"
    bad.write_bytes(b"no seismogram")
    for command in (["detect", "-o", tmp_path / "e.csv"], ["sonogram", "-o", tmp_path / "s"]):
        done = invoked("seismic", command[0], bad, *command[1:])
        assert done.exit_code == 1
        assert re.fullmatch(r"Error: no waveform could be read .*broken.mseed.*\n", done.stderr)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["detect", "--sta", "20"], "0 < sta < lta"),
        (["sonogram", "--lowest", "30"], "lowest_frequency must be at most half"),
        (["simulate", "--earthquakes", "0", "--blasts", "0"], "at least one event"),
    ],
)
def test_wrong_settings_are_wrong_usage(arguments, told, tmp_path):
    files = [] if arguments[0] == "simulate" else ["a.mseed"]
    done = invoked("seismic", *arguments, *files, "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert told in done.stderr


def test_sonograms_are_those_of_the_library(simulated, tmp_path):
    (south, _, _), events = simulated
    done = invoked("seismic", "sonogram", south, "--pictures", 2, "-o", tmp_path)
    assert done.exit_code == 0, done.output
    listed = rows(tmp_path / "sonograms.csv")
    assert len(listed) == 45
    with np.load(tmp_path / "sonograms.npz") as file:
        held = dict(file)
    place = [row["trace"] for row in listed].index("XX.SOUTH..BHZ")
    expected = sonogram(events.waveforms[0, 0], sampling_rate=40.0)
    assert listed[place]["start"] == "2020-01-01T00:00:00Z"
    assert_allclose(held[listed[place]["sonogram"]], expected, rtol=1e-12)
    assert held["edges"].shape == (15,)
    assert len(list(tmp_path.glob("*.png"))) == 2


def test_traces_that_are_too_short_or_dead_have_no_sonogram(obspy, trace, tmp_path):
    stream = obspy.Stream(
        [
            trace("IS.MMLI..BHZ"),
            trace("IS.MMLI..BHN", seconds=2.0),
            trace("IS.MMLI..BHE", data=np.zeros(2400, dtype=np.int32)),
        ]
    )
    stream.write(tmp_path / "a.mseed", format="MSEED")
    done = invoked("seismic", "sonogram", tmp_path / "a.mseed", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert [row["trace"] for row in rows(tmp_path / "out" / "sonograms.csv")] == ["IS.MMLI..BHZ"]
    assert "left out: IS.MMLI..BHN" in done.stderr
    assert "left out: IS.MMLI..BHE" in done.stderr
    assert "1 sonogram; left out 2" in done.stderr


class Links(HTMLParser):
    """The elements of a page, and all that it would load or run."""

    def __init__(self):
        super().__init__()
        self.tags, self.sources = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href")]


def test_classify_writes_what_the_library_finds(simulated, tmp_path):
    (south, north, catalogue), _ = simulated
    done = invoked(
        *("seismic", "classify", south, north, "--catalogue", catalogue, "--pairs"),
        *("--kernel", "gaussian", "-r", 3, "--length", 120, "-o", tmp_path),
    )
    assert done.exit_code == 0, done.output
    known = read_catalogue(catalogue)
    seen = event_views(read_waveforms([south, north]), known.events, before=20, length=120)
    expected = classify(seen.views, seen.labels, n_components=3, kernel="gaussian")
    scores = rows(tmp_path / "scores.csv")
    assert len(scores) == len(expected) == 18
    for row, score in zip(scores, expected, strict=True):
        assert (row["method"], row["procedure"]) == (score.method, score.procedure)
        assert_allclose(float(row["accuracy"]), score.accuracy, rtol=1e-12)
    events = rows(tmp_path / "events.csv")
    told = expected.find("multi-view", procedure="refitted")
    assert tuple(row["multi-view, refitted"] for row in events) == told.labels
    assert len(rows(tmp_path / "pairs.csv")) == 6
    page = Links()
    page.feed((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "script" not in page.tags
    assert len(page.sources) == 3  # confusion, pairs, sonograms
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    for name in ("confusion", "pairs", "sonograms"):
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_classify_takes_steps_and_the_weight_within_views(simulated, tmp_path):
    (south, north, catalogue), _ = simulated
    walk = ("--steps", 0.5, "--within-view-weight", 0.3)
    done = invoked(
        *("seismic", "classify", south, north, "--catalogue", catalogue, "--kernel", "gaussian"),
        *("-r", 3, "--length", 120, "--procedure", "transductive", *walk, "-o", tmp_path),
    )
    assert done.exit_code == 0, done.output
    seen = event_views(
        read_waveforms([south, north]), read_catalogue(catalogue).events, before=20, length=120
    )
    expected = classify(
        seen.views,
        seen.labels,
        n_components=3,
        kernel="gaussian",
        procedures=["transductive"],
        n_steps=0.5,
        within_view_weight=0.3,
    )
    scores = rows(tmp_path / "scores.csv")
    for row, score in zip(scores, expected, strict=True):
        assert_allclose(float(row["accuracy"]), score.accuracy, rtol=1e-12)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for name, value in (("steps", "0.5"), ("within-view weight", "0.3")):
        assert re.search(rf">{name}<[^>]*>\s*<[^>]*>{value}<", page), name


def test_classify_counts_what_a_station_missed_and_says_why_there_is_no_product(
    simulated, tmp_path
):
    (south, north, catalogue), _ = simulated
    known = list(read_catalogue(catalogue))
    for k in (0, 9):
        known[k] = replace(known[k], picks=known[k].picks[:1])
    known[5] = replace(known[5], label=None)
    known[6] = replace(known[6], label=HOSTILE)
    known[7] = replace(known[7], label=HOSTILE)
    write_events(tmp_path / "some.csv", known)
    done = invoked(
        *("seismic", "classify", south, north, "--catalogue", tmp_path / "some.csv"),
        *("--procedure", "transductive", "-o", tmp_path / "out"),
    )
    assert done.exit_code == 0, done.output
    assert "left out 6: 6 no pick" in done.stderr
    assert "left out: XX.SOUTH..BHZ, event E0001" in done.stderr
    assert (
        "not used: kernel product: it needs every event in every view, and 2 of 15" in done.stdout
    )
    assert len(rows(tmp_path / "out" / "left-out.csv")) == 6
    events = rows(tmp_path / "out" / "events.csv")
    assert events[5]["label"] == ""
    assert events[5]["multi-view, transductive"]
    assert events[0]["XX.SOUTH..BHZ, transductive"] == ""
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    page = Links()
    page.feed(text)
    assert "script" not in page.tags
    assert "&lt;script&gt;alert(1)" in text
    assert "default-src 'none'" in text


def test_an_empty_catalogue_is_an_error_that_names_it(simulated, tmp_path):
    (south, _, _), _ = simulated
    empty = tmp_path / "empty.csv"
    empty.write_text("id,time,label\n")
    done = invoked("seismic", "classify", south, "--catalogue", empty, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert "empty.csv" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_one_class_is_an_error(simulated, tmp_path):
    (south, _, catalogue), _ = simulated
    known = [replace(event, label="blast") for event in read_catalogue(catalogue)]
    write_events(tmp_path / "one.csv", known)
    done = invoked(
        "seismic", "classify", south, "--catalogue", tmp_path / "one.csv", "-o", tmp_path / "out"
    )
    assert done.exit_code == 1
    assert "one.csv: all labels are blast; expected labels of at least two" in done.stderr


def test_a_catalogue_without_labels_says_which_option_names_them(simulated, tmp_path):
    (south, _, catalogue), _ = simulated
    known = [replace(event, label=None) for event in read_catalogue(catalogue)]
    path = tmp_path / "bare.csv"
    write_events(path, known)
    done = invoked("seismic", "classify", south, "--catalogue", path, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert f"Error: {path}: no event has a label; choose the column of labels with --label" in (
        done.stderr
    )
    told = ("--label", "duration XX.SOUTH")
    done = invoked("seismic", "classify", south, "--catalogue", path, *told, "-o", tmp_path / "out")
    assert "column 'duration XX.SOUTH' has no label" in done.stderr


def test_rows_that_were_lost_are_told_where_labels_are_missing(simulated, tmp_path):
    (south, _, _), _ = simulated
    path = tmp_path / "lost.csv"
    path.write_text("id,time,label\na,2020-01-01T00:00:20Z,blast\nb,soon,earthquake\n")
    done = invoked("seismic", "classify", south, "--catalogue", path, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert "left out: " in done.stderr
    assert "line 3: expected a time" in done.stderr
    assert "all labels are blast" in done.stderr


def test_what_was_left_out_is_told_before_the_error_that_follows_from_it(simulated, tmp_path):
    (south, _, catalogue), _ = simulated
    known = read_catalogue(catalogue).events
    # Of fifteen events four have a pick where there are records.
    events = [
        replace(
            event,
            picks=[pick for pick in event.picks if k in (0, 1, 7, 8) or pick.station != "XX.SOUTH"],
        )
        for k, event in enumerate(known)
    ]
    write_events(tmp_path / "few.csv", events)
    done = invoked(
        "seismic", "classify", south, "--catalogue", tmp_path / "few.csv", "-o", tmp_path / "out"
    )
    assert done.exit_code == 1
    *before, error = done.stderr.strip().split("\n")
    assert error.startswith("Error: expected at least 7 labelled events")
    assert sum(line.startswith("left out: ") for line in before) == 11
    assert sum("no channel recorded" in line for line in before) == 3
    assert before[-1].startswith("left out 59: 33 no pick, 15 unknown station, 11 no channel")
    for told in (
        "its station has no pick",
        "it has a pick but no waveforms",
        "no channel recorded",
    ):
        assert any(told in line for line in before)
    assert not (tmp_path / "out").exists()


def test_a_channel_that_saw_little_is_left_out_of_the_fusions(simulated, tmp_path):
    (south, north, catalogue), _ = simulated
    events = [
        replace(event, picks=[pick for pick in event.picks if k < 2 or pick.station == "XX.SOUTH"])
        for k, event in enumerate(read_catalogue(catalogue))
    ]
    write_events(tmp_path / "few.csv", events)
    out = tmp_path / "out"
    done = invoked(
        *("seismic", "classify", south, north, "--catalogue", tmp_path / "few.csv"),
        *("--pairs", "-r", "3", "-o", out),
    )
    assert done.exit_code == 0, done.stderr
    for letter in "ZNE":
        told = f"XX.NORTH..BH{letter}, alone and in the fusions: it recorded 2 labelled events, "
        assert f"not used: {told}" in done.stdout
    assert done.stdout.count("not used: ") == 3
    assert {row["events"] for row in rows(out / "scores.csv")} == {"15"}
    assert "in the fusions" in (out / "report.html").read_text(encoding="utf-8")
    pairs = {row.pop("first view"): row for row in rows(out / "pairs.csv")}
    assert pairs["XX.SOUTH..BHZ"]["XX.NORTH..BHZ"] == ""
    assert pairs["XX.SOUTH..BHZ"]["XX.SOUTH..BHN"]


def test_nothing_that_is_read_is_written_over(simulated, tmp_path):
    """Labels that were added by hand to what detect found must not be lost."""
    (south, north, catalogue), _ = simulated
    mine = tmp_path / "events.csv"
    mine.write_bytes(catalogue.read_bytes())
    done = invoked("seismic", "classify", south, north, "--catalogue", mine, "-o", tmp_path)
    assert done.exit_code == 2
    assert "events.csv would be written over" in done.stderr
    assert mine.read_bytes() == catalogue.read_bytes()
    record = tmp_path / "record.csv"
    record.write_bytes(south.read_bytes())
    done = invoked("seismic", "detect", record, north, "-o", record)
    assert "record.csv would be written over" in done.stderr
    record = tmp_path / "sonograms.npz"
    record.write_bytes(south.read_bytes())
    done = invoked("seismic", "sonogram", record, "-o", tmp_path)
    assert "sonograms.npz would be written over" in done.stderr
    assert record.read_bytes() == south.read_bytes()


def test_gaps_and_clipping_are_named_by_sonogram_and_detect(obspy, trace, tmp_path):
    time = np.arange(8000) / 40
    data = 3000 * np.sin(2 * np.pi * 6.3 * time) * np.exp(-(((time - 150) / 8) ** 2))
    data = np.round(data + 20 * np.random.default_rng(0).normal(size=8000)).astype(np.int32)
    data[1000:1400] = 0
    whole = trace("IS.A..BHZ", data=np.clip(data, -900, 900))
    start = whole.stats.starttime
    stream = obspy.Stream([whole.slice(None, start + 60), whole.slice(start + 63)])
    path = tmp_path / "some.mseed"
    stream.write(str(path), format="MSEED")
    done = invoked("seismic", "sonogram", path, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "left out: IS.A..BHZ, 2010-05-27T16:24:25Z: it is 0 for 10.0 s" in done.stderr
    assert "IS.A..BHZ, 2010-05-27T16:25:00.025000Z: 2.98 s are missing" in done.stderr
    assert "doubtful: IS.A..BHZ, 2010-05-27T16:2" in done.stderr
    assert "3 sonograms; left out 2: 1 all zero, 1 gap; doubtful 1: 1 clipped" in done.stderr
    done = invoked("seismic", "detect", path, "--min-stations", "1", "-o", tmp_path / "events.csv")
    assert done.exit_code == 0, done.output
    assert "10 s later" in done.stderr
    assert "1 event; left out 2: " in done.stderr
    assert "doubtful 1: 1 clipped" in done.stderr


def test_fewer_stations_than_an_event_needs_name_the_option(simulated, tmp_path):
    (south, _, _), _ = simulated
    done = invoked("seismic", "detect", south, "-o", tmp_path / "events.csv")
    assert done.exit_code == 1
    assert "lower --min-stations to 1" in done.stderr


def test_events_without_picks_name_the_option(simulated, tmp_path):
    (south, _, catalogue), _ = simulated
    known = [replace(event, picks=()) for event in read_catalogue(catalogue)]
    write_events(tmp_path / "bare.csv", known)
    done = invoked(
        "seismic", "classify", south, "--catalogue", tmp_path / "bare.csv", "-o", tmp_path / "out"
    )
    assert done.exit_code == 1
    assert done.stderr.endswith("they have no picks: pass --unpicked event\n")


def test_what_an_earlier_run_left_is_removed(simulated, tmp_path):
    (south, north, catalogue), _ = simulated
    out = tmp_path / "out"
    common = ("--catalogue", catalogue, "-r", "3", "--procedure", "transductive", "-o", out)
    done = invoked("seismic", "classify", south, north, *common, "--pairs")
    assert done.exit_code == 0, done.output
    assert (out / "pairs.csv").exists()
    (out / "mine.txt").write_text("kept")
    other = tmp_path / "other"
    other.mkdir()
    (other / "pairs.csv").write_text("mine")
    done = invoked("seismic", "classify", south, *common[:-1], other)
    assert done.exit_code == 0, done.output
    assert (other / "pairs.csv").read_text() == "mine"
    done = invoked("seismic", "classify", south, *common)
    assert f"removed {out / 'pairs.csv'}" in done.stdout
    expected = {"scores.csv", "events.csv", "left-out.csv", "report.html", "mine.txt"}
    assert {path.name for path in out.iterdir()} == expected | {"confusion.png", "sonograms.png"}
    for pictures in (3, 1):
        done = invoked("seismic", "sonogram", south, "--pictures", str(pictures), "-o", out)
        assert done.exit_code == 0, done.output
    assert {path.name for path in out.glob("sonogram*.png")} == {"sonogram1.png", "sonograms.png"}


def test_an_event_that_is_listed_twice_does_not_judge_itself(simulated, tmp_path):
    (south, _, catalogue), _ = simulated
    known = read_catalogue(catalogue).events
    moved = pd.Timedelta(milliseconds=100)
    again = [
        replace(
            event,
            id=f"{event.id}b",
            time=event.time + moved,
            picks=[replace(pick, time=pick.time + moved) for pick in event.picks],
        )
        for event in known
    ]
    mixed = [replace(event, label="xy"[k % 15 % 4 > 1]) for k, event in enumerate([*known, *again])]
    write_events(tmp_path / "twice.csv", mixed)
    done = invoked(
        *("seismic", "classify", south, "--catalogue", tmp_path / "twice.csv", "--before", "19"),
        *("--length", "120", "-r", "3", "--procedure", "transductive", "-o", tmp_path / "out"),
    )
    assert done.exit_code == 0, done.output
    assert "note: 30 of 30 events share samples with others" in done.stdout
    assert max(float(row["accuracy"]) for row in rows(tmp_path / "out" / "scores.csv")) < 0.9


def test_a_slow_trace_has_doubtful_bands(trace, tmp_path):
    slow = trace("IS.A..LHZ", seconds=3000, rate=1.0)
    slow.write(str(tmp_path / "slow.mseed"), format="MSEED")
    done = invoked("seismic", "sonogram", tmp_path / "slow.mseed", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "doubtful: IS.A..LHZ" in done.stderr
    assert "it has no data above 0.5 Hz; 11 of 14 bands are uniform" in done.stderr
    made = np.load(tmp_path / "out" / "sonograms.npz")["sonogram1"]
    assert int((made.std(axis=1) < 1e-9).sum()) == 11


def test_absurd_numbers_are_refused_in_a_line(simulated, tmp_path):
    (south, north, _), _ = simulated
    for option in (("--allowance", "1e300"), ("--separation", "1e300"), ("--band", "1e-300", "10")):
        done = invoked("seismic", "detect", south, north, *option, "-o", tmp_path / "e.csv")
        assert "bug in viewhop" not in done.stderr
        assert "bug in viewhop" not in done.stderr
        assert "must be between 0 and" in done.stderr or "choose a band above" in done.stderr
    done = invoked("seismic", "sonogram", south, "--pictures", "1000000000", "-o", tmp_path / "out")
    assert done.exit_code == 2


def test_a_label_cannot_move_the_cursor(simulated, tmp_path):
    (south, north, catalogue), _ = simulated
    known = read_catalogue(catalogue).events
    wild = "\x1b]0;title\x07eq"
    events = [
        replace(
            event,
            label=wild if k < 7 else "blast",
            picks=[pick for pick in event.picks if k < 7 or pick.station == "XX.SOUTH"],
        )
        for k, event in enumerate(known)
    ]
    write_events(tmp_path / "wild.csv", events)
    done = invoked(
        *("seismic", "classify", south, north, "--catalogue", tmp_path / "wild.csv", "-r", "2"),
        *("--procedure", "transductive", "-o", tmp_path / "out"),
    )
    assert done.exit_code == 0, done.output
    assert "it recorded events of one class only, '\\x1b]0;title" in done.stdout
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "\x1b" not in done.output + text
    assert "Glyph" not in done.stderr


def test_what_cannot_be_printed_is_escaped_everywhere(simulated, tmp_path):
    (south, _, catalogue), _ = simulated
    known = read_catalogue(catalogue).events
    wild = "\x1b[31mred\x07"
    write_events(tmp_path / "wild.csv", [replace(known[0], id=wild, picks=()), *known[1:]])
    done = invoked(
        *("seismic", "classify", south, "--catalogue", tmp_path / "wild.csv", "-r", "3"),
        *("--procedure", "transductive", "-o", tmp_path / "out"),
    )
    assert done.exit_code == 0, done.output
    assert "\\x1b[31mred" in done.stderr
    files = [(tmp_path / "out" / name) for name in ("report.html", "left-out.csv")]
    assert "Glyph" not in done.stderr
    for text in (done.output, *(file.read_text(encoding="utf-8") for file in files)):
        assert "\x1b" not in text
        assert "\x07" not in text


def test_without_obspy_a_line_says_what_to_install(tmp_path):
    hidden = "import sys; sys.modules['obspy'] = None;"
    (tmp_path / "a.mseed").write_bytes(b"x")
    for arguments in (
        ["detect", "a.mseed", "-o", "e.csv"],
        ["sonogram", "a.mseed", "-o", "s"],
        ["simulate", "-o", "s"],
    ):
        done = run("seismic", *arguments, cwd=tmp_path, before=hidden)
        assert done.returncode == 1
        assert done.stderr.endswith('pip install "viewhop[seismic]"\n')
        assert done.stderr.count("\n") == 1
    assert run("seismic", "--help", cwd=tmp_path, before=hidden).returncode == 0


def test_galleries_go_round_the_classes():
    labels = ["b", "a", "a", None, "a", "b", "a"]
    assert choose_events(labels, 4) == [3, 1, 2, 0]
    assert choose_events(labels, 99) == [3, 1, 2, 4, 6, 0, 5]
    assert choose_events([], 3) == []


def test_a_gallery_has_every_channel_of_every_event(simulated):
    (south, north, catalogue), _ = simulated
    known = list(read_catalogue(catalogue))
    known[0] = replace(known[0], picks=known[0].picks[:1], label=HOSTILE)
    seen = event_views(read_waveforms([south, north]), known, before=20, length=120)
    figure = draw_gallery(seen, n_events=3, n_channels=6)
    figure.savefig(BytesIO())
    assert len(figure.axes) == 18
    said = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert said == ["not recorded"] * 3
    assert any(HOSTILE in ax.get_title(loc="left") for ax in figure.axes)
