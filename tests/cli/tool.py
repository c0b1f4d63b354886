"""Shared by the end-to-end tests of the lagtape tool: a separate folder for every test, and runs of the tool in it."""

import contextlib
import copy
import csv
import io
import json
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

EXPERIMENT = {
    "name": "small",
    "seed": 0,
    "data": {"task": "mackey_glass", "length": 500, "train": 16, "valid": 8, "test": 8},
    "model": {
        "layers": [{"cell": "tau_gru", "units": 8, "tau": 5}],
        "readout": {"units": 1, "at": "every_step"},
    },
    "loss": "mse",
    "metrics": ["rmse"],
    "optimizer": {"type": "adam", "lr": 0.01},
    "train": {"epochs": 3, "batch": 8},
}
#: A model of a recording, to be given its columns and its window.
RECORDING = {
    "name": "recording",
    "data": {"task": "series", "path": "own.csv", "time": "t"},
    "model": {"layers": [{"cell": "gru", "units": 4}], "readout": {"at": "every_step"}},
    "loss": "mse",
    "optimizer": {"type": "adam", "lr": 0.01},
    "train": {"epochs": 1, "batch": 4},
}
CLASSIFIER = {
    "name": "classes",
    "seed": 0,
    "data": {"task": "random", "length": 20, "input": 2, "classes": 3, "train": 16, "valid": 8, "test": 8},
    "model": {
        "layers": [{"cell": "tau_gru", "units": 8, "tau": 5}],
        "readout": {"units": 3, "at": "last_step"},
    },
    "loss": "cross_entropy",
    "metrics": ["accuracy"],
    "optimizer": {"type": "adam", "lr": 0.01},
    "train": {"epochs": 1, "batch": 8},
}


def changed(experiment, **values):
    """A copy with values set by paths such as train__epochs."""
    result = copy.deepcopy(experiment)
    for path, value in values.items():
        *parents, last = path.split("__")
        place = result
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return result


def rows_of(text):
    """The rows of a .csv text, by the names of its columns."""
    return list(csv.DictReader(io.StringIO(text)))


class ToolTest(unittest.TestCase):
    """A test in a fresh folder `self.folder`, which is also the working directory of the tool."""

    tool = ""
    root = pathlib.Path(__file__).resolve().parents[2]

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lagtape-tool-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def start(self, *args, **options):
        return subprocess.Popen([self.tool, *map(str, args)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def run_tool(self, *args, stdin=b"", code=0):
        """Runs to the end, expects the exit code, and gives stdout and stderr as text."""
        done = subprocess.run([self.tool, *map(str, args)], cwd=self.folder, input=stdin, capture_output=True,
                              timeout=300)
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, code, f"{args}\n--- stdout\n{out}\n--- stderr\n{err}")
        return out, err

    def near(self, found, expected, error):
        """Numbers agree to an error that is small beside the largest."""
        self.assertEqual(len(found), len(expected))
        worst = max(abs(a - b) for a, b in zip(found, expected))
        self.assertLessEqual(worst, error, (found, expected))
        self.assertGreater(max(map(abs, expected)), 100 * error)

    def refused(self, words, *args, stdin=b""):
        """The tool writes nothing but one plain message with these words, and exits with code 2."""
        before = self.snapshot()
        out, err = self.run_tool(*args, stdin=stdin, code=2)
        self.assertEqual(out, "")
        self.assertTrue(err.strip(), "no message")
        self.assertLessEqual(len(err.splitlines()), 6, err)
        self.assertLess(len(err), 2000, "a message of that length is not plain")
        for word in words:
            self.assertIn(word, err)
        self.assertEqual(self.snapshot(), before, "something was written")

    @contextlib.contextmanager
    def within(self, seconds):
        """Expects the tool to take less time of processors than that, whatever else the machine does. A sanitizer's build
        may take LAGTAPE_TEST_PATIENCE times as long."""
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        before = used()
        yield
        patience = float(os.environ.get("LAGTAPE_TEST_PATIENCE", 1))
        self.assertLess(used() - before, patience * seconds, "seconds of processors")

    def train(self, run, *args, experiment=EXPERIMENT):
        """Trains into the folder `run` and gives the bytes of the weights."""
        path = self.write("experiment.json", experiment)
        self.run_tool("train", path, "--out", run, "--quiet", *args)
        return self.weights(run)

    def weights(self, run):
        return (self.folder / run / "weights.safetensors").read_bytes()

    def snapshot(self):
        """Every file below the folder with its bytes, every folder with None."""
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() if path.is_file() else None
                for path in sorted(self.folder.rglob("*"))}


def npy(shape, values):
    """An array file of doubles, as NumPy writes it."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(values)}d", *values)


def npz(**arrays):
    """The bytes of an archive of .npy files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(name + ".npy", array)
    return data.getvalue()


def npy_shape(data):
    length = struct.unpack("<H", data[8:10])[0]
    header = data[10:10 + length].decode()
    inside = header.split("'shape': (")[1].split(")")[0]
    return tuple(int(size) for size in inside.split(",") if size.strip())


def npy_values(data):
    length = struct.unpack("<H", data[8:10])[0]
    kind = {"<f4": "f", "<f8": "d"}[data[10:10 + length].decode().split("'descr': '")[1][:3]]
    body = data[10 + length:]
    return struct.unpack(f"<{len(body) // struct.calcsize(kind)}{kind}", body)


def read_safetensors(data):
    """Header and buffer of a weights file."""
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + length]), data[8 + length:]


def make_safetensors(header, buffer):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + buffer


def slow(case):
    """Marks a test, or a class of tests, that takes seconds of processor time: it runs with --slow alone."""
    case.slow = True
    return case


class Loader(unittest.TestLoader):
    """Loads the tests that are marked slow, or those that are not. A case requested by name is loaded in any case."""

    def __init__(self, slow):
        super().__init__()
        self.slow = slow

    def getTestCaseNames(self, case):
        return [name for name in super().getTestCaseNames(case)
                if self.slow == (hasattr(case, "slow") or hasattr(getattr(case, name), "slow"))]


def main():
    """usage: NAME_test.py TOOL [--slow] [unittest's options]     A run of no case at all fails."""
    ToolTest.tool = os.path.abspath(sys.argv.pop(1))
    slow = "--slow" in sys.argv
    if slow:
        sys.argv.remove("--slow")
    result = unittest.main(testLoader=Loader(slow), exit=False).result
    sys.exit(not result.wasSuccessful() or result.testsRun + len(result.skipped) == 0)
