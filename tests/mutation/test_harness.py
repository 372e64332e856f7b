"""The parts of the mutation tests that need no mutant: the choice of tests, results, the table."""

import pytest

from .mutant import Mutant
from .reach import TABLES, Reach, keep_cases
from .report import equivalent_mutants, write_report
from .results import Results

DIFF = """--- a.py
+++ a.py
@@ -1,3 +1,3 @@
 def f(x):
-    return x + 1
+    return x - 1
"""


def mutant(number, package="walks"):
    return Mutant(f"viewhop.walks.a.x_f__mutmut_{number}", package, DIFF)


def test_some_cases_of_each_test_are_kept_and_all_of_a_table():
    tests = [f"a.py::t[{case}]" for case in range(50)] + ["a.py::u"]
    table = [f"{TABLES[0]}[{case}]" for case in range(50)]
    kept = keep_cases(tests + table, cases=4)
    assert len(kept) == 4 + 1 + 50
    assert kept == keep_cases(reversed(tests + table), cases=4)


def test_every_test_has_a_turn_before_one_has_two_and_killers_come_first():
    reach = Reach()
    for test, seconds in {"a::t[1]": 1.0, "a::t[2]": 1.0, "a::u": 0.5, "a::v": 9.0}.items():
        reach.record(test, seconds, {"m.x_f"})
    known = {*reach.seconds}
    chosen = reach.choose("m.x_f", seconds=3.0, known=known)
    assert chosen[0] == "a::u"
    assert len(chosen) == 3
    assert "a::v" not in chosen  # it alone takes longer
    reach.record_kill("m.x_f", "a::t[1]")
    assert reach.choose("m.x_g", seconds=3.0, known=known) == []
    assert reach.choose("m.x_f", seconds=3.0, known=known)[0].startswith("a::t")


def test_results_are_continued_and_survivors_run_again(tmp_path):
    path = tmp_path / "results.json"
    results = Results(path)
    results.add("a", "killed", test="t", seconds=3.0, n_tests=1)
    results.add("b", "survived", test="", seconds=3.0, n_tests=1)
    again = Results(path)
    assert not again.is_open("a", 20.0)
    assert not again.is_open("b", 3.0)
    assert again.is_open("b", 20.0)
    assert again.is_open("c", 3.0)
    again.reopen()
    assert Results(path).is_open("b", 3.0)
    assert not Results(path).is_open("a", 3.0)


def test_the_table_counts_each_package_and_all(tmp_path):
    results = Results(tmp_path / "results.json")
    for number, status in enumerate(["killed", "killed", "timeout", "survived"]):
        results.add(mutant(number).name, status, test="", seconds=3.0, n_tests=1)
    table = write_report([mutant(number) for number in range(4)], results, tmp_path)
    assert table.splitlines()[2] == "| walks | 4 | 2 | 1 | 1 | 0 | 75.0 % |"
    assert table.splitlines()[3] == "| all | 4 | 2 | 1 | 1 | 0 | 75.0 % |"
    assert "+    return x - 1" in (tmp_path / "survivors.diff").read_text("utf-8")


def test_a_change_does_not_depend_on_the_indentation():
    assert mutant(1).change == "- return x + 1\n+ return x - 1"
    assert mutant(1).function == "viewhop.walks.a.x_f"


def test_every_equivalent_mutant_has_a_reason():
    reasons = equivalent_mutants()
    assert all(len(why) > 20 for why in reasons.values())
    for _, change in reasons:
        assert {line[:2] for line in change.splitlines()} <= {"- ", "+ "}


@pytest.mark.parametrize("text", ['"metric"', "'a'"])
def test_only_names_are_mutated_not_messages(text):
    cst = pytest.importorskip("libcst")
    pytest.importorskip("mutmut")
    from .generate import mutate_name

    assert [*mutate_name(cst.parse_expression(text))]
    assert not [*mutate_name(cst.parse_expression('"must be positive"'))]
