"""Print the requirements of the tests with every dependency at its lowest allowed version.

The lower bounds of ``pyproject.toml`` become exact versions; tools that only run the tests stay as
new as they are.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
#: References that need a newer NumPy than the library does; without them their tests are skipped.
LEFT_OUT = ("cca-zoo",)
#: Packages that have an environment of their own.
APART = ("mudata",)
#: Tools that must be older beside the lowest versions, and the requirement instead.
OLDER = {"polars": "polars>=1.0,<2"}  # scikit-learn 1.6 finds no column names in frames of polars 2


def package_name(requirement: str) -> str:
    """The name of the package that a requirement is about."""
    return re.split(r"[\[><=~! ]", requirement)[0]


def lowest_requirements(table: dict) -> list[str]:
    """The requirements, those of the library and its extras at their lower bounds.

    Parameters
    ----------
    table : dict
        The content of ``pyproject.toml``.
    """
    extras = table["project"]["optional-dependencies"]
    listed = [
        requirement
        for name, group in extras.items()
        if name != "all"
        for requirement in group
        if package_name(requirement) not in APART
    ]
    own = {
        package_name(entry): entry.replace(">=", "==")
        for entry in [*table["project"]["dependencies"], *listed]
    }
    tools = {
        package_name(entry): OLDER.get(package_name(entry), entry)
        for entry in table["dependency-groups"]["test"]
        if package_name(entry) not in LEFT_OUT
    }
    return [*(tools | own).values()]


if __name__ == "__main__":
    with PROJECT.open("rb") as file:
        sys.stdout.writelines(f"{line}\n" for line in lowest_requirements(tomllib.load(file)))
