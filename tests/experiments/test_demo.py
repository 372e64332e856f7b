"""The demonstration, on 500 digits."""

import errno
import os
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_mutual_info_score

from viewhop._runtime.outputs import OutputError
from viewhop.datasets import load_mfeat
from viewhop.errors import DisconnectedWarning
from viewhop.experiments import _demo as demo
from viewhop.experiments import _demo_figure as figure
from viewhop.experiments import _demo_methods as methods
from viewhop.experiments._demo_conditions import make_conditions, remove_pairs
from viewhop.experiments._demo_scores import LEVEL, ScoreTable
from viewhop.views import Views

CONDITIONS = ("complete", "half missing", "pix is noise")


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run: its result, its folder, and what it said on the way."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    said = []
    result = demo.run(out=folder, quick=True, progress=lambda *report: said.append(report))
    return result, folder, said


@pytest.fixture
def no_fit(monkeypatch):
    """Methods that cost nothing, where only the files matter."""

    class Columns:
        def __init__(self, n_components=2, *, fusion="hop", output="auto", random_state=None):
            self.n_components = n_components

        @classmethod
        def paper_settings(cls, n_components, *, output, random_state):
            return cls(n_components, output=output, random_state=random_state)

        def fit_transform(self, data):
            array = data if isinstance(data, np.ndarray) else data["kar"]
            return np.nan_to_num(np.resize(array, (len(array), self.n_components)))

        def get_feature_names_out(self):
            return [f"fused_{k}" for k in range(1, self.n_components + 1)]

    monkeypatch.setattr(methods, "DiffusionMaps", Columns)
    monkeypatch.setattr(methods, "MultiViewDiffusionMaps", Columns)
    monkeypatch.setattr(methods, "FunctionTransformer", lambda: Columns(2))
    return Columns


def test_each_method_is_scored_where_it_applies(quick):
    table = quick[0].table
    assert table.conditions == CONDITIONS
    assert [*table.rows] == [
        "one view alone, the best",
        "one view alone, the mean",
        "K-means of all features",
        "diffusion map of all features",
        "kernel sum",
        "kernel product",
        "the paper's walk",
        "multi-view, the default",
    ]
    absent = {
        (method, condition)
        for method, row in table.rows.items()
        for condition, score in zip(CONDITIONS, row, strict=True)
        if score is None
    }
    assert absent == {
        ("one view alone, the best", "half missing"),
        ("one view alone, the mean", "half missing"),
        ("kernel product", "half missing"),
    }
    scores = [score for row in table.rows.values() for score in row if score is not None]
    assert 0.2 < min(scores) <= max(scores) < 1


def test_a_dash_is_explained(quick):
    assert quick[0].remarks[0] == (
        "– where one view alone cannot place a sample that it did not observe; "
        "kernel product needs every view of every sample"
    )


def test_multi_view_bears_missing_pairs_and_noise_that_the_alternatives_do_not(quick):
    rows = quick[0].table.rows
    ours = rows["multi-view, the default"]
    assert min(ours) > 0.75
    for rival in ("K-means of all features", "diffusion map of all features", "the paper's walk"):
        assert ours[1] > rows[rival][1] + 0.1
    assert ours[2] > rows["one view alone, the mean"][2] + 0.2
    assert ours[2] > ours[0] - 0.05


def test_table_holds_samples_digits_clusters_and_named_coordinates(quick):
    result, folder, _ = quick
    table = pd.read_csv(folder / "embedding.csv")
    digits = load_mfeat()
    coordinates = [f"consensus_{k}" for k in range(1, 10)]
    assert list(table.columns) == ["sample", "digit", "cluster", *coordinates]
    assert len(table) == result.n_samples == 500
    assert_array_equal(table["digit"], digits.target[table["sample"]])
    assert table["sample"].is_unique
    assert table["sample"].is_monotonic_increasing
    assert table["cluster"].nunique() == 10
    assert np.isfinite(table[coordinates].to_numpy()).all()
    assert (table[coordinates].std() > 0).all()


def test_scores_follow_from_the_table(quick):
    result, folder, _ = quick
    table = pd.read_csv(folder / "embedding.csv")
    ami = adjusted_mutual_info_score(table["digit"], table["cluster"])
    assert_allclose(result.table.rows["multi-view, the default"][0], ami, rtol=0, atol=1e-12)


