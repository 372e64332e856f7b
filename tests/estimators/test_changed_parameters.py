"""Parameters that were changed after the fit, and saving."""

from __future__ import annotations

import numpy as np
import pytest

import viewhop as vh
from viewhop.errors import ModelFileError
from viewhop.kernels import Gaussian


@pytest.mark.parametrize("kernel", [Gaussian(metric="x"), Gaussian(-1.0), {"view1": Gaussian("x")}])
def test_saving_an_invalid_kernel_is_a_model_file_error_that_keeps_the_file(tmp_path, kernel):
    path = tmp_path / "m.viewhop"
    X = np.random.default_rng(0).standard_normal((20, 3))
    est = vh.DiffusionMaps(random_state=0).fit(X)
    est.save(path)
    content = path.read_bytes()
    with pytest.raises(ModelFileError, match="the parameters were changed after the fit"):
        est.set_params(kernel=kernel).save(path)
    assert path.read_bytes() == content
