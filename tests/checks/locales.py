"""Fails where the text that the sources write or read would depend on the locale of the program.

Text is composed by `text`, `join` and `TextStream`, numbers are read by std::from_chars, and files
by src/base/file_bytes.hpp.

usage: locales.py [ROOT]
"""
import pathlib
import re
import sys

FOLDERS = ("include", "src", "tools")
# The one place that makes streams.
EXEMPT = {"include/tessera/detail/base/text.hpp", "src/base/text.cpp"}
RULES = {
    "a stream in memory follows the program's locale; use text or TextStream": re.compile(
        r"\bstd::(?:basic_)?[io]?stringstream\b|#include <sstream>"),
    "a stream of a file follows the program's locale; use src/base/file_bytes.hpp": re.compile(
        r"\bstd::(?:basic_)?[io]?fstream\b|#include <fstream>"),
    "numbers are read by std::from_chars, which knows no locale": re.compile(
        r"\bstd::sto(?:d|f|ld|i|l|ll|ul|ull)\b|\bstrto(?:d|f|ld|l|ll|ul|ull)\b"
        r"|\bato(?:f|i|l|ll)\b|\bv?[fs]?scanf\b"),
    "printf writes fractions in the program's locale; use text": re.compile(
        r'printf\b[^;]*"[^"]*%[-+ #0-9.*l]*[aefgAEFG]', re.DOTALL),
    "std::to_string writes fractions in the program's locale; use text": re.compile(
        r"\bstd::to_string\([^;]*(?:\d\.\d|double|float)"),
    "the kinds of letters depend on the program's locale; compare with the letters": re.compile(
        r"\b(?:std::)?(?:is(?:space|blank|alpha|alnum|digit|xdigit|upper|lower|punct|print|cntrl|graph)"
        r"|to(?:upper|lower))\("),
    "locales are set in src/base/text.cpp alone": re.compile(
        r"\bstd::locale\b|\bsetlocale\b|\bimbue\b|#include <c?locale>"),
}


def complaints(text: str) -> list[str]:
    return [f"{text.count(chr(10), 0, found.start()) + 1}: {why}"
            for why, pattern in RULES.items() for found in pattern.finditer(text)]


def main(root: pathlib.Path) -> int:
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".cpp", ".hpp", ".cu") and str(path.relative_to(root)) not in EXEMPT]
    wrong = [f"{path.relative_to(root)}:{words}" for path in files
             for words in complaints(path.read_text())]
    print("\n".join(wrong) or f"none of {len(files)} files depends on a locale")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
