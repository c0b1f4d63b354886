"""Recordings as loggers write them: their clocks, names, endings and sizes, and what commands make of them."""

import datetime
import json
import gzip
import math
import struct
import zipfile

from tool import RECORDING, ToolTest, changed, main, npy, rows_of, slow

HOURS = 400
FIRST = datetime.datetime(2024, 1, 1)
SERIES = changed(RECORDING, data__path="load.csv", data__input=["v"], data__window=16)


def recording(stamp, rows=HOURS, minutes=60, name="v"):
    times = (FIRST + datetime.timedelta(minutes=minutes * n) for n in range(rows))
    return f"t,{name}\n" + "".join(f"{stamp(time)},{math.sin(n / 4):.4f}\n" for n, time in enumerate(times))


def plain(time):
    return f"{time:%Y-%m-%d %H:%M}"


class ClockTest(ToolTest):
    def forecast(self, *args):
        return rows_of(self.run_tool("forecast", "run", "--input", "load.csv", "--steps", "2", *args)[0])

    def test_tables_have_the_offset_of_the_file_and_a_time_without_one_is_by_its_clock(self):
        self.write("load.csv", recording(lambda time: plain(time) + "+01:00"))
        self.train("run", experiment=SERIES)
        self.run_tool("predict", "run", "--input", "load.csv", "--output", "y.csv")
        self.assertEqual(rows_of((self.folder / "y.csv").read_text())[0]["time"], "2024-01-01T01:00:00+01:00")
        by_clock, by_offset, in_utc = (self.forecast("--from", f"2024-01-03 12:00{offset}") for offset in ("", "+01:00", "Z"))
        self.assertEqual(by_clock[0]["time"], "2024-01-03T12:00:00+01:00")
        self.assertEqual(by_clock, by_offset)
        self.assertEqual(in_utc[0]["time"], "2024-01-03T13:00:00+01:00")
        self.assertEqual(float(by_clock[0]["truth"]), round(math.sin(60 / 4), 4))

    def test_offsets_that_differ_make_times_in_utc(self):
        self.write("load.csv", recording(lambda time: plain(time) + "+01:00" if time.day < 8 else
                                         plain(time + datetime.timedelta(hours=1)) + "+02:00"))
        self.train("run", experiment=SERIES)
        self.assertEqual(self.forecast("--from", "2024-01-03T12:00+01:00")[0]["time"], "2024-01-03T11:00:00Z")
        self.refused(["--from: expected an offset from UTC, as in 2024-01-03 12:00Z, since the times of load.csv have several"],
                     "forecast", "run", "--input", "load.csv", "--steps", "2", "--from", "2024-01-03 12:00")

    def test_one_row_has_the_frequency_of_the_model(self):
        self.write("load.csv", recording(plain))
        self.train("run", experiment=SERIES)
        self.write("one.csv", recording(plain, rows=1))
        self.assertEqual(rows_of(self.run_tool("forecast", "run", "--input", "one.csv", "--steps", "2")[0])[1]["time"], "2024-01-01T02:00:00")
        for command in (["predict", "run", "--input", "one.csv", "--output", "-"], ["forecast", "run", "--input", "one.csv", "--steps", "1"]):
            self.refused(["one.csv: has one row. Two are needed"], *command, "--frequency", "any")

    def test_a_day_that_is_longer_than_the_recording_is_no_season(self):
        self.write("load.csv", recording(lambda time: f"{time:%Y-%m-%d %H:%M:%S}", rows=600, minutes=1 / 60))
        self.train("run", experiment=SERIES)
        out = self.run_tool("eval", "run", "--horizon", "2")[0]
        self.assertIn("last value", out)
        self.assertNotIn("before", out)
        self.assertIn("no row of test has 86400 rows before it", self.run_tool("eval", "run", "--horizon", "2", "--season", "86400", code=2)[1])


