"""Remake every picture and number that README.md and docs/ quote: ``make figures``.

Pictures go to docs/pictures/, numbers to docs/results.md. Both are committed, so a change of the
library that changes them shows in the difference.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import missing
import numpy as np
from sklearn.utils import Bunch

import viewhop as vh
from viewhop.errors import DisconnectedWarning
from viewhop.experiments import _demo as demo

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures"
#: Numbers of coordinates in the table of kernels.
RANKS = (9, 14, 20)
sys.path.append(str(DOCS.parent))

from tests.support import browser  # noqa: E402


def gapped_rolls() -> None:
    """Two rolls with a gap each, one of them alone, and both together."""
    rolls = vh.datasets.make_gapped_rolls(random_state=0)
    with warnings.catch_warnings():
        # The point of the picture: one view alone falls into pieces.
        warnings.simplefilter("ignore", DisconnectedWarning)
        alone = vh.DiffusionMaps(2, random_state=0).fit_transform(rolls.views["x"])
    together = vh.MultiViewDiffusionMaps(2, random_state=0).fit(rolls.views)

    figure, axes = plt.subplots(1, 4, figsize=(14, 3.7), layout="constrained")
    panels = {
        "view x, from its end": (rolls.views["x"], (0, 2)),
        "view y, from its end": (rolls.views["y"], (0, 2)),
        "x alone: two pieces": (alone, (0, 1)),
        "x in both views: one curve": (together.view_embeddings_["x"], (0, 1)),
    }
    for ax, (title, (points, dims)) in zip(axes, panels.items(), strict=True):
        vh.plotting.embedding(
            points, labels=rolls.theta, dims=dims, ax=ax, title=title, legend=False, point_size=9
        )
    for ax in axes[:2]:
        ax.set_axis_off()
    figure.savefig(PICTURES / "gapped-rolls.png", dpi=110)
    plt.close(figure)


def joint_scales() -> None:
    """Algorithm 1 on two thin circles, by both rules for the linear range."""
    circles = vh.datasets.make_circles(1000, noise=0.03, random_state=0)
    minimal, steepest = (
        vh.bandwidth.joint(circles.views, rule=rule) for rule in ("minimal", "steepest")
    )
    figure, axes = plt.subplots(1, 3, figsize=(15, 4), layout="constrained")
    vh.plotting.bandwidth_surface(minimal, ax=axes[0], title="log S over both scales")
    vh.plotting.bandwidth_slice(minimal, ax=axes[1], title='rule="minimal", the default')
    vh.plotting.bandwidth_slice(steepest, ax=axes[2], title='rule="steepest"')
    figure.savefig(PICTURES / "joint-scales.png", dpi=110)
    plt.close(figure)


def digits_map() -> None:
    """The digits by their first two coordinates, and on the map."""
    mfeat = vh.datasets.load_mfeat()
    est = vh.MultiViewDiffusionMaps(9, random_state=0).fit(mfeat.views)
    layout = vh.lay_out(est)
    if layout.method != "tsne":
        print(f"pictures/map.png is left as it is: {layout.note}")
        return
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.8), layout="constrained")
    blocks = [block[:, :2] for block in est.view_embeddings_.values()]
    vh.plotting.map(
        np.mean(blocks, axis=0),
        labels=mfeat.target,
        ax=axes[0],
        title="coordinates 1 and 2",
        legend=False,
    )
    vh.plotting.map(layout, labels=mfeat.target, ax=axes[1], title="map of all coordinates")
    figure.savefig(PICTURES / "map.png", dpi=110)
    plt.close(figure)


def report() -> None:
    """The report of the digits as a browser shows it, if there is one."""
    if browser.WHY_NOT:
        print(f"pictures/report.png is left as it is: {browser.WHY_NOT}")
        return
    mfeat = vh.datasets.load_mfeat()
    est = vh.MultiViewDiffusionMaps(9, random_state=0).fit(mfeat.views)
    with tempfile.TemporaryDirectory() as folder, browser.opened() as page:
        path = Path(folder, "report.html")
        vh.report.write(
            path,
            est,
            labels=mfeat.target,
            label_name="digit",
            features=mfeat.views,
            title="Handwritten digits",
        )
        page.open(path)
        page.run("await viewhop.open3d()")
        page.run("document.getElementById('plane').scrollIntoView({ behavior: 'instant' })")
        clip = {"x": 0, "y": 250, "width": 1280, "height": 1560, "scale": 0.75}
        shot = page.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
        (PICTURES / "report.png").write_bytes(base64.b64decode(shot["data"]))


def digits() -> str:
    """The table and the picture of the demonstration."""
    with tempfile.TemporaryDirectory() as out:
        result = demo.run(out=out)
        shutil.copy(Path(out) / "embedding.png", PICTURES / "digits.png")
    table = result.table
    rows = [
        f"| method | {' | '.join(table.conditions)} |",
        "|---|" + "---|" * len(table.conditions),
    ]
    for method, row in table.rows.items():
        cells = ["–" if score is None else f"{score:.3f}" for score in row]
        for column, cell in enumerate(cells):
            cells[column] = f"**{cell}**" if table.is_best(method, column) else cell
        rows.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join([*rows, "", f"Is hopping between views worth it? {table.reading()}."])


def kernels() -> str:
    """How kernel and walk decide the multi-view result on the digits."""
    data = vh.datasets.load_mfeat()
    Gaussian = vh.kernels.Gaussian
    choices = {
        '`"adaptive"`, the default': "adaptive",
        '`Gaussian("local", n_neighbors=10)`': Gaussian("local", n_neighbors=10),
        '`Gaussian("local", n_neighbors=10, alpha=1.0)`': Gaussian(
            "local", n_neighbors=10, alpha=1.0
        ),
        '`Gaussian("local")`': Gaussian("local"),
        '`Gaussian("joint")` (Algorithm 1)': Gaussian("joint"),
        '`bandwidth.joint(views, rule="steepest")`': {
            name: Gaussian(scale)
            for name, scale in vh.bandwidth.joint(data.views, rule="steepest").scales.items()
        },
        '`Gaussian("log-log")`': Gaussian("log-log"),
        '`Gaussian("connected")`': Gaussian("connected"),
        '`Gaussian("max-min", factor=0.1)`': Gaussian(factor=0.1),
        '`Gaussian("max-min")` (the paper)': Gaussian(),
    }
    walks = {"default walk": None, "η = 0": 0.0}
    columns = [f"{walk}, {r} coordinates" for walk in walks for r in RANKS]
    rows = [f"| kernel | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for name, kernel in choices.items():
        scores = [score for stay in walks.values() for score in walk_scores(data, kernel, stay)]
        rows.append(f"| {name} | {' | '.join(f'{score:.2f}' for score in scores)} |")
    return "\n".join(rows)


def walk_scores(data: Bunch, kernel: object, stay: float | None) -> list[float]:
    """AMI of the first coordinates: of the sample, or of all views side by side."""
    est = vh.MultiViewDiffusionMaps(
        RANKS[-1], kernel=kernel, within_view_weight=stay, random_state=0
    ).fit(data.views)
    blocks = [est.embedding_] if stay is None else est.view_embeddings_.values()
    return [missing.ami(np.hstack([block[:, :r] for block in blocks]), data.target) for r in RANKS]


def errata() -> str:
    """How far off the printed extension is at the training samples (erratum 1)."""
    rolls = vh.datasets.make_swiss_rolls(noise=0.5, random_state=0)
    est = vh.MultiViewDiffusionMaps.paper_settings(2, random_state=0).fit(rolls.views)
    first, second = est.walk_.affinities
    n = est.walk_.n_samples
    psi = est.spectrum_.eigenvectors[n:]
    printed = first @ (second @ (psi / est.degrees_["y"][:, None]))
    expected = est.view_embeddings_["x"]
    size = np.linalg.norm(expected)
    ours = np.linalg.norm(est.transform([rolls.views["x"], None])[:, :2] - expected)
    return (
        f"| extension | relative error at the training samples |\n|---|---|\n"
        f"| as printed, Eq. (41) | {np.linalg.norm(printed - expected) / size:.2f} |\n"
        f"| own row sum | {ours / size:.1e} |"
    )


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    gapped_rolls()
    joint_scales()
    digits_map()
    report()
    text = f"""# Results

