"""The report without a browser: what is in the page, that it is valid, and that nothing escapes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import zlib
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

import viewhop as vh
from tests.support import cases
from viewhop.geometry import Layout
from viewhop.geometry._tsne import has_tsne
from viewhop.kernels import Gaussian
from viewhop.report import _colours as colours
from viewhop.report import _map_panel as map_panel
from viewhop.report import _packing as packing
from viewhop.report import _panels as panels
from viewhop.report._content import build_content
from viewhop.report._data import ReportData
from viewhop.report._map_panel import build_map
from viewhop.report._page import plotly_source

pytest.importorskip("plotly")

HOSTILE = (
    "</script><script>window.harm = 1</script>",
    '<img src=x onerror="window.harm = 1">',
    "javascript:window.harm = 1",
    "line\u2028separator\u2029",
    "\"quotes' & <b>bold</b> <!-- -->",
    '=HYPERLINK("x")',
    '<a href="javascript:window.harm = 1">here</a>',
    "{{script}} ${x} %{y} \\u003c",
    "\ud800 alone",
)
#: Elements that have no end tag.
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Strict(HTMLParser):
    """Elements of a page; an end tag that does not fit, or a second id, is an error."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.elements, self.texts = [], set(), [], {}

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), f"an attribute of {tag} is given twice"
        self.elements.append((tag, attributes))
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if tag not in VOID:
            self.open.append((tag, attributes.get("id")))

    def handle_startendtag(self, tag, attrs):
        raise AssertionError(f"<{tag}/> is not HTML")

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> ends nothing"
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][1]:
            self.texts[self.open[-1][1]] = self.texts.get(self.open[-1][1], "") + data


def parsed(text):
    page = Strict()
    page.feed(text)
    page.close()
    assert not page.open
    return page


class Read:
    """The data of a page, by the rules that its own script follows."""

    def __init__(self, text):
        page = parsed(text)
        self.plain = json.loads(page.texts["data"])
        self.bytes = zlib.decompress(base64.b64decode(page.texts["arrays"]))

    def array(self, place):
        kind = np.dtype("<" + place["type"])
        part = self.bytes[place["start"] : place["start"] + place["length"] * kind.itemsize]
        planes = np.frombuffer(part, dtype=np.uint8).reshape(kind.itemsize, place["length"])
        return np.ascontiguousarray(planes.T).view(kind).ravel()

    def coordinates(self, name):
        (panel,) = [panel for panel in self.plain["panels"]["list"] if panel["name"] == name]
        return np.stack([self.array(place) for place in panel["coordinates"]], axis=1)

    def ids(self):
        place = self.plain["ids"]
        part = self.bytes[place["start"] : place["start"] + place["length"]]
        return json.loads(part)


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 90)
    first = np.c_[np.cos(angle), np.sin(angle)] + 0.02 * rng.standard_normal((90, 2))
    second = np.c_[angle, np.sin(angle), np.cos(angle)] + 0.02 * rng.standard_normal((90, 3))
    return vh.Views({"round": first, "long": second})


@pytest.fixture(scope="module")
def fitted(views):
    return vh.MultiViewDiffusionMaps(3, n_steps=2, random_state=0).fit(views)


@pytest.fixture(scope="module")
def gappy(views):
    first, second = (np.array(array) for array in views.arrays)
    first[:20] = np.nan
    second[70:] = np.nan
    return vh.Views({"round": first, "long": second})


def test_coordinates_in_the_page_times_the_eigenvalues_are_the_embedding(fitted):
    read = Read(vh.report.render(fitted))
    eigenvalues = np.array(read.plain["panels"]["eigenvalues"])
    assert read.plain["panels"]["time"] == 2
    for name, expected in fitted.view_embeddings_.items():
        assert_allclose(read.coordinates(name) * eigenvalues**2, expected, rtol=1e-5, atol=1e-6)


