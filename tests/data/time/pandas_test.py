"""Formats, zones and frequencies of random columns are those that pandas finds, to the nanosecond.

usage: pandas_test.py PROBE [TESTS...]      exits with 77 where pandas is missing"""

import random
import subprocess
import sys
import unittest

try:
    import numpy as np
    import pandas as pd
except ImportError:
    print("not run: pandas is missing")
    sys.exit(77)

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Cairo",
         "Asia/Kathmandu", "Pacific/Auckland", "Europe/London", "America/St_Johns", "Europe/Istanbul", "Europe/Moscow")
# strftime's letters, how the room names the format, and the precision of its times.
FORMATS = (
    ("%Y-%m-%d", None, "D"), ("%Y/%m/%d", None, "D"), ("%d.%m.%Y", None, "D"), ("%d/%m/%Y", None, "D"), ("%m/%d/%Y", None, "D"),
    ("%-d.%-m.%Y", None, "D"), ("%-m/%-d/%Y", None, "D"), ("%d-%m-%Y", None, "D"), ("%d/%m/%y", None, "D"), ("%Y%m%d", None, "D"),
    ("%d-%b-%Y", None, "D"), ("%d %B %Y", None, "D"), ("%b %d, %Y", None, "D"), ("%d%b%Y", None, "D"),
    ("%Y-%m-%d %H:%M", None, "min"), ("%Y-%m-%dT%H:%M", None, "min"), ("%Y-%m-%d %H:%M:%S", None, "s"), ("%Y-%m-%dT%H:%M:%S", None, "s"),
    ("%Y/%m/%d %H:%M:%S", None, "s"), ("%d.%m.%Y %H:%M", None, "min"), ("%d.%m.%Y %H:%M:%S", None, "s"), ("%d/%m/%Y %H:%M", None, "min"),
    ("%m/%d/%Y %I:%M %p", None, "min"), ("%-m/%-d/%Y %-I:%M:%S %p", None, "s"), ("%d/%m/%Y %H.%M.%S", None, "s"),
    ("%Y%m%d%H", None, "h"), ("%Y%m%d%H%M", None, "min"), ("%Y%m%d%H%M%S", None, "s"), ("%Y%m%dT%H%M%S", None, "s"),
    ("%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%6f", "us"), ("%d.%m.%Y %H:%M:%S,%f", "%d.%m.%Y %H:%M:%S,%6f", "us"),
    ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%-Z", "s"), ("%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S %Z", "s"),
    ("%Y-%m-%d %H:%M:%S +0000", "%Y-%m-%d %H:%M:%S %z", "s"), ("%Y-%m-%dT%H:%M:%S+00:00", "%Y-%m-%dT%H:%M:%S%:z", "s"),
    ("%Y-%m", None, "M"), ("%Y/%m", None, "M"), ("%Y%m", None, "M"), ("%YM%m", None, "M"), ("%b %Y", None, "M"), ("%B %Y", None, "M"),
    ("%b-%Y", None, "M"), ("%Y", None, "Y"), ("%YQ%q", None, "Q"), ("%Y-Q%q", None, "Q"), ("%Y Q%q", None, "Q"))
FREQUENCIES = (
    ("h", "1h"), ("15min", "15min"), ("30min", "30min"), ("min", "1min"), ("s", "1s"), ("90s", "90s"), ("250ms", "250ms"),
    ("100us", "100us"), ("7ns", "7ns"), ("6h", "6h"), ("D", "1D"), ("2D", "2D"), ("W-SUN", "1W-SUN"), ("W-WED", "1W-WED"), ("2W-FRI", "2W-FRI"),
    ("B", "business"), ("MS", "month_start"), ("ME", "month_end"), ("2MS", ("2month_start", "2month_start-FEB")), ("QS", "quarter_start"), ("QE", "quarter_end"), ("BMS", "business_month_start"), ("BME", "business_month_end"), ("BQS", "business_quarter_start"), ("BQE", "business_quarter_end"),
    ("QS-FEB", "quarter_start-FEB"), ("QE-NOV", "quarter_end-FEB"), ("YS", "year_start"), ("YE", "year_end"), ("YS-JUL", "year_start-JUL"),
    ("YE-JUN", "year_end-JUN"), ("YE-FEB", "year_end-FEB"))
