"""The command line, as a user meets it."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import viewhop.experiments._demo
from viewhop._runtime.version import __version__
from viewhop.cli._main import main
from viewhop.experiments._demo import DemoResult
from viewhop.experiments._demo_scores import ScoreTable


@pytest.fixture
def asked(monkeypatch):
    """A demonstration that only notes what it was asked for."""
    calls = []

    def run(*, out, random_state, progress, quick):
        calls.append((out, random_state, quick))
        progress("each view alone", 1, 2)
        progress("counting", 3, None)
        return DemoResult(
            n_samples=2000,
            table=ScoreTable(
                ("complete", "half missing"),
                {"joined": (0.7512, None), "kernel sum": (0.8, 0.81), "multi-view": (0.9048, 0.7)},
                ("kernel sum",),
            ),
            files=(Path(out) / "embedding.csv",),
            remarks=("the walk falls into pieces for fac (2)",),
        )

    monkeypatch.setattr(viewhop.experiments._demo, "run", run)
    return calls


def test_version_is_the_packages():
    result = CliRunner().invoke(main, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"viewhop, version {__version__}\n"


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_the_commands(flag):
    result = CliRunner().invoke(main, [flag])
    assert result.exit_code == 0
    assert "demo" in result.output


def test_help_needs_none_of_the_heavy_packages():
    heavy = "{'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'rich'}"
    code = (
        "import sys; from viewhop.cli import main; main(['demo', '--help'], standalone_mode=False);"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--quick" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_demo_passes_its_options_on(asked):
    result = CliRunner().invoke(main, ["demo", "--out", "here", "--seed", "7", "--quick"])
    assert result.exit_code == 0
    assert asked == [(Path("here"), 7, True)]


def test_demo_writes_to_viewhop_demo_with_seed_0_by_default(asked):
    assert CliRunner().invoke(main, ["demo"]).exit_code == 0
    assert asked == [(Path("viewhop-demo"), 0, False)]


def test_demo_shows_a_table_remarks_and_the_files(asked):
    result = CliRunner().invoke(main, ["demo", "--out", "here"])
    lines = result.stdout.splitlines()
    (row,) = (line for line in lines if "multi-view" in line)
    assert [word for word in row.split() if word[0].isdigit()] == ["0.905", "0.700"]
    (row,) = (line for line in lines if "joined" in line)
    assert row.split() == ["│", "joined", "│", "0.751", "│", "–", "│"]
    assert any("2,000 handwritten digits in six views" in line for line in lines)
    assert (
        "Is hopping between views worth it? complete: yes, 0.105 ahead of all features side by "
        "side; half missing: no, 0.110 behind kernel sum."
    ) in lines
    assert "note: the walk falls into pieces for fac (2)" in lines
    assert f"wrote {Path('here') / 'embedding.csv'}" in lines


def test_progress_is_plain_lines_on_standard_error_without_a_terminal(asked):
    result = CliRunner().invoke(main, ["demo"])
    assert result.stderr == "each view alone: 1 of 2\ncounting: 3\n"


def test_quick_demo_runs_from_start_to_end(tmp_path):
    result = CliRunner().invoke(main, ["demo", "--quick", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "embedding.csv",
        "embedding.png",
    ]
    assert "kernel product" in result.stdout


def test_unwritable_folder_is_an_error_of_one_line(tmp_path):
    (tmp_path / "taken").write_text("a file")
    result = CliRunner().invoke(main, ["demo", "--out", str(tmp_path / "taken" / "below")])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: cannot write to {tmp_path / 'taken' / 'below'}: ")
    assert result.stderr.count("\n") == 1
    assert "--out" in result.stderr


def test_interrupted_demo_exits_with_130(monkeypatch):
    def run(*, out, random_state, progress, quick):
        raise KeyboardInterrupt

    monkeypatch.setattr(viewhop.experiments._demo, "run", run)
    assert CliRunner().invoke(main, ["demo"]).exit_code == 130


@pytest.mark.parametrize("seed", ["-1", "4294967296", "lucky"])
def test_seed_that_is_no_seed_is_a_usage_error(asked, seed):
    result = CliRunner().invoke(main, ["demo", "--seed", seed])
    assert result.exit_code == 2
    assert "--seed" in result.output
    assert not asked