def test_features_along_coordinates_are_those_of_explain(fitted, views):
    meaning = Read(vh.report.render(fitted, features=views)).plain["meaning"]
    assert (meaning["samples"], meaning["columns"], meaning["total"]) == (90, 3, 3)
    explained = vh.explain(fitted, views)
    clear = explained.frame[explained.frame["shape"] != "none"]
    expected = clear.groupby("coordinate", sort=False).head(5)
    assert [row["feature"] for row in meaning["rows"]] == [*expected["feature"]]
    assert [row["coordinate"] for row in meaning["rows"]] == [*expected["coordinate"]]
    strengths = [row["strength"] for row in meaning["rows"]]
    assert_allclose(strengths, expected["strength"], rtol=1e-6)
    profiles = [row["profile"] for row in meaning["rows"]]
    assert_allclose(profiles, explained.profiles[expected.index], atol=6e-4)


def test_without_features_no_meaning_is_shown(fitted, views):
    assert Read(vh.report.render(fitted)).plain["meaning"] is None
    kernels = {"round": "gaussian", "k": "precomputed"}
    angle = views["long"][:, 0]
    K = np.exp(-np.square(np.subtract.outer(angle, angle)))
    data = vh.Views({"round": views["round"], "k": K}, pairwise=["k"])
    est = vh.MultiViewDiffusionMaps(8, kernel=kernels, output="concat", random_state=0).fit(data)
    meaning = Read(vh.report.render(est, features=data)).plain["meaning"]
    assert meaning["skipped"] == ["k: it is a precomputed kernel, without features"]
    assert (meaning["columns"], meaning["total"]) == (12, 16)


def test_a_view_has_points_for_what_it_observed_only(gappy):
    est = vh.MultiViewDiffusionMaps(2, random_state=0).fit(gappy)
    read = Read(vh.report.render(est))
    first, second = read.plain["panels"]["list"]
    assert (first["rows"], first["unplaced"]) == (70, 20)
    assert_array_equal(read.array(first["samples"]), np.arange(20, 90))
    assert_array_equal(read.array(second["samples"]), np.arange(70))
    assert read.plain["missing"]["complete"] == 50
    assert sum(pattern["count"] for pattern in read.plain["missing"]["patterns"]) == 90


def test_several_rows_of_a_sample_are_several_points_of_it(views):
    rows = {"round": views["round"], "long": np.repeat(views["long"], 2, axis=0)}
    rows["long"] = rows["long"] + 0.01 * np.random.default_rng(1).standard_normal((180, 3))
    ids = {"round": [*range(90)], "long": [*np.repeat(np.arange(90), 2)]}
    linked = vh.Views.link(rows, ids=ids)
    est = vh.MultiViewDiffusionMaps(2, random_state=0).fit(linked)
    read = Read(vh.report.render(est, features=linked))
    second = read.plain["panels"]["list"][1]
    assert (second["rows"], second["unplaced"]) == (180, 0)
    assert_array_equal(read.array(second["samples"]), np.repeat(np.arange(90), 2))
    assert read.plain["missing"]["repeated"] == ["long"]
    assert read.ids() == [str(k) for k in range(90)]


@pytest.mark.parametrize(
    "fusion", ["sum", "product", "concat", "alternating", "integrated", "composite"]
)
def test_a_fused_walk_has_one_panel_and_says_so(views, fusion):
    est = vh.MultiViewDiffusionMaps(2, fusion=fusion, random_state=0).fit(views)
    plain = Read(vh.report.render(est)).plain
    assert [panel["name"] for panel in plain["panels"]["list"]] == ["all views"]
    assert "one geometry" in plain["panels"]["notes"][0]
    remark = {"integrated": "then", "composite": "no random walk"}.get(fusion)
    assert [note for note in plain["panels"]["notes"][1:] if note == est.walk_.remark] == (
        [est.walk_.remark] if remark else []
    )
    assert (remark or "") in est.walk_.remark
    assert "values" not in plain["similarity"]
    assert "No disagreement" in plain["notes"][0]
    assert not [column for column in plain["columns"] if column["family"] == "disagreement"]


def test_one_view_and_one_coordinate(views):
    est = vh.DiffusionMaps(1, random_state=0).fit(views["round"])
    plain = Read(vh.report.render(est)).plain
    assert plain["panels"]["kept"] == 1
    assert "one coordinate" in plain["panels"]["notes"][-1]
    assert plain["views"] == ["view1"]


