"""A recording as people have it, from a messy file to a forecast with a picture."""

import datetime
import json
import math
import os
import random
import re
import shutil
import subprocess
import unittest
import zipfile

from tool import ToolTest, changed, main, npy, npy_values, read_safetensors, rows_of, slow

HOURS = 24 * 60
FIRST = datetime.datetime(2024, 1, 1)
PLANT = {
    "name": "plant",
    "data": {"task": "series", "path": "plant.csv", "time": "Date", "decimal": ",", "calendar": ["hour"],
             "input": ["Load [MW]", "Air temp (°C)"], "missing": "interpolate", "window": 96},
    "model": {"layers": [{"cell": "tau_gru", "units": 8, "tau": 12}], "readout": {"at": "every_step"}},
    "loss": "mse",
    "optimizer": {"type": "adam", "lr": 0.02},
    "train": {"epochs": 25, "batch": 8},
}


def plant(hours=HOURS, gaps=True):
    """Three channels with a header of spaces and units, dates in no order, gaps, blanks, decimal commas, remarks in
    quotes, a byte-order mark and CRLF."""
    draw = random.Random(3)
    rows = []
    for n in range(hours):
        if gaps and (300 <= n < 330 or n == 700):
            continue
        day = 2 * math.pi * n / 24
        numbers = [50 + 10 * math.sin(day), 12 + 6 * math.sin(day - 1), 1013 + 3 * math.sin(n / 40)]
        cells = [f"{value + draw.gauss(0, 0.2):.2f}".replace(".", ",") for value in numbers]
        if gaps and n % 53 == 0:
            cells[n % 3] = ("", "NA", "-")[n // 53 % 3]
        rows.append(f'{FIRST + datetime.timedelta(hours=n):%Y-%m-%d %H:%M}; {cells[0]};{cells[1]} ;{cells[2]};"no; {n}"')
    rows[40], rows[41] = rows[41], rows[40]
    return "\ufeffDate;Load [MW];Air temp (°C);Pressure (hPa);Remark\r\n" + "\r\n".join(rows) + "\r\n"


class ForecastTest(ToolTest):
    def test_from_a_messy_file_to_a_forecast_with_a_picture_in_four_commands(self):
        self.write("plant.csv", plant())
        path = self.write("plant.json", PLANT)
        notes = self.run_tool("check", path)[1]
        self.assertIn("data: 1409 rows, frequency 1h, with 2 gaps, the first before 2024-01-14 18:00", notes)
        self.assertIn("data: rows were sorted by time", notes)
        self.assertIn("cells without a number filled", notes)
        self.run_tool("train", path, "--quiet")
        self.assertLess(json.loads(self.run_tool("eval", "runs/plant-0", "--json", "--plot", "test.svg")[0])["loss"], 0.1)
        out = self.run_tool("forecast", "runs/plant-0", "--input", "plant.csv", "--from", "2024-02-20", "--steps", "48",
                            "--output", "next.csv", "--plot", "next.svg", "--json")[0]
        load = json.loads(out)["targets"]["Load [MW]"]
        self.run_tool("predict", "runs/plant-0", "--input", "plant.csv", "--output", "y.csv", "--plot", "y.svg")
        along = rows_of((self.folder / "y.csv").read_text())
        self.assertEqual(len(along), 1409 - 3 + 1)  # each but the first of a stretch, and the one after the end
        self.assertEqual((along[0]["time"], along[0]["horizon"]), ("2024-01-01T01:00:00", "1"))
        self.assertEqual((along[-1]["time"], along[-1]["Load [MW] truth"]), ("2024-03-01T00:00:00", ""))
        known = [row for row in along[200:-1] if row["Load [MW] truth"]]
        blanks = [n for n in range(0, HOURS, 53) if n % 3 == 0 and not 300 <= n < 330]
        self.assertEqual(len([row for row in along[:-1] if not row["Load [MW] truth"]]), len(blanks) - 1)  # all but row 0
        errors = [float(row["Load [MW] prediction"]) - float(row["Load [MW] truth"]) for row in known]
        self.assertLess(math.sqrt(sum(error ** 2 for error in errors) / len(errors)), 3)
        self.assertIn("Load [MW] truth", (self.folder / "y.svg").read_text())
        self.assertEqual(load["known"], 48)
        self.assertLess(load["rmse"], 3)
        self.assertGreater(load["persistence_rmse"], 6)  # of a sine of amplitude 10
        self.assertLess(load["seasonal_rmse"], 1)
        rows = rows_of((self.folder / "next.csv").read_text())
        self.assertEqual([row["step"] for row in rows], [str(step + 1) for step in range(48)])
        self.assertEqual(rows[1]["time"], "2024-02-20T01:00:00")
        hour = 24 * 50 + 1
        self.assertAlmostEqual(float(rows[1]["Load [MW] truth"]), 50 + 10 * math.sin(2 * math.pi * hour / 24), delta=1)
        squares = [(float(row["Load [MW] prediction"]) - float(row["Load [MW] truth"])) ** 2 for row in rows]
        self.assertAlmostEqual(load["rmse"], math.sqrt(sum(squares) / 48), places=4)
        picture = (self.folder / "next.svg").read_text()
        self.assertIn("Load [MW] prediction", picture)
        self.assertGreaterEqual(len(re.findall("<polyline", picture)), 4)

    @slow
    def test_the_readme_leads_from_a_messy_file_to_a_forecast_with_a_picture_and_a_report(self):
        """The commands are those of the README, with the name of this file in place of its own, and nothing else."""
        readme = (self.root / "README.md").read_text()
        begin = re.search(r"`(lagtape new NAME\.csv > NAME\.json)`", readme)[1].replace("NAME", "plant")
        block = next(block for block in re.findall(r"```sh\n(.*?)```", readme, re.S) if "lagtape check load.json" in block)
        commands = [begin, *(line.split("#")[0].strip() for line in block.replace("load", "plant").splitlines() if line.startswith("lagtape"))]
        self.assertEqual([command.split()[1] for command in commands], ["new", "check", "train", "eval", "forecast", "report"])
        self.write("plant.csv", plant())
        tools = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        (self.folder / "lagtape").symlink_to(self.tool)
        for command in commands:
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=tools, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
        forecast = rows_of((self.folder / "next.csv").read_text())
        self.assertEqual((len(forecast), forecast[0]["time"], forecast[-1]["time"]), (48, "2024-03-01T00:00:00", "2024-03-02T23:00:00"))
        for name, middle, height, phase in (("Load [MW]", 50, 10, 0), ("Air temp (°C)", 12, 6, 1)):
            for n, row in enumerate(forecast):
                self.assertAlmostEqual(float(row[f"{name} prediction"]), middle + height * math.sin(2 * math.pi * n / 24 - phase), delta=height / 4)
        for picture in ("test.svg", "next.svg"):
            self.assertIn("Load [MW] prediction", (self.folder / picture).read_text())

    def train_on(self, text, experiment):
        self.write("own.csv", text)
        self.train("run", experiment=experiment)

    def test_a_forecast_feeds_its_predictions_back(self):
        """The oracle: predict runs again over the past and all predictions so far, for every step."""
        text = "load,heat\n" + "".join(f"{math.sin(0.3 * n):.5f},{math.cos(0.2 * n):.5f}\n" for n in range(300))
        for at, horizon in (("every_step", 1), ("every_step", 3), ("last_step", 1), ("last_step", 2)):
            with self.subTest(at=at, horizon=horizon):
                experiment = changed(PLANT, data={"task": "series", "path": "own.csv", "window": 20, "horizon": horizon},
                                     model__readout__at=at, train__epochs=1)
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.train_on(text, experiment)
                self.write("past.csv", "\n".join(text.splitlines()[:101]) + "\n")
                found = rows_of(self.run_tool("forecast", "run", "--input", "past.csv", "--steps", "5")[0])
                numbers = [[float(cell) for cell in line.split(",")] for line in text.splitlines()[1:101]]
                for step in range(5):
                    seen = numbers[:len(numbers) - horizon + 1]
                    if at == "last_step":
                        seen = seen[-20:]
                    self.write("x.csv", "".join(f"{a!r},{b!r}\n" for a, b in seen))
                    self.run_tool("predict", "run", "--input", "x.csv", "--output", "y.csv")
                    expected = [float(cell) for cell in (self.folder / "y.csv").read_text().split()[-1].split(",")]
                    got = [float(found[step][f"{name} prediction"]) for name in ("load", "heat")]
                    self.assertEqual(got, expected)
                    numbers.append(expected)

    def test_inputs_that_are_not_predicted_must_be_known(self):
        past = "".join(f"{n},{math.sin(0.3 * n):.5f},{n % 5}\n" for n in range(200))
        experiment = changed(PLANT, train__epochs=1, data={
            "task": "series", "path": "own.csv", "time": "t", "time_format": "seconds", "input": ["load", "price"], "target": ["load"], "window": 20})
        self.train_on("t,load,price\n" + past, experiment)
        message = self.run_tool("forecast", "run", "--input", "own.csv", "--steps", "3", code=2)[1]
        self.assertIn("own.csv: price is an input that the model does not predict, and it is not known from 200 on, 1 step "
                      "after the past. Forecast at most 1 step, or add rows", message)
        one = self.run_tool("forecast", "run", "--input", "own.csv", "--steps", "1")[0]
        self.write("known.csv", "t,load,price\n" + past + "200,,0\n201,,1\n202,,2\n")
        rows = rows_of(self.run_tool("forecast", "run", "--input", "known.csv", "--steps", "4")[0])
        self.assertEqual([row["time"] for row in rows], ["200", "201", "202", "203"])
        self.assertEqual(rows[0]["prediction"], rows_of(one)[0]["prediction"])
        self.assertEqual({row["truth"] for row in rows}, {""})
        self.write("other.csv", "t,load,price\n" + past + "200,,0\n201,,4\n202,,2\n")
        other = rows_of(self.run_tool("forecast", "run", "--input", "other.csv", "--steps", "4")[0])
        self.assertEqual([row["prediction"] == more["prediction"] for row, more in zip(rows, other, strict=True)],
                         [True, True, False, False])

    def test_several_runs_give_mean_lowest_and_highest(self):
        self.write("own.csv", "v\n" + "".join(f"{math.sin(0.3 * n):.5f}\n" for n in range(200)))
        experiment = changed(PLANT, train__epochs=1, data={"task": "series", "path": "own.csv", "window": 20})
        for seed in range(3):
            self.train(f"run{seed}", "--seed", seed, experiment=experiment)
        single = [[float(row["prediction"]) for row in rows_of(
            self.run_tool("forecast", f"run{seed}", "--input", "own.csv", "--steps", "6")[0])] for seed in range(3)]
        several = rows_of(self.run_tool("forecast", "run0", "--runs", "run1", "--runs", "run2", "--input", "own.csv",
                                        "--steps", "6", "--plot", "several.svg")[0])
        for step, row in enumerate(several):
            values = [run[step] for run in single]
            self.assertEqual(float(row["low"]), min(values))
            self.assertEqual(float(row["high"]), max(values))
            self.assertAlmostEqual(float(row["prediction"]), sum(values) / 3, places=6)
        self.assertIn("<polygon", (self.folder / "several.svg").read_text())
        self.train("other", experiment=changed(experiment, data__horizon=2))
        self.refused(["other: /data/horizon: expected 1, as run0 has, got 2"],
                     "forecast", "run0", "--runs", "other", "--input", "own.csv", "--steps", "2")

    def test_what_cannot_be_forecast_is_told_and_nothing_is_written(self):
        self.write("own.csv", "v,w\n" + "".join(f"{math.sin(0.3 * n):.5f},1\n" for n in range(200)))
        self.train("run", experiment=changed(PLANT, train__epochs=1, data={
            "task": "series", "path": "own.csv", "window": 20, "input": ["v"]}))
        self.train("other", experiment=changed(PLANT, train__epochs=1, data={
            "task": "mackey_glass", "length": 50, "train": 8, "valid": 2, "test": 2}))
        self.write("nameless.csv", "1\n2\n")
        before = self.snapshot()
        for words, arguments in (
                ("trained on a recording, the task \"series\"", ("other", "--input", "own.csv")),
                ("nameless.csv: /data/input: its columns have no names", ("run", "--input", "nameless.csv")),
                ("none.csv: cannot read: No such file", ("run", "--input", "none.csv")),
                ("--from: expected a row of own.csv with a row right before it, from 1 to 200, got '900'. The nearest: 200.",
                 ("run", "--input", "own.csv", "--from", "900")),
                ("from 1 to 200, got '12.5'. The nearest: 12 and 13.", ("run", "--input", "own.csv", "--from", "12.5")),
                ("from 1 to 200, got '-1e300'. The nearest: 1.", ("run", "--input", "own.csv", "--from", "-1e300")),
                ("--from: expected a date", ("run", "--input", "own.csv", "--from", "soon")),
                ("9223372036854775807 steps take about", ("run", "--input", "own.csv", "--steps", str(2**63 - 1))),
                ("--plot: expected a name that ends in .svg", ("run", "--input", "own.csv", "--plot", "a.jpg")),
                ("--output: expected a name that ends in .csv", ("run", "--input", "own.csv", "--output", "a.npy"))):
            with self.subTest(words):
                steps = () if "--steps" in arguments else ("--steps", "2")
                self.assertIn(words, self.run_tool("forecast", *arguments, *steps, code=2)[1])
        self.assertEqual(self.snapshot(), before)

    def test_a_forecast_begins_at_the_time_that_was_asked_for(self):
        """An hour is missing from row 100 on, and four from row 150 on. The hour after the last row is 2024-01-09 13:00."""
        hours = [n for n in range(205) if n != 100 and not 150 <= n < 154]
        times = [f"{FIRST + datetime.timedelta(hours=n):%Y-%m-%d %H:%M}" for n in hours]
        self.train_on("t,v\n" + "".join(f"{time},{math.sin(0.3 * n):.5f}\n" for time, n in zip(times, hours, strict=True)), changed(
            PLANT, train__epochs=1, data={"task": "series", "path": "own.csv", "time": "t", "window": 20}))
        for begin in ("2024-01-01 01:00", "2024-01-07 06:00", "2024-01-07 11:00", "2024-01-09 12:00", "2024-01-09 13:00"):
            with self.subTest(begin):
                out, err = self.run_tool("forecast", "run", "--input", "own.csv", "--from", begin, "--steps", "1")
                self.assertEqual(rows_of(out)[0]["time"], begin.replace(" ", "T") + ":00")
                self.assertEqual("gap has 1 row; the model was trained on sequences of 20" in err, begin[8:] in ("01 01:00", "07 11:00"))
        for begin, nearest in (("2024-01-01 00:00", "2024-01-01T01:00:00."),
                               ("2024-01-02 03:30", "2024-01-02T03:00:00 and 2024-01-02T04:00:00."),
                               ("2024-01-05 05:00", "2024-01-05T04:00:00 and 2024-01-05T06:00:00."),  # the row after a gap
                               ("2024-01-07 08:00", "2024-01-07T06:00:00 and 2024-01-07T11:00:00."),  # inside a gap
                               ("2024-01-09 14:00", "2024-01-09T13:00:00."), ("2031-01-01", "2024-01-09T13:00:00.")):
            with self.subTest(begin):
                message = self.run_tool("forecast", "run", "--input", "own.csv", "--from", begin, "--steps", "1", code=2)[1]
                self.assertIn(f"--from: expected a time of own.csv with a row right before it, "
                              f"from 2024-01-01T01:00:00 to 2024-01-09T13:00:00, got '{begin}'. The nearest: {nearest}\n", message)

    def test_times_that_are_numbers_have_no_exponents(self):
        self.train_on("t,v\n" + "".join(f"{100 * n},{math.sin(0.3 * n):.5f}\n" for n in range(1000)), changed(
            PLANT, train__epochs=1, data={"task": "series", "path": "own.csv", "time": "t", "time_format": "seconds", "window": 20}))
        rows = rows_of(self.run_tool("forecast", "run", "--input", "own.csv", "--steps", "2")[0])
        self.assertEqual([row["time"] for row in rows], ["100000", "100100"])

    def test_numbers_beyond_the_precision_are_refused(self):
        self.train_on("v\n" + "".join(f"{n % 5}\n" for n in range(300)), changed(
            PLANT, train__epochs=1, data={"task": "series", "path": "own.csv", "window": 20}))
        self.write("x.csv", "v\n" + "1\n" * 30 + "1e40\n" + "1\n" * 30)
        for args in (("predict", "--output", "-"), ("forecast", "--steps", "2")):
            self.refused(["x.csv: row 30: v is 1e+40, which is not finite in f32."], args[0], "run", "--input", "x.csv", *args[1:])

    def test_predictions_of_a_recording_with_dates_are_an_array_too(self):
        self.train_on("t,v\n" + "".join(f"2024-01-{1 + n // 24:02} {n % 24:02}:00,{n % 5}\n" for n in range(300)), changed(
            PLANT, train__epochs=1, data={"task": "series", "path": "own.csv", "time": "t", "window": 20}))
        self.run_tool("predict", "run", "--input", "own.csv", "--output", "y.npy")
        rows = rows_of(self.run_tool("predict", "run", "--input", "own.csv", "--output", "-")[0])
        values = npy_values((self.folder / "y.npy").read_bytes())
        self.assertEqual(len(values), 300)
        for value, row in zip(values, rows, strict=True):
            self.assertAlmostEqual(value, float(row["prediction"]), places=5)

    def test_a_forecast_does_not_see_what_it_forecasts(self):
        """The cell right before the first prediction is empty: a line from there would lead to the true value."""
        values = [round(math.sin(0.3 * n), 5) for n in range(300)]
        self.train_on("v\n" + "".join(f"{v}\n" for v in values), changed(PLANT, train__epochs=1, data={
            "task": "series", "path": "own.csv", "input": ["v"], "window": 20, "missing": "interpolate"}))
        forecasts = set()
        for truth in (-1, 0, 1):
            self.write("x.csv", "v,w\n" + "".join(f"{v},1\n" for v in values[:60]) + f",1\n,1\n{truth},1\n{truth},1\n")
            out = self.run_tool("forecast", "run", "--input", "x.csv", "--from", "62", "--steps", "1")[0]
            self.assertIn(f",{truth}", out)
            forecasts.add(out.splitlines()[1].rsplit(",", 1)[0])
        self.assertEqual(len(forecasts), 1)
        self.write("x.csv", "v,w\n" + ",1\n" * 30 + "1,1\n" * 9)
        self.refused(["x.csv: v has no number before the first prediction"], "forecast", "run", "--input", "x.csv", "--from", "30", "--steps", "1")

    def test_missing_targets_count_in_no_score(self):
        rows = [f"{n},{math.sin(0.3 * n):.5f}" for n in range(400)]
        self.write("own.csv", "t,v\n" + "\n".join(rows) + "\n")
        masked = changed(PLANT, train__epochs=2, metrics=["mae"], data={
            "task": "series", "path": "own.csv", "time": "t", "time_format": "seconds", "input": ["v"], "missing": "mask", "window": 20, "test": 0.15})
        self.train("run", experiment=masked)
        for n in range(345, 361, 2):
            rows[n] = f"{n},"
        self.write("holes.csv", "t,v\n" + "\n".join(rows[340:361]) + "\n")  # one window
        found = json.loads(self.run_tool("eval", "run", "--data", "holes.csv", "--split", "all", "--json")[0])
        inputs, held = [], 0.0
        for n in range(340, 360):
            known = n < 345 or n % 2 == 0
            held = round(math.sin(0.3 * n), 5) if known else held
            inputs += [held, float(known)]
        self.write("x.npy", npy((20, 2), inputs))
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy")
        predicted = npy_values((self.folder / "y.npy").read_bytes())
        errors = [abs(value - round(math.sin(0.3 * n), 5)) for n, value in zip(range(341, 361), predicted, strict=True)
                  if n < 345 or n % 2 == 0]
        self.assertEqual(len(errors), 12)
        self.assertAlmostEqual(found["mae"], sum(errors) / 12, places=6)
        self.assertEqual(len(rows_of(self.run_tool("forecast", "run", "--input", "holes.csv", "--steps", "3")[0])), 3)

    def test_predictions_along_a_recording_are_those_of_plain_numbers(self):
        numbers = [(round(math.sin(0.3 * n), 5), n % 7) for n in range(60)]
        for at, horizon in (("every_step", 1), ("every_step", 3), ("last_step", 2)):
            with self.subTest(at=at, horizon=horizon):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.train_on("v,w\n" + "".join(f"{a},{b}\n" for a, b in numbers) * 5, changed(
                    PLANT, train__epochs=1, model__readout__at=at,
                    data={"task": "series", "path": "own.csv", "input": ["v", "w"], "target": ["v"], "window": 10, "horizon": horizon}))
                self.write("named.csv", "w;v\n" + "".join(f"{b};{a}\n" for a, b in numbers))
                rows = rows_of(self.run_tool("predict", "run", "--input", "named.csv", "--output", "-")[0])
                first = horizon if at == "every_step" else 9 + horizon
                self.assertEqual([int(row["row"]) for row in rows], list(range(first, 60 + horizon)))
                self.assertEqual({row["horizon"] for row in rows}, {str(horizon)})
                for row in rows[::7] + rows[-1:]:
                    place = int(row["row"])
                    seen = numbers[:place - horizon + 1][0 if at == "every_step" else -10:]
                    self.write("x.csv", "".join(f"{a!r},{b!r}\n" for a, b in seen))
                    plain = self.run_tool("predict", "run", "--input", "x.csv", "--output", "-")[0].split()[-1]
                    self.assertEqual(float(row["prediction"]), float(plain))
                    self.assertEqual(row["truth"], repr(float(numbers[place][0])).removesuffix(".0") if place < 60 else "")
        self.assertIn("--plot: expected as --input a .csv recording", self.run_tool(
            "predict", "run", "--input", "x.csv", "--output", "y.csv", "--plot", "y.svg", code=2)[1])

    def test_a_list_of_files_is_one_recording_each(self):
        """A jump from 0 to 1000 between files is in no window: the model of each file's constant is exact."""
        for name, level in (("a", 0), ("b", 1000), ("c", 0), ("d", 1000)):
            self.write(f"{name}.csv", "v\n" + "".join(f"{level + 0.001 * (n % 2)}\n" for n in range(50)))
        listed = changed(PLANT, train__epochs=1, data={"task": "series", "path": ["a.csv", "b.csv", "c.csv", "d.csv"], "split": "series",
                                                       "input": ["v"], "window": 10, "stride": 1, "train": 0.5, "valid": 0.25, "test": 0.25})
        path = self.write("listed.json", listed)
        self.run_tool("data", path, "--out", "listed.npz")
        with zipfile.ZipFile(self.folder / "listed.npz") as archive:
            x, y = (npy_values(archive.read(f"train_{part}.npy")) for part in "xy")
            self.assertEqual(len(npy_values(archive.read("test_x.npy"))), 400)
        self.assertEqual(len(x), 2 * 40 * 10)
        for first in range(0, len(x), 10):
            whole = x[first:first + 10] + y[first:first + 10]
            self.assertLess(max(whole) - min(whole), 1)
        self.run_tool("train", path, "--out", "run", "--quiet")
        self.assertEqual(json.loads((self.folder / "run/experiment.json").read_text())["data"]["path"],
                         [f"../{name}.csv" for name in "abcd"])
        self.run_tool("eval", "run")
        for wrong, words in (([], "/data/path: expected at least one file"), (["a.csv", "a.csv"], "/data/path: expected a list of files"),
                             ([1], "/data/path: expected a list of files"), (7, "/data/path: expected a file, or a list of files"),
                             (["a.csv", "none.csv"], "none.csv: cannot read")):
            with self.subTest(words):
                self.assertIn(words, self.run_tool("check", self.write("wrong.json", changed(listed, data__path=wrong)), code=2)[1])

    def test_new_data_that_are_too_short_to_divide_are_told_their_way(self):
        self.train_on("v\n" + "".join(f"{math.sin(0.3 * n):.5f}\n" for n in range(400)), changed(
            PLANT, train__epochs=1, data={"task": "series", "path": "own.csv", "window": 20}))
        self.write("new.csv", "v\n" + "".join(f"{math.sin(0.3 * n):.5f}\n" for n in range(30)))
        message = self.run_tool("eval", "run", "--data", "new.csv", code=2)[1]
        self.assertIn("too short for", message)
        self.assertIn("--split all scores all of it", message)
        self.run_tool("eval", "run", "--data", "new.csv", "--split", "all")
        self.assertNotIn("--split all", self.run_tool("eval", "run", "--data", "none.csv", code=2)[1])

    def test_a_weights_file_names_no_folder_of_its_makers(self):
        self.train_on("v\n" + "".join(f"{math.sin(0.3 * n):.5f}\n" for n in range(400)), changed(
            PLANT, train__epochs=1, data={"task": "series", "path": "own.csv", "window": 20}))
        def path_in(weights):
            return json.loads(read_safetensors(weights)[0]["__metadata__"]["experiment"])["data"]["path"]
        self.assertNotIn(str(self.folder).encode(), self.weights("run"))
        self.assertEqual(path_in(self.weights("run")), "../own.csv")
        expected = self.run_tool("eval", "run")[0]
        (self.folder / "below").mkdir()
        shutil.move(self.folder / "run", self.folder / "below/run")  # found by experiment.json
        self.assertEqual(self.run_tool("eval", "below/run")[0], expected)
        shutil.move(self.folder / "own.csv", self.folder / "below/own.csv")  # found beside the run, as before
        self.assertEqual(self.run_tool("eval", "below/run")[0], expected)
        shutil.copy(self.folder / "below/run/weights.safetensors", self.folder / "below/alone.safetensors")
        self.assertIn("own.csv: cannot read", self.run_tool("eval", "below/alone.safetensors", code=2)[1])
        self.assertEqual(self.run_tool("eval", "below/alone.safetensors", "--data", "below/own.csv")[0], expected)
        self.assertIn("prediction", self.run_tool("forecast", "below/alone.safetensors", "--input", "below/own.csv", "--steps", "2")[0])

    def test_few_updates_an_epoch_are_warned_of(self):
        self.write("own.csv", "v\n" + "".join(f"{math.sin(0.3 * n):.5f}\n" for n in range(400)))
        experiment = changed(PLANT, train__epochs=1, data={"task": "series", "path": "own.csv", "window": 20, "stride": 20})
        warning = "warning: an epoch has 2 updates, from 13 sequences"
        self.assertIn(warning, self.run_tool("train", self.write("few.json", experiment), "--out", "few")[1])
        experiment["data"]["stride"] = "auto"
        self.assertNotIn("warning", self.run_tool("train", self.write("more.json", experiment), "--out", "more")[1])


if __name__ == "__main__":
    main()
