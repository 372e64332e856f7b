"""One quick run of an experiment, as its file will hold it, and what its pictures must have."""

from __future__ import annotations

from functools import cache
from io import BytesIO

from viewhop.experiments import Context, find
from viewhop.experiments import _results_store as recording


@cache
def quick(name, trials=None):
    """The result of a run at toy size, read back."""
    experiment = find(name)
    if trials is None:
        trials = 1 if experiment.trials is None else experiment.trials.quick
    return recording.as_stored(experiment.run(Context(quick=True, trials=trials)))


def table(result, title):
    """Rows of the table whose title begins so, as dicts by column."""
    [found] = [each for each in result.tables if each.title.startswith(title)]
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def check_pictures(name, result):
    """Every picture has a caption, every Axes both labels, every set of lines a legend."""
    for figure, caption in find(name).draw(result).values():
        assert caption
        figure.savefig(BytesIO(), format="png", dpi=50)  # draws all of it, or raises
        drawn = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
        assert drawn
        for ax in drawn:
            assert ax.get_xlabel()
            # Axes that share their y have its label on one of them.
            assert any(each.get_ylabel() for each in ax.get_shared_y_axes().get_siblings(ax))
            styles = [
                (each.get_color(), each.get_linestyle(), each.get_marker()) for each in ax.lines
            ]
            named = [line for line in ax.lines if not line.get_label().startswith("_")]
            if len(named) > 1:
                assert len(set(styles)) == len(styles)
                assert any(each.get_legend() for each in drawn) or figure.legends
