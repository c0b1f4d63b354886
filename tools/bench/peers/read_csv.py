"""Reading a large .csv file: `lagtape check` compared with pandas' C reader.

    python3 tools/bench/peers/read_csv.py TOOL [--rows 1250000] [--columns 20] [--repeats 3]

Needs pandas. The file contains random numbers with five decimals and, with --times, an hourly date first. Each reader is
a separate process; CPU time and peak memory are that process's, the best of the repeats. `check` reads the file, scales
the columns, builds the model and examines a few batches; pandas only reads the file.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def cost(command):
    """A process's CPU seconds and peak MB."""
    reader = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(reader.pid, 0)
    if status:
        sys.exit(f"read_csv.py: {command[0]} ended with {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--rows", type=int, default=1250000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--times", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "numbers.csv"
        times = f"n.insert(0, 'time', pd.date_range('1900-01-01', periods={arguments.rows}, freq='h'));"
        # In a separate process, because this one's memory would be counted for the readers it starts.
        subprocess.run([sys.executable, "-c",
                        "import numpy as np, pandas as pd;"
                        f"n = pd.DataFrame(np.random.default_rng(1).normal(size=({arguments.rows}, {arguments.columns}))).add_prefix('c');"
                        f"{times if arguments.times else ''} n.to_csv({str(path)!r}, index=False, float_format='%.5f')"],
                       check=True)
        experiment = {"name": "numbers", "data": {"task": "series", "path": str(path), "target": ["c0"], "window": 10,
                                                   "stride": 5000},
                      "model": {"layers": [{"cell": "gru", "units": 2}]}, "loss": "mse",
                      "optimizer": {"type": "adam"}, "train": {"epochs": 1, "batch": 8}}
        if arguments.times:
            experiment["data"]["time"] = "time"
        file = pathlib.Path(folder) / "numbers.json"
        file.write_text(json.dumps(experiment), encoding="utf-8")
        dates = ", parse_dates=['time']" if arguments.times else ""
        readers = {"lagtape check": [arguments.tool, "check", str(file)],
                   "pandas.read_csv": [sys.executable, "-c", f"import pandas; pandas.read_csv({str(path)!r}{dates})"],
                   "importing pandas": [sys.executable, "-c", "import pandas"]}
        size, kept = path.stat().st_size / 1e6, arguments.rows * arguments.columns * 8 / 2**20
        print(f"{size:.0f} MB, {kept:.0f} MiB of numbers\n| reader | seconds | MB/s | memory, of the numbers |\n|---|---|---|---|")
        for name, command in readers.items():
            costs = [cost(command) for _ in range(arguments.repeats)]
            seconds, memory = min(one[0] for one in costs), min(one[1] for one in costs)
            print(f"| {name} | {seconds:.2f} | {size / seconds:.0f} | {memory / kept:.2f} |")


if __name__ == "__main__":
    main()
