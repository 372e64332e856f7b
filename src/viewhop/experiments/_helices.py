"""Figs. 8–13: two helices with angles a quarter turn apart, recovered as closed curves.

A map is a circle if its rank correlation with the angle is at least 0.99 and it closes at least
0.97 of a turn; bows, points and unconnected parts are those of `Parts`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import numpy as np

from viewhop import bandwidth, plotting
from viewhop.datasets import make_helices
from viewhop.errors import DisconnectedWarning, ScaleWarning
from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps
from viewhop.experiments._experiment import Context, Experiment, Picture, Result, Table
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding
from viewhop.experiments._local_scales import LOCAL_SCALES
from viewhop.experiments._map_parts import Parts, measure_parts
from viewhop.experiments._rings import CLOSED, ENOUGH, Ring, ring
from viewhop.kernels import Gaussian
from viewhop.views import Views

__all__ = ["EXPERIMENTS"]

#: Settings; the first is the paper's rule. The paper prints no scale for these figures.
_PRINTED = "max-min, C = 1"
_MINIMAL = "Algorithm 1"
_SETTINGS = (_PRINTED, _MINIMAL, "Algorithm 1, steepest", "10 neighbours")
#: The element-wise product of the kernels; and the paper's own, a Gaussian on both side by side.
_PRODUCTS = {"kernel product": "product", "kernel product, concat": "concat"}
_OWN = "kernel product, concat"


def run(context: Context, *, kind: Literal["A", "B"]) -> Result:
    """Curves recovered by the hop walk, each view alone and both kernel products."""
    helices = make_helices(kind, n_samples=400 if context.quick else 1000)
    shown: dict[str, Any] = {}
    rings: dict[str, Ring] = {}
    rows: list[tuple[Any, ...]] = []
    scales: dict[str, dict[str, float]] = {}
    with warnings.catch_warnings():
        # The paper shows torn curves here; in the table they have λ_1 = 1.
        warnings.simplefilter("ignore", DisconnectedWarning)
        warnings.simplefilter("ignore", ScaleWarning)
        for count, setting in enumerate(_SETTINGS):
            kernels = _kernels(helices.views, setting)
            if setting != "10 neighbours":
                scales[setting] = {name: float(k.bandwidth) for name, k in kernels.items()}
            for name, (embedding, eigenvalue) in _maps(helices.views, kernels, context).items():
                angle = helices.b if "y" in name.split() else helices.a
                key = f"{name}; {setting}"
                shown[key], rings[key] = embedding, ring(embedding, angle)
                # Rounding may push an eigenvalue of 1 slightly above 1.
                decay = f"{max(0.0, 1 - eigenvalue):.1e}"
                rows.append((key, *rings[key], rings[key].closed, decay))
            context.progress("settings", count + 1, len(_SETTINGS))
    # b starts anew where a passes 3π/2.
    is_later = helices.a >= 1.5 * np.pi
    parts = {
        key: measure_parts(embedding, is_later)
        for key, embedding in shown.items()
        if key.startswith("kernel product")
    }
    return Result(
        ran={
            "samples": len(helices.a),
            "angles": "evenly spread, not random",
            "coordinates": 2,
            "t": 1,
            "scale": "max-min, C = 1; Algorithm 1, minimal and steepest; local, 10 neighbours",
        },
        paper={"samples": 1000, "angles": None, "coordinates": 2, "t": None, "scale": None},
        tables=(_ring_table(rows), _parts_table(parts), _scale_table(scales)),
        numbers={
            "kind": kind,
            "a": helices.a,
            "b": helices.b,
            "views": {name: helices.views[name] for name in ("x", "y")},
            "embeddings": shown,
        },
        remarks=_remarks(rings, parts, scales),
        findings=(_judge_circle(kind, rings), _judge_product(kind, parts)),
    )


def _kernels(views: Views, setting: str) -> dict[str, Gaussian]:
    """Kernel of each view; scales are computed once and passed as numbers."""
    if setting == "10 neighbours":
        return dict.fromkeys(views.names, LOCAL_SCALES)
    if setting == _PRINTED:
        scales = {name: bandwidth.max_min(views[name]) for name in views.names}
    else:
        rule = "minimal" if setting == _MINIMAL else "steepest"
        scales = bandwidth.joint(views, rule=rule).scales
    return {name: Gaussian(bandwidth=scale) for name, scale in scales.items()}


def _maps(
    views: Views, kernels: Mapping[str, Gaussian], context: Context
) -> dict[str, tuple[Any, float]]:
    """Map and first eigenvalue by method."""
    seed = context.seed
    hop = MultiViewDiffusionMaps.paper_settings(2, kernel=dict(kernels), random_state=seed)
    hop.fit(views)
    maps = {
        f"multi-view, {name}": (hop.view_embeddings_[name], float(hop.eigenvalues_[0]))
        for name in views.names
    }
    for name in views.names:
        alone = DiffusionMaps(2, kernel=kernels[name], random_state=seed).fit(views[name])
        maps[f"{name} alone"] = alone.embedding_, float(alone.eigenvalues_[0])
    for name, fusion in _PRODUCTS.items():
        est = MultiViewDiffusionMaps(2, kernel=dict(kernels), fusion=fusion, random_state=seed)
        est.fit(views)
        maps[name] = est.embedding_, float(est.eigenvalues_[0])
    return maps


def _ring_table(rows: list[tuple[Any, ...]]) -> Table:
    return Table(
        "The angle from two coordinates: rank correlation, widest gap, share of a turn that the "
        "curve closes, slowest decay",
        ("method; setting", "correlation", "gap in degrees", "closed", "1 − λ_1"),
        tuple(rows),
        digits=4,
    )


def _parts_table(parts: Mapping[str, Parts]) -> Table:
    return Table(
        "The kernel products, before and after the jump of b: widths of both parts and the gap "
        "between them, as shares of the width of the map",
        ("method; setting", "width before", "width after", "gap between"),
        tuple((key, *part.widths, part.apart) for key, part in parts.items()),
    )


def _scale_table(scales: Mapping[str, Mapping[str, float]]) -> Table:
    return Table(
        "Scales",
        ("setting", "σ_x", "σ_y"),
        tuple((setting, each["x"], each["y"]) for setting, each in scales.items()),
    )


def _both(rings: Mapping[str, Ring], setting: str) -> list[Ring]:
    return [rings[f"multi-view, {view}; {setting}"] for view in "xy"]


def _describe(rings: list[Ring]) -> str:
    return (
        f"{min(each.correlation for each in rings):.4f}, "
        f"closed {min(each.closed for each in rings):.2f}"
    )


def _judge_circle(kind: str, rings: Mapping[str, Ring]) -> Finding:
    """The finding on the claim that the maps of both views are circles."""
    circles = [s for s in _SETTINGS if all(each.is_circle for each in _both(rings, s))]
    evidence = (
        "Smaller rank correlation and share of a turn of the two views: "
        + "; ".join(f"{setting} {_describe(_both(rings, setting))}" for setting in _SETTINGS)
        + f". A circle has at least {ENOUGH} and {CLOSED}. Nothing is random here."
    )
    claim = f"helix-{kind.lower()}-circle"
    if _PRINTED in circles:
        return Finding(claim, HOLDS, evidence)
    if circles:
        return Finding(claim, CONDITIONAL, evidence, f"{' or '.join(circles)} for the scale")
    return Finding(claim, FAILS, evidence)


def _judge_product(kind: str, parts: Mapping[str, Parts]) -> Finding:
    """The finding on the claim about the kernel product, for the paper's own first."""

    def agrees(part: Parts) -> bool:
        return part.are_bow_and_point if kind == "A" else part.are_unconnected

    printed = f"{_OWN}; {_PRINTED}"
    seen = [key for key, part in parts.items() if agrees(part)]
    part = parts[printed]
    evidence = (
        f"{printed}: the parts before and after the jump of b have {part.widths[0]:.2f} and "
        f"{part.widths[1]:.2f} of the width of the map, and lie {part.apart:.2f} of it apart. "
        f"As in the paper in {len(seen)} of {len(parts)}: {', '.join(seen) or 'none'}. Nothing is "
        "random here."
    )
    claim = f"helix-{kind.lower()}-product"
    if printed in seen:
        return Finding(claim, HOLDS, evidence)
    if seen:
        return Finding(claim, CONDITIONAL, evidence, " or ".join(seen))
    return Finding(claim, FAILS, evidence)