def test_picture_is_a_png(quick):
    result, folder, _ = quick
    assert result.files == (folder / "embedding.csv", folder / "embedding.png")
    assert (folder / "embedding.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in folder.iterdir()) == ["embedding.csv", "embedding.png"]


def test_progress_counts_every_stage_to_its_end(quick):
    _, _, said = quick
    expected = [
        (stage, done, total)
        for stage, total in (*zip(CONDITIONS, (12, 60, 12), strict=True), ("files", 2))
        for done in range(total + 1)
    ]
    assert said == expected


def test_same_seed_writes_the_same_bytes_and_another_takes_other_samples(tmp_path, no_fit):
    files = [tmp_path / str(number) / "embedding.csv" for number in range(3)]
    for file, seed in zip(files, (3, 3, 4), strict=True):
        demo.run(out=file.parent, random_state=seed, quick=True)
    assert files[0].read_bytes() == files[1].read_bytes()
    samples = [set(pd.read_csv(file)["sample"]) for file in files]
    assert samples[0] != samples[2]


def test_all_samples_are_taken_unless_quick(tmp_path, no_fit):
    result = demo.run(out=tmp_path)
    table = pd.read_csv(tmp_path / "embedding.csv")
    assert result.n_samples == 2000
    assert_array_equal(table["sample"], np.arange(2000))
    assert len(result.remarks) == 1


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.7])
def test_the_share_of_removed_pairs_is_exact_and_every_sample_keeps_a_view(share):
    seen = remove_pairs(50, 4, share, np.random.default_rng(0))
    assert (~seen).sum() == round(share * 200)
    assert seen.any(axis=1).all()
    assert seen.any(axis=0).all()


def test_conditions_differ_from_the_digits_in_what_they_say_only():
    views = load_mfeat().views[::20]
    conditions = make_conditions(views, random_state=0)
    [complete], [noisy] = conditions["complete"], conditions["pix is noise"]
    assert complete is views
    for name in views.names:
        if name != "pix":
            assert_array_equal(noisy[name], views[name])
    assert_allclose([noisy["pix"].mean(), noisy["pix"].std()], [0, 1], atol=0.02)
    masks = [draw.observed for draw in conditions["half missing"]]
    assert len({mask.tobytes() for mask in masks}) == 5
    for draw, mask in zip(conditions["half missing"], masks, strict=True):
        assert_array_equal(draw["kar"][mask[:, 1]], views["kar"][mask[:, 1]])


def test_features_side_by_side_are_standardised_and_their_mean_where_missing():
    views = load_mfeat().views
    stacked = methods.stack_views(views)
    assert stacked.shape == (2000, 216 + 64 + 47 + 6 + 240 + 76)
    spread = stacked.std(axis=0)
    assert_allclose(spread[spread > 0], 1, rtol=0, atol=1e-9)
    assert_allclose(stacked.mean(axis=0), 0, rtol=0, atol=1e-9)
    seen = remove_pairs(2000, 6, 0.5, np.random.default_rng(0))
    gaps = methods.stack_views(Views(views, observed=seen))
    assert_allclose(gaps[:, :216][~seen[:, 0]], 0, rtol=0, atol=0)
    assert_allclose(gaps.mean(axis=0), 0, rtol=0, atol=1e-9)


def test_each_method_fuses_as_its_name_says():
    views = load_mfeat().views
    estimators = {
        name: method.prepare(views)[0]
        for name, method in methods.make_methods(random_state=7).items()
    }
    fusions = {
        name: (est.fusion, est.within_view_weight, est.random_state)
        for name, est in estimators.items()
        if hasattr(est, "fusion")
    }
    assert fusions == {
        "kernel sum": ("sum", None, 7),
        "kernel product": ("product", None, 7),
        "the paper's walk": ("hop", 0.0, 7),
        "multi-view, the default": ("hop", None, 7),
    }


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        ((0.70, 0.60, 0.90), "yes, 0.200 ahead of all features side by side"),
        ((0.70, 0.89, 0.90), "yes, 0.200 ahead of all features side by side (as is sum)"),
        ((0.89, 0.60, 0.90), "no difference to all features side by side"),
        ((0.91, 0.60, 0.90), "no difference to all features side by side"),
        ((0.95, 0.60, 0.90), "no, 0.050 behind joined"),
        ((0.70, 0.95, 0.90), "no, 0.050 behind sum"),
        ((0.70, None, 0.90), "yes, 0.200 ahead of all features side by side"),
    ],
)
def test_the_reading_follows_from_the_numbers(row, verdict):
    rows = {name: (score,) for name, score in zip(("joined", "sum", "hop"), row, strict=True)}
    assert ScoreTable(("now",), rows, ("joined",)).reading() == f"now: {verdict}"
    assert LEVEL == 0.02


