"""The synthetic sets, recomputed from the printed formulas."""

from math import cos, pi, sin

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

from viewhop.datasets import (
    make_circles,
    make_gapped_rolls,
    make_helices,
    make_mixtures,
    make_swiss_rolls,
)

RANDOM_SETS = [make_circles, make_swiss_rolls, make_mixtures, make_gapped_rolls]


def helix_a_points(angle: float) -> tuple[list[float], list[float]]:
    """Eqs. (56) and (57) at one angle each."""
    ring = [
        4 * cos(0.9 * angle) + 0.3 * cos(20 * angle),
        4 * sin(0.9 * angle) + 0.3 * sin(20 * angle),
    ]
    return (
        [*ring, 0.1 * (6.3 * angle**2 - angle**3)],
        [*ring, 0.1 * (6.3 * angle - angle**2)],
    )


def test_helix_a_follows_eqs_56_and_57_point_by_point():
    helices = make_helices("A", n_samples=41)
    for i in range(41):
        a = 2 * pi * i / 40
        b = a + pi / 2 if i < 30 else a - 3 * pi / 2
        assert_allclose(helices.views["x"][i], helix_a_points(a)[0], rtol=0, atol=1e-12)
        assert_allclose(helices.views["y"][i], helix_a_points(b)[1], rtol=0, atol=1e-12)


def test_helix_b_follows_eqs_58_and_59_point_by_point():
    helices = make_helices("B", n_samples=41)
    for i in range(41):
        a = 2 * pi * i / 40
        b = a + pi / 2 if i < 30 else a - 3 * pi / 2
        for name, c in (("x", a), ("y", b)):
            expected = [4 * cos(5 * c), 4 * sin(5 * c), 4 * c]
            assert_allclose(helices.views[name][i], expected, rtol=0, atol=1e-12)


def test_helix_angles_span_the_turn_a_quarter_apart():
    helices = make_helices()
    assert len(helices.views) == 1000
    assert_allclose([helices.a.min(), helices.a.max()], [0, 2 * pi], rtol=0, atol=1e-15)
    assert_allclose(np.diff(helices.a), 2 * pi / 999, rtol=0, atol=1e-12)
    assert helices.b.min() >= 0
    assert helices.b.max() < 2 * pi
    assert_allclose(np.exp(1j * (helices.b - helices.a)), 1j, rtol=0, atol=1e-12)


def test_circles_without_noise_follow_eqs_60_to_62():
    circles = make_circles(1600, noise=0)
    radius = np.repeat([2.0, 4.0], 800)
    angle = 4 * pi * np.arange(1600) / 1599
    z = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    upper, right = z[:, 1] >= 0, z[:, 0] >= 0
    assert_allclose(circles.theta, angle, rtol=0, atol=1e-12)
    # The ends of the angle lie on the seam, where rounding picks the side.
    inside = slice(1, -1)
    assert_allclose(circles.views["x"][inside, 0], (z[:, 0] + upper)[inside], atol=1e-12)
    assert_allclose(circles.views["x"][:, 1], z[:, 1], atol=1e-12)
    assert_allclose(circles.views["y"][:, 0], z[:, 0], atol=1e-12)
    assert_allclose(circles.views["y"][inside, 1], (z[:, 1] + right)[inside], atol=1e-12)
    assert_array_equal(circles.target, np.repeat([0, 1], 800))


def test_circle_noise_is_a_standard_deviation_and_independent_in_each_coordinate():
    noisy = make_circles(20_000, noise=0.3, random_state=0)
    clean = make_circles(20_000, noise=0)
    noise = np.hstack([noisy.views[name] - clean.views[name] for name in "xy"])
    assert_allclose(np.cov(noise.T), 0.09 * np.eye(4), rtol=0, atol=0.004)
    # Eq. (61) draws its first coordinate from another variable on either side.
    six = 0.3 * np.random.default_rng(0).standard_normal((6, 20_000))
    upper = clean.views["x"][:, 1] >= 0
    assert_allclose(noise[:, 0], np.where(upper, six[1], six[2]), rtol=0, atol=1e-12)
    assert_allclose(noise[:, 1:], six[[0, 3, 5]].T, rtol=0, atol=1e-12)