def _remarks(
    rings: Mapping[str, Ring],
    parts: Mapping[str, Parts],
    scales: Mapping[str, Mapping[str, float]],
) -> tuple[str, ...]:
    closed = "; ".join(
        f"{setting}: {min(each.closed for each in _both(rings, setting)):.2f}"
        for setting in _SETTINGS
    )
    spacing = scales[_MINIMAL]["x"], scales["Algorithm 1, steepest"]["x"]
    torn = [rings[f"{name}; {_PRINTED}"] for name in _PRODUCTS]
    return (
        "The paper prints neither the scale nor a number for these figures; the scale here is its "
        "own rule, Eq. (24) with C = 1, beside Algorithm 1 and local scales. Share of a turn that "
        f"the multi-view curves close, the smaller of both views: {closed}.",
        f"Cause: Algorithm 1 by its words takes σ_x = {spacing[0]:.3g}, the scale of the samples "
        f"along the curve; around the steepest slope it takes {spacing[1]:.3g}, the scale of its "
        "coils, which joins samples of different coils.",
        "A kernel product joins samples only where both views do, so the curve is cut where a "
        "starts and where b does; the hop joins them where either does. Widest gaps at the "
        "max-min scale: "
        + ", ".join(
            f"{name} {each.gap:.0f} degrees" for name, each in zip(_PRODUCTS, torn, strict=True)
        )
        + ". The paper has a bow and a point (Helix A) and two unconnected structures (Helix B). "
        '"Kernel product" is the element-wise one; "concat", the paper\'s own, is a Gaussian on '
        "the views side by side with σ∘² = σ_x² + σ_y².",
    )


