"""The report in a browser: drawn, linked, timed, quiet, and deaf to hostile text."""

from __future__ import annotations

import re
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from tests.report.test_report import HOSTILE
from tests.support import browser
from viewhop.geometry._tsne import has_tsne

pytest.importorskip("plotly")
pytestmark = pytest.mark.skipif(
    bool(browser.WHY_NOT), reason=browser.WHY_NOT or "there is a browser"
)

needs_tsne = pytest.mark.skipif(
    not has_tsne(), reason='openTSNE is not installed: pip install "viewhop[map]"'
)
N = 240
NAMES = (HOSTILE[0], HOSTILE[6], "plain")


@pytest.fixture(scope="module")
def page():
    with browser.opened() as opened:
        yield opened


@pytest.fixture(scope="module")
def fitted():
    """Three views of a ring with gaps, and names that would run if they could."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, N)
    ring = np.c_[np.cos(angle), np.sin(angle), 0.4 * np.sin(3 * angle)]
    arrays = [ring + 0.02 * rng.standard_normal(ring.shape) for _ in NAMES]
    arrays[0][:40] = np.nan
    arrays[1][200:] = np.nan
    frame = pd.DataFrame(arrays[0], columns=[HOSTILE[1], HOSTILE[2], HOSTILE[3]])
    views = vh.Views(dict(zip(NAMES, [frame, *arrays[1:]], strict=True)))
    est = vh.MultiViewDiffusionMaps(4, n_steps=1.5, random_state=0).fit(views)
    return est, views, angle


@pytest.fixture(scope="module")
def path(fitted, tmp_path_factory):
    est, views, angle = fitted
    path = tmp_path_factory.mktemp("report") / "report.html"
    groups = (angle * 9 / (2 * np.pi)).astype(int)
    vh.report.write(
        path,
        est,
        ids=[f"{HOSTILE[k % 9]}{k}" for k in range(N)],
        labels=[None if k % 12 == 0 else HOSTILE[g] for k, g in enumerate(groups)],
        label_name=HOSTILE[1],
        clusters=groups // 3,
        features=views,
        title=HOSTILE[0] + HOSTILE[1],
        about={HOSTILE[1]: HOSTILE[0], HOSTILE[6]: HOSTILE[2]},
        repeat="\n".join(HOSTILE[:7]),
    )
    return path


@pytest.fixture
def drawn(page, path):
    """The page as it is when it was opened; opened once, as that takes a second or two."""
    if page.driver.current_url != path.as_uri():
        page.open(path)
    page.run("await viewhop.setTime(1.5); await viewhop.setColour(0); await viewhop.select([])")
    return page


def visible_points(page, canvas):
    """How many pixels of a canvas are drawn."""
    return page.run(
        "const from = document.getElementById(args[0]);"
        "from.scrollIntoView({ behavior: 'instant' });"
        "await viewhop.setTime(viewhop.time);"
        "const copy = document.createElement('canvas');"
        "[copy.width, copy.height] = [from.width, from.height];"
        "const pen = copy.getContext('2d');"
        "await new Promise((done) => requestAnimationFrame(async () => {"
        "  viewhop.setTime(viewhop.time);"
        "  requestAnimationFrame(() => { pen.drawImage(from, 0, 0); done(); });"
        "}));"
        "const { data } = pen.getImageData(0, 0, copy.width, copy.height);"
        "let count = 0;"
        "for (let k = 3; k < data.length; k += 4) count += data[k] > 60;"
        "return count",
        canvas,
    )


def test_points_are_those_of_the_estimator(drawn, fitted):
    est = fitted[0]
    assert drawn.run("return viewhop.panels") == [*NAMES]
    drawn.run("await viewhop.open3d()")
    for name in NAMES:
        expected = est.view_embeddings_[name]
        expected = expected[np.isfinite(expected[:, 0])]
        flat = drawn.run("return viewhop.coordinates(args[0])", name)
        assert_allclose(flat, expected[:, :2], rtol=1e-4, atol=1e-5)
        deep = drawn.run("return viewhop.coordinates3d(args[0])", name)
        assert_allclose(deep, expected[:, :3], rtol=1e-4, atol=1e-5)


def test_points_are_seen(drawn):
    drawn.run("await viewhop.open3d()")
    assert visible_points(drawn, "plane") > 2000
    assert visible_points(drawn, "space") > 2000


def test_labels_of_facts_keep_their_width_beside_long_values(page, tmp_path):
    # Six features, so that all five metrics were tried, and their line is long.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    est = vh.MultiViewDiffusionMaps(2, random_state=0).fit([X, X + 0.1, X[:, ::-1]])
    vh.report.write(tmp_path / "report.html", est)
    page.open(tmp_path / "report.html")
    labels = page.driver.find_elements("css selector", ".cards dt")
    assert len(labels) > 20
    assert max(label.size["height"] for label in labels) < 70  # three lines at most
    assert "by metric: " in page.driver.find_element("css selector", ".cards .note").text


def test_the_slider_moves_points_by_powers_of_the_eigenvalues(drawn, fitted):
    est = fitted[0]
    drawn.run("await viewhop.open3d()")
    before = np.array(drawn.run("return viewhop.coordinates('plain')"))
    drawn.run(
        "const slider = document.getElementById('time');"
        "slider.value = 800;"
        "slider.dispatchEvent(new Event('input'));"
        "await viewhop.setTime(viewhop.time)"
    )
    time = drawn.run("return viewhop.time")
    assert time > 5
    assert drawn.run("return Number(document.getElementById('time-number').value)") == time
    after = np.array(drawn.run("return viewhop.coordinates('plain')"))
    deep = np.array(drawn.run("return viewhop.coordinates3d('plain')"))
    moved = est.eigenvalues_ ** (time - 1.5)
    assert_allclose(after, before * moved[:2], rtol=1e-4, atol=1e-6)
    assert_allclose(deep[:, :2], after, rtol=1e-6)
    expected = est.view_embeddings_["plain"][:, 2] * moved[2]
    assert_allclose(deep[:, 2], expected, rtol=1e-4, atol=1e-6)


def drag_over_the_top(page, panel):
    """Drag a box over the upper part of a panel, counted from the map."""
    from selenium.webdriver.common.actions.action_builder import ActionBuilder

    page.driver.execute_script("document.querySelector('[data-tool=select]').click()")
    left, top, width = page.run(
        "document.getElementById('plane-stage').scrollIntoView({ behavior: 'instant' });"
        "const line = document.querySelectorAll('#plane-captions p')[args[0]];"
        "const { left, bottom } = line.getBoundingClientRect();"
        "return [left, bottom, parseFloat(line.style.maxWidth)]",
        panel,
    )
    mouse = ActionBuilder(page.driver, duration=50)
    pointer = mouse.pointer_action
    pointer.move_to_location(int(left + 60), int(top + 14)).pointer_down()
    pointer.move_to_location(int(left + 100), int(top + 40))
    pointer.move_to_location(int(left + width - 12), int(top + 0.42 * width)).pointer_up()
    mouse.perform()
    page.run("await viewhop.setTime(viewhop.time)")


@pytest.mark.parametrize("panel", ["map", NAMES[0]])
def test_a_box_in_one_panel_selects_in_every_other(drawn, fitted, panel):
    est = fitted[0]
    drawn.run("await viewhop.open3d()")
    drag_over_the_top(drawn, ["map", *NAMES].index(panel))
    chosen = drawn.run("return viewhop.map.selected()")
    assert 5 < len(chosen) < 200
    seen = est.observed_
    for l, name in enumerate(NAMES):
        expected = [k for k in chosen if seen[k, l]]
        assert drawn.run("return viewhop.selected(args[0])", name) == expected
        assert drawn.run("return viewhop.selected3d(args[0])", name) == expected
    text = drawn.run("return document.getElementById('count').textContent")
    assert text.startswith(f"{len(chosen)} samples selected")
    # They are what lies in the box: high in the panel.
    heights = np.array(drawn.run("return viewhop.map.coordinates()"))[:, 1]
    shown = np.ones(N, dtype=bool)
    if panel != "map":
        heights, shown = est.view_embeddings_[panel][:, 1], seen[:, 0]
    assert shown[chosen].all()
    others = [k for k in np.flatnonzero(shown) if k not in set(chosen)]
    assert heights[chosen].min() > np.median(heights[others])


@needs_tsne
def test_the_first_panel_is_the_map_with_every_sample(drawn, fitted):
    titles = drawn.run(
        "return [...document.querySelectorAll('#plane-captions span')].map((e) => e.textContent)"
    )
    assert titles == ["Map of all samples", *NAMES]
    expected = vh.lay_out(fitted[0]).positions
    points = drawn.run("return viewhop.map.coordinates()")
    assert_allclose(points, expected, rtol=0, atol=1e-4 * np.ptp(expected))
    assert "t-SNE" in drawn.run("return document.getElementById('embedding-notes').textContent")


def test_the_map_keeps_still_while_the_time_and_the_axes_change(drawn):
    before = drawn.run("return viewhop.map.coordinates()")
    drawn.run("await viewhop.setTime(6)")
    drawn.run(
        "const list = document.getElementById('axis-0');"
        "const change = (k) => { list.value = k; list.dispatchEvent(new Event('change')); };"
        "change(2); await viewhop.setTime(6); change(0); await viewhop.setTime(6)"
    )
    assert_allclose(drawn.run("return viewhop.map.coordinates()"), before, rtol=0, atol=0)


def test_a_report_without_a_map_has_the_panels_of_the_views(page, tmp_path):
    rng = np.random.default_rng(0)
    est = vh.MultiViewDiffusionMaps(3, random_state=0).fit([rng.standard_normal((60, 2))] * 2)
    vh.report.write(tmp_path / "plain.html", est, layout=False)
    page.open(tmp_path / "plain.html")
    assert page.run("return viewhop.map") is None
    assert page.run("return document.querySelectorAll('#plane-captions p').length") == 2
    page.run("await viewhop.select([4])")
    assert page.run("return viewhop.selected('view2')") == [4]
    assert page.logged() == []


def test_without_the_extra_the_first_panel_says_how_to_get_a_map(page, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    est = vh.DiffusionMaps(1, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 2)))
    vh.report.write(tmp_path / "plain.html", est)
    page.open(tmp_path / "plain.html")
    caption = page.run("return document.querySelector('#plane-captions span').textContent")
    assert caption.startswith("First two coordinates")
    assert 'pip install "viewhop[map]"' in caption
    points = np.array(page.run("return viewhop.map.coordinates()"))
    expected = np.c_[est.embedding_, np.zeros(60)]
    assert_allclose(points, expected, rtol=0, atol=1e-4 * np.ptp(expected))
    assert page.logged() == []


def test_a_selection_is_made_and_cleared_by_the_keyboard(drawn):
    from selenium.webdriver import ActionChains, Keys

    press = ActionChains(drawn.driver)
    drawn.driver.execute_script("document.querySelector('#legend button').focus()")
    press.send_keys(Keys.ENTER).perform()
    drawn.run("await viewhop.setTime(viewhop.time)")
    first = drawn.run("return viewhop.selected('plain')")
    assert len(first) > 5
    assert drawn.run("return document.querySelector('#legend button').ariaPressed") == "true"
    ActionChains(drawn.driver).send_keys(Keys.ESCAPE).perform()
    drawn.run("await viewhop.setTime(viewhop.time)")
    assert drawn.run("return viewhop.selected('plain')") == []
    drawn.driver.find_element("id", "find").send_keys(f"{HOSTILE[2]}2, nobody", Keys.ENTER)
    drawn.run("await viewhop.setTime(viewhop.time)")
    assert drawn.run("return viewhop.selected('plain')") == [2]
    assert "nobody" in drawn.run("return document.getElementById('find-note').textContent")
    rows = drawn.run("return [...document.querySelectorAll('#selected-table tbody th')].length")
    assert rows == 1


def test_the_csv_of_a_selection_runs_in_no_spreadsheet(drawn):
    drawn.run("await viewhop.select([5, 0, 4])")
    lines = drawn.run("return viewhop.csv().toWellFormed()").splitlines()
    assert len(lines) == 4
    assert lines[3].startswith('"\'=HYPERLINK(""x"")5"')


def test_every_column_can_be_coloured_by(drawn):
    columns = drawn.run("return viewhop.columns")
    families = {column["family"] for column in columns}
    assert {"labels", "clusters", "disagreement", f"features of {NAMES[0]}"} <= families
    for k in range(-1, len(columns)):
        drawn.run("await viewhop.setColour(args[0])", k)
        colours = drawn.run("return document.getElementById('legend').children.length")
        assert (colours > 0) == (k >= 0)


def test_features_along_coordinates_are_a_table_with_bars(drawn, fitted):
    rows = drawn.run(
        "return [...document.querySelectorAll('#meaning-table tbody tr')].map((row) => ["
        "  row.children[0].textContent, row.children[2].textContent,"
        "  row.querySelectorAll('svg rect').length])"
    )
    assert {name for name, _, _ in rows} <= {*fitted[0].get_feature_names_out()}
    assert len({name for name, _, _ in rows}) >= 2
    assert {bars for _, _, bars in rows} == {10}


def test_without_features_the_section_is_hidden(page, tmp_path, fitted):
    vh.report.write(tmp_path / "plain.html", fitted[0], layout=False)
    page.open(tmp_path / "plain.html")
    hidden = "return ['meaning', 'meaning-link'].map((id) => document.getElementById(id).hidden)"
    assert page.run(hidden) == [True, True]


def test_hostile_text_runs_nothing_and_is_shown_as_it_is(page, path):
    page.open(path)
    page.run("await viewhop.open3d(); await viewhop.select([...Array(60).keys()])")
    page.run("for (let k = 0; k < viewhop.columns.length; k++) await viewhop.setColour(k)")
    assert page.run("return window.harm ?? null") is None
    assert page.run("return document.querySelector('h1').textContent") == HOSTILE[0] + HOSTILE[1]
    shown = page.run("return document.querySelector('main').textContent.toWellFormed()")
    for text in HOSTILE[:7]:
        assert text in shown
    links = page.run(
        "return [...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))"
    )
    assert all(link.startswith("#") for link in links)
    assert page.run("return document.querySelectorAll('img').length") == 0


def test_nothing_is_logged_and_nothing_is_asked_for(page, path):
    page.open(path)
    page.run("await viewhop.open3d(); await viewhop.setTheme('dark'); await viewhop.setTime(3)")
    assert page.logged() == []
    requested = page.requested()
    assert len(requested) >= 1
    assert all(re.match(r"file:|data:|blob:", address) for address in requested)


def test_an_injected_script_would_not_run(drawn):
    drawn.run(
        "const script = document.createElement('script');"
        "script.textContent = 'window.harm = 1';"
        "document.body.append(script)"
    )
    assert drawn.run("return window.harm ?? null") is None
    assert "Content Security Policy" in drawn.logged()[0]


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_it_without_scrolling_sideways(page, path, dark):
    page.open(path, width=390, height=844, phone=True, dark=dark)
    page.run("await viewhop.open3d(); await viewhop.select([1, 2, 3])")
    assert page.run("return document.documentElement.scrollWidth") == 390
    assert page.run("return document.documentElement.dataset.theme") == (
        "dark" if dark else "light"
    )
    ground = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", ground))) < 60) == dark


@pytest.mark.parametrize("n_components", [1, 2])
def test_few_coordinates_have_no_third_dimension(page, tmp_path, n_components):
    rng = np.random.default_rng(0)
    est = vh.DiffusionMaps(n_components, random_state=0).fit(rng.standard_normal((60, 2)))
    vh.report.write(tmp_path / "few.html", est)
    page.open(tmp_path / "few.html")
    assert page.run("return await viewhop.open3d()") is False
    points = np.array(page.run("return viewhop.coordinates('view1')"))
    expected = est.view_embeddings_["view1"]
    if n_components == 1:
        expected = np.c_[np.arange(1, 61), expected]
    assert_allclose(points, expected, rtol=1e-4, atol=1e-5)
    assert "n_components" in page.run("return document.getElementById('space-note').textContent")
    assert page.logged() == []


def test_rows_of_one_sample_are_selected_together(page, tmp_path):
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((50, 2)), rng.standard_normal((100, 3))
    ids = {"one": [*range(50)], "two": [k // 2 for k in range(100)]}
    views = vh.Views.link({"one": first, "two": second}, ids=ids)
    est = vh.MultiViewDiffusionMaps(3, random_state=0).fit(views)
    vh.report.write(tmp_path / "linked.html", est, features=views)
    page.open(tmp_path / "linked.html")
    page.run("await viewhop.open3d(); await viewhop.select([3, 7])")
    for name in ("one", "two"):
        assert page.run("return viewhop.selected(args[0])", name) == [3, 7]
        assert page.run("return viewhop.selected3d(args[0])", name) == [3, 7]
    assert len(page.run("return viewhop.coordinates('two')")) == 100


def test_a_fused_walk_is_drawn_once(page, tmp_path):
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((60, 2)), rng.standard_normal((60, 3))]
    est = vh.MultiViewDiffusionMaps(3, fusion="sum", random_state=0).fit(views)
    vh.report.write(tmp_path / "fused.html", est)
    page.open(tmp_path / "fused.html")
    assert page.run("return viewhop.panels") == ["all views"]
    assert "fusion" in page.run("return document.getElementById('similarity-table').textContent")
    assert page.logged() == []


def test_forty_groups_have_marks_of_their_own(page, tmp_path):
    """Ten colours in four shapes; the two smallest of 42 groups share a grey, and can be typed."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(42), [1, 1, *[3] * 40])
    est = vh.DiffusionMaps(2, kernel="gaussian").fit(rng.normal(size=(len(groups), 3)))
    vh.report.write(tmp_path / "r.html", est, labels=[f"type {k:02d}" for k in groups])
    page.open(tmp_path / "r.html")
    marks = page.run(
        "return [...document.querySelectorAll('#legend button .dot')]"
        ".map((dot) => [dot.style.background, dot.dataset.shape])"
    )
    assert len({*map(tuple, marks)}) == len(marks) == 40
    assert [shape for _, shape in marks[::10]] == ["disc", "square", "triangle", "cross"]
    assert "the 40 largest have a mark" in page.run("return document.body.innerText")
    assert page.logged() == []
    page.run(
        "document.getElementById('find').value = 'type 01';"
        "document.getElementById('find-go').click();"
        "await viewhop.setTime(viewhop.time)"
    )
    assert page.run("return viewhop.selected('view1')") == [1]


def test_numbers_in_the_csv_of_a_selection_are_untouched(page, tmp_path):
    est = vh.DiffusionMaps(2, kernel="gaussian").fit(np.random.default_rng(0).normal(size=(9, 3)))
    vh.report.write(tmp_path / "r.html", est, ids=["-a", *"bcdefghi"], labels=[-1, 2, 3] * 3)
    page.open(tmp_path / "r.html")
    page.run("await viewhop.select([0, 1])")
    assert page.run("return viewhop.csv()").splitlines()[1:] == ["'-a,-1", "b,2"]
