"""The packages as their users meet them: the .tar.gz with everything, and the .debs, unpacked where they are not installed.

A C++ project is built on the first and trains, predicts and runs an experiment; C programs are built on the second.

usage: package_test.py BUILD [unittest's options]
"""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def contents(prefix):
    """The files of a prefix by their paths: a hash of each, or where a link leads. Debian's own documents are left out."""
    return {
        path.relative_to(prefix).as_posix(): path.readlink() if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(prefix.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lagtape-packages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        formats = ["TGZ", "DEB"] if shutil.which("dpkg-deb") else ["TGZ"]
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", ";".join(formats), "-B", cls.folder)
        (archive,) = cls.folder.glob("*.tar.gz")
        cls.archive = cls.folder / "archive"
        cls.archive.mkdir()
        run("tar", "-xf", archive, "-C", cls.archive, "--strip-components=1")
        cls.debs = {deb.name.split("_")[0]: deb for deb in cls.folder.glob("*.deb")}
        cls.installed = cls.folder / "root" / "usr"
        for deb in cls.debs.values():
            run("dpkg-deb", "-x", deb, cls.installed.parent)

    def need_debs(self):
        if not self.debs:
            self.skipTest("dpkg-deb is not installed")

    def test_a_project_in_cpp_is_built_on_the_archive_and_its_model_is_taken_by_the_tool(self):
        build, model = self.folder / "project", self.folder / "wave.safetensors"
        run("cmake", "-S", HERE, "-B", build, f"-DCMAKE_PREFIX_PATH={self.archive}", "-DCMAKE_BUILD_TYPE=Debug")
        run("cmake", "--build", build, "--target", "train", "predict", "experiment")
        run(build / "train", model)
        self.assertIn("predicted and streamed", run(build / "predict", model))
        run(build / "experiment", self.folder / "experiment.safetensors")
        run(sys.executable, "-B", HERE / "tool_test.py", self.archive / "bin" / "lagtape", model)

    def test_programs_in_c_are_built_on_the_debian_packages(self):
        self.need_debs()
        self.assertIn("liblagtape-dev", self.debs)
        experiment, out = self.folder / "c.json", self.folder / "c-run"
        experiment.write_text(EXPERIMENT)
        run(self.installed / "bin" / "lagtape", "train", experiment, "--out", out, "--quiet")
        run(sys.executable, "-B", HERE / "c_test.py", self.installed, out / "weights.safetensors")

    def test_both_hold_the_same_files(self):
        self.need_debs()
        archive, installed = contents(self.archive), contents(self.installed)
        self.assertEqual(sorted(archive), sorted(installed))
        self.assertEqual([path for path in archive if archive[path] != installed[path]], [])
        for path in ("bin/lagtape", "include/lagtape/lagtape.h", "include/lagtape/c_api.h", "lib/liblagtape.a",
                     "lib/pkgconfig/lagtape-c.pc", "share/doc/lagtape/LICENSE",
                     "share/man/man1/lagtape.1", "share/bash-completion/completions/lagtape", "share/zsh/site-functions/_lagtape",
                     "share/fish/vendor_completions.d/lagtape.fish", "share/lagtape/schema.json", "share/doc/lagtape/tools/docs/cpp.md"):
            self.assertIn(path, archive)

    def test_each_debian_package_names_what_it_needs(self):
        self.need_debs()
        needs = {name: run("dpkg-deb", "-f", deb, "Depends") for name, deb in self.debs.items()}
        shared = next(name for name in needs if name.startswith("liblagtape-c"))
        for library in ("libdnnl", "libarchive", "zlib1g", "libsndfile1", "libdate-tz3", "libc6"):
            self.assertIn(library, needs["lagtape"])
            self.assertEqual(library == "libc6", library in needs[shared], f"{shared}: {needs[shared]}")
        self.assertIn(f"{shared} (= ", needs["liblagtape-dev"])
        self.assertIn("libdnnl-dev", needs["liblagtape-dev"])


EXPERIMENT = """{ "name": "c", "data": { "task": "mackey_glass", "length": 100, "train": 4, "valid": 2, "test": 0 },
  "model": { "layers": [ { "cell": "tau_gru", "units": 8, "tau": 5 } ], "readout": { "units": 1, "at": "every_step" } },
  "loss": "mse", "optimizer": { "type": "adam", "lr": 0.01 }, "train": { "epochs": 1, "batch": 4 } }"""

if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    del sys.argv[1]
    unittest.main()
