"""The lint gate: code that runs what a file says does not land, wherever it is written."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("src/viewhop", "tests", "benchmarks", "docs")
BANNED = {
    "S307": "x = eval(text)\n",
    "S102": "exec(text)\n",
    "S301": "import pickle\n\nx = pickle.load(file)\n",
    "S302": "import marshal\n\nx = marshal.load(file)\n",
    "S506": "import yaml\n\nx = yaml.load(text)\n",
    "S602": "import subprocess\n\nsubprocess.run(text, shell=True)\n",
    "S604": "from somewhere import call\n\ncall(text, shell=True)\n",
    "S605": "import os\n\nos.system(text)\n",
    "TID251": "import joblib\n\nx = joblib.load(file)\n",
}


def rules():
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["tool"]["ruff"]["lint"]


@pytest.fixture
def ruff():
    if find_spec("ruff") is None:
        pytest.skip("ruff is not installed: make lint installs it")

    def check(name, source):
        command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise"]
        return subprocess.run(
            [*command, "--stdin-filename", name, "-"],
            input=source,
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
        )

    return check


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("code", BANNED)
def test_the_gate_refuses_what_runs_the_content_of_a_file(ruff, folder, code):
    result = ruff(f"{folder}/sample.py", BANNED[code])
    assert result.returncode == 1, result.stderr
    assert code in result.stdout


def test_the_gate_lets_harmless_code_pass(ruff):
    source = '"""A sample."""\n\nimport ast\n\nx = ast.literal_eval("1")\n'
    assert ruff("tests/sample.py", source).returncode == 0


def test_the_rules_of_the_gate_are_selected_and_ignored_nowhere():
    lint = rules()
    assert {*BANNED} <= {*lint["select"]}
    ignored = {*lint["ignore"]}.union(*lint["per-file-ignores"].values())
    assert not ignored & {*BANNED, "S", "TID"}


def test_the_library_has_no_exception_from_the_gate():
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not [code for code in BANNED if f"noqa: {code}" in text], path
