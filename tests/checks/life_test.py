"""Tests life.py on names and on a made-up profile.

usage: life_test.py
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from life import Life, Profile, short_name, types_of  # noqa: E402

FILES = ("src/base/text.cpp", "src/plan/plan.cpp", "src/array/array.cpp", "src/nowhere/x.cpp",
         "src/mesh/table.inc")
STATEMENTS = 10


class Names(unittest.TestCase):
    def test_a_function_is_known_without_arguments(self):
        for name, expected in {
            "void tessera::f<int>(tessera::B<int, 1>&)": "tessera::f",
            "decltype(auto) tessera::(anonymous namespace)::f<int>(int&&)": "tessera::f",
            "tessera::X<(tessera::K)1>::X(int)": "tessera::X::X",
            "tessera::P::operator()(int) const": "tessera::P::operator()",
            "bool tessera::operator< <int>(tessera::X<int>)": "tessera::operator<",
            "tessera::A::operator bool() const": "tessera::A::operator bool",
            "std::vector<tessera::Q> tessera::K::f[abi:cxx11]() const": "tessera::K::f",
            "void (*tessera::f<int>(long))(void const*, long)": "tessera::f",
            "std::array<int, 2ul> const (&tessera::K::f() const) [3]": "tessera::K::f",
            "int (* const*tessera::f<int>())(long)": "tessera::f",
            "std::array<long, (((1ul)>(0ul)))?(1ul) : (0ul)> tessera::f<1ul>(int)": "tessera::f",
            "main": "main",
        }.items():
            self.assertEqual(short_name(name), expected)

    def test_a_lambda_belongs_to_its_function(self):
        name = "void tessera::f() const::{lambda(auto:1)#1}::operator()<int>(int) const"
        self.assertEqual(short_name(name), "tessera::f")
        self.assertEqual(types_of(name, {"tessera"}), ["tessera::f()::{lambda(auto:1)#1}"])

    def test_members_and_operators_have_types_and_other_functions_none(self):
        self.assertEqual(types_of("tessera::A<int>::f(int)", {"tessera"}), ["tessera::A<int>"])
        operator = "tessera::operator<<(std::ostream&, tessera::G const&)"
        self.assertEqual(types_of(operator, {"tessera"}), ["tessera::G"])
        self.assertEqual(types_of("tessera::f(tessera::G)", {"tessera"}), [])


class Calls(unittest.TestCase):
    texts = {}  # of files

    def life_of(self, *calls: tuple) -> Life:
        return Life([self.recording(*calls)], STATEMENTS)

    def recording(self, *calls: tuple) -> Profile:
        """Of calls (file, caller, file, callee, count); a callee with a * is called by address."""
        lines = ["ob=(1) /driver"]
        for address, (caller_file, caller, callee_file, callee, count) in enumerate(calls):
            by_address = callee.endswith("*")
            lines += [f"fl={self.id(caller_file)}", f"fn={self.id(caller)}",
                      f"cfi={self.id(callee_file)}", f"cfn={self.id(callee.rstrip('*'))}",
                      f"calls={count} 0x0 1", f"{2 * address + by_address:#x} 7 1"]
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file in FILES:
                (root / file).parent.mkdir(parents=True)
                (root / file).write_text(self.texts.get(file, ""))
            (root / "profile").write_text("\n".join(lines))
            profile = Profile(root / "profile", self, pathlib.Path("/driver"), root)
            profile.namespaces.add("tessera")
            return profile

    def id(self, name: str) -> str:
        return f"({abs(hash(name))}) {name}"

    def calls_by_address(self, address: int) -> bool:
        return address % 2 == 1

    def edges(self, calls: dict) -> list[tuple]:
        return [(caller[1], callee[1]) for caller, callee in calls]

    def test_what_one_recording_lacks_does_not_count(self):
        always = (FILES[2], "tessera::a()", FILES[1], "tessera::b()", 10)
        once = (FILES[2], "tessera::a()", FILES[0], "tessera::c()", 10)
        life = Life([self.recording(always, once), self.recording(always)], STATEMENTS)
        self.assertEqual(life.figures(), {"functions": 2, "files": 2, "climbs": 0})

    def test_what_is_called_less_than_once_per_statement_does_not_count(self):
        life = self.life_of((FILES[2], "tessera::a()", FILES[1], "tessera::b()", 10),
                            (FILES[2], "tessera::a()", FILES[0], "tessera::c()", 2))
        self.assertEqual(life.figures(), {"functions": 2, "files": 2, "climbs": 0})

    def test_a_call_of_a_floor_above_climbs(self):
        life = self.life_of((FILES[0], "tessera::a()", FILES[1], "tessera::b()", 10))
        self.assertEqual(self.edges(life.climbs), [("tessera::a", "tessera::b")])

    def test_a_function_that_its_file_does_not_name_is_of_the_one_other_that_does(self):
        self.texts = {FILES[0]: "int b() { return 1; }"}
        life = self.life_of((FILES[1], "tessera::a()", FILES[2], "tessera::b()", 10))
        self.assertEqual((life.climbs, life.files), ({}, sorted([FILES[0], FILES[1]])))

    def test_a_call_climbs_by_way_of_another_library(self):
        life = self.life_of((FILES[0], "tessera::a()", "functional", "std::invoke()", 10),
                            ("functional", "std::invoke()", FILES[1], "tessera::b()", 10))
        self.assertEqual(self.edges(life.climbs), [("tessera::a", "tessera::b")])
        self.assertEqual(life.figures()["functions"], 2)

    def test_a_call_by_address_is_listed_apart(self):
        life = self.life_of((FILES[0], "tessera::a()", FILES[1], "tessera::B::b()*", 10))
        self.assertEqual((life.climbs, list(life.apart.values())), ({}, ["by address"]))

    def test_a_call_of_what_a_template_was_given_is_listed_apart(self):
        caller = "void tessera::a<tessera::B>()"
        life = self.life_of((FILES[0], caller, FILES[1], "tessera::B::b()", 10))
        self.assertEqual((life.climbs, list(life.apart.values())), ({}, ["handed"]))

    def test_a_file_may_have_any_suffix(self):
        life = self.life_of((FILES[2], "tessera::a()", FILES[4], "tessera::b()", 10))
        self.assertEqual((life.climbs, life.files), ({}, sorted([FILES[2], FILES[4]])))

    def test_climbs_are_unknown_where_a_file_lies_on_no_floor(self):
        life = self.life_of((FILES[0], "tessera::a()", FILES[3], "tessera::b()", 10))
        self.assertEqual(life.figures(), {"functions": 2, "files": 2})
        self.assertEqual(life.unknown, "there is no floor nowhere")


if __name__ == "__main__":
    unittest.main()