class FileTest(ToolTest):
    def test_endings_in_capitals_and_names_that_begin_like_numbers(self):
        self.write("LOAD.CSV", recording(plain, name="2m temp").replace("t,", "Infeed,", 1))
        self.assertIn('"time": "Infeed"', self.run_tool("new", "LOAD.CSV")[0])
        self.train("run", experiment=changed(SERIES, data__path="LOAD.CSV", data__time="Infeed", data__input=["2m temp"]))
        table = rows_of(self.run_tool("predict", "run", "--input", "LOAD.CSV", "--output", "-")[0])
        self.assertEqual(len(table), HOURS)
        self.assertEqual(self.run_tool("forecast", "run", "--input", "LOAD.CSV", "--steps", "1")[0].count("\n"), 2)

    @slow
    def test_long_recordings_take_a_time_that_grows_as_they_do(self):
        self.write("load.csv", recording(lambda time: f"{time:%Y-%m-%d}", minutes=1440))
        self.train("run", experiment=SERIES)
        self.write("days.csv", recording(lambda time: f"{time:%Y-%m-%d}", rows=40_000, minutes=1440))
        with self.within(3):  # 42 s while each label looked at all times
            self.run_tool("predict", "run", "--input", "days.csv", "--output", "y.csv")
        self.write("gaps.csv", "t,v\n" + "".join(
            f"{FIRST + datetime.timedelta(minutes=n + 5 * (n // 3))},{n % 7}\n" for n in range(150_000)))
        with self.within(3):  # 4 s for half as many while each part of the test set looked at all stretches
            self.run_tool("eval", "run", "--horizon", "1", "--season", "1", "--split", "all", "--data", "gaps.csv",
                          "--frequency", "any", code=2)

    def test_numbers_that_are_far_from_all_others_are_warned_of(self):
        self.write("load.csv", "v\n" + "".join(f"{9999 if n == 77 else 50 + 5 * math.sin(n / 3):.3f}\n" for n in range(1500)))
        experiment = self.write("e.json", changed(SERIES, data={"task": "series", "path": "load.csv", "window": 16}))
        err = self.run_tool("check", experiment)[1]
        self.assertRegex(err, "warning: input 'v' is 9999 somewhere, 3. standard deviations from its mean: if that is a code")

    def test_a_lag_that_reaches_before_every_sequence_is_warned_of(self):
        self.write("load.csv", recording(plain))
        for lag, is_dead in ((14, False), (15, True), (16, True)):
            experiment = self.write("e.json", changed(SERIES, model__layers=[{"cell": "tau_gru", "units": 2, "tau": lag}]))
            with self.subTest(lag):
                self.assertEqual(f"looks back {lag} steps; the sequences have 16" in self.run_tool("check", experiment)[1], is_dead)


