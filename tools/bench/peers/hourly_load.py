"""An hourly load that depends on the temperature in the same hour, forecast 48 steps ahead: darts' linear regression compared
with the experiment that `lagtape new` writes.

    python3 hourly_load.py LAGTAPE [--rows N] [--keep FOLDER]

load = f(temperature, hour, holiday) + noise of 2.5. Both treat temperature and holiday as known ahead, and forecast from
the same rows in the last 15 %. darts' model is fitted to the rows before them; lagtape's trains on the first 70 % and
validates on the next 15 %, with the experiment as written. Needs `pip install darts`. Prints one line of JSON: the root
mean squared errors over all 48 steps (darts' in three ways), the ratio (lagtape's / darts' best), the errors of lagtape's
own ridge regression and of the noise, and the versions.
"""

import argparse
import datetime
import json
import math
import pathlib
import random
import subprocess
import tempfile

STEPS, LAGS, ORIGINS, NOISE = 48, 48, 200, 2.5
MODELS = {  # one regression per step, on the covariates of all steps; and a single-step one, applied repeatedly
    "direct": {"lags_future_covariates": (LAGS, STEPS), "output_chunk_length": STEPS},
    "recursive": {"lags_future_covariates": (24, 1), "output_chunk_length": 1},
    "recursive, aligned": {"lags_future_covariates": [0], "output_chunk_length": 1},
}


def rows_of_load(count):
    """Time, load, temperature and holiday of each hour."""
    draw, level = random.Random(5), 10.0
    for n in range(count):
        time = datetime.datetime(2022, 1, 1) + datetime.timedelta(hours=n)
        level += 0.05 * (10 - level) + draw.gauss(0, 0.8)
        temperature = level + 6 * math.sin(2 * math.pi * (time.hour - 9) / 24)
        holiday = int(time.weekday() == 6)
        load = 60 + 12 * math.sin(2 * math.pi * (time.hour - 8) / 24) - 10 * holiday + 0.06 * (temperature - 15) ** 2
        yield time, round(load + draw.gauss(0, NOISE), 2), round(temperature, 2), holiday


def lagtape_errors(tool, folder, rows):
    """The errors of `eval --horizon` for the experiment that `new` writes."""
    lines = [f"{time:%Y-%m-%d %H:%M},{load},{temperature},{holiday}\n" for time, load, temperature, holiday in rows]
    (folder / "load.csv").write_text("time,load,temperature,holiday\n" + "".join(lines))

    def run(*args):
        return subprocess.run([tool, *args], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout

    run("new", "load.csv", "--target", "load", "--future", "temperature,holiday", "--output", "load.json")
    run("train", "load.json", "--out", "run", "--quiet")
    return json.loads(run("eval", "run", "--horizon", str(STEPS), "--json"))["targets"]["load"]["overall"]


def darts_error(rows, options):
    """The error of darts' model with these options in addition to the lags."""
    import numpy as np
    import pandas as pd
    from darts import TimeSeries
    from darts.models import LinearRegressionModel

    frame = pd.DataFrame(rows, columns=["time", "load", "temperature", "holiday"]).set_index("time").astype(float)
    angle = 2 * np.pi * frame.index.hour / 24
    frame["sine"], frame["cosine"] = np.sin(angle), np.cos(angle)
    series = TimeSeries.from_dataframe(frame[["load"]])
    known = TimeSeries.from_dataframe(frame[["temperature", "holiday", "sine", "cosine"]])
    first = round(0.85 * len(rows))
    last = len(rows) - STEPS
    stride = (last - first) // ORIGINS + 1
    model = LinearRegressionModel(lags=LAGS, **options)
    model.fit(series[:first], future_covariates=known[:first])
    forecasts = model.historical_forecasts(series, future_covariates=known, start=frame.index[first], forecast_horizon=STEPS,
                                           stride=stride, retrain=False, last_points_only=False)
    squares = []
    for forecast in forecasts:
        assert len(forecast) == STEPS
        truth = frame["load"].loc[forecast.time_index].to_numpy()
        squares.append((forecast.values()[:, 0] - truth) ** 2)
    assert len(squares) == len(range(first, last + 1, stride)), len(squares)
    return math.sqrt(np.mean(squares))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the lagtape to measure")
    parser.add_argument("--rows", type=int, default=9000)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the files of lagtape")
    arguments = parser.parse_args()
    rows = list(rows_of_load(arguments.rows))
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        own = lagtape_errors(pathlib.Path(arguments.tool).resolve(), folder, rows)
    others = {name: darts_error(rows, options) for name, options in MODELS.items()}
    best = min(others, key=others.get)
    import darts
    print(json.dumps({"peer": "darts LinearRegressionModel", "version": darts.__version__, "rows": arguments.rows,
                      "steps": STEPS, "rmse": own["model"]["rmse"], "darts": others, "best": best, "ratio": own["model"]["rmse"] / others[best],
                      "ridge_rmse": own["ridge"]["rmse"], "noise": NOISE}))


if __name__ == "__main__":
    main()
