"""The comparison with weighted nearest neighbours: a small run, and its page."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import citeseq
from benchmarks.citeseq import METHODS, Row, write_page
from click.testing import CliRunner


def test_the_page_has_the_means_of_every_method():
    rows = [
        Row("viewhop", 1.0, 0.1, 0.5, 0.75, 10, 0.9),
        Row("WNN (muon)", 40.0, 30.0, 0.25, 0.5, 8, 0.8),
        Row("viewhop", 2.0, 0.3, 1.0, 1.0, 12, 1.0),
    ]
    page = write_page(rows, citeseq.SIZE, "Python 3")
    assert "| viewhop | 1.5 | 0.2 | 0.750 | 11 | 0.875 | 0.950 |" in page
    assert "| WNN (muon) | 40.0 | 30.0 | 0.250 | 8 | 0.500 | 0.800 |" in page
    assert "means over 2 draws" in page


def test_only_the_full_size_is_recorded():
    done = CliRunner().invoke(citeseq.main, ["--small", "--record"])
    assert done.exit_code == 2
    assert "remove --small" in done.output


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_small_run_scores_every_method(monkeypatch):
    pytest.importorskip("muon", reason="make test-omics installs it")
    pytest.importorskip("scanpy", reason="make test-omics installs it")
    monkeypatch.setattr(citeseq, "RESOLUTIONS", (0.5, 1.0))
    rows = [*citeseq.compare(citeseq.SMALL, (1,), is_compiled=True)]
    assert [row.method for row in rows] == [*METHODS]
    for row in rows:
        assert row.seconds > 0
        assert 0 <= row.types <= row.best <= 1
        assert row.n_clusters >= 2
        assert -1 <= row.pseudotime <= 1
    ours, wnn = (next(row for row in rows if row.method == n) for n in ("viewhop", "WNN (muon)"))
    assert ours.best > max(row.best for row in rows if "alone" in row.method) - 0.05
    assert np.isfinite([ours.types, wnn.types]).all()
