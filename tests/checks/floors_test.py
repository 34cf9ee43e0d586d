"""Tests floors.py on made-up trees.

usage: floors_test.py
"""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from floors import MARKS, House, Tree, differences, drawing_in, has_ctags, main  # noqa: E402

HOUSE = House(
    floors={"base": ["."], "device": [".", ("host", "cuda")], "array": ["expr", "."]},
    top={"strategy": [], "nn": ["strategy"], "io": []},
    places={"detail/submit.hpp": "device", "array/operators.hpp": "array/expr"},
    third_party={"kokkos_view.hpp": {"Kokkos_Core.hpp"}},
)
UMBRELLA = "include/tessera/tessera.hpp"
ERROR = "include/tessera/base/error.hpp"


def complaints(files: dict[str, str]) -> list[str]:
    """What is wrong with a tree of these files: path -> names that it includes, one word each."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, includes in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#pragma once\n" + "".join(
                f"#include {i}\n" if i.startswith("<") else f'#include "{i}"\n'
                for i in includes.split()))
        return Tree(root, HOUSE).check()


class Includes(unittest.TestCase):
    def assert_fine(self, files):
        self.assertEqual(complaints(files), [])

    def assert_wrong(self, files, *expected):
        found = complaints(files)
        self.assertEqual(len(found), len(expected), found)
        for text, words in zip(found, expected):
            self.assertIn(words, text)

    def test_an_empty_tree_is_an_error(self):
        self.assert_wrong({}, "has no sources")

    def test_floors_include_those_below_and_the_umbrella_all(self):
        self.assert_fine({
            ERROR: "<vector>",
            "include/tessera/array/array.hpp": "tessera/base/error.hpp",
            "src/array/array.cpp": "tessera/array/array.hpp <mpi.h>",
            UMBRELLA: "tessera/array/array.hpp tessera/base/error.hpp",
        })

    def test_no_file_includes_a_floor_above(self):
        self.assert_wrong({"src/base/a.cpp": "tessera/array/array.hpp",
                           "include/tessera/array/array.hpp": ""},
                          "base must not include tessera/array/array.hpp (array is not below it)")

    def test_no_floor_includes_the_umbrella(self):
        self.assert_wrong({UMBRELLA: "", "src/array/a.cpp": "tessera/tessera.hpp"},
                          "brings other floors")

    def test_a_room_includes_rooms_before_it_but_not_after_or_beside_it(self):
        device = {"src/device/queue.hpp": "", "src/device/cuda/queue.hpp": "src/device/queue.hpp",
                  "src/device/host/queue.hpp": ""}
        self.assert_fine(device)
        self.assert_wrong({**device, "src/device/cuda/x.cpp": "src/device/host/queue.hpp"},
                          "device/cuda must not include src/device/host/queue.hpp")
        self.assert_wrong({"src/device/queue.hpp": "src/device/host/queue.hpp",
                           "src/device/host/queue.hpp": ""}, "device must not include")

    def test_a_header_of_include_may_be_placed_by_name(self):
        self.assert_fine({"include/tessera/array/operators.hpp": "",
                          "include/tessera/detail/array/expr/node.hpp":
                              "tessera/array/operators.hpp"})
        self.assert_wrong({"include/tessera/array/array.hpp": "",
                           "include/tessera/detail/array/expr/node.hpp":
                               "tessera/array/array.hpp"}, "array/expr must not include")

    def test_public_headers_include_no_private_ones(self):
        self.assert_wrong({"src/base/secret.hpp": "", ERROR: "src/base/secret.hpp"},
                          "a header of include/ must not include src/base/secret.hpp")
        self.assert_wrong({"src/base/secret.hpp": "",
                           "include/tessera/detail/base/x.hpp": "src/base/secret.hpp"},
                          "a header of include/ must not include src/base/secret.hpp")

    def test_detail_belongs_to_its_floor(self):
        self.assert_fine({"include/tessera/detail/submit.hpp": "",
                          "include/tessera/array/array.hpp": "tessera/detail/submit.hpp"})
        self.assert_wrong({"include/tessera/detail/array/x.hpp": "",
                           ERROR: "tessera/detail/array/x.hpp"}, "base must not include")
        self.assert_wrong({"include/tessera/detail/stray.hpp": ""}, "lies on no floor")

    def test_private_headers_are_named_from_the_root(self):
        self.assert_wrong({"src/base/a.hpp": "", "src/base/a.cpp": "a.hpp"},
                          'a.hpp is named by its place; write "src/base/a.hpp"')

    def test_headers_of_others_stand_in_src_only(self):
        self.assert_wrong({ERROR: "<mpi.h>"}, "a header of include/ must not include mpi.h")
        self.assert_fine({"include/tessera/array/kokkos_view.hpp": "<Kokkos_Core.hpp>"})

    def test_what_lies_nowhere_or_is_not_there_is_named(self):
        self.assert_wrong({"src/cellar/a.cpp": ""}, "there is no floor cellar")
        self.assert_wrong({"src/device/rocm/a.cpp": ""}, "floor device has no room rocm")
        self.assert_wrong({ERROR: "tessera/base/gone.hpp"},
                          "there is no file include/tessera/base/gone.hpp")

    def test_rooms_of_the_top_floor_know_each_other_only_as_the_table_says(self):
        top = {"include/tessera/strategy/s.hpp": "", "include/tessera/io/i.hpp": ""}
        self.assert_fine({**top, "src/nn/n.cpp": "tessera/strategy/s.hpp"})
        self.assert_wrong({**top, "src/nn/n.cpp": "tessera/io/i.hpp"}, "nn must not include")
        self.assert_wrong({**top, "src/array/a.cpp": "tessera/io/i.hpp"}, "array must not include")

    def test_tests_see_everything_and_examples_what_users_see(self):
        tree = {"src/base/secret.hpp": "", "include/tessera/detail/base/x.hpp": "", ERROR: ""}
        self.assert_fine({**tree, "tests/base/a_test.cpp": "src/base/secret.hpp <doctest/doctest.h>"})
        self.assert_fine({**tree, "examples/a.cpp": "tessera/base/error.hpp"})
        self.assert_wrong({**tree, "examples/a.cpp": "tessera/detail/base/x.hpp"},
                          "examples include what users may")

    def test_cycles_between_rooms_are_named(self):
        self.assert_wrong({"src/base/a.hpp": "src/array/b.hpp", "src/array/b.hpp": "src/base/a.hpp"},
                          "base must not include",
                          "rooms include each other: array -> base -> array")


def upward_calls(files: dict[str, str]) -> list[str]:
    """What is wrong with the calls of a tree of these files: path -> text."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Tree(root, HOUSE).calls_upwards()


