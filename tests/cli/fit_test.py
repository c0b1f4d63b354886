"""`lagtape fit`: params of equations fitted to data, with standard errors, intervals, correlations and profiles."""

import json
import math
import random
import unittest

from tool import EXPERIMENT as NETWORK, ToolTest, changed, main, npy, npz

LINE = {
    "name": "line", "data": {"task": "arrays", "path": "line.npz", "layout": "time_first", "train": 1, "valid": 0, "test": 0},
    "cells": {"line": {"params": {"a": 0.5, "b": {"start": 0.1, "unit": "m/s"}}, "state": {"y": [1]},
                       "step": ["y' = a + b * x"], "output": "y'"}},
    "model": {"layers": [{"cell": "line", "units": 1}], "readout": "none"}, "loss": "mse"}
RESERVOIR = changed(LINE, cells={"line": {
    "params": {"rate": {"start": 0.05, "min": 0, "max": 1, "unit": "1/day"}, "level": {"start": 1, "min": 0},
               "offset": {"start": 0.25, "train": False}},
    "state": {"y": [1]}, "step": ["y' = y + rate * (level - y + offset) * x"], "output": "y'"}})
DELAY = changed(LINE, cells={"line": {
    "params": {"gain": 1, "tau": {"start": 5.5, "min": 1, "max": 20}}, "state": {"u": [1]},
    "step": ["u' = x"], "output": "gain * u[-tau]"}})


