"""Which names a text cites, and whether they exist: in the code, in the tree, in the Makefile.

A citation is what stands in backticks, or in a fenced block of Python. `Names.unknown` returns the
citations of a text that lead nowhere. These are looked up:

- dotted names: ``viewhop.x.y``, ``vh.x.y``, ``kernels.Gaussian``, ``Walk.degrees``,
  ``est.geometry_``;
- keywords of calls, as in ``make_circles(noise=)``, and parameters, as in ``factor=``;
- single names that cannot be mistaken for a word: CamelCase, ``snake_case``, ``trailing_``, and
  whatever is called;
- files and folders, by their path or its end; ``make`` targets; ``viewhop`` commands and options,
  also in indented blocks; extras.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pkgutil
import re
import textwrap
import tomllib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import click

import viewhop

__all__ = ["FOREIGN", "STANDS_FOR", "Names", "docstrings", "local_names", "see_also"]

ROOT = Path(__file__).resolve().parents[2]

#: Names of other packages: packages and modules, under which anything is taken, and single names.
FOREIGN = frozenset(
    {
        *(
            "np",
            "numpy",
            "scipy",
            "sklearn",
            "pd",
            "pandas",
            "plt",
            "matplotlib",
            "plotly",
            "obspy",
        ),
        *("faiss", "mudata", "anndata", "skdim", "cv2", "skimage", "pyarrow", "polars", "click"),
        *("rich", "joblib", "threadpoolctl", "pytest", "hypothesis", "warnings", "os", "sys"),
        *("pathlib", "datetime", "zipfile", "json", "math", "tomllib", "importlib", "contextlib"),
        *("DataFrame", "MuData", "AnnData", "GridSearchCV", "Pipeline", "LinearOperator"),
        *("csr_array", "dok_array", "assert_allclose", "validate_data", "coincidence_trigger"),
        *("event_type", "textContent", "obs_names", "var_names"),
        *("scanpy", "muon", "neighbors_key", "X_pca", "X_diffmap", "diffmap_evals"),
        *("X_viewhop", "X_viewhop_rna"),
        *("ColumnTransformer", "rna__gene1", "remainder", "verbose_feature_names_out"),
        *("enable_metadata_routing",),
    }
)

#: What a variable of the examples is: the classes that it may be an object of.
STANDS_FOR = {
    "est": (
        "MultiViewDiffusionMaps",
        "DiffusionMaps",
        "MultiViewSpectralClustering",
        "KernelCCA",
        "DeSaEmbedding",
    ),
    "seen": ("EventViews",),
    "found": ("Classification",),
    "error": ("ConvergenceError", "TableError", "SettingsError", "ModelFileError"),
}

FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
STRING = re.compile(r"\"[^\"]*\"|'[^']*'")
FILE = re.compile(r"(?<![\w/.])[\w./-]*\w\.(?:py|md)(?![\w/])")
FOLDER = re.compile(r"(?:[\w.-]+/)+")
PLACE = re.compile(r"(?:src|tests|docs|benchmarks|\.ci)/[\w./-]+")
DOTTED = re.compile(r"(?<![\w.\-/])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w/-])")
SHELL = re.compile(r"^ {4}((?:viewhop|make) [^#\n]+)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
EXTRA = re.compile(r"viewhop\[([\w,]+)\]")
#: Endings that make a dotted word the name of a file of the user's.
ENDINGS = frozenset(
    {
        *("csv", "tsv", "txt", "dat", "npy", "npz", "mat", "parquet", "pq", "viewhop", "html"),
        *("json", "toml", "mseed", "png", "part", "zip", "xml"),
    }
)


class Names:
    """Everything that a text may cite.

    Attributes
    ----------
    modules : dict of module by dotted name
    classes : dict of list of class by bare name
    identifiers : set of str
        Names of functions, classes, attributes, parameters and constants, wherever they stand.
    """

    @cached_property
    def modules(self) -> dict[str, ModuleType]:
        names = [m.name for m in pkgutil.walk_packages(viewhop.__path__, "viewhop.")]
        return {name: importlib.import_module(name) for name in ("viewhop", *names)}

    @cached_property
    def classes(self) -> dict[str, list[type]]:
        classes: dict[str, list[type]] = {}
        for name, module in self.modules.items():
            for key, value in vars(module).items():
                if inspect.isclass(value) and value.__module__ == name:
                    classes.setdefault(key, []).append(value)
        return classes

    @cached_property
    def identifiers(self) -> set[str]:
        names: set[str] = set()
        for path in (ROOT / "tests").rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names |= {node.name for node in ast.walk(tree) if isinstance(node, _DEFINITION)}
        for path in (ROOT / "src").rglob("*.py"):
            names |= {path.stem, path.parent.name}
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                names |= set(_defined(node))
            names |= {name for node in tree.body for name in _assigned(node)}
        for kinds in self.classes.values():
            for kind in kinds:
                names |= set(dir(kind))
        return names

    @cached_property
    def paths(self) -> set[str]:
        """Files of the tree, and the folders that hold some."""
        tops = [ROOT / name for name in ("src", "tests", "docs", "benchmarks", ".ci")]
        files = [path for top in tops for path in top.rglob("*") if path.is_file()]
        files = [path for path in files if "__pycache__" not in path.parts]
        files += [path for path in ROOT.glob("*") if path.is_file()]
        places = [path.relative_to(ROOT) for path in files]
        return {path.as_posix() for place in places for path in (place, *place.parents)}

    @cached_property
    def targets(self) -> set[str]:
        """Targets of the Makefile."""
        text = (ROOT / "Makefile").read_text(encoding="utf-8")
        return set(re.findall(r"^([\w-]+):", text, flags=re.MULTILINE))

    @cached_property
    def extras(self) -> set[str]:
        """Extras of the package."""
        with (ROOT / "pyproject.toml").open("rb") as file:
            return set(tomllib.load(file)["project"]["optional-dependencies"])

    @cached_property
    def commands(self) -> Any:
        """The command ``viewhop``."""
        from viewhop.cli._main import main

        return main

    @cached_property
    def options(self) -> set[str]:
        """Options of the commands, and of the scripts that the Makefile runs."""
        commands, options = [self.commands], {"--help"}
        while commands:
            command = commands.pop()
            commands += getattr(command, "commands", {}).values()
            for parameter in command.get_params(click.Context(command)):
                options |= {*parameter.opts, *parameter.secondary_opts}
        for path in [*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "docs").glob("*.py")]:
            options |= set(OPTION.findall(path.read_text(encoding="utf-8")))
        return options

    # --- texts ----------------------------------------------------------------------------------

    def unknown(self, text: str, *, local: frozenset[str] = frozenset()) -> list[str]:
        """Citations in a text that lead nowhere.

        Parameters
        ----------
        text : str
            Markdown, or a docstring.
        local : set of str
            Names that are known where the text stands.
        """
        unknown = []
        for language, code in FENCED.findall(text):
            if language == "python":
                unknown += self.unknown_in_code(code)
        prose = FENCED.sub("", text)
        for line in SHELL.findall(prose):
            unknown += self._unknown_in_shell(line.split())
        for _, span in SPAN.findall(prose):
            unknown += self.unknown_in_span(" ".join(span.split()), local=local)
        unknown += [
            f"extra {extra}"
            for group in EXTRA.findall(text)
            for extra in group.split(",")
            if extra not in self.extras
        ]
        return unknown

    def unknown_in_span(self, span: str, *, local: frozenset[str] = frozenset()) -> list[str]:
        """Citations in the text between two backticks that lead nowhere."""
        words = span.split()
        if words[0].startswith("--") or (words[0] in ("make", "viewhop") and len(words) > 1):
            return self._unknown_in_shell(words)
        code = STRING.sub('""', span)
        files = [word for word in FILE.findall(code) if not self.is_path(word)]
        files += [word for word in PLACE.findall(code) if not self.is_path(word)]
        if FOLDER.fullmatch(code) and not self.is_path(code):
            files.append(code)
        if files or FILE.search(code) or PLACE.search(code) or FOLDER.fullmatch(code):
            return sorted(set(files))
        tree = _parse(code)
        if tree is None:
            return [
                name
                for name in DOTTED.findall(code)
                if not self._is_user_file(name) and not self.exists(name, local=local)
            ]
        return [name for name in self._unknown_in_tree(tree, local) if name not in local]

    def unknown_in_code(self, code: str) -> list[str]:
        """Names of viewhop in a block of Python that lead nowhere."""
        tree = ast.parse(code)
        homes = {"vh": "viewhop", "viewhop": "viewhop"}
        unknown = []
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("viewhop"):
                for alias in node.names:
                    homes[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("viewhop"):
                        homes[alias.asname or "viewhop"] = alias.name if alias.asname else "viewhop"
        for home in homes.values():
            if not self.exists(home):
                unknown.append(home)
        for chain in _chains(tree):
            head, *rest = chain.split(".")
            name = ".".join([homes.get(head, head), *rest])
            if (head in homes or head == "est") and not self.exists(name):
                unknown.append(chain)
        return unknown

    def _unknown_in_tree(self, tree: ast.Module, local: frozenset[str]) -> Iterator[str]:
        """Names in an expression that lead nowhere: dotted ones first, then single ones."""
        chains = {*_chains(tree)}
        for chain in sorted(chains):
            if any(other.startswith(f"{chain}.") for other in chains) or self._is_user_file(chain):
                continue
            if not self.exists(chain, local=local):
                yield chain
        yield from (name for name in _single(tree) if not self._is_identifier(name))

    def _unknown_in_shell(self, words: list[str]) -> list[str]:
        """Targets, commands and options in a line of shell that do not exist."""
        options = [word.partition("=")[0] for word in words if OPTION.match(word)]
        unknown = [option for option in options if option not in self.options]
        if words[0] == "make":
            targets = [word for word in words[1:] if re.fullmatch(r"[a-z][a-z-]*", word)]
            return [f"make {word}" for word in targets if word not in self.targets]
        command, path = self.commands, "viewhop"
        for word in words[1:] if words[0] == "viewhop" else []:
            if not hasattr(command, "commands") or not re.fullmatch(r"[a-z]+", word):
                break
            path = f"{path} {word}"
            if word not in command.commands:
                return [path, *unknown]
            command = command.commands[word]
        return unknown

    # --- single names -----------------------------------------------------------------------------

    def is_path(self, path: str) -> bool:
        """Whether a file or folder of the tree has this path.

        In the package and in docs the end of a path is enough; tests and benchmarks, whose files
        are often named after modules, are cited from the root.
        """
        path = path.removeprefix("./").removeprefix("../").rstrip("/")
        return path in self.paths or any(
            known.startswith(("src/", "docs/")) and known.endswith(f"/{path}")
            for known in self.paths
        )

    def exists(self, name: str, *, local: frozenset[str] = frozenset()) -> bool:
        """Whether a dotted name leads to something.

        Parameters
        ----------
        name : str
        local : set of str
            First parts that are known where the name stands, if viewhop has no such name.
        """
        head, *rest = name.split(".")
        if head in FOREIGN or head.isupper():
            return True
        if head in ("viewhop", "vh"):
            return self._leads(self.modules["viewhop"], rest)
        # An object is often named after its class: walk, spectrum, kernel_rows.
        kinds = [head, "".join(part.capitalize() for part in head.split("_"))]
        kinds += STANDS_FOR.get(head, ())
        starts: list[Any] = [kind for name in kinds for kind in self.classes.get(name, [])]
        if f"viewhop.{head}" in self.modules:
            starts.append(self.modules[f"viewhop.{head}"])
        if not starts:
            return head in local
        return any(self._leads(start, rest) for start in starts)

    def _leads(self, thing: Any, rest: list[str]) -> bool:
        if not rest:
            return True
        head, *tail = rest
        if inspect.ismodule(thing):
            inner = self.modules.get(f"{thing.__name__}.{head}")
            value = getattr(thing, head, inner)
            return value is not None and self._leads(value, tail)
        if inspect.isclass(thing):
            # Of what an attribute holds, the type is not known: what follows is taken as it is.
            return head in self._attributes(thing)
        return hasattr(thing, head)

    def _attributes(self, kind: type) -> set[str]:
        """Attributes of a class, its subclasses and their objects."""
        names: set[str] = set()
        for one in [*kind.__mro__, *_subclasses(kind)]:
            names |= set(dir(one)) | set(getattr(one, "__annotations__", ()))
            if one.__module__.startswith("viewhop"):
                (tree,) = ast.parse(textwrap.dedent(_source(one))).body
                for node in ast.walk(tree):
                    names |= set(_assigned_to_self(node))
        return names

    def _is_identifier(self, name: str) -> bool:
        name = name.rstrip("=")
        return name in self.identifiers or name in FOREIGN or hasattr(builtins, name)

    @staticmethod
    def _is_user_file(name: str) -> bool:
        return name.rpartition(".")[2] in ENDINGS


_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def local_names(path: Path) -> frozenset[str]:
    """Every word that stands as a name, a keyword or a string in a file of Python.

    What a docstring cites may be a key of a dict, a column of a file or a variable nearby.

    Parameters
    ----------
    path : Path
    """
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for field in ("id", "arg", "attr", "name", "value"):
            word = getattr(node, field, None)
            if isinstance(word, str) and word.isidentifier():
                names.add(word)
    return frozenset(names)


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Name and docstring of a module and of everything in it that has one.

    Parameters
    ----------
    path : Path
        A file of Python.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, *_DEFINITION)):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", path.stem), text


def see_also(text: str) -> list[str]:
    """The names in the section "See Also" of a docstring."""
    section = re.search(r"^See Also\n-+\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    lines = section.group(1).splitlines() if section else []
    heads = [line.partition(" : ")[0] for line in lines if not line.startswith(" ")]
    return [name.strip() for head in heads for name in head.split(",") if name.strip()]


def _is_telling(name: str) -> bool:
    """Whether a single name cannot be mistaken for a word, a unit or a placeholder."""
    if name.isupper() or name.startswith("__"):
        return False
    return "_" in name.strip("_") or name.endswith("_") or bool(re.search(r"[a-z][A-Z]", name))


def _parse(code: str) -> ast.Module | None:
    """The code between two backticks, if it is Python; placeholders and lone ``name=`` included."""
    code = code.replace("…", "...").replace("\\|", "|")
    code = re.sub(r"=(?=\s*[,)]|$)", "=...", code)
    try:
        return ast.parse(code)
    except SyntaxError:
        return None


def _chain(node: ast.AST) -> str | None:
    """The dotted name that an expression is, or None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _chains(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            chain = _chain(node)
            if chain is not None:
                yield chain


def _single(tree: ast.Module) -> Iterator[str]:
    """Names that are called, passed by keyword or assigned, and one that stands alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (f"{keyword.arg}=" for keyword in node.keywords if keyword.arg)
            if isinstance(node.func, ast.Name):
                yield node.func.id
        elif isinstance(node, ast.Attribute) and _chain(node) is None:
            yield node.attr  # of a call: fit(X).transform(X)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            yield from [f"{name}="] * name.islower()
    match tree.body:
        case [ast.Expr(ast.Name(id=name))] if _is_telling(name):
            yield name


def _defined(node: ast.AST) -> Iterator[str]:
    """Names that a node of the code defines: functions, classes, parameters, attributes."""
    if isinstance(node, _DEFINITION):
        yield node.name
    if isinstance(node, ast.arg):
        yield node.arg
    if isinstance(node, ast.ClassDef):
        for entry in node.body:
            yield from _assigned(entry)
    yield from _assigned_to_self(node)


def _assigned(node: ast.AST) -> Iterator[str]:
    """Names that an assignment binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        for target in targets:
            yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def _assigned_to_self(node: ast.AST) -> Iterator[str]:
    """Attributes that are set on an object."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr


def _subclasses(kind: type) -> Iterator[type]:
    for one in type.__subclasses__(kind):
        yield one
        yield from _subclasses(one)


def _source(kind: type) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return "class _: pass"
