"""The method by dense brute force: slow, literal, and independent of the library's own code.

Every matrix is formed, every rule is a loop or one line of numpy, and nothing is imported from
``viewhop`` but the kernel objects that say which rule is meant.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

#: Relative difference that rounding may leave.
ROUNDING = 1e-13


def features(kernel, X, training=None):
    """Rows of X (float64) in the space where the kernel's distance is a norm of a difference."""
    X = np.asarray(X, dtype=np.float64)
    known = np.asarray(X if training is None else training, dtype=np.float64)
    if kernel.metric == "centered-cosine":
        X = X - known.mean(axis=0)
    if kernel.standardize:
        deviation = known.std(axis=0)
        X = X / np.where(deviation > ROUNDING * np.abs(known).max(axis=0), deviation, 1.0)
    if kernel.metric == "correlation":
        X = X - X.mean(axis=1, keepdims=True)
    if kernel.metric not in ("euclidean", "manhattan"):
        length = np.linalg.norm(X, axis=1, keepdims=True)
        # A row without a direction stays at the origin.
        X = X / np.where(length > ROUNDING * np.abs(known).max(), length, np.inf) / np.sqrt(2)
    return X


def distances(A, B, norm="euclidean"):
    """Distances of all pairs of rows, each from its own difference."""
    if norm == "manhattan":
        return np.array([[np.abs(a - b).sum() for b in B] for a in A])
    return np.array([[np.sqrt(((a - b) ** 2).sum()) for b in B] for a in A])


def rank(row, k):
    """The (k+1)-th smallest distance; where that is 0, the smallest positive one."""
    value = np.sort(row)[min(k, row.size - 1)]
    return value if value > 0 else row[row > 0].min()


