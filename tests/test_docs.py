"""What the texts say of the code: equations, files, links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TEXTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
#: "Eq. (13)", "Eqs. (16)–(18)", "Eqs. (2) and (21)", "Eqs. (13)–(14), and (49)".
CITATION = re.compile(r"Eqs?\. ?((?:\(\d+\)(?:–|-|, and | and |, | to )?)+)")
NUMBER = re.compile(r"\((\d+)\)(?:[–-]\((\d+)\))?")


def numbers(text):
    """All equation numbers in a run of them, ranges filled in."""
    found = set()
    for first, last in NUMBER.findall(text):
        found |= set(range(int(first), int(last or first) + 1))
    return found


def cited():
    found = {}
    for path in SOURCES:
        for run in CITATION.findall(path.read_text(encoding="utf-8")):
            for number in numbers(run):
                found.setdefault(number, path.name)
    return found


def test_citations_are_read_with_their_ranges():
    (run,) = CITATION.findall("see Eqs. (13)–(15), and (49) there")
    assert numbers(run) == {13, 14, 15, 49}


def test_every_equation_cited_in_the_code_stands_in_the_notation():
    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    rows = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    known = numbers(rows)
    missing = {number: where for number, where in cited().items() if number not in known}
    assert len(cited()) > 20
    assert not missing


def test_every_module_stands_in_the_map():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = text[text.index("## Map of the repository") :]
    missing = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if path.name != "__init__.py" and f" {path.name} " not in listed
    ]
    assert not missing


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_somewhere(path):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    for link in links:
        assert (path.parent / link).exists(), link


def test_the_examples_of_the_readme_run(monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first, missing, many = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    scope = {}
    exec(first, scope)  # noqa: S102
    assert scope["Z"].shape == (1200, 4)
    exec(missing, scope)  # noqa: S102
    assert scope["Z"].shape == (2000, 10)
    assert scope["coverage"].shape == (5,)
    exec(many, scope)  # noqa: S102
    digits = scope["vh"].datasets.load_mfeat().views
    assert scope["est"].set_params(verbose=0).fit_transform(digits).shape == (2000, 60)
