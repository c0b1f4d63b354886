"""Each recipe with a table of files names all that a new one of its kind touches, and nothing else.

The example of a recipe was added by it, so wherever the tree names the example, the recipe must name the file. The whole
tree is searched: product, tests and documents. Experiments are users' models, and the schema is written by the tool.
"""

import os
import pathlib
import re
import sys
import tempfile
import unittest
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = {".h", ".cpp", ".py", ".pyi", ".md", ".txt", ".cmake", ".sh", ".json"}
NOT_SEARCHED = re.compile(r"(build|\.[a-z]+|CHANGELOG\.md|tools/docs/recipes|tools/experiments|tests/structure|"
                          r"tools/python/lagtape/experiments\.pyi)(/|$)")  # the last is made of the schema by a program


class Recipe(NamedTuple):
    page: str
    example: str
    most: int  # files that are written or changed
    other_uses: dict = {}  # files that use the example, or name it for another reason


RECIPES = (
    Recipe("element_function.md", r"erf", 6, {
        "tests/cli/export_blob_test.py": "functions that a step of a blob may call",
        "ops/recurrence/equations/step_functions.cpp": "gelu of equations",
        "ops/kernels/vector_math.inc.h": "the approximation that its formula calls",
        "tests/cells/written/golden/cells_in_numpy.py": "gelu of NumPy", "cells/s4d.cpp": "a cell that has it", "tests/cells/rows/s4d.json": "the same cell as equations",
        "tools/exchange/import/cell_equations.cpp": "gelu of a state_dict", "tools/exchange/import/onnx_elements.cpp": "Erf and Gelu of ONNX", "tools/exchange/import/step_functions.cpp": "gelu of Keras and ONNX"}),
    Recipe("loss.md", r"huber(?:_row)?", 12, {
        "tests/malformed/messages.json": "an example in a message",
        **{place: "the robust losses of fits" for place in (
            "optim/levenberg_marquardt.cpp", "optim/levenberg_marquardt.h", "tests/optim/levenberg_marquardt_test.cpp", "tools/cli/fit.cpp",
            "tests/cli/fit_test.py", "tools/docs/fit.md", "tools/python/lagtape/_fit.py")},
        "tests/cli/ridge_test.py": "a loss that ridge refuses",
        "tools/train/synonyms.cpp": "what to take for another loss", "tests/tools/train/synonyms_test.cpp": "the same"}),
    Recipe("metric.md", r"mape", 2, {"tests/cli/training_options_test.py": "all metrics of numbers at once"}),
    Recipe("importer.md", r"nam|NAM|nam_file|read_nam|nam_model", 12, {place: "the same format as an export" for place in (
        "tests/cli/export_plain_test.py", "tools/cli/export.cpp", "tools/docs/README.md", "tools/docs/export.md", "tools/lagtape.h",
        "tools/exchange/export/plain/nam_file.cpp", "tools/exchange/export/plain/nam_file.h", "tools/python/lagtape/_tool.py")}),
    Recipe("cell.md", r"[Ss]ru", 8, {
        "tests/python/reader_cells_test.py": "the cell as a reader writes it", "tools/bench/README.md": "times of learners",
        "tests/python/torch_reset_test.py": "a model of layers without lags",
        "tests/cells/models/learner_test.cpp": "a model that learns from a stream", "tools/docs/learning.md": "cells that do",
        "tests/cli/configurations_test.py": "cells that take no dilations", "tools/docs/cells.md": "the list of cells",
        "tools/bench/rows.py": "the benchmark of the paper's models",
        "tools/bench/experiments/sru_1000.json": "the same", "tools/bench/experiments/sru_2000.json": "the same"}),
)


def files_of(page):
    """The first column of a recipe's table."""
    return re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)


def texts_of(root):
    """The texts of a tree by their place."""
    texts = {}
    for folder, folders, files in os.walk(root):
        here = pathlib.Path(folder)
        folders[:] = [name for name in folders if not NOT_SEARCHED.match((here / name).relative_to(root).as_posix())]
        for path in (here / name for name in files):
            place = path.relative_to(root).as_posix()
            if path.suffix in TEXTS and not NOT_SEARCHED.match(place):
                texts[place] = path.read_text(encoding="utf-8", errors="replace")
    return texts


def breaches(root, texts, recipe, page):
    """Where a recipe's table is not what the tree says."""
    word = re.compile(rf"(?<![A-Za-z0-9_])(?<!std::)(?:{recipe.example})(?![A-Za-z0-9_])")
    listed = files_of(page)
    named = {place for place, text in texts.items() if word.search(text) or re.fullmatch(recipe.example, pathlib.Path(place).stem)}
    found = [f"{recipe.page} lists {file} twice" for file in set(listed) if listed.count(file) > 1]
    found += [f"{recipe.page} lists {file}, which is not there" for file in listed if not (root / file).exists()]
    searched = [file for file in listed if not NOT_SEARCHED.match(file)]
    found += [f"{file} has no example of {recipe.page}" for file in searched if (root / file).exists() and file not in named]
    found += [f"{recipe.page} does not name {file}" for file in sorted(named - set(listed) - set(recipe.other_uses))]
    found += [f"{file} is no other use of the example of {recipe.page}" for file in recipe.other_uses if file not in named]
    if len(listed) > recipe.most:
        found.append(f"{recipe.page} takes {len(listed)} files, more than {recipe.most}")
    return found


class RecipeFilesTest(unittest.TestCase):
    def test_every_recipe_names_the_files_of_its_example(self):
        texts = texts_of(ROOT)
        for recipe in RECIPES:
            page = (ROOT / "tools/docs/recipes" / recipe.page).read_text(encoding="utf-8")
            self.assertTrue(files_of(page), recipe.page)
            self.assertEqual(breaches(ROOT, texts, recipe, page), [])

    def test_breaches_are_found(self):
        recipe = Recipe("new.md", "gauss", 2, {"data/used.cpp": "a use"})
        page = "| file | what |\n|---|---|\n| `ops/a.h` | the row |\n| `tests/b_test.py` | its test |\n"
        tree = {"ops/a.h": "{gauss, 1}", "tests/b_test.py": "f('gauss')", "data/used.cpp": "gauss(x)", "ops/c.h": "gaussian",
                "tools/experiments/x.json": "gauss", "build/ops/a.h": "gauss", "tests/d.cpp": "std::gauss(x)"}
        for changes, breach in (
                ({}, None),
                ({"ops/a.h": "none"}, "ops/a.h has no example"),
                ({"ops/a.h": None}, "new.md lists ops/a.h, which is not there"),
                ({"tests/python/e.py": "gauss"}, "new.md does not name tests/python/e.py"),
                ({"tools/gauss.json": "{}"}, "new.md does not name tools/gauss.json"),
                ({"tools/page.md": "`gauss`"}, "new.md does not name tools/page.md"),
                ({"data/used.cpp": "none"}, "data/used.cpp is no other use")):
            with self.subTest(breach), tempfile.TemporaryDirectory() as folder:
                for name, text in {**tree, **changes}.items():
                    if text is not None:
                        path = pathlib.Path(folder) / name
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.write_text(text)
                found = breaches(pathlib.Path(folder), texts_of(pathlib.Path(folder)), recipe, page)
                self.assertEqual(len(found), 0 if breach is None else 1, found)
                self.assertTrue(breach is None or found[0].startswith(breach), found)
        self.assertIn("new.md takes 2 files, more than 1", breaches(ROOT, {}, recipe._replace(most=1), page))


if __name__ == "__main__":
    sys.exit(unittest.main())
