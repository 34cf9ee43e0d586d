"""Tests locales.py on single lines.

usage: locales_test.py
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from locales import complaints  # noqa: E402


class Locales(unittest.TestCase):
    def test_streams_numbers_and_letters_are_found(self):
        for line in ("std::ostringstream out;", "std::ifstream file(path);", "auto x = std::stod(words);",
                     'std::snprintf(to, 9, "%-5.1f", x);', 'std::printf(\n    "%d %s"\n    " %g", x);',
                     "if (std::isspace(c)) ++n;", "std::tolower(c)", "strtod(from, &end)",
                     "auto s = std::to_string(0.5);", "out.imbue(std::locale());"):
            self.assertTrue(complaints(line), line)

    def test_what_knows_no_locale_is_fine(self):
        for line in ("TextStream out;", "std::ostream& out", 'std::snprintf(to, 9, "%016llx", x);',
                     "std::from_chars(begin, end, number);", "std::to_string(8 * bytes)",
                     "is_space(c)", 'log_error("100 % of it");'):
            self.assertEqual(complaints(line), [], line)

    def test_the_line_is_named(self):
        self.assertTrue(complaints("\n\nstd::stringstream both;")[0].startswith("3: "))


if __name__ == "__main__":
    unittest.main()
