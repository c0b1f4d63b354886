"""Every code block of the documents runs.

The shell blocks of a page are one session in a fresh folder with `tools/`, build/release/lagtape and, as NAME.json, the
page's experiments. Their trainings are shortened: an epoch where a page names none, two where it names some, one repeat of
a benchmark, a few runs of a search, a few sequences of an analysis (SHORTENED). Only the pages IN_FULL run as they are, in
the slow suite.

    ```sh              runs, and must succeed
    ```sh setup        installs or builds: compared with the scripts, packages and presets that there are
    ```sh aarch64      builds for another processor: aarch64_test.py runs it
    ```sh needs-data   needs published files: must be refused because of them, and for nothing else
    ```json            an experiment, a part of one, a paper's table, a search (the session finds it as search.json), or a
                       file of cells in continuous time: `lagtape check`, `table`, `search` or `solve` takes it
    ```python          runs after the page's shell blocks, all of a page in one Python; not where the module is not built
    ```python needs-torch  likewise, where PyTorch is installed, and so for every other module that a page needs
    ```sh needs-aeon   a part of the session, which runs where the module is installed; python3 is then the Python that has it
    ```python elsewhere  another library's: is compiled alone
    ```python toy      lines of tools/examples/toy.py, which tests/python/toy_test.py compares with the engine
    ```cpp ```c ```cmake  lines of a file in tests/consumer, which other tests build and run

Any other block is an error, and so is one that is indented instead of fenced.

The page of the benchmarks is not among them: its commands take minutes, and have their own tests.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import textwrap
import unittest

from tool import ToolTest, main, slow

ROOT = ToolTest.root
PAGES = sorted([ROOT / "README.md", ROOT / "tools/experiments/README.md",
                ROOT / "tools/experiments/delay_equations/README.md", *ROOT.glob("tools/docs/**/*.md"),
                *ROOT.glob(".github/*.md")])
GALLERY = [page for page in PAGES if page.parent.name == "gallery" and page.name != "README.md"]
IN_FULL = {"tools/docs/forecast.md", *(page.relative_to(ROOT).as_posix() for page in GALLERY)}
# Their trainings, compilers and imports of PyTorch take seconds of processor time.
TRAINING_PAGES = {"analysis", "cells", "coming_from", "delay_equations", "export", "memory", "python", "pytorch", "report", "search", "streaming", "tables",
                  "training"}

NEEDS = {"needs-" + module for module in ("torch", "sklearn", "matplotlib", "statsmodels", "aeon", "greykite")}

PYTHON = os.environ.get("LAGTAPE_PYTHON", "python3")

PART = {
    "name": "part",
    "data": {"task": "random", "length": 30, "input": 1, "output": 1, "train": 8, "valid": 8, "test": 8},
    "model": {"layers": [{"cell": "gru", "units": 4}], "readout": {}},
    "optimizer": {"type": "adam", "lr": 0.01},
    "train": {"epochs": 1, "batch": 8},
}

# The options that the lagtape of a shortened session adds to a command.
SHORTENED = """#!/usr/bin/env bash
command=$1; shift
arguments=() more=() epochs= repeats= runs=
[[ " $* " == *" --show "* ]] && epochs=none  # trains nothing, and finds the results of the settings that are given
for argument in "$@"; do
  [[ $argument == train.epochs=* && $epochs != none ]] && argument=train.epochs=2 epochs=given
  [[ $argument == --repeats ]] && repeats=given
  [[ $runs == next ]] && argument=4 runs=given
  [[ $argument == --runs ]] && runs=next
  arguments+=("$argument")
done
case $command in
  search) more=(--set train.epochs=2) ; [ "$runs" ] || more+=(--runs 3) ;;
  train | table) [ "$epochs" ] || more=(--set train.epochs=1) ;;
  bench) [ "$repeats" ] || more=(--repeats 1) ;;
  analyze) more=(--sequences 2 --steps 100) ;;