class FitTest(ToolTest):
    def fit(self, experiment, *options):
        self.write("e.json", experiment)
        return json.loads(self.run_tool("fit", "e.json", "--json", *options)[0])

    def write_data(self, inputs, targets, rows=1):
        steps = len(inputs) // rows
        self.write("line.npz", npz(X=npy([rows, steps, 1], inputs), y=npy([rows, steps, 1], targets)))

    def line(self, noise=0.1, count=40):
        draw = random.Random(3)
        x = [draw.uniform(-1, 3) for _ in range(count)]
        y = [2 - 0.7 * v + draw.gauss(0, noise) for v in x]
        self.write_data(x, y)
        return x, y

    def test_a_line_has_the_estimates_errors_and_intervals_of_its_closed_form(self):
        x, y = self.line()
        found = self.fit(LINE, "--profile", "b")
        n, mx, my = len(x), sum(x) / len(x), sum(y) / len(y)
        sxx = sum((v - mx) ** 2 for v in x)
        b = sum((v - mx) * (w - my) for v, w in zip(x, y)) / sxx
        a = my - b * mx
        variance = sum((w - a - b * v) ** 2 for v, w in zip(x, y)) / (n - 2)
        error = math.sqrt(variance / sxx)
        self.assertAlmostEqual(found["params"]["a"]["estimate"], a, 9)
        self.assertAlmostEqual(found["params"]["b"]["estimate"], b, 9)
        self.assertAlmostEqual(found["params"]["b"]["standard_error"], error, 9)
        self.assertAlmostEqual(found["params"]["a"]["standard_error"], math.sqrt(variance * (1 / n + mx * mx / sxx)), 9)
        t = 2.0243941640  # of 38 degrees of freedom
        self.assertAlmostEqual(found["params"]["b"]["low"], b - t * error, 7)
        self.assertAlmostEqual(found["params"]["b"]["high"], b + t * error, 7)
        self.assertAlmostEqual(found["profiles"]["b"]["low"], b - t * error, 6)
        self.assertAlmostEqual(found["profiles"]["b"]["high"], b + t * error, 6)
        self.assertEqual(found["params"]["b"]["unit"], "m/s")
        self.assertAlmostEqual(found["correlations"]["a"]["b"], -mx / math.sqrt(sum(v * v for v in x) / n), 8)
        self.assertEqual(found["notes"], [])
        self.assertEqual(found["readings"], n)
        table = self.run_tool("fit", "e.json", "--level", "0.5")[0]
        self.assertIn("50 % interval", table)
        self.assertIn("m/s", table)

    def test_missing_readings_count_in_nothing(self):
        x, y = self.line()
        whole = self.fit(LINE)
        rows = [f"{v!r},{w!r}" for v, w in zip(x, y)] + [f"{v},"for v in range(100, 105)]
        self.write("line.csv", "u,y\n" + "\n".join(rows) + "\n")
        found = self.fit(changed(LINE, data={
            "task": "series", "path": "line.csv", "time": None, "input": ["u"], "target": ["y"], "window": len(rows), "horizon": 0,
            "every_step": True, "missing": "hold", "train": 1, "valid": 0, "test": 0, "normalize": False, "normalize_target": False}))
        self.assertEqual(found["readings"], whole["readings"])
        self.assertAlmostEqual(found["params"]["b"]["estimate"], whole["params"]["b"]["estimate"], 9)

    def test_a_recurrence_is_recovered_within_its_bounds(self):
        inputs, levels = [], []
        for sequence in range(4):
            level = 0.0
            for step in range(30):
                inputs.append(0.5 + 0.5 * math.sin(0.3 * step * (1 + sequence)))
                level += 0.2 * (2.25 - level) * inputs[-1]
                levels.append(level)
        self.write_data(inputs, levels, 4)
        found = self.fit(RESERVOIR, "--output", "fitted.safetensors")
        self.assertEqual(list(found["params"]), ["rate", "level"])
        self.assertAlmostEqual(found["params"]["rate"]["estimate"], 0.2, 9)
        self.assertAlmostEqual(found["params"]["level"]["estimate"], 2, 9)
        described = json.loads(self.run_tool("inspect", "fitted.safetensors", "--json")[0])
        values = {row["name"]: row.get("value") for row in described["parameters"]}
        self.assertAlmostEqual(values["layers.0.rate"], 0.2, 9)
        self.assertEqual(values["layers.0.offset"], 0.25)

    def test_a_fit_is_a_run_like_any_other(self):
        inputs, levels = [], []
        for step in range(60):
            level = levels[-1] if step % 30 else 0.0
            inputs.append(0.5 + 0.5 * math.sin(0.3 * step))
            levels.append(level + 0.2 * (2.25 - level) * inputs[-1])
        self.write_data(inputs, levels, 2)
        self.write("fit.json", RESERVOIR)
        self.run_tool("fit", "fit.json", "--out", "run")
        self.refused(["exists already"], "fit", "fit.json", "--out", "run")
        self.write("x.csv", "".join(f"{u!r}\n" for u in inputs[:30]))
        self.run_tool("predict", "run", "--input", "x.csv", "--output", "y.csv")
        found = [float(line.split(",")[-1]) for line in (self.folder / "y.csv").read_text().split() if line[0] in "-0123456789"]
        self.assertEqual(len(found), 30)
        for a, b in zip(found, levels):
            self.assertAlmostEqual(a, b, 8)
        self.run_tool("predict", "run", "--input", "x.csv", "--output", "s.csv", "--stream")
        self.assertEqual((self.folder / "s.csv").read_text(), (self.folder / "y.csv").read_text())
        self.assertLess(json.loads(self.run_tool("eval", "run", "--split", "train", "--json")[0])["loss"], 1e-15)
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c")
        self.assertIn("run", self.run_tool("runs", ".")[0])

    def test_a_trained_lag_is_found(self):
        draw, smooth = random.Random(1), [0.0]
        for _ in range(300):
            smooth.append(0.95 * smooth[-1] + draw.gauss(0, 0.3))
        tau = 7.3
        whole, part = int(tau), tau - int(tau)
        # u[-tau] before a step is the input tau + 1 steps before.
        at = lambda n: smooth[n] if n >= 0 else 0.0
        self.write_data(smooth, [1.5 * ((1 - part) * at(n - whole - 1) + part * at(n - whole - 2)) for n in range(len(smooth))])
        found = self.fit(DELAY)
        self.assertAlmostEqual(found["params"]["tau"]["estimate"], tau, 7)
        self.assertAlmostEqual(found["params"]["gain"]["estimate"], 1.5, 7)

    def test_a_robust_loss_is_not_drawn_to_outliers(self):
        x, y = self.line(0.02)
        for i in (3, 17, 31):
            y[i] += 30
        self.write_data(x, y)
        self.assertGreater(abs(self.fit(LINE)["params"]["a"]["estimate"] - 2), 0.2)
        for loss in ("huber", "soft_l1"):
            params = self.fit(LINE, "--robust", loss)["params"]
            self.assertLess(abs(params["a"]["estimate"] - 2), 0.05)

    def test_what_the_data_do_not_fix_is_said(self):
        self.line()
        both = changed(LINE)
        both["cells"]["line"]["params"]["c"] = 1
        both["cells"]["line"]["step"] = ["y' = a + c + b * x"]
        found = self.fit(both)
        self.assertIn("a combination of a, c", " ".join(found["notes"]))
        self.assertIsNone(found["condition"])
        self.assertIsNone(found["params"]["a"]["standard_error"])
        self.assertGreater(found["params"]["b"]["standard_error"], 0)

    def test_series_share_params_and_have_their_own(self):
        "Two tanks with one rate and levels of their own, out of two files or a file with a column of names; by hand each tank has its own fit."
        rows = {}
        for name, level in (("a", 2.0), ("b", 0.7)):
            y, rows[name] = 0.0, []
            for step in range(40):
                u = 0.5 + 0.5 * math.sin(0.3 * step)
                y += 0.2 * (level + 0.25 - y) * u
                rows[name].append(f"{u!r},{y!r}")
            self.write(f"{name}.csv", "u,y\n" + "\n".join(rows[name]) + "\n")
        self.write("both.csv", "id,u,y\n" + "".join(f"{name},{row}\n" for name in rows for row in rows[name]))
        data = {"task": "series", "time": None, "input": ["u"], "target": ["y"], "window": 40, "stride": 40, "horizon": 0, "every_step": True,
                "train": 1, "valid": 0, "test": 0, "normalize": False, "normalize_target": False}
        for where, names in (({"path": ["a.csv", "b.csv"]}, ["a", "b"]), ({"path": "both.csv", "series": "id"}, ["a", "b"])):
            shared = changed(RESERVOIR, data={**data, **where}, fit={"own": "level"})
            found = self.fit(shared)
            self.assertEqual(sorted(found["params"]), sorted(["rate", *(f"level of {name}" for name in names)]))
            self.assertAlmostEqual(found["params"]["rate"]["estimate"], 0.2, 7)
            for name, level in zip(names, (2.0, 0.7)):
                self.assertAlmostEqual(found["params"][f"level of {name}"]["estimate"], level, 7)
            self.assertEqual([trace["file"] for trace in found["data"]], names)
            self.assertEqual(found["readings"], 80)
        self.refused(["--out", "each series' own"], "fit", "e.json", "--out", "run")
        self.write("first.json", json.dumps(self.fit(shared)))
        only = self.fit(changed(RESERVOIR, data={**data, "path": "a.csv"}, fit={"only": ["level"], "deviation": 0.1}), "--start", "first.json")
        self.assertEqual(list(only["params"]), ["level"])
        self.assertAlmostEqual(only["params"]["level"]["estimate"], 2, 7)  # with the rate of the first fit
        self.assertGreater(only["params"]["level"]["standard_error"], 1e-3)  # of readings with a deviation of 0.1
        self.refused(["/fit/own", "unknown param 'levels'", "did you mean 'level'"], "fit", "e.json", "--set", "fit.own=levels", "--set", 'data.path=["a.csv","b.csv"]')
        self.refused(["/fit/own", "the data have one"], "fit", "e.json", "--set", "fit.own=level")
        self.refused(["/fit/shoot", "continuous time"], "fit", "e.json", "--set", "fit.shoot=5")
        self.refused(["/fit/deviation", "a number above 0", "'u'"], "fit", "e.json", "--set", "fit.deviation=u")

    def test_errors(self):
        self.line()
        self.write("e.json", LINE)
        self.refused(["unknown param 'bb'", "did you mean 'b'"], "fit", "e.json", "--profile", "bb")
        self.refused(["--level", "between 0 and 1"], "fit", "e.json", "--level", "95")
        self.write("network.json", NETWORK)
        self.refused(["at most 64 numbers"], "fit", "network.json")
        self.write("few.json", changed(LINE, data={"task": "arrays", "path": "few.npz", "layout": "time_first", "train": 1, "valid": 0, "test": 0}))
        self.write("few.npz", npz(X=npy([1, 1, 1], [1.0]), y=npy([1, 1, 1], [1.0])))
        self.refused(["as many residuals as numbers"], "fit", "few.json")
        self.write("wide.json", changed(LINE, cells__line__output=["y'", "y'"]))
        self.refused(["/model/readout", "2 outputs"], "check", "wide.json")


if __name__ == "__main__":
    main()