def test_swiss_roll_lies_on_eq_53():
    rolls = make_swiss_rolls(500, random_state=3)
    x1, x2, x3 = rolls.views["x"].T
    theta = pi * np.linspace(1.5, 4.5, 500)
    assert_allclose(x1, 6 * theta * np.cos(theta), rtol=0, atol=1e-12)
    assert_allclose(x3, 6 * theta * np.sin(theta), rtol=0, atol=1e-12)
    assert_allclose(x2, rolls.height, rtol=0, atol=0)
    assert 0 <= rolls.height.min() < 5
    assert 95 < rolls.height.max() <= 100


def test_swiss_rolls_without_noise_are_related_by_an_orthonormal_matrix():
    rolls = make_swiss_rolls(300, random_state=1)
    rotation = np.linalg.lstsq(rolls.views["x"], rolls.views["y"], rcond=None)[0].T
    assert_allclose(rotation @ rotation.T, np.eye(3), rtol=0, atol=1e-12)
    assert_allclose(rotation, rolls.rotation, rtol=0, atol=1e-12)
    distances = [cdist(rolls.views[name], rolls.views[name]) for name in "xy"]
    assert_allclose(*distances, rtol=0, atol=1e-11)


def test_rotation_is_gram_schmidt_of_a_gaussian():
    rng = np.random.default_rng(4)
    rng.uniform(0, 100, 50)
    columns = []
    for vector in rng.standard_normal((3, 3)).T:
        rest = vector - sum((vector @ column) * column for column in columns)
        columns.append(rest / np.linalg.norm(rest))
    rotation = make_swiss_rolls(50, random_state=4).rotation
    assert_allclose(rotation, np.column_stack(columns), rtol=0, atol=1e-12)


def test_swiss_roll_noise_is_independent_between_views_on_the_same_roll():
    clean = make_swiss_rolls(20_000, random_state=0)
    noisy = make_swiss_rolls(20_000, noise=2.0, random_state=0)
    noise = np.hstack([noisy.views[name] - clean.views[name] for name in "xy"])
    assert_allclose(np.cov(noise.T), 4 * np.eye(6), rtol=0, atol=0.2)


