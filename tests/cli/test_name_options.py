"""Options that take a name from a list of the library: their help, completion and check."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from tests.support.command_line import invoked
from viewhop._registry import FUSIONS, KERNELS, METRICS, OUTPUTS, RULES, SEARCHES, SOLVERS, Entry
from viewhop.cli._main import main

OPTIONS = {
    "--kernel": KERNELS,
    "--bandwidth": RULES,
    "--metric": METRICS,
    "--search": SEARCHES,
    "--fusion": FUSIONS,
    "--output": OUTPUTS,
    "--solver": SOLVERS,
}


def help_of(command):
    return " ".join(invoked(command, "--help").stdout.split())


def completions(*words):
    complete = ShellComplete(main, {}, "viewhop", "_VIEWHOP_COMPLETE")
    return complete.get_completions([*words[:-1]], words[-1])


@pytest.mark.parametrize("command", ["fit", "cluster"])
@pytest.mark.parametrize("option", OPTIONS)
def test_help_and_completion_list_every_name(command, option):
    names = OPTIONS[option]
    assert ", ".join(names) in help_of(command)
    words = [item.value for item in completions(command, option, "")]
    assert words == [*(("auto",) if option == "--solver" else ()), *names]


@pytest.mark.parametrize("command", ["fit", "cluster"])
def test_names_that_are_added_are_in_help_and_completion(command, monkeypatch):
    assert "tent" not in help_of(command)
    monkeypatch.setitem(KERNELS, "tent", Entry("viewhop.kernels:Laplacian", "a tent"))
    monkeypatch.setitem(FUSIONS, "braid", Entry("viewhop.walks._hop:HopWalk", "a braid"))
    assert "precomputed, tent." in help_of(command)
    assert "alternating, integrated, composite, braid." in help_of(command)
    (item,) = completions(command, "--kernel", "rna=te")
    assert (item.value, item.help) == ("rna=tent", "a tent")
    assert [item.value for item in completions(command, "--fusion", "b")] == ["braid"]


def test_names_that_are_added_are_accepted_by_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["fit", "x=none.csv", "--kernel", "tent", "-o", "out"]
    assert invoked(*arguments).exit_code == 2
    monkeypatch.setitem(KERNELS, "tent", Entry("viewhop.kernels:Laplacian", "a tent"))
    result = invoked(*arguments)
    assert (result.exit_code, "none.csv" in result.stderr) == (1, True)