def test_de_sa_has_no_diffusion_time(views):
    est = vh.DeSaEmbedding(3, kernel="gaussian", random_state=0).fit(views)
    read = Read(vh.report.render(est))
    assert read.plain["panels"]["timed"] is False
    assert_allclose(read.coordinates("long"), est.view_embeddings_["long"], rtol=1e-5)


def test_a_clustering_brings_its_clusters_and_what_it_chose(views):
    model = vh.MultiViewSpectralClustering(3, random_state=0).fit(views)
    read = Read(vh.report.render(model))
    (column,) = [column for column in read.plain["columns"] if column["family"] == "clusters"]
    assert_array_equal(read.array(column["values"]), model.labels_)
    assert read.plain["spectrum"]["chosen"] == model.n_components_


def test_precomputed_and_dense_kernels_have_health_and_no_curve(views):
    gaps = views["round"][:, None] - views["round"]
    given = {"known": np.exp(-np.square(gaps).sum(axis=2)), "long": views["long"]}
    kernels = {"known": "precomputed", "long": "gaussian"}
    est = vh.MultiViewDiffusionMaps(2, kernel=kernels, random_state=0).fit(given)
    plain = Read(vh.report.render(est)).plain
    assert [curve["precomputed"] for curve in plain["curves"]] == [True, False]
    assert [graph["held"] for graph in plain["graphs"]["views"]] == ["all pairs"] * 2


def test_a_loaded_model_has_the_same_report(fitted, tmp_path):
    fitted.save(tmp_path / "m.viewhop")
    again = vh.load(tmp_path / "m.viewhop")
    first, second = (vh.report.render(est, about={}) for est in (fitted, again))
    assert first == second


def test_the_log_log_curve_is_the_sum_of_the_kernel(views):
    est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", random_state=0).fit(views)
    curve = Read(vh.report.render(est)).plain["curves"][0]
    distances = np.linalg.norm(views["round"][:, None] - views["round"], axis=2)
    scales = 10 ** np.array(curve["logs"])
    sums = [np.exp(-np.square(distances / scale) / 2).sum() for scale in scales]
    assert_allclose(curve["sums"], np.log10(sums), atol=2e-3)
    assert_allclose(curve["scale"][1], est.bandwidths_["round"], rtol=1e-12)
    rise = np.gradient(np.log(sums), np.log(scales))
    assert_allclose(curve["slopes"][2:-2], rise[2:-2], atol=0.02)


def test_a_graph_in_pieces_has_a_warning_in_words():
    rng = np.random.default_rng(0)
    blobs = np.r_[rng.standard_normal((40, 2)), rng.standard_normal((30, 2)) + 1000]
    with pytest.warns(vh.errors.DisconnectedWarning):
        est = vh.MultiViewDiffusionMaps(2, random_state=0).fit([blobs, blobs + 1])
    graphs = Read(vh.report.render(est)).plain["graphs"]
    assert graphs["pieces"] == 2
    assert graphs["sizes"] == [120, 90]  # nodes of two views and of the joint view
    assert "2 pieces" in graphs["words"][0]
    assert "40 of 70 rows" in graphs["views"][0]["words"][0]


@pytest.mark.parametrize(
    ("labels", "kind", "groups"),
    [
        ([3, 1, 1, 2], "groups", ["1", "2", "3"]),
        ([1.0, np.nan, 2.0, 1.0], "groups", ["1", "2"]),
        ([0.5, np.nan, 2.0, 1.0], "numbers", None),
        (["b", None, "a", "b"], "groups", ["a", "b"]),
        (["b", 1, None, 2.5], "groups", ["1", "2.5", "b"]),
        ([True, False, True, True], "groups", ["False", "True"]),
        ([None, None, None, None], "groups", []),
    ],
)
def test_labels_are_groups_or_a_quantity(labels, kind, groups):
    column = colours.label_column(labels, "l", packing.Pack())
    assert column["kind"] == kind
    if groups is not None:
        assert column["groups"] == groups
        assert sum(column["counts"]) == 4


