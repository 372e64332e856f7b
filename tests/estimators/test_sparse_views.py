"""Estimators on sparse views: the same geometry as on full rows, from the fit to the file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import viewhop as vh
from tests.support.documents import make_documents, make_numbers
from viewhop import bandwidth, dimension
from viewhop._storage import archive
from viewhop.affinity import build_affinity
from viewhop.errors import MemoryBudgetError, ModelFileError, RecallWarning
from viewhop.kernels import Gaussian, Laplacian, Precomputed
from viewhop.scores import matched_share
from viewhop.views import SparseRows

N = 120
X, NUMBERS = make_documents(), make_numbers()
SPARSE = {"words": X, "numbers": NUMBERS}
FULL = {"words": X.toarray(), "numbers": NUMBERS}
#: Centring and standardising spreads documents over all directions: their graphs stay connected.
METRICS = ("euclidean", "cosine", "centered-cosine", "manhattan", "correlation")


def kernel_of(metric, *, standardize=False, neighbours=12, **more):
    parameters = {"metric": metric, "standardize": standardize, "n_neighbors": neighbours}
    return Gaussian(**{"bandwidth": "local", **parameters, **more})


def fit(views, kernel="adaptive", **more):
    return vh.MultiViewDiffusionMaps(3, kernel=kernel, random_state=0, **more).fit(views)


def close(first, second, tolerance=1e-10):
    assert_allclose(first, second, atol=tolerance * np.abs(second).max())


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("neighbours", [12, None])
def test_the_embedding_of_sparse_rows_is_that_of_full_rows(metric, standardize, neighbours):
    kernel = kernel_of(metric, standardize=standardize, neighbours=neighbours)
    est, full = fit(SPARSE, kernel), fit(FULL, kernel)
    close(est.eigenvalues_, full.eigenvalues_)
    close(est.embedding_, full.embedding_)
    close(est.bandwidths_["words"], full.bandwidths_["words"])
    rows = est.walk_.affinities[0].points.rows
    assert rows.sparse.nnz == X.nnz, "the features stay sparse"


@pytest.mark.parametrize("fusion", ["concat", "product", "sum", "alternating"])
@pytest.mark.parametrize("metric", ["cosine", "centered-cosine"])
def test_every_fusion_takes_sparse_views(fusion, metric):
    kernel = kernel_of(metric, neighbours=30)
    est, full = fit(SPARSE, kernel, fusion=fusion), fit(FULL, kernel, fusion=fusion)
    close(est.embedding_, full.embedding_)
    close(est.transform({"words": X[:9], "numbers": NUMBERS[:9]}), est.embedding_[:9], 1e-8)


def test_the_joint_view_of_a_sparse_view_is_that_of_full_rows():
    for kernel in (kernel_of("centered-cosine"), kernel_of("euclidean")):
        est, full = fit(SPARSE, kernel, joint_view=True), fit(FULL, kernel, joint_view=True)
        assert est.walk_.joint.affinity.points.is_sparse
        close(est.embedding_, full.embedding_)
    two = fit({"a": X, "b": X[:, :80]}, kernel_of("centered-cosine"), joint_view=True)
    assert two.walk_.joint.affinity.points.rows.offsets.shape == (N, 2)
    views = {"a": X.toarray(), "b": X.toarray()[:, :80]}
    full = fit(views, kernel_of("centered-cosine"), joint_view=True)
    close(two.embedding_, full.embedding_)


@pytest.mark.parametrize("rule", ["max-min", "log-log", "joint", "connected", 2.0])
def test_every_rule_of_scale_takes_sparse_views(rule):
    kernel = Gaussian(rule, metric="centered-cosine")
    est, full = fit(SPARSE, kernel), fit(FULL, kernel)
    assert_allclose(est.bandwidths_["words"], full.bandwidths_["words"], rtol=1e-9)
    close(est.embedding_, full.embedding_, 1e-8)


def test_scales_of_one_view_and_of_all_take_sparse_rows():
    for function in (bandwidth.max_min, bandwidth.local):
        assert_allclose(function(X), function(X.toarray()), rtol=1e-10)
    # Distances are counted in bins, and the last bit decides between two of them.
    assert_allclose(bandwidth.log_log(X), bandwidth.log_log(X.toarray()), rtol=1e-4)
    assert_allclose(
        [*bandwidth.connected(SPARSE).values()], [*bandwidth.connected(FULL).values()], rtol=1e-10
    )
    sparse_scales, scales = bandwidth.joint(SPARSE).scales, bandwidth.joint(FULL).scales
    assert_allclose([*sparse_scales.values()], [*scales.values()], rtol=1e-8)


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
def test_metrics_are_chosen_by_the_same_agreement():
    est, full = fit(SPARSE), fit(FULL)
    assert est.metrics_ == full.metrics_
    for metric, score in full.metric_scores_["words"].items():
        assert_allclose(est.metric_scores_["words"][metric], score, atol=0.01)
    alone = vh.DiffusionMaps(2, random_state=0).fit(X)
    assert alone.metrics_ == {"view1": "cosine"}
    related = {"a": X, "b": X[:, ::2]}
    sparse_scores = fit(related).metric_scores_["a"]
    scores = fit({name: rows.toarray() for name, rows in related.items()}).metric_scores_["a"]
    assert sparse_scores.keys() == scores.keys()
    assert min(scores.values()) > 0.2
    for metric, score in scores.items():
        assert_allclose(sparse_scores[metric], score, atol=1e-3)


@pytest.mark.parametrize("metric", METRICS)
def test_transform_places_training_rows_where_the_fit_put_them(metric):
    est = fit(SPARSE, kernel_of(metric, standardize=metric != "manhattan"))
    assert_allclose(est.transform(SPARSE), est.embedding_, atol=1e-8)
    for words in (X[5:9], X[5:9].toarray(), sparse.csc_matrix(X[5:9])):
        new = est.transform({"words": words, "numbers": NUMBERS[5:9]})
        assert_allclose(new, est.embedding_[5:9], atol=1e-8)
    one = est.transform({"words": X[[5]], "numbers": NUMBERS[[5]]})
    assert_allclose(one[0], est.embedding_[5], atol=1e-8)
    assert np.isfinite(est.transform({"words": X[:4]})).all()


def test_sparse_new_rows_may_go_to_a_view_of_full_training_rows():
    est = fit(FULL, kernel_of("centered-cosine"))
    assert_allclose(est.transform(SPARSE), est.embedding_, atol=1e-8)


def test_full_new_rows_of_nan_were_not_observed():
    est = fit(SPARSE, kernel_of("cosine"))
    words = X[:6].toarray()
    words[2] = np.nan
    placed = est.transform({"words": words, "numbers": NUMBERS[:6]})
    assert np.isfinite(placed).all()
    seen = [0, 1, 3, 4, 5]
    assert_allclose(placed[seen], est.embedding_[seen], atol=1e-8)


def test_samples_that_a_sparse_view_missed_leave_the_walk_of_full_rows():
    seen = np.random.default_rng(0).random(N) > 0.3
    gaps = X.toarray()
    gaps[~seen] = np.nan
    kernel = kernel_of("centered-cosine")
    est = fit(vh.Views(SPARSE, observed={"words": seen}), kernel)
    close(est.embedding_, fit({"words": gaps, "numbers": NUMBERS}, kernel).embedding_)
    ids = [f"d{k}" for k in range(N)]
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), index=ids)
    joined = vh.Views.from_frames({"words": frame[seen], "numbers": pd.DataFrame(NUMBERS, ids)})
    order = joined.ids.argsort()
    again = fit(joined, kernel).embedding_[order]
    assert_allclose(np.abs(again), np.abs(est.embedding_[np.argsort(ids)]), atol=1e-8)


def test_single_precision_is_kept():
    single = {"words": X.astype(np.float32), "numbers": NUMBERS.astype(np.float32)}
    est = fit(single, kernel_of("cosine"))
    assert est.embedding_.dtype == np.float32
    full = {name: np.float32(rows) for name, rows in FULL.items()}
    close(est.embedding_, fit(full, kernel_of("cosine")).embedding_, 1e-5)
    assert_allclose(est.transform(single), est.embedding_, atol=1e-4)


def test_the_input_is_never_written_to():
    parts = X.data.copy(), X.indices.copy(), X.indptr.copy()
    matrix = sparse.csr_array(parts, shape=X.shape)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    for metric in METRICS:
        est = fit({"words": matrix, "numbers": NUMBERS}, kernel_of(metric, standardize=True))
        est.transform({"words": matrix, "numbers": NUMBERS})
    est = fit({"words": matrix, "numbers": NUMBERS}, kernel_of("euclidean"))
    before = est.transform(SPARSE)
    assert not np.shares_memory(est.walk_.affinities[0].points.rows.sparse.data, matrix.data)
    assert_array_equal(before, est.transform(SPARSE))


# --- stacked columns, and scikit-learn -------------------------------------------------------


def test_a_stacked_sparse_matrix_is_cut_into_views():
    groups = {"a": slice(0, 70), "b": slice(70, 150)}
    est = vh.MultiViewDiffusionMaps(2, views=groups, kernel=kernel_of("cosine"), random_state=0)
    full = vh.MultiViewDiffusionMaps(2, views=groups, kernel=kernel_of("cosine"), random_state=0)
    close(est.fit(X).embedding_, full.fit(X.toarray()).embedding_)
    assert est.n_features_in_ == 150
    assert_allclose(est.transform(X[:5]), est.embedding_[:5], atol=1e-8)
    halves = vh.MultiViewDiffusionMaps(2, views=2, kernel=kernel_of("cosine")).fit(X)
    assert halves.view_names_ == ("view1", "view2")
    with pytest.raises(ValueError, match="X has 149 features"):
        est.transform(X[:, :149])


def test_a_stacked_sparse_frame_keeps_the_names_of_its_columns():
    names = [f"w{k}" for k in range(150)]
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=names)
    est = vh.MultiViewDiffusionMaps(2, views=2, kernel=kernel_of("cosine"), random_state=0)
    close(est.fit(frame).embedding_, est.fit(X).embedding_)
    assert est.fit(frame).feature_names_in_.tolist() == names


@pytest.mark.parametrize("form", ["coo", "dok", "lil"])
def test_other_formats_are_refused_as_sparse_by_estimators(form):
    for X_ in (X.asformat(form), [X.asformat(form), NUMBERS], {"a": X.asformat(form)}):
        with pytest.raises(TypeError, match=r"is a sparse .*pass its \.tocsr\(\)"):
            vh.MultiViewDiffusionMaps(2).fit(X_)


def test_rows_are_selected_in_cross_validation_and_pipelines():
    views = vh.Views(SPARSE)
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel_of("cosine"), random_state=0)
    scores = cross_val_score(make_pipeline(est, KMeans(2, random_state=0)), views, cv=3)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    labels = vh.MultiViewSpectralClustering(3, kernel=kernel_of("cosine"), random_state=0)
    full = vh.MultiViewSpectralClustering(3, kernel=kernel_of("cosine"), random_state=0)
    assert_array_equal(labels.fit(SPARSE).labels_, full.fit(FULL).labels_)
    assert_array_equal(labels.predict(SPARSE), labels.labels_)


def test_baselines_take_sparse_views():
    for kernel in (Gaussian("max-min", metric="centered-cosine"), Laplacian("max-min")):
        cca = vh.KernelCCA(2, kernel=kernel, rank=20, random_state=0)
        close(cca.fit(SPARSE).embedding_, cca.fit(FULL).embedding_, 1e-7)
        cca.fit(SPARSE)
        assert_allclose(cca.transform(SPARSE), cca.embedding_, atol=1e-8)
    desa = vh.DeSaEmbedding(kernel=Gaussian("max-min", metric="cosine"), random_state=0)
    close(desa.fit(SPARSE).embedding_, desa.fit(FULL).embedding_, 1e-8)


def test_a_sparse_precomputed_kernel_is_refused_with_what_to_do():
    K = sparse.csr_array(np.exp(-np.square(NUMBERS[:, None] - NUMBERS).sum(axis=2)))
    message = r"view 'view1' is a precomputed kernel, and it is sparse; pass its \.toarray\(\)"
    for attempt in (
        lambda: fit([K, NUMBERS], [Precomputed(), kernel_of("euclidean")]),
        lambda: vh.Views([K], pairwise=["view1"]),
        lambda: fit(vh.Views([K, NUMBERS]), [Precomputed(), kernel_of("euclidean")]),
        lambda: vh.KernelCCA(2, kernel="precomputed").fit([K, K]),
        lambda: fit([K.toarray(), NUMBERS], [Precomputed(), "adaptive"]).transform([K, NUMBERS]),
        lambda: build_affinity("view1", Precomputed(), SparseRows(K)),
    ):
        with pytest.raises(TypeError, match=message):
            attempt()


def test_memory_is_planned_by_stored_entries():
    wide = sparse.csr_array(sparse.hstack([X, sparse.csr_array((N, 2_000_000))]))
    # As an array, these rows would take 1.9 GB.
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel_of("euclidean"), max_memory="200MB")
    est.set_params(random_state=0)
    narrow = est.fit(SPARSE).embedding_
    close(est.fit({"words": wide, "numbers": NUMBERS}).embedding_, narrow)
    with pytest.raises(MemoryBudgetError):
        est.set_params(max_memory="1MB").fit({"words": wide, "numbers": NUMBERS})


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
def test_an_approximate_search_is_measured_and_gives_the_same_index_from_a_file(tmp_path):
    pytest.importorskip("faiss")
    words = make_documents(700, 400, n_topics=5)
    est = vh.DiffusionMaps(
        2, kernel=kernel_of("cosine", search="faiss", bandwidth="max-min"), random_state=0
    )
    with pytest.warns(RecallWarning, match="the search found only"):
        est.fit(words)
    assert 0.5 < est.recall_["view1"] < 0.95
    est.save(tmp_path / "m.viewhop")
    again = vh.load(tmp_path / "m.viewhop")
    assert_array_equal(again.transform(words[:30]), est.transform(words[:30]))


# --- model files -----------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("neighbours", [12, None])
def test_a_model_file_restores_sparse_views_bit_for_bit(tmp_path, metric, neighbours):
    est = fit(SPARSE, kernel_of(metric, standardize=True, neighbours=neighbours))
    est.save(tmp_path / "m.viewhop")
    again = vh.load(tmp_path / "m.viewhop")
    assert_array_equal(again.embedding_, est.embedding_)
    assert_array_equal(again.transform(SPARSE), est.transform(SPARSE))
    again.save(tmp_path / "n.viewhop")
    assert (tmp_path / "n.viewhop").read_bytes() == (tmp_path / "m.viewhop").read_bytes()


@pytest.mark.parametrize("fusion", ["concat", "product"])
def test_a_model_file_restores_joined_sparse_views(tmp_path, fusion):
    est = fit(SPARSE, kernel_of("centered-cosine", neighbours=30), fusion=fusion)
    est.save(tmp_path / "m.viewhop")
    again = vh.load(tmp_path / "m.viewhop")
    assert_array_equal(again.transform(SPARSE), est.transform(SPARSE))
    cca = vh.KernelCCA(2, kernel=Gaussian("max-min", metric="centered-cosine"), rank=9)
    cca.fit(SPARSE).save(tmp_path / "c.viewhop")
    assert_array_equal(vh.load(tmp_path / "c.viewhop").transform(SPARSE), cca.transform(SPARSE))


def test_a_model_file_grows_with_the_stored_entries_only(tmp_path):
    wide = sparse.csr_array(sparse.hstack([X, sparse.csr_array((N, 100_000))]))
    sizes = []
    for words in (X, wide):
        fit({"words": words, "numbers": NUMBERS}, kernel_of("euclidean")).save(tmp_path / "m")
        sizes.append((tmp_path / "m").stat().st_size)
    assert sizes[1] < sizes[0] + 1000


def rewritten(path, target, name, change):
    """A model file with one of its arrays changed, and everything that describes it made to fit."""
    model, arrays, _ = archive.read(path)
    (key,) = [each for each in arrays if each.endswith(name)]
    archive.write(target, model, {**arrays, key: change(arrays[key].copy())})


DAMAGE = {
    "a column beyond the last": ("sparse/indices", lambda a: put(a, -1, 150)),
    "a negative column": ("sparse/indices", lambda a: put(a, 5, -1)),
    "columns out of order": ("sparse/indices", lambda a: put(a, [0, 1], a[[1, 0]])),
    "rows that fall": ("sparse/indptr", lambda a: put(a, 3, a[2] - 1)),
    "rows that overflow": ("sparse/indptr", lambda a: put(a, 3, 2**31 - 1)),
    "rows that end late": ("sparse/indptr", lambda a: put(a, -1, a[-1] + 7)),
    "rows that begin late": ("sparse/indptr", lambda a: put(a, 0, 1)),
    "too few rows": ("sparse/indptr", lambda a: a[:-1]),
    "too few values": ("sparse/values", lambda a: a[:-1]),
    "a value that is not a number": ("sparse/values", lambda a: put(a, 0, np.nan)),
    "another centre": ("sparse/directions", lambda a: a + 1.0),
    "no centre": ("sparse/directions", lambda a: a[:0]),
    "offsets of other rows": ("sparse/offsets", lambda a: a[:-1]),
    "full columns": ("sparse/full", lambda a: np.ones((len(a), 150))),
}


def put(array, place, value):
    array[place] = value
    return array


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_sparse_view_in_a_model_file_is_an_error(tmp_path, kind):
    est = fit(SPARSE, kernel_of("centered-cosine"), joint_view=False)
    est.save(tmp_path / "m.viewhop")
    rewritten(tmp_path / "m.viewhop", tmp_path / "n.viewhop", *DAMAGE[kind])
    with pytest.raises(ModelFileError):
        vh.load(tmp_path / "n.viewhop")
    assert issubclass(ModelFileError, ValueError)


# --- interpretation --------------------------------------------------------------------------


def test_features_that_change_along_a_coordinate_are_those_of_full_rows():
    est, full = fit(SPARSE, kernel_of("cosine")), fit(FULL, kernel_of("cosine"))
    found, expected = (vh.explain(e, v).frame for e, v in ((est, SPARSE), (full, FULL)))
    pd.testing.assert_frame_equal(
        found.sort_values(["coordinate", "view", "feature"], ignore_index=True),
        expected.sort_values(["coordinate", "view", "feature"], ignore_index=True),
        rtol=1e-6,
    )


def test_stability_and_report_take_sparse_views(tmp_path):
    est = fit(SPARSE, kernel_of("centered-cosine"))
    result = vh.stability(est, SPARSE, n_samples=90, random_state=0)
    full = vh.stability(fit(FULL, kernel_of("centered-cosine")), FULL, n_samples=90, random_state=0)
    assert str(result) == str(full)
    vh.report.write(tmp_path / "sparse.html", est, features=vh.Views(SPARSE))
    vh.report.write(tmp_path / "full.html", est, features=vh.Views(FULL))
    assert (tmp_path / "sparse.html").read_bytes() == (tmp_path / "full.html").read_bytes()


def test_advice_on_sparse_views_is_that_on_full_rows():
    repeated = sparse.csr_array(sparse.vstack([X, X[:9], sparse.csr_array((3, 150))]))
    numbers = make_numbers(132)
    advice = vh.advise({"words": repeated, "numbers": numbers})
    expected = vh.advise({"words": repeated.toarray(), "numbers": numbers})
    kinds = [(one.kind, one.view) for one in advice.findings]
    assert kinds == [(one.kind, one.view) for one in expected.findings]
    assert ("duplicates", "words") in kinds
    assert re.sub(r"\d", "", str(advice.parameters)) == re.sub(r"\d", "", str(expected.parameters))


def test_an_intrinsic_dimension_needs_full_rows():
    with pytest.raises(TypeError, match="an estimate of the dimension needs full rows, but view"):
        dimension.intrinsic(SPARSE)
    with pytest.raises(TypeError, match="view 'words' is sparse"):
        vh.MultiViewDiffusionMaps("auto", accuracy="local_pca").fit(SPARSE)


def test_the_example_of_the_guide_runs():
    text = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"## Sparse text.*?```python\n(.*?)```", text, flags=re.DOTALL)
    scope = {}
    exec(example, scope)  # noqa: S102
    assert isinstance(scope["views"].rows("words"), SparseRows)
    assert np.isfinite(scope["placed"]).all()
    clusters = KMeans(3, n_init=3, random_state=0).fit_predict(scope["est"].embedding_)
    assert matched_share(scope["topics"], clusters) > 0.95
