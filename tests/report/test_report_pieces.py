"""The report of a walk in pieces: a banner, panels of each piece, and a map that shows them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.report.test_report import HOSTILE, Read
from tests.support import browser
from viewhop.errors import ConvergenceError
from viewhop.geometry import piece_coordinates
from viewhop.geometry._tsne import has_tsne
from viewhop.kernels import Gaussian
from viewhop.report import _piece_panels as pieces

pytest.importorskip("plotly")
pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")

needs_browser = pytest.mark.skipif(
    bool(browser.WHY_NOT), reason=browser.WHY_NOT or "there is a browser"
)
needs_tsne = pytest.mark.skipif(
    not has_tsne(), reason='openTSNE is not installed: pip install "viewhop[map]"'
)


def groups(sizes=(40, 30, 25), distance=30.0):
    """Two views of groups of samples that are far apart."""
    rng = np.random.default_rng(0)
    number = np.repeat(np.arange(len(sizes)), sizes)
    centres = distance * number[:, None]
    return [centres + rng.standard_normal((number.size, 3)) for _ in range(2)], number


def fit(views, *, n_components=2, **parameters):
    return vh.MultiViewDiffusionMaps(n_components, random_state=0, **parameters).fit(views)


def read(est, **more):
    return Read(vh.report.render(est, **{"layout": False, **more}))


def test_a_banner_says_how_many_pieces_there_are_and_what_to_do():
    banner = read(fit(groups()[0])).plain["pieces"]
    assert "3 pieces, of 40, 30 and 25 samples" in banner["text"]
    assert "one piece at a time" in banner["text"]
    assert "connect=True (--connect on the command line)" in banner["ways"]
    assert "n_neighbors=10" in banner["ways"]
    assert "factor" not in banner["ways"]


def test_a_connected_walk_has_no_banner_and_no_pieces():
    for est in (fit(groups(distance=0.0)[0]), fit(groups()[0], connect=True)):
        plain = read(est).plain
        assert plain["pieces"] is None
        assert plain["panels"]["pieces"] == []


@pytest.mark.parametrize(
    "parameters",
    [{}, {"fusion": "sum"}, {"fusion": "alternating"}, {"fusion": "integrated"}],
)
def test_panels_of_a_piece_hold_its_own_coordinates(parameters):
    est = fit(groups()[0], **parameters)
    content = read(est)
    assert [one["name"] for one in content.plain["panels"]["pieces"]] == [
        "piece 1: 40 samples",
        "piece 2: 30 samples",
        "piece 3: 25 samples",
    ]
    for number, shown in enumerate(content.plain["panels"]["pieces"]):
        own = piece_coordinates(est, number, n_components=3, n_steps=0.0, tol=1e-6)
        assert_allclose(shown["eigenvalues"], own.eigenvalues[:2], rtol=1e-6)
        for panel, block in zip(shown["list"], own.blocks, strict=True):
            is_in = np.isfinite(block[:, 0])
            assert_array_equal(content.array(panel["samples"]), np.flatnonzero(is_in))
            found = np.stack([content.array(place) for place in panel["coordinates"]], axis=1)
            assert_allclose(found, block[is_in][:, :2], rtol=1e-4, atol=1e-5)
            assert np.ptp(found, axis=0).min() > 0.1  # not on top of each other
            assert (panel["total"], panel["unplaced"]) == (is_in.sum(), 0)


def test_pieces_of_the_composite_operator_have_no_panels_of_their_own():
    plain = read(fit(groups()[0], fusion="composite")).plain
    assert "Each coordinate is about one piece" in plain["pieces"]["text"]
    assert "panels below" not in plain["pieces"]["text"]
    assert plain["panels"]["pieces"] == []


def test_samples_of_a_piece_that_a_view_did_not_observe_are_counted():
    views, _ = groups()
    views[0][::4] = np.nan
    (first, second) = read(fit(views)).plain["panels"]["pieces"][0]["list"]
    assert (first["rows"], first["total"], first["unplaced"]) == (30, 40, 10)
    assert (second["rows"], second["total"], second["unplaced"]) == (40, 40, 0)


def test_pieces_of_separate_views_have_samples_of_one_view():
    shown = read(fit(groups()[0], within_view_weight=1.0)).plain
    assert "6 pieces, of 40, 40, 30, 30, 25 and 25 samples" in shown["pieces"]["text"]
    assert "within_view_weight below 1" in shown["pieces"]["ways"]
    assert "connect" not in shown["pieces"]["ways"]
    rows = [[one["rows"] for one in piece["list"]] for piece in shown["panels"]["pieces"][:2]]
    assert sorted(rows) == [[0, 40], [40, 0]]
    assert all(one["unplaced"] == 0 for piece in shown["panels"]["pieces"] for one in piece["list"])


def test_only_large_pieces_are_solved_and_the_banner_says_so(monkeypatch):
    sizes = (30, 20, 12, *[6] * 9)
    est = fit(groups(sizes, distance=1e3)[0], kernel=Gaussian("local", n_neighbors=4))
    plain = read(est).plain
    assert len(plain["panels"]["pieces"]) == 3
    assert "panels for 3 of them" in plain["pieces"]["text"]
    assert "of 30, 20, 12, 6, 6, 6, 6, 6 and fewer samples" in plain["pieces"]["text"]
    monkeypatch.setattr(pieces, "MOST_PIECES", 2)
    assert len(read(est).plain["panels"]["pieces"]) == 2
    monkeypatch.setattr(pieces, "MOST_NODES", 10)
    plain = read(est).plain
    assert plain["panels"]["pieces"] == []
    assert "panels" not in plain["pieces"]["text"]


def test_pieces_that_would_make_the_page_large_are_left_out(monkeypatch):
    est = fit(groups()[0])
    monkeypatch.setattr(pieces, "PIECE_BYTES", (40 + 30) * 2 * 16)
    plain = read(est).plain
    assert len(plain["panels"]["pieces"]) == 2
    assert "panels for 2 of them" in plain["pieces"]["text"]


def test_a_piece_without_a_solution_has_no_panels(monkeypatch):
    est = fit(groups()[0])

    def fail_second(geometry, piece, **more):
        if piece == 1:
            raise ConvergenceError("too slow")
        return piece_coordinates(geometry, piece, **more)

    monkeypatch.setattr(pieces, "piece_coordinates", fail_second)
    plain = read(est).plain
    assert [one["name"][:7] for one in plain["panels"]["pieces"]] == ["piece 1", "piece 3"]
    assert "panels for 2 of them" in plain["pieces"]["text"]


def test_coordinates_that_a_piece_lacks_are_zero():
    rng = np.random.default_rng(0)
    rows = np.r_[rng.standard_normal((80, 2)), 1e4 + rng.standard_normal((12, 2))]
    est = vh.DiffusionMaps(14, kernel=Gaussian(2.0, n_neighbors=6)).fit(rows)
    content = read(est)
    small = content.plain["panels"]["pieces"][1]
    assert len(small["eigenvalues"]) == len(small["list"][0]["coordinates"]) == 14
    assert small["eigenvalues"][-1] == 0.0
    assert_array_equal(content.array(small["list"][0]["coordinates"][-1]), np.zeros(12))


@needs_tsne
def test_the_map_shows_what_is_inside_the_pieces():
    views, number = groups()
    content = read(fit(views), layout=None)
    assert "inside the pieces" in content.plain["map_note"]
    x, y = (content.array(place).astype(float) for place in content.plain["map"]["positions"])
    places = np.c_[x, y]
    own = piece_coordinates(fit(views), 0, n_components=2).blocks[0][number == 0]
    near = np.linalg.norm(own[:, None] - own, axis=2)
    drawn = np.linalg.norm(places[number == 0][:, None] - places[number == 0], axis=2)
    # Neighbours inside the piece are neighbours on the map: not so for positions at random.
    k = 8
    both = [
        len({*np.argsort(a)[1 : k + 1]} & {*np.argsort(b)[1 : k + 1]})
        for a, b in zip(near, drawn, strict=True)
    ]
    assert np.mean(both) / k > 0.5


def test_coordinates_of_pieces_are_within_the_budget_of_the_page(monkeypatch):
    from viewhop.report import _panels as panels

    est = fit(groups()[0], n_components=8)
    monkeypatch.setattr(panels, "COORDINATE_BYTES", 4 * 190 * 8)
    assert read(est).plain["panels"]["kept"] == 4  # half of 8, because pieces hold as many


# --- in a browser -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page():
    with browser.opened() as opened:
        yield opened


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Groups in views whose names would run if they could, with dense kernels that are 0."""
    path = tmp_path_factory.mktemp("pieces") / "report.html"
    arrays, number = groups()
    views = vh.Views(dict(zip((HOSTILE[1], HOSTILE[0]), arrays, strict=True)))
    with pytest.warns(vh.errors.DisconnectedWarning):
        est = vh.MultiViewDiffusionMaps(3, kernel=Gaussian(0.7), random_state=0).fit(views)
    vh.report.write(path, est, labels=number, layout=False)
    return path, est


