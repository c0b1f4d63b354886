"""The Mackey-Glass equation with lag 14 over 500 time units, problem A1 in DDETST and the first of SciML's delay benchmarks.

    python3 mackey_glass.py [LAGTAPE]

Prints one line of JSON for each step h: the CPU seconds of `lagtape solve`, including startup (minimum of 5), and the largest
error at 50 times, compared with steps of 0.005.
"""

import csv
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/lagtape").resolve()


def solved(h, folder):
    cell = {"params": {"beta": 0.2, "gamma": 0.1, "tau": {"start": 14, "min": 5, "max": 30}}, "state": {"y": 1}, "history": {"y": "0.5"},
            "ode": ["dy = beta * y(t - tau) / (1 + y(t - tau) ^ 10) - gamma * y"], "output": "y", "solver": {"method": "rk4", "h": h}}
    (folder / "a1.json").write_text(json.dumps({"name": "a1", "cells": {"a1": cell}}))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([TOOL, "solve", "a1.json", "--times", "0:500:10", "--output", "a1.csv"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(folder / "a1.csv", newline="") as file:
        values = [float(row["y"]) for row in csv.DictReader(file)]
    return values, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        exact, _ = solved(0.005, pathlib.Path(temporary))
        for h in (1, 0.5, 0.2, 0.1, 0.05):
            runs = [solved(h, pathlib.Path(temporary)) for _ in range(5)]
            error = max(abs(one - other) for one, other in zip(runs[0][0], exact))
            print(json.dumps({"h": h, "processor_seconds": round(min(used for _, used in runs), 4), "error": error}))
