#!/usr/bin/env python3
"""Counts the instructions that eight small training runs execute, and compares them with the last release.

    tools/bench/instructions.py TOOL             prints both and their ratios
    tools/bench/instructions.py TOOL --check     exit code 1 if a run takes 3 % more than it did then
    tools/bench/instructions.py TOOL --write     writes the counts to instructions.json, for a release

Valgrind does the counting, so other load on the machine has no effect. Counts depend on the compiler that built the tool: if it
differs from that of the stored counts, nothing is compared (exit code 77).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
KEPT = FOLDER / "instructions.json"
MOST = 1.03
SKIPPED = 77

# Name of the run: its experiment and settings. Each uses 128-bit or 256-bit vectors, one thread, and two updates.
TRAININGS = {
    "tau-GRU, 128 units": ("tau_gru_psmnist", {"data.length": 60, "data.train": 16, "train.batch": 8}),
    "tau-GRU, 16 units": ("tau_gru_enso", {"data.length": 200, "data.train": 16, "train.batch": 8}),
    "tau-GRU, states recomputed": ("tau_gru_adding", {"data.length": 200, "data.train": 8, "train.batch": 4,
                                                      "train.memory": "checkpoint", "model.layers.0.tau": 90}),
    "tau-GRU from equations": ("written_tau_gru_psmnist", {"data.length": 60, "data.train": 16, "train.batch": 8}),
    "LSTM, 128 units": ("lstm_psmnist", {"data.length": 60, "data.train": 16, "train.batch": 8}),
    "LEM, 128 units": ("lem_psmnist", {"data.length": 60, "data.train": 16, "train.batch": 8}),
    "UnICORNN, 3 layers, backwards in time": ("unicornn_psmnist", {"data.length": 100, "data.train": 16, "train.batch": 8}),
    "minGRU, 100 units": ("min_gru_units_100", {"data.length": 200, "data.train": 16, "train.batch": 8}),
}


def compiler(tool):
    """The compiler's name and version recorded in the tool's file, such as `GCC: (Debian 12.2.0-14) 12.2.0`."""
    section = subprocess.run(["readelf", "-p", ".comment", tool], capture_output=True, text=True, check=True).stdout
    return re.search(r"\]\s+(.*\S)", section)[1]


def instructions(tool, name):
    experiment, settings = TRAININGS[name]
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", tool, "train",
                   FOLDER / "experiments" / f"{experiment}.json", "--out", f"{folder}/run", "--threads", "1", "--simd", "avx2", "--quiet"]
        for key, value in settings.items():
            command += ["--set", f"{key}={json.dumps(value)}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"error: {name}: {done.stderr}")
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--check", action="store_true", help="fail where a training takes more than 3 % more")
    parser.add_argument("--write", action="store_true", help="keep the counts")
    args = parser.parse_args()
    if not shutil.which("valgrind") or not shutil.which("readelf"):
        print("skipped: valgrind or readelf is not installed")
        return SKIPPED
    kept = {} if args.write else json.loads(KEPT.read_text())
    if kept and kept["compiler"] != compiler(args.tool):
        print(f"skipped: the kept counts are those of {kept['compiler']}, and the tool was built by {compiler(args.tool)}")
        return SKIPPED
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(TRAININGS, pool.map(lambda name: instructions(args.tool, name), TRAININGS)))
    if args.write:
        KEPT.write_text(json.dumps({"compiler": compiler(args.tool), "instructions": counts}, indent=2) + "\n")
        return 0
    slower = []
    for name, count in counts.items():
        ratio = count / kept["instructions"][name]
        print(f"{name:40} {count / 1e6:8.1f} million  {ratio:6.3f}")
        if ratio > MOST:
            slower.append(name)
    if slower and args.check:
        print(f"error: more than {MOST} times the instructions of the last release: {', '.join(slower)}. "
              "What a slower step is worth stands in the changelog, with new counts (--write).")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