Made by `make figures`; nothing here is written by hand.

## Handwritten digits: when hopping is worth it

Six views of 2,000 digits (mfeat), 9 coordinates, K-means with 10 clusters: adjusted mutual
information of clusters and digits. Half missing: half of all (sample, view) pairs are removed at
random, each sample keeping one view; mean over 5 draws. Made by `viewhop demo`.

{digits()}

## Handwritten digits, by kernel

The same digits, all six views: adjusted mutual information by kernel, with the default walk
(consensus coordinates) and with the paper's (η = 0, all views side by side).

{kernels()}

## Handwritten digits, with views missing

A share of all (sample, view) pairs is removed at random, each sample keeping one view. 10
coordinates, K-means with 10 clusters: adjusted mutual information, mean over 5 masks.

{missing.clusters()}

## New digits from some of the views

Half of the digits are fitted, 40 coordinates. The others are placed from a subset of the views,
and take the class of the nearest training digit.

{missing.subsets()}

## Rows given to the wrong samples

The rows of `fac` are shuffled among 10 % of the samples. 20 coordinates, `disagreement()`.

{missing.shuffled(PICTURES)}

## The extension at the training samples

Two noisy Swiss rolls, max-min Gaussian, from one view ([erratum 1](errata.md)).

{errata()}
"""
    (DOCS / "results.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