@unittest.skipUnless(has_ctags(), "universal-ctags is not installed")
class Calls(unittest.TestCase):
    ABOVE = {"src/array/sum.hpp": "namespace tessera {\ntemplate <class E>\nint sum_of(E const& e);\n"
                                  "inline int half_of(int a) { return a / 2; }\n}\n"}

    def assert_fine(self, text: str, **more: str):
        self.assertEqual(upward_calls({**self.ABOVE, "src/base/a.cpp": text, **more}), [])

    def assert_wrong(self, text: str, words: str):
        found = upward_calls({**self.ABOVE, "src/base/a.cpp": text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_a_function_that_only_a_floor_above_declares_is_not_called(self):
        self.assert_wrong("template <class E>\nint f(E const& e) {\n  return sum_of(e);\n}\n",
                          "src/base/a.cpp:3: base must not call sum_of, which only src/array/sum.hpp")
        self.assert_wrong("template <class E>\nint f(E e) { return half_of<E>(e); }\n", "half_of")

    def test_calls_downwards_are_fine(self):
        self.assertEqual(upward_calls({
            "include/tessera/base/text.hpp": "namespace tessera {\nint text_of(int a);\n}\n",
            "src/array/a.cpp": "int f(int a) { return text_of(a); }\n"}), [])

    def test_a_floor_may_call_what_it_declares_too(self):
        self.assert_fine("int g(int a) { return sum_of(a); }\n",
                         **{"src/base/x.hpp": "namespace tessera {\nint sum_of(int a);\n}\n"})
        self.assert_fine("static int half_of(int a) { return a; }\nint g() { return half_of(1); }\n")

    def test_local_names_members_and_qualified_names_are_no_such_calls(self):
        self.assert_fine("int g() {\n  auto const sum_of = [](int a) { return a; };\n"
                         "  return sum_of(1);\n}\n")
        self.assert_fine("template <class F>\nint g(F const& sum_of) { return sum_of(1); }\n")
        self.assert_fine("template <class S>\nint g(S const& s, S* p) {\n"
                         "  return s.sum_of(1) + p->sum_of(2) + S::sum_of(3);\n}\n")

    def test_comments_and_texts_are_no_calls(self):
        self.assert_fine("// sum_of(1)\n/* sum_of(2)\n sum_of(3) */\n"
                         'char const* text = "sum_of(4)";\nchar const quote = \'"\';\n')


class Drawing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("include/tessera/base/error.hpp", "\n" * 300)
        self.write("src/device/cuda/queue.cpp", '#include "tessera/base/error.hpp"\n' + "\n" * 900)
        self.write("src/device/device.cpp", "\n" * 120)

    def write(self, name: str, text: str):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def test_floors_are_drawn_highest_first_with_lines_and_includes(self):
        self.assertEqual(Tree(self.root, HOUSE).draw().splitlines(), [
            "```text",
            "floor, room      lines  includes",
            "device            1000  base",
            "  cuda             900",
            "  .                100",
            "base               300",
            "```",
        ])

    def test_an_old_drawing_is_found_and_renewed(self):
        document = self.root / "CONTRIBUTING.md"
        document.write_text(f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n")
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(main(["--check-drawing", str(document), str(self.root)]), 1)
            self.assertEqual(main(["--write-drawing", str(document), str(self.root)]), 0)
            self.assertEqual(main(["--check-drawing", str(document), str(self.root)]), 0)
        self.assertTrue(document.read_text().endswith("```\n" + MARKS[1] + "\nafter\n"))

    def test_a_few_lines_more_leave_the_drawing_as_it_is(self):
        old = "base               900"
        self.assertEqual(differences(old, "base               1000"), [])
        self.assertEqual(len(differences(old, "base               2000")), 1)
        self.assertEqual(len(differences(old, "base               900  index")), 2)

    def test_a_document_without_a_drawing_is_an_error(self):
        with self.assertRaises(SystemExit):
            drawing_in("no marks")


if __name__ == "__main__":
    unittest.main()
