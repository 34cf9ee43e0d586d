"""Fails unless the README and the guides show their examples as they are, and the README names the
two commands.

usage: readme.py ROOT
"""
import pathlib
import re
import sys


def main(root: pathlib.Path) -> int:
    readme = (root / "README.md").read_text()
    program = (root / "examples" / "first_array.cpp").read_text()
    wrong = []
    shown = re.findall(r"```cpp\n(.*?)```", readme, re.DOTALL)
    if program not in shown:
        wrong.append("the README does not show examples/first_array.cpp as it is")
    histogram = (root / "examples" / "histogram.cpp").read_text()
    if histogram not in (root / "docs" / "guide" / "one_sided.md").read_text():
        wrong.append("docs/guide/one_sided.md does not show examples/histogram.cpp as it is")
    for command in ("examples/run heat_1d", "tests/run"):
        if not re.search(rf"^    {re.escape(command)}\b", readme, re.MULTILINE):
            wrong.append(f"the README does not have the command '{command}'")
    for link in re.findall(r"\]\(([\w./-]+\.md)\)", readme):
        if "://" not in link and not (root / link).exists():
            wrong.append(f"the README links to {link}, which is not there")
    print("\n".join(wrong) or "the README shows what is there")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
