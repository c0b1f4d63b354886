"""Times as people write them: formats, frequencies and clocks, from a file to the dates of a forecast."""

import datetime
import json
import math
import shutil
import zipfile

from tool import RECORDING, ToolTest, changed, main, npy_values, read_safetensors, rows_of

SERIES = changed(RECORDING, data__target=["v"], data__window=4)
DAY = datetime.timedelta(days=1)


def month(n, first=1990):
    return datetime.date(first + n // 12, n % 12 + 1, 1)


def workdays(count, first=datetime.date(2024, 1, 1)):
    days = (first + n * DAY for n in range(2 * count))
    return [day for day in days if day.weekday() < 5][:count]


class ClockTest(ToolTest):
    def train_on(self, times, name="own.csv", **data):
        self.write(name, "t,v\n" + "".join(f"{time},{math.sin(n / 3):.4f}\n" for n, time in enumerate(times)))
        experiment = changed(SERIES, **{f"data__{key}": value for key, value in data.items()})
        said = self.run_tool("check", self.write("e.json", experiment))[1]
        self.run_tool("train", "e.json", "--out", "run", "--quiet")
        return said

    def dates(self, steps, *args, name="own.csv"):
        return [row["time"] for row in rows_of(self.run_tool("forecast", "run", "--input", name, "--steps", str(steps), *args)[0])]

    def forecast_of(self, times, steps=4, **data):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        said = self.train_on(times, **data)
        return said, self.dates(steps)

    def test_a_forecast_has_the_dates_of_the_calendar(self):
        texts = lambda dates: [str(date) for date in dates]
        months = [month(n) for n in range(80)]
        ends = [date - DAY for date in months[1:]]
        days = [datetime.date(2024, 1, 20) + n * DAY for n in range(60)]
        work = workdays(60)
        for frequency, times, steps in (("month_start", months, 60), ("month_end", ends, 60), ("1D", days, 40), ("business", work, 52),
                                        ("1W", days[::7] + [days[0] + 7 * n * DAY for n in range(9, 40)], 30),
                                        ("quarter", months[::3], 22), ("year", months[::12] + [month(12 * n) for n in range(7, 40)], 30)):
            with self.subTest(frequency):
                said, found = self.forecast_of(texts(times[:steps]), window=2)
                self.assertIn(f"data: {steps} rows, frequency {frequency}", said)
                self.assertEqual(found, texts(times[steps:steps + 4]))

    def test_clocks_that_are_rounded_keep_their_rows_together(self):
        said = self.train_on([f"2024-01-01 00:00:{n / 30:06.3f}" for n in range(200)])
        self.assertIn("200 rows, frequency not quite even, usually 0.03333", said)
        self.assertNotIn("gap", said)

    def test_formats_are_found_from_all_rows(self):
        days = [datetime.date(2024, 2, 1) + n * DAY for n in range(44)]
        for form in ("%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%b-%Y"):
            with self.subTest(form):
                found = self.forecast_of([day.strftime(form) for day in days[:40]])[1]
                self.assertEqual(found, [str(day) for day in days[40:]])
        self.assertEqual(self.forecast_of([f"{2000 + n // 4}Q{n % 4 + 1}" for n in range(40)], 2)[1], ["2010-01-01", "2010-04-01"])
        milliseconds = [1_700_000_000_000 + 60_000 * n for n in range(42)]
        self.assertEqual(self.forecast_of(milliseconds[:40], 2)[1], [str(n) for n in milliseconds[40:]])
        self.write("own.csv", "t,v\n" + "".join(f"{n:02}/01/2024,{n}\n" for n in range(1, 11)))
        self.refused(["own.csv: line 3", "no row has a day above 12", '"time_format" in "data"'], "check", "e.json")
        self.write("own.csv", "t,v\n" + "".join(f"{n},{n}\n" for n in range(40)))
        self.refused(["these numbers are not times between 1900 and 2100"], "check", "e.json")

    def test_a_model_reads_dates_in_the_order_that_its_rows_decided(self):
        days = [datetime.date(2024, 1, 20) + n * DAY for n in range(40)]
        few = [datetime.date(2024, 9, 1) + n * DAY for n in range(12)]
        for form in ("%d/%m/%Y", "%m/%d/%Y", "%m-%d-%Y"):
            with self.subTest(form):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.train_on([day.strftime(form) for day in days])
                self.write("few.csv", "t,v\n" + "".join(f"{day.strftime(form)},{n % 5}\n" for n, day in enumerate(few)))
                self.assertEqual(self.dates(2, name="few.csv"), ["2024-09-13", "2024-09-14"])
                self.run_tool("eval", "run", "--data", "few.csv", "--split", "all")

    def test_a_date_and_a_time_of_day_may_be_two_columns(self):
        hours = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=n) for n in range(40)]
        self.write("own.csv", "day,hour,v\n" + "".join(f"{hour:%d.%m.%Y},{hour:%H:%M},{n % 5}\n" for n, hour in enumerate(hours)))
        self.run_tool("train", self.write("e.json", changed(SERIES, data__time=["day", "hour"])), "--out", "run", "--quiet")
        self.assertEqual(self.dates(1), ["2024-01-02T16:00:00"])
        self.write("own.csv", ",v\n" + "".join(f"{hour},{n % 5}\n" for n, hour in enumerate(hours)))
        self.run_tool("check", self.write("e.json", changed(SERIES, data__time="")))

    def test_rows_of_another_frequency_are_refused_with_both(self):
        hours = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=n) for n in range(100)]
        self.train_on(hours)
        quarters = [datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=15 * n) for n in range(100)]
        self.write("q.csv", "t,v\n" + "".join(f"{time},{n % 5}\n" for n, time in enumerate(quarters)))
        commands = (["eval", "run", "--data", "q.csv", "--split", "all"], ["eval", "run", "--data", "q.csv", "--horizon", "2"],
                    ["predict", "run", "--input", "q.csv", "--output", "y.csv"], ["forecast", "run", "--input", "q.csv", "--steps", "2"])
        for command in commands:
            with self.subTest(command[0]):
                self.refused(["q.csv: expected rows of the frequency 1h", "15min", "--frequency any"], *command)
                self.run_tool(*command, "--frequency", "any")
        self.assertEqual(self.dates(1, "--frequency", "any", name="q.csv"), ["2024-01-02T01:00:00"])
        mixed = hours[:50] + [hours[49] + datetime.timedelta(minutes=15 * n) for n in range(1, 50)]
        self.write("own.csv", "t,v\n" + "".join(f"{time},{n % 5}\n" for n, time in enumerate(mixed)))
        self.refused(["own.csv: line 52", "rows of one series have one frequency", '"frequency": "any"'], "check", "e.json")
        self.write("e.json", changed(SERIES, data__path=["q.csv", "h.csv"], data__test=0, data__train=0.5, data__valid=0.5))
        self.write("h.csv", "t,v\n" + "".join(f"{time},{n % 5}\n" for n, time in enumerate(hours)))
        self.refused(["h.csv: expected the frequency of the files before it, 15min", "1h"], "check", "e.json")

    def test_gaps_are_missing_steps_of_the_frequency(self):
        work = workdays(60)
        self.assertNotIn("gap", self.train_on(work))
        del work[30:32]
        self.write("own.csv", "t,v\n" + "".join(f"{time},{n % 5}\n" for n, time in enumerate(work)))
        self.assertIn(f"with 1 gap, before {work[30]}", self.run_tool("check", "e.json")[1])

    def test_clocks_that_are_set_are_put_in_order(self):
        zone_free = [datetime.datetime(2024, 10, 26, 12) + datetime.timedelta(hours=n) for n in range(100)]
        # In Berlin the hour from 2:00 on occurs twice on 2024-10-27: from 1:00 UTC on clocks are an hour ahead, not two.
        utc = [time - datetime.timedelta(hours=2) for time in zone_free]
        local = [time + datetime.timedelta(hours=2 if time < datetime.datetime(2024, 10, 27, 1) else 1) for time in utc]
        said = self.train_on(local, timezone="Europe/Berlin", calendar=["hour"])
        self.assertIn("100 rows, frequency 1h, clock of Europe/Berlin", said)
        self.assertNotIn("gap", said)
        self.assertEqual(self.dates(1), [f"{local[-1] + datetime.timedelta(hours=1):%Y-%m-%dT%H:%M:%S}+01:00"])
        self.refused(["e.json: /data/timezone:", "Europe/Berlin"], "check", self.write("e.json", changed(SERIES, data__timezone="Europe/Berlon")))
        spring = "t,v\n" + "".join(f"2024-03-31 0{n}:00,{n}\n" for n in range(8))
        self.write("own.csv", spring)
        self.refused(["own.csv: line 4"], "check", self.write("e.json", changed(SERIES, data__timezone="Europe/Berlin")))

    def test_rows_of_one_time_are_treated_as_said(self):
        self.write("own.csv", "t,v\n2024-01-01,1\n2024-01-02,2\n2024-01-02,4\n2024-01-03,5\n2024-01-04,6\n2024-01-05,6\n2024-01-06,6\n")
        base = changed(SERIES, data__normalize=False, data__normalize_target=False, data__train=1, data__valid=0, data__test=0)
        self.refused(["own.csv: lines 3 and 4: both are of 2024-01-02", '"duplicates"'], "check", self.write("e.json", base))
        for treatment, value in (("first", 2), ("last", 4), ("mean", 3)):
            self.run_tool("data", self.write("e.json", changed(base, data__duplicates=treatment)), "--out", "x.npz")
            with zipfile.ZipFile(self.folder / "x.npz") as archive:
                self.assertEqual(list(npy_values(archive.read("train_x.npy")))[:4], [1, value, 5, 6])

    def test_wrong_keys_are_named(self):
        self.write("own.csv", "t,v\n2024-01-01,1\n")
        for key, value, words in (("frequency", "1x", "/data/frequency:"), ("time_format", "%Q", "/data/time_format:"),
                                  ("time", list("abcdefg"), "/data/time: expected a column"), ("holidays", ["soon"], "/data/holidays: expected dates"),
                                  ("duplicates", "none", "/data/duplicates:"), ("timezone", 3, "/data/timezone:")):
            with self.subTest(key):
                self.refused([words], "check", self.write("e.json", changed(SERIES, **{f"data__{key}": value})))

    def test_a_model_keeps_its_frequency(self):
        self.train_on([month(n) for n in range(60)])
        kept = json.loads(read_safetensors(self.weights("run"))[0]["__metadata__"]["experiment"])
        self.assertEqual(kept["data"]["frequency"], "month_start")

    def test_series_of_other_days_of_the_month_keep_them(self):
        days = {"last": lambda n: month(n + 1) - DAY, "first": month, "15": lambda n: month(n).replace(day=15),
                "January": lambda n: datetime.date(1970 + n, 1, 3), "June": lambda n: datetime.date(1970 + n, 6, 5)}
        for a, b, name in (("last", "first", "month"), ("last", "15", "month"), ("January", "June", "year")):
            with self.subTest((a, b)):
                self.write("own.csv", "id,t,v\n" + "".join(f"{one},{days[one](n)},{n % 12 + 3}\n" for one in (a, b) for n in range(48)))
                self.train("run", experiment=changed(SERIES, data__series="id"))
                self.assertIn(f"frequency {name}", self.run_tool("check", "run/experiment.json")[1])
                predicted = rows_of(self.run_tool("predict", "run", "--input", "own.csv", "--output", "-")[0])
                self.assertEqual({row["id"] for row in predicted}, {a, b})
                self.assertEqual(self.dates(2), [str(days[one](n)) for one in (a, b) for n in (48, 49)])
                shutil.rmtree(self.folder / "run")


if __name__ == "__main__":
    main()
