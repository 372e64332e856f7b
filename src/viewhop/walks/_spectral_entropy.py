"""The spectral entropy of a walk, and the number of steps at its knee."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["MOST_STEPS", "entropy_knee", "spectral_entropy"]

Floats = NDArray[np.float64]

#: The largest number of steps that is considered.
MOST_STEPS = 100
#: Share of the entropy after one step at which the curve ends, if it falls so far: the flat rest,
#: which may be any length, would move the knee.
REST = 0.1


def spectral_entropy(eigenvalues: ArrayLike, n_steps: ArrayLike) -> Floats:
    """The entropy of the spectrum of a walk after some numbers of steps, in nats.

    Parameters
    ----------
    eigenvalues : (m,) array
        λ_0, λ_1, …; those that are not positive do not count.
    n_steps : (q,) array
        t.

    Returns
    -------
    entropy : (q,) array
        −Σ p log p with p = λ^t / Σ λ^t: the logarithm of the number of directions left, if these
        were equally strong.

    Examples
    --------
    >>> from viewhop.walks import spectral_entropy
    >>> spectral_entropy([1.0, 0.5, 0.5], [0, 1, 2, 8]).round(3).tolist()
    [1.099, 1.04, 0.868, 0.051]
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    logs = np.log(values[values > 0])[:, None] * np.asarray(n_steps, dtype=np.float64)
    logs -= logs.max(axis=0)
    powers = np.exp(logs)
    total = powers.sum(axis=0)
    return np.asarray(np.log(total) - (powers * logs).sum(axis=0) / total)


def entropy_knee(eigenvalues: ArrayLike, *, most: int = MOST_STEPS) -> int:
    """The number of steps at the knee of the spectral entropy.

    Parameters
    ----------
    eigenvalues : (m,) array
        The leading eigenvalues of a walk, the trivial 1 included.
    most : int
        The largest number of steps to consider.

    Notes
    -----
    The whole number t at which the curve lies farthest below the chord between its ends; 1 if it
    does not lie below it. The curve begins at t = 1 and ends at `most`, or where a tenth of the
    entropy at its beginning is left. Up to the knee steps remove many weak directions, which are
    mostly noise; beyond it they slowly remove those that are left.

    Examples
    --------
    >>> from viewhop.walks import entropy_knee
    >>> entropy_knee([1.0, 0.99, 0.98, 0.5, 0.5, 0.5, 0.4, 0.4])
    9
    >>> entropy_knee([1.0, 1.0])
    1
    """
    steps = np.arange(1, most + 1)
    entropy = spectral_entropy(eigenvalues, steps)
    fallen = np.flatnonzero(entropy <= REST * entropy[0])
    entropy = entropy[: max(2, fallen[0] + 1)] if fallen.size else entropy
    chord = np.linspace(entropy[0], entropy[-1], entropy.size)
    below = chord - entropy
    # Where the entropy does not change, its rounding decides nothing.
    below[below < 1e-12] = 0.0
    return int(steps[np.argmax(below)])
