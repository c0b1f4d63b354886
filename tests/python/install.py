"""Installs the package with pip into a fresh environment, as a user does, and compares its predictions with the tool's.

usage: install.py PYTHON ROOT TOOL FOLDER [LAUNCHER]

Exits with 77 where PyPI cannot be reached. LAUNCHER is a compiler launcher such as ccache.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

EXPERIMENT = {
    "name": "installed",
    "data": {"task": "mackey_glass", "train": 80, "valid": 4, "test": 4, "length": 50},
    "model": {"layers": [{"cell": "lstm", "units": 5}], "readout": {"at": "every_step"}},
    "optimizer": {"type": "adam", "lr": 0.01},
    "train": {"epochs": 1, "batch": 8},
}
SCRIPT = """
import sys, lagtape, numpy
assert lagtape.__file__.startswith(sys.prefix), lagtape.__file__
x = numpy.random.default_rng(0).random((3, 20, 1)).astype("float32")
numpy.save("x.npy", x)
numpy.save("y.npy", lagtape.load("run").predict(x))
run = lagtape.train("installed.json", out="again")
assert open("again/weights.safetensors", "rb").read() == open("run/weights.safetensors", "rb").read()
"""
COMPARE = """
import numpy
y, tool = numpy.load("y.npy"), numpy.load("tool.npy")
assert numpy.ptp(y) > 0 and numpy.array_equal(y, tool)
"""
UNREACHABLE = ("Temporary failure in name resolution", "Connection refused", "No matching distribution", "Network is unreachable",
               "Max retries exceeded", "timed out")


def main():
    python, root, tool, folder = sys.argv[1:5]
    root, folder = pathlib.Path(root), pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if len(sys.argv) > 5 and sys.argv[5]:
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = sys.argv[5]
    installed = subprocess.run([folder / "venv/bin/pip", "install", root / "tools/python"], env=environment, capture_output=True, text=True)
    if installed.returncode != 0:
        output = installed.stdout + installed.stderr
        print(output[-5000:])
        if any(sign in output for sign in UNREACHABLE):
            print("not run: PyPI cannot be reached")
            return 77
        return 1
    (folder / "installed.json").write_text(json.dumps(EXPERIMENT))

    def run(*command):
        subprocess.run(command, cwd=folder, env=environment, check=True)

    run(tool, "train", "installed.json", "--out", "run", "--quiet")
    run(folder / "venv/bin/python", "-c", SCRIPT)
    run(tool, "predict", "run", "--input", "x.npy", "--output", "tool.npy")
    run(folder / "venv/bin/python", "-c", COMPARE)
    print("installed, with the bits of the tool")
    return 0


if __name__ == "__main__":
    sys.exit(main())