def test_the_best_of_a_column_is_the_highest_score_that_there_is():
    table = ScoreTable(("a", "b"), {"x": (0.4, None), "y": (0.3, -0.1)}, ("x",))
    assert [table.is_best("x", k) for k in (0, 1)] == [True, False]
    assert [table.is_best("y", k) for k in (0, 1)] == [False, True]


def test_picture_shows_the_embedding_and_every_score(tmp_path, no_fit):
    result = demo.run(out=tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "embedding.csv")
    embedding = table.filter(like="fused_").to_numpy()
    drawn = figure.draw_demo(embedding, table["digit"].to_numpy(), result.table)
    planes, bars = drawn.axes[:3], drawn.axes[3:]
    for ax in planes:
        assert sum(len(group.get_offsets()) for group in ax.collections) == 500
    for column, (ax, condition) in enumerate(zip(bars, CONDITIONS, strict=True)):
        assert ax.get_title(loc="left") == condition
        texts = [text.get_text() for text in ax.texts]
        assert texts == [
            "–" if row[column] is None else f"{row[column]:.2f}"
            for row in result.table.rows.values()
        ]
        weights = [text.get_fontweight() for text in ax.texts]
        assert (np.array(weights) == "bold").any()
    assert [label.get_text() for label in bars[0].get_yticklabels()] == [*result.table.rows]


def torn(fit_transform, *others):
    """Fit as before, but warn of three pieces, and of other things, for several views."""

    def fit(self, data):
        if not isinstance(data, np.ndarray):
            for warning in (DisconnectedWarning("three pieces", 3), *others):
                warnings.warn(warning, stacklevel=2)
        return fit_transform(self, data)

    return fit


def test_pieces_are_reported_in_one_line_and_not_as_a_warning(tmp_path, no_fit, monkeypatch):
    monkeypatch.setattr(no_fit, "fit_transform", torn(no_fit.fit_transform))
    _, remark = demo.run(out=tmp_path, quick=True).remarks
    names = [
        f"{method}, {condition} (3)"
        for condition in CONDITIONS
        for method in (
            "kernel sum",
            *["kernel product"] * (condition != "half missing"),
            "the paper's walk",
            "multi-view, the default",
        )
    ]
    assert remark == f"disconnected walks (number of pieces): {'; '.join(names)}"


def test_other_warnings_are_passed_on(tmp_path, no_fit, monkeypatch):
    other = UserWarning("something else")
    monkeypatch.setattr(no_fit, "fit_transform", torn(no_fit.fit_transform, other))
    with pytest.warns(UserWarning, match="something else") as caught:
        demo.run(out=tmp_path, quick=True)
    assert {warning.category for warning in caught} == {UserWarning}


def test_without_matplotlib_the_picture_is_left_out_in_one_line(tmp_path, no_fit, monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    result = demo.run(out=tmp_path, quick=True)
    assert [path.name for path in tmp_path.iterdir()] == ["embedding.csv"]
    assert [path.name for path in result.files] == ["embedding.csv"]
    remark = result.remarks[-1]
    assert "embedding.png was not written" in remark
    assert 'pip install "viewhop[plot]"' in remark


def test_unwritable_folder_is_found_before_anything_is_computed(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setattr(demo, "load_mfeat", lambda: pytest.fail("too late"))
    with pytest.raises(OutputError) as refused:
        demo.run(out=tmp_path / "taken")
    assert refused.value.errno == errno.EEXIST
    with pytest.raises(OutputError) as refused:
        demo.run(out=tmp_path / "taken" / "below")
    assert refused.value.errno == errno.ENOTDIR

    def refuse(path, *mode):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError) as refused:
        demo.run(out=tmp_path)
    assert refused.value.errno == errno.EACCES
