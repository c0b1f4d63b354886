"""A model of several series gives the same numbers of a series, known or new, in all commands, streams and exports."""

import json
import math
import random
import shutil
import subprocess
import unittest

from alignment_test import C_PROGRAM
from tool import RECORDING, ToolTest, changed, main, npy, npy_values, rows_of

try:
    import numpy
    import onnxruntime
    MISSING = ""
except ImportError as error:
    MISSING = f"not found: {error.name} (pip install onnxruntime numpy)"

WINDOW, ROWS = 12, 90
LEVELS = {"north": 1.0, "south west": 40.0, "Köln": 900.0}
PANEL = changed(RECORDING, data={"task": "series", "path": "own.csv", "series": "id", "time": "t", "time_format": "seconds", "target": "y",
                                 "past": "v", "future": "w", "window": WINDOW}, model__readout={"at": "last_step"}, metrics=["rmse"], train__epochs=3)
INPUTS = ("y", "v", "w", "w+")  # the numbers of a step


def series_of(level, seed):
    """Rows {y, v, w} of a series: y is lifted by w of the same row."""
    draw, rows, y = random.Random(seed), [], 0.0
    for n in range(ROWS):
        w = int(draw.random() < 0.3)
        y = 0.7 * y + 2 * w + math.sin(n / 3)
        rows.append({"y": round(level * (3 + y), 5), "v": round(draw.gauss(0, 1), 5), "w": w})
    return rows


def table(series):
    return "id,t,y,v,w\n" + "".join(f"{name},{100 * n},{row['y']},{row['v']},{row['w']}\n" for name, rows in series.items() for n, row in enumerate(rows))


class PanelNumbersTest(ToolTest):
    def setUp(self):
        super().setUp()
        known = {name: series_of(level, seed) for seed, (name, level) in enumerate(LEVELS.items())}
        self.write("own.csv", table(known))
        self.series = {**known, "new one": series_of(7.0, 9)}

    def windows(self, rows):
        """The inputs of each window, in the order of a step's numbers, and the target of the row behind it."""
        steps = [[row["y"], row["v"], row["w"], later["w"]] for row, later in zip(rows, rows[1:])]
        return [(steps[n - WINDOW:n], rows[n]["y"]) for n in range(WINDOW, ROWS)]

    def predictions(self, name):
        """Of the table with one series: the prediction of each row, counted from 0."""
        self.write("one.csv", table({name: self.series[name]}))
        rows = rows_of(self.run_tool("predict", "run", "--input", "one.csv", "--output", "-")[0])
        return {int(row["time"]) // 100: float(row["prediction"]) for row in rows}

    def assert_same(self, found, wanted, level):
        """Within 1e-6 of the largest number, as exports promise."""
        self.assertEqual(len(found), len(wanted))
        self.assertGreater(max(wanted) - min(wanted), 0.1 * level)
        largest = max(map(abs, wanted))
        for a, b in zip(found, wanted, strict=True):
            self.assertAlmostEqual(a / largest, b / largest, delta=1e-6)

    def check_series(self, name, level, *series):
        """`series` are the arguments that say whose plain numbers are."""
        windows = self.windows(self.series[name])
        predicted = self.predictions(name)
        wanted = [predicted[row] for row in sorted(predicted) if WINDOW <= row < ROWS]
        windows = windows[-len(wanted):]
        self.assertGreater(len(wanted), ROWS - 2 * WINDOW - 2)
        self.write("x.npy", npy((len(windows), WINDOW, 4), [number for steps, _ in windows for step in steps for number in step]))
        for stream in ((), ("--stream",)):
            self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy", *series, *stream)
            found = npy_values((self.folder / "y.npy").read_bytes())
            self.assert_same(found[-len(wanted):], wanted, level)
        scores = json.loads(self.run_tool("eval", "run", "--data", "one.csv", "--split", "all", "--json")[0])
        squares = [(a - y) ** 2 for a, (_, y) in zip(wanted, windows, strict=True)]
        self.assertAlmostEqual(scores["rmse"] / math.sqrt(sum(squares) / len(squares)), 1, delta=1e-5)
        ahead = []
        for row in (60, 75, ROWS - 1):
            one = rows_of(self.run_tool("forecast", "run", "--input", "one.csv", "--steps", "1", "--from", f"{100 * row}")[0])
            ahead.append((float(one[0]["prediction"]), predicted[row]))
        self.assert_same(*zip(*ahead), level)
        self.export(windows, wanted, level, *series)

    def export(self, windows, wanted, level, *series):
        if shutil.which("gcc"):
            self.run_tool("export", "run", "--to", "c99", "--output", "model.c", *series)
            self.write("main.c", C_PROGRAM)
            subprocess.run(["gcc", "main.c", "-O1", "-o", "model", "-lm"], cwd=self.folder, check=True)
            found = []
            for steps, _ in windows[::10]:
                lines = "".join(" ".join(map(str, step)) + "\n" for step in steps)
                done = subprocess.run(["./model"], cwd=self.folder, input=lines, capture_output=True, text=True, check=True)
                found.append(float(done.stdout.split()[-1]))
            self.assert_same(found, wanted[::10], level)
        if not MISSING:
            self.run_tool("export", "run", "--to", "onnx", "--output", "m.onnx", *series)
            session = onnxruntime.InferenceSession(str(self.folder / "m.onnx"), providers=["CPUExecutionProvider"])
            x = numpy.array([steps for steps, _ in windows], numpy.float32)
            self.assert_same(session.run(None, {session.get_inputs()[0].name: x})[0].ravel().tolist(), wanted, level)

    def test_series_that_are_scaled_by_themselves(self):
        self.train("run", experiment=PANEL)
        for name, level in LEVELS.items():
            with self.subTest(name):
                self.check_series(name, level, "--series", name)

    def test_a_new_series_of_a_model_with_one_scaling(self):
        self.train("run", experiment=changed(PANEL, data__normalize="all", data__normalize_target="all"))
        self.check_series("new one", 900)

    def test_a_new_series_is_scaled_alike_by_predict_and_eval(self):
        self.train("run", experiment=PANEL)
        predicted = self.predictions("new one")
        scores = json.loads(self.run_tool("eval", "run", "--data", "one.csv", "--split", "all", "--json")[0])
        self.assertEqual(list(predicted), list(range(WINDOW, ROWS)))
        # Windows of eval begin behind the rows that scale the series.
        errors = [predicted[n] - self.series["new one"][n]["y"] for n in range(2 * WINDOW, ROWS)]
        self.assertAlmostEqual(scores["rmse"] / math.sqrt(sum(error ** 2 for error in errors) / len(errors)), 1, delta=1e-5)

    @unittest.skipIf(MISSING, MISSING)
    def test_onnx_is_compared(self):
        """Says where the packages are not there."""


if __name__ == "__main__":
    main()
