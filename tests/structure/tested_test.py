"""Each folder of the libraries has a unit test: a test in C++ includes one of its headers. The tool, C and Python are
tested end to end."""

import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOUSES = ("core", "ops", "cells", "optim", "data", "tools")
END_TO_END = ("tools", "tools/bench", "tools/c", "tools/cli", "tools/cli/terminal", "tools/python/src")
INCLUDE = re.compile(r'#include "lagtape/(\S+)/[^/"]+"')


def untested(root):
    """Folders with headers of which no test includes one."""
    folders = {path.parent.relative_to(root).as_posix() for house in HOUSES for path in (root / house).rglob("*.h")}
    included = {folder for path in (root / "tests").rglob("*") if path.suffix in (".h", ".cpp")
                for folder in INCLUDE.findall(path.read_text(encoding="utf-8"))}
    return sorted(folders - included - set(END_TO_END))


class TestedTest(unittest.TestCase):
    def test_each_folder_has_a_unit_test(self):
        self.assertEqual(untested(ROOT), [])

    def test_a_folder_without_one_is_found(self):
        with tempfile.TemporaryDirectory() as place:
            root = pathlib.Path(place)
            for name, text in (("core/a.h", ""), ("core/io/b.h", ""), ("tools/c/c.h", ""),
                               ("tests/core/a_test.cpp", '#include "lagtape/core/a.h"\n')):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            self.assertEqual(untested(root), ["core/io"])


if __name__ == "__main__":
    unittest.main()
