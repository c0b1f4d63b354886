"""The LV2 plug-in of tools/examples/lv2, built against the installed library and run over a file by lv2apply.

usage: lv2_test.py TOOL PREFIX FOLDER; exits with 77 and says why where lv2apply or LV2's headers are missing.
"""

import array
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from import_models import keras_model  # noqa: E402
from tool import npy, npy_values  # noqa: E402

RATE = 48000
TOOL, PREFIX, FOLDER = map(os.path.abspath, sys.argv[1:])
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "tools/examples/lv2"


def run(*command, code=0, **environment):
    done = subprocess.run(list(map(str, command)), cwd=FOLDER, capture_output=True, text=True,
                          env={**os.environ, **environment})
    if code is not None and done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def wav(samples, rate):
    """One channel of 32-bit floats."""
    data = array.array("f", samples).tobytes()
    form = struct.pack("<HHIIHH", 3, 1, rate, 4 * rate, 4, 32)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def samples_of(content):
    """The floats of the chunk "data"."""
    at = content.index(b"data")
    size = struct.unpack_from("<I", content, at + 4)[0]
    return array.array("f", content[at + 8:at + 8 + size]).tolist()


def applied(sound, rate):
    """The plug-in's output for a file of that rate."""
    (folder / "dry.wav").write_bytes(wav(sound, rate))
    (folder / "wet.wav").unlink(missing_ok=True)
    run("lv2apply", "-i", "dry.wav", "-o", "wet.wav", "urn:lagtape:amp", LV2_PATH=str(folder / "build/lv2"))
    return samples_of((folder / "wet.wav").read_bytes())


def predicted(sound, *args):
    (folder / "x.npy").write_bytes(npy((len(sound), 1), sound))
    run(TOOL, "predict", "run", "--input", "x.npy", "--output", "y.npy", *args)
    return list(npy_values((folder / "y.npy").read_bytes()))


missing = [name for name, there in {
    "lv2apply (Debian's lilv-utils)": shutil.which("lv2apply"),
    "pkg-config's lv2 (Debian's lv2-dev)": shutil.which("pkg-config") and
                                           subprocess.run(["pkg-config", "--exists", "lv2"]).returncode == 0}.items() if not there]
if missing:
    print("not run, for want of " + " and ".join(missing))
    sys.exit(77)

folder = pathlib.Path(FOLDER)
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
(folder / "model.json").write_text(json.dumps(keras_model()))
run(TOOL, "import", "model.json", "--output", "run")
run("cmake", "-S", EXAMPLE, "-B", "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DMODEL={folder}/run/weights.safetensors",
    f"-DMODEL_RATE={RATE}", "-DCMAKE_BUILD_TYPE=Release")
run("cmake", "--build", "build")

sound = [0.5 * math.sin(0.05 * k) + 0.2 * math.sin(0.31 * k) for k in range(4800)]
for rate, args in ((RATE, ()), (2 * RATE, ("--stream", "--rate", "2"))):
    wanted, got = predicted(sound, *args), applied(sound, rate)
    if max(wanted) - min(wanted) < 0.02:
        sys.exit("the model gives nearly a constant")
    if got != wanted:
        sys.exit(f"at {rate} Hz the plug-in's samples are not those of lagtape predict")

(folder / "build/lv2/amp.lv2/model.safetensors").write_bytes(b"damaged")
refused = run("lv2apply", "-i", "dry.wav", "-o", "other.wav", "urn:lagtape:amp", code=None, LV2_PATH=str(folder / "build/lv2"))
if refused.returncode == 0 or "lagtape amp: " not in refused.stderr:
    sys.exit(f"a damaged model: {refused.returncode}, {refused.stderr}")
print("lv2apply gives the samples of lagtape predict, at the model's rate and at twice that")
