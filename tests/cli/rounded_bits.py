"""Trainings in bf16, and streams with weights in bf16 and int8, have the same bits in two builds of the tool, one of which
an emulator may run; for trainings in f32 and f64 there is same_bits_test.py.

rounded_bits.py TOOL OTHER      where OTHER may be a command of several words, in quotes, such as "qemu-aarch64 lagtape"
"""

import itertools
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

from export_models import cell_models, experiment

WIDE = {"lstm": {}, "gru": {}, "rnn": {}, "lem": {}, "tau_gru": {"tau": 5}, "delay_gru": {"tau": 5}, "indrnn": {},
        "cornn": {"dt": 0.1, "gamma": 2.7, "epsilon": 4.7}, "unicornn": {"layers": 2, "dt": 0.1},
        "lipschitz_rnn": {"epsilon": 0.03, "beta": 0.75, "gamma": 0.001}}
UNITS = (16, 64, 65, 128)


def run(tool, folder, *args):
    return subprocess.run([*tool, *args], cwd=folder, capture_output=True, timeout=600)


def train(tool, folder, out, whole):
    """The bytes of the weights."""
    (folder / "e.json").write_text(json.dumps(whole))
    done = run(tool, folder, "train", "e.json", "--out", out, "--quiet")
    if done.returncode != 0:
        raise SystemExit(f"{tool[0]}: {done.stderr.decode()}")
    return (folder / out / "weights.safetensors").read_bytes()


def compare_trainings(tools, folder):
    """The number of trainings of three updates, and the names of those that differ."""
    differing = []
    for count, (name, whole) in enumerate(cell_models(precision="bf16", epochs=3), 1):
        here, there = [train(tool, folder, f"{name}-{place}", whole) for place, tool in enumerate(tools)]
        differing += [name] * (here != there)
    return count, differing


def compare_streams(tools, folder):
    """The number of streams, and what those say that differ."""
    count, differing, draw = 0, [], random.Random(1)
    (folder / "x.csv").write_text("".join(",".join(str(draw.gauss(0, 1)) for _ in range(3)) + "\n" for _ in range(60)))
    for (cell, options), units in itertools.product(WIDE.items(), UNITS):
        name = f"{cell}-{units}"
        train(tools[0], folder, name, experiment([{"cell": cell, "units": units, **options}]))
        for weights in ("bf16", "int8"):
            args = ["predict", name, "--stream", "--weights", weights, "--input", "x.csv", "--output", "-"]
            here, there = [run(tool, folder, *args, *["--calibrate", "x.csv"] * (weights == "int8")) for tool in tools]
            if here.returncode == 2 and here.stderr == there.stderr and b"of 64 units and more" in here.stderr:
                continue  # int8 is for wider products alone
            count += 1
            if here.returncode != 0 or not here.stdout or here.stdout != there.stdout:
                differing.append(f"{name}, {weights}: {here.stderr.decode()}{there.stderr.decode()}")
    return count, differing


if __name__ == "__main__":
    both = [os.path.abspath(sys.argv[1])], shlex.split(sys.argv[2])
    failed = False
    for what, compare in (("trainings", compare_trainings), ("streams", compare_streams)):
        with tempfile.TemporaryDirectory() as place:
            number, others = compare(both, pathlib.Path(place))
        print(f"{number} {what}, {len(others)} of them with other bits", *others, sep="\n", flush=True)
        failed |= bool(others)
    sys.exit(1 if failed else 0)