def test_numbers_keep_their_place_on_the_scale_and_missing_ones_are_apart():
    pack = packing.Pack()
    values = np.r_[np.nan, np.linspace(-3, 5, 1000), np.inf]
    column = colours._numbers("x", "features", values, pack)
    stored = zlib.decompress(base64.b64decode(pack.text()))
    levels = np.frombuffer(stored, dtype=np.uint8)
    assert (levels[0], levels[-1], column["missing"]) == (255, 255, 2)
    back = column["low"] + (column["high"] - column["low"]) * levels[1:-1] / 254
    expected = np.clip(values[1:-1], column["low"], column["high"])
    assert_allclose(back, expected, atol=8 / 254)
    assert (column["least"], column["most"]) == (-3, 5)


def test_features_beyond_the_budget_are_left_out_and_named(fitted, views, monkeypatch):
    whole = Read(vh.report.render(fitted, features=views)).plain
    assert sum(c["family"].startswith("features") for c in whole["columns"]) == 5
    monkeypatch.setattr(colours, "FEATURE_BYTES", 3 * 90)
    plain = Read(vh.report.render(fitted, features=views)).plain
    kept = [(c["family"], c["name"]) for c in plain["columns"] if "features" in c["family"]]
    assert kept == [
        ("features of round", "column 1"),
        ("features of round", "column 2"),
        ("features of long", "column 1"),
    ]
    assert "3 of 5 feature columns" in plain["notes"][0]


def test_coordinates_beyond_the_budget_are_left_out_and_named(views, monkeypatch):
    monkeypatch.setattr(panels, "COORDINATE_BYTES", 4 * 4 * 180)
    est = vh.MultiViewDiffusionMaps(6, random_state=0).fit(views)
    plain = Read(vh.report.render(est)).plain
    assert plain["panels"]["kept"] == 4
    assert "first 4 of 6 coordinates" in plain["panels"]["notes"][0]


def layout_at(positions, method="tsne", note=""):
    """A layout on which nothing can be placed."""
    return Layout(positions, method, note, 6, rule=lambda rows: rows[:, :2])


def positions_in(read):
    """Positions of the map, as the script of the page computes them."""
    plain = read.plain["map"]
    steps = np.stack([read.array(place) for place in plain["positions"]], axis=1)
    return np.array(plain["low"]) + steps * plain["step"]


def test_the_map_is_the_layout_of_the_fit(fitted):
    read = Read(vh.report.render(fitted))
    layout = vh.lay_out(fitted)
    reach = np.ptp(layout.positions, axis=0).max()
    assert_allclose(positions_in(read), layout.positions, rtol=0, atol=1e-5 * reach)
    assert read.plain["map"]["rows"] == 90
    if has_tsne():
        assert read.plain["map"]["name"] == "Map of all samples"
        assert read.plain["map_note"].startswith("The map is a t-SNE of all coordinates")


@pytest.mark.parametrize("positions", [np.zeros((90, 2)), np.eye(90, 2) * 1e-200])
def test_a_layout_that_is_given_is_shown_as_it_is(fitted, positions):
    read = Read(vh.report.render(fitted, layout=layout_at(positions, note="five were placed")))
    assert_allclose(positions_in(read), positions, rtol=0, atol=1e-5 * np.ptp(positions))
    assert read.plain["map_note"].endswith("On it, five were placed.")


def test_a_map_can_be_left_out(fitted):
    plain = Read(vh.report.render(fitted, layout=False)).plain
    assert (plain["map"], plain["map_note"]) == (None, "")


def test_too_many_samples_have_no_map_and_the_page_says_so(fitted, monkeypatch):
    monkeypatch.setattr(map_panel, "MOST_SAMPLES", 89)
    plain = Read(vh.report.render(fitted)).plain
    assert plain["map"] is None
    assert "no map, because a map of more than 89 samples" in plain["map_note"]
    given = Read(vh.report.render(fitted, layout=layout_at(np.zeros((90, 2))))).plain
    assert given["map"]["rows"] == 90


