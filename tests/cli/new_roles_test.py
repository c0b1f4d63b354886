"""The roles found for columns: states and codes, flags, sequences, rows that are series; and models that know columns
by name."""

import csv
import datetime
import io
import json
import math
import shutil

from new_test import without_comments
from tool import ToolTest, main


def day(n):
    return datetime.date(2024, 1, 1) + datetime.timedelta(n)


class NewRolesTest(ToolTest):
    def new(self, head, rows, *args):
        """The experiment that `new` writes for a table, which `check` accepts."""
        self.table("x.csv", head, rows)
        self.text = self.run_tool("new", "x.csv", *args)[0]
        self.run_tool("check", self.write("e.json", self.text))
        return without_comments(self.text)["data"]

    def table(self, name, head, rows):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([head.split(","), *rows])
        return self.write(name, out.getvalue())

    def test_states_are_no_codes(self):
        states = {"closed": lambda n: (n % 7 > 0) * (40 + n % 13), "off": lambda n: (n // 7 % 3 > 0) * (2000 + n % 90),
                  "standby": lambda n: 0.3 if n // 7 % 4 == 0 else 2000 + n % 90, "cap": lambda n: 3000 if n % 30 == 4 else 40 + n % 13}
        for name, state in states.items():
            with self.subTest(name):
                self.assertNotIn("missing_codes", self.new("t,y,open", [(day(n), state(n), int(n % 7 > 0)) for n in range(400)]))
        for code in (-999, -1, 32767, 99.9, 1e20, -127, -8888):
            with self.subTest(code):
                data = self.new("t,y", [(day(n), code if n % 30 == 4 else 20 + n % 13) for n in range(400)])
                self.assertEqual(data["missing_codes"], [code])

    def test_codes_beside_each_other_are_found(self):
        data = self.new("t,y", [(day(n), -999 + (n % 60 == 4) if n % 30 == 4 else 20 + n % 13) for n in range(400)])
        self.assertEqual(data["missing_codes"], [-999])
        self.assertIn("-998 in 7 cells of y is far from all other numbers", self.text)

    def test_codes_by_column_are_refused_where_they_are_wrong(self):
        data = self.new("t,pump,temp", [(day(n), -1 if n % 15 == 3 else 50 + n % 7, n % 9 - 4) for n in range(300)])
        self.assertEqual(data["missing_codes"], {"pump": [-1]})
        for codes, words in (({"pmup": [-1]}, "/data/missing_codes: unknown column 'pmup'; did you mean 'pump'?"), ({"pump": -1}, "/data/missing_codes: expected a list of numbers for the column 'pump'. Got -1"),
                             (5, "/data/missing_codes: expected a list of numbers, or an object")):
            experiment = without_comments(self.text)
            experiment["data"]["missing_codes"] = codes
            self.refused([words], "check", self.write("e.json", json.dumps(experiment)))

    def test_a_recording_is_no_table_of_sequences(self):
        rows = [(day(n), n % 20 // 3, n % 20 // 3 * 9 - 4, 50 + n % 11) for n in range(300)]
        data = self.new("date,temp_c,temp_f,kwh", rows)
        self.assertEqual((data["task"], data["time"], data["input"]), ("series", "date", ["temp_c", "temp_f", "kwh"]))
        data = self.new("date,dow,weekend,y", [(day(n), n % 7, int(n % 7 > 4), 50 + n % 11) for n in range(300)])
        self.assertEqual((data["task"], "y" in data["input"]), ("series", True))

    def test_sequences_are_told_apart_by_what_names_them(self):
        def rows(ids, label):
            return [(*ids(k), n, round(math.sin(n * (1 + label(k) % 2 / 3) + k), 3), ("ok", "bad")[label(k) % 2]) for k in range(40) for n in range(12)]

        data = self.new("id,t,a,label", rows(lambda k: (f"{k}.0",), lambda k: k))
        self.assertEqual((data["task"], data["sequence"], data["time"], data["target"]), ("sequences", "id", "t", "label"))
        for label in (lambda k: k, lambda k: k // 4):
            data = self.new("subject,trial,t,a,label", rows(lambda k: (k // 4, k % 4), label))
            self.assertEqual((data["sequence"], data["time"], data.get("group")), (["subject", "trial"], "t", "subject"))
        floats = [(*row[:-1], ("0.0", "1.0")[row[-1] == "ok"]) for row in rows(lambda k: (k,), lambda k: k)]
        self.new("id,t,a,label", floats)
        self.assertEqual(without_comments(self.text)["loss"], "cross_entropy")

    def test_no_fault_is_a_class(self):
        for words in (("none", "scratch"), ("None", "scratch", "dent")):
            data = self.new("id,t,a,kind", [(k, n, round(math.sin(n + k), 3), words[k % len(words)]) for k in range(40) for n in range(8)])
            self.assertEqual((data["task"], data["target"], data["classes"]), ("sequences", "kind", sorted(words)))
        experiment = without_comments(self.text)
        del experiment["data"]["classes"]
        self.refused(["""'None' means that there is none, unless "classes" lists it"""], "check", self.write("e.json", json.dumps(experiment)))

    def test_missing_words_that_are_as_common_as_others_are_classes(self):
        def table(words):
            return [(k, n, round(math.sin(n + k), 3), words[k % len(words)]) for k in range(40) for n in range(8)]

        self.assertEqual(self.new("id,t,a,kind", table(("N", "NA", "null")))["classes"], ["N", "NA", "null"])
        self.table("x.csv", "id,t,a,label", table(["ok", "bad"] * 9 + ["NA", "bad"]))
        self.refused(["has no 'label' in any row"], "new", "x.csv")

    def test_steps_behind_a_row_are_no_label(self):
        for name in ("cycle", "k"):
            data = self.new(f"unit,{name},s1,s2,RUL", [(u, n, round(math.sin(n + u), 3), round(math.cos(n * u), 3), 19 - n) for u in range(40) for n in range(20)])
            self.assertEqual((data["task"], data["series"]), ("series", "unit"))

    def test_rows_that_no_column_orders_are_of_several_sequences(self):
        data = self.new("patient,visit,sample,force,label", [(p, v, n, round(math.sin(n / (3 + p % 2)) + v, 3), ("PD", "CO")[p % 2]) for p in range(20) for v in (1, 2) for n in range(20)])
        self.assertEqual((data["sequence"], data["time"], data["group"]), (["patient", "visit"], "sample", "patient"))

    def test_sequences_may_have_decimal_commas(self):
        self.write("x.csv", "charge;zeit;druck;ausbeute\n" + "".join(f"{k};{n / 10};{5 + math.sin(n / 3) * (1 + k / 40):.3f};{20 + k / 4}\n".replace(".", ",") for k in range(40) for n in range(12)))
        self.run_tool("check", self.write("e.json", self.run_tool("new", "x.csv")[0]))
        data = without_comments((self.folder / "e.json").read_text())["data"]
        self.assertEqual((data["sequence"], data["time"], data["input"], data["target"]), ("charge", "zeit", ["druck"], "ausbeute"))

    def test_series_without_dates_are_not_glued(self):
        values = [(i, t, round(math.sin(t / 5 + i) + j, 3), f) for i in range(4) for t in range(60) for j, f in enumerate("ab")]
        data = self.new("id,time,value,feature", values)
        self.assertEqual((data["series"], data["time"], data["input"]), (["id", "feature"], "time", ["value"]))
        data = self.new("store,item,day,qty", [(s, i, n + 1, (n * i + s) % 9) for s in (1, 2) for i in (1, 2, 3) for n in range(60)])
        self.assertEqual((data["series"], data["time"], data["input"]), (["store", "item"], "day", ["qty"]))
        data = self.new("user,activity,timestamp,x", [(u, ("walk", "sit", "run")[k // 40], 10**6 * u + 50 * k, round(math.sin(k / 3), 3)) for u in range(1, 6) for k in range(120)])
        self.assertEqual((data["series"], data["time"], data["input"]), ("user", "timestamp", ["activity", "x"]))
        data = self.new("user,cpu,disk", [(n * 7 % 5, n % 11, n % 13) for n in range(300)])  # how many users
        self.assertNotIn("series", data)

    def test_words_and_flags_are_inputs_of_sequences(self):
        words = ("off", "on", "idle")
        data = self.new("id,t,a,hot,mode,label", [(k, n, round(math.sin(n + k), 3), n % 3 > k % 2, words[(n * k) % 3], ("ok", "bad")[k % 2])
                                                  for k in range(40) for n in range(12)])
        self.assertEqual((data["input"], data["categories"]), (["a", "hot", "mode"], {"hot": ["False", "True"], "mode": ["idle", "off", "on"]}))
        data = self.new("date,store,y,holiday", [(day(n), s, n % 7 * s + 3, "0ab"[(n % 20 == 3) + (n % 20 == 9) * 2]) for s in (1, 2) for n in range(100)], "--future", "holiday")
        self.assertEqual((data["future"], data["categories"]), (["holiday"], {"holiday": ["0", "a", "b"]}))
        self.assertEqual(self.new("t,y,n", [(day(n), n % 7, "error" if n == 50 else n % 2) for n in range(200)])["input"], ["y"])

    def test_series_are_named_by_three_words_or_by_places(self):
        names = [(a, b, c) for a in "pq" for b in ("shop", "web") for c in ("mug", "hat")]
        rows = [(day(n), *name, 50 + (n * 7 + len(name[1])) % 23) for n in range(100) for name in names]
        self.assertEqual(self.new("date,country,store,product,sold", rows)["series"], ["country", "store", "product"])
        rows = [(day(n), lat, lon, 10 + (n * 7) % 23) for lat in (50.5, 51.25) for lon in (8.0, 9.5) for n in range(100)]
        self.assertEqual(self.new("date,lat,lon,temp", rows)["series"], ["lat", "lon"])

    def test_flags_are_words_and_dates_are_none(self):
        data = self.new("t,y,flag,until", [(day(n), 50 + n % 11, "Y" if n % 5 < 2 else "", f"{1 + n % 9:02}.01.20") for n in range(300)])
        self.assertEqual(data["categories"], {"flag": ["Y"]})

    def test_rows_that_are_series_are_refused_with_the_way_out(self):
        wave = [[round(math.sin(0.3 * n + i) + i % 5, 3) for n in range(40)] for i in range(30)]
        heads = {"dates": [str(day(n)) for n in range(40)], "months": [f"{2000 + n // 12}-{1 + n % 12:02}" for n in range(40)],
                 "american": [f"{1 + n // 28}/{1 + n % 28}/20" for n in range(40)], "counts": [f"d_{n}" for n in range(40)]}
        for name, head in heads.items():
            with self.subTest(name):
                self.table("x.csv", "item," + ",".join(head), [(f"item{i}", *row) for i, row in enumerate(wave)])
                self.refused(["each row is a series", '.melt(["item"], var_name="time"'], "new", "x.csv")
        self.table("x.csv", ",".join(["label", *heads["counts"]]), [(i % 2, *row) for i, row in enumerate(wave)])
        self.refused(["each row is a series"], "new", "x.csv")
        self.table("x.csv", ",".join(map(str, [1, *wave[0]])), [(1 + i % 2, *row) for i, row in enumerate(wave)])
        self.refused(["each row is a series, with its times in 40 columns", "header=None"], "new", "x.csv")
        self.table("x.csv", ",".join(f"V{n}" for n in range(1, 42)), [(f"M{i}", *row[:20 + i], *[""] * (20 - i)) for i, row in enumerate(wave[:20])])
        self.refused(["each row is a series, with its times in 40 columns", '.melt(["V1"]'], "new", "x.csv")
        months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
        self.write("x.csv", "Global Means\nYear," + ",".join(months) + ",Mean\n" + "".join(f"{1990 + i},{','.join(map(str, row[:13]))}\n" for i, row in enumerate(wave)))
        self.refused(["each row is a year, with its times in 12 columns, 'Jan' to 'Dec'", 'skiprows=1).melt(["Year"], ["Jan"'], "new", "x.csv")
        data = self.new("Year,month,value", [(1990 + i, month, wave[i][n]) for n, month in enumerate(months) for i in range(30)])
        self.assertEqual((data["time"], data["input"]), (["Year", "month"], ["value"]))
        self.write("x.csv", "".join(",".join(map(str, row)) + f",{i % 3}.0\n" for i, row in enumerate(wave)))
        self.refused(["each row is a series, with its times in 40 columns", 'columns={40: "label"}'], "new", "x.csv")
        self.new("t," + ",".join(f"s{n}" for n in range(20)), [(day(n), *(wave[n % 30][:20])) for n in range(200)])

    def test_windows_reach_over_gaps_where_series_had_none_without(self):
        rows = [(day(n), name, 50 + n % 11) for name in "NS" for n in range(200) if name == "N" or n % 10 != 3]
        self.assertTrue(self.new("date,region,y", rows)["across_gaps"])
        self.assertNotIn("across_gaps", self.new("date,region,y", [row for row in rows if row[1] == "N" or row[0] > day(20)] + [(day(n), "W", n % 11) for n in range(200)] + [(day(n), "E", n % 11) for n in range(200)] + [(day(n), "M", n % 7) for n in range(200)]))

    def test_rows_that_are_now_nearer_and_now_further_apart_are_steps(self):
        self.assertEqual(self.new("date,qty", [(day(n), 1 + n % 3) for n in range(400) if n * n % 7 in (1, 2)])["frequency"], "any")
        rows = [(f"{day(0)} {n:02}:00", n % 7) for n in range(24)] + [(f"{day(1 + n // 96)} {n // 4 % 24:02}:{n % 4 * 15:02}", n % 7) for n in range(200)]
        self.table("x.csv", "time,y", rows)
        self.refused(["rows of one series have one frequency"], "new", "x.csv")  # two recordings

    def test_models_know_columns_by_name(self):
        rows = [(day(n), round(50 + 9 * math.sin(n / 3), 2), round(5 * math.cos(n / 3), 2)) for n in range(300)]
        self.table("own.csv", "time,y,x", rows)
        for name, swap in (("other", lambda t, y, x: (x, t, y)), ("wider", lambda t, y, x: (7, x, t, y))):
            self.table(f"{name}.csv", {"other": "x,time,y", "wider": "z,x,time,y"}[name], [swap(*row) for row in rows])
        self.table("renamed.csv", "time,q,x", rows)
        for keys in ({}, {"target": ["y"]}, {"input": [1, 2], "target": [1]}, {"target": [1], "past": [2]}):
            with self.subTest(keys):
                data = {"task": "series", "path": "own.csv", "time": "time", "window": 8, **keys}
                self.train("run", experiment={"name": "run", "data": data, "model": {"layers": [{"cell": "gru", "units": 4}]}, "loss": "mse", "train": {"epochs": 2}})
                predicted = [self.run_tool("predict", "run", "--input", f"{name}.csv", "--output", "-")[0] for name in ("own", "other", "wider")]
                self.assertEqual(predicted, predicted[:1] * 3)
                forecasts = [self.run_tool("forecast", "run", "--input", f"{name}.csv", "--steps", "1")[0] for name in ("own", "other", "wider")]
                self.assertEqual(forecasts, forecasts[:1] * 3)
                self.refused(["unknown column 'y'"], "predict", "run", "--input", "renamed.csv", "--output", "-")
                shutil.rmtree(self.folder / "run")

    def test_a_table_without_the_names_of_its_sequences_is_refused(self):
        rows = [(k, n, round(math.sin(n + k % 2), 3), ("ok", "bad")[k % 2]) for k in range(40) for n in range(8)]
        data = self.new("id,t,a,label", rows)
        self.train("run", experiment={"name": "run", "data": data, "model": {"layers": [{"cell": "gru", "units": 4}]}, "loss": "cross_entropy", "train": {"epochs": 1}})
        self.table("glued.csv", "t,a,label", [row[1:] for row in rows])
        self.refused(["/data/sequence: unknown column 'id'"], "predict", "run", "--input", "glued.csv", "--output", "-")
        self.refused(["unknown column 'id'"], "eval", "run", "--data", "glued.csv")


main()
