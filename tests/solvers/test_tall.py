"""Algebra of tall matrices, chunk by chunk, against NumPy on the whole."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop.solvers import _tall as tall
from viewhop.solvers._tall import Tall

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def chunks(request, monkeypatch):
    monkeypatch.setattr(tall, "ROWS", 7)
    monkeypatch.setattr(tall, "FEW", 20)
    return Tall(50, request.param)


def columns(width, dtype, order="C", seed=0):
    rng = np.random.default_rng(seed)
    return np.asarray(rng.standard_normal((50, width)), dtype=dtype, order=order)


def test_few_rows_are_one_chunk(monkeypatch):
    assert Tall(0, 2).chunks == []
    assert Tall(100, 2).chunks == [slice(0, 100)]
    monkeypatch.setattr(tall, "ROWS", 30)
    monkeypatch.setattr(tall, "FEW", 60)
    assert Tall(70, 2).chunks == [slice(0, 30), slice(30, 60), slice(60, 70)]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_operations_are_those_of_the_whole(chunks, dtype, order):
    atol = TOLERANCE[dtype]
    A, B = columns(6, dtype, order), columns(4, dtype, seed=1)
    C = np.random.default_rng(2).standard_normal((6, 3))
    assert chunks.inner(A, B).dtype == np.float64
    assert_allclose(chunks.inner(A, B), A.T @ B, atol=10 * atol)
    assert chunks.product(A, C).dtype == dtype
    assert_allclose(chunks.product(A, C), A @ C, atol=atol)
    Q = np.linalg.qr(A.astype(np.float64))[0].astype(dtype)
    rest = chunks.without(B, Q)
    assert_allclose(Q.T @ rest, 0, atol=atol)
    assert_allclose(rest, B - Q @ (Q.T @ B), atol=atol)
    values = np.array([0.9, 0.5, -0.2])
    AQ = columns(6, dtype, order, seed=3)
    residual, sizes = chunks.residuals(AQ, A, C, values)
    assert_allclose(residual, AQ @ C - A @ C * values, atol=10 * atol)
    assert_allclose(sizes, np.linalg.norm(residual, axis=0), rtol=1e-5)
    turned = A.copy(order=order)
    chunks.turn(turned, C)
    assert_allclose(turned[:, :3], A @ C, atol=atol)
    assert_allclose(turned[:, 3:], A[:, 3:], atol=0)


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e5, 1e12])
def test_an_orthonormal_basis_is_one_for_any_columns(condition):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40_000, 6)) * np.geomspace(1, 1e-6, 6)  # lengths do not matter
    A[:, 5] = A[:, 0] + A[:, 5] / np.abs(A[:, 5]).max() / condition
    Q, R = Tall(len(A), 2).orthonormal(A)
    assert_allclose(Q.T @ Q, np.eye(6), atol=1e-13)
    assert_allclose(Q @ R, A, atol=1e-13)
    assert_allclose(R, np.triu(R), atol=0)


def test_an_orthonormal_basis_of_a_zero_column_is_orthonormal():
    A = np.zeros((100, 2))
    A[:, 0] = 1.0
    Q, R = Tall(100, 1).orthonormal(A)
    assert_allclose(Q.T @ Q, np.eye(2), atol=1e-14)
    assert_allclose(Q @ R, A, atol=1e-14)
