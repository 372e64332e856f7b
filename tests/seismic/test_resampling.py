"""Ratios of sampling rates."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viewhop.seismic._resampling import resampling_factors


@settings(deadline=None)
@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_ratio_of_small_integers_is_found(up, down):
    assert Fraction(*resampling_factors(float(down), float(up), n_samples=10**6)) == Fraction(
        up, down
    )


@settings(deadline=None)
@given(st.floats(0.01, 1e6), st.floats(0.01, 1e6), st.integers(1, 10**6))
def test_what_is_found_is_small_and_keeps_time(sampling_rate, rate, n_samples):
    try:
        up, down = resampling_factors(sampling_rate, rate, n_samples=n_samples)
    except ValueError:
        # A ratio is found within 1e-8 or so: only long traces, or wide ratios, can fail.
        small = min(rate / sampling_rate, sampling_rate / rate)
        assert n_samples > 0.1 * 1e4 * small or small < 1e-3
        return
    assert 1 <= min(up, down) <= max(up, down) <= 10_000
    assert abs(up * sampling_rate / (down * rate) - 1) * n_samples <= 0.11


@pytest.mark.parametrize("rates", [(500e3, 40.0), (40.0, 500e3), (40.00013, 40.0)])
def test_other_rates_are_refused_with_both(rates):
    with pytest.raises(ValueError, match=rf"from {rates[0]:.10g} to {rates[1]:g} Hz"):
        resampling_factors(*rates, n_samples=100_000)
    with pytest.raises(ValueError, match="resample the waveform first"):
        resampling_factors(1e9, 40.0, n_samples=1, drift=5.0)


def test_a_clock_may_be_off_by_a_share_of_a_sample():
    assert resampling_factors(100.002, 40.0, n_samples=5000, drift=0.5) == (2, 5)
    with pytest.raises(ValueError, match="resample the waveform first"):
        resampling_factors(100.002, 40.0, n_samples=50_000, drift=0.5)