class TableTest(ToolTest):
    def new(self, name, content, *args):
        self.write(name, content)
        text = self.run_tool("new", name, *args)[0]
        return text, self.run_tool("check", self.write("e.json", text))[1]

    def test_tables_as_people_have_them_are_proposed_and_pass_check(self):
        rows = "".join(f"{plain(FIRST + datetime.timedelta(hours=n))};{'-200' if n % 11 == 3 else f'{2000 + 900 * math.sin(n / 4):,.2f}'} kW;{n % 7}\n"
                       for n in range(HOURS)).replace("-200 kW", "-200.00 kW")
        text, said = self.new("load.csv.gz", gzip.compress(("sep=;\n;Leistung;Größe\n" + rows).encode("cp1252")))
        for key in ('"time": ""', '"units": "strip"', '"missing_codes": [-200]', '"missing": "hold"'):
            self.assertIn(key, text)
        for words in ("the text is Windows-1252", "line 1 says that ; separates columns", ", between thousands left out",
                      "the unit 'kW' left out", "37 cells are one of the missing codes -200"):
            self.assertIn("data: ", said)
            self.assertIn(words, said)

    def test_a_repeated_number_far_from_all_others_is_named_with_its_key(self):
        self.write("load.csv", "v,w\n" + "".join(f"{-999 if n % 40 == 1 else n % 9},{n % 5}\n" for n in range(HOURS)))
        experiment = changed(SERIES, data={"task": "series", "path": "load.csv", "window": 16})
        said = self.run_tool("check", self.write("e.json", experiment))[1]
        self.assertIn('-999 in 10 cells of v is far from all other numbers. If it marks missing numbers, write "missing_codes": [-999]', said)
        self.train("coded", experiment=changed(experiment, data__missing_codes=[-999], data__missing="hold"))
        self.write("empty.csv", "v,w\n" + "".join(f"{'' if n % 40 == 1 else n % 9},{n % 5}\n" for n in range(HOURS)))
        self.train("empty", experiment=changed(experiment, data__path="empty.csv", data__missing="hold"))
        self.assertEqual(*(self.run_tool("eval", run, "--json")[0] for run in ("coded", "empty")))

    def test_what_could_be_thousands_or_a_decimal_point_is_said(self):
        for separator, number, words, key in ((";", "{}.{}00", "Points are read as decimal points.", None),
                                              (";", "{},{}00", "Commas are read as decimal points.", '"decimal": ","'),
                                              (",", '"{},{}00"', "Commas are read as separators of thousands.", '"thousands": ","')):
            rows = "".join(f"{plain(FIRST + datetime.timedelta(hours=n))}{separator}{number.format(1 + n % 8, 1 + n % 7)}\n" for n in range(HOURS))
            text, _ = self.new("load.csv", f"t{separator}v\n" + rows)
            with self.subTest(words):
                self.assertIn(words, text)
                self.assertEqual(key is None or key in text, True)
                self.assertEqual("decimal\": \"," in text.split("data\": {")[1], key == '"decimal": ","')

    def test_times_are_found_in_all_their_formats(self):
        days = [FIRST + datetime.timedelta(n) for n in range(60)]
        hours = [FIRST + datetime.timedelta(hours=n) for n in range(60)]
        tables = (
            ("YYYYMMDD", [f"{day:%Y%m%d}" for day in days], '"time": "YYYYMMDD"', '"time_format": "%Y%m%d"'),
            ("when", [f"{hour:%d.%m.%Y %H:%M}" for hour in hours], '"time": "when"', '"hour"'),
            ("when", [f"{day:%m/%d/%Y}" for day in days], '"time": "when"', '"weekday"'),
            ("", [str(1950 + n) for n in range(60)], '"time": ""', '"time_format": "%Y"'),
            ("Month", [f"{1990 + n // 12}-{n % 12 + 1:02}" for n in range(60)], '"time": "Month"', '"window"'),
            ("date,clock", [f"{hour:%Y-%m-%d,%H:%M}" for hour in hours], '"time": ["date", "clock"]', '"hour"'))
        for name, times, *keys in tables:
            text, said = self.new("load.csv", f"{name},v\n" + "".join(f"{time},{n % 7 + 2000}\n" for n, time in enumerate(times)))
            with self.subTest(name):
                for key in (*keys, '"input": ["v"]'):
                    self.assertIn(key, text)
                self.assertNotIn("gap", said)
        self.write("load.csv", "when,v\n" + "".join(f"{n % 12 + 1:02}/{n // 12 + 1:02}/2020,{n % 7}\n" for n in range(60)))
        self.refused(["line 3, column 1 (when): this may be", '"time_format": "%d/%m/%Y" or "%m/%d/%Y"'], "new", "load.csv")

    def test_several_series_in_one_table_are_not_glued(self):
        days = [FIRST + datetime.timedelta(n) for n in range(60)]
        for head, series, keys in (("id,year", "id", [f"{k},{1950 + n}" for k in (1, 2, 3) for n in range(40)]),
                                   ("unique_id,ds", "unique_id", [f"{k},{day:%Y-%m-%d}" for k in "ab" for day in days]),
                                   ("date,city", "city", [f"{day:%Y-%m-%d},{k}" for day in days for k in ("Rome", "Oslo")]),
                                   ("store,item,date", ["store", "item"], [f"{k},{j},{day:%Y-%m-%d}" for k in (1, 2, 3) for j in (1, 2) for day in days])):
            with self.subTest(head):
                self.write("panel.csv", f"{head},y\n" + "".join(f"{key},{math.sin(n):.3f}\n" for n, key in enumerate(keys)))
                text, _ = self.run_tool("new", "panel.csv")
                self.assertIn(f'"series": {json.dumps(series)},', text)
                self.assertIn('"input": ["y"]', text)

    def test_columns_that_count_are_neither_input_nor_target(self):
        rows = "".join(f"{n},{plain(FIRST + datetime.timedelta(hours=n))},{n + 7},{math.sin(n / 4):.4f}\n" for n in range(HOURS))
        text, _ = self.new("load.csv", ",t,id,v\n" + rows)
        self.assertIn('"input": ["v"]', text)
        self.assertIn('The column 0 counts the rows: left out.', text.replace('""', "0"))
        self.assertIn('The column "id" counts the rows: left out.', text)

    def test_inputs_that_are_known_ahead_are_named(self):
        content = "t,v,heat,day\n" + "".join(f"{plain(FIRST + datetime.timedelta(hours=n))},{n % 24},{n % 9},{('free', 'work')[n // 24 % 7 < 5]}\n"
                                            for n in range(HOURS))
        text, _ = self.new("load.csv", content, "--target", "v", "--future", "heat,day")
        self.assertIn('"future": ["heat", "day"]', text)
        self.assertNotIn("known up to now", text)
        text, _ = self.new("load.csv", content, "--target", "v")
        self.assertIn('"heat", "day" are read and not predicted', text)
        self.assertIn("lagtape new --future COLUMN,...", text)
        self.refused(["--future", 'is also the --target'], "new", "load.csv", "--target", "v", "--future", "v")

    def test_tables_that_are_not_read_say_why(self):
        self.write("load.parquet", "PAR1")
        experiment = self.write("e.json", changed(SERIES, data__path="load.parquet"))
        self.refused(["load.parquet: expected a text table", "pandas.read_parquet"], "check", experiment)
        self.write("load.csv", "t,v\n" + "".join(f"{plain(FIRST + datetime.timedelta(hours=n))},\"1,{n + 100}\"\n" for n in range(HOURS)))
        experiment = self.write("e.json", changed(SERIES, data__path="load.csv"))
        self.refused(["column 2 (v)", "no cell decides", '"thousands": "," or "decimal": ","'], "check", experiment)
        for key, value, words in (("thousands", ".", "is the decimal point"), ("skip_rows", -1, "expected \"auto\" or a number of lines"),
                                  ("units", "drop", "strip"), ("missing_codes", ["x"], "missing_codes")):
            with self.subTest(key):
                data = {"decimal": "."} | {key: value}
                experiment = self.write("e.json", changed(SERIES, **{f"data__{name}": one for name, one in data.items()}))
                self.refused([f"/data/{key}", words], "check", experiment)


