"""What the texts say of the code: equations, names, files, links, the map, dependencies."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from tests.support.doc_names import Names, docstrings, local_names, see_also

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TEXTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
#: "Eq. (13)", "Eqs. (16)–(18)", "Eqs. (2) and (21)", "Eqs. (13)–(14), and (49)".
CITATION = re.compile(r"Eqs?\. ?((?:\(\d+\)(?:–|-|, and | and |, | to )?)+)")
NUMBER = re.compile(r"\((\d+)\)(?:[–-]\((\d+)\))?")


def equation_numbers(text):
    """All equation numbers in a run of them, ranges filled in."""
    numbers = set()
    for first, last in NUMBER.findall(text):
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def cited_equations():
    files = {}
    for path in SOURCES:
        for run in CITATION.findall(path.read_text(encoding="utf-8")):
            for number in equation_numbers(run):
                files.setdefault(number, path.name)
    return files


def test_citations_are_read_with_their_ranges():
    (run,) = CITATION.findall("see Eqs. (13)–(15), and (49) there")
    assert equation_numbers(run) == {13, 14, 15, 49}


def test_every_equation_cited_in_the_code_stands_in_the_notation():
    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    rows = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    listed = equation_numbers(rows)
    missing = {number: where for number, where in cited_equations().items() if number not in listed}
    assert len(cited_equations()) > 20
    assert not missing


# --- names ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def names():
    return Names()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_name_in_a_text_exists(path, names):
    assert names.unknown(path.read_text(encoding="utf-8")) == []


def test_every_name_in_a_docstring_exists(names):
    unknown = {}
    for path in SOURCES:
        local = local_names(path)
        for owner, text in docstrings(path):
            wrong = names.unknown(text, local=local)
            wrong += [name for name in see_also(text) if names.unknown_in_span(f"{name}()")]
            if wrong:
                unknown[f"{path.relative_to(ROOT)}: {owner}"] = wrong
    assert not unknown


@pytest.mark.parametrize(
    "citation",
    [
        "`viewhop.kernels.Gaussian`",
        "`vh.seismic.sonogram.sonogram`",
        "`kernels.Gaussian`",
        "`Walk.degrees`",
        "`est.embedding_`",
        "`walk.pieces()`",
        "`make_circles(noise=)`",
        '`Gaussian(bandwidth="local", n_neighbors=10)`',
        "`view_embeddings_`",
        "`fit(X).transform(X)`",
        "`np.allclose`",
        "`kernels.py`",
        "`walks/_hop.py`",
        "`tests/test_docs.py`",
        "`tests/support/`",
        "`make test`",
        "`make lint test-all PYTHON=python3.13`",
        "`viewhop seismic detect`",
        "`--config`",
        "    viewhop fit rna=rna.csv --id cell -o out  # a folder",
        "`run.toml` and `out/model.viewhop`",
        "```python\nfrom viewhop.tables import read_views\nread_views({})\n```",
        'pip install "viewhop[report]"',
    ],
)
def test_names_that_exist_are_not_reported(citation, names):
    assert names.unknown(citation) == []


@pytest.mark.parametrize(
    ("citation", "unknown"),
    [
        ("`viewhop.kernels.Gausian`", "viewhop.kernels.Gausian"),
        ("`vh.kernel.Gaussian`", "vh.kernel.Gaussian"),
        ("`solvers.two_view_svd`", "solvers.two_view_svd"),
        ("`Walk.degree`", "Walk.degree"),
        ("`est.embeding_`", "est.embeding_"),
        ("`walk.piece()`", "walk.piece"),
        ("`make_circles(nois=)`", "nois="),
        ("`make_circle(noise=0.1)`", "make_circle"),
        ("`HopWork`", "HopWork"),
        ("`embeding_`", "embeding_"),
        ("`fit(X).transfrom(X)`", "transfrom"),
        ("`walks.py`", "walks.py"),
        ("`theory/truncation.py`", "theory/truncation.py"),
        ("`tests/test_nothing.py`", "tests/test_nothing.py"),
        ("`tests/nothing/`", "tests/nothing/"),
        ("`make tests`", "make tests"),
        ("`make test-some`", "make test-some"),
        ("`viewhop seismic detekt`", "viewhop seismic detekt"),
        ("`--confug`", "--confug"),
        ("    viewhop fitt rna=rna.csv", "viewhop fitt"),
        ("    viewhop fit rna=rna.csv --idd cell", "--idd"),
        ("```python\nfrom viewhop.tables import read_view\n```", "viewhop.tables.read_view"),
        ("```python\nimport viewhop as vh\nvh.Vews([X])\n```", "vh.Vews"),
        ('pip install "viewhop[rapport]"', "extra rapport"),
    ],
)
def test_names_that_do_not_exist_are_reported(citation, unknown, names):
    assert names.unknown(citation) == [unknown]


def test_a_docstring_may_cite_what_stands_beside_it(names, tmp_path):
    path = tmp_path / "module.py"
    path.write_text('def f(rows_here):\n    """As `rows_here` and `rows_there`."""\n')
    ((_, text),) = docstrings(path)
    assert names.unknown(text, local=local_names(path)) == ["rows_there"]


def test_see_also_sections_are_read():
    section = "See Also\n--------\nfit : Learn.\n    More.\nplace, load"
    text = f"One line.\n\n{section}\n\nNotes\n-----\nNo."
    assert see_also(text) == ["fit", "place", "load"]


# --- links ---------------------------------------------------------------------------------------


def headings(path):
    """The anchors that the headings of a page have."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path):
    links = re.findall(r"\]\(([^):]*?)(?:#([^)]*))?\)", path.read_text(encoding="utf-8"))
    for link, anchor in links:
        target = path.parent / link if link else path
        assert target.exists(), link
        if anchor:
            assert anchor in headings(target), f"{link}#{anchor}"


