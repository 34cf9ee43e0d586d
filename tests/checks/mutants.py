"""Does tests/mutate read, apply and judge as it says? And does every mutant apply to these sources, with
its test among those of its program? Builds nothing.

usage: mutants.py ROOT
"""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()


def load(path: pathlib.Path):
    """A script without .py as a module."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("mutants", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
    sys.modules["mutants"] = module
    loader.exec_module(module)
    return module


mutants = load(ROOT / "tests" / "mutate")

TEXT = """bug: The sum is one short.
test: base_test --test-suite=base/sum
environment: TESSERA_DEVICES=3

file: src/base/sum.cpp
--- old
return a + b;
--- new
return a + b - 1;
--- end
"""
SUMMARY = """===
[doctest] test cases: 2 | 1 passed | {cases} failed | 0 skipped
[doctest] assertions: 3 | 2 passed | {checks} failed |
[doctest] Status: FAILURE!
"""


def text_with(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new)


class Reading(unittest.TestCase):
    def test_a_file_says_what_is_wrong_and_which_test_has_to_find_it(self):
        mutant = mutants.parse("short", TEXT)
        self.assertEqual(mutant.program, "base_test")
        self.assertEqual(mutant.environment, "TESSERA_DEVICES=3")
        self.assertEqual(mutant.hunks, [mutants.Hunk("src/base/sum.cpp", "return a + b;", "return a + b - 1;")])

    def test_a_place_may_occur_several_times(self):
        mutant = mutants.parse("short", text_with("--- old", "times: 2\n--- old"))
        self.assertEqual(mutant.hunks[0].times, 2)

    def test_a_text_may_be_replaced_by_nothing(self):
        self.assertEqual(mutants.parse("short", text_with("return a + b - 1;\n", "")).hunks[0].new, "")

    def test_what_is_missing_or_unknown_is_refused(self):
        for text in ("", text_with("bug: ", "bags: "), text_with("--- end\n", ""), text_with("--- old\n", ""),
                     TEXT.split("file:", maxsplit=1)[0], text_with("return a + b;\n", "")):
            with self.assertRaises(mutants.Trouble):
                mutants.parse("short", text)


class Applying(unittest.TestCase):
    def test_spaces_and_lines_do_not_matter(self):
        hunk = mutants.Hunk("x.cpp", "return f(a, b) + 1;", "return 0;")
        self.assertEqual(mutants.applied(hunk, "{ return f(\n    a,b) + 1; }"), "{ return 0; }")

    def test_words_are_whole(self):
        hunk = mutants.Hunk("x.cpp", "a + b", "a")
        with self.assertRaisesRegex(mutants.Trouble, "0 times, not 1"):
            mutants.applied(hunk, "aa + b; a + bb; returna + b")
        with self.assertRaisesRegex(mutants.Trouble, "0 times, not 1"):
            mutants.applied(mutants.Hunk("x.cpp", "return a;", ""), "returna;")

    def test_a_place_that_occurs_more_often_than_said_is_refused(self):
        with self.assertRaisesRegex(mutants.Trouble, "no longer applies: x.cpp has its text 2 times, not 1"):
            mutants.applied(mutants.Hunk("x.cpp", "a;", "b;"), "a; a;")

    def test_all_places_are_replaced(self):
        self.assertEqual(mutants.applied(mutants.Hunk("x.cpp", "a;", "\\1;", 2), "a; a;"), "\\1; \\1;")


class Judging(unittest.TestCase):
    def how(self, code, output: str) -> str:
        return mutants.outcome_of(code, output).how

    def test_a_failed_check_finds(self):
        output = "x_test.cpp:3: ERROR: CHECK( 1 == 2 ) is NOT correct!\n" + SUMMARY.format(cases=1, checks=1)
        outcome = mutants.outcome_of(1, output)
        self.assertEqual((outcome.how, outcome.detail),
                         ("a check", "x_test.cpp:3 CHECK( 1 == 2 ) is NOT correct!"))
        self.assertTrue(outcome.is_found)

    def test_a_message_that_fails_finds(self):
        output = "x_test.cpp:3: FATAL ERROR: seed 7\n" + SUMMARY.format(cases=1, checks=1)
        self.assertEqual(self.how(1, output), "a check")

    def test_an_exception_that_leaves_a_test_case_finds(self):
        output = "x_test.cpp:3: ERROR: test case THREW exception: no\n" + SUMMARY.format(cases=1, checks=0)
        self.assertEqual(self.how(1, output), "an exception")

    def test_crashes_and_limits_of_time_find_nothing(self):
        crashed = "x_test.cpp:3: FATAL ERROR: test case CRASHED: SIGSEGV\n" + SUMMARY.format(cases=1, checks=0)
        for code, output, how in ((1, crashed, "crash"), (-11, "", "crash"), (1, "", "crash"), (None, "", "timeout"),
                                  (124, SUMMARY.format(cases=1, checks=1), "timeout"), (0, "", "passed")):
            outcome = mutants.outcome_of(code, output)
            self.assertEqual((outcome.how, outcome.is_found), (how, False))


class Choosing(unittest.TestCase):
    def test_a_sample_follows_from_the_commit(self):
        some = [mutants.Mutant(name) for name in "abcdefgh"]
        first = mutants.order_for("12ab", some, frozenset())
        self.assertEqual(first, mutants.order_for("12ab", some[::-1], frozenset()))
        self.assertNotEqual(first, mutants.order_for("12ac", some, frozenset()))

    def test_mutants_of_changed_files_come_first(self):
        some = [mutants.Mutant(name, hunks=[mutants.Hunk(f"src/{name}.cpp", "a", "b")]) for name in "abcdefgh"]
        ordered = mutants.order_for("12ab", some, frozenset({"src/e.cpp", "src/none.cpp"}))
        self.assertEqual(ordered[0].name, "e")


class Sources(unittest.TestCase):
    def test_every_mutant_applies_and_has_its_test(self):
        every = mutants.read_mutants(ROOT)
        self.assertTrue(every)
        self.assertEqual(mutants.check(every, ROOT), [])

    def test_a_test_that_is_gone_is_seen(self):
        mutant = mutants.parse("short", text_with("base/sum", "base/no_such_suite"))
        with self.assertRaisesRegex(mutants.Trouble, "base_test has no suite 'base/no_such_suite'"):
            mutants.check_test(mutant, ROOT)


if __name__ == "__main__":
    unittest.main()
