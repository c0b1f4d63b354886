"""The recipe for a new element-wise function names all its files, and no others.

It is checked with a function that was added by it.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = "tools/docs/recipes/element_function.md"
EXAMPLE = re.compile(r"\bsoftplus\b")
MOST = 8
# They have a use of their own for the example: the loss of a logit, PyTorch's numbers, its ends.
OTHER_USES = {"ops/recurrence/oracle/unroll.cpp", "tests/ops/golden_test.cpp", "tests/ops/make_golden.py",
              "tests/ops/gradients_test.cpp", "tests/ops/elementwise_test.cpp"}


def files_of(text):
    """The first column of the recipe's table."""
    return set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))


def files_with_example(root):
    """The sources of the operations and their tests that name the example. Cells and tools are free to use it."""
    sources = (path for folder in ("core", "ops", "tests/core", "tests/ops") for path in (root / folder).rglob("*"))
    return {path.relative_to(root).as_posix() for path in sources
            if path.suffix in (".h", ".cpp", ".py") and EXAMPLE.search(path.read_text(encoding="utf-8"))}


class RecipeTest(unittest.TestCase):
    def test_the_table_is_found(self):
        self.assertEqual(files_of("| file | what |\n|---|---|\n| `a/b.h` | `c` |\n| `a/b.cpp` | d |\n"), {"a/b.h", "a/b.cpp"})

    def test_every_file_of_the_recipe_has_the_example(self):
        files = files_of((ROOT / RECIPE).read_text(encoding="utf-8"))
        self.assertTrue(files)
        self.assertLessEqual(len(files), MOST)
        for name in files:
            self.assertRegex((ROOT / name).read_text(encoding="utf-8"), EXAMPLE, name)

    def test_no_other_file_needs_the_example(self):
        files = files_of((ROOT / RECIPE).read_text(encoding="utf-8"))
        self.assertLessEqual(files_with_example(ROOT) - files, OTHER_USES)


if __name__ == "__main__":
    unittest.main()