esac
exec "TOOL" "$command" "${arguments[@]}" "${more[@]}"
"""


class Block:
    def __init__(self, language, marks, text, line):
        self.language, self.marks, self.text, self.line = language, marks, text, line


def blocks_of(text):
    """The fenced blocks of a page, in order. ValueError for a block that could escape."""
    found, opened = [], None
    for number, line in enumerate(text.splitlines(), start=1):
        fence = line.strip().startswith("```")
        if opened is None and fence:
            language, *marks = line.strip()[3:].split() or [""]
            opened = Block(language, marks, "", number)
        elif opened is not None and fence:
            opened.text = textwrap.dedent(opened.text)
            found.append(opened)
            opened = None
        elif opened is not None:
            opened.text += line + "\n"
        elif re.match(r" {4}|\t", line) and line.strip():
            raise ValueError(f"line {number}: a block that is indented, not fenced")
    if opened is not None:
        raise ValueError(f"line {opened.line}: a block without an end")
    return found


def merged(part):
    """The parts of an experiment in one that is whole."""
    whole = json.loads(json.dumps(PART))
    for key, value in part.items():
        place = whole["model"] if key in ("layers", "readout") else whole
        place[key] = value
    if "cells" in part:
        whole["model"]["layers"] = [{"cell": name, "units": 4} for name in part["cells"]]
    return whole


def commands_of(text):
    """The commands of a shell block, without comments, continued lines joined."""
    lines = [re.sub(r"(^|\s+)#.*", "", line).strip() for line in text.replace("\\\n", " ").splitlines()]
    return [" ".join(line.split()) for line in lines if line]


def setup_breach(command, root):
    """The error of a command that installs or builds, or None."""
    words = command.split()
    presets = json.loads((root / "CMakePresets.json").read_text())
    if words[:2] == ["apt-get", "install"]:
        lists = re.findall(r"^\w*packages=\((.*?)\)", (root / "tools/setup.sh").read_text(), re.DOTALL | re.MULTILINE)
        script = " ".join(lists).split()
        return None if sorted(words[2:]) == sorted(script) else f"tools/setup.sh installs {sorted(script)}"
    if words[:2] == ["pip", "install"] and words[2].startswith("dist/"):
        return None if words[2] == "dist/lagtape-*-cp312-*.whl" else f"tools/release.sh makes no {words[2]}"
    if words[:2] == ["pip", "install"]:
        return None if (root / words[-1] / "pyproject.toml").exists() else f"there is no package {words[-1]}"
    if len(words) == 1 and words[0].startswith("tools/"):
        return None if os.access(root / words[0], os.X_OK) else f"there is no script {words[0]}"
    if words[0] == "mpirun":
        ranks, tool, experiment = words[1:3], words[3:5], root / words[5]
        known = ranks[0] == "-n" and tool == ["build/release/lagtape", "train"] and experiment.exists()
        return None if known else "not a training of the project's own experiments"
    cmake = (root / "CMakeLists.txt").read_text()
    for word in [word for word in words if word.startswith("-D")]:
        if f"option({word[2:].partition('=')[0]} " not in cmake:
            return f"CMakeLists.txt has no option {word}"
        words.remove(word)
    for start, kind in (["cmake", "--preset"], "configurePresets"), (["cmake", "--build", "--preset"], "buildPresets"), \
            (["ctest", "--preset"], "testPresets"):
        if words[:-1] == start:
            names = [preset["name"] for preset in presets[kind]]
            return None if words[-1] in names else f"no preset {words[-1]} among {names}"
    return "not a command of the set-up that this test knows"


def holds_lines(text, source):
    """Whether the lines of a text stand in a source one after the other, whatever their indentation and comments."""
    def plain(part):
        return [line for line in (re.sub(r"\s*(//|#(?!include)).*", "", one).strip() for one in part.splitlines()) if line]
    wanted, there = plain(text), plain(source)
    return bool(wanted) and any(there[i:i + len(wanted)] == wanted for i in range(len(there)))


class RulesTest(unittest.TestCase):
    """The rules themselves find what is wrong."""

    def test_a_block_that_could_escape_is_an_error(self):
        for text in ("a\n\n    lagtape train x.json\n", "```sh\nlagtape\n"):
            self.assertRaises(ValueError, blocks_of, text)
        found = blocks_of("```sh setup\na\n```\n- b\n  ```json\n  { }\n  ```\n")
        self.assertEqual([(one.language, one.marks, one.text) for one in found], [("sh", ["setup"], "a\n"), ("json", [], "{ }\n")])

    def test_parts_become_whole(self):
        whole = merged({"layers": [1], "train": {"clip": 5}})
        self.assertEqual((whole["model"]["layers"], whole["train"], whole["name"]), ([1], {"clip": 5}, "part"))

    def test_commands_are_told_from_comments(self):
        self.assertEqual(commands_of("# all\na --b  # c\nd \\\n   e\n"), ["a --b", "d e"])

    def test_a_setup_that_the_project_has_not_is_a_breach(self):
        for command in ("tools/gone.sh", "pip install ./tools/gone", "cmake --preset fastest", "apt-get install g++", "rm -rf build",
                        "cmake --preset release -DLAGTAPE_GONE=ON", "mpirun -n 2 build/release/lagtape train tools/gone.json"):
            self.assertIsNotNone(setup_breach(command, ROOT), command)

    def test_lines_must_stand_one_after_the_other(self):
        source = "int main() {\n  a();  // why\n  b();\n  c();\n}\n"
        self.assertTrue(holds_lines("a();\nb();   // other\n", source))
        for text in ("a();\nc();\n", "b();\na();\n", "d();\n", "", "// why\n"):
            self.assertFalse(holds_lines(text, source), text)


def modules_of(block):
    return frozenset(mark.removeprefix("needs-") for mark in block.marks)


class SessionTest(ToolTest):
    """Checks a page in the test's folder."""

    def check_json(self, page, block):
        text = block.text.strip()
        content = json.loads(text if text.startswith("{") else "{" + text + "}")
        if "base" in content:
            task = self.folder / f"rows-{block.line}"
            shutil.copytree(ROOT / "tools/experiments/mackey_glass", task)
            (task / "rows.json").write_text(text)
            for row in content["rows"]:
                self.run_tool("check", task / "rows.json", "--row", row)
        elif "rows" in content:
            task = self.folder / f"table-{block.line}"
            shutil.copytree(ROOT / "tools/experiments/enso", task)
            (task / "table.json").write_text(text)
            self.run_tool("table", task, "--show")
        elif "ranges" in content:
            self.link_tools()
            self.run_tool("search", self.write("search.json", text), "--show")
        elif "cells" in content and "model" not in content and all("ode" in cell for cell in content["cells"].values()):
            self.run_tool("solve", self.write(content["name"] + ".json", text), "--times", "0,1", "--derivatives")
        elif "model" in content:
            path = self.write(content["name"] + ".json", text)
            if "path" not in content["data"] and content["data"]["task"] != "audio":  # else the session makes the file first, and then trains
                self.run_tool("check", path)
        else:
            self.run_tool("check", self.write(f"part-{block.line}.json", merged(content)))

    def link_tools(self):
        if not (self.folder / "tools").exists():
            os.symlink(ROOT / "tools", self.folder / "tools")

    def run_session(self, page, script, needed):
        self.link_tools()
        tool = self.folder / "build/release/lagtape"
        tool.parent.mkdir(parents=True)
        if page.relative_to(ROOT).as_posix() in IN_FULL:
            tool.symlink_to(self.tool)
        else:
            tool.write_text(SHORTENED.replace("TOOL", self.tool))
            tool.chmod(0o755)
        if needed:
            (tool.parent / "python3").write_text(f'#!/bin/sh\nexec "{PYTHON}" "$@"\n')
            (tool.parent / "python3").chmod(0o755)
        environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-euo", "pipefail", "-x", "-c", script], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def run_python(self, page, script):
        compile(script, str(page), "exec")
        if "LAGTAPE_PYTHON" not in os.environ:
            self.skipTest(f"the Python of {page.relative_to(ROOT)} is not run: the module is not built")
        # PyTorch 2.13 uses torch.jit.script inside, and warns of it.
        warnings = ["-W", "error", "-W", "ignore::DeprecationWarning:torch.jit._script"]
        done = subprocess.run([os.environ["LAGTAPE_PYTHON"], "-B", *warnings, "-c", script], cwd=self.folder,
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def need(self, modules, page):
        for module in modules:
            if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode != 0:
                self.skipTest(f"{page.relative_to(ROOT)} is not run: {module} is missing")

    def check_needs_data(self, block):
        for command in commands_of(block.text):
            done = subprocess.run(["bash", "-c", command.replace("lagtape ", f"{self.tool} ", 1)], cwd=ROOT,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, command + done.stderr)
            self.assertRegex(done.stderr, "no such file|there is no|does not exist|No such file", command)

    def check_page(self, page):
        script = python = ""
        others = {}  # the scripts by the modules that they need
        needed = set()  # what the session needs
        for block in blocks_of(page.read_text()):
            with self.subTest(f"{page.relative_to(ROOT)}:{block.line}"):
                if block.language == "json":
                    self.check_json(page, block)
                elif block.language in ("cpp", "c", "cmake"):
                    sources = ROOT.glob("tests/consumer/" + {"cpp": "*.cpp", "c": "*.c", "cmake": "CMakeLists.txt"}[block.language])
                    self.assertTrue(any(holds_lines(block.text, one.read_text()) for one in sources),
                                    "these lines are in no file of tests/consumer:\n" + block.text)
                elif block.language == "sh" and block.marks == ["setup"]:
                    for command in commands_of(block.text):
                        self.assertIsNone(setup_breach(command, ROOT), command)
                elif block.language == "sh" and block.marks == ["aarch64"]:
                    self.assertEqual(page, ROOT / "tools/docs/building.md", "aarch64_test.py runs the block of that page alone")
                elif block.language == "sh" and block.marks == ["needs-data"]:
                    self.check_needs_data(block)
                elif block.language == "sh" and NEEDS.issuperset(block.marks):
                    script += block.text
                    needed |= modules_of(block)
                elif block.language == "python" and not block.marks:
                    python += block.text
                elif block.language == "python" and block.marks == ["toy"]:
                    self.assertTrue(holds_lines(block.text, (ROOT / "tools/examples/toy.py").read_text()), block.text)
                elif block.language == "python" and NEEDS.issuperset(block.marks):
                    compile(block.text, str(page), "exec")
                    others[modules_of(block)] = others.get(modules_of(block), "") + block.text
                elif block.language == "python" and block.marks == ["elsewhere"]:
                    compile(block.text, str(page), "exec")
                else:
                    self.fail(f"a block that no test runs: {block.language} {' '.join(block.marks)}")
        self.need(sorted(needed), page)
        if script or python or others:
            self.run_session(page, script, needed)
        if python:
            self.run_python(page, python)
        for modules, text in others.items():
            with self.subTest(" ".join(modules)):
                self.need(modules, page)
                self.run_python(page, text)


class PagesTest(SessionTest):
    """A test for each page, made below."""


class PictureTest(SessionTest):
    """The pictures of the forecast and of the gallery are what their pages' commands draw."""

    @slow
    def test_the_picture_is_drawn_by_its_commands(self):
        self.check_page(ROOT / "tools/docs/forecast.md")
        drawn, kept = (lines_of((path / "forecast.svg").read_text()) for path in (self.folder, ROOT / "tools/docs"))
        self.assertEqual([len(line) for line in drawn], [len(line) for line in kept])
        self.assertEqual(len(kept), 2)
        for one, other in zip(drawn, kept):
            self.assertLess(max(abs(y - z) for y, z in zip(one, other)), 4)  # pixels, of 380
        self.assertGreater(max(abs(y - z) for y, z in zip(*kept)), 4)


class GalleryTest(SessionTest):
    """Each page of the gallery runs in full, and its picture has the lines that its commands draw."""

    #: Pictures that are drawn under another name.
    DRAWN = {"search": "charts/settings.svg", "paper_cell": "mgu-gradients.svg"}

    def check_example(self, page):
        self.check_page(page)
        picture = page.with_suffix(".svg")
        drawn = self.folder / self.DRAWN.get(page.stem, picture.name)
        if picture.exists() and drawn.exists():
            kept = lines_of(picture.read_text())
            self.assertEqual(len(lines_of(drawn.read_text())), len(kept))
        else:
            self.assertIn(page.stem, ("pytorch", "million", "co2"), "its picture is not drawn")  # by libraries that may be missing

    def test_the_index_names_all(self):
        self.assertEqual(len(GALLERY), 13)
        index = (ROOT / "tools/docs/gallery/README.md").read_text()
        for page in GALLERY:
            self.assertIn(f"({page.name})", index)


for example in GALLERY:
    setattr(GalleryTest, f"test_{example.stem}", slow(lambda self, page=example: self.check_example(page)))


def lines_of(svg):
    """The heights of the points of each line, in pixels."""
    return [[float(point.split(",")[1]) for point in points.split()] for points in re.findall(r'<polyline[^>]* points="(.*?)"', svg)]


def add_page(page):
    name = "test_" + re.sub(r"\W+", "_", page.relative_to(ROOT).as_posix()).strip("_")
    test = lambda self: self.check_page(page)
    setattr(PagesTest, name, slow(test) if page.stem in TRAINING_PAGES else test)


for one_page in PAGES:
    if one_page.relative_to(ROOT).as_posix() not in IN_FULL:  # PictureTest has those
        add_page(one_page)

if __name__ == "__main__":
    main()