@needs_browser
def test_the_page_shows_a_piece_at_a_time(page, path):
    file, est = path
    page.open(file)
    name = est.view_names_[0]
    options = page.run("return [...document.getElementById('piece').options].map((o) => o.text)")
    assert options == [
        "piece 1: 40 samples",
        "piece 2: 30 samples",
        "piece 3: 25 samples",
        "all samples",
    ]
    assert page.run("return viewhop.piece") == 0
    for piece in (0, 2):
        page.run("await viewhop.setPiece(args[0])", piece)
        own = piece_coordinates(est, piece, n_steps=1.0, tol=1e-6).blocks[0]
        expected = own[np.isfinite(own[:, 0])][:, :2]
        found = page.run("return viewhop.coordinates(args[0])", name)
        assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    page.run("await viewhop.setPiece(-1)")
    found = page.run("return viewhop.coordinates(args[0])", name)
    assert_allclose(found, est.view_embeddings_[name][:, :2], rtol=1e-4, atol=1e-5)
    assert page.logged() == []


@needs_browser
def test_a_piece_is_chosen_by_the_keyboard_and_time_and_space_follow(page, path):
    from selenium.webdriver import Keys

    file, est = path
    page.open(file)
    box = page.driver.find_element("id", "piece")
    box.send_keys(Keys.ARROW_DOWN)
    assert page.run("return viewhop.piece") == 1
    page.run("await viewhop.setTime(3); await viewhop.open3d()")
    own = piece_coordinates(est, 1, n_steps=3.0, tol=1e-6).blocks[0]
    found = page.run("return viewhop.coordinates3d(args[0])", est.view_names_[0])
    assert_allclose(found, own[np.isfinite(own[:, 0])][:, :3], rtol=1e-3, atol=1e-4)