def test_without_the_extra_the_first_panel_says_what_it_shows(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    read = Read(vh.report.render(fitted))
    assert read.plain["map"]["name"].startswith("First two coordinates: a map needs openTSNE")
    assert 'pip install "viewhop[map]"' in read.plain["map_note"]
    expected = fitted.embedding_[:, :2]  # a consensus
    assert_allclose(positions_in(read), expected, rtol=0, atol=1e-4 * np.ptp(expected))


@pytest.mark.skipif(not has_tsne(), reason="openTSNE is not installed")
def test_the_map_reports_its_progress(fitted):
    stages = []
    vh.report.render(fitted, progress=lambda *stage: stages.append(stage))
    assert ("map", 750, 750) in stages


def hostile_page(fitted, views):
    frame = pd.DataFrame(views["round"], columns=HOSTILE[:2])
    named = vh.Views({HOSTILE[0]: frame, HOSTILE[1]: views["long"]})
    est = vh.MultiViewDiffusionMaps(3, random_state=0).fit(named)
    return vh.report.render(
        est,
        ids=[HOSTILE[k % 9] + str(k) for k in range(90)],
        labels=[HOSTILE[k % 9] for k in range(90)],
        label_name=HOSTILE[6],
        features=named,
        title=HOSTILE[0] + HOSTILE[7],
        about={HOSTILE[0]: HOSTILE[1]},
        repeat="\n".join(HOSTILE[:7]),
    )


def test_hostile_text_adds_no_element_and_comes_back_as_it_was(fitted, views):
    text, plain = hostile_page(fitted, views), vh.report.render(fitted)
    page, harmless = parsed(text), parsed(plain)
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in harmless.elements]
    assert page.texts["title"] == HOSTILE[0] + HOSTILE[7]
    read = Read(text)
    assert read.ids() == [HOSTILE[k % 9] + str(k) for k in range(90)]
    (labels,) = [c for c in read.plain["columns"] if c["family"] == "labels"]
    assert sorted(labels["groups"]) == sorted(HOSTILE)
    assert read.plain["views"] == [*HOSTILE[:2]]
    assert read.plain["repeat"] == "\n".join(HOSTILE[:7])
    data = text[text.index('id="data">') : text.index('id="arrays">')]
    assert not {"\u2028", "\u2029"} & set(data)


def test_the_page_is_valid_and_has_what_a_screen_reader_needs(fitted, views):
    text = vh.report.render(fitted, labels=np.arange(90) % 3, features=views, repeat="again")
    assert text.startswith("<!doctype html>\n<html lang=")
    page = parsed(text)
    tags = [tag for tag, _ in page.elements]
    for tag in ("main", "header", "nav", "footer", "h1", "title"):
        assert tags.count(tag) == 1, tag
    assert page.elements[tags.index("body") + 1][1]["href"] == "#main"
    labelled = {a["for"] for tag, a in page.elements if tag == "label" and "for" in a}
    inside = set(re.findall(r'<label[^>]*>[^<]*<(?:select|input)[^>]*id="([^"]+)"', text))
    for tag, attributes in page.elements:
        if tag in ("select", "input"):
            assert "aria-label" in attributes or attributes["id"] in labelled | inside
        for name in ("aria-labelledby", "for"):
            assert attributes.get(name, "main") in page.ids
        if (attributes.get("href") or "").startswith("#"):
            assert attributes["href"][1:] in page.ids
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("src") is None
    live = [a for _, a in page.elements if a.get("aria-live")]
    assert [a["id"] for a in live] == ["count"]


def test_only_the_scripts_of_the_package_may_run(fitted):
    text = vh.report.render(fitted)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert "unsafe" not in rules["script-src"]
    page = parsed(text)
    held = re.search(r"<script>(.*?)</script>", text, flags=re.S)
    for script in (held[1], page.texts["plotly"]):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules["script-src"]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", held[1])


