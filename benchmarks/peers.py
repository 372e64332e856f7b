"""Diffusion maps of one view: pyDiffMap and datafold beside this library.

Each peer has its own virtual environment in the folder of the results, so that its dependencies do
not conflict with others.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks import foreign
from benchmarks.apart import ApartError, apart, first_line
from benchmarks.data import cube_views
from benchmarks.fits import measure_fit
from benchmarks.row import Row, ratio

TITLE = "Peers: diffusion maps of one view of a cube"
FULL: dict[str, Any] = {"n_samples": 5000, "peers": ["pydiffmap", "datafold"], "limit": 300.0}
SMALL: dict[str, Any] = {"n_samples": 600, "peers": [], "limit": 60.0}

R = 10
NEIGHBOURS = 64  # pyDiffMap's default


def ours(data: str, sigma: float | None) -> dict[str, Any]:
    """The library on all pairs at a given scale, or on neighbours with local scales."""
    if sigma is None:
        kernel = vh.kernels.Gaussian(bandwidth="local", n_neighbors=NEIGHBOURS)
    else:
        kernel = vh.kernels.Gaussian(bandwidth=sigma)
    est = vh.DiffusionMaps(R, kernel=kernel, random_state=0)
    return measure_fit(est, [np.load(data)]) | {"eigenvalues": est.eigenvalues_.tolist()}


def view(data: str, n_samples: int) -> dict[str, Any]:
    """One view of the cube in float64, written to a file, and a scale for it."""
    X = cube_views(n_samples, 1)[0].astype(np.float64)
    np.save(data, X)
    return {"sigma": float(vh.bandwidth.max_min(X, 0.1))}


def run(*, n_samples: int, peers: list[str], limit: float) -> Iterator[Row]:
    """The library and each peer, all pairs and then neighbours."""
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder, "view.npy"))
        sigma = apart(view, {"data": data, "n_samples": n_samples})["sigma"]
        dense = {"data": data, "sigma": sigma}
        sparse = {"data": data, "sigma": None}
        yield from _pair("all pairs", n_samples, dense, "datafold", peers, limit)
        yield from _pair(f"{NEIGHBOURS} neighbours", n_samples, sparse, "pydiffmap", peers, limit)


def _pair(
    kernel: str,
    n_samples: int,
    order: dict[str, Any],
    peer: str,
    peers: list[str],
    limit: float,
) -> Iterator[Row]:
    """The library with one kernel, and the peer that has the same kernel."""
    fit = apart(ours, order)
    name = f"viewhop, {kernel}, M = {n_samples:,}, r = {R}"
    yield Row(name, fit["seconds"], peak=fit["peak"], at_import=fit["at_import"])
    if peer not in peers:
        return
    asked = {"data": order["data"], "r": R}
    asked |= {"k": NEIGHBOURS} if order["sigma"] is None else {"sigma": order["sigma"]}
    work = f"{peer}, {kernel}"
    try:
        python, version = _interpreter(peer, limit)
        result = apart(getattr(foreign, peer), asked, python=python, limit=limit)
    except ApartError as error:
        yield Row(work, error=str(error), ours=False)
        return
    work = f"{peer} {version}, {kernel}"
    if "eigenvalues" in result:
        gap = np.abs(np.subtract(result["eigenvalues"], fit["eigenvalues"])).max()
        work += f" (eigenvalues agree to {gap:.0e})"
    yield ratio(work, result, fit["seconds"], f"viewhop, {kernel}", ours=False)


def _interpreter(peer: str, limit: float) -> tuple[str, str]:
    """The Python of a peer's environment, created if it is missing, and the peer's version."""
    folder = Path(os.environ.get("VIEWHOP_BENCH_PEERS", "benchmark-results/peers"), peer).absolute()
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)  # of an installation that was not finished
        _call([sys.executable, "-m", "venv", str(folder)], limit)
        _call([str(python), "-m", "pip", "install", "--quiet", peer], limit)
        ready.touch()
    asked = f"from importlib.metadata import version; print(version({peer!r}))"
    return str(python), _call([str(python), "-c", asked], limit).strip()


def _call(command: list[str], limit: float) -> str:
    """What a command prints; `ApartError` with the first line of its error."""
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=outside)
    except subprocess.TimeoutExpired:
        raise ApartError(f"not installed in {limit:,.0f} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ApartError(first_line("\n".join(lines) or done.stderr))
    return done.stdout
