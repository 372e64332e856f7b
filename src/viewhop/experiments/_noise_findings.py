"""Findings on the claims of Section 5.9, by the rules of the list of claims."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding, measure_lead
from viewhop.experiments._noise_measures import ProductCheck

__all__ = ["judge_bias", "judge_curves", "judge_product"]

Floats = NDArray[np.float64]


def judge_bias(slopes: Floats) -> Finding:
    """Finding on the linear model: one view's error stays, that between views falls.

    It holds if the mean exponent of the number of samples is above −0.1 for one view and within
    0.1 of −0.5 between views.

    Parameters
    ----------
    slopes : (n_trials, 2) array
        Exponents of both errors in each trial.
    """
    means, spread = slopes.mean(axis=0), slopes.std(axis=0, ddof=1)
    verdict = HOLDS if means[0] > -0.1 and abs(means[1] + 0.5) < 0.1 else FAILS
    return Finding(
        "noise-bias-linear",
        verdict,
        "Error of the covariance against the number of samples, exponent: "
        f"{means[0]:.2f} ± {spread[0]:.2f} for one view, {means[1]:.2f} ± {spread[1]:.2f} between "
        f"views (theory 0 and −0.5; {len(slopes)} draws).",
    )


def judge_curves(
    noises: Sequence[float], by_noise: Floats, sizes: Sequence[int], by_size: Floats
) -> Finding:
    """Finding on the curves: whether the walk between views cancels the noise of each.

    It holds if the error is smaller than that of one view at every noise, by more than twice the
    standard error of the paired difference; if at some noises, these are the condition.

    Parameters
    ----------
    noises : list of float
    by_noise : (n_trials, n_noises, 2) array
        Errors of one view and of both, max-min scale.
    sizes : list of int
    by_size : (n_trials, n_sizes, 2) array
        The same at σ_n = 1.
    """
    leads = [measure_lead(one, two) for one, two in by_noise.transpose(1, 2, 0)]
    ahead = [s for s, lead in zip(noises, leads, strict=True) if lead.sign > 0]
    remaining = np.median(by_size[:, :, 1], axis=0)
    at = int(np.argmin(np.abs(np.asarray(noises) - 1.0)))
    one, two = by_noise[:, at].T
    evidence = (
        f"Error of the first coordinate of a curve, max-min scale: smaller than with one view at "
        f"{len(ahead)} of {len(noises)} noises; at σ_n = {noises[at]:g} {two.mean():.3f} ± "
        f"{two.std(ddof=1):.3f} against {one.mean():.3f} ± {one.std(ddof=1):.3f} "
        f"({len(one)} draws). From {sizes[0]} to {sizes[-1]} samples its "
        f"median goes from {remaining[0]:.3f} to {remaining[-1]:.3f}. Gaussian kernels do not meet "
        "conditions 4 and 5."
    )
    if len(ahead) == len(noises):
        return Finding("noise-bias-kernel", HOLDS, evidence)
    if not ahead:
        return Finding("noise-bias-kernel", FAILS, evidence)
    condition = f"σ_n of {', '.join(f'{s:g}' for s in ahead)}"
    return Finding("noise-bias-kernel", CONDITIONAL, evidence, condition)


def judge_product(products: Sequence[ProductCheck]) -> Finding:
    """Finding on the sentence that an SVD of K^z is CCA in the feature spaces.

    It holds if, in every draw, singular vectors satisfy Eq. (52) and the correlation along them is
    that of kernel CCA, both within 1e-6.

    Parameters
    ----------
    products : list of ProductCheck
    """
    values = np.array(products)
    worst = values[:, 1].max()
    short = (values[:, 3] - values[:, 2]).max()
    mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1)
    return Finding(
        "kernel-cca",
        HOLDS if worst < 1e-6 and short < 1e-6 else FAILS,
        f"Relative residual of Eq. (52): {mean[1]:.2f} ± {spread[1]:.2f} for the first singular "
        f"vector, {values[:, 0].max():.0e} at most for the eigenvector. Correlation of the views "
        f"along it {mean[2]:.3f} ± {spread[2]:.3f}, by kernel CCA {mean[3]:.3f} ± {spread[3]:.3f} "
        f"({len(values)} draws of the curves, σ_n = 1): covariance is maximised (erratum 15).",
    )
