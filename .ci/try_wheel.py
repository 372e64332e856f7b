"""Try the wheel where nothing else is: fit, transform, a subset of the views, bundled data."""

from __future__ import annotations

import importlib.resources
import importlib.util

import numpy as np

import viewhop as vh

assert importlib.util.find_spec("matplotlib") is None, "an extra was installed with the core"

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 300)
views = [
    np.column_stack([np.cos(angle), np.sin(angle)]),
    np.column_stack([3 * np.cos(angle), np.sin(angle), np.sin(angle) ** 2]),
]
estimator = vh.MultiViewDiffusionMaps(2).fit(views)
embedding = estimator.embedding_
assert embedding.shape == (300, 2), embedding.shape
np.testing.assert_allclose(estimator.transform(views), embedding, rtol=1e-8, atol=1e-8)

one_view = estimator.transform([views[0][:7], None])
assert one_view.shape == (7, 2), one_view.shape
assert np.isfinite(one_view).all()

assert (importlib.resources.files("viewhop.report") / "assets" / "page.html").is_file()
try:
    vh.report.render(estimator)
except ImportError as error:
    assert "viewhop[report]" in str(error), error
else:
    raise AssertionError("plotly was installed with the core")

digits = vh.datasets.load_mfeat()
assert len(digits.views) == len(digits.target) == 2000
print(f"viewhop {vh.__version__}: fit, transform, a subset of the views, bundled data")
