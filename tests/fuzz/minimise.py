"""A smaller input with the same outcome."""

from __future__ import annotations


def minimise(data, is_same, *, tries=400):
    """The bytes without blocks that the outcome does not need.

    Parameters
    ----------
    data : bytes
    is_same : callable
        Whether other bytes have the same outcome.
    tries : int
        Calls of `is_same` at most.
    """
    size = max(1, len(data) // 2)
    while size and tries:
        begin, is_shorter = 0, False
        while begin < len(data) and tries:
            shorter = data[:begin] + data[begin + size :]
            tries -= 1
            if is_same(shorter):
                data, is_shorter = shorter, True
            else:
                begin += size
        if not is_shorter or size > len(data):
            size = min(size, len(data)) // 2
    return data
