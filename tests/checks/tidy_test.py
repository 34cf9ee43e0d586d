"""Tests tidy.py on made-up compile commands.

usage: tidy_test.py
"""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from tidy import ROOT, write_commands  # noqa: E402

FILE = str(ROOT / "src/base/text.cpp")


class Commands(unittest.TestCase):
    def sources_of(self, command: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "compile_commands.json").write_text(json.dumps(
                [{"directory": folder, "file": FILE, "command": f"{command} -c {FILE}"}]))
            return write_commands(build, build)

    def test_what_a_compiler_for_cores_compiles_is_looked_at(self):
        for compiler in ("/usr/bin/c++ -Inot/nvcc/at/all", "ccache g++-12"):
            self.assertEqual(self.sources_of(compiler), [FILE], compiler)

    def test_what_nvcc_compiles_is_left_out_behind_a_launcher_too(self):
        for compiler in ("nvcc", "/usr/local/cuda/bin/nvcc -O1", "ccache /opt/cuda/bin/nvcc",
                         "cmake -E env CCACHE_NOHASHDIR=1 /usr/bin/ccache nvcc-13.0"):
            self.assertEqual(self.sources_of(compiler), [], compiler)


if __name__ == "__main__":
    unittest.main()
