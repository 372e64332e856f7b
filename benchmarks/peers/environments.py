"""The virtual environments of the peers, one for each, so that their dependencies never conflict.

They are made when they are first needed, in the folder VIEWHOP_BENCH_PEERS.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from benchmarks.apart import ApartError, first_line

__all__ = [
    "ENVIRONMENTS",
    "INSTALL_LIMIT",
    "Environment",
    "find_interpreter",
    "find_own_interpreter",
]

#: Seconds for each command that makes an environment.
INSTALL_LIMIT = 1200.0


@dataclass(frozen=True)
class Environment:
    """What is installed for a peer.

    Attributes
    ----------
    packages : tuple of str
        Requirements for pip; the first is the peer, unless `alone` has it.
    alone : tuple of str
        Requirements that are installed without their dependencies.
    reason : str
        Why there is more than the peer.
    """

    packages: tuple[str, ...]
    alone: tuple[str, ...] = ()
    reason: str = ""

    @property
    def peer(self) -> str:
        """Name of the package whose version the table shows."""
        return (self.alone + self.packages)[0].split("==")[0]


#: By the name of the peer in the table.
ENVIRONMENTS = {
    "datafold": Environment(("datafold==2.0.2",)),
    "pyDiffMap": Environment(("pydiffmap==0.2.0.1",)),
    "scikit-learn": Environment(
        ("scikit-learn==1.9.1", "pyamg==5.4.1"),
        reason='eigen_solver="amg" needs pyamg',
    ),
    "umap-learn": Environment(("umap-learn==0.5.12",)),
    "snfpy": Environment(
        ("snfpy==0.2.2", "scikit-learn==1.7.2"),
        reason="it calls check_array with force_all_finite, which scikit-learn 1.8 removed",
    ),
    "mvlearn": Environment(
        ("scikit-learn==1.9.1", "matplotlib==3.11.2", "seaborn==0.13.2", "joblib==1.6.0"),
        alone=("mvlearn==0.5.0",),
        reason="it asks for matplotlib 3.3, which has no wheels for Python 3.10 or newer; it "
        "imports any, and the others are the rest of its dependencies",
    ),
    "muon": Environment(
        ("muon==0.1.9", "pynndescent==0.5.13", "scikit-learn==1.7.2", "scipy==1.15.3"),
        reason="scanpy calls getnnz of what pynndescent 0.7 returns, sparse arrays, which have "
        "none since scipy 1.14, and muon slices them as scipy 1.13 cannot; the others fit in time",
    ),
}


def find_interpreter(peer: str, limit: float = INSTALL_LIMIT) -> tuple[str, str]:
    """The Python of a peer's environment, made if it is missing, and the peer's version.

    Raises
    ------
    ApartError
        With the first line of the error of an installation.
    """
    environment = ENVIRONMENTS[peer]
    folder = Path(os.environ.get("VIEWHOP_BENCH_PEERS", "benchmark-results/peers"), peer).absolute()
    python, ready = folder / "bin" / "python", folder / "ready"
    wanted = "\n".join(environment.alone + environment.packages)
    if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)  # unfinished, or of other pins
        _call([sys.executable, "-m", "venv", str(folder)], limit)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if environment.alone:
            _call([*install, "--no-deps", *environment.alone], limit)
        _call([*install, *environment.packages], limit)
        ready.write_text(wanted, encoding="utf-8")
    asked = f"from importlib.metadata import version; print(version({environment.peer!r}))"
    return str(python), _call([str(python), "-c", asked], limit).strip()


def find_own_interpreter(peer: str) -> tuple[str, str]:
    """The Python that runs the benchmarks, and the version of the peer in it.

    Raises
    ------
    ApartError
        If the package is not installed.
    """
    package = ENVIRONMENTS[peer].peer if peer in ENVIRONMENTS else peer
    try:
        return sys.executable, metadata.version(package)
    except metadata.PackageNotFoundError:
        raise ApartError(f"{package} is not installed") from None


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
