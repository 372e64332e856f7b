"""``viewhop completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from viewhop.cli._command import Command

__all__ = ["completion"]

_EXAMPLE = """\b
Examples:
  viewhop completion bash
  viewhop completion zsh
  viewhop completion fish
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script for tab completion in a shell.

    Save it where the shell looks for such scripts: for bash, as viewhop in
    ~/.local/share/bash-completion/completions; for zsh, as _viewhop in a folder of $fpath; for
    fish, as viewhop.fish in ~/.config/fish/completions. To try it in bash: source <(viewhop
    completion bash).
    """
    root = click.get_current_context().find_root()
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"this version of click has no completion for {shell}.")
    click.echo(kind(root.command, {}, "viewhop", "_VIEWHOP_COMPLETE").source())
