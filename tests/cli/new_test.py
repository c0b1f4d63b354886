"""`lagtape new` writes an experiment to begin with, for every task, every cell and recordings of one's own."""

import datetime
import json
import math
import os
import pty
import subprocess
import unittest
import zoneinfo

from tool import ToolTest, main, npy, npz, rows_of, slow


def without_comments(text):
    """The values of a commented file: its comments stand on lines of their own or behind two blanks."""
    lines = [line.split("  // ")[0] for line in text.splitlines() if not line.lstrip().startswith("//")]
    return json.loads("\n".join(lines))


def recording(rows=400):
    """A messy recording: a header with blanks and units, dates with gaps, empty cells, words, a constant."""
    lines = ["Date;Load (MW);Temp [C];sky;site"]
    for i in range(rows):
        if 100 <= i < 104:
            continue  # a gap
        load = "" if i % 50 == 7 else f"{50 + i % 24 + 0.01 * i:.2f}".replace(".", ",")
        lines.append(f"2024-0{1 + i // 300}-{1 + i // 24 % 28:02} {i % 24:02}:00;{load};{i % 7},5;{('clear', 'rain')[i % 3 == 0]};7")
    return "\n".join(lines) + "\n"


class NewTest(ToolTest):
    def names(self, kind):
        return [line.split()[0] for line in self.run_tool("list", kind)[0].splitlines()[1:]]

    def new(self, *args):
        return self.run_tool("new", *args)[0]

    def check(self, text, needs_files=False):
        path = self.write("new.json", text)
        if not needs_files:
            self.run_tool("check", path)
            return
        err = self.run_tool("check", path, code=2)[1]
        for word in ("unknown key", ": /model", ": /train", ": /optimizer", ": /loss", ": /metrics"):
            self.assertNotIn(word, err)

    def test_every_task_has_a_start_that_passes_check(self):
        for task in self.names("tasks"):
            with self.subTest(task):
                if task == "series":
                    continue  # it is that of a recording
                text = self.new(task)
                self.assertEqual(without_comments(text)["data"]["task"], task)
                self.assertIn("//", text)
                self.check(text, needs_files=any(isinstance(without_comments(text)["data"].get(key), str) for key in ("path", "target")))

    @slow
    def test_every_cell_has_a_start_that_passes_check(self):
        for cell in self.names("cells"):
            with self.subTest(cell):
                text = self.new("mackey_glass", cell)
                self.assertEqual(without_comments(text)["model"]["layers"][-1]["cell"], cell)
                self.check(text)

    def test_a_messy_recording_becomes_an_experiment_that_trains(self):
        self.write("load.csv", recording())
        text = self.new("load.csv")
        data = without_comments(text)["data"]
        self.assertEqual(data["input"], ["Load (MW)", "Temp [C]", "sky"])
        self.assertEqual((data["time"], data["calendar"], data["decimal"], data["missing"]), ("Date", ["hour", "weekday"], ",", "hold"))
        self.assertEqual(data["categories"], {"sky": ["clear", "rain"]})
        self.assertIn('"site" never changes: left out', text)
        self.assertEqual(without_comments(text)["model"]["layers"][0]["tau"], 24)  # a day
        self.check(text)
        self.run_tool("train", "new.json", "--out", "run", "--quiet", "--set", "train.epochs=2")
        err = self.run_tool("new", "load.csv", "lem", "--target", "Load (MW)", "--output", "folder.json", "--units", "8")[1]
        self.assertIn("lagtape check folder.json", err)
        self.run_tool("check", "folder.json")
        self.assertEqual(without_comments((self.folder / "folder.json").read_text())["data"]["target"], ["Load (MW)"])

    def test_seconds_since_1970_are_times_and_large_numbers_are_not(self):
        rows = [(1.7e9 + 600 * i + (i >= 200) * 6000, 4e8 + i % 9, 1.6e9 + i * i) for i in range(400)]
        self.write("flow.csv", "ts;flow;counter;valve\n" + "".join(
            f"{t:.0f};{flow:.0f};{counter:.0f};{'on' if i % 40 < 25 else 'off'}\n" for i, (t, flow, counter) in enumerate(rows)))
        text = self.new("flow.csv")
        data = without_comments(text)["data"]
        self.assertEqual((data["time"], data["input"], data["calendar"]), ("ts", ["flow", "counter", "valve"], ["hour", "weekday"]))
        self.assertIn('"valve" is read and not predicted: a forecast needs rows in which it is known.', text)
        self.assertIn("Rows are missing in between", text)
        self.check(text)

    def test_a_first_column_that_counts_is_a_time(self):
        for name, numbers in {"t": range(300), "seconds": [i / 10 for i in range(300)], "down": range(300, 0, -1)}.items():
            with self.subTest(name):
                self.write("x.csv", f"{name},v\n" + "".join(f"{number},{i % 7}\n" for i, number in enumerate(numbers)))
                text = self.new("x.csv")
                data = without_comments(text)["data"]
                self.assertEqual((data["input"], data["time"], "calendar" in data), (["v"], name, False))
                self.check(text)

    def test_text_among_numbers_is_named(self):
        rows = "".join(f"2024-01-{1 + i // 24:02} {i % 24:02}:00,{'inf' if i == 50 else i % 5},{i % 7},{i}%,2025-{1 + i // 28:02}-{1 + i % 28:02}\n" for i in range(200))
        self.write("x.csv", "t,v,w,share,due\n" + rows)
        text = self.new("x.csv")
        self.assertIn("""The column "v" has numbers and texts, such as 'inf' in line 52: left out.""", text)
        self.assertEqual((without_comments(text)["data"]["input"], without_comments(text)["data"]["units"]), (["w", "share"], "strip"))
        self.assertIn("""The column "due" has dates: left out.""", text)

    @slow
    def test_many_columns(self):
        columns = 150_000
        self.write("wide.csv", ",".join(f"c{i}" for i in range(columns)) + "\n" + "".join(
            ",".join([str(row % 7)] * columns) + "\n" for row in range(24)))
        with self.within(20):
            self.assertEqual(len(without_comments(self.new("wide.csv"))["data"]["input"]), 16)

    def test_numbers_without_names_and_dates(self):
        self.write("plain.csv", "".join(f"{i % 5},{i % 3}\n" for i in range(200)))
        text = self.new("plain.csv", "gru", "--target", "1")
        self.assertEqual((without_comments(text)["data"]["input"], without_comments(text)["data"]["target"]), ([0, 1], [1]))
        self.assertEqual(without_comments(text)["model"]["readout"], {"at": "every_step"})
        self.check(text)

    def test_the_path_begins_at_the_folder_of_the_file(self):
        (self.folder / "sub").mkdir()
        self.write("load.csv", recording())
        self.run_tool("new", "load.csv", "--output", "sub/e.json")
        self.assertEqual(without_comments((self.folder / "sub/e.json").read_text())["data"]["path"], "../load.csv")
        self.run_tool("check", "sub/e.json")

    def test_it_asks_on_a_terminal(self):
        self.write("load.csv", recording())
        ours, theirs = pty.openpty()
        process = subprocess.Popen([self.tool, "new"], cwd=self.folder, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.write(ours, b"load.csv\ngru\nLoad (MW)\nasked.json\n")
        out, err = process.communicate(timeout=60)
        os.close(ours), os.close(theirs)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn(b"Data: a task, or a .csv file of yours [mackey_glass]: ", err)
        written = without_comments((self.folder / "asked.json").read_text())
        self.assertEqual((written["model"]["layers"][0]["cell"], written["data"]["target"]), ("gru", ["Load (MW)"]))

    def test_sequences_with_a_label_each_are_learned_and_never_glued(self):
        words, numbers = ["fault", "ok", "worn out"], [3, 1, 2]

        def table(head, name=lambda i: f"r{i}", time=lambda i, n: n, label=lambda i: words[i % 3], count=30):
            rows = [(name(i), time(i, n), math.sin(n * (i % 3 + 1)), i % 5 + n / 10, label(i)) for i in range(count) for n in range(10 + i % 4)]
            return head, rows

        same = lambda i: "x"
        for about, (head, rows), sequence, time, target, loss in (
                ("words", table("id,t,a,b,label"), "id", "t", "label", "cross_entropy"),
                ("numbers as names", table("run,n,a,b,verdict", name=lambda i: 100 + 7 * i), "run", "n", "verdict", "cross_entropy"),
                ("whole numbers as classes", table("unit,cycle,a,b,kind", name=lambda i: i + 1, label=lambda i: numbers[i % 3]), "unit", "cycle", "kind", "cross_entropy"),
                ("dates of its own in each", table("file,when,a,b,kind", time=lambda i, n: f"2024-01-{i + 1:02} 10:00:{n:02}"), "file", "when", "kind", "cross_entropy"),
                ("the same dates, a label by name", table("file,when,a,b,class", time=lambda i, n: f"2024-01-01 10:00:{n:02}"), "file", "when", "class", "cross_entropy"),
                ("no column of steps", table("id,a2,a,b,label", time=lambda i, n: n * n % 7), "id", None, "label", "cross_entropy"),
                ("two columns", table("subject,t,a,b,trial/gesture", label=lambda i: f"{i % 6},{words[i % 3]}", name=lambda i: f"s{i // 6}"), ["subject", "trial"], "t", "gesture", "cross_entropy"),
                ("a real number each", table("id,t,a,b,y", label=lambda i: 1.5 * i), "id", "t", "y", "mse"),
                ("words that repeat", table("id,t,a,b,label", label=lambda i: f"{words[i % 3]},{same(i)}"), "id", "t", "label", "cross_entropy")):
            head = head.replace("/", ",") + (",note" if about == "words that repeat" else "")
            orders = {"in blocks": rows} if time is None else {"in blocks": rows, "by step": sorted(rows, key=lambda row: str(row[1]).zfill(4))}
            for order, lines in orders.items():
                with self.subTest(about, order=order):
                    self.write("runs.csv", head + "\n" + "".join(",".join(map(str, row)) + "\n" for row in lines))
                    text = self.new("runs.csv")
                    data = without_comments(text)["data"]
                    self.assertEqual((data["task"], data["sequence"], data.get("time"), data["target"]), ("sequences", sequence, time, target))
                    self.assertEqual(data["input"], ["a2", "a", "b"] if time is None else ["a", "b"])
                    self.assertEqual(without_comments(text)["loss"], loss)
                    self.assertNotIn("units", data)
                    self.check(text)

        head, rows = table("id,t,a,b,label")
        self.write("runs.csv", head + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
        self.refused(["the table has 30 sequences, told apart by 'id', and this column changes within them", "'label'"], "new", "runs.csv", "--target", "a")

    def test_labels_that_contradict_each_other_or_are_missing_are_said(self):
        def table(label):
            return "id,t,a,label\n" + "".join(f"r{i},{t},{math.sin(t * (i % 3 + 1)):.4f},{label(i, t)}\n" for i in range(30) for t in range(10))

        usual = lambda i: ("bad", "ok")[i % 2]
        self.write("runs.csv", table(lambda i, t: "bad" if (i, t) == (3, 5) else usual(i)))
        for target in ([], ["--target", "label"]):
            self.refused(["runs.csv: lines 32 and 37: the sequence 'r3' has 'ok' and 'bad' in 'label'. Of the 30 sequences all but 1 have one label"],
                         "new", "runs.csv", *target)
        self.write("runs.csv", table(lambda i, t: "" if i == 3 else usual(i)))
        self.refused(["line 32: the sequence 'r3' has no 'label' in any row"], "new", "runs.csv")
        self.write("runs.csv", table(lambda i, t: usual(i) if t == 4 else ""))
        self.assertEqual(without_comments(self.new("runs.csv"))["data"]["task"], "sequences")
        self.write("runs.csv", table(lambda i, t: usual(i + t // 5)))  # not a label of sequences
        self.assertEqual(without_comments(self.new("runs.csv"))["data"]["task"], "series")

    def test_persons_of_several_sequences_are_groups(self):
        words = ["fault", "ok", "worn out"]
        self.write("runs.csv", "subject,trial,t,a,b,label\n" + "".join(
            f"p{i // 7},{i % 7},{t},{math.sin(t * (i % 3 + 1)):.4f},{i % 5 + t / 10},{words[i % 3]}\n" for i in range(70) for t in range(10)))
        text = self.new("runs.csv")
        self.assertEqual(without_comments(text)["data"]["group"], "subject")
        self.check(text)
        self.refused(["unknown column of numbers 'lable'; did you mean 'label'?"], "new", "runs.csv", "--target", "lable")

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

    def test_weekends_are_no_gaps_between_business_days(self):
        days = [day for day in (datetime.date(2023, 1, 2) + datetime.timedelta(n) for n in range(300)) if day.weekday() < 5]
        for missing, is_said in ((None, False), (50, True)):
            self.write("b.csv", "d,v\n" + "".join(f"{day},{n % 7}\n" for n, day in enumerate(days) if n != missing))
            self.assertEqual("Rows are missing in between" in self.run_tool("new", "b.csv")[0], is_said)

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
        self.write("load.csv", "t,v\n" + "".join(f"{first + datetime.timedelta(hours=n):%Y-%m-%d %H:%M},{n % 7}\n" for n in range(400) if n % 9 != 3))
        text = self.new("load.csv")
        self.assertTrue(without_comments(text)["data"]["across_gaps"])
        self.check(text)

    def test_times_in_no_known_format_are_said(self):
        self.write("load.csv", "when,v\n" + "".join(f"{datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=n)} CEST,{n % 7}\n" for n in range(200)))
        self.assertIn('Rows have no times, only numbers: those of "when" are in no format that is found.', self.new("load.csv"))
        self.write("load.csv", "t,v\n" + "".join(f"{n // 28 + 1:02}/{n % 28 + 1:02}/2024,{n % 7}\n" for n in range(200)) + "Total,9\n")
        self.refused(["load.csv: line 202, column 1 (t): expected a date, as other rows of the column have. Got 'Total'"], "new", "load.csv")

    def test_series_over_the_same_dates_are_no_classes(self):
        rows = [(f"s{i}", f"2024-01-{1 + n:02}", (3 * i + n) % 7, "north" if i % 2 else "south") for i in range(8) for n in range(28)]
        self.write("panel.csv", "unique_id,ds,y2,region\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
        done = subprocess.run([self.tool, "new", "panel.csv"], cwd=self.folder, capture_output=True, text=True)
        self.assertNotIn('"sequences"', done.stdout)
        text = self.new("panel.csv", "--target", "region")
        self.assertEqual((without_comments(text)["data"]["task"], without_comments(text)["data"]["sequence"]), ("sequences", "unique_id"))
        self.write("hours.csv", "date,weekday,hour,load\n" + "".join(
            f"2024-01-{1 + i // 24:02},{'MTWtFSs'[i // 24 % 7]},{i % 24},{i % 5}\n" for i in range(28 * 24)))
        done = subprocess.run([self.tool, "new", "hours.csv"], cwd=self.folder, capture_output=True, text=True)
        self.assertNotIn('"sequences"', done.stdout)

    def test_series_that_share_no_times_or_have_faults_are_series(self):
        months = [f"{1990 + i // 12}-{1 + i % 12:02}-01" for i in range(300)]
        parts = {"a": months[100:200], "b": months[:100], "c": months[250:]}
        tables = {"apart": ("name,ds,y", [(name, month, i % 7) for name, part in parts.items() for i, month in enumerate(part)], "name"),
                  "untimed": ("unique_id,y", [(name, i % 7) for name in "abc" for i in range(60)], "unique_id"),
                  "counted": ("unique_id,n,y", [(name, i, i % 7) for name in "abc" for i in range(60)], "unique_id"),
                  "signed": ("unique_id,ds,y", [(name, month, i % 7) for name in (-1, "1e3") for i, month in enumerate(months)], "unique_id"),
                  "in turns": ("unique_id,ds,y", [("ab"[i % 2], f"2024-01-{1 + i // 24:02} {i % 24:02}:00", i % 7) for i in range(300)], "unique_id")}
        for name, (head, rows, series) in tables.items():
            with self.subTest(name):
                self.write("panel.csv", head + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
                data = without_comments(self.new("panel.csv"))["data"]
                self.assertEqual((data["series"], data["input"]), (series, ["y"]))
        rows = [(name, month, i % 7) for name in "ab" for i, month in enumerate(months)]
        for row, words in ((("b", months[3], 1), ["lines 305 and 602: both are of 1990-04-01 in the series 'b'"]), (("", months[3], 1), ["line 602, column 1 (unique_id)"])):
            self.write("panel.csv", "unique_id,ds,y\n" + "".join(",".join(map(str, row)) + "\n" for row in [*rows, row]))
            for word in words:
                self.assertIn(word, self.run_tool("new", "panel.csv", code=2)[1])

    def test_the_number_of_a_constant_series_is_no_missing_one(self):
        self.write("panel.csv", "unique_id,ds,y\n" + "".join(
            f"{name},2024-01-{1 + i // 24:02} {i % 24:02}:00,{5 if name == 'c' else 1000 + i * i % 17}\n" for name in "abc" for i in range(140)))
        text = self.new("panel.csv")
        self.assertNotIn("missing_codes", text)
        self.assertNotIn("far from all other", "".join(self.run_tool("check", self.write("new.json", text))))

    def test_hours_in_a_column_of_their_own_are_times_and_no_series(self):
        for hour in ("{}", "{:02}", "{:02}.00.00"):
            with self.subTest(hour):
                name = "Time" if "." in hour else "Hour"
                self.write("load.csv", f"Date,{name},y\n" + "".join(
                    f"{1 + i // 24:02}.03.2024,{hour.format(i % 24)},{math.sin(i / 4):.3f}\n" for i in range(600)))
                data = without_comments(self.new("load.csv"))["data"]
                self.assertEqual((data["time"], data["input"]), (["Date", name], ["y"]))
                self.assertNotIn("series", data)

    def test_rows_of_sequences_may_be_mixed(self):
        rows = [f"r{k},{i},{math.sin(i * k):.3f},{('ok', 'fault')[k % 3 == 0]}\n" for k in range(30) for i in range(10)]
        self.write("runs.csv", "run,sec,a,verdict\n" + "".join(rows[i * 7 % 300] for i in range(300)))
        data = without_comments(self.new("runs.csv"))["data"]
        self.assertEqual((data["task"], data["sequence"], data["time"], data["target"]), ("sequences", "run", "sec", "verdict"))

    def test_a_column_of_times_with_other_cells_is_refused(self):
        days = [f"2024-0{1 + i // 28}-{1 + i % 28:02}" for i in range(100)]
        for cell in ("", "Total"):
            self.write("load.csv", "date,y\n" + "".join(f"{day},{i % 7}\n" for i, day in enumerate([*days, cell])))
            self.assertIn(f"load.csv: line 102, column 1 (date): expected a date, as other rows of the column have. Got '{cell}'", self.run_tool("new", "load.csv", code=2)[1])

    def test_signs_are_no_units(self):
        self.write("load.csv", "date,y\n" + "".join(f"2024-0{1 + i // 28}-{1 + i % 28:02},\u2212{i % 7}.5\n" for i in range(100)))
        text = self.new("load.csv")
        self.assertNotIn("strip", text)
        self.write("load.csv", "date,y\n" + "".join(f"2024-0{1 + i // 28}-{1 + i % 28:02},<{i % 7}.5\n" for i in range(100)))
        self.assertIn("'<0.5' in line 2", self.run_tool("new", "load.csv", code=2)[1])

    def test_arrays_of_sequences(self):
        x = [math.sin(n % 90 / (1 + n // 90 % 3)) for n in range(24 * 90)]
        classes, reals = [i % 3 for i in range(24)], [i / 7 for i in range(24)]
        cases = (({"X": npy((24, 30, 3), x), "y": npy((24,), classes)}, {"classes": 3, "layout": "time_first"}, "cross_entropy"),
                 ({"x": npy((24, 3, 30), x), "labels": npy((24,), [5 + 2 * c for c in classes])}, {"classes": ["5", "7", "9"], "layout": "channels_first"}, "cross_entropy"),
                 ({"X_train": npy((24, 90), x), "y_train": npy((24, 3), [float(i % 3 == k) for i in range(24) for k in range(3)]),
                   "X_test": npy((3, 90), x[:270]), "y_test": npy((3, 3), [1, 0, 0] * 3)}, {"classes": 3, "valid": 0.15}, "cross_entropy"),
                 ({"X": npy((24, 30, 3), x), "y": npy((24, 3), [float(i % 3 == k) for i in range(24) for k in range(3)])}, {"classes": 3, "layout": "time_first"}, "cross_entropy"),
                 ({"X": npy((24, 3, 30), x), "y": npy((24, 3), [float(i % 3 == k) for i in range(24) for k in range(3)])}, {"classes": 3, "layout": "channels_first"}, "cross_entropy"),
                 ({"train_x": npy((24, 30, 3), x), "train_y": npy((24,), reals)}, {"normalize_target": True, "valid": 0.15}, "mse"))
        for arrays, expected, loss in cases:
            with self.subTest(list(arrays)):
                self.write("own.npz", npz(**arrays))
                text = self.new("own.npz", "gru")
                self.check(text)
                experiment = without_comments(text)
                self.assertEqual((experiment["name"], experiment["loss"], experiment["data"]["task"]), ("own", loss, "arrays"))
                self.assertEqual({**experiment["data"], **expected}, experiment["data"])

    def test_what_is_wrong_is_refused(self):
        self.write("load.csv", recording())
        self.write("words.csv", "a,b\nx,y\nz,y\n" * 20)
        self.write("short.csv", "1\n2\n3\n")
        self.write("mixed.csv", "a\n" + "".join(f"{i}{'%' if i % 2 else 'kW'}\n" for i in range(40)))
        self.write("load.parquet", "PAR1")
        self.write("twice.csv", "t,v\n" + "".join(f"2024-01-{1 + i // 2:02},{i % 7}\n" for i in range(50)))
        self.write(b"\xff.csv".decode("utf8", "surrogateescape"), "1\n2\n" * 40)
        self.write("there.json", "{}")
        self.write("a.npz", b"PK")
        self.write("rows.npz", npz(load=npy((40, 2), [i % 7 for i in range(80)])))
        before = self.snapshot()
        for args, words in ((["a.npz"], ["a.npz"]), (["rows.npz"], ["rows.npz: expected arrays X and y, or train_x and train_y, got load", "series"]), (["mackey_glas"], ["did you mean 'mackey_glass'"]), (["load.csv", "tau_grru"], ["tau_gru"]),
                            (["load.csv", "--target", "Lood (MW)"], ["did you mean 'Load (MW)'"]), (["short.csv"], ["20 rows"]),
                            (["words.csv"], ["words.csv: expected a column of numbers that change, got none"]),
                            (["mixed.csv"], ["""Column "a" has '0kW' in line 2."""]),
                            (["load.parquet"], ["""pandas.read_parquet("load.parquet").to_csv("load.csv", index=False)"""]),
                            (["twice.csv"], ["twice.csv: lines 2 and 3: both are of 2024-01-01"]),
                            (["load.csv", "--future", "Temp"], ["unknown column of --future 'Temp'; did you mean 'Temp [C]'?"]),
                            ([b"\xff.csv".decode("utf8", "surrogateescape")], ["a path that is not UTF-8"]),
                            (["adding", "--output", "there.json"], ["exists already. Give another --output"]), (["gone.csv"], ["gone.csv: there is no such file."]), ([], ["expected a task"])):
            with self.subTest(args):
                err = self.run_tool("new", *args, code=2)[1]
                for word in words:
                    self.assertIn(word, err)
        self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    main()
