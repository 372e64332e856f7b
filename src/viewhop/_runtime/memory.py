"""The memory budget of a fit, and its enforcement."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from viewhop.errors import MemoryBudgetError

__all__ = ["available_bytes", "format_bytes", "parse_budget", "require_bytes"]

_UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_UNITS |= {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
#: Where cgroups of version 2 and of version 1 are mounted, and their files of limit and usage.
_UNIFIED = "sys/fs/cgroup", "memory.max", "memory.current"
_LEGACY = "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"


def format_bytes(n_bytes: float) -> str:
    """A number of bytes as text, like ``"1.6 GB"``."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.3g} TB"


def available_bytes(root: Path = Path("/")) -> int | None:
    """Bytes available on the machine or in the cgroup of this process; None if unknown.

    Parameters
    ----------
    root : Path
        Parent of ``proc`` and ``sys``; tests pass their own.
    """
    available = []
    try:
        meminfo = (root / "proc/meminfo").read_text()
        available.append(int(re.search(r"MemAvailable:\s+(\d+) kB", meminfo)[1]) * 1024)  # type: ignore[index]
    except (OSError, TypeError):
        if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
            available.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for folder, limit, usage in _memory_cgroups(root):
        try:
            most, used = (int((folder / file).read_text()) for file in (limit, usage))
        except (OSError, ValueError):  # no such cgroup, or its limit is "max"
            continue
        available.append(most - used)
    return max(0, min(available)) if available else None


def _memory_cgroups(root: Path) -> Iterator[tuple[Path, str, str]]:
    """The cgroups whose limits hold for this process, with the names of their files.

    A limit holds for everything below it: that of a service, of its slice, and of the container,
    which sees itself as the root.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    groups = {(_UNIFIED, "/"), (_LEGACY, "/")}
    for line in lines:
        hierarchy, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if hierarchy == "0":
            groups.add((_UNIFIED, path))
        elif "memory" in controllers.split(","):
            groups.add((_LEGACY, path))
    for (mount, limit, usage), path in groups:
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts) + 1):
            yield root.joinpath(mount, *parts[:depth]), limit, usage


def parse_budget(max_memory: float | str | None) -> int | None:
    """The budget in bytes: `max_memory`, or 80 % of the available memory; None if unknown.

    Parameters
    ----------
    max_memory : number, str or None
        Bytes, or text like ``"8GB"`` or ``"512 MiB"``.
    """
    if max_memory is None:
        available = available_bytes()
        return None if available is None else int(0.8 * available)
    if isinstance(max_memory, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*)\s*([KMGT]?I?)B?\s*", max_memory.upper())
        if match is None or match[2] not in _UNITS:
            raise ValueError(
                f'max_memory must be a number of bytes or text like "8GB", got {max_memory!r}'
            )
        max_memory = float(match[1]) * _UNITS[match[2]]
    if not 0 < max_memory < float("inf"):
        raise ValueError(f"max_memory must be positive and finite, got {max_memory!r}")
    return int(max_memory)


def require_bytes(needed: int, allowed: int | None, *, what: str, instead: str) -> None:
    """Raise `MemoryBudgetError` unless `needed` bytes are allowed.

    Parameters
    ----------
    needed : int
        Bytes that `what` would take.
    allowed : int or None
        The budget; None sets no limit.
    what, instead : str
        What needs the memory, and what the user can do instead.
    """
    if allowed is not None and needed > allowed:
        raise MemoryBudgetError(
            f"{what} would take {format_bytes(needed)}, and the budget is "
            f"{format_bytes(allowed)}; {instead}",
            needed,
            allowed,
        )