@needs_browser
def test_names_in_the_banner_run_nothing(page, path):
    page.open(path[0])
    text = page.run("return document.getElementById('pieces').innerText")
    assert HOSTILE[1] in text
    assert "3 pieces" in text
    assert page.run("return window.harm === undefined")
    assert page.run("return document.querySelectorAll('#pieces img, #pieces script').length") == 0


@needs_browser
@pytest.mark.parametrize("width", [360, 1280])
def test_the_banner_fits_the_screen(page, path, width):
    page.open(path[0], width=width, phone=width < 400)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    assert page.run("return document.getElementById('pieces').getBoundingClientRect().height") > 20


@needs_browser
def test_a_connected_walk_shows_no_chooser(page, tmp_path):
    vh.report.write(tmp_path / "one.html", fit(groups(distance=0.0)[0]), layout=False)
    page.open(tmp_path / "one.html")
    shown = "const box = document.getElementById(args[0]).getBoundingClientRect();"
    for name in ("pieces", "piece-field", "group-field"):
        assert page.run(f"{shown} return box.width", name) == 0, name


# --- arguments of the wrong type --------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"features": np.zeros((95, 2))}, r"features must be .* Views.*got ndarray"),
        ({"features": [np.zeros((95, 2))]}, r"features=viewhop\.Views\(\[A, B\]\), got list"),
        ({"layout": np.zeros((95, 2))}, r"layout must be what viewhop\.lay_out\(est\) returns"),
        ({"layout": True}, r"layout must be .* got bool"),
        ({"labels": "group"}, r"labels must be a sequence with one entry per sample, got str"),
        ({"clusters": 3}, r"clusters must be a sequence .* got int"),
        ({"ids": 3}, r"ids must be a sequence .* got int"),
    ],
)
def test_an_argument_of_the_wrong_type_is_named(wrong, message, tmp_path):
    est = fit(groups()[0])
    with pytest.raises(TypeError, match=message):
        vh.report.write(tmp_path / "report.html", est, **wrong)
    assert not (tmp_path / "report.html").exists()