class View:
    """One view's kernel on its training samples, with the rows of new ones."""

    def __init__(self, kernel, X, sigma=None):
        self.kernel = kernel
        self.X = np.asarray(X, dtype=np.float64)
        self.k = kernel.n_neighbors
        if isinstance(kernel, Precomputed):
            self.tau = np.array(
                [np.sort(row)[::-1][min(self.k or 0, len(row) - 1)] for row in self.X]
            )
        else:
            self.F = features(kernel, X)
            self.D = self._distances(self.F)
            self.sigma = self._sigma(sigma)
            self.edges = [self._edge(row) for row in self.D]
        self.q = np.ones(len(self.X))
        raw = self._raw(self.X)
        self.q = raw.sum(axis=1)
        self.K = raw / (self.q[:, None] * self.q) ** kernel.alpha

    def _distances(self, F):
        D = distances(F, self.F, self.kernel.metric)
        if self.kernel.metric not in ("euclidean", "manhattan"):
            D[D <= 1e-13] = 0.0  # rows of one direction differ by rounding
        return D

    @property
    def k_scale(self):
        if self.kernel.scale_neighbors is not None:
            return self.kernel.scale_neighbors
        return 7 if self.k is None else max(2, self.k // 2)

    def _edge(self, row):
        """The distances up to which the kernel is whole, and from which it is 0."""
        if self.k is None:
            return np.inf, np.inf
        if not self.kernel.taper:
            return (rank(row, self.k),) * 2
        return rank(row, max(1, self.k - round(self.kernel.taper * self.k))), rank(row, self.k + 1)

    @staticmethod
    def _weight(d, edge):
        inner, outer = edge
        if outer <= (1 + 1e-6) * inner or np.isinf(outer):
            return float(d <= (1 + ROUNDING) * outer)
        return float(np.clip((outer - d) / (outer - inner), 0, 1))

    def _sigma(self, sigma):
        root = np.sqrt(self.kernel.factor)
        rule = self.kernel.bandwidth
        if rule == "max-min":
            return root * max(row[row > 0].min() for row in self.D)
        if rule == "local":
            return root * np.array([rank(row, self.k_scale) for row in self.D])
        if rule == "log-log":
            return sigma
        return root * rule

    def _raw(self, X):
        """Kernel values of rows X against the training samples, before density."""
        if isinstance(self.kernel, Precomputed):
            if self.k is None:
                return np.array(X)
            tau = [np.sort(row)[::-1][min(self.k, len(row) - 1)] for row in X]
            return np.where(np.minimum.outer(tau, self.tau) <= X, X, 0.0)
        D = self._distances(features(self.kernel, X, self.X))
        scale = self.sigma
        if self.kernel.bandwidth == "local":
            own = np.sqrt(self.kernel.factor) * np.array([rank(row, self.k_scale) for row in D])
            scale = np.sqrt(np.outer(own, self.sigma))
        if isinstance(self.kernel, Laplacian):
            values = np.exp(-D / scale)
        else:
            assert isinstance(self.kernel, Gaussian | Correlation)
            values = np.exp(-(D**2) / (2 * scale**2))
        if self.k is not None:
            for i, row in enumerate(D):
                own = self._edge(row)
                for j, d in enumerate(row):
                    values[i, j] *= max(self._weight(d, own), self._weight(d, self.edges[j]))
        return values

    def rows(self, X):
        """Kernel values of new rows, density normalised."""
        raw = self._raw(np.asarray(X, dtype=np.float64))
        return raw / (raw.sum(axis=1)[:, None] * self.q) ** self.kernel.alpha


class SideBySide:
    """One Gaussian of all views side by side, for kernels that are alike."""

    def __init__(self, kernels, arrays, scales=None):
        scales = [None] * len(arrays) if scales is None else scales
        self.views = [View(*of) for of in zip(kernels, arrays, scales, strict=True)]
        first = kernels[0]
        is_local = first.bandwidth == "local"
        self.spreads = [1.0] * len(arrays)
        if is_local:
            means = [view.F.mean(axis=0) for view in self.views]
            self.spreads = [
                np.sqrt(np.mean([((row - mean) ** 2).sum() for row in view.F]))
                for view, mean in zip(self.views, means, strict=True)
            ]
        self.sigma = None if is_local else np.sqrt(sum(view.sigma**2 for view in self.views))
        kernel = Gaussian(
            "local" if is_local else self.sigma,
            factor=first.factor if is_local else 1.0,
            n_neighbors=first.n_neighbors,
            alpha=first.alpha,
            scale_neighbors=first.scale_neighbors,
            taper=first.taper,
        )
        self.view = View(kernel, self._join(arrays))
        self.K = self.view.K

    def _join(self, arrays):
        return np.hstack(
            [
                features(view.kernel, X, view.X) / spread
                for view, X, spread in zip(self.views, arrays, self.spreads, strict=True)
            ]
        )

    def rows(self, arrays):
        """Kernel values of new samples, density normalised."""
        return self.view.rows(self._join(arrays))


def hop_matrix(n_views, eta):
    """H of Eq. (49)."""
    if n_views == 1:
        return np.ones((1, 1))
    return np.where(np.eye(n_views, dtype=bool), eta, 1 - eta)


def hop_kernel(kernels, H):
    """The multi-view kernel, block by block: Eqs. (13) and (49)."""
    return np.block(
        [[H[l, m] * (K @ M) for m, M in enumerate(kernels)] for l, K in enumerate(kernels)]
    )


def transitions(K):
    """P of a kernel, each row divided by its sum."""
    return K / K.sum(axis=1, keepdims=True)


def integrated(kernels, steps):
    """P_1^{t_1} P_2^{t_2} …, one step after the other."""
    P = np.eye(len(kernels[0]))
    for K, t in zip(kernels, steps, strict=True):
        for _ in range(t):
            P = P @ transitions(K)
    return P


def composite(K, M):
    """P_1 P_2ᵀ + P_2 P_1ᵀ, entry by entry."""
    P, Q = transitions(K), transitions(M)
    return np.array([[p @ Q[j] + Q[i] @ P[j] for j in range(len(P))] for i, p in enumerate(P)])


def entropy(K, n_steps, leading=50):
    """Entropy of the leading positive eigenvalues of P to the power t."""
    values = np.sort(np.linalg.eigvals(transitions(K)).real)[::-1][:leading]
    powers = [value**n_steps for value in values if value > 1e-13]
    total = sum(powers)
    return -sum(p / total * np.log(p / total) for p in powers if p > 0)


def knee(K, most=100):
    """The number of steps at which the entropy lies farthest below the line between its ends."""
    curve = [entropy(K, t) for t in range(1, most + 1)]
    for end, value in enumerate(curve):
        if value <= curve[0] / 10:
            curve = curve[: max(2, end + 1)]
            break
    last = len(curve) - 1
    gaps = [curve[0] + (curve[-1] - curve[0]) * k / last - value for k, value in enumerate(curve)]
    best = int(np.argmax(gaps))
    return best + 1 if gaps[best] > 1e-12 else 1


class Chain:
    """The random walk of a symmetric kernel, with all its eigenpairs."""

    def __init__(self, K):
        self.K = K
        self.D = K.sum(axis=1)
        self.P = K / self.D[:, None]
        self.pi = self.D / self.D.sum()
        root = np.sqrt(self.D)
        self.A = K / np.outer(root, root)
        values, vectors = np.linalg.eigh((self.A + self.A.T) / 2)
        # λ_0 = 1 with ψ_0 = 1 is set; the others span its complement.
        trivial = np.sqrt(self.pi)
        rest = self.A - np.outer(trivial, trivial)
        values, vectors = np.linalg.eigh((rest + rest.T) / 2)
        zero = np.argmax(np.abs(trivial @ vectors))
        values, vectors = np.delete(values, zero), np.delete(vectors, zero, axis=1)
        order = np.argsort(-values)
        self.eigenvalues = values[order]
        self.unit = vectors[:, order]
        self.psi = self.unit / np.sqrt(self.pi)[:, None]

    def n_pieces(self):
        return connected_components(self.K > 0, directed=False)[0]

    def distance(self, i, j, t):
        """Eq. (17) with weight 1/π."""
        Pt = np.linalg.matrix_power(self.P, t)
        return np.sqrt((((Pt[i] - Pt[j]) ** 2) / self.pi).sum())


def pieces(K):
    """Number of the connected piece of each node of a kernel matrix."""
    return connected_components(K > 0, directed=False)[1]


def assert_same_space(found, expected, values, r, *, atol, gap=1e-6):
    """The first r columns of both span the same eigenspaces, compared by projector.

    `values` are all eigenvalues in order; a group of equal ones that r cuts through is left out.
    """
    ends = [k + 1 for k in range(len(values) - 1) if values[k] - values[k + 1] > gap]
    whole = [end for end in ends if end <= r]
    start = 0
    for end in whole:
        F, E = found[:, start:end], expected[:, start:end]
        np.testing.assert_allclose(F @ F.T, E @ E.T, atol=atol, rtol=0)
        start = end
    return start
