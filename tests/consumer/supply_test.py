"""What users are given: programs that are hardened, of known parts, and the same bytes wherever they are built.

usage: supply_test.py ROOT BUILD [unittest's options]
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

#: A small model, so that a training compiles its steps.
EXPERIMENT = {"name": "x", "data": {"task": "mackey_glass", "length": 50, "train": 4, "valid": 2, "test": 2},
              "model": {"layers": [{"cell": "tau_gru", "units": 8, "tau": 3}], "readout": {"at": "every_step"}},
              "optimizer": {"type": "adam", "lr": 0.01}, "train": {"epochs": 1, "batch": 4}}


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


class HardeningTest(unittest.TestCase):
    """Programs and shared libraries: position-independent, nothing relocated is writable, no stack or page that is code and data."""

    def test_programs_and_libraries(self):
        files = [BUILD / "lagtape", *BUILD.glob("liblagtape_c.so"), *BUILD.glob("python/lagtape/_lagtape*.so")]
        self.assertTrue(files[0].exists())
        for file in files:
            with self.subTest(file.name):
                self.assertIn("DYN", run("readelf", "-hW", file))
                segments = run("readelf", "-lW", file)
                self.assertRegex(segments, r"GNU_RELRO")
                self.assertNotRegex(segments, r"GNU_STACK.*\sRWE\s")
                self.assertNotRegex(segments, r"LOAD.*\sRWE\s")
                self.assertRegex(run("readelf", "-dW", file), r"BIND_NOW|FLAGS_1.*NOW")

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_no_page_is_writable_and_executable_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "x.json").write_text(json.dumps(EXPERIMENT))
            calls = run("strace", "-f", "-e", "trace=mmap,mprotect", "-o", "/dev/stdout", BUILD / "lagtape", "train", "x.json", "--out", "run",
                        "--quiet", cwd=folder)
        made = [line for line in calls.splitlines() if "PROT_EXEC" in line]
        self.assertTrue(any("mprotect" in line for line in made), "no code was compiled")
        self.assertEqual([line for line in made if "PROT_WRITE" in line], [])


@unittest.skipUnless(shutil.which("dpkg-query"), "the bill is made of Debian's packages")
class BillTest(unittest.TestCase):
    def test_the_bill_names_every_part_once(self):
        bill = json.loads(run(sys.executable, ROOT / "tools/sbom.py", "1.2.3", BUILD / "lagtape", env={**os.environ, "SOURCE_DATE_EPOCH": "86400"}))
        self.assertEqual((bill["bomFormat"], bill["specVersion"], bill["metadata"]["timestamp"]), ("CycloneDX", "1.5", "1970-01-02T00:00:00Z"))
        parts = bill["components"]
        for part in parts:
            self.assertTrue(part["name"] and part["version"] and part["purl"].startswith("pkg:"), part)
        references = [part["bom-ref"] for part in parts]
        self.assertEqual(sorted(set(references)), sorted(references))
        self.assertEqual(bill["dependencies"][0]["dependsOn"], references)
        needed = re.search(r"tool_packages=\((.*?)\n\)", (ROOT / "tools/setup.sh").read_text(), re.DOTALL).group(1).split()
        self.assertLessEqual({name for name in needed if name.endswith("-dev")}, {part["name"] for part in parts})


class ReproducibleTest(unittest.TestCase):
    """Objects do not depend on the folder that they are built in. Slow."""

    #: A room of the engine, a kernel, a reader, an exporter, a command.
    SOURCES = ("core/problem.cpp", "data/table/csv.cpp", "cells/gru.cpp", "tools/exchange/export/c99/c_names.cpp", "tools/cli/export.cpp")

    def objects(self, folder):
        """The bytes of the objects, compiled in a copy of the tree at `folder` as the build compiles them."""
        root, build = folder / "tree", folder / "tree/build/some"
        shutil.copytree(ROOT, root, ignore=lambda place, _: {"build", ".git", "tests"} if place == str(ROOT) else set())
        (build / "include/lagtape").mkdir(parents=True)
        for link in (BUILD / "include/lagtape").iterdir():
            target = link.resolve()
            if target.is_relative_to(ROOT) and not target.is_relative_to(BUILD):
                (build / "include/lagtape" / link.name).symlink_to(root / target.relative_to(ROOT))
            else:
                shutil.copy(target, build / "include/lagtape")
        commands = {entry["file"]: entry for entry in json.loads((BUILD / "compile_commands.json").read_text())}
        flags = commands.get(str(ROOT / "core/problem.cpp"), next(iter(commands.values())))["command"]
        kept = [word for word in shlex.split(flags) if re.match(r"-(O|std|f(?!file)|W|D)", word) and "Winvalid-pch" not in word]
        found = {}
        for source in self.SOURCES:
            made = build / "made.o"
            run("c++", *kept, "-fPIC", f"-I{build}/include", "-c", root / source, "-o", made, cwd=build)
            found[source] = made.read_bytes()
        return found

    def test_two_folders_give_the_same_objects(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory(prefix="a-longer-name-") as other:
            first, second = self.objects(pathlib.Path(one)), self.objects(pathlib.Path(other))
        for source in self.SOURCES:
            self.assertTrue(first[source] == second[source], source)
            self.assertNotIn(b"a-longer-name-", second[source])


if __name__ == "__main__":
    ROOT, BUILD = map(pathlib.Path, map(os.path.realpath, sys.argv[1:3]))
    del sys.argv[1:3]
    unittest.main()
