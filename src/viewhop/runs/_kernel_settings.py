"""Settings of kernels: how the samples of a view are compared."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from viewhop._registry import KERNELS, METRICS, RULES, SEARCHES, load_home
from viewhop.runs import _kinds as kinds
from viewhop.runs._kinds import Kind

if TYPE_CHECKING:
    from viewhop.kernels import Kernel

__all__ = [
    "DEFAULT_KERNEL",
    "KERNEL_KEYS",
    "KernelSettings",
    "build_kernel",
    "resolve_kernel",
    "setting",
    "unsupported_keys",
]

DEFAULT_KERNEL = "adaptive"
#: Settings of the same name as the parameter of the kernel, but for these.
_PARAMETERS = {"neighbors": "n_neighbors"}


def setting(kind: Kind, default: Any = None) -> Any:
    """A dataclass field that is checked by its kind."""
    return field(default=default, metadata={"kind": kind})


@dataclass(frozen=True, kw_only=True)
class KernelSettings:
    """Settings of the kernel of a view; None is the setting of all views, or the kernel's default.

    The names that each of them accepts are those of the library, in `viewhop._registry`.

    Attributes
    ----------
    kernel : str or None
        "adaptive", "gaussian", "laplacian", "correlation" or "precomputed".
    bandwidth : str, float or None
        A rule, as in `viewhop.kernels.Gaussian`, or the scale.
    factor, alpha : float or None
    neighbors : int, "all" or None
        `n_neighbors` of the kernel; "all" keeps every pair.
    metric : str or None
    standardize : bool or None
    search : str or None
    scale_neighbors : int or None
    taper : float or None

    Examples
    --------
    >>> from viewhop.runs import KernelSettings
    >>> KernelSettings(kernel="gaussian", neighbors=20).neighbors
    20
    """

    kernel: str | None = setting(kinds.name_in(KERNELS))
    bandwidth: str | float | None = setting(
        kinds.either(kinds.name_in(RULES), kinds.number(above=0))
    )
    factor: float | None = setting(kinds.number(above=0))
    neighbors: int | str | None = setting(kinds.either(kinds.whole(1), kinds.choice("all")))
    metric: str | None = setting(kinds.name_in(METRICS))
    standardize: bool | None = setting(kinds.boolean)
    alpha: float | None = setting(kinds.number(least=0))
    search: str | None = setting(kinds.name_in(SEARCHES))
    scale_neighbors: int | None = setting(kinds.whole(1))
    taper: float | None = setting(kinds.number(least=0, most=1))


#: The settings that a view may have of its own, the kernel first.
KERNEL_KEYS = tuple(entry.name for entry in fields(KernelSettings))


def unsupported_keys(kernel: str) -> tuple[str, ...]:
    """The settings that do not apply to a kernel.

    Parameters
    ----------
    kernel : str
        A name in `viewhop._registry.KERNELS`.

    Examples
    --------
    >>> from viewhop.runs._kernel_settings import unsupported_keys
    >>> unsupported_keys("correlation")
    ('metric',)
    """
    parameters = load_home(KERNELS[kernel].home)().get_params(deep=False)
    missing = [key for key in KERNEL_KEYS[1:] if _PARAMETERS.get(key, key) not in parameters]
    # The scale of "adaptive" is part of what its name means.
    return ("bandwidth", *missing) if kernel == "adaptive" else tuple(missing)


def build_kernel(settings: KernelSettings) -> Kernel:
    """The kernel of a view.

    Parameters
    ----------
    settings : KernelSettings
        As `Settings.kernel_of` returns them.

    Examples
    --------
    >>> from viewhop.runs._kernel_settings import KernelSettings, build_kernel
    >>> build_kernel(KernelSettings(kernel="adaptive", neighbors=20))
    Gaussian(alpha=1.0, bandwidth='local', metric='auto', n_neighbors=20,
             scale_neighbors=10, taper=0.2)
    """
    kernel: Kernel = load_home(KERNELS[settings.kernel or DEFAULT_KERNEL].home)()
    parameters = kernel.get_params(deep=False)
    for key in KERNEL_KEYS[1:]:
        value, name = getattr(settings, key), _PARAMETERS.get(key, key)
        if value is not None and name in parameters:
            kernel.set_params(**{name: None if value == "all" else value})
    return kernel


def resolve_kernel(settings: KernelSettings) -> KernelSettings:
    """The settings of the same kernel with every parameter stated, whatever the defaults become.

    Parameters
    ----------
    settings : KernelSettings
        As `Settings.kernel_of` returns them.

    Examples
    --------
    >>> from viewhop.runs._kernel_settings import KernelSettings, resolve_kernel
    >>> full = resolve_kernel(KernelSettings(kernel="adaptive"))
    >>> full.kernel, full.bandwidth, full.neighbors, full.metric
    ('gaussian', 'local', 10, 'auto')
    """
    kernel = build_kernel(settings)
    parameters = kernel.get_params(deep=False)
    asked = settings.kernel or DEFAULT_KERNEL
    # "adaptive" is a Gaussian: the name of the class says the same for ever.
    names = (name for name, entry in KERNELS.items() if load_home(entry.home) is type(kernel))
    values: dict[str, Any] = {"kernel": next(names, asked)}
    for key in KERNEL_KEYS[1:]:
        name = _PARAMETERS.get(key, key)
        if name in parameters:
            every = key == "neighbors" and parameters[name] is None
            values[key] = "all" if every else parameters[name]
    return KernelSettings(**values)