class NamesTest(ToolTest):
    def check(self, rows):
        self.write("panel.csv", "id,t,v\n" + "".join(rows))
        return self.run_tool("check", self.write("e.json", changed(SERIES, data__path="panel.csv", data__series="id")))[1]

    def test_names_of_series_that_are_nearly_the_same_are_said(self):
        rows = lambda name, first=0, step=1: [f"{name},{plain(FIRST + datetime.timedelta(hours=n))},{n % 7}\n" for n in range(first, 200, step)]
        self.assertIn("'Rome' and 'rome' are two series, whose names differ by capitals or blanks alone", self.check(rows("Rome") + rows("rome") + rows("Oslo")))
        said = self.check(rows("Rome", 0, 2) + rows("Rome ", 1, 2) + rows("Oslo"))
        self.assertIn("rows of 'Rome' with and without blanks around the name are one of the series", said)
        self.assertIn("2 series", said)
        said = self.check(rows(" Rome") + rows("Oslo "))
        self.assertNotIn("blanks", said)

    def test_files_share_the_order_of_day_and_month(self):
        (self.folder / "parts").mkdir()
        days = [FIRST + datetime.timedelta(n) for n in range(60)]
        self.write("parts/b.csv", "t,v\n" + "".join(f"{day:%d/%m/%Y},{n % 7}\n" for n, day in enumerate(days)))
        undecided = [datetime.date(2024, month, 5) for month in range(1, 13)]
        self.write("parts/a.csv", "t,v\n" + "".join(f"{day:%d/%m/%Y},{n % 7}\n" for n, day in enumerate(undecided)))
        experiment = changed(SERIES, data__path="parts/*.csv", data__window=3, data__frequency="any")
        said = self.run_tool("check", self.write("e.json", experiment))[1]
        self.assertIn("a.csv: 12 rows, frequency month-5", said)
        self.write("parts/c.csv", "t,v\n" + "".join(f"{day:%m/%d/%Y},{n % 7}\n" for n, day in enumerate(days)))
        self.refused(["a.csv", "this may be"], "check", "e.json")


