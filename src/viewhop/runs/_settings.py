"""Settings: every choice of a fit on files, in one object that can be written to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from viewhop._registry import FUSIONS, OUTPUTS, SOLVERS
from viewhop._runtime.suggestion import suggestion
from viewhop.errors import SettingsError
from viewhop.runs import _kinds as kinds
from viewhop.runs._kernel_settings import (
    DEFAULT_KERNEL,
    KERNEL_KEYS,
    KernelSettings,
    setting,
    unsupported_keys,
)

__all__ = ["COMMANDS", "FORMATS", "Settings", "ViewSettings"]

COMMANDS = ("fit", "cluster")
FORMATS = ("csv", "tsv", "parquet")


@dataclass(frozen=True, kw_only=True)
class ViewSettings(KernelSettings):
    """Settings of one view: its file, and its kernel where that differs from the other views.

    Attributes
    ----------
    path : str
        The file; ``file.npz::name`` is one array of several.
    weight : float or None
        How willingly the walker goes to the view; None for all views chooses it by agreement.
    keep, drop : tuple of str or None
    decimal, delimiter, encoding : str or None
        How the file of the view is read, where that differs from the other views.

    Examples
    --------
    >>> from viewhop.runs import ViewSettings
    >>> ViewSettings(path="rna.csv", kernel="correlation").path
    'rna.csv'
    """

    path: str = setting(kinds.text, "")
    weight: float | None = setting(kinds.number(above=0))
    keep: tuple[str, ...] | None = setting(kinds.names)
    drop: tuple[str, ...] | None = setting(kinds.names)
    decimal: str | None = setting(kinds.choice(".", ","))
    delimiter: str | None = setting(kinds.text)
    encoding: str | None = setting(kinds.text)


@dataclass(frozen=True, kw_only=True)
class Settings(KernelSettings):
    """All settings of a run: of ``viewhop fit`` or ``viewhop cluster``, or of `execute`.

    The settings of `KernelSettings` hold for every view that has none of its own. The others are
    the options of the two commands under the same names; None is the default of the estimator.

    Attributes
    ----------
    command : {"fit", "cluster"}
        A diffusion map, or clusters.
    views : dict of ViewSettings by name
    out : str or None
        The folder that the run writes.
    format : {"csv", "tsv", "parquet"} or None
        Of the table of coordinates; None is Parquet if pyarrow is installed, else CSV.
    report : bool or None
        Whether to write report.html; None writes it if plotly is installed.
    picture : bool or None
        Whether a fit writes embedding.png; None writes it if matplotlib is installed.
    hops : tuple of tuples of float, or None
        The hop matrix, a row for every view in their order.
    id, label, keep, drop, decimal, delimiter, encoding, id_strip, missing
        How the files are read, as in `viewhop.tables.Options`; a delimiter may be "tab".
    fusion, within_view_weight, joint_view, connect, components, accuracy, steps, output, solver
    tol, memory, jobs, seed
        Of `MultiViewDiffusionMaps`, where some have longer names: `n_components`, `n_steps`,
        `max_memory`, `n_jobs`, `random_state`. A joint view that is None is "auto".
    clusters, max_clusters, normalize
        Of `MultiViewSpectralClustering`, for the command "cluster" only.

    Examples
    --------
    >>> from viewhop.runs import Settings, ViewSettings
    >>> settings = Settings(views={"rna": ViewSettings(path="rna.csv")}, out="out", seed=1)
    >>> settings.check()
    >>> settings.kernel_of("rna").kernel
    'adaptive'
    """

    command: str = setting(kinds.choice(*COMMANDS), "fit")
    out: str | None = setting(kinds.text)
    format: str | None = setting(kinds.choice(*FORMATS))
    report: bool | None = setting(kinds.boolean)
    picture: bool | None = setting(kinds.boolean)
    id: str | None = setting(kinds.text)
    label: str | None = setting(kinds.text)
    keep: tuple[str, ...] = setting(kinds.names, ())
    drop: tuple[str, ...] = setting(kinds.names, ())
    decimal: str = setting(kinds.choice(".", ","), ".")
    delimiter: str | None = setting(kinds.text)
    encoding: str = setting(kinds.text, "utf-8")
    id_strip: bool = setting(kinds.boolean, False)
    missing: str = setting(kinds.choice("error", "drop"), "error")
    fusion: str = setting(kinds.name_in(FUSIONS), "hop")
    within_view_weight: float | None = setting(kinds.number(least=0, most=1))
    hops: tuple[tuple[float, ...], ...] | None = setting(kinds.square_matrix)
    joint_view: bool | None = setting(kinds.boolean)
    connect: bool = setting(kinds.boolean, False)
    components: int | str | None = setting(kinds.either(kinds.whole(1), kinds.choice("auto")))
    accuracy: float | str | None = setting(
        kinds.either(kinds.number(least=0, most=1), kinds.choice("local_pca", "danco"))
    )
    steps: float = setting(kinds.number(least=0), 1.0)
    output: str = setting(kinds.name_in(OUTPUTS), "auto")
    clusters: int | str | None = setting(kinds.either(kinds.whole(1), kinds.choice("auto")))
    max_clusters: int | None = setting(kinds.whole(2))
    normalize: bool | None = setting(kinds.boolean)
    solver: str = setting(kinds.name_in(SOLVERS, "auto"), "auto")
    tol: float | None = setting(kinds.number(least=0))
    memory: int | str | None = setting(kinds.memory_size)
    jobs: int | None = setting(kinds.thread_count)
    seed: int = setting(kinds.whole(0, 2**32 - 1), 0)
    views: dict[str, ViewSettings] = field(default_factory=dict)

    @classmethod
    def from_values(
        cls,
        values: Mapping[str, Any],
        *,
        where: Callable[[str], str] = str,
        path: str | None = None,
    ) -> Settings:
        """Settings from plain data, with the kind of every value checked.

        Parameters
        ----------
        values : dict
            By name; "views" is a dict of dicts, which may lack the path.
        where : callable
            The name of a setting in an error message: "--seed", "run.toml: seed".
        path : str or None
            The file of the values, for the error.

        Raises
        ------
        SettingsError
            If a setting is unknown or of the wrong kind.

        Examples
        --------
        >>> from viewhop.runs import Settings
        >>> Settings.from_values({"seed": 3, "views": {"rna": {"path": "rna.csv"}}}).seed
        3
        """
        shared = _check_values(cls, values, where, path, apart=("views",))
        views = values.get("views", {})
        if not isinstance(views, Mapping):
            raise _wrong_kind("views", "a table of views", views, where, path)
        by_name = {}
        for name, entry in views.items():
            key = f"views.{name}"
            _check_name(name, where, path)
            if not isinstance(entry, Mapping):
                raise _wrong_kind(key, "a table with the path of the view", entry, where, path)
            own = _check_values(ViewSettings, entry, where, path, f"{key}.")
            by_name[name] = ViewSettings(**own)
        return cls(**shared, views=by_name)

    def kernel_of(self, view: str) -> KernelSettings:
        """The settings of the kernel of a view: its own, else those of all views, else None.

        If the view has a kernel of its own, settings of all views that do not apply to that
        kernel are left out.
        """
        own = self.views[view]
        kernel = own.kernel or self.kernel or DEFAULT_KERNEL
        unsupported = unsupported_keys(kernel) if own.kernel else ()
        values: dict[str, Any] = {"kernel": kernel}
        for key in KERNEL_KEYS[1:]:
            shared = None if key in unsupported else getattr(self, key)
            value = getattr(own, key)
            values[key] = shared if value is None else value
        return KernelSettings(**values)

    def check(self) -> None:
        """Raise SettingsError for a value of the wrong kind, or for settings that conflict."""
        if not self.views:
            raise SettingsError("expected at least one view, NAME=PATH", key="views")
        self._check_kinds()
        for name, view in self.views.items():
            if not view.path:
                others = [other for other, entry in self.views.items() if entry.path]
                raise SettingsError(
                    f"view {name!r}{suggestion(name, others)} has no file: pass {name}=PATH",
                    key="views",
                )
            _check_kernel(name, self.kernel_of(name))
        if self.id is not None and self.id == self.label:
            raise SettingsError(f"{self.id!r} cannot be both the ids and the labels", key="label")
        if self.accuracy is not None and self.components != "auto":
            raise SettingsError("--accuracy requires --components auto", key="accuracy")
        if self.components == "auto" and not self.steps > 0:
            raise SettingsError("--components auto requires --steps above 0", key="steps")
        self._check_weights()
        if len(self.views) == 1 and self.fusion != "hop":
            raise SettingsError(
                f"--fusion {self.fusion} needs two views or more, got one", key="fusion"
            )
        joint = [name for name in self.views if self.kernel_of(name).bandwidth == "joint"]
        if len(joint) == 1:
            raise SettingsError(
                f"--bandwidth joint needs two views or more, and only {joint[0]!r} has it; "
                "use log-log",
                key="bandwidth",
            )
        self._check_command()

    def _check_weights(self) -> None:
        """Raise SettingsError for settings of the hop matrix that do not apply or conflict."""
        weighted = [name for name, view in self.views.items() if view.weight is not None]
        given = {
            "within_view_weight": self.within_view_weight is not None,
            "hops": self.hops is not None,
            "view_weight": bool(weighted),
        }
        for key, is_given in given.items():
            if is_given and self.fusion != "hop":
                raise SettingsError(
                    f"{_option(key)} requires --fusion hop, not {self.fusion}", key=key
                )
        stated = [key for key, is_given in given.items() if is_given]
        if len(stated) > 1:
            first, second = map(_option, stated[:2])
            raise SettingsError(f"pass {first} or {second}, not both", key=stated[1])
        if self.hops is not None and len(self.hops) != len(self.views):
            raise SettingsError(
                f"--hops has {len(self.hops)} rows for {len(self.views)} views; expected a row and "
                f"a column for each of {', '.join(self.views)}",
                key="hops",
            )
        if self.hops is not None:
            self._check_symmetry(self.hops)
        missing = [name for name in self.views if name not in weighted]
        if weighted and missing:
            raise SettingsError(
                f"--view-weight is given for {weighted[0]!r}, but not for {missing[0]!r}; give it "
                "for every view or for none",
                key="view_weight",
            )

    def _check_symmetry(self, hops: tuple[tuple[float, ...], ...]) -> None:
        """Raise SettingsError unless the hop matrix is symmetric."""
        names = [*self.views]
        if len(names) == 1:
            raise SettingsError("--hops needs two views or more, got one", key="hops")
        for i, row in enumerate(hops):
            for j, value in enumerate(row[:i]):
                if value != hops[j][i]:
                    raise SettingsError(
                        f"--hops must be symmetric, but goes from {names[i]!r} to {names[j]!r} "
                        f"with {value:g} and back with {hops[j][i]:g}",
                        key="hops",
                    )

    def _check_kinds(self) -> None:
        """Raise SettingsError for a value of the wrong kind: the constructor takes anything."""
        _check_values(Settings, dict(_stated(self)), str, None)
        for name, view in self.views.items():
            _check_name(name, str, None)
            _check_values(ViewSettings, dict(_stated(view)), str, None, f"views.{name}.")

    def _check_command(self) -> None:
        if self.command == "fit":
            for key in ("clusters", "max_clusters", "normalize"):
                if getattr(self, key) is not None:
                    raise SettingsError(f"{_option(key)} belongs to viewhop cluster", key=key)
            return
        if self.picture is not None:
            raise SettingsError("--picture belongs to viewhop fit", key="picture")
        if self.components == "auto":
            raise SettingsError("--components auto belongs to viewhop fit", key="components")
        if self.max_clusters is not None and isinstance(self.clusters, int):
            raise SettingsError("--max-clusters requires --clusters auto", key="max_clusters")


def _check_kernel(view: str, settings: KernelSettings) -> None:
    kernel = str(settings.kernel)
    for key in unsupported_keys(kernel):
        value = getattr(settings, key)
        if value is None or value is False or (key, value) == ("bandwidth", "local"):
            continue
        advice = "; use --kernel gaussian" if kernel == "adaptive" else ""
        raise SettingsError(
            f'{_option(key)} does not apply to kernel "{kernel}" (view {view!r}){advice}', key=key
        )


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _stated(settings: KernelSettings) -> Iterator[tuple[str, Any]]:
    """The settings that have a kind and are not at their default."""
    for entry in fields(settings):
        value = getattr(settings, entry.name)
        if entry.metadata and value is not None and value != entry.default:
            yield entry.name, value


def _check_name(name: Any, where: Callable[[str], str], path: str | None) -> None:
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or "=" in name:
        raise _wrong_kind(f"views.{name}", "a printable name without =", name, where, path)


def _check_values(
    kind: type[KernelSettings],
    values: Mapping[str, Any],
    where: Callable[[str], str],
    path: str | None,
    prefix: str = "",
    apart: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The values, each converted to its kind, or SettingsError."""
    known = {entry.name: entry.metadata["kind"] for entry in fields(kind) if entry.metadata}
    checked = {}
    for key, value in values.items():
        if key in apart:
            continue
        if key not in known:
            raise SettingsError(
                f"{where(prefix + key)}: there is no such setting"
                f"{suggestion(str(key), [*known, *apart])}; the settings are "
                f"{', '.join([*known, *apart])}",
                path,
                prefix + key,
            )
        try:
            checked[key] = known[key](value)
        except ValueError as error:
            raise _wrong_kind(prefix + key, str(error), value, where, path) from None
    return checked


def _wrong_kind(
    key: str, expected: str, value: Any, where: Callable[[str], str], path: str | None
) -> SettingsError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    return SettingsError(f"{where(key)}: expected {expected}, got {shown}", path, key)