@pytest.mark.parametrize("clusters", [(6, 6), (6, 3), (2, 5)])
def test_mixtures_have_equal_clusters_around_shared_centres(clusters):
    mixtures = make_mixtures(60_000, clusters=clusters, random_state=0)
    for target, name, count in zip(
        (mixtures.target, mixtures.target_y), ("x", "y"), clusters, strict=True
    ):
        assert_array_equal(target, np.arange(60_000) * count // 60_000)
        for j in range(count):
            points = mixtures.views[name][target == j]
            assert_allclose(points.mean(axis=0), mixtures.centers[j], rtol=0, atol=0.08)
            assert_allclose(np.cov(points.T), 2 * np.eye(9), rtol=0, atol=0.15)


def test_mixture_centres_have_variance_eight():
    centers = make_mixtures(8000, clusters=(4000, 1), random_state=0).centers
    assert_allclose(np.cov(centers.T), 8 * np.eye(9), rtol=0, atol=0.8)


def test_three_cluster_view_keeps_the_first_centres_and_the_first_view():
    six, three = (make_mixtures(clusters=(6, k), random_state=5) for k in (6, 3))
    assert_array_equal(six.centers, three.centers)
    assert_array_equal(six.views["x"], three.views["x"])
    assert_array_equal(np.bincount(three.target_y), [200, 200, 200])
    for j in range(3):
        mean = three.views["y"][three.target_y == j].mean(axis=0)
        assert_allclose(mean, six.centers[j], rtol=0, atol=0.5)


def test_views_of_a_mixture_are_drawn_separately():
    mixtures = make_mixtures(60_000, random_state=0)
    x, y = (mixtures.views[name] - mixtures.centers[mixtures.target] for name in "xy")
    assert_allclose(x.T @ y / 60_000, np.zeros((9, 9)), rtol=0, atol=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_each_gapped_roll_is_torn_in_two_but_both_together_are_not(seed):
    rolls = make_gapped_rolls(random_state=seed)
    graphs = [kneighbors_graph(rolls.views[name], 10) for name in "xy"]
    for graph, piece in zip(graphs, rolls.pieces.T, strict=True):
        count, component = connected_components(graph, directed=False)
        assert count == 2
        assert_array_equal(component == component[0], piece == piece[0])
    assert connected_components(graphs[0] + graphs[1], directed=False)[0] == 1


@pytest.mark.parametrize("gap", [5.0, 30.0, 80.0])
def test_nothing_lies_closer_than_the_gap_across_a_tear(gap):
    rolls = make_gapped_rolls(400, gap=gap, random_state=0)
    for name, piece in zip("xy", rolls.pieces.T, strict=True):
        view = rolls.views[name]
        radius = np.hypot(view[:, 0], view[:, 2])
        assert cdist(view[piece == 0], view[piece == 1]).min() > gap
        steps = np.diff(radius)
        assert np.argmax(steps) == np.flatnonzero(np.diff(piece))[0]
        assert_allclose(steps.max(), gap + 6 * 3 * pi / 399, rtol=0, atol=1e-9)
        assert_allclose(view[:, 1], rolls.height, rtol=0, atol=0)


def test_gaps_lie_at_different_places():
    rolls = make_gapped_rolls(random_state=0)
    tears = [rolls.theta[piece == 1].min() / pi for piece in rolls.pieces.T]
    assert_allclose(tears, [2.5, 3.5], rtol=0, atol=0.003)


def test_gapped_rolls_without_a_gap_are_the_same_roll():
    rolls = make_gapped_rolls(100, gap=0, random_state=0)
    assert_array_equal(rolls.views["x"], rolls.views["y"])


@pytest.mark.parametrize("make", RANDOM_SETS)
def test_same_seed_gives_the_same_bits_and_another_seed_does_not(make):
    first = make(random_state=7)
    again = make(random_state=7)
    generator = make(random_state=np.random.default_rng(7))
    other = make(random_state=8)
    for name in "xy":
        assert_array_equal(first.views[name], again.views[name])
        assert_array_equal(first.views[name], generator.views[name])
        assert np.abs(first.views[name] - other.views[name]).max() > 0.01


@pytest.mark.parametrize("make", RANDOM_SETS)
def test_a_generator_moves_on_between_calls(make):
    rng = np.random.default_rng(7)
    first, second = make(random_state=rng), make(random_state=rng)
    assert np.abs(first.views["x"] - second.views["x"]).max() > 0.01


@pytest.mark.parametrize("make", [make_helices, *RANDOM_SETS])
def test_every_set_says_what_it_is(make):
    data = make(n_samples=60)
    assert data.views.names == ("x", "y")
    assert len(data.views) == 60
    assert data.DESCR.endswith(".")


@pytest.mark.parametrize("make", [make_helices, *RANDOM_SETS])
@pytest.mark.parametrize("n_samples", [1, 0, -5, 10.5, "many", True])
def test_bad_sample_counts_are_refused(make, n_samples):
    with pytest.raises(ValueError, match=r"n_samples must be a whole number of at least 2"):
        make(n_samples=n_samples)


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "loud"])
def test_bad_noise_and_gap_are_refused(value):
    with pytest.raises(ValueError, match="noise must be a finite number"):
        make_circles(noise=value)
    with pytest.raises(ValueError, match="noise must be a finite number"):
        make_swiss_rolls(noise=value)
    with pytest.raises(ValueError, match="gap must be a finite number"):
        make_gapped_rolls(gap=value)


def test_unknown_helix_is_refused():
    with pytest.raises(ValueError, match="kind must be 'A' or 'B', got 'C'"):
        make_helices("C")


def test_bad_clusters_are_refused():
    with pytest.raises(ValueError, match="one per view"):
        make_mixtures(clusters=(6, 6, 6))
    with pytest.raises(ValueError, match="clusters must be a whole number"):
        make_mixtures(clusters=(6, 0))
    with pytest.raises(ValueError, match="multiple of both numbers of clusters"):
        make_mixtures(601)