def test_the_file_is_replaced_whole(fitted, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(ValueError, match="labels must have one entry per sample: 90, got 2"):
        vh.report.write(path, fitted, labels=[1, 2])
    assert path.read_text() == "before"
    vh.report.write(path, fitted, title="Ring")
    assert path.read_text(encoding="utf-8") == vh.report.render(fitted, title="Ring")
    assert [child.name for child in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("argument", "match"),
    [
        ({"ids": ["a"]}, "ids must have one entry per sample: 90, got 1"),
        (
            {"layout": layout_at(np.zeros((3, 2)))},
            "layout must have one entry per sample: 90, got 3",
        ),
        ({"clusters": [0, 1]}, "clusters must have one entry per sample: 90, got 2"),
        ({"features": vh.Views([np.eye(4)])}, "features must have one entry per sample: 90, got 4"),
    ],
)
def test_another_number_of_samples_is_refused(fitted, argument, match):
    with pytest.raises(ValueError, match=match):
        vh.report.render(fitted, **argument)


def test_what_has_no_embedding_is_refused():
    views = cases.views("generic", 2, Gaussian())
    with pytest.raises(TypeError, match=r"expected a Geometry or .* got KernelCCA"):
        vh.report.render(vh.KernelCCA(rank=5).fit(views))
    with pytest.raises(TypeError, match=r"expected a Geometry or .* got list"):
        vh.report.render(views)


def test_a_geometry_has_a_report_of_its_own(fitted):
    plain, _ = build_content(ReportData(fitted.geometry_))
    whole, _ = build_content(ReportData(fitted))
    assert plain["kind"] == "Geometry"
    for part in ("samples", "views", "fusion", "spectrum", "curves", "similarity", "graphs"):
        assert plain[part] == whole[part], part


@pytest.mark.parametrize(
    "kind",
    [
        vh.MultiViewDiffusionMaps,
        vh.DiffusionMaps,
        vh.DeSaEmbedding,
        vh.MultiViewSpectralClustering,
    ],
)
def test_an_estimator_that_is_not_fitted_is_refused(kind):
    with pytest.raises(NotFittedError):
        vh.report.render(kind())


def test_one_function_takes_the_estimator_apart():
    """Only `_fitted_parts` reads attributes that a fit sets; nothing knows the classes."""
    folder = resources.files("viewhop.report")
    pattern = re.compile(r"\b(est|estimator|source)\.\w+|viewhop\.estimators")
    reading = {
        path.name
        for path in folder.iterdir()
        if path.name.endswith(".py") and pattern.search(path.read_text(encoding="utf-8"))
    }
    assert reading == {"_fitted_parts.py"}


def test_a_missing_plotly_says_how_to_get_it(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r'pip install "viewhop\[report\]"'):
        vh.report.render(fitted)


def test_many_points_make_a_small_file():
    rng = np.random.default_rng(0)
    pack = packing.Pack()
    for _ in range(3 * 8):
        pack.put(rng.standard_normal(40_000).astype(np.float32))
    build_map(layout_at(rng.standard_normal((40_000, 2))), pack)
    for _ in range(colours.FEATURE_BYTES // 40_000):
        colours._numbers("x", "f", rng.standard_normal(40_000), pack)
    plotly = len(plotly_source())
    assert len(pack.text()) + plotly + 300_000 < 12_000_000


# --- advice ---------------------------------------------------------------------------------------


def test_the_report_shows_the_findings_of_the_fit(views):
    doubled = [np.repeat(X[:12], 2, axis=0) for X in views.arrays]
    est = vh.MultiViewDiffusionMaps(2, kernel=Gaussian(30.0), random_state=0).fit(doubled)
    text = vh.report.render(est, features=vh.Views(doubled))
    kinds = {(one["kind"], one["view"]) for one in Read(text).plain["advice"]}
    assert {("complete", "view1"), ("duplicates", "view2")} <= kinds
    assert {"advice", "advice-table"} <= parsed(text).ids
    without = Read(vh.report.render(est)).plain["advice"]
    assert {one["kind"] for one in without} == {"complete", "no evidence"}


def test_a_shuffled_view_is_named_in_the_report():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    shuffled = X[rng.permutation(200)]
    est = vh.MultiViewDiffusionMaps(2, random_state=0).fit([X, X + 0.01, shuffled])
    named = [one["view"] for one in Read(vh.report.render(est)).plain["advice"]]
    assert named == ["view3"]


def test_hostile_names_of_views_are_data_in_the_advice(views):
    name = HOSTILE[0]
    est = vh.MultiViewDiffusionMaps(2, kernel=Gaussian(30.0), random_state=0)
    text = vh.report.render(est.fit({name: views["round"], "b": views["long"]}))
    assert name not in text
    assert name in {one["view"] for one in Read(text).plain["advice"]}
