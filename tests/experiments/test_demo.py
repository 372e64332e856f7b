"""The demonstration, on 500 digits."""

import sys
import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import normalized_mutual_info_score

from viewhop.datasets import load_mfeat
from viewhop.errors import DisconnectedWarning
from viewhop.experiments import _demo as demo
from viewhop.scores import matched_share


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
        def __init__(self, n_components=2, *, fusion="hop", random_state=None):
            self.n_components = n_components
            self.eigenvalues_ = np.linspace(0.9, 0.1, n_components)

        def fit_transform(self, data):
            array = data if isinstance(data, np.ndarray) else data["kar"]
            return np.resize(array, (len(array), self.n_components))

        def get_feature_names_out(self):
            return [f"fused_{k}" for k in range(1, self.n_components + 1)]

    monkeypatch.setattr(demo, "DiffusionMaps", Columns)
    monkeypatch.setattr(demo, "MultiViewDiffusionMaps", Columns)
    return Columns


def test_each_view_and_each_way_to_combine_them_is_scored(quick):
    result, _, _ = quick
    assert [score.method for score in result.singles] == list(load_mfeat().views.names)
    assert [score.method for score in result.together] == [
        "concatenation",
        "kernel sum",
        "kernel product",
        "multi-view",
    ]
    for score in (*result.singles, *result.together):
        assert 0 < score.nmi <= 1
        assert 0.1 < score.accuracy <= 1
        assert score.seconds > 0


def test_multi_view_finds_most_digits(quick):
    result, _, _ = quick
    weakest = min(score.nmi for score in result.singles)
    assert result.together[-1].nmi > max(0.6, weakest)


def test_table_holds_samples_digits_clusters_and_named_coordinates(quick):
    result, folder, _ = quick
    table = pd.read_csv(folder / "embedding.csv")
    digits = load_mfeat()
    coordinates = [f"{view}_{k}" for view in digits.views.names for k in range(1, 10)]
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
    nmi = normalized_mutual_info_score(table["digit"], table["cluster"])
    assert_allclose(result.together[-1].nmi, nmi, rtol=0, atol=1e-12)


def test_picture_is_a_png(quick):
    result, folder, _ = quick
    assert result.files == (folder / "embedding.csv", folder / "embedding.png")
    assert (folder / "embedding.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in folder.iterdir()) == ["embedding.csv", "embedding.png"]


def test_progress_counts_every_stage_to_its_end(quick):
    _, _, said = quick
    expected = [
        (stage, done, total)
        for stage, total in (("each view alone", 6), ("all views together", 4), ("files", 2))
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
    assert not result.remarks


def test_accuracy_is_the_best_one_to_one_match():
    rng = np.random.default_rng(0)
    target, clusters = rng.integers(0, 4, 50), rng.integers(0, 4, 50)
    best = max(np.mean(np.array(names)[clusters] == target) for names in permutations(range(4)))
    assert_allclose(matched_share(target, clusters), best, rtol=0, atol=1e-15)


def test_features_of_the_concatenation_are_standardised():
    views = load_mfeat().views
    _, stacked = demo._joint_methods(views, 0)["concatenation"]
    assert stacked.shape == (2000, 216 + 64 + 47 + 6 + 240 + 76)
    spread = stacked.std(axis=0)
    assert_allclose(spread[spread > 0], 1, rtol=0, atol=1e-9)
    assert_allclose(stacked.mean(axis=0), 0, rtol=0, atol=1e-9)


def test_each_joint_method_fuses_as_its_name_says():
    methods = demo._joint_methods(load_mfeat().views, 0)
    fusions = {name: methods[name][0].fusion for name in list(methods)[1:]}
    assert fusions == {"kernel sum": "sum", "kernel product": "product", "multi-view": "hop"}


def test_picture_sets_the_first_view_beside_all_views(tmp_path, no_fit, monkeypatch):
    drawn = []
    draw = demo.plotting.embedding

    def note(Z, *, labels, dims, ax, title, legend):
        drawn.append((title, Z))
        return draw(Z, labels=labels, dims=dims, ax=ax, title=title, legend=legend)

    monkeypatch.setattr(demo.plotting, "embedding", note)
    result = demo.run(out=tmp_path, quick=True)
    assert drawn[0][0] == f"fac alone: NMI {result.singles[0].nmi:.2f}"
    assert drawn[1][0] == f"all 6 views: NMI {result.together[-1].nmi:.2f}"
    table = pd.read_csv(tmp_path / "embedding.csv")
    fac = load_mfeat().views["fac"][table["sample"]]
    assert_array_equal(drawn[0][1], np.resize(fac, (500, 9)))
    assert_allclose(drawn[1][1], table.filter(like="fused_"), rtol=1e-9, atol=0)


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
    result = demo.run(out=tmp_path, quick=True)
    assert result.remarks == (
        "disconnected walks (number of pieces): kernel sum (3), kernel product (3), multi-view (3)",
    )


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
    (remark,) = result.remarks
    assert "embedding.png was not written" in remark
    assert 'pip install "viewhop[plot]"' in remark


def test_unwritable_folder_is_found_before_anything_is_computed(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setattr(demo, "load_mfeat", lambda: pytest.fail("too late"))
    with pytest.raises(FileExistsError):
        demo.run(out=tmp_path / "taken")
    with pytest.raises(NotADirectoryError):
        demo.run(out=tmp_path / "taken" / "below")

    def refuse(path, **mode):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.touch", refuse)
    with pytest.raises(PermissionError):
        demo.run(out=tmp_path)