DAY = 86400 * 10**9


def nanoseconds(index):
    return pd.DatetimeIndex(index).as_unit("ns").asi8


def local_times(utc, zone):
    return utc.tz_localize("UTC").tz_convert(zone).tz_localize(None)


def near_changes(utc, zone):
    """The times of a range within two days of a change of the zone's offset, and those of its first week."""
    offsets = nanoseconds(local_times(utc, zone)) - nanoseconds(utc)
    changes = utc[1:][np.diff(offsets) != 0]
    kept = utc < utc[0] + pd.Timedelta(days=7)
    for change in changes:
        kept |= abs(utc - change) <= pd.Timedelta(days=2)
    return utc[kept]


def texts(index, letters):
    quarters = [f"{(month + 2) // 3}" for month in index.month]
    return [time.strftime(letters.replace("%q", quarter)) for time, quarter in zip(index, quarters)]


class Probe:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request, arguments, values=()):
        """The found times as a list of texts, or the problem as one text."""
        print(request, *arguments, "", *values, "", sep="\n", file=self.process.stdin, flush=True)
        answer = []
        while (line := self.process.stdout.readline().rstrip("\n")) != "done":
            answer.append(line)
        kind, *fields = answer[-1].split("\t")
        return fields if kind == "found" else fields[0]


class TimeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.probe = Probe(PROBE)

    @classmethod
    def tearDownClass(cls):
        cls.probe.process.stdin.close()
        cls.probe.process.stdout.close()
        cls.probe.process.wait()

    def setUp(self):
        self.random = random.Random(self.id())

    def found(self, request, arguments, values=()):
        answer = self.probe.ask(request, arguments, values)
        self.assertIsInstance(answer, list, answer)
        return answer

    def problem(self, request, arguments, values=()):
        answer = self.probe.ask(request, arguments, values)
        self.assertIsInstance(answer, str, answer)
        return answer

    def times(self, count, precision, first="1950", last="2049"):
        """Random times, ascending and distinct."""
        low, high = (pd.Timestamp(year).value for year in (first, last))
        drawn = pd.DatetimeIndex(np.array([self.random.randrange(low, high) for _ in range(count)], "M8[ns]"))
        if precision in "MQY":
            drawn = drawn.to_period(precision).to_timestamp()
        else:
            drawn = drawn.floor(precision)
        return drawn.unique().sort_values()

    def check_times(self, got, want):
        want = nanoseconds(want).tolist()
        self.assertEqual([int(text) for text in got], want)
        self.assertTrue(want)

    # ---- formats

    def test_formats_are_found_and_written_back(self):
        for letters, name, precision in FORMATS:
            for rows in (300, 40, 25):
                with self.subTest(letters, rows=rows):
                    times = self.times(rows, precision, *(("1970", "2037") if "%y" in letters else ()))
                    column = texts(times, letters)
                    self.random.shuffle(order := list(range(len(column))))
                    format, zone, *got = self.found("detect", [], [column[i] for i in order])
                    self.assertEqual(format, name or letters)
                    self.check_times(got, times[order])
                    self.assertEqual(self.found("write", [format, zone], nanoseconds(times)), column)

    def test_formats_that_are_named_are_read_as_pandas_reads_them(self):
        for letters, precision in (("%Y-%m-%d %H:%M", "min"), ("%d.%m.%y %H:%M:%S", "s"), ("%H:%M %d/%m/%Y", "min"), ("%j %Y", "D"),
                                   ("%Y%m%d_%H%M%S", "s"), ("%a %d %b %Y", "D"), ("%I:%M%p %m/%d/%Y", "min"), ("%Y-%m-%dT%H:%M:%S.%f", "us")):
            with self.subTest(letters):
                column = texts(self.times(100, precision, "1970", "2037"), letters)
                format, _, *got = self.found("detect", [letters], column)
                self.check_times(got, pd.to_datetime(pd.Series(column), format=letters))

    def test_offsets_from_utc(self):
        for zone in ZONES:
            with self.subTest(zone):
                times = self.times(100, "s", "1990", "2030")
                column = [time.isoformat() for time in times.tz_localize("UTC").tz_convert(zone)]
                format, found_zone, *got = self.found("detect", [], column)
                self.assertEqual(format, "%Y-%m-%dT%H:%M:%S%:z")
                self.check_times(got, times)
                self.assertEqual(self.found("write", [format, zone], nanoseconds(times)), column)
                if zone == "Asia/Kolkata":
                    self.assertEqual(found_zone, "+05:30")

    def test_numbers_since_1970_and_of_spreadsheets(self):
        for name, unit in (("seconds", 10**9), ("milliseconds", 10**6), ("microseconds", 1000), ("nanoseconds", 1)):
            for fraction in (1, 10, 1000):
                with self.subTest(name, fraction=fraction):
                    step = max(1, unit // fraction)
                    times = sorted({self.random.randrange(10**17 // step, 22 * 10**17 // step) * step for _ in range(100)})
                    column = [str(t // unit) if step == unit else f"{t // unit}.{t % unit * 10**9 // unit:09d}".rstrip("0").rstrip(".") for t in times]
                    format, _, *got = self.found("detect", [], column)
                    self.assertEqual((format, [int(t) for t in got]), (name, times))
                    self.assertEqual(self.found("write", [name, "UTC"], times), column)
        for precision in ("D", "h", "min", "s"):
            with self.subTest(precision):
                times = self.times(100, precision)
                days = (nanoseconds(times) - pd.Timestamp("1899-12-30").value) / DAY
                format, _, *got = self.found("detect", [], [f"{day:.15g}" for day in days])
                self.assertEqual(format, "spreadsheet")
                self.check_times(got, times)

    def test_numbers_that_are_no_times(self):
        for column in (range(500), range(5000, 6000), np.arange(0, 10, 0.1), np.arange(1958.2, 1970, 1 / 12), [0, 1, 2, 3] * 20):
            self.assertIn("not times between 1900 and 2100", self.problem("detect", [], column))
        self.assertIn("a counter: from 0 in steps of 1", self.problem("detect", [], range(500)))

    def test_day_and_month_that_could_be_each_other(self):
        days = pd.date_range("2020-01-01", periods=12, freq="MS")
        for letters in ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"):
            self.assertIn("line 2: this may be", self.problem("detect", [], texts(days, letters)))
            format, _, *got = self.found("detect", [], texts(days.append(pd.DatetimeIndex(["2020-01-13"])), letters))
            self.assertEqual(format, letters)

    # ---- zones

    def test_local_times_in_order(self):
        for zone in ZONES:
            for year in self.random.sample(range(1995, 2030), 3):
                for step in self.random.sample(("h", "30min", "15min", "10min"), 2):
                    with self.subTest(zone, step=step, year=year):
                        utc = near_changes(pd.date_range(f"{year}", f"{year + 1}", freq=step), zone)
                        local = local_times(utc, zone)
                        self.check_times(self.found("to_utc", [zone], nanoseconds(local)), utc)
                        self.check_times(self.found("to_utc", [zone], nanoseconds(local)[::-1]), utc[::-1])
                        self.check_times(self.found("to_local", [zone], nanoseconds(utc)), local)

    def test_offsets_of_all_times(self):
        for zone in ZONES:
            with self.subTest(zone):
                utc = self.times(2000, "s", "1930", "2090")
                self.check_times(self.found("to_local", [zone], nanoseconds(utc)), local_times(utc, zone))

    def test_local_times_over_which_the_clock_leaps(self):
        local = pd.date_range("2021-01-01", "2022-01-01", freq="30min")
        for zone in ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe"):
            missing = local.tz_localize(zone, ambiguous=np.zeros(len(local), bool), nonexistent="NaT").isna()
            row = int(np.flatnonzero(missing)[0])
            text = self.problem("to_utc", [zone], nanoseconds(local))
            self.assertIn(f"line {row + 1}: the clock of {zone} leaps over this time. Got {local[row]}", text)

    def test_unknown_zones(self):
        self.assertIn("'Europe/Berlin'", self.problem("to_utc", ["Europe/Berln"]))

    # ---- frequencies

    def check_grid(self, request, arguments, times, kept, name, after, before):
        got_name, gaps, *rest = self.found(request, arguments, nanoseconds(times)[kept])
        self.assertIn(got_name, name if isinstance(name, tuple) else (name,))
        missing = np.diff(kept) - 1
        want = [int(x) for row in np.flatnonzero(missing) for x in (row + 1, missing[row])]
        self.assertEqual([int(x) for x in rest[:2 * int(gaps)]], want)
        steps = rest[2 * int(gaps):]
        self.check_times(steps[:40], after)
        self.check_times(steps[40:], before)

    def rows_kept(self, count):
        """Rows of which some are missing, neither the first nor many."""
        drawn = [True, True, True] + [self.random.random() < 0.93 for _ in range(count - 4)] + [True]
        return np.flatnonzero(drawn)

    def test_frequencies_with_gaps(self):
        for pandas_name, name in FREQUENCIES:
            for zone in (None, *self.random.sample(ZONES, 2)):
                for repetition in range(2):
                    with self.subTest(pandas_name, zone=zone, repetition=repetition):
                        offset = pd.tseries.frequencies.to_offset(pandas_name)
                        first = pd.Timestamp(self.random.randrange(1990, 2025), self.random.randrange(1, 13), self.random.randrange(1, 29))
                        first += pd.Timedelta(self.random.choice((0, 5, 17)), "h") if zone is None or isinstance(offset, pd.offsets.Tick) else pd.Timedelta(12, "h")
                        first = offset.rollforward(first.tz_localize(zone)) if zone else offset.rollforward(first)
                        if first + 200 * offset > pd.Timestamp("2037", tz=zone):
                            first -= (first + 200 * offset - pd.Timestamp("2037", tz=zone)) // offset * offset if isinstance(offset, pd.offsets.Tick) else pd.Timedelta(0)
                        times = pd.date_range(first, periods=100, freq=offset)
                        after = pd.date_range(times[-1], periods=41, freq=offset)[1:]
                        before = pd.date_range(end=times[0], periods=41, freq=offset)[-2::-1]
                        kept = self.rows_kept(100)
                        self.check_grid("find", [zone or "UTC"], times, kept, name, after, before)
                        self.check_grid("fit", [pandas_name, zone or "UTC"], times, kept, name, after, before)

    def test_same_days_of_months_and_years(self):
        for first, months, name in (("2020-01-15", 1, "month-15"), ("2019-12-30", 1, "month-30"), ("2016-02-29", 12, "year_end-FEB"), ("2015-03-10", 12, "year-MAR-10"),
                                    ("2018-11-05 09:30", 3, "quarter-FEB-5"), ("2019-01-29", 1, "month-29"), ("2016-02-28", 12, "year-FEB-28"), ("2018-08-31", 1, "month_end")):
            with self.subTest(name):
                steps = [pd.Timestamp(first) + pd.DateOffset(months=months * k) for k in range(-40, 80)]
                if name == "month_end" or name == "year_end-FEB":
                    steps = [time + pd.offsets.MonthEnd(0) for time in steps]
                self.check_grid("find", ["UTC"], steps[40:80], np.arange(40), name, steps[80:], steps[39::-1])

    def test_days_that_begin_after_midnight(self):
        for zone, first in (("America/Sao_Paulo", "2018-10-25"), ("America/Sao_Paulo", "2018-11-04"), ("America/Santiago", "2022-09-01"), ("Africa/Cairo", "2024-04-20")):
            for pandas_name, name in (("D", "1D"), ("B", "business"), ("W-SUN", "1W-SUN"), ("W-FRI", "1W-FRI")):
                with self.subTest(zone, first=first, name=name):
                    def local(days):
                        return days.tz_localize(zone, nonexistent="shift_forward", ambiguous=np.ones(len(days), bool))
                    days = pd.date_range(first, periods=100, freq=pandas_name)
                    self.check_times(self.found("to_utc", [zone], nanoseconds(days)), local(days))
                    after = pd.date_range(days[-1], periods=41, freq=pandas_name)[1:]
                    before = pd.date_range(end=days[0], periods=41, freq=pandas_name)[-2::-1]
                    self.check_grid("find", [zone], local(days), self.rows_kept(100), name, local(after), local(before))

    def test_holidays_are_no_business_days(self):
        days = pd.date_range("2019-12-01", "2021-01-15")
        holidays = [day for day in days if (day.month, day.day) in ((12, 25), (12, 26), (1, 1), (5, 1), (10, 3))]
        offset = pd.offsets.CustomBusinessDay(holidays=holidays)
        times = pd.date_range("2020-02-03", periods=120, freq=offset)
        arguments = ["Europe/Berlin", *(nanoseconds(holidays) // DAY)]
        local = times.tz_localize("Europe/Berlin")
        after = pd.date_range(times[-1], periods=41, freq=offset)[1:].tz_localize("Europe/Berlin")
        before = pd.date_range(end=times[0], periods=41, freq=offset)[-2::-1].tz_localize("Europe/Berlin")
        self.check_grid("find", arguments, local, self.rows_kept(120), "business", after, before)
        everything = nanoseconds(pd.bdate_range("2020-04-01", "2020-06-01").tz_localize("Europe/Berlin"))
        self.assertIn("line 23: rows of business days have none on a holiday. Got '2020-05-01", self.problem("find", arguments, everything))

    def test_two_frequencies_are_refused(self):
        for first, second in (("h", "15min"), ("D", "h"), ("MS", "D"), ("h", "7min"), ("QS", "MS"), ("D", "MS")):
            with self.subTest(f"{first}, {second}"):
                times = pd.date_range("2020-01-01", periods=40, freq=first)
                both = times.append(pd.date_range(times[-1], periods=40, freq=second)[1:])
                text = self.problem("find", ["UTC"], nanoseconds(both))
                self.assertRegex(text, "line 4[12]: rows of one series have one frequency")
                self.assertIn("at line 2 it is", text)
        self.assertIn("the frequency '1h'", self.problem("fit", ["1h", "UTC"], nanoseconds(pd.date_range("2020", periods=9, freq="2h"))))
        self.assertIn("line 2: from the row before", self.problem("fit", ["1h", "UTC"], nanoseconds(pd.date_range("2020", periods=9, freq="90min"))))

    def test_random_gaps_are_no_second_frequency(self):
        for share in (0.5, 0.7, 0.9):
            for rows in (50, 500, 5000):
                kept = np.flatnonzero([i < 2 or self.random.random() < share for i in range(rows)])
                name, gaps, *_ = self.found("find", ["UTC"], nanoseconds(pd.date_range("2020", periods=rows, freq="h"))[kept])
                self.assertEqual((name, int(gaps)), ("1h", int((np.diff(kept) > 1).sum())))

    def test_a_nanosecond_is_a_difference(self):
        times = pd.date_range("2020", periods=3, freq="h")
        shifted = [str(t + 1) for t in nanoseconds(times)]
        with self.assertRaises(AssertionError):
            self.check_times(shifted, times)


if __name__ == "__main__":
    PROBE = sys.argv.pop(1)
    unittest.main()
