"""Arrays that are larger than the memory: files of .npy, and arrays of Python over such files, are read batch by batch."""

import json
import resource
import subprocess
import sys

import numpy as np
import pytest
from conftest import TOOL

LARGE = 256 << 20  # bytes of each array
LIMIT = 160 << 20  # bytes of private memory that a process may have

READOUT = {"units": 1, "at": "last_step"}
SERIES = {"name": "series", "data": {"task": "series", "path": "series.npy", "target": [0], "past_target": True, "window": 64, "stride": 4096},
          "model": {"layers": [{"cell": "gru", "units": 2}]}, "loss": "mse", "train": {"epochs": 1, "batch": 64}}
ARRAYS = {"name": "arrays", "data": {"task": "arrays", "path": "arrays"}, "model": {"layers": [{"cell": "gru", "units": 2}], "readout": READOUT},
          "loss": "mse", "train": {"epochs": 1, "batch": 512}}

MAPPED = """
import json, resource
import numpy as np, lagtape as lt
data = {name: np.load(f"arrays/{name}.npy", mmap_mode="r") for name in ("train_x", "train_y", "test_x", "test_y")}
experiment = json.load(open("arrays.json"))
experiment["data"].pop("path")
lt.check({**experiment, "data": {"task": "arrays"}}, data={name: array[:4] for name, array in data.items()}, threads=1)
now = int(open("/proc/self/status").read().split("VmData:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (now + BYTES, -1))
print(lt.train(experiment, data=data, threads=1, out="python", progress=False).metrics["test_loss"])
""".replace("BYTES", str(LIMIT))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recording, and sequences with targets, of a quarter of a GB each."""
    path = tmp_path_factory.mktemp("large")
    (path / "arrays").mkdir()
    rows = LARGE // 8
    series = np.lib.format.open_memmap(path / "series.npy", "w+", np.float32, (rows, 2))
    for first in range(0, rows, 1 << 20):
        place = np.arange(first, min(first + (1 << 20), rows)) / 7
        series[first:first + (1 << 20)] = np.stack([np.sin(place), np.cos(place)], 1)
    sequences = series.reshape(-1, 1024, 2)
    for name, part in ("train", sequences), ("test", sequences[:64]):
        np.save(path / "arrays" / f"{name}_x.npy", part)
        np.save(path / "arrays" / f"{name}_y.npy", part[:, -1, :1])
    for experiment in SERIES, ARRAYS:
        (path / f"{experiment['name']}.json").write_text(json.dumps(experiment))
    return path


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


@pytest.mark.slow
def test_a_limit_of_memory_stops_what_reads_a_file_whole(folder):
    np.savez(folder / "series.npz", np.load(folder / "series.npy", mmap_mode="r"))
    done = subprocess.run([TOOL, "check", "series.json", "--set", "data.path=series.npz"], cwd=folder, capture_output=True, text=True,
                          preexec_fn=limited)
    assert done.returncode != 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["series", "arrays"])
def test_files_that_are_larger_than_the_memory_train(folder, name):
    done = subprocess.run([TOOL, "train", f"{name}.json", "--quiet", "--threads", "1"], cwd=folder, capture_output=True, text=True,
                          preexec_fn=limited)
    assert done.returncode == 0, done.stderr
    assert 0 < json.loads((folder / "runs" / f"{name}-0" / "summary.json").read_text())["test"]["loss"] < 2


@pytest.mark.slow
def test_arrays_of_python_that_are_larger_than_the_memory_train(folder):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", MAPPED], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 2
