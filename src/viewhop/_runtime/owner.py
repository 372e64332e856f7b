"""The name of this host, as it stands in the names of unfinished files and in locks."""

from __future__ import annotations

import os
import platform
import re

__all__ = ["HOST", "is_running"]

#: Letters, digits, underscores and hyphens only.
HOST = re.sub(r"[^0-9A-Za-z_-]", "_", platform.node())[:32] or "unknown"


def is_running(pid: int) -> bool:
    """Whether a process of this host runs; another may have its number by now.

    Parameters
    ----------
    pid : int
    """
    if os.name == "nt":  # signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        return True
    return True