def draw(result: Result) -> dict[str, Picture]:
    """Pictures of the curves by setting, and of the data."""
    from matplotlib.figure import Figure

    shown = result.numbers["embeddings"]
    figure = Figure(figsize=(13, 9.2), layout="constrained")
    rows = (_PRINTED, _MINIMAL, "Algorithm 1, steepest")
    columns = (("multi-view, x", "a"), ("multi-view, y", "b"), *((name, "a") for name in _PRODUCTS))
    grid = figure.subplots(len(rows), len(columns))
    for axes, setting in zip(grid, rows, strict=True):
        for ax, (name, angle) in zip(axes, columns, strict=True):
            labels = np.asarray(result.numbers[angle])
            plotting.embedding(
                np.asarray(shown[f"{name}; {setting}"]),
                labels=labels,
                ax=ax,
                title=f"{name}\n{setting}",
            )
            bar = ax.collections[-1].colorbar
            bar.set_label(f"angle {angle} (radians)", fontsize="small")
    maps = Picture(
        figure,
        "Two coordinates of each sample, coloured by the true angle of the view, at three scales. "
        "The hop walk gives a closed curve in either view; the kernel products tear it.",
    )
    return {"": maps, "data": _draw_data(result)}


def _draw_data(result: Result) -> Picture:
    """Both helices in space, coloured by the number of the sample."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.4), layout="constrained")
    kind = result.numbers["kind"]
    for place, name in enumerate(("x", "y"), start=1):
        points = np.asarray(result.numbers["views"][name])
        ax = figure.add_subplot(1, 2, place, projection="3d")
        drawn = ax.scatter(*points.T, c=np.arange(len(points)), cmap="viridis", s=6)
        ax.set_title(f"Helix {kind}, view {name}", loc="left", fontsize="medium")
        ax.tick_params(labelsize="x-small")
        ax.set(xlabel=f"{name}[1]", ylabel=f"{name}[2]", zlabel=f"{name}[3]")
    figure.colorbar(drawn, ax=figure.axes, shrink=0.7, label="number of the sample")
    where = "Fig. 8" if kind == "A" else "Fig. 11"
    return Picture(figure, f"The data ({where} of the paper), coloured by the index of a sample.")


def _experiment(kind: Literal["A", "B"], where: str, shape: str) -> Experiment:
    return Experiment(
        name=f"helix-{kind.lower()}",
        where=where,
        title=f"Helix {kind}",
        about=(
            f"Two {shape} in space, with angles a and b = a + π/2, modulo 2π: each view is cut "
            "open where its own angle starts anew, and whole there in the other. The hop walk "
            "should bring back two closed curves, one ordered by a and one by b."
        ),
        run=partial(run, kind=kind),
        draw=draw,
    )


EXPERIMENTS = (
    _experiment("A", "Figs. 8–10", "coiled rings"),
    _experiment("B", "Figs. 11–13", "corkscrews"),
)
