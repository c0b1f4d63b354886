"""Many series in one table or in many files: one model, scaled by series, and forecasts of each."""

import array
import datetime
import json
import math
import random
import statistics
import zipfile

from tool import RECORDING, ToolTest, changed, main, rows_of, slow

FIRST = datetime.datetime(2024, 1, 1)
LEVELS = {"s0": 10, "s1": 100, "s2": 1000, "s3": 10000}


def hours(count, first=0):
    return [f"{FIRST + datetime.timedelta(hours=n):%Y-%m-%dT%H:%M}" for n in range(first, first + count)]


def stations(count=24 * 30):
    """Numbers of four stations of different level with the pattern of a day and noise of 5 %."""
    draw = random.Random(7)
    return {name: [level * (1 + 0.3 * math.sin(math.pi * n / 12) + 0.05 * draw.gauss(0, 1)) for n in range(count)]
            for name, level in LEVELS.items()}


def long_table(series, ids="unique_id", times="ds"):
    """The rows of all series, hour by hour."""
    longest = max(map(len, series.values()))
    return f"{ids},{times},y\n" + "".join(
        f"{name},{time},{values[n]:.6g}\n" for n, time in enumerate(hours(longest)) for name, values in series.items() if n < len(values))


def rmse(rows):
    return math.sqrt(statistics.fmean((float(row["prediction"]) - float(row["truth"])) ** 2 for row in rows))


PANEL = changed(RECORDING, data={"task": "series", "path": "own.csv", "series": "unique_id", "time": "ds", "target": "y", "window": 20},
                train__epochs=2, metrics=["mase"])


