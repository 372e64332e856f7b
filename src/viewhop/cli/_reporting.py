"""The report of a run, where there is what it needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viewhop.runs._estimator import Model
    from viewhop.tables import Joined

__all__ = ["NEEDED", "about", "write_report"]

#: What is said where it cannot be written.
NEEDED = 'it needs plotly (pip install "viewhop[report]")'


def write_report(
    path: Path,
    model: Model,
    *,
    read: Joined | None = None,
    ids: Any = None,
    labels: Any = None,
    label_name: str | None = None,
    title: str = "viewhop",
    told: dict[str, str] | None = None,
    repeat: str = "",
) -> None:
    """Write the report of a fitted model; ImportError where plotly is missing.

    Parameters
    ----------
    path : Path
    model : estimator
        Fitted.
    read : Joined or None
        The training samples.
    ids, labels : (n_samples,) arrays or None
        Where `read` does not have them.
    label_name : str or None
        What the labels are.
    title : str
    told : dict of str by str, or None
        A table of what else is known.
    repeat : str
        How to do it again.
    """
    from viewhop import report
    from viewhop.runs._estimator import embedder_of

    if read is not None:
        ids, labels = read.views.ids, read.labels
    report.write(
        path,
        embedder_of(model),
        ids=ids,
        labels=labels,
        label_name=label_name or "label",
        clusters=getattr(model, "labels_", None),
        features=None if read is None else read.views,
        title=title,
        about=told,
        repeat=repeat,
    )


def about(record: dict[str, Any]) -> dict[str, str]:
    """What the record of a run says, as a table for its report.

    Parameters
    ----------
    record : dict
    """
    settings = record["settings"]
    views = [
        f"{name} ({record['observed'][name]:,} × {entry['columns']:,}, {Path(entry['path']).name})"
        for name, entry in record["inputs"].items()
    ]
    found = {
        "samples": f"{record['n_samples']:,}",
        "views": ", ".join(views),
        "kernel": str(settings.get("kernel", "adaptive")),
        "fusion": str(settings["fusion"]),
        "coordinates": str(record["n_components"]),
        "eigenvalues": ", ".join(f"{value:.4g}" for value in record["eigenvalues"][:10]),
        "pieces": str(record["n_pieces"]),
        "solver": str(record["solver"]),
        "seed": str(record["seed"]),
        "seconds": f"{sum(record['timings'].values()):.1f}",
        "viewhop": str(record["viewhop"]),
    }
    for entry in record["warnings"]:
        found[entry["kind"]] = entry["text"]
    return found
