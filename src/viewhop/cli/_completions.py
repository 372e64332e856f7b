"""Completions that a shell offers for an unfinished argument."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import click
from click.shell_completion import CompletionItem

__all__ = ["files", "matching_words", "named_files", "words"]

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def named_files(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The files that complete the path of ``NAME=PATH``.

    bash splits words at the equals sign and asks for the path alone.
    """
    name, mark, path = typed.partition("=")
    if not mark:
        return files(ctx, param, typed)
    folder, start = os.path.split(path)
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return []
    return [
        CompletionItem(f"{name}={os.path.join(folder, entry.name)}{os.sep * entry.is_dir()}")
        for entry in entries
        if entry.name.startswith(start) and entry.name.startswith(".") == start.startswith(".")
    ]


def files(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """A request for the shell's own completion of paths."""
    return [CompletionItem(typed, type="file")]


def words(names: Mapping[str, object]) -> Completer:
    """A completer that offers the keys of a dict, which is read at every request."""
    return lambda ctx, param, typed: matching_words(names, typed)


def matching_words(names: Mapping[str, object], typed: str, *more: str) -> list[CompletionItem]:
    """The keys of a dict that complete a word, also after ``NAME=``.

    Parameters
    ----------
    names : dict
        If an entry has a summary, shells that can show it do.
    typed : str
    *more : str
        Further words.
    """
    before, mark, start = typed.rpartition("=")
    return [
        CompletionItem(f"{before}{mark}{word}", help=_summary(names.get(word)))
        for word in (*more, *names)
        if word.startswith(start)
    ]


def _summary(entry: object) -> str | None:
    summary = getattr(entry, "summary", entry)
    return summary if isinstance(summary, str) else None
