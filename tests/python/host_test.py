"""Python programs with a way of rounding, signals, a stack and a current folder of their own get the bytes of calm ones."""

import json
import subprocess
import sys

import pytest
from conftest import EXPERIMENT

SCRIPT = """
import ctypes, hashlib, json, os, pathlib, signal, sys, threading
import numpy as np
import lagtape as lt

folder, state = pathlib.Path(sys.argv[1]), sys.argv[2]
experiment = (folder / "x.json").read_text()
x = np.load(folder / "x.npy")
libm = ctypes.CDLL("libm.so.6")

def work():
    run = lt.train(folder / "x.json", out=folder / f"run-{state}", threads=1 if state == "calm" else 2, progress=False)
    model = lt.load(folder / f"run-{state}")
    (folder / f"c-{state}").mkdir()
    lt.export(model, "c99", folder / f"c-{state}" / "model.c")
    try:
        model.stream(rate=1234.5)
    except lt.InputError as error:
        message = str(error)
    parts = [model.predict(x).tobytes(), model.stream().block(x[0]).tobytes(), message.encode(),
             (folder / f"run-{state}" / "weights.safetensors").read_bytes(), (folder / f"c-{state}" / "model.c").read_bytes()]
    found.extend(hashlib.sha256(part).hexdigest() for part in parts)

def hostile():
    environment = (ctypes.c_uint32 * 8)()
    if state == "rounding":
        assert libm.fesetround(0x800) == 0
    elif state == "flushing":
        libm.fegetenv(environment)
        environment[7] |= 0x8040
        libm.fesetenv(environment)
    elif state == "signals":
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    elif state == "folder":
        os.mkdir(folder / "gone"); os.chdir(folder / "gone"); os.rmdir(folder / "gone")
    work()
    if state == "rounding":
        assert libm.fegetround() == 0x800
        libm.fesetround(0)
    signal.setitimer(signal.ITIMER_REAL, 0)

found = []
if state == "stack":
    threading.stack_size(256 * 1024)
    thread = threading.Thread(target=hostile)
    thread.start()
    thread.join()
else:
    hostile()
print(json.dumps(found))
"""


def results(folder, state):
    done = subprocess.run([sys.executable, "-W", "ignore", "-B", "-c", SCRIPT, folder, state], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import numpy as np

    place = tmp_path_factory.mktemp("host")
    (place / "x.json").write_text(json.dumps({**EXPERIMENT, "train": {"epochs": 1, "batch": 4}}))
    np.save(place / "x.npy", np.sin(np.arange(40.0)).reshape(1, 40, 1).astype(np.float32))
    return place, results(place, "calm")


@pytest.mark.parametrize("state", ["rounding", pytest.param("flushing", marks=pytest.mark.slow), "stack",
                                   pytest.param("signals", marks=pytest.mark.slow), pytest.param("folder", marks=pytest.mark.slow)])
def test_results_are_those_of_a_calm_program(folder, state):
    place, expected = folder
    assert len(expected) == 5
    assert results(place, state) == expected
