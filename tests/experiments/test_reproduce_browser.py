"""The page of experiments in a browser: every picture loads, and nothing goes to the network."""

from __future__ import annotations

import pytest

from tests.support import browser
from viewhop.experiments import reproduce

pytestmark = pytest.mark.skipif(
    bool(browser.WHY_NOT), reason=browser.WHY_NOT or "there is a browser"
)


def test_every_picture_of_the_page_is_loaded(tmp_path):
    names = ["smoothing", "decay-over-time"]
    outcomes = reproduce(names, out=tmp_path, quick=True)
    assert [outcome.status for outcome in outcomes] == ["done", "done"]
    pictures = sorted(path.name for path in tmp_path.glob("*.png"))
    with browser.opened() as page:
        page.driver.get((tmp_path / "report.html").as_uri())
        widths = page.run(
            "return Object.fromEntries([...document.images].map("
            "(image) => [image.src.split('/').pop(), image.naturalWidth]))"
        )
        assert sorted(widths) == pictures
        assert all(width > 300 for width in widths.values())
        assert (
            page.run("return document.querySelectorAll('section').length") == len(names) + 1
        )  # claims
        assert page.logged() == []
        assert all(address.startswith("file:") for address in page.requested())
