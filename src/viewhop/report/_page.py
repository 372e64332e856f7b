"""The page: assets of the package, plotly and data, assembled as one HTML text."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources

from viewhop.report._content import Content
from viewhop.report._packing import safe_json

__all__ = ["assemble_page", "plotly_source"]

#: Concatenated in this order, they are one script.
SCRIPTS = (
    "elements.js",
    "data.js",
    "colours.js",
    "layout.js",
    "points.js",
    "plane.js",
    "space.js",
    "charts.js",
    "tables.js",
    "selection.js",
    "page.js",
)


def plotly_source() -> str:
    """The JavaScript of plotly; ImportError if it is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            'a report needs plotly, which is not installed: pip install "viewhop[report]"'
        ) from error
    # Nothing in it may end its script element; in a string \\/ is /.
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def assemble_page(content: Content, *, title: str, plotly: str) -> str:
    """The HTML text.

    Parameters
    ----------
    content : Content
    title : str
    plotly : str
        JavaScript of plotly.
    """
    plain, pack = content
    script = "\n".join(_asset(name) for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    parts = {
        "policy": _policy(plotly, script),
        # Invalid Unicode cannot be written.
        "title": escape(title.encode("utf-8", "replace").decode("utf-8")),
        "style": _asset("page.css"),
        "data": safe_json(plain),
        "arrays": pack.text(),
        "plotly": plotly,
        "script": script,
    }
    # Split once: a mark inside inserted text is not replaced.
    first, *rest = _asset("page.html").split("{{")
    pieces = [first]
    for piece in rest:
        name, text = piece.split("}}", 1)
        pieces += [parts[name], text]
    return "".join(pieces)


def _policy(*scripts: str) -> str:
    """A content security policy: only these scripts run, and nothing is loaded.

    Inline styles are allowed because plotly writes some; they cannot load anything either.
    """
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    # A browser converts CRLF and CR to LF before it computes the digest.
    text = script.replace("\r\n", "\n").replace("\r", "\n")
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _asset(name: str) -> str:
    return (resources.files("viewhop.report") / "assets" / name).read_text(encoding="utf-8")
