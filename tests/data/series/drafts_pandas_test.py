"""Random tables as people have them, of many kinds at once. `lagtape new` gets a table and what the table cannot say. Its experiment
reads the numbers that were written, and forecasts have the dates of pandas' date_range.

usage: drafts_pandas_test.py TOOL [--slow] [TESTS...]      exits with 77 where pandas is missing; --slow takes 200 tables, not 16"""

import gzip
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
CLOCK_FREQUENCIES = ("10s", "min", "5min", "15min", "30min", "h", "3h")
DAY_FREQUENCIES = ("D", "2D", "B", "W-MON", "W-SUN", "MS", "ME", "BME", "QS", "QE", "YS", "YE")
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Auckland")
CLOCKS = ("%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y%m%d%H%M%S",
          "%b %d, %Y %I:%M:%S %p", "%m/%d/%Y %I:%M:%S %p", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S +0000", "%Y-%m-%dT%H:%M:%SZ",
          "%Y-%m-%dT%H:%M:%S.000Z", "%d-%m-%Y %H:%M:%S", "%d %b %Y %H:%M:%S")
DAYS = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d-%b-%Y", "%Y/%m/%d", "%d/%m/%y", "%B %d, %Y", "%a %d %b %Y", "%Y-%m-%d 00:00:00",
        "%d.%m.%Y 00:00", "%Y-%m-%dT00:00:00Z")
DAY_COUNTS = {"spreadsheet": 25569, "julian": 2440587.5, "modified julian": 40587}  # of 1970-01-01
NANOSECONDS = {"seconds": 10**9, "milliseconds": 10**6, "microseconds": 1000, "nanoseconds": 1}


def instants(dates):
    """Nanoseconds since 1970; dates without a zone as if they were at UTC."""
    dates = pd.DatetimeIndex(dates)
    return (dates.tz_convert("UTC").tz_localize(None) if dates.tz else dates).astype("datetime64[ns]").astype("int64").tolist()


