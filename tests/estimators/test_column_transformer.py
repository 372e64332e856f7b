"""Views from the output names of a ColumnTransformer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import viewhop as vh
from viewhop import (
    DeSaEmbedding,
    KernelCCA,
    MultiViewDiffusionMaps,
    MultiViewSpectralClustering,
    Views,
)

FROM_NAMES = "from_column_transformer"
RNG = np.random.default_rng(0)
ANGLE = RNG.uniform(0, 1.8 * np.pi, 60)
FRAME = pd.DataFrame(
    {
        "gene1": np.cos(ANGLE),
        "protein1": ANGLE,
        "gene2": np.sin(ANGLE),
        "protein2": np.sin(2 * ANGLE),
        "batch": RNG.normal(size=60),
    }
)
GENES, PROTEINS = ["gene1", "gene2"], ["protein1", "protein2"]


def transformer(**more):
    parts = [("rna", StandardScaler(), GENES), ("protein", "passthrough", PROTEINS)]
    return ColumnTransformer(parts, **more)


def embedder(**more):
    return MultiViewDiffusionMaps(2, views=FROM_NAMES, random_state=0, **more)


def direct():
    scaled = StandardScaler().fit_transform(FRAME[GENES])
    views = {"rna": scaled, "protein": FRAME[PROTEINS].to_numpy()}
    return MultiViewDiffusionMaps(2, random_state=0).fit(views)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_every_transformer_is_a_view(library):
    frame = FRAME if library == "pandas" else pl.from_pandas(FRAME)
    pipe = make_pipeline(transformer(), embedder()).set_output(transform=library)
    Z = pipe.fit_transform(frame)
    expected = direct()
    assert pipe[-1].view_names_ == ("rna", "protein")
    assert [*pipe[-1].feature_names_in_] == [
        "rna__gene1",
        "rna__gene2",
        "protein__protein1",
        "protein__protein2",
    ]
    assert pipe[-1].n_features_in_ == 4
    assert isinstance(Z, pd.DataFrame if library == "pandas" else pl.DataFrame)
    assert [*Z.columns] == ["consensus_1", "consensus_2"]
    assert_array_equal(Z.to_numpy(), expected.embedding_)
    assert_allclose(pipe.transform(frame[:7]), expected.embedding_[:7], rtol=1e-12)


@pytest.mark.parametrize(
    "est",
    [
        KernelCCA(2, views=FROM_NAMES, rank=20),
        DeSaEmbedding(2, views=FROM_NAMES, kernel="gaussian"),
        MultiViewSpectralClustering(2, views=FROM_NAMES, random_state=0),
    ],
    ids=lambda est: type(est).__name__,
)
def test_every_estimator_of_several_views_takes_the_names(est):
    make_pipeline(transformer().set_output(transform="pandas"), est).fit(FRAME)
    assert est.view_names_ == ("rna", "protein")


def test_columns_of_a_view_need_not_be_neighbours_and_keep_their_marks():
    X = np.arange(12.0).reshape(3, 4)
    names = ["a__x", "b__y__z", "a__y", "b__"]
    views = Views.from_columns(X, FROM_NAMES, names=names)
    assert views.names == ("a", "b")
    assert_array_equal(views["a"], X[:, [0, 2]])
    assert views.feature_names == (("a__x", "a__y"), ("b__y__z", "b__"))


def test_a_union_of_features_is_views_too():
    union = FeatureUnion(
        [("pca", PCA(2)), ("own", FunctionTransformer(feature_names_out="one-to-one"))]
    )
    pipe = make_pipeline(union.set_output(transform="pandas"), embedder()).fit(FRAME)
    assert pipe[-1].view_names_ == ("pca", "own")


def test_what_the_transformer_lets_by_is_a_view_of_its_own():
    pipe = make_pipeline(transformer(remainder="passthrough"), embedder(joint_view=False))
    pipe.set_output(transform="pandas").fit(FRAME)
    assert pipe[-1].view_names_ == ("rna", "protein", "remainder")
    assert pipe[-1].geometry_.schema.widths == (2, 2, 1)


def test_a_transformer_without_columns_makes_no_view():
    empty = ColumnTransformer(
        [
            ("rna", "passthrough", GENES),
            ("text", "passthrough", make_column_selector(dtype_include=object)),
            ("none", StandardScaler(), []),
            ("protein", "passthrough", PROTEINS),
            ("dropped", "drop", ["batch"]),
        ]
    )
    pipe = make_pipeline(empty, embedder()).set_output(transform="pandas").fit(FRAME)
    assert pipe[-1].view_names_ == ("rna", "protein")
    assert pipe.transform(FRAME[:4]).shape == (4, 2)


def test_an_array_without_names_says_to_set_the_output():
    with pytest.raises(ValueError, match=r'X has none; call set_output\(transform="pandas"\)'):
        make_pipeline(transformer(), embedder()).fit(FRAME)
    with pytest.raises(ValueError, match=r'call set_output\(transform="pandas"\)'):
        Views.from_columns(np.eye(3), FROM_NAMES)


@pytest.mark.parametrize("names", [GENES + PROTEINS, ["__gene1", "rna__a", "b__c", "d__e"]])
def test_names_without_a_transformer_are_refused(names):
    frame = FRAME[GENES + PROTEINS].set_axis(names, axis=1)
    with pytest.raises(ValueError, match=r"column '.*gene1' does not say .*verbose_feature_names_"):
        embedder().fit(frame)


def test_short_names_are_refused_with_the_parameter_to_leave_alone():
    short = transformer(verbose_feature_names_out=False).set_output(transform="pandas")
    with pytest.raises(ValueError, match=r"column 'gene1' .*verbose_feature_names_out=True"):
        make_pipeline(short, embedder()).fit(FRAME)


def test_several_views_have_no_columns_to_group():
    with pytest.raises(ValueError, match="X is several views already"):
        embedder().fit([FRAME[GENES].to_numpy(), FRAME[PROTEINS].to_numpy()])


def test_other_text_is_refused():
    with pytest.raises(ValueError, match="The 'views' parameter"):
        MultiViewDiffusionMaps(views="from_union").fit(FRAME)
    with pytest.raises(ValueError, match=r'"from_column_transformer", not \'ab\''):
        Views.from_columns(np.eye(3), "ab")


def test_a_new_array_needs_the_columns_of_the_fit():
    frame = transformer().set_output(transform="pandas").fit_transform(FRAME)
    est = embedder().fit(frame)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert_array_equal(est.transform(frame.to_numpy()), est.transform(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        est.transform(frame.rename(columns={"rna__gene1": "rna__gene9"}))
    views = {"protein": frame[["protein__protein1", "protein__protein2"]]}
    assert est.transform(views).shape == (60, 2)


def test_a_saved_model_groups_columns_by_their_names(tmp_path):
    frame = transformer().set_output(transform="pandas").fit_transform(FRAME)
    est = embedder().fit(frame)
    est.save(tmp_path / "m.viewhop")
    again = vh.load(tmp_path / "m.viewhop")
    assert again.views == FROM_NAMES
    assert_array_equal(again.transform(frame[:5]), est.transform(frame[:5]))


def test_a_grid_chooses_the_columns_of_a_view(tmp_path):
    pipe = make_pipeline(
        transformer(), embedder(memory=tmp_path), KNeighborsClassifier(3)
    ).set_output(transform="pandas")
    grid = {
        "columntransformer__rna": [StandardScaler(), "passthrough"],
        "multiviewdiffusionmaps__n_steps": [1, 2],
    }
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise")
    search.fit(FRAME, (0.9 * np.pi < ANGLE).astype(int))
    assert search.best_score_ > 0.9
