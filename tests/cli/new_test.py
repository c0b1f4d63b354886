"""`lagtape new` writes an experiment to begin with, for every task, every cell and your own recordings."""

import datetime
import json
import math
import os
import pty
import random
import re
import subprocess
import unittest

from tool import ToolTest, main, npy, npz, rows_of, slow


def without_comments(text):
    """The values of a commented file: its comments stand on their own lines or behind two blanks."""
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
        return re.findall(r"^  (\S+)", self.run_tool("list", kind)[0], re.MULTILINE)

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

    @slow
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

    def test_tables_of_other_programs_are_read_alike(self):
        rows = [(f"2024-01-{n // 24 + 1:02}T{n % 24:02}:00", n % 24 * 1000 - 9000.5) for n in range(240)]
        table_of = lambda write: "t,v,w\n" + "".join(f"{t},{write(v)},{n % 7}\n" for n, (t, v) in enumerate(rows))
        plain = table_of(str)
        tables = {"returns": plain.replace("\n", "\r"), "blanks": plain.replace(",", "   "), "blank": plain.replace(",", " "),
                  "account": table_of(lambda v: f"({-v})" if v < 0 else f"{v}"),
                  "swiss": table_of(lambda v: f"{v:,}".replace(",", "\u2019"))}
        experiment = {"name": "x", "data": {"task": "series", "path": "x.csv", "time": "t", "input": ["v", "w"], "target": ["v"], "window": 8},
                      "model": {"layers": [{"cell": "gru", "units": 2}], "readout": {"at": "every_step"}}, "loss": "mse",
                      "train": {"epochs": 1, "batch": 4}}

        def scores(name, table):
            self.write("x.csv", table)
            self.run_tool("check", self.write("new.json", self.run_tool("new", "x.csv")[0]))
            self.run_tool("train", self.write("e.json", experiment), "--out", name)
            return self.run_tool("eval", name)[0]

        expected = scores("plain", plain)
        for name, table in tables.items():
            with self.subTest(name):
                self.assertEqual(scores(name, table), expected)
        self.write("x.csv", plain + "\nSource: Eurostat\n")
        self.refused(["x.csv: line 243: expected 3 cells as in the first row, got 1"], "new", "x.csv")


if __name__ == "__main__":
    main()
