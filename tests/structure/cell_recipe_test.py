"""Every cell follows the recipe tools/docs/recipes/cell.md."""

import json
import pathlib
import unittest

import structure

ROOT = pathlib.Path(__file__).parents[2]
RECIPE = ROOT / "tools/docs/recipes/cell.md"
ROW_KEYS = {"options", "parameters", "counts", "equations"}


def rows_of(path):
    """The names of the rows of a file of experiments."""
    return json.loads(path.read_text(encoding="utf-8"))["rows"].keys()


def cell_breaches(root, struct, name):
    """The parts of the recipe that a cell lacks."""
    source = next((p for p in structure.sources(root, "cells") if p.suffix == ".cpp" and p.stem == name), None)
    if source is None:
        return [f"there is no cells/{name}.cpp"]
    is_written = source.parent.name == "written"  # as equations, compared with NumPy
    test = (root / "tests" / source.relative_to(root)).parent / (f"golden/{name}.json" if is_written else name + "_test.cpp")
    row = root / "tests/cells/rows" / (name + ".json")
    text = source.read_text(encoding="utf-8")
    breaches = [f"there is no {path.relative_to(root)}" for path in (source.with_suffix(".h"), test, row) if not path.exists()]
    if f"LayerEntry {struct}::kEntry" not in text:
        breaches.append(f"{name}.cpp does not define {struct}::kEntry")
    if "::build(" in text and "require_valid(*this)" not in text:
        breaches.append(f"the build of {name} does not check the options")
    if row.exists() and not ROW_KEYS - {"counts"} - ({"equations"} if is_written else set()) <= json.loads(row.read_text(encoding="utf-8")).keys() <= ROW_KEYS | {
            "not_of_the_step", "no_gradient"}:
        breaches.append(f"the row of {name} has other keys than the recipe")
    experiments = root / "tools/experiments"
    if not list(experiments.glob(f"*/{name}.json")) and not any(name in rows_of(path) for path in experiments.glob("*/rows.json")):
        breaches.append(f"{name} has no ready experiment")
    return breaches


class CellRecipeTest(unittest.TestCase):
    def test_its_row_of_the_registry_is_as_it_says(self):
        registry = (ROOT / "cells/cells.h").read_text(encoding="utf-8")
        self.assertRegex(registry, r"(?m)^    Sru::kEntry,$")
        self.assertIn('#include "lagtape/cells/sru.h"', registry)
        self.assertIn("`Sru::kEntry`", RECIPE.read_text(encoding="utf-8"))

    def test_every_cell_follows_it(self):
        cells = structure.cells_of(ROOT)
        self.assertGreater(len(cells), 20)
        for struct, name in cells.items():
            self.assertEqual(cell_breaches(ROOT, struct, name), [])

    def test_a_cell_that_does_not_is_found(self):
        self.assertEqual(cell_breaches(ROOT, "Nobody", "nobody"), ["there is no cells/nobody.cpp"])
        self.assertEqual(cell_breaches(ROOT, "Nobody", "sru"), ["sru.cpp does not define Nobody::kEntry"])
        self.assertIn("there is no tests/cells/build/recorder_test.cpp", cell_breaches(ROOT, "Recorder", "recorder"))


if __name__ == "__main__":
    unittest.main()