class Table:
    """A table, what was written into it, and the keys that no table says: codes and zones."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.frequency = rng.choice(CLOCK_FREQUENCIES + DAY_FREQUENCIES)
        self.kind = self.draw_kind()
        self.zone = rng.choice(ZONES) if self.kind == "zone" else None
        self.form = rng.choice([form for form in CLOCKS if not (self.zone and form.endswith(("UTC", "+0000", "Z")))] if self.is_clock else DAYS)
        if self.frequency in ("MS", "QS", "YS") and self.form in ("%m/%d/%Y", "%d/%m/%y"):
            self.form = "%Y-%m-%d"  # first days alone do not say which number is the month
        if self.frequency[0] == "Y" and self.form == "%d/%m/%y":
            self.form = "%d/%m/%Y"  # two digits are a year from 1969 to 2068
        self.id = rng.choice(["", "", "unique_id", "station"])
        self.separator, self.decimal = rng.choice([(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", ".")])
        self.code = rng.choice([None, None, None, -999, -200, 9999])
        self.missing = rng.choice([0, 0.03])
        self.gaps = rng.choice([0, 0, 0.03]) if self.kind not in ("period", "week") else 0
        self.is_shuffled = self.zone is None and self.id != "station" and rng.random() < 0.2
        self.has_unit_row = rng.random() < 0.2
        self.has_index = not self.has_unit_row and rng.random() < 0.2
        self.above = rng.choice(["", "", "", f"sep={self.separator}\n", "# made by a logger\n", "Station: Köln\n\n",
                                 "Report\nCreated 2024-01-05\n\n", "Bericht" + self.separator * (2 + self.width) + "\n"])
        self.encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16"])
        self.is_packed = rng.random() < 0.2
        self.unit = "" if self.code or self.has_unit_row else rng.choice(["", "", " kW", " %"])
        self.thousands = rng.choice([None, None, None, " ", "'"])
        self.names = rng.choice([("load", "temp")] * 5 + [("load", "load")])
        self.end = rng.choice(["\n", "\r\n"])
        self.ends_empty = rng.random() < 0.1
        self.series = [self.draw(i) for i in range(3 if self.id else 1)]

    @property
    def is_clock(self):
        return self.frequency in CLOCK_FREQUENCIES

    @property
    def width(self):
        return bool(self.id) + len(self.time_names or ["time"]) + self.has_index - 1

    @property
    def time_names(self):
        return {"columns": ["Datum", "Uhrzeit"], "parts": ["year", "month", "day", "hour"], "day column": ["Year", "DOY"],
                "day and hour": ["year", "day_of_year", "hour"], "julian": ["JD"], "modified julian": ["MJD"]}.get(self.kind)

    def draw_kind(self):
        if self.is_clock:
            kinds = ["text"] * 4 + [*NANOSECONDS, "spreadsheet", "julian", "offset", "columns", "zone", "zone"]
            return self.rng.choice(kinds + ["parts", "day and hour"] * (self.frequency in ("h", "3h")))
        special = {"MS": ["period"], "QS": ["period"], "YS": ["period"], "D": ["day of year", "day column", "modified julian"],
                   "W-MON": ["week"]}.get(self.frequency, ["text"])
        return self.rng.choice(["text", "text", *special])

    def draw(self, number):
        """The rows of a series by their times, NaN where there is no number."""
        rng = self.rng
        start = pd.Timestamp(f"{rng.randint(1991, 2019)}-{rng.randint(1, 12):02}-{rng.randint(13, 28)}")
        if self.zone:  # a change of the clock lies within the rows
            start = pd.Timestamp(f"{start.year}-{rng.choice((3, 10))}-{rng.randint(13, 24)}")
        if self.frequency[0] in "QY":
            start = pd.Timestamp("1931-01-01" if self.frequency[0] == "Y" else "1995-01-01")
        rows = 70 if self.frequency[0] == "Y" else 1400 if self.zone and self.frequency in ("15min", "30min") else (
            rng.randint(500, 700) if self.is_clock else rng.randint(70, 110))
        times = pd.date_range(start, periods=rows, freq=self.frequency, tz=self.zone)
        times = times[[i < 3 or i > rows - 4 or rng.random() >= self.gaps for i in range(rows)]]
        scale = rng.choice([5, 2000]) * (number + 1)
        numbers = {name: np.array([round(rng.gauss(scale, scale / 5), 2) for _ in times]) for name in ("a", "b")}
        for values in numbers.values():
            values[[i for i in range(3, len(values) - 3) if rng.random() < self.missing]] = np.nan
        return pd.DataFrame(numbers, index=times)

    def time_texts(self, times):
        since_1970 = instants(times)
        if self.kind in NANOSECONDS:
            return [str(time // NANOSECONDS[self.kind]) for time in since_1970]
        if self.kind in DAY_COUNTS:
            return [f"{time / 864e11 + DAY_COUNTS[self.kind]:.10f}".rstrip("0").rstrip(".").replace(".", self.decimal) for time in since_1970]
        if self.kind == "offset":
            return [time.isoformat() for time in times.tz_localize("UTC")]
        if self.kind == "columns":
            return [time.strftime(f"%d.%m.%Y{self.separator}%H:%M:%S") for time in times]
        if self.kind == "parts":
            return [self.separator.join(map(str, (time.year, time.month, time.day, time.hour))) for time in times]
        if self.kind in ("day column", "day and hour"):
            return [self.separator.join(map(str, (time.year, time.dayofyear, time.hour)[:len(self.time_names)])) for time in times]
        if self.kind == "period":
            return [f"{time.year}Q{time.quarter}" if self.frequency == "QS" else time.strftime("%Y-%m" if self.frequency == "MS" else "%Y")
                    for time in times]
        form = {"day of year": "%Y-%j", "week": "%G-W%V"}.get(self.kind, self.form)
        quote = '"' if self.separator in form else ""
        return [quote + time.strftime(form) + quote for time in times]

    def cell(self, value, none):
        if np.isnan(value):
            return str(self.code) if self.code else none
        text = f"{value:,.2f}" if self.thousands else f"{value:.2f}"
        return text.translate(str.maketrans({",": self.thousands or "", ".": self.decimal})) + self.unit

    def write(self, folder):
        times = self.time_names or [self.rng.choice(["time", "Date", "ds", "Zeitpunkt"])]
        leading = [self.id] * bool(self.id) + times
        top = [self.separator.join([""] * self.has_index + leading + list(self.names))]
        if self.has_unit_row:
            top.append(self.separator.join([""] * len(leading) + ["m/s"] * 2))
        none = self.rng.choice(["", "NA", "NaN", "-"])
        lines = [self.separator.join([f"s{i}"] * bool(self.id) + [text, *(self.cell(value, none) for value in row)])
                 for i, frame in enumerate(self.series) for text, row in zip(self.time_texts(frame.index), frame.to_numpy())]
        if self.is_shuffled:
            self.rng.shuffle(lines)
            if self.id:  # series are in the order in which they first come
                self.series = [self.series[int(name[1:])] for name in dict.fromkeys(line.split(self.separator)[0] for line in lines)]
        if self.has_index:
            lines = [f"{row}{self.separator}{line}" for row, line in enumerate(lines)]
        self.text = self.above + "".join(line + self.separator * self.ends_empty + "\n" for line in top + lines)
        data = self.text.replace("\n", self.end).encode(self.encoding)
        path = folder / ("table.csv" + ".gz" * self.is_packed)
        path.write_bytes(gzip.compress(data) if self.is_packed else data)
        return path.name

    def keys(self):
        codes = {"missing_codes": [self.code]} if self.code else {}
        return {"missing": "hold", "across_gaps": True, **codes, **({"timezone": self.zone} if self.zone else {})}

    def dates_of(self, texts):
        """Times as a forecast writes them."""
        if self.kind in NANOSECONDS:
            return pd.to_datetime(pd.Series(texts).astype("int64") * NANOSECONDS[self.kind])
        if self.kind in DAY_COUNTS:
            return pd.to_datetime(np.round((np.array(texts, float) - DAY_COUNTS[self.kind]) * 86400), unit="s")
        if "W" in texts[0]:
            return pd.to_datetime([f"{text}-1" for text in texts], format="%G-W%V-%u")
        if "Q" in texts[0]:
            return pd.PeriodIndex(texts, freq="Q").to_timestamp()
        if self.kind == "day of year" and len(texts[0]) == 8:
            return pd.to_datetime(texts, format="%Y-%j")
        return pd.to_datetime(texts, utc=self.zone is not None or "Z" in texts[0] or "+" in texts[0])


class DraftsTest(unittest.TestCase):
    tool, count = "", 16

    def run_tool(self, *args, **data):
        changes = sum((["--set", f"{'' if '.' in key else 'data.'}{key}={json.dumps(value)}"] for key, value in data.items()), [])
        done = subprocess.run([self.tool, *args, *changes], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, f"{args}\n{done.stderr}\n{self.shown}")
        return done.stdout

    def check_numbers(self, table):
        self.run_tool("data", "e.json", "--out", "e.npz", **table.keys(), window=1, horizon=1, stride=1, train=1, valid=0, test=0,
                      normalize=False, normalize_target=False, calendar=None)
        expected = np.concatenate([frame.ffill().to_numpy()[:-1] for frame in table.series])
        np.testing.assert_allclose(np.load(self.folder / "e.npz")["train_x"][:, 0], expected, rtol=3e-7, err_msg=self.shown)

    def check_dates(self, table, file):
        self.run_tool("train", "e.json", "--out", "run", "--quiet", **table.keys(), window=4, train=0.6, valid=0.2, test=0.2,
                      **{"train.epochs": 1, "model.layers.0.units": 1})
        self.run_tool("forecast", "run", "--input", file, "--steps", str(STEPS), "--output", "f.csv")
        made = pd.read_csv(self.folder / "f.csv", dtype=str)
        self.assertIn("time", made.columns, self.shown)
        groups = [group for _, group in made.groupby(table.id, sort=False)] if table.id else [made]
        self.assertEqual(len(groups), len(table.series))
        for group, frame in zip(groups, table.series):
            texts = group["time"].tolist()
            expected = pd.date_range(frame.index[-1], periods=STEPS + 1, freq=table.frequency)[1:]
            self.assertEqual(instants(table.dates_of(texts)), instants(expected), f"{texts}\n{self.shown}")

    def test_tables(self):
        for seed in range(self.count):
            with self.subTest(seed), tempfile.TemporaryDirectory() as name:
                self.folder, table = pathlib.Path(name), Table(seed)
                file = table.write(self.folder)
                shown = {key: value for key, value in vars(table).items() if key not in ("series", "rng", "text")}
                self.shown = f"{shown}\n{table.text[:400]}"
                draft = self.run_tool("new", file, "gru")
                (self.folder / "e.json").write_text(draft, encoding="utf-8")
                self.shown += draft
                self.check_numbers(table)
                self.check_dates(table, file)


if __name__ == "__main__":
    DraftsTest.tool = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if "--slow" in sys.argv:
        sys.argv.remove("--slow")
        DraftsTest.count = 200
    unittest.main()