class FutureFileTest(ToolTest):
    def test_rows_that_follow_may_write_times_in_another_way_and_what_is_not_read_is_said(self):
        times = [FIRST + datetime.timedelta(hours=n) for n in range(HOURS)]
        self.write("load.csv", "t,v,w\n" + "".join(f"{plain(time)},{math.sin(n / 4):.4f},{n % 5}\n" for n, time in enumerate(times)))
        self.train("run", experiment=changed(SERIES, data__input=None, data__target=["v"], data__future=["w"]))
        later = [FIRST + datetime.timedelta(hours=HOURS - 2 + n) for n in range(6)]
        tables, said = [], []
        for stamp, target in (("%Y-%m-%d %H:%M", False), ("%d.%m.%Y %H:%M", True), ("%Y-%m-%dT%H:%M:%S.0", True)):
            self.write("next.csv", f"t,w{',v' if target else ''}\n" + "".join(
                f"{time:{stamp}},{(HOURS - 2 + n) % 5}{',1' if target else ''}\n" for n, time in enumerate(later)))
            out, err = self.run_tool("forecast", "run", "--input", "load.csv", "--future", "next.csv", "--steps", "4")
            tables.append(out)
            said.append(err)
        self.assertEqual(tables, [tables[0]] * 3)
        self.assertIn("next.csv: 2 rows are not after the last one of load.csv: left out", said[0])
        self.assertNotIn("the values of v", said[0])
        self.assertIn("next.csv: its times are read as %d.%m.%Y %H:%M", said[1])
        self.assertIn("next.csv: the values of v are not read, as a forecast predicts them", said[1])
        self.write("next.csv", "t,w\n" + "".join(f"{time:%Y-%m-%d %H:%M}Z,1\n" for time in later))
        self.refused(["next.csv", "Expected an offset from UTC in both or in none"], "forecast", "run", "--input", "load.csv", "--future", "next.csv", "--steps", "2")

    def test_counts_that_are_none_are_named(self):
        self.write("load.csv", "t,v\n" + "".join(f"{plain(FIRST + datetime.timedelta(hours=n))},{n % 7 + (n == 300) / 2}\n" for n in range(HOURS)))
        self.write("e.json", changed(SERIES, loss="negative_binomial", data__normalize_target=False))
        self.refused(["/loss: negative_binomial needs targets that are whole numbers from 0 on", "in the column 'v' at 2024-01-13 12:00"], "check", "e.json")


class ForecastTest(ToolTest):
    def test_masks_of_known_inputs_are_those_of_the_file(self):
        def write(name, missing):
            lines = [f"{n},{math.sin(n / 4):.4f},{n % 5}\n" for n in range(HOURS)]
            lines += [f"{HOURS + n},,{'' if n in missing else n % 5}\n" for n in range(4)]
            self.write(name, "t,v,w\n" + "".join(lines))

        write("load.csv", ())
        self.train("run", experiment=changed(SERIES, data__input=["v", "w"], data__target=["v"], data__missing="mask",
                                             data__time_format="seconds"))
        outs = []
        for missing in ((), (1, 2)):
            write("future.csv", missing)
            outs.append(rows_of(self.run_tool("forecast", "run", "--input", "future.csv", "--steps", "4")[0]))
        self.assertEqual(outs[0][:2], outs[1][:2])
        self.assertNotEqual(outs[0][2]["prediction"], outs[1][2]["prediction"])

    def test_models_of_other_windows_make_no_mean_where_windows_are_read_whole(self):
        self.write("load.csv", recording(plain))
        once = changed(SERIES, model__readout={"at": "last_step"})
        self.train("run", experiment=once)
        self.train("short", experiment=changed(once, data__window=8))
        self.refused(["short: /data/window: expected 16, as run has, got 8"],
                     "forecast", "run", "--runs", "short", "--input", "load.csv", "--steps", "1")