# --- the map -------------------------------------------------------------------------------------


@pytest.fixture
def architecture():
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "architecture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_map_is_up_to_date(architecture):
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert page == architecture.render(), "run make map"
    assert architecture.main(["--check"]) == 0


def test_every_module_is_on_the_map_with_its_purpose(architecture):
    page = architecture.render()
    for path in SOURCES:
        assert architecture.summary(path) in page
        if path.name != "__init__.py":
            assert f"(../{path.relative_to(ROOT).as_posix()})" in page


def test_a_stale_map_is_reported_and_written_anew(architecture, monkeypatch, tmp_path, capsys):
    page = tmp_path / "architecture.md"
    monkeypatch.setattr(architecture, "PAGE", page)
    assert architecture.main(["--check"]) == 1
    page.write_text("an old map")
    assert architecture.main(["--check"]) == 1
    assert "make map" in capsys.readouterr().err
    assert architecture.main([]) == 0
    assert architecture.main(["--check"]) == 0


@pytest.mark.parametrize("text", ["", '"""Two\nlines."""\n', '"""No period"""\n'])
def test_a_module_without_a_purpose_in_one_line_is_refused(architecture, tmp_path, text):
    path = tmp_path / "module.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"module\.py"):
        architecture.summary(path)


def test_the_layers_of_the_map_are_those_of_the_import_contract(architecture):
    names = [name for layer in architecture.layers() for name in layer]
    folder = ROOT / "src" / "viewhop"
    assert len(names) == len(set(names))
    for name in names:
        assert (folder / name).is_dir() or (folder / f"{name}.py").is_file()


# --- contributing --------------------------------------------------------------------------------


def test_contributing_is_short():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90


def test_every_dependency_has_a_reason():
    with (ROOT / "pyproject.toml").open("rb") as file:
        table = tomllib.load(file)
    project = table["project"]
    groups = {
        "core": project["dependencies"],
        **{f"`{name}`": list_ for name, list_ in project["optional-dependencies"].items()},
        **{f"group `{name}`": list_ for name, list_ in table["dependency-groups"].items()},
    }
    del groups["`all`"]
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    rows = [row for row in rows if len(row) == 3 and row[0] not in ("where", "---")]
    assert {row[0] for row in rows} == set(groups)
    for place, packages in groups.items():
        listed = " ".join(row[1] for row in rows if row[0] == place)
        for package in packages:
            name = package.get("include-group") if isinstance(package, dict) else package
            assert re.split(r"[\[><=~!]", name)[0] in listed, f"{place}: {name}"


# --- examples ------------------------------------------------------------------------------------


def test_the_examples_of_the_readme_run(monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first, missing, many, build = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    scope = {}
    exec(first, scope)  # noqa: S102
    assert scope["Z"].shape == (1200, 2)
    exec(missing, scope)  # noqa: S102
    assert scope["Z"].shape == (2000, 10)
    assert scope["coverage"].shape == (5,)
    fitted = scope["est"]
    exec(many, scope)  # noqa: S102
    digits = scope["vh"].datasets.load_mfeat().views
    assert scope["est"].set_params(verbose=0).fit_transform(digits).shape == (2000, 10)
    scope["est"] = fitted
    exec(build, scope)  # noqa: S102
    assert scope["geometry"].embedding().shape == (2000, 10)
