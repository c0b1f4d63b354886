"""The C interface as a C programmer meets it: the installed header, pkg-config, a C99 compiler, and valgrind.

usage: c_test.py PREFIX MODEL [unittest's options]
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).with_name("stream.c")
STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


class CTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lagtape-c-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.library = next(PREFIX.rglob("liblagtape_c.a")).parent

    def flags(self, *options):
        places = {**os.environ, "PKG_CONFIG_PATH": str(self.library / "pkgconfig")}
        return run(["pkg-config", *options, "lagtape-c"], env=places).split()

    def built(self, name, flags):
        program = self.folder / name
        run(["cc", *STRICT, SOURCE, "-o", program, *flags, "-lm"])
        return program

    def shared(self):
        return self.built("shared", [*self.flags("--cflags", "--libs"), f"-Wl,-rpath,{self.library}"])

    def test_a_program_with_the_shared_library_predicts_and_streams(self):
        self.assertIn("0 failures", run([self.shared(), MODEL]))

    def test_a_program_with_the_static_library_needs_no_other_file(self):
        flags = self.flags("--cflags", "--libs", "--static")
        static = [f"{self.library}/lib{flag[2:]}.a" if flag.startswith("-llagtape") else flag for flag in flags]
        program = self.built("static", static)
        self.assertIn("0 failures", run([program, MODEL]))
        self.assertNotIn("lagtape_c", run(["ldd", program]))

    def test_the_shared_library_shows_its_own_names_alone(self):
        names = [line.split()[-1] for line in run(["nm", "-D", "--defined-only", self.library / "liblagtape_c.so"]).splitlines()]
        self.assertIn("lagtape_stream_step", names)
        self.assertEqual([name for name in names if not name.startswith("lagtape_")], [])

    def test_the_header_serves_cpp_11_and_that_of_cpp_has_one_error_before_cpp_20(self):
        flags = self.flags("--cflags")
        for standard in (11, 14, 17, 20):
            run(["c++", f"-std=c++{standard}", *STRICT[2:], "-Wold-style-cast", *flags, "-fsyntax-only", "-x", "c++", "-"],
                input="#include <lagtape/c_api.h>\nint main() { return lagtape_last_error() == nullptr; }\n")
        done = subprocess.run(["c++", "-std=c++17", *flags, "-fsyntax-only", "-x", "c++", "-"], capture_output=True, text=True,
                              input="#include <lagtape/lagtape.h>\n")
        self.assertEqual([line.split("#error ")[-1] for line in done.stderr.splitlines() if "error:" in line],
                         ['"lagtape/lagtape.h needs C++20 (-std=c++20); lagtape/c_api.h serves C99 and C++11 and later"'])


class ValgrindTest(CTest):
    """Runs with the slow tests, by its name."""

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_valgrind_finds_no_error(self):
        self.assertIn("0 failures", run(["valgrind", "--quiet", "--error-exitcode=3", "--smc-check=all", self.shared(), MODEL]))


if __name__ == "__main__":
    PREFIX, MODEL = map(pathlib.Path, sys.argv[1:3])
    del sys.argv[1:3]
    unittest.main()
