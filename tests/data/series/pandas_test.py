"""Random recordings with times: their numbers are those that pandas reads, and forecasts have the dates of its date_range.

usage: pandas_test.py TOOL [--slow] [TESTS...]      exits with 77 where pandas is missing; --slow takes 200 recordings, not 16"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import pandas as pd
except ImportError:
    print("not run: pandas is missing")
    sys.exit(77)

STEPS = 5
FREQUENCIES = {"15min": "15min", "h": "1h", "6h": "6h", "D": "1D", "B": "business", "W-WED": "1W-WED", "MS": "month_start", "ME": "month_end",
               "QS-JAN": "quarter_start", "YS-JAN": "year_start"}
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
CLOCKS = ("%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%Y-%m-%dT%H:%M", "%Y%m%d%H%M", "%b %d, %Y %I:%M %p")
DAYS = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d-%b-%Y", "%Y/%m/%d")


class Recording:
    """The files of an experiment, its keys, and what pandas makes of both."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.frequency = rng.choice(list(FREQUENCIES))
        self.is_clock = self.frequency in ("15min", "h", "6h")
        self.zone = rng.choice([None, None, *ZONES]) if self.is_clock else None
        self.form = rng.choice(CLOCKS if self.is_clock else DAYS)
        if self.frequency in ("MS", "QS-JAN") and self.form == "%m/%d/%Y":
            self.form = "%Y-%m-%d"  # first days alone do not say which number is the month
        self.kind = rng.choice(["text", "text", "text", "seconds", "milliseconds", "offset", "columns"]) if self.is_clock else "text"
        self.layout = rng.choice(["one", "one", "files", "long"])
        self.separator, self.decimal = rng.choice([(",", "."), (";", "."), (";", ","), ("\t", ",")])
        self.code = rng.choice([None, None, -999, 9999])
        self.missing = rng.choice([0, 0.05])
        self.gaps = rng.choice([0, 0, 0.04])
        self.is_shuffled = self.zone is None and rng.random() < 0.3
        self.has_unit_row = rng.random() < 0.2
        self.has_index = not self.has_unit_row and rng.random() < 0.2
        self.above = rng.choice(["", "", "", f"sep={self.separator}\n", "# made by a logger\n", "Station: Köln\n\n"])
        self.encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16"])
        self.series = [self.draw(i) for i in range(1 if self.layout == "one" else 3)]

    def draw(self, number):
        """The rows of a series: absolute times and numbers, NaN where there is none."""
        rng = self.rng
        # Days above 12 decide the order of day and month, a long series passes a change of the clock.
        start = pd.Timestamp(f"{rng.randint(1990, 2020)}-{rng.randint(1, 12):02}-{rng.randint(13, 28)}")
        if self.frequency == "15min":
            start = pd.Timestamp(f"{start.year}-{rng.choice((3, 10))}-{rng.randint(20, 24)}")
        rows = rng.randint(60, 90) if not self.is_clock else rng.randint(900, 1200) if self.frequency == "15min" else rng.randint(250, 400)
        times = pd.date_range(start, periods=rows, freq=self.frequency, tz=self.zone)
        kept = [i < 3 or i > rows - 3 or rng.random() >= self.gaps for i in range(rows)]
        times = times[kept]
        numbers = {name: np.array([round(rng.gauss(50, 10), 2) for _ in times]) for name in ("y", "a")}
        for values in numbers.values():
            values[[i for i in range(2, len(values) - 2) if rng.random() < self.missing]] = np.nan
        return pd.DataFrame(numbers, index=times).assign(s=float(number))

    def time_texts(self, times):
        if self.kind in ("seconds", "milliseconds"):
            nanoseconds = times.tz_convert("UTC").tz_localize(None) if times.tz else times
            return [str(int(n // (10**9 if self.kind == "seconds" else 10**6))) for n in nanoseconds.astype("datetime64[ns]").astype("int64")]
        if self.kind == "offset":
            return [time.isoformat() for time in (times if times.tz else times.tz_localize("UTC"))]
        if self.kind == "columns":
            return [time.strftime("%d.%m.%Y") + self.separator + time.strftime("%H:%M") for time in times]
        quote = '"' if "," in self.form else ""
        return [quote + time.strftime(self.form) + quote for time in times]

    def lines_of(self, frame, name):
        def cell(value):
            if np.isnan(value):
                return str(self.code) if self.code else self.rng.choice(("", "NA"))
            return f"{value:.2f}".replace(".", self.decimal)

        lines = [self.separator.join([*([name] if self.layout == "long" else []), text, *map(cell, row)])
                 for text, row in zip(self.time_texts(frame.index), frame[["y", "a", "s"]].to_numpy())]
        if self.is_shuffled:
            self.rng.shuffle(lines)
        return lines

    def write(self, folder):
        times = ["day", "clock"] if self.kind == "columns" else ["when"]
        head = [*(["id"] if self.layout == "long" else []), *times, "y", "a", "s"]
        top = [self.separator.join([""] * self.has_index + head)]
        if self.has_unit_row:
            top.append(self.separator.join(["" if name in ("id", *times) else "kW" for name in head]))
        tables = [self.lines_of(frame, f"s{i}") for i, frame in enumerate(self.series)]
        for name, all_lines in (("only", tables), ("part", [sum(tables, [])] if self.layout == "long" else tables)):
            for i, lines in enumerate(all_lines):
                if self.has_index:
                    lines = [self.separator.join([str(row), line]) for row, line in enumerate(lines)]
                text = self.above + "\n".join([*top, *lines]) + "\n"
                (folder / f"{name}{i}.csv").write_bytes(text.encode(self.encoding))
        data = {"task": "series", "path": "part*.csv" if self.layout == "files" else "part0.csv", "time": times[0] if len(times) == 1 else times,
                "target": ["y"], "past": ["a"], "static": ["s"], "missing": "hold", "separator": self.separator, "decimal": self.decimal}
        if self.layout == "long":
            data["series"] = "id"
        if self.zone:
            data["timezone"] = self.zone
        if self.code:
            data["missing_codes"] = [self.code]
        return data

    def expected_dates(self, frame):
        return pd.date_range(frame.index[-1], periods=STEPS + 1, freq=self.frequency)[1:]


def instants(dates):
    """Nanoseconds since 1970; dates without a zone as if they were at UTC."""
    dates = pd.DatetimeIndex(dates)
    return (dates.tz_convert("UTC").tz_localize(None) if dates.tz else dates).astype("datetime64[ns]").astype("int64").tolist()


class PandasTest(unittest.TestCase):
    tool, count = "", 16

    def run_tool(self, folder, *args):
        done = subprocess.run([self.tool, *args], cwd=folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, f"{args}\n{done.stderr}\n{self.shown}")
        return done.stdout, done.stderr

    def experiment(self, folder, data):
        experiment = {"name": "e", "data": data, "model": {"layers": [{"cell": "rnn", "units": 1}], "readout": {"at": "every_step"}},
                      "loss": "mse", "optimizer": {"type": "adam", "lr": 0.01}, "train": {"epochs": 1, "batch": 64}}
        (folder / "e.json").write_text(json.dumps(experiment))

    def check_numbers(self, folder, recording, data):
        self.experiment(folder, {**data, "window": 1, "stride": 1, "horizon": 1, "train": 1, "valid": 0, "test": 0, "normalize": False,
                                 "normalize_target": False, "across_gaps": True})
        self.run_tool(folder, "data", "e.json", "--out", "e.npz")
        arrays = np.load(folder / "e.npz")
        frames = [frame.ffill() for frame in recording.series]
        expected = np.concatenate([frame[["y", "a", "s"]].to_numpy()[:-1] for frame in frames])
        np.testing.assert_allclose(arrays["train_x"][:, 0], expected, rtol=3e-7, err_msg=self.shown)

    def check_dates(self, folder, recording, data):
        self.experiment(folder, {key: value for key, value in data.items() if key not in ("past", "static")} | {"input": ["y"], "window": 4, "across_gaps": True})
        _, said = self.run_tool(folder, "check", "e.json")
        self.assertIn(f"frequency {FREQUENCIES[recording.frequency].removesuffix('-WED').removesuffix('_start' if recording.frequency[0] in 'QY' else '')}",
                      said, self.shown)
        self.run_tool(folder, "train", "e.json", "--out", "run", "--quiet")
        unit = {"seconds": "s", "milliseconds": "ms"}.get(recording.kind)
        is_absolute = recording.kind == "offset" or recording.zone is not None
        for i, frame in enumerate(recording.series):
            self.run_tool(folder, "forecast", "run", "--input", f"only{i}.csv", "--steps", str(STEPS), "--output", "f.csv")
            texts = pd.read_csv(folder / "f.csv", dtype={"time": str})["time"]
            found = pd.to_datetime(texts.astype("int64"), unit=unit) if unit else pd.to_datetime(texts.tolist(), utc=is_absolute)
            self.assertEqual(instants(found), instants(recording.expected_dates(frame)), f"{texts.tolist()}\n{self.shown}")

    def test_recordings(self):
        for seed in range(self.count):
            with self.subTest(seed), tempfile.TemporaryDirectory() as name:
                folder, recording = pathlib.Path(name), Recording(seed)
                data = recording.write(folder)
                shown = {key: value for key, value in vars(recording).items() if key not in ("series", "rng")}
                self.shown = f"{shown}\n{data}\n{(folder / 'part0.csv').read_text(recording.encoding)[:300]}"
                self.check_numbers(folder, recording, data)
                self.check_dates(folder, recording, data)


if __name__ == "__main__":
    PandasTest.tool = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if "--slow" in sys.argv:
        sys.argv.remove("--slow")
        PandasTest.count = 200
    unittest.main()
