"""Training on many short series compared with one long series with as many rows.

    python3 tools/bench/peers/many_series.py TOOL [--series 10000] [--rows 500] [--repeats 3]

The same numbers, a daily wave with noise, are written as a table of many series and as one recording. `check` reads a file,
and `train` reads it and trains, on one thread, alternating; CPU time is the process's, the best of the repeats.
"""

import argparse
import datetime
import json
import math
import pathlib
import random
import tempfile

from read_csv import cost

EXPERIMENT = {"model": {"layers": [{"cell": "tau_gru", "units": 32, "tau": 24}], "readout": {"at": "every_step"}}, "loss": "mse",
              "optimizer": {"type": "adam", "lr": 0.003}, "train": {"epochs": 5, "batch": 32}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    for name, default in (("series", 10000), ("rows", 500), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    count, draw = arguments.series * arguments.rows, random.Random(1)
    first, minute = datetime.datetime(2010, 1, 1), datetime.timedelta(minutes=1)
    with tempfile.TemporaryDirectory() as folder:
        many, one = pathlib.Path(folder) / "many.csv", pathlib.Path(folder) / "one.csv"
        hours = [f"{first + 60 * n * minute:%Y-%m-%dT%H:%M}" for n in range(arguments.rows)]
        with many.open("w", encoding="utf-8") as panel, one.open("w", encoding="utf-8") as recording:
            panel.write("id,time,y\n")
            recording.write("time,y\n")
            for n in range(count):
                y = f"{50 + 10 * math.sin(math.pi * n / 12) + draw.gauss(0, 2):.3f}"
                panel.write(f"s{n // arguments.rows},{hours[n % arguments.rows]},{y}\n")
                recording.write(f"{first + n * minute:%Y-%m-%dT%H:%M},{y}\n")
        commands = {}
        for path, keys in ((many, {"series": "id"}), (one, {})):
            data = {"task": "series", "path": str(path), "time": "time", "target": ["y"], "window": 50, **keys}
            path.with_suffix(".json").write_text(json.dumps({"name": path.stem, "data": data, **EXPERIMENT}), encoding="utf-8")
            commands[path.stem] = [[arguments.tool, *words, str(path.with_suffix(".json"))] for words in (["check"], ["train", "--threads", "1"])]
        costs = {name: [] for name in commands}
        for turn in range(arguments.repeats):
            for name, (check, train) in commands.items():
                costs[name].append([cost(check)[0], cost([*train, "--out", f"{folder}/{name}{turn}"])[0]])
        print(f"{arguments.series} series of {arguments.rows} rows\n| table | MB | reading, s | training, s |\n|---|---|---|---|")
        for name, turns in costs.items():
            reading, training = (min(turn[i] for turn in turns) for i in (0, 1))
            print(f"| {name} | {(pathlib.Path(folder) / name).with_suffix('.csv').stat().st_size / 1e6:.0f} | {reading:.2f} | {training - reading:.2f} |")


if __name__ == "__main__":
    main()
