"""Numbers with names, "params" of cells of equations: their bounds, scales, units, gradients and training."""

import json
import math

from tool import ToolTest, changed, main, npy, npz

#: y[n + 1] = y[n] + rate * (level - y[n]) * u, a reservoir that fills.
CELL = {
    "params": {"rate": {"start": 0.05, "min": 0, "max": 1, "unit": "1/day"}, "level": {"start": 1, "min": 0, "unit": "m"},
               "offset": {"start": 0.25, "train": False}},
    "state": {"y": [1]},
    "step": ["y' = y + rate * (level - y + offset) * sum(x)"],
    "output": "y'"}
EXPERIMENT = {
    "name": "reservoir", "data": {"task": "arrays", "path": "fill.npz", "layout": "time_first", "train": 0.5, "valid": 0.25, "test": 0.25},
    "cells": {"reservoir": CELL},
    "model": {"layers": [{"cell": "reservoir", "units": 1}], "readout": {"units": 1, "at": "every_step"}},
    "loss": "mse", "optimizer": {"type": "adam", "lr": 0.05}, "train": {"epochs": 2, "batch": 8, "precision": "f64"}}


class ParamsTest(ToolTest):
    def setUp(self):
        super().setUp()
        inputs, levels = [], []
        for sequence in range(8):
            level = 0.0
            for step in range(30):
                inputs.append(0.5 + 0.5 * math.sin(0.3 * step * (1 + sequence)))
                level += 0.2 * (2.25 - level) * inputs[-1]
                levels.append(level)
        self.write("fill.npz", npz(X=npy([8, 30, 1], inputs), y=npy([8, 30, 1], levels)))

    def params(self, path):
        described = json.loads(self.run_tool("inspect", path, "--json")[0])
        return {row["name"]: row for row in described["parameters"]}

    def test_gradients_are_exact(self):
        self.write("e.json", EXPERIMENT)
        found = json.loads(self.run_tool("check", "e.json", "--gradients", "--json")[0])
        self.assertLess(found["max_rel_error"], 1e-7)
        self.assertGreaterEqual(found["compared"], 4)

    def test_inspect_shows_the_numbers_themselves_and_training_moves_them_within_bounds(self):
        self.write("e.json", EXPERIMENT)
        before = self.params("e.json")
        self.assertEqual(before["layers.0.rate"]["value"], 0.05)
        self.assertEqual(before["layers.0.rate"]["unit"], "1/day")
        self.assertIn("1 m", self.run_tool("inspect", "e.json")[0])
        self.run_tool("train", "e.json", "--out", "run", "--set", "train.epochs=60")
        after = self.params("run")
        self.assertEqual(after["layers.0.offset"]["value"], 0.25)
        self.assertNotEqual(after["layers.0.level"]["value"], 1)
        self.assertTrue(0 < after["layers.0.rate"]["value"] < 1)
        self.assertNotEqual(after["layers.0.rate"]["value"], 0.05)
        # A step of Adam with lr moves each number by lr on its scale.
        self.run_tool("train", "e.json", "--out", "one", "--set", "train.epochs=1")
        rate = self.params("one")["layers.0.rate"]["value"]
        self.assertAlmostEqual(abs(math.log(rate / (1 - rate)) - math.log(0.05 / 0.95)), 0.05, 6)
        self.assertAlmostEqual(abs(math.log(self.params("one")["layers.0.level"]["value"])), 0.05, 6)

    def test_errors_name_the_place(self):
        def refused(words, **params):
            self.write("bad.json", changed(EXPERIMENT, cells__reservoir__params={**CELL["params"], **params}))
            self.refused(words, "check", "bad.json")
        refused(["/cells/reservoir/params/rate/start", "between 0 and 1, got 2"], rate={"start": 2, "min": 0, "max": 1})
        refused(["/cells/reservoir/params/rate/max", "above min, 1"], rate={"start": 1, "min": 1, "max": 0})
        refused(["/cells/reservoir/params/rate/scale", "did you mean 'logit'"], rate={"start": 1, "scale": "logti"})
        refused(["/cells/reservoir/state/y", "the name is taken; it is a param"], y=1)
        refused(["/cells/reservoir/params/rate/strat", "did you mean 'start'"], rate={"strat": 1})


if __name__ == "__main__":
    main()