class ManySeriesTest(ToolTest):
    def train_stations(self, count=120, **values):
        self.series = stations(count)
        self.write("own.csv", long_table(self.series))
        self.train("run", experiment=changed(PANEL, **values))

    def forecast(self, *args, file="own.csv"):
        return rows_of(self.run_tool("forecast", "run", "--input", file, *args)[0])

    def metadata(self):
        weights = self.weights("run")
        return json.loads(weights[8:8 + int.from_bytes(weights[:8], "little")])["__metadata__"]

    def test_forecasts_and_predictions_name_the_series_in_the_column_of_the_user(self):
        self.train_stations()
        rows = self.forecast("--steps", "5")
        self.assertEqual(list(rows[0]), ["unique_id", "time", "step", "prediction", "truth"])
        self.assertEqual([(row["unique_id"], row["time"], row["step"]) for row in rows],
                         [(name, f"{time}:00", str(step)) for name in LEVELS for step, time in enumerate(hours(5, 120), 1)])
        for name, level in LEVELS.items():
            for row in rows:
                if row["unique_id"] == name:
                    self.assertTrue(0.3 * level < float(row["prediction"]) < 2 * level, row)
        self.assertEqual(self.forecast("--steps", "5", "--series", "s2,s0"), rows[10:15] + rows[:5])
        predicted = rows_of(self.run_tool("predict", "run", "--input", "own.csv", "--output", "-")[0])
        self.assertEqual(list(predicted[0]), ["unique_id", "time", "horizon", "prediction", "truth"])
        self.assertEqual([sum(row["unique_id"] == name for row in predicted) for name in LEVELS], [120] * 4)
        for name, level in LEVELS.items():
            self.assertLess(rmse([row for row in predicted if row["unique_id"] == name and row["truth"]]), 0.4 * level)

    def test_scores_are_of_each_series_and_together(self):
        self.train_stations()
        out = self.run_tool("forecast", "run", "--input", "own.csv", "--steps", "5", "--from", hours(1, 110)[0], "--output", "f.csv", "--json")[0]
        scores = json.loads(out)
        rows = rows_of((self.folder / "f.csv").read_text())
        for name in LEVELS:
            own = [row for row in rows if row["unique_id"] == name]
            self.assertAlmostEqual(scores["series"][name]["y"]["rmse"] / rmse(own), 1, places=4)
        self.assertAlmostEqual(scores["targets"]["y"]["rmse"] / rmse(rows), 1, places=4)
        self.assertEqual(scores["targets"]["y"]["known"], 20)
        horizons = json.loads(self.run_tool("eval", "run", "--horizon", "4", "--json")[0])
        self.assertEqual(list(horizons["series"]), list(LEVELS))
        self.assertEqual(sum(one["origins"] for one in horizons["series"].values()), horizons["origins"])
        squares = [horizons["series"][name]["targets"]["y"]["overall"]["model"]["rmse"] ** 2 for name in LEVELS]
        weights = [horizons["series"][name]["origins"] for name in LEVELS]
        together = math.sqrt(sum(a * b for a, b in zip(squares, weights, strict=True)) / sum(weights))
        self.assertAlmostEqual(horizons["targets"]["y"]["overall"]["model"]["rmse"] / together, 1, places=6)
        self.assertIn("by series, over all steps", self.run_tool("eval", "run", "--horizon", "4")[0])

    def test_metrics_of_a_split_are_of_each_series_too(self):
        self.train_stations(metrics=["mase", "rmse"])
        scores = json.loads(self.run_tool("eval", "run", "--json")[0])
        self.assertEqual(list(scores["series"]), list(LEVELS))
        # All series have as many targets, so that squares and losses of all are means of those of each.
        self.assertAlmostEqual(scores["loss"] / statistics.fmean(one["loss"] for one in scores["series"].values()), 1, places=6)
        self.assertAlmostEqual(scores["rmse"] / math.sqrt(statistics.fmean(one["rmse"] ** 2 for one in scores["series"].values())), 1, places=6)
        for name, level in LEVELS.items():
            self.assertTrue(0.01 * level < scores["series"][name]["rmse"] < level, name)
        lines = self.run_tool("eval", "run")[0].splitlines()
        self.assertEqual(lines[2].split(), ["series", "loss", "mase", "rmse"])
        losses = [float(line.split()[1]) for line in lines[3:]]
        self.assertEqual(losses, sorted(losses, reverse=True))
        self.assertEqual({line.split()[0] for line in lines[3:]}, set(LEVELS))
        # Other data with some of the series, and the same numbers.
        rows = (self.folder / "own.csv").read_text().splitlines(keepends=True)
        self.write("two.csv", rows[0] + "".join(row for row in rows if row.startswith(("s1,", "s3,"))))
        two = json.loads(self.run_tool("eval", "run", "--data", "two.csv", "--json")[0])
        self.assertEqual(two["series"], {name: scores["series"][name] for name in ("s1", "s3")})

    def test_of_many_series_the_worst_and_the_best_are_shown(self):
        self.series = {f"n{i:02}": [(n * (i + 3)) % 7 + i for n in range(60)] for i in range(14)}
        self.write("own.csv", long_table(self.series))
        self.train("run", experiment=PANEL)
        scores = json.loads(self.run_tool("eval", "run", "--json")[0])["series"]
        self.assertEqual(list(scores), list(self.series))
        worst_first = sorted(scores, key=lambda name: -scores[name]["loss"])
        lines = self.run_tool("eval", "run")[0].splitlines()
        self.assertEqual([line.split()[0] for line in lines[3:13]], worst_first[:5] + worst_first[-5:])
        self.assertEqual(lines[13], "4 series between the worst and the best are left out: --json has all.")
        # Forecasts: the largest and the smallest errors in proportion to those of the best baseline.
        horizons = json.loads(self.run_tool("eval", "run", "--horizon", "3", "--json")[0])
        best, measure = horizons["best_baseline"], horizons["measure"]
        ratios = {}
        for name, one in horizons["series"].items():
            overall = one["targets"]["y"]["overall"]
            ratios[name] = overall["model"][measure] / overall[best][measure]
        worst_first = sorted(ratios, key=lambda name: -ratios[name])
        lines = self.run_tool("eval", "run", "--horizon", "3")[0].splitlines()
        first = lines.index(f"{measure} of y by series, over all steps") + 2
        self.assertEqual([line.split()[0] for line in lines[first:first + 10]], worst_first[:5] + worst_first[-5:])
        self.assertEqual(lines[first + 10], "4 series between the worst and the best are left out: --json has all.")

    def test_each_series_is_scaled_by_its_training_rows(self):
        self.train_stations()
        series = json.loads(self.metadata()["series"])["series"]
        self.assertEqual(list(series), list(LEVELS))
        for name, values in self.series.items():
            mean, scale = series[name][:2]
            values = [float(f"{value:.6g}") for value in values[:84]]  # 0.7 of the rows
            deviation = statistics.pstdev(values)
            self.assertAlmostEqual(scale / deviation, 1, delta=1e-3)
            self.assertLess(abs(mean - statistics.fmean(values)), 1e-3 * deviation)
        for data__normalize in ("all", False):
            self.write("plain.json", changed(PANEL, data__normalize=data__normalize, data__normalize_target=data__normalize))
            self.run_tool("train", "plain.json", "--out", f"plain-{data__normalize}", "--quiet")
            weights = (self.folder / f"plain-{data__normalize}" / "weights.safetensors").read_bytes()
            self.assertNotIn("series", json.loads(weights[8:8 + int.from_bytes(weights[:8], "little")])["__metadata__"])

    def test_evaluations_are_in_units_of_the_data_and_repeat_those_of_the_training(self):
        self.train_stations(metrics=["mase", "rmse", "mae"])
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        again = json.loads(self.run_tool("eval", "run", "--json")[0])
        for metric in ("loss", "mase", "rmse", "mae"):
            self.assertEqual(again[metric], summary["test"][metric])
        self.assertGreater(again["rmse"], 100)  # of the station of level 10000
        self.assertLess(again["loss"], 5)
        self.run_tool("eval", "run", "--data", "own.csv", "--split", "all")

    def test_a_new_series_is_scaled_by_its_rows_before_the_forecast(self):
        self.train_stations()
        # The same numbers under a known name are scaled otherwise; of a new name, what follows changes nothing.
        values = [5e6 * (1 + 0.3 * math.sin(math.pi * n / 12)) for n in range(100)]
        self.write("new.csv", long_table({"new": values}))
        rows = self.forecast("--steps", "6", "--from", hours(1, 80)[0], file="new.csv")
        for row in rows:
            self.assertTrue(1e6 < float(row["prediction"]) < 1e7, row)
        self.write("new.csv", long_table({"new": values[:80] + [1e9] * 20}))
        self.assertEqual([row["prediction"] for row in self.forecast("--steps", "6", "--from", hours(1, 80)[0], file="new.csv")],
                         [row["prediction"] for row in rows])
        self.write("new.csv", long_table({"new": values}))
        predicted = rows_of(self.run_tool("predict", "run", "--input", "new.csv", "--output", "-")[0])
        self.assertEqual(len(predicted), 100 - 19)  # after the rows of a window, which scale it
        self.assertLess(rmse([row for row in predicted if row["truth"]]), 3e6)

    def test_a_constant_series_is_scaled_by_its_size(self):
        self.series = {"a": [3.0] * 60, "b": [0.0] * 60, "c": [n % 5 for n in range(60)]}
        self.write("own.csv", long_table(self.series))
        self.train("run", experiment=PANEL)
        series = json.loads(self.metadata()["series"])["series"]
        self.assertEqual((series["a"], series["b"]), ([3, 3], [0, 1]))
        for row in self.forecast("--steps", "3"):
            self.assertTrue(math.isfinite(float(row["prediction"])))

    def test_plain_numbers_need_the_name_of_a_series(self):
        self.train_stations()
        self.write("x.csv", "10\n11\n12\n")
        for command in (("predict", "run", "--input", "x.csv", "--output", "y.csv"), ("export", "run", "--to", "c99", "--output", "m.c"),
                        ("predict", "run", "--input", "-", "--output", "-")):
            with self.subTest(command):
                self.refused(["scales each of its 4 series by itself", "--series"], *command)
        self.refused(["unknown series of the model 's9'", "s0"], "predict", "run", "--input", "x.csv", "--output", "y.csv", "--series", "s9")
        one = self.run_tool("predict", "run", "--input", "x.csv", "--output", "-", "--series", "s0")[0]
        stream = self.run_tool("predict", "run", "--input", "-", "--output", "-", "--series", "s0", stdin=b"10\n11\n12\n")[0]
        self.assertEqual(one, stream)
        self.assertLess(max(map(float, one.split())), 30)
        for form, name in (("c99", "m.c"), ("onnx", "m.onnx"), ("onnx-step", "s.onnx")):
            self.run_tool("export", "run", "--to", form, "--output", name, "--series", "s3")
            self.assertIn(b"is that of the series s3.", (self.folder / name).read_bytes())

    def test_json_alone_has_scores_and_forecast(self):
        self.train_stations()
        start = ("--steps", "5", "--from", hours(1, 110)[0])
        both = json.loads(self.run_tool("forecast", "run", "--input", "own.csv", *start, "--json")[0])
        scores = json.loads(self.run_tool("forecast", "run", "--input", "own.csv", *start, "--output", "f.json", "--json")[0])
        self.assertEqual(both.pop("forecast"), json.loads((self.folder / "f.json").read_text()))
        self.assertEqual(both, scores)
        self.assertEqual(list(scores["series"]), list(LEVELS))

    def test_inspect_shows_what_a_model_knows_of_its_series(self):
        self.train_stations(data__input="y")
        known = json.loads(self.metadata()["series"])["series"]
        shown = json.loads(self.run_tool("inspect", "run", "--series", "--json")[0])["series"]
        self.assertEqual(list(shown), list(LEVELS))
        for name in LEVELS:
            scale = {"mean": known[name][0], "scale": known[name][1]}
            self.assertEqual(shown[name], {"inputs": {"y": scale}, "targets": {"y": scale}})
        text = self.run_tool("inspect", "run", "--series")[0].splitlines()
        self.assertEqual([line for line in text if not line.startswith(" ")], list(LEVELS))
        self.assertEqual(text[1].split(), ["inputs", "y", "mean", f"{known['s0'][0]:.6g}", "scale", f"{known['s0'][1]:.6g}"])
        self.assertIn("4 series are known, each scaled by itself", self.run_tool("inspect", "run")[0])
        self.assertNotIn("series", json.loads(self.run_tool("inspect", "run", "--json")[0]))
        self.refused(["--series: is for a run"], "inspect", "experiment.json", "--series")
        self.train("plain", experiment=changed(PANEL, data__normalize="all", data__normalize_target="all"))
        self.assertEqual(list(json.loads(self.run_tool("inspect", "plain", "--series", "--json")[0])["series"]), ["all"])

    def test_charts_name_the_series(self):
        self.train_stations()
        self.forecast("--steps", "5", "--series", "s2", "--plot", "one.svg")
        self.assertIn(">s2<", (self.folder / "one.svg").read_text())
        self.run_tool("eval", "run", "--plot", "eval.svg")
        self.assertIn(">s0<", (self.folder / "eval.svg").read_text())

    def test_future_inputs_are_those_of_the_series(self):
        rows = "".join(f"{name},{time},{level + n % 3},{n % 3}\n" for name, level in (("a", 1), ("b", 50)) for n, time in enumerate(hours(60)))
        self.write("own.csv", "id,t,y,w\n" + rows)
        self.train("run", experiment=changed(PANEL, data={"task": "series", "path": "own.csv", "series": "id", "time": "t", "target": "y", "future": "w",
                                                          "window": 10}))
        ahead = {name: [f"{name},{time},{n}\n" for n, time in enumerate(hours(3, 60))] for name in "ab"}
        self.write("next.csv", "id,t,w\n" + "".join(ahead["b"] + ahead["a"]))
        both = self.forecast("--steps", "3", "--future", "next.csv")
        self.assertEqual([row["id"] for row in both], ["a"] * 3 + ["b"] * 3)
        self.write("next.csv", "id,t,w\n" + "".join(ahead["a"]))
        self.assertEqual(self.forecast("--steps", "3", "--future", "next.csv", "--series", "a"), both[:3])
        self.refused(["next.csv: w is a \"future\" input and is not known", "This is about the series 'b'"],
                     "forecast", "run", "--input", "own.csv", "--steps", "3", "--future", "next.csv")
        self.write("next.csv", "id,t,w\nbb,2024-01-03T12:00,1\n")
        self.refused(["next.csv: line 2, column 1 (id): unknown series of own.csv 'bb'", "did you mean 'b'?"],
                     "forecast", "run", "--input", "own.csv", "--steps", "3", "--future", "next.csv")
        self.refused(["--series: unknown series of own.csv 'c'"], "forecast", "run", "--input", "own.csv", "--steps", "1", "--series", "c")

    def test_future_inputs_of_several_files_say_whose_they_are(self):
        columns = {"task": "series", "path": "s*.csv", "time": "t", "target": "y", "future": "w", "window": 10}
        for name, level in (("s1", 1), ("s2", 50), ("s3", 900)):
            self.write(f"{name}.csv", "t,y,w\n" + "".join(f"{time},{level + n % 3},{n % 3}\n" for n, time in enumerate(hours(60))))
        self.train("run", experiment=changed(PANEL, data=columns))
        ahead = {name: [f"{time},{(n + k) % 3}\n" for n, time in enumerate(hours(3, 60))] for k, name in enumerate(("s1", "s2", "s3"))}
        wanted = []
        (self.folder / "next").mkdir()
        for name, lines in ahead.items():
            self.write(f"next/{name}.csv", "t,w\n" + "".join(lines))
            rows = self.forecast("--steps", "3", "--future", f"next/{name}.csv", file=f"{name}.csv")
            wanted += [{"series": name, **row} for row in rows]
        self.assertEqual(len({row["prediction"] for row in wanted}), 9)
        # A file of each name, and one file with the names.
        self.assertEqual(self.forecast("--steps", "3", "--future", "next/*.csv", file="s*.csv"), wanted)
        # A file for one of them is for that one.
        (self.folder / "part").mkdir()
        self.write("part/s2.csv", "t,w\n" + "".join(ahead["s2"]))
        self.assertEqual(self.forecast("--steps", "3", "--future", "part/*.csv", "--series", "s2", file="s*.csv"), wanted[3:6])
        self.refused(["part/*.csv: w is a \"future\" input and is not known", "the series 's1'"],
                     "forecast", "run", "--input", "s*.csv", "--steps", "3", "--future", "part/*.csv")
        self.write("all.csv", "w,series,t\n" + "".join(f"{w.strip()},{name},{t}\n" for n in range(3) for name in ahead
                                                      for t, w in [ahead[name][n].split(",")]))
        self.assertEqual(self.forecast("--steps", "3", "--future", "all.csv", file="s*.csv"), wanted)
        refused = ("forecast", "run", "--input", "s*.csv", "--steps", "3", "--future")
        self.refused(["next/s1.csv: does not say which of the 3 recordings its rows follow", "column \"series\"", "--future 'next/*.csv'"],
                     *refused, "next/s1.csv")
        self.write("few.csv", "t,w,series\n" + "".join(f"{line.strip()},s2\n" for line in ahead["s2"]))
        self.refused(["few.csv: w is a \"future\" input and is not known from 2024-01-03T12:00:00 on", "the series 's1'"], *refused, "few.csv")
        self.assertEqual(self.forecast("--steps", "3", "--future", "few.csv", "--series", "s2", file="s*.csv"), wanted[3:6])
        self.refused(["few.csv: line 2, column 3 (series): unknown series of s1.csv 's2'"], "forecast", "run", "--input", "s1.csv", "--steps", "3", "--future", "few.csv")
        self.write("few.csv", "t,w,series\n2024-01-03T12:00,1,s4\n")
        self.refused(["few.csv: line 2, column 3 (series): unknown series of s*.csv 's4'"], *refused, "few.csv")
        self.write("next/s4.csv", "t,w\n2024-01-03T12:00,1\n")
        self.refused(["next/s4.csv: unknown recording 's4.csv'"], *refused, "next/*.csv")
        # A name that rows do not say.
        self.write("few.csv", "t,w,series\n2024-01-03T12:00,1,\n")
        self.refused(["few.csv: line 2, column 3 (series): "], *refused, "few.csv")

    def test_one_file_follows_several_tables_of_series(self):
        for file, names in (("own1.csv", "ab"), ("own2.csv", "cd")):
            self.write(file, "id,t,y,w\n" + "".join(f"{name},{time},{ord(name) + n % 3},{n % 3}\n" for name in names for n, time in enumerate(hours(60))))
        self.train("run", experiment=changed(PANEL, data={"task": "series", "path": "own*.csv", "series": "id", "time": "t", "target": "y",
                                                          "future": "w", "window": 10}))
        lines = {name: [f"{name},{time},{(n + ord(name)) % 3}\n" for n, time in enumerate(hours(2, 60))] for name in "dacb"}
        self.write("next.csv", "id,t,w\n" + "".join(sum(lines.values(), [])))
        both = self.forecast("--steps", "2", "--future", "next.csv", file="own*.csv")
        self.assertEqual([row["id"] for row in both], ["a", "a", "b", "b", "c", "c", "d", "d"])
        self.write("two.csv", "id,t,w\n" + "".join(lines["c"] + lines["d"]))
        self.assertEqual(self.forecast("--steps", "2", "--future", "two.csv", file="own2.csv"), both[4:])
        self.write("next.csv", "id,t,w\n" + "".join(sum(lines.values(), [])) + "e,2024-01-03T12:00,1\n")
        self.refused(["next.csv: line 10, column 1 (id): unknown series of own*.csv 'e'"],
                     "forecast", "run", "--input", "own*.csv", "--steps", "2", "--future", "next.csv")

    def test_files_are_series_of_their_names(self):
        for name, values in stations(120).items():
            self.write(f"{name}.csv", "ds,y\n" + "".join(f"{time},{value:.6g}\n" for time, value in zip(hours(120), values, strict=True)))
        self.train("run", experiment=changed(PANEL, data={"task": "series", "path": "s*.csv", "time": "ds", "target": "y", "window": 20}))
        self.assertEqual(list(json.loads(self.metadata()["series"])["series"]), list(LEVELS))
        all_of_them = self.forecast("--steps", "2", file="s*.csv")
        self.assertEqual([row["series"] for row in all_of_them], [name for name in LEVELS for _ in range(2)])
        one = self.forecast("--steps", "2", file="s3.csv")
        self.assertNotIn("series", one[0])
        self.assertEqual([row["prediction"] for row in one], [row["prediction"] for row in all_of_them[6:]])

    def test_windows_of_validation_and_test_read_the_rows_before_them(self):
        """Series of 20 rows have 3 rows of validation and of test, fewer than a window of 8."""
        self.write("own.csv", long_table({name: [n % 4 for n in range(20)] for name in "abc"}))
        path = self.write("e.json", changed(PANEL, data__window=8, data__normalize=False, data__normalize_target=False))
        self.run_tool("check", path)
        self.run_tool("train", path, "--out", "run", "--quiet")

    def test_series_that_weigh_alike_come_equally_often(self):
        self.series = {"long": [n % 7 for n in range(200)], "short": [100 + n % 3 for n in range(40)]}
        self.write("own.csv", long_table(self.series))
        counts = {}
        for weight in ("row", "series"):
            path = self.write("e.json", changed(PANEL, data__weight=weight, data__stride=1, data__window=10))
            self.run_tool("data", path, "--out", f"{weight}.npz")
            with zipfile.ZipFile(self.folder / f"{weight}.npz") as archive:
                raw = archive.read("train_x.npy")
            header = 10 + int.from_bytes(raw[8:10], "little")
            numbers = array.array("f", raw[header:])[::10]
            counts[weight] = (sum(number < 50 for number in numbers), sum(number > 50 for number in numbers))
        self.assertEqual(counts["row"], (130, 18))
        self.assertEqual(counts["series"], (74, 74))
        self.refused(["/data/weight"], "check", self.write("e.json", changed(PANEL, data__weight="rows")))

    def test_new_writes_an_experiment_of_a_long_table(self):
        tables = {
            "panel.csv": ("unique_id", long_table(stations(24 * 20))),
            "codes.csv": ("shop", "shop,day,sales\n" + "".join(f"{shop},2024-{1 + n // 28:02}-{1 + n % 28:02},{(n * shop) % 11}\n" for shop in (3, 5) for n in range(56))),
            "pairs.csv": (["store", "item"], "store,item,date,y\n" + "".join(f"{s},{i},2024-01-{1 + n:02},{n % 5}\n" for s in "ab" for i in "xy" for n in range(30))),
            "counted.csv": ("unique_id", "unique_id,ds,y\n" + "".join(f"{name},{n + 1},{n % 6}\n" for name in ("H1", "H2", "H3") for n in range(60))),
            "m.tsf": ("series_name", "@attribute series_name string\n@attribute start_timestamp date\n@frequency monthly\n@data\n" +
                      "".join(f"T{i}:19{79 + i}-01-01 00-00-00:{','.join(str(n % 12 + i) for n in range(50))}\n" for i in range(3))),
            "static.csv": ("id", "id,t,y,size,kind\n" + "".join(f"{name},2024-01-{1 + n:02},{n % 5},{size},{kind}\n" for name, size, kind in (("a", 3, "x"), ("b", 4, "y")) for n in range(30))),
        }
        for name, (column, text) in tables.items():
            with self.subTest(name):
                self.write(name, text)
                self.run_tool("new", name, "--output", "e.json")
                text = (self.folder / "e.json").read_text()
                data = json.loads("".join(line.split("//")[0] + "\n" for line in text.splitlines()))["data"]
                self.assertEqual(data["series"], column)
                self.run_tool("check", "e.json")
                if name == "static.csv":
                    self.assertEqual(data["static"], ["size", "kind"])
                (self.folder / "e.json").unlink()

    def test_bad_columns_are_refused(self):
        self.write("own.csv", long_table(stations(60)))
        for values, words in (({"data__series": "uniqueid"}, ["own.csv", "'uniqueid'", "did you mean 'unique_id'?"]),
                              ({"data__series": "y"}, ["/data/series: names the column \"y\", which \"target\" names too"]),
                              ({"data__series": []}, ["/data/series: expected the name of a column, or a list"]),
                              ({"data__normalize": "each"}, ["/data/normalize: expected true, false, \"all\" or \"series\""])):
            with self.subTest(values):
                self.refused(words, "check", self.write("e.json", changed(PANEL, **values)) and "e.json")

    @slow
    def test_stations_of_different_level_are_better_than_the_day_before(self):
        values = stations()
        self.write("panel.csv", long_table(values))
        for name, numbers in values.items():
            self.write(f"{name}.csv", "ds,y\n" + "".join(f"{time},{value:.6g}\n" for time, value in zip(hours(len(numbers)), numbers, strict=True)))
        self.run_tool("new", "panel.csv", "--output", "panel.json")
        self.run_tool("train", "panel.json", "--out", "run", "--quiet")
        text = (self.folder / "panel.json").read_text()
        files = json.loads("".join(line.split("//")[0] + "\n" for line in text.splitlines()))
        files["data"]["path"] = "s*.csv"
        del files["data"]["series"]
        self.write("files.json", files)
        self.run_tool("train", "files.json", "--out", "run-of-files", "--quiet")
        for run in ("run", "run-of-files"):
            scores = json.loads(self.run_tool("eval", run, "--horizon", "24", "--json")[0])["series"]
            for name in LEVELS:
                own = scores[name]["targets"]["y"]["overall"]
                self.assertLess(own["model"]["rmse"], 0.85 * own["seasonal"]["rmse"], (run, name))


if __name__ == "__main__":
    main()
