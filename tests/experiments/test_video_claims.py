"""Findings on the films follow from correlations and gaps by their rules."""

from __future__ import annotations

import pytest

from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS
from viewhop.experiments._rings import Ring
from viewhop.experiments._video_claims import find_curves, ring_table

CLOSED, BOW, MESS = Ring(0.999, 12.0), Ring(0.999, 95.0), Ring(0.4, 20.0)
HOPS = [
    f"multi-view, {view}; {scale}{kind}"
    for view in "xy"
    for scale in ("max-min", "10 neighbours")
    for kind in ("", "; contrasting waggons")
]


def rings(changes):
    """Films as the paper describes them, two of each, with changes by name."""
    told = {name: [CLOSED, CLOSED] for name in HOPS}
    told |= {f"{view} alone; max-min": [BOW, BOW] for view in "xy"}
    told["kernel product, concat; max-min"] = [BOW, MESS]
    return {**told, **changes}


def verdicts(fault, changes=None):
    found = find_curves(rings(changes or {}), fault)
    return {finding.claim: finding for finding in found}


@pytest.mark.parametrize("fault", ["gap", "noise"])
def test_films_as_described_confirm_every_claim(fault):
    assert {each.verdict for each in verdicts(fault).values()} == {HOLDS}


def test_one_film_without_a_circle_leaves_the_other_settings_as_condition():
    found = verdicts("gap", {"multi-view, x; max-min; contrasting waggons": [CLOSED, MESS]})
    circle = found["video-gap-circle"]
    assert circle.verdict == CONDITIONAL
    assert "max-min; plain waggons" in circle.condition
    assert "1 of 2 (max-min; contrasting waggons)" in circle.evidence


@pytest.mark.parametrize("spoilt", [BOW, MESS])
def test_circle_needs_order_and_closure(spoilt):
    found = verdicts("noise", {name: [spoilt, spoilt] for name in HOPS})
    assert found["video-noise-circle"].verdict == FAILS


def test_camera_without_an_open_end_is_no_bow():
    found = verdicts("gap", {"y alone; max-min": [CLOSED, CLOSED]})
    assert found["video-gap-order"].verdict == FAILS


def test_product_that_closes_once_refutes_its_claim():
    found = verdicts("gap", {"kernel product, concat; max-min": [BOW, CLOSED]})
    assert found["video-gap-product"].verdict == FAILS


def test_single_camera_that_closes_despite_noise_refutes_its_claim():
    found = verdicts("noise", {"x alone; max-min": [CLOSED, MESS]})
    assert found["video-noise-product"].verdict == FAILS


def test_table_shows_mean_and_worst_film():
    [row] = ring_table({"one": [Ring(0.9, 10.0), Ring(0.7, 30.0)]}).rows
    assert row == ("one", pytest.approx(0.8), pytest.approx(0.7), 20.0, 30.0)
