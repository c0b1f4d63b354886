"""An LSTM with its read-out as a stream, one row and one step at a time, written with Eigen (eigen_stream.cpp, compiled for this
machine with the experiment's units): what a program might embed instead.

    apt-get install g++ libeigen3-dev; pip install numpy
    python3 eigen_stream.py EXPERIMENT.json [--steps N] [--repeats N] [--in-order] [--functions INCLUDE]

prints one line of JSON: `peer`, `version`, `experiment`, `units`, `steps`, `repeats`; `stream_ns` {"median", "min", "max"},
nanoseconds per step; `error`, the largest difference between an output and f64 loops, checked before anything is printed.
`--in-order` and `--functions` prevent what Eigen may do but lagtape does not (eigen_stream.cpp); INCLUDE is the `include` folder
of a lagtape build, and the processor needs AVX-512.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import peer  # before NumPy is loaded

import numpy as np

SOURCE = pathlib.Path(__file__).with_suffix(".cpp")
INCLUDE = pathlib.Path("/usr/include/eigen3")
CHECKED = 500  # steps
LARGEST_ERROR = 1e-4


def version():
    macros = INCLUDE / "Eigen/src/Core/util/Macros.h"
    if not macros.exists():
        sys.exit(f"{INCLUDE}: no Eigen. Install libeigen3-dev.")
    return "Eigen " + ".".join(re.findall(r"#define EIGEN_(?:WORLD|MAJOR|MINOR)_VERSION (\d+)", macros.read_text()))


def loops(weights, x):
    """The outputs in f64, starting from zero states."""
    W, U, b, V, c = (weights[name].astype(np.float64) for name in "WUbVc")
    gates, cell, h, y = len(W), 0, np.zeros(V.shape[1]), []
    for x_n in x.astype(np.float64):
        i, f, o, g = (W[k] @ h + U[k, :, 0] * x_n + b[k] for k in range(gates))
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        cell = f * cell + i * np.tanh(g)
        h = o * np.tanh(cell)
        y.append(V[0] @ h + c[0])
    return np.array(y)


def compiled(units, folder, options):
    program = pathlib.Path(folder) / "eigen_stream"
    subprocess.run(["g++", "-std=c++20", "-O3", "-march=native", "-isystem", INCLUDE, f"-DUNITS={units}", *options, SOURCE, "-o",
                    program], check=True)
    return program


def measure(case, steps, repeats, options):
    weights, x = peer.make_weights(case), peer.make_data(dataclasses.replace(case, steps=steps))[0][:, 0, 0]
    columns = [weights["W"].reshape(-1, case.units).T, weights["U"], weights["b"], weights["V"], weights["c"], x]
    numbers = np.concatenate([part.ravel() for part in columns]).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([compiled(case.units, folder, options), str(steps), str(repeats)], input=numbers.tobytes(),
                              capture_output=True, check=True)
    found, times = np.frombuffer(done.stdout, np.float32), [float(line) for line in done.stderr.split()]
    error = float(np.abs(found[:CHECKED] - loops(weights, x[:CHECKED])).max())
    if not error < LARGEST_ERROR:
        sys.exit(f"the outputs differ from f64 loops by {error}: nothing was measured.")
    return {"stream_ns": peer.timing(times), "error": error}


def main():
    parser = argparse.ArgumentParser(description="Times an LSTM written with Eigen as a stream.")
    parser.add_argument("experiment", help="experiment file of lagtape (JSON): one lstm, one input, one output")
    parser.add_argument("--steps", type=int, default=100_000, help="steps of a repeat (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--in-order", action="store_true", help="the read-out is summed in the order of the units")
    parser.add_argument("--functions", type=pathlib.Path, metavar="INCLUDE", help="sigmoid and tanh by lagtape's formulas")
    args = parser.parse_args()
    case = peer.read_case(args.experiment)
    if (case.cell, case.input, case.output) != ("lstm", 1, 1):
        sys.exit(f"{args.experiment}: expected one lstm with one input and one output.")
    options = ["-DREADOUT_IN_ORDER"] if args.in_order else []
    if args.functions:
        options += ["-DLAGTAPE_FUNCTIONS", "-ffp-contract=off", "-I", args.functions]
    print(json.dumps({"peer": "Eigen", "version": version(), "experiment": case.name, "units": case.units, "steps": args.steps,
                      "repeats": args.repeats, **measure(case, max(args.steps, CHECKED), args.repeats, options)}))


if __name__ == "__main__":
    main()