class NewTest(ToolTest):
    def new(self, name, text, *args):
        self.write(name, text)
        return self.run_tool("new", name, *args)[0]

    def test_what_is_left_out_is_said(self):
        seconds = 1_700_000_000
        clock = lambda unit, name: name + "".join(f"{(seconds + 60 * n) * unit},{math.sin(n / 4):.4f}\n" for n in range(HOURS))
        self.assertIn('"time_format": "milliseconds"', self.new("ms.csv", clock(1000, "ts,v\n")))
        self.assertIn("Column 0 has times: left out", self.new("nameless.csv", clock(1, "")))
        states = "t,v,w\n" + "".join(f"{seconds + 60 * n},{n % 9},{'' if n == 7 else ('on', 'off')[n % 2]}\n" for n in range(HOURS))
        text = self.new("states.csv", states)
        self.assertIn("1 cell without a word: all inputs of its column are 0 there.", text)
        self.write("e.json", text)
        self.run_tool("check", "e.json")
        for target, reason in (("w", "got 'on' in line 2"), ("t", "this one has the times")):
            self.refused([f'--target "{target}": expected a column of numbers that change, ', reason], "new", "states.csv", "--target", target)

    def test_a_single_column_may_have_decimal_commas(self):
        text = self.new("one.csv", "v\n" + "".join(f"{math.sin(n / 4):.4f}\n".replace(".", ",") for n in range(HOURS)))
        self.assertIn('"decimal": ","', text)
        self.run_tool("check", self.write("e.json", text))

    def test_lags_fit_into_the_windows_that_short_and_fast_recordings_have(self):
        for minutes, rows in ((1 / 60, 3000), (1 / 60, 20_000), (1, 5000), (60, 200), (60, 3000), (1440, 100)):
            text = self.new(f"r{rows}.csv", recording(lambda time: f"{time:%Y-%m-%d %H:%M:%S}", rows, minutes))
            window, lag = (int(text.split(f'"{key}": ')[1].split(",")[0].split(" ")[0].split("}")[0]) for key in ("window", "tau"))
            with self.subTest(minutes=minutes, rows=rows):
                self.assertLess(lag + 2, window)

    def test_files_of_a_task_tell_its_inputs_targets_and_loss(self):
        arrays = {"train_x": npy((20, 9, 2), [n % 7 for n in range(360)]), "test_x": npy((4, 9, 2), [n % 5 for n in range(72)])}
        reals = lambda rows: npy((rows,), [n / 7 for n in range(rows)])
        classes = lambda rows: reals(rows)[:-8 * rows].replace(b"<f8", b"<i8") + struct.pack(f"<{rows}q", *(n % 3 for n in range(rows)))
        for targets, loss in ((classes, "cross_entropy"), (reals, "mse")):
            with self.subTest(loss):
                ys = {f"{split}_y": targets(rows) for split, rows in (("train", 20), ("test", 4))}
                with zipfile.ZipFile(self.folder / "own.npz", "w") as archive:
                    for name, array in {**arrays, **ys}.items():
                        archive.writestr(name + ".npy", array)
                text = self.run_tool("new", "arrays", "--path", "own.npz")[0]
                self.assertIn(f'"loss": "{loss}"', text)
                self.run_tool("check", self.write("e.json", text))

    def test_several_targets_are_weighed_by_their_scales(self):
        text = self.new("two.csv", "a,b\n" + "".join(f"{n % 7},{1000 * (n % 5)}\n" for n in range(HOURS)))
        self.assertIn('"metrics": []', text)


if __name__ == "__main__":
    main()
