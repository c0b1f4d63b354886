"""The recipes in tools/docs/recipes: what they promise is true of the tree."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def recipe(name):
    return (ROOT / "tools/docs/recipes" / name).read_text(encoding="utf-8")


def sources_of(root):
    """All C++ of a tree with its text, by place: product and tests."""
    folders = ("core", "ops", "cells", "optim", "data", "tools", "tests")
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8", errors="replace")
            for folder in folders for path in sorted((root / folder).rglob("*.[hc]*")) if path.suffix in (".h", ".cpp")}


def write_tree(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return pathlib.Path(folder)


# ---- Add a task ------------------------------------------------------------------------------------------------------

ENTRY = re.compile(r"^constinit const TaskEntry (k\w+) = \{\n\s*\.name = \"(\w+)\"", re.MULTILINE)


def task_breaches(root):
    """Where adding a task would take more than its own file, a declaration and a row, and its tests."""
    registry = (root / "data/tasks/registry.cpp").read_text(encoding="utf-8")
    rows = re.findall(r"^ *(k\w+),$", registry, re.MULTILINE)
    declared = set(re.findall(r"\bk\w+Task\b", (root / "data/tasks/registry.h").read_text(encoding="utf-8")))
    tests = (root / "tests/data/tasks/registry_test.cpp").read_text(encoding="utf-8")
    breaches, entries = [], []
    named = {other: set(re.findall(r"\bk\w+Task\b", text)) for other, text in sources_of(root).items()}
    for path in sorted((root / "data/tasks").glob("*.cpp")):
        for constant, name in ENTRY.findall(path.read_text(encoding="utf-8")):
            entries.append((name, constant))
            if constant not in declared:
                breaches.append(f"data/tasks/registry.h does not declare {constant}")
            own = (path.relative_to(root).as_posix(), "data/tasks/registry.h", "data/tasks/registry.cpp")
            breaches += [f"{other} names {constant}" for other, constants in named.items()
                         if other not in own and not other.startswith("tests/data/") and constant in constants]
            if f'"task": "{name}"' not in tests:
                breaches.append(f"no test reads the options of {name}")
    if rows != [constant for _, constant in sorted(entries)]:
        breaches.append(f"data/tasks/registry.cpp lists {rows}, the tasks in their order are {sorted(entries)}")
    return breaches


class AddATask(unittest.TestCase):
    def small_tree(self, folder, changes=()):
        """A tree of two tasks with one change: {file: text}."""
        files = {
            "data/tasks/registry.cpp": "    kAddingTask,\n    kCopyTask,\n",
            "data/tasks/registry.h": "extern const TaskEntry kAddingTask, kCopyTask;\n",
            "tests/data/tasks/registry_test.cpp": '{"task": "adding"} {"task": "copy"}',
            "tools/other.cpp": "",
        }
        for name, constant in ("adding", "kAddingTask"), ("copy", "kCopyTask"):
            files[f"data/tasks/{name}.cpp"] = f'constinit const TaskEntry {constant} = {{\n    .name = "{name}",\n'
        return write_tree(folder, {**files, **dict(changes)})

    def test_a_task_is_its_own_files_one_row_and_its_tests(self):
        self.assertEqual(task_breaches(ROOT), [])
        self.assertGreaterEqual(len(ENTRY.findall((ROOT / "data/tasks/copy.cpp").read_text())), 1)

    def test_breaches_are_found(self):
        for changes, breach in (
                ({}, None),
                ({"data/tasks/registry.cpp": "    kAddingTask,\n"}, "data/tasks/registry.cpp lists"),
                ({"data/tasks/registry.cpp": "    kCopyTask,\n    kAddingTask,\n"}, "data/tasks/registry.cpp lists"),
                ({"data/tasks/registry.h": "extern const TaskEntry kAddingTask;"}, "data/tasks/registry.h does not declare kCopyTask"),
                ({"tests/data/tasks/registry_test.cpp": '{"task": "copy"}'}, "no test reads the options of adding"),
                ({"tools/other.cpp": "load(kCopyTask)"}, "tools/other.cpp names"),
                ({"tests/ops/a_test.cpp": "load(kCopyTask)"}, "tests/ops/a_test.cpp names")):
            with self.subTest(breach), tempfile.TemporaryDirectory() as folder:
                found = task_breaches(self.small_tree(folder, changes))
                self.assertEqual(len(found), 0 if breach is None else 1, found)
                self.assertTrue(breach is None or found[0].startswith(breach), found)

    def test_the_recipe_names_what_a_task_touches(self):
        page = recipe("task.md")
        for word in ("data/tasks/copy.cpp", "kCopyTask", "data/tasks/registry.h", "data/tasks/registry.cpp",
                     "tests/data/tasks/copy_test.cpp", "tests/data/tasks/registry_test.cpp", "tools/experiments/copy/"):
            self.assertIn(word, page)


# ---- Add a command ---------------------------------------------------------------------------------------------------

COMMAND = re.compile(r"^Command (\w+)_command\(\) \{", re.MULTILINE)


def command_breaches(root):
    """Where adding a command would take more than its own file and a row."""
    rows = (root / "tools/cli/commands.cpp").read_text(encoding="utf-8")
    called = re.findall(r"(?<!Command )\b(\w+)_command\(\)", rows)
    breaches, defined = [], []
    for path in sorted((root / "tools/cli").glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        for name in COMMAND.findall(text):
            defined.append(name)
            if path.stem != name:
                breaches.append(f"{path.relative_to(root).as_posix()} defines {name}_command")
            if "make_command<" not in text or f'"{name}"' not in text:
                breaches.append(f"{path.relative_to(root).as_posix()} does not make a command \"{name}\"")
    for place, text in sources_of(root).items():
        if place != "tools/cli/commands.cpp":
            breaches += [f"{place} names {name}_command" for name in re.findall(r"(\w+)_command\b", text)
                         if name in called and place != f"tools/cli/{name}.cpp"]
    if sorted(called) != sorted(defined):
        breaches.append(f"tools/cli/commands.cpp calls {sorted(called)}, defined are {sorted(defined)}")
    return breaches


class AddACommand(unittest.TestCase):
    def small_tree(self, folder, changes=()):
        """A tree of two commands with one change: {file: text}."""
        files = {"tools/cli/commands.cpp": "Command train_command();\nCommand eval_command();\nreturn {train_command(), eval_command()};\n"}
        for name in "train", "eval":
            files[f"tools/cli/{name}.cpp"] = f'Command {name}_command() {{\n  return make_command<Arguments>("{name}",\n'
        return write_tree(folder, {**files, **dict(changes)})

    def test_a_command_is_one_file_and_one_row(self):
        self.assertEqual(command_breaches(ROOT), [])
        self.assertIn("Command data_command() {", (ROOT / "tools/cli/data.cpp").read_text())

    def test_breaches_are_found(self):
        for changes, breach in (
                ({}, None),
                ({"tools/cli/commands.cpp": "return {train_command()};"}, "tools/cli/commands.cpp calls"),
                ({"tools/cli/eval.cpp": ""}, "tools/cli/commands.cpp calls"),
                ({"tools/cli/eval.cpp": 'Command eval_command() {\nmake_command<A>("evaluate"'}, "tools/cli/eval.cpp does not make"),
                ({"tools/cli/other.cpp": "eval_command().run();"}, "tools/cli/other.cpp names eval_command"),
                ({"tests/tools/a_test.cpp": "eval_command().run();"}, "tests/tools/a_test.cpp names eval_command")):
            with self.subTest(breach), tempfile.TemporaryDirectory() as folder:
                found = command_breaches(self.small_tree(folder, changes))
                self.assertEqual(len(found), 0 if breach is None else 1, found)
                self.assertTrue(breach is None or found[0].startswith(breach), found)

    def test_the_recipe_names_what_a_command_touches(self):
        page = recipe("command.md")
        for word in ("tools/cli/data.cpp", "data_command()", "tools/cli/command.h", "tools/cli/commands.cpp",
                     "tests/cli/data_test.py"):
            self.assertIn(word, page)


# ---- Add an option ---------------------------------------------------------------------------------------------------

ROW = re.compile(r"\b(?:option|required)<&(\w+)::\w+>\(\s*\"(\w+)\"")
READ_BY_HAND = re.compile(r"\breader\.(?:optional|required|choice|required_choice)\(\s*\"(\w+)\"")
# A layer's "cell" or "layer" and the "type" of a loss, which say whose table is read.
BY_HAND = {"cells/models/model_json.cpp", "cells/models/loss_json.cpp"}


def option_breaches(root):
    """Where an option of a cell, a task or an optimizer would be more than a row of a table."""
    breaches = []
    for path in sorted(p for folder in ("cells", "data", "optim") for p in (root / folder).rglob("*.cpp")):
        place, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        if place not in BY_HAND:
            breaches += [f"{place} reads '{key}' without a row" for key in READ_BY_HAND.findall(text)]
    return breaches


class AddAnOption(unittest.TestCase):
    def test_an_option_is_one_row(self):
        self.assertEqual(option_breaches(ROOT), [])
        self.assertIn(("IndRnn", "longest"), ROW.findall((ROOT / "cells/indrnn.cpp").read_text()))

    def test_breaches_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = write_tree(folder, {"cells/rnn.cpp": 'option<&Rnn::units>("units", "size")', "optim/sgd.cpp": 'reader.optional("lr", lr, "rate")'})
            self.assertEqual(option_breaches(tree), ["optim/sgd.cpp reads 'lr' without a row"])

    def test_the_recipe_names_what_an_option_touches(self):
        page = recipe("option.md")
        for word in ("cells/indrnn.h", "cells/indrnn.cpp", "tests/cells/rows/indrnn.json", "core/json/options.h", "tools/train/synonyms.cpp"):
            self.assertIn(word, page)


if __name__ == "__main__":
    sys.exit(unittest.main())
