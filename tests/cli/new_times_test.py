"""Times that `lagtape new` finds: formats, columns, zones, counts, and the series whose they are."""

import datetime
import math
import random
import shutil
import zoneinfo

from new_test import without_comments
from tool import ToolTest, main, rows_of


class NewTimesTest(ToolTest):
    def new(self, *args):
        return self.run_tool("new", *args)[0]

    def check(self, text):
        self.run_tool("check", self.write("new.json", text))

    def test_seconds_since_1970_are_times_and_large_numbers_are_not(self):
        rows = [(1.7e9 + 600 * i + (i >= 200) * 6000, 4e8 + i % 9, 1.6e9 + i * i) for i in range(400)]
        self.write("flow.csv", "ts;flow;counter;valve\n" + "".join(
            f"{t:.0f};{flow:.0f};{counter:.0f};{'on' if i % 40 < 25 else 'off'}\n" for i, (t, flow, counter) in enumerate(rows)))
        text = self.new("flow.csv")
        data = without_comments(text)["data"]
        self.assertEqual((data["time"], data["input"], data["calendar"]), ("ts", ["flow", "counter", "valve"], ["hour", "weekday"]))
        self.assertIn('"valve" is read and not predicted: a forecast needs rows in which it is known.', text)
        self.assertIn("Rows are missing:", text)
        self.check(text)

    def test_a_first_column_that_counts_is_a_time(self):
        for name, numbers in {"t": range(300), "seconds": [i / 10 for i in range(300)], "down": range(300, 0, -1)}.items():
            with self.subTest(name):
                self.write("x.csv", f"{name},v\n" + "".join(f"{number},{i % 7}\n" for i, number in enumerate(numbers)))
                text = self.new("x.csv")
                data = without_comments(text)["data"]
                self.assertEqual((data["input"], data["time"], "calendar" in data), (["v"], name, False))
                self.check(text)

    def test_days_that_were_written_in_utc_have_their_zone(self):
        days = [datetime.date(2024, 1, 1) + datetime.timedelta(n) for n in range(300)]
        summer = lambda day: datetime.date(2024, 3, 31) < day <= datetime.date(2024, 10, 27)
        stamp = lambda day, end: f"{day - datetime.timedelta(1)} {22 if summer(day) else 23}:00:00{end}"
        rows = lambda end: "t,v\n" + "".join(f"{stamp(day, end)},{n % 7 + 0.5}\n" for n, day in enumerate(days))
        self.write("days.csv", rows("+00:00"))
        text = self.new("days.csv")
        self.assertEqual(without_comments(text)["data"]["timezone"], "Europe/Berlin")
        self.assertIn("300 rows, frequency 1D, clock of Europe/Berlin", self.run_tool("check", self.write("e.json", text))[1])
        self.write("days.csv", rows(""))
        said = self.run_tool("check", self.write("e.json", self.new("days.csv")))[1]
        self.assertIn('the times are midnights of Europe/Berlin in UTC: with times that say so, as in 2024-06-30T22:00Z, and "timezone"', said)

    def test_offsets_that_change_are_a_zone_whose_clock_has_the_hours_and_days(self):
        berlin = zoneinfo.ZoneInfo("Europe/Berlin")
        first = datetime.datetime(2020, 10, 19, 22, tzinfo=datetime.timezone.utc)
        hours = [(first + datetime.timedelta(hours=n)).astimezone(berlin) for n in range(400)]
        self.write("t.csv", "t,y\n" + "".join(f"{time.isoformat()},{time.hour}\n" for time in hours))
        text = self.new("t.csv")
        self.assertEqual(without_comments(text)["data"]["timezone"], "Europe/Berlin")
        self.assertIn("Offsets from UTC change as those of Europe/Berlin, or of another place", text)
        days = [datetime.datetime(2020, 3, 1, 8, tzinfo=berlin) + datetime.timedelta(n) for n in range(120)]
        experiment = {"name": "d", "data": {"task": "series", "path": "d.csv", "time": "t", "target": "y", "window": 4},
                      "model": {"layers": [{"cell": "gru", "units": 2}], "readout": {"at": "every_step"}}, "loss": "mse",
                      "train": {"epochs": 1, "batch": 4}}
        self.write("d.csv", "t,y\n" + "".join(f"{time.isoformat()},{n % 7}\n" for n, time in enumerate(days)))
        said = self.run_tool("check", self.write("d.json", experiment))[1]
        self.assertIn("frequency 1D, clock of Europe/Berlin, whose offsets from UTC the times have", said)
        self.run_tool("train", "d.json", "--out", "run")
        self.write("winter.csv", "t,y\n" + "".join(
            f"2021-01-{day:02}T08:00:00+01:00,{day % 7}\n" for day in range(1, 32)))
        rows = rows_of(self.run_tool("forecast", "run", "--input", "winter.csv", "--steps", "60")[0])
        self.assertEqual((rows[0]["time"], rows[-1]["time"]), ("2021-02-01T08:00:00+01:00", "2021-04-01T08:00:00+02:00"))

    def test_numbers_say_for_which_dates_they_were_taken(self):
        def said(name, numbers):
            self.write("n.csv", f"{name},v\n" + "".join(f"{number},{i % 7}\n" for i, number in enumerate(numbers)))
            return self.new("n.csv")

        self.assertIn("'time' are taken for spreadsheet: 2061-02-12 to 2061-12-08. As \"modified_julian_days\" they would be 2020-01-01",
                      said("time", range(58849, 59149)))
        text = said("time", range(1051896, 1051896 + 7200, 24))
        self.assertIn('taken as seconds from a beginning, not as dates, as "time_format" says. As "hours_since_1900" they would be 2020-01-01',
                      text)
        text = said("datenum", range(737791, 737791 + 300))
        self.assertEqual(without_comments(text)["data"]["time_format"], "matlab_days")
        self.assertIn("2020-01-01 to 2020-10-26", text)
        self.check(text)

    def test_years_with_a_fraction_beside_dates_and_years_without_a_name_are_not_learnt(self):
        months = [(2000 + n // 12, n % 12 + 1) for n in range(240)]
        self.write("w.csv", "year,month,decimal,co2\n" + "".join(
            f"{year},{month},{year + (month - 0.5) / 12:.4f},{400 + month}\n" for year, month in months))
        text = self.new("w.csv")
        self.assertEqual((without_comments(text)["data"]["input"], without_comments(text)["data"]["time"]), (["co2"], ["year", "month"]))
        self.assertIn('"decimal" has dates: left out', text)
        self.write("s.csv", "".join(f"{year};{month:02};{year + (month - 0.5) / 12:.3f};{40.5 + month};{5.1 + month % 5}\n"
                                    for year, month in months))
        text = self.new("s.csv")
        self.assertEqual(without_comments(text)["data"]["input"], [3, 4])
        self.assertIn('Column 0 has times: left out, as a \"time\" needs a name', text)

    def test_files_of_a_pattern_are_series(self):
        for name in "ab":
            self.write(f"st_{name}.csv", "t,y\n" + "".join(f"2024-01-{n // 24 + 1:02} {n % 24:02}:00,{n % 24}\n" for n in range(300)))
        text = self.new("st_*.csv")
        self.assertEqual(without_comments(text)["data"]["path"], "st_*.csv")
        self.assertIn("the first of 2 series", text)
        self.check(text)

    def test_weeks_and_days_with_holes_say_that_forecasts_go_on(self):
        days = [datetime.date(2024, 1, 1) + datetime.timedelta(n) for n in range(200)]
        self.write("w.csv", "t,y\n" + "".join(f"{day},{n % 5}\n" for n, day in enumerate(days) if day.weekday() not in (4, 5)))
        text = self.new("w.csv")
        said = self.run_tool("check", self.write("w.json", text))[1]
        self.assertIn("no row is of a Friday or Saturday: dates of a forecast go on by 1D and may be such days", said)

    def test_rows_of_one_time_name_the_column_that_tells_them_apart(self):
        self.write("g.csv", "day,slot,y\n" + "".join(f"2024-01-{n // 8 + 1:02},{'abcdefgh'[n % 8]},{n * 1.37 % 5:.3f}\n" for n in range(200)))
        experiment = {"name": "g", "data": {"task": "series", "path": "g.csv", "time": "day", "target": "y", "window": 4},
                      "model": {"layers": [{"cell": "gru", "units": 2}], "readout": {"at": "every_step"}}, "loss": "mse"}
        self.refused(['The column "slot" tells them apart: as a second one in "time" if it is a time of day, as "series"'],
                     "check", self.write("g.json", experiment))

    def test_a_clock_that_is_set_forward_has_its_zone(self):
        def draft(zone, month, day, missing=None):
            first = datetime.datetime(2023, month, day, tzinfo=datetime.timezone.utc)
            times = [(first + datetime.timedelta(hours=n)).astimezone(zone) for n in range(600) if n != missing]
            self.write("load.csv", "t,v\n" + "".join(f"{time:%Y-%m-%d %H:%M},{n % 7}\n" for n, time in enumerate(times)))
            return self.run_tool("new", "load.csv")[0]

        text = draft(zoneinfo.ZoneInfo("Europe/Berlin"), 3, 15)
        self.assertIn('"timezone": "Europe/Berlin"', text)
        self.assertIn("The hour that is missing in spring is that by the clock of Europe/Berlin", text)
        self.assertIn("600 rows, frequency 1h, clock of Europe/Berlin", self.run_tool("check", self.write("e.json", text))[1])
        self.assertIn('"timezone": "America/New_York"', draft(zoneinfo.ZoneInfo("America/New_York"), 3, 2))
        self.assertNotIn("timezone", draft(datetime.timezone.utc, 3, 15, missing=100))
        self.assertNotIn("timezone", draft(datetime.timezone.utc, 3, 15))

    def test_year_month_day_and_hour_of_columns_of_their_own_are_the_time(self):
        first = datetime.datetime(2024, 2, 20)
        times = [first + datetime.timedelta(hours=n) for n in range(400)]
        self.write("load.csv", "No,year,month,day,hour,v\n" + "".join(
            f"{n + 1},{t.year},{t.month},{t.day},{t.hour},{math.sin(n / 3.82):.4f}\n" for n, t in enumerate(times)))
        text = self.run_tool("new", "load.csv")[0]
        self.assertIn('"time": ["year", "month", "day", "hour"]', text)
        self.assertIn('"input": ["v"]', text)
        self.assertIn("400 rows, frequency 1h", self.run_tool("check", self.write("e.json", text))[1])
        self.run_tool("train", "e.json", "--out", "run", "--quiet", "--set", "train.epochs=1")
        made = rows_of(self.run_tool("forecast", "run", "--input", "load.csv", "--steps", "2")[0])
        self.assertEqual([row["time"] for row in made], ["2024-03-07T16:00:00", "2024-03-07T17:00:00"])
        self.write("months.csv", "month,year,v\n" + "".join(f"{n % 12 + 1},{1990 + n // 12},{n % 12 + n % 5}\n" for n in range(200)))
        text = self.run_tool("new", "months.csv")[0]
        self.assertIn('"time": ["year", "month"]', text)
        self.assertIn("200 rows, frequency month_start", self.run_tool("check", self.write("e.json", text))[1])
        # A column of dates is the time, and parts of it are numbers.
        self.write("both.csv", "date,year,month,v\n" + "".join(f"{t},{t.year},{t.month},{n % 7}\n" for n, t in enumerate(times)))
        self.assertIn('"time": "date"', self.run_tool("new", "both.csv")[0])
        self.refused(["/data/time: expected a column of times, or a list"], "check", "e.json", "--set", 'data.time=["a","b","c","d","e","f","g"]')

    def test_days_of_a_year_and_counts_of_other_units_are_the_times_that_their_names_say(self):
        days = [datetime.date(2023, 12, 1) + datetime.timedelta(n) for n in range(80)]
        julian = [2460279.5 + n for n in range(80)]
        last = days[-1].timetuple().tm_yday
        tables = {"year,DOY": ([f"{day.year},{day.timetuple().tm_yday}" for day in days], ["year", "DOY"], None, "1D", "2024-02-19"),
                  "JD": (julian, "JD", "julian_days", "1D", str(julian[-1] + 1)),
                  "mjd": ([n - 2400000.5 for n in julian], "mjd", "modified_julian_days", "1D", "60359"),
                  "t_ms": (range(0, 1600, 20), "t_ms", "milliseconds", "20ms", "1600"),
                  "Time [h]": ([n / 4 for n in range(80)], "Time [h]", "hours", "15min", "20"),
                  "doy": (range(last - 48, last + 32), "doy", "days", "1D", "81")}
        for name, (cells, column, form, frequency, after) in tables.items():
            with self.subTest(name):
                self.write("x.csv", f"{name},v\n" + "".join(f"{cell},{n % 7}\n" for n, cell in enumerate(cells)))
                text = self.new("x.csv")
                data = without_comments(text)["data"]
                self.assertEqual((data["input"], data["time"], data.get("time_format")), (["v"], column, form))
                self.assertIn(f"80 rows, frequency {frequency}", self.run_tool("check", self.write("e.json", text))[1])
                self.run_tool("train", "e.json", "--out", "run", "--quiet", "--set", "train.epochs=1")
                self.assertEqual(rows_of(self.run_tool("forecast", "run", "--input", "x.csv", "--steps", "1")[0])[0]["time"], after)
                shutil.rmtree(self.folder / "run")
        self.write("x.csv", "x,v\n" + "".join(f"{n / 2},{n % 7}\n" for n in range(80)))
        self.assertIn("'x' counts evenly: taken as seconds from a beginning, not as dates", self.new("x.csv"))
        self.write("x.csv", "id,v\n" + "".join(f"{2450000 + n},{n % 7}\n" for n in range(80)))  # Julian days by their range alone
        self.assertNotIn("julian", self.new("x.csv"))

    def test_weekends_are_no_gaps_between_business_days(self):
        days = [day for day in (datetime.date(2023, 1, 2) + datetime.timedelta(n) for n in range(300)) if day.weekday() < 5]
        for missing, is_said in ((None, False), (50, True)):
            self.write("b.csv", "d,v\n" + "".join(f"{day},{n % 7}\n" for n, day in enumerate(days) if n != missing))
            self.assertEqual("Rows are missing:" in self.run_tool("new", "b.csv")[0], is_said)

    def test_decimal_years_count_the_rows_and_are_no_input(self):
        self.write("sun.csv", "date,v\n" + "".join(f"{1990 + n / 12:.4f},{math.sin(n / 3):.4f}\n" for n in range(300)))
        self.assertIn('"input": ["v"]', self.run_tool("new", "sun.csv")[0])

    def test_a_clock_that_is_set_back_has_its_zone_and_short_stretches_are_joined(self):
        zone = zoneinfo.ZoneInfo("Europe/Berlin")
        first = datetime.datetime(2023, 9, 1, tzinfo=datetime.timezone.utc)
        hours = [(first + datetime.timedelta(hours=n)).astimezone(zone) for n in range(2000)]
        self.write("load.csv", "Datum;Uhrzeit;Last [kW]\n" + "".join(f"{hour:%d.%m.%Y;%H:%M};{n % 24 + n % 7},5\n" for n, hour in enumerate(hours)))
        text = self.new("load.csv")
        self.assertEqual((without_comments(text)["data"]["timezone"], without_comments(text)["data"]["time"]), ("Europe/Berlin", ["Datum", "Uhrzeit"]))
        self.assertIn("2000 rows, frequency 1h, clock of Europe/Berlin", self.run_tool("check", self.write("e.json", text))[1])
        # Several series, one below the other and mixed, and a name that says nothing.
        for is_mixed in (False, True):
            rows = [(n, name, f"{hour:%d.%m.%Y %H:%M}") for name in ("a", "b") for n, hour in enumerate(hours)]
            rows.sort(key=lambda row: row[0] if is_mixed else 0)
            self.write("load.csv", "Zeit;Anlage;Last\n" + "".join(f"{time};{name};{n % 24}\n" for n, name, time in rows))
            text = self.new("load.csv")
            self.assertEqual((without_comments(text)["data"]["timezone"], without_comments(text)["data"]["series"]), ("Europe/Berlin", "Anlage"))
            self.assertIn("2 series, 4000 rows, frequency 1h, clock of Europe/Berlin", self.run_tool("check", self.write("e.json", text))[1])
        self.write("load.csv", "t,v\n" + "".join(f"{first + datetime.timedelta(hours=n):%Y-%m-%d %H:%M},{n % 7}\n" for n in range(400) if n % 9 != 3))
        text = self.new("load.csv")
        self.assertTrue(without_comments(text)["data"]["across_gaps"])
        self.check(text)

    def test_times_in_no_known_format_are_said(self):
        self.write("load.csv", "when,v\n" + "".join(f"{datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=n)} LOCAL,{n % 7}\n" for n in range(200)))
        self.assertIn('Rows have no times, only numbers: those of "when" are in no format that is found.', self.new("load.csv"))
        self.write("load.csv", "t,v\n" + "".join(f"{n // 28 + 1:02}/{n % 28 + 1:02}/2024,{n % 7}\n" for n in range(200)) + "Total,9\n")
        self.refused(["load.csv: line 202, column 1 (t): expected a date, as other rows of the column have. Got 'Total'"], "new", "load.csv")

    def test_hours_in_a_column_of_their_own_are_times_and_no_series(self):
        for hour in ("{}", "{:02}", "{:02}.00.00"):
            with self.subTest(hour):
                name = "Time" if "." in hour else "Hour"
                self.write("load.csv", f"Date,{name},y\n" + "".join(
                    f"{1 + i // 24:02}.03.2024,{hour.format(i % 24)},{math.sin(i / 4):.3f}\n" for i in range(600)))
                data = without_comments(self.new("load.csv"))["data"]
                self.assertEqual((data["time"], data["input"]), (["Date", name], ["y"]))
                self.assertNotIn("series", data)

    def test_series_of_which_a_time_has_few_rows_are_series(self):
        rng = random.Random(4)
        for name, count in (("station", 8), ("device_id", 30)):
            with self.subTest(name):
                rows = [(datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=n), rng.randrange(count)) for n in range(700)]
                self.write("x.csv", f"time,{name},v\n" + "".join(f"{time},s{one},{20 * one + rng.random():.3f}\n" for time, one in rows))
                text = self.new("x.csv")
                data = without_comments(text)["data"]
                self.assertEqual((data["series"], data["input"], data["across_gaps"]), (name, ["v"], True))
                self.assertIn(f"{count} series, 700 rows, frequency 1h", self.run_tool("check", self.write("e.json", text))[1])
        # Regular rows of another frequency are no rare ones.
        rows = [f"{datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=n * step)},{one},{n % 7}\n" for one, step in (("a", 1), ("b", 3)) for n in range(90)]
        self.write("x.csv", "time,id,v\n" + "".join(rows))
        self.refused(["3h in the series 'b'"], "new", "x.csv")

    def test_times_of_two_columns_are_one_time(self):
        hours = [datetime.datetime(2024, 2, 20) + datetime.timedelta(hours=n) for n in range(300)]
        tables = {"YYYYMMDD,HH": "%Y%m%d,%-H", "<DATE>,<TIME>": "%Y%m%d,%H%M%S", "date,time": "%Y%m%d,%H%M", "date,hour": "%Y-%m-%d,H%H", "day,HE": "%d.%m.%Y,%H",
                  "Datum,Uhrzeit": "%d.%m.%Y,%H:%M", "MTU": "%d.%m.%Y %H:00 - %d.%m.%Y %H:59", "time": "%a %b %d %H:%M:%S %Y"}
        for names, form in tables.items():
            with self.subTest(names):
                self.write("x.csv", f"{names},v\n" + "".join(f"{time.strftime(form)},{n % 7}\n" for n, time in enumerate(hours)))
                text = self.new("x.csv")
                data = without_comments(text)["data"]
                self.assertEqual((data["input"], data["time"], "series" in data), (["v"], names.split(",") if "," in names else names, False))
                self.assertIn("300 rows, frequency 1h", self.run_tool("check", self.write("e.json", text))[1])
                self.run_tool("train", "e.json", "--out", "run", "--quiet", "--set", "train.epochs=1", "--set", "train.batch=64")
                time = rows_of(self.run_tool("forecast", "run", "--input", "x.csv", "--steps", "1")[0])[0]["time"]
                self.assertIn(time, ("2024-03-03T12:00:00", "2024-03-03T12:00", "03.03.2024 12:00", "Sun Mar 03 12:00:00 2024"))
                shutil.rmtree(self.folder / "run")
        # All rows are of one day, two stations lie one below the other.
        minutes = [datetime.datetime(2024, 2, 20, 3) + datetime.timedelta(minutes=n) for n in range(300)]
        self.write("x.csv", "Datum;Uhrzeit;v\n" + "".join(f"{time:%d.%m.%Y;%H:%M};{n % 7}\n" for n, time in enumerate(minutes)))
        self.assertEqual(without_comments(self.new("x.csv"))["data"]["time"], ["Datum", "Uhrzeit"])
        self.write("x.csv", "STN,YYYYMMDD,HH,T\n" + "".join(f"{one},{time:%Y%m%d,%-H},{n % 7}\n" for one in (260, 240) for n, time in enumerate(hours)))
        data = without_comments(self.new("x.csv"))["data"]
        self.assertEqual((data["series"], data["time"], data["input"]), ("STN", ["YYYYMMDD", "HH"], ["T"]))

    def test_dates_of_digits_are_dates_and_no_counts(self):
        days = [datetime.date(2019, 12, 20) + datetime.timedelta(n) for n in range(100)]
        weeks = [datetime.date(2019, 11, 4) + datetime.timedelta(7 * n) for n in range(100)]
        months = [f"{n % 12 + 1}.{1960 + n // 12}" for n in range(100)]
        for name, cells, form, frequency in (("time", [f"{day:%y%m%d}" for day in days], "%y%m%d", "1D"), ("time", [f"{day:%d%m%Y}" for day in days], "%d%m%Y", "1D"),
                                             ("week", [f"{day:%G%V}" for day in weeks], "%G%V", "1W-MON"), ("time", months, "%-m.%Y", "month_start")):
            with self.subTest(form):
                self.write("x.csv", f"{name},v\n" + "".join(f"{cell},{n % 7}\n" for n, cell in enumerate(cells)))
                text = self.new("x.csv")
                data = without_comments(text)["data"]
                self.assertEqual((data["input"], data["time"], data["time_format"]), (["v"], name, form))
                said = self.run_tool("check", self.write("e.json", text))[1]
                self.assertIn(f"100 rows, frequency {frequency}\n", said)
        self.write("x.csv", "time,v\n" + "".join(f"{day:%d%m%Y},{n % 7}\n" for n, day in enumerate(datetime.date(2000 + n // 12, n % 12 + 1, 1) for n in range(12))))
        self.refused(["and no row has a day above 12, which would decide"], "new", "x.csv")

    def test_a_recording_with_words_of_its_dates_is_no_table_of_sequences(self):
        days = [datetime.date(2024, 1, 1) + datetime.timedelta(n) for n in range(400)]
        self.write("x.csv", "date,month,group,weekend,v\n" + "".join(f"{day},{day.month},{day.weekday()},{int(day.weekday() > 4)},{n % 11}\n" for n, day in enumerate(days)))
        data = without_comments(self.new("x.csv"))["data"]
        self.assertEqual((data["task"], data["time"]), ("series", "date"))

    def test_counts_of_the_rows_of_each_series_order_them(self):
        rows = [f"{name},{n},{n % 7 + 3 * (name == 'b')}\n" for name in ("a", "b") for n in range(1, 201)]
        random.Random(3).shuffle(rows)
        self.write("x.csv", "unique_id,ds,y\n" + "".join(rows))
        text = self.new("x.csv")
        data = without_comments(text)["data"]
        self.assertEqual((data["series"], data["time"], data["input"]), ("unique_id", "ds", ["y"]))
        self.run_tool("train", self.write("e.json", text), "--out", "run", "--quiet", "--set", "train.epochs=1")
        made = rows_of(self.run_tool("forecast", "run", "--input", "x.csv", "--steps", "2")[0])
        self.assertEqual([row["time"] for row in made], ["201", "202"] * 2)
        # A series of one row is left out of the training, and no reason to refuse the others.
        self.write("x.csv", "unique_id,ds,y\n" + "".join(f"{name},2024-{1 + n // 28:02}-{1 + n % 28:02},{n % 7}\n" for name, count in (("a", 200), ("b", 150), ("c", 1)) for n in range(count)))
        self.assertEqual(without_comments(self.new("x.csv"))["data"]["series"], "unique_id")

    def test_rows_at_uneven_days_are_forecast_at_whole_days(self):
        days = [datetime.date(2024 + n // 24, 1 + n // 2 % 12, 15 if n % 2 else 1) for n in range(80)]
        self.write("x.csv", "t,v\n" + "".join(f"{day},{n % 2}\n" for n, day in enumerate(days)))
        self.run_tool("train", self.write("e.json", self.new("x.csv")), "--out", "run", "--quiet", "--set", "train.epochs=1")
        made, said = self.run_tool("forecast", "run", "--input", "x.csv", "--steps", "2")
        self.assertEqual([row["time"] for row in rows_of(made)], ["2027-04-30", "2027-05-15"])
        self.assertIn("the times of the rows are not evenly apart: those of the forecast are 1.296e+06 s apart", said)

    def test_a_clock_beside_a_date_of_its_own_is_no_part_of_the_time(self):
        days = [datetime.date(2024, 1, 1) + datetime.timedelta(n) for n in range(200)]
        self.write("x.csv", "date,sunrise,v\n" + "".join(f"{day},06:{n % 60:02},{n % 7}\n" for n, day in enumerate(days)))
        self.assertEqual(without_comments(self.new("x.csv"))["data"]["time"], "date")
        # Names that end in numbers are not measurements with a unit.
        for form in ("store_{}", "store {}", "CA-{}", "{}_CA"):
            with self.subTest(form):
                self.write("x.csv", "date,shop,v\n" + "".join(f"{day},{form.format(k)},{n % 7 + k}\n" for n, day in enumerate(days) for k in range(3)))
                data = without_comments(self.new("x.csv"))["data"]
                self.assertEqual((data["series"], data["input"]), ("shop", ["v"]))

    def test_years_of_two_digits_are_of_the_century_that_orders_the_rows(self):
        self.write("x.csv", "Date,v\n" + "".join(f"{datetime.date(1960 + n // 12, n % 12 + 1, 1):%b-%y},{n % 12}\n" for n in range(300)))
        self.run_tool("train", self.write("e.json", self.new("x.csv")), "--out", "run", "--quiet", "--set", "train.epochs=1")
        made, said = self.run_tool("forecast", "run", "--input", "x.csv", "--steps", "1")
        self.assertEqual(rows_of(made)[0]["time"], "1985-01-01")
        self.assertIn("300 rows, frequency month_start\n", self.run_tool("check", "e.json")[1])

    def test_empty_rows_below_the_table_are_none(self):
        rows = "".join(f"2024-01-{1 + n:02};{n % 5};{n % 7}\n" for n in range(31))
        self.write("x.csv", "t;a;b\n" + rows + ";;\n" * 9)
        self.assertIn("31 rows, frequency 1D\n", self.run_tool("check", self.write("e.json", self.new("x.csv")))[1])

    def test_sequences_without_names_are_refused(self):
        self.write("x.csv", "t,a,label\n" + "".join(f"{n},{n % 3 + k % 2},{('ok', 'bad')[k % 2]}\n" for k in range(20) for n in range(15)))
        self.refused(["x.csv: the rows of several sequences lie one below the other, each with its 'label', and 't' begins again in each"], "new", "x.csv")

    def test_codes_that_other_columns_measure_are_those_of_their_column(self):
        self.write("x.csv", "t,pump,temp\n" + "".join(
            f"{datetime.date(2024, 1, 1) + datetime.timedelta(n)},{-1 if n % 15 == 3 else 50 + n % 7},{n % 9 - 4}\n" for n in range(300)))
        text = self.new("x.csv")
        self.assertEqual(without_comments(text)["data"]["missing_codes"], {"pump": [-1]})
        said = self.run_tool("check", self.write("e.json", text))[1]
        self.assertIn("'pump': 20 cells are one of the missing codes -1", said)
        self.assertNotIn("'temp': ", said)
        self.write("x.csv", ",".join(f"c{n}" for n in range(20)) + "\n" + "".join(",".join(str((n * (k % 6 + 1)) % 7) for k in range(20)) + "\n" for n in range(200)))
        self.assertIn('Only the first 16 columns are read. Left out: "c16", "c17", "c18", "c19".', self.new("x.csv"))

    def test_zeros_are_measurements(self):
        self.write("x.csv", "t,sales\n" + "".join(f"{datetime.date(2024, 1, 1) + datetime.timedelta(n)},{(n % 7 != 6) * (40 + n % 13)}\n" for n in range(300)))
        text = self.new("x.csv")
        self.assertNotIn("missing_codes", without_comments(text)["data"])
        self.assertIn("0 in 42 cells of sales is far from all other numbers.", text)


if __name__ == "__main__":
    main()
