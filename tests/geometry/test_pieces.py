"""The coordinates of one piece of a walk, against the dense transition matrix of that piece."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop.geometry import add_pieces, piece_coordinates, piece_labels
from viewhop.kernels import Gaussian
from viewhop.walks import PieceWalk

pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")

CASES = {
    "weights": {},
    "paper": {"within_view_weight": 0.0},
    "both": {"within_view_weight": 0.3},
    "never hops": {"within_view_weight": 1.0},
    "dense": {"kernel": Gaussian(0.7)},
    "sum": {"fusion": "sum"},
    "product": {"fusion": "product"},
    "concat": {"fusion": "concat"},
    "alternating": {"fusion": "alternating"},
    "integrated": {"fusion": "integrated", "kernel": Gaussian(0.4)},
}


def groups(sizes=(18, 30, 24), distance=40.0, seed=0):
    """Two views of groups far apart, the largest of them in the middle."""
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(len(sizes)), sizes)
    centres = distance * np.eye(len(sizes), 3)
    first = centres[number] + rng.standard_normal((number.size, 3))
    second = centres[number] + rng.standard_normal((number.size, 3))
    return [first, second], number


def fit(views, **parameters):
    return vh.MultiViewDiffusionMaps(2, random_state=0, **parameters).fit(views)


def restricted(walk, nodes):
    """Eigenvalues and right eigenvectors of P̂ restricted to nodes, by LAPACK, largest first."""
    kernel = np.asarray(walk @ np.eye(walk.n_nodes))
    P = (kernel / kernel.sum(axis=1, keepdims=True))[np.ix_(nodes, nodes)]
    assert_allclose(P.sum(axis=1), 1.0, rtol=1e-10)  # no step leaves the piece
    degrees = kernel[nodes].sum(axis=1)
    root = np.sqrt(degrees / degrees.sum())
    values, vectors = np.linalg.eigh((P * root[:, None] / root + (P * root[:, None] / root).T) / 2)
    return values[::-1], (vectors / root[:, None])[:, ::-1], root**2


def assert_same_coordinates(found, values, vectors, weights, rtol=1e-6):
    """Coordinates ψ of the first pairs after the trivial one, compared by projector."""
    r = found.shape[1]
    gap = values[r] - values[r + 1]
    assert gap > 1e-4, "the oracle's subspace must be well determined"
    own, expected = (np.sqrt(weights)[:, None] * X for X in (found, vectors[:, 1 : r + 1]))
    assert_allclose(own @ own.T, expected @ expected.T, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("piece", [0, 1, 2])
def test_coordinates_of_a_piece_are_those_of_the_restricted_transition_matrix(name, piece):
    views, _ = groups()
    est = fit(views, **CASES[name])
    walk = est.walk_
    found = piece_coordinates(est, piece, n_components=2, n_steps=0.0)
    values, vectors, weights = restricted(walk, found.nodes)
    assert_allclose(found.eigenvalues, values[1:3], atol=1e-10)
    if walk.places_every_block:
        nodes = np.full((walk.n_nodes, 2), np.nan)
        nodes[found.nodes] = found.spectrum.eigenvectors
        assert_same_coordinates(nodes[found.nodes], values, vectors, weights)
        blocks = walk.blocks(nodes)
    else:
        blocks = np.split(found.spectrum.eigenvectors, 2)
    for block, own in zip(found.blocks, blocks, strict=False):
        is_in = np.isfinite(block[:, 0])
        assert_allclose(block[is_in], own[is_in] if len(own) == len(block) else own, atol=1e-8)


def test_pieces_are_numbered_from_the_largest():
    views, number = groups()
    est = fit(views)
    labels = piece_labels(est)
    assert_array_equal(labels, np.array([2, 0, 1])[number])
    for piece in range(3):
        assert_array_equal(piece_coordinates(est, piece).samples, np.flatnonzero(labels == piece))


def test_samples_outside_the_piece_have_no_coordinates():
    views, number = groups()
    for block in piece_coordinates(fit(views), 1).blocks:
        assert_array_equal(np.isfinite(block).all(axis=1), number == 2)


def test_a_connected_walk_is_its_own_piece():
    views, _ = groups(distance=0.0)
    est = fit(views)
    assert_array_equal(piece_labels(est), np.zeros(72))
    found = piece_coordinates(est, n_steps=0.0)
    assert_allclose(found.eigenvalues, est.eigenvalues_, atol=1e-10)
    for block, own in zip(found.blocks, est.geometry_.by_row(0.0), strict=True):
        assert_allclose(np.abs(block), np.abs(own), atol=1e-7)


def test_pieces_of_incomplete_views_hold_the_samples_that_a_view_observed():
    views, number = groups()
    views[0][::5] = np.nan
    est = fit(views, joint_view=False)
    found = piece_coordinates(est, 0, n_steps=0.0)
    assert_array_equal(found.samples, np.flatnonzero(number == 1))
    is_missing = np.isnan(views[0][:, 0])
    assert_array_equal(np.isfinite(found.blocks[0][:, 0]), (number == 1) & ~is_missing)
    assert_array_equal(np.isfinite(found.blocks[1][:, 0]), number == 1)
    values, vectors, weights = restricted(est.walk_, found.nodes)
    assert_allclose(found.eigenvalues, values[1:3], atol=1e-10)
    assert_same_coordinates(found.spectrum.eigenvectors, values, vectors, weights)


def test_time_scales_the_coordinates_of_a_piece():
    est = fit(groups()[0])
    early, late = (piece_coordinates(est, n_steps=t) for t in (0.0, 3.0))
    for block, later in zip(early.blocks, late.blocks, strict=True):
        assert_allclose(later, block * early.eigenvalues**3, rtol=1e-6, atol=1e-12)


def test_coordinates_inside_pieces_are_coordinates_of_the_whole_walk():
    est = fit(groups()[0])
    pieces = [piece_coordinates(est, k) for k in range(3)]
    larger = add_pieces(est.geometry_, pieces)
    spectrum, walk = larger.spectrum, est.walk_
    assert_allclose(spectrum.eigenvalues[:2], 1.0, atol=1e-12)
    gram = spectrum.eigenvectors.T @ (walk.stationary[:, None] * spectrum.eigenvectors)
    assert_allclose(gram, np.eye(8), atol=1e-8)
    stepped = np.asarray(walk @ spectrum.eigenvectors) / walk.degrees[:, None]
    assert_allclose(stepped, spectrum.eigenvectors * spectrum.eigenvalues, atol=1e-8)
    assert_allclose(spectrum.stepped, stepped, atol=1e-8)
    assert larger.embedding().shape == (72, 8)


def test_a_small_piece_has_fewer_coordinates():
    rows = np.r_[np.arange(4.0), 1e4 + np.arange(30.0)][:, None]
    est = vh.DiffusionMaps(6, kernel=Gaussian(2.0, n_neighbors=2)).fit(rows)
    assert piece_coordinates(est, 0).eigenvalues.size == 6
    assert piece_coordinates(est, 1).eigenvalues.size <= 3


def test_what_is_no_piece_is_refused():
    views, _ = groups()
    est = fit(views)
    for wrong in (3, -1, 0.5, "first"):
        with pytest.raises(ValueError, match=r"there is no piece .*; the walk has 3"):
            piece_coordinates(est, wrong)
    with pytest.raises(ValueError, match="n_components must be a positive integer"):
        piece_coordinates(est, n_components=0)
    desa = vh.DeSaEmbedding(2, kernel=Gaussian(5.0)).fit(views)
    with pytest.raises(ValueError, match="λ"):
        piece_coordinates(desa)
    alone = np.r_[np.arange(10.0), 1e6][:, None]
    single = vh.DiffusionMaps(1, kernel=Gaussian(1.0)).fit(alone)
    with pytest.raises(ValueError, match="piece 1 is a single node"):
        piece_coordinates(single, 1)


def test_a_piece_is_for_solving_only():
    walk = fit(groups()[0]).walk_
    piece = PieceWalk(walk, np.flatnonzero(walk.pieces() == 0))
    assert piece.names == walk.names
    with pytest.raises(TypeError, match="PieceWalk"):
        PieceWalk.build([], walk.rows, hops=None, n_jobs=1)
    with pytest.raises(TypeError, match="placed by the whole walk"):
        piece.against({})
    with pytest.raises(TypeError, match="placed by the whole walk"):
        piece.extension(None)


def test_single_precision_pieces_are_close_to_those_in_double():
    views, _ = groups()
    est = fit([view.astype(np.float32) for view in views])
    found, exact = piece_coordinates(est), piece_coordinates(fit(views))
    assert_allclose(found.eigenvalues, exact.eigenvalues, atol=1e-3)
