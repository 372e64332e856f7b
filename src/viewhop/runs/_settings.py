"""Settings: everything that a fit on files is told, in one object that can be written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from viewhop.errors import SettingsError
from viewhop.runs import _kinds as kinds
from viewhop.runs._kinds import Kind

__all__ = ["COMMANDS", "FORMATS", "KERNEL_KEYS", "KernelSettings", "Settings", "ViewSettings"]

COMMANDS = ("fit", "cluster")
FORMATS = ("csv", "tsv", "parquet")
KERNELS = ("adaptive", "gaussian", "laplacian", "correlation", "precomputed")
RULES = ("max-min", "connected", "log-log", "joint", "local")
#: What a kernel takes no part in.
_FOREIGN = {
    "adaptive": ("bandwidth",),
    "correlation": ("metric",),
    "precomputed": ("bandwidth", "factor", "metric", "standardize", "search"),
}


def _setting(kind: Kind, default: Any = None) -> Any:
    return field(default=default, metadata={"kind": kind})


@dataclass(frozen=True, kw_only=True)
class KernelSettings:
    """How a view is compared; None is what stands above, or the default of the kernel.

    Attributes
    ----------
    kernel : {"adaptive", "gaussian", "laplacian", "correlation", "precomputed"} or None
    bandwidth : {"max-min", "connected", "log-log", "joint", "local"}, float or None
    factor, alpha : float or None
    neighbors : int or None
    metric : {"euclidean", "cosine", "correlation"} or None
    standardize : bool or None
    search : {"auto", "exact", "faiss"} or None
    """

    kernel: str | None = _setting(kinds.choice(*KERNELS))
    bandwidth: str | float | None = _setting(
        kinds.either(kinds.choice(*RULES), kinds.number(above=0))
    )
    factor: float | None = _setting(kinds.number(above=0))
    neighbors: int | None = _setting(kinds.whole(1))
    metric: str | None = _setting(kinds.choice("euclidean", "cosine", "correlation"))
    standardize: bool | None = _setting(kinds.boolean)
    alpha: float | None = _setting(kinds.number(least=0))
    search: str | None = _setting(kinds.choice("auto", "exact", "faiss"))


#: The settings that each view may have of its own.
KERNEL_KEYS = tuple(entry.name for entry in fields(KernelSettings))


@dataclass(frozen=True, kw_only=True)
class ViewSettings(KernelSettings):
    """A view: its file, and how it is compared if not like the others.

    Attributes
    ----------
    path : str
    """

    path: str = _setting(kinds.text, "")


@dataclass(frozen=True, kw_only=True)
class Settings(KernelSettings):
    """All settings of ``viewhop fit`` or ``viewhop cluster``.

    Those of `KernelSettings` are for every view that has none of its own. The others are the
    options of the two commands, under the same names; None is the default of the estimator.

    Attributes
    ----------
    command : {"fit", "cluster"}
    views : dict of ViewSettings by name
    """

    command: str = _setting(kinds.choice(*COMMANDS), "fit")
    out: str | None = _setting(kinds.text)
    format: str | None = _setting(kinds.choice(*FORMATS))
    report: bool = _setting(kinds.boolean, True)
    id: str | None = _setting(kinds.text)
    label: str | None = _setting(kinds.text)
    keep: tuple[str, ...] = _setting(kinds.names, ())
    drop: tuple[str, ...] = _setting(kinds.names, ())
    decimal: str = _setting(kinds.choice(".", ","), ".")
    delimiter: str | None = _setting(kinds.text)
    encoding: str = _setting(kinds.text, "utf-8")
    fusion: str = _setting(kinds.choice("hop", "sum", "product", "alternating"), "hop")
    within_view_weight: float = _setting(kinds.number(least=0, most=1), 0.0)
    components: int | str | None = _setting(kinds.either(kinds.whole(1), kinds.choice("auto")))
    accuracy: float | str | None = _setting(
        kinds.either(kinds.number(least=0, most=1), kinds.choice("local_pca", "danco"))
    )
    steps: float = _setting(kinds.number(least=0), 1.0)
    output: str = _setting(kinds.choice("auto", "concat", "mean"), "auto")
    clusters: int | str | None = _setting(kinds.either(kinds.whole(1), kinds.choice("auto")))
    max_clusters: int | None = _setting(kinds.whole(2))
    normalize: bool | None = _setting(kinds.boolean)
    solver: str = _setting(kinds.choice("auto", "dense", "lanczos", "krylov", "svd"), "auto")
    tol: float | None = _setting(kinds.number(least=0))
    memory: int | str | None = _setting(kinds.memory_size)
    jobs: int | None = _setting(kinds.either(kinds.whole(1), kinds.whole(-1, -1)))
    seed: int = _setting(kinds.whole(0, 2**32 - 1), 0)
    views: dict[str, ViewSettings] = field(default_factory=dict)

    @classmethod
    def of(
        cls, values: Mapping[str, Any], *, where: Callable[[str], str], path: str | None = None
    ) -> Settings:
        """Settings from plain data, each of the kind that it must be.

        Parameters
        ----------
        values : dict
            By name; "views" is a dict of dicts, which may lack the path.
        where : callable
            What a setting is called in an error: "--seed", "run.toml: seed".
        path : str or None
            The file of the values, for the error.

        Raises
        ------
        SettingsError
            For a setting that is unknown or of the wrong kind.
        """
        shared = _checked(cls, values, where, path, apart=("views",))
        views = values.get("views", {})
        if not isinstance(views, Mapping):
            raise _wrong("views", "a table of views", views, where, path)
        found = {}
        for name, entry in views.items():
            key = f"views.{name}"
            if not name.strip() or not name.isprintable() or "=" in name:
                raise _wrong(key, "a name that can be printed, without =", name, where, path)
            if not isinstance(entry, Mapping):
                raise _wrong(key, "a table with the path of the view", entry, where, path)
            found[name] = ViewSettings(**_checked(ViewSettings, entry, where, path, f"{key}."))
        return cls(**shared, views=found)

    def with_views(self, views: Mapping[str, ViewSettings]) -> Settings:
        """The same with other views."""
        return replace(self, views=dict(views))

    def kernel_of(self, view: str) -> KernelSettings:
        """How a view is compared: its own settings, else those of all, else None.

        A setting of all views that the kernel does not have is None where the view chose its
        kernel for itself.
        """
        own = self.views[view]
        kernel = own.kernel or self.kernel or "adaptive"
        foreign = _FOREIGN.get(kernel, ()) if own.kernel else ()
        found: dict[str, Any] = {"kernel": kernel}
        for key in KERNEL_KEYS[1:]:
            shared = None if key in foreign else getattr(self, key)
            value = getattr(own, key)
            found[key] = shared if value is None else value
        return KernelSettings(**found)

    def check(self) -> None:
        """Raise SettingsError for settings that do not go together."""
        if not self.views:
            raise SettingsError("expected at least one view, NAME=PATH", key="views")
        for name, view in self.views.items():
            if not view.path:
                raise SettingsError(f"the view {name!r} has no file: give {name}=PATH", key="views")
            _check_kernel(name, self.kernel_of(name))
        if self.id is not None and self.id == self.label:
            raise SettingsError(f"{self.id!r} cannot be both the ids and the labels", key="label")
        if self.accuracy is not None and self.components != "auto":
            raise SettingsError("--accuracy goes with --components auto only", key="accuracy")
        if self.components == "auto" and not self.steps > 0:
            raise SettingsError("--components auto needs --steps above 0", key="steps")
        if self.fusion != "hop" and self.within_view_weight:
            raise SettingsError(
                f"--within-view-weight goes with --fusion hop, not {self.fusion}",
                key="within_view_weight",
            )
        if len(self.views) == 1 and self.fusion != "hop":
            raise SettingsError(
                f"--fusion {self.fusion} needs two views or more, got one", key="fusion"
            )
        joint = [name for name in self.views if self.kernel_of(name).bandwidth == "joint"]
        if len(joint) == 1:
            raise SettingsError(
                f"--bandwidth joint compares views, and only {joint[0]!r} has it; use log-log",
                key="bandwidth",
            )
        self._check_command()

    def _check_command(self) -> None:
        if self.command == "fit":
            for key in ("clusters", "max_clusters", "normalize"):
                if getattr(self, key) is not None:
                    raise SettingsError(f"{_option(key)} belongs to viewhop cluster", key=key)
            return
        if self.components == "auto":
            raise SettingsError("--components auto belongs to viewhop fit", key="components")
        if self.max_clusters is not None and isinstance(self.clusters, int):
            raise SettingsError(
                "--max-clusters goes with a number of clusters that is auto", key="max_clusters"
            )


def _check_kernel(view: str, found: KernelSettings) -> None:
    kernel = str(found.kernel)
    for key in _FOREIGN.get(kernel, ()):
        value = getattr(found, key)
        if value is None or value is False or (key, value) == ("bandwidth", "local"):
            continue
        advice = "; use --kernel gaussian" if kernel == "adaptive" else ""
        raise SettingsError(
            f"{_option(key)} is not for the kernel {kernel} of the view {view!r}{advice}", key=key
        )


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _checked(
    kind: type[KernelSettings],
    values: Mapping[str, Any],
    where: Callable[[str], str],
    path: str | None,
    prefix: str = "",
    apart: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The values, each of its kind."""
    known = {entry.name: entry.metadata["kind"] for entry in fields(kind) if entry.metadata}
    found = {}
    for key, value in values.items():
        if key in apart:
            continue
        if key not in known:
            listed = ", ".join([*known, *apart])
            raise SettingsError(
                f"{where(prefix + key)}: there is no such setting; known are {listed}",
                path,
                prefix + key,
            )
        try:
            found[key] = known[key](value)
        except ValueError as error:
            raise _wrong(prefix + key, str(error), value, where, path) from None
    return found


def _wrong(
    key: str, expected: str, value: Any, where: Callable[[str], str], path: str | None
) -> SettingsError:
    told = repr(value)
    told = told if len(told) <= 60 else f"{told[:59]}…"
    return SettingsError(f"{where(key)}: expected {expected}, got {told}", path, key)
