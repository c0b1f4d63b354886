"""lagtape analyze: the keys that scripts read, charts, and plain refusals."""

import json
import unittest
import xml.etree.ElementTree

from tool import CLASSIFIER, EXPERIMENT, ToolTest, changed, main

SMALL = changed(EXPERIMENT, data__length=60)
TOKENS = {  # every token is the number 1, so that h after step n is 2 - 0.5 ** (n - 1)
    "name": "tokens",
    "data": {"task": "random", "length": 30, "tokens": 5, "classes": 2, "train": 4, "valid": 2, "test": 2},
    "cells": {"leaky": {"weights": {}, "state": {"h": "input"}, "step": ["h' = 0.5 * h + x"], "output": "h'"}},
    "model": {"layers": [{"layer": "embedding", "units": 1, "init": {"E": "ones"}}, {"cell": "leaky", "units": 1}],
              "readout": {"at": "last_step"}},
    "loss": "cross_entropy",
}


class AnalyzeTest(ToolTest):
    def json_of(self, *args):
        return json.loads(self.run_tool("analyze", *args, "--json")[0])

    def check_curve(self, curve, steps):
        self.assertEqual(set(curve), {"mean", "min", "max"})
        for low, mean, high in zip(curve["min"], curve["mean"], curve["max"]):
            self.assertTrue(0 <= low <= mean * (1 + 1e-12) and mean <= high * (1 + 1e-12))
        self.assertEqual([len(values) for values in curve.values()], [steps] * 3)

    def test_the_keys_that_scripts_read(self):
        path = self.write("experiment.json", SMALL)
        found = self.json_of(path, "--sequences", 3)
        self.assertEqual((found["name"], found["split"], found["sequences"]), ("small", "test", 3))
        steps = found["steps"]
        self.assertEqual(found["lengths"], [steps] * 3)
        layer, = found["layers"]
        self.assertEqual((layer["layer"], layer["name"], layer["width"]), (0, "tau_gru", 8))
        state, = layer["states"]
        self.assertEqual((state["name"], state["width"]), ("h", 8))
        for curve in (state["norm"], state["gradient"], state["last_step_gradient"], layer["jacobian"]["frobenius"],
                      layer["jacobian"]["spectral"]):
            self.check_curve(curve, steps)
        self.assertEqual((layer["jacobian"]["method"], layer["jacobian"]["projections"]), ("exact", 8))
        self.assertTrue(0 < state["gradient_reach"] < steps)
        self.assertTrue(0 < layer["jacobian"]["reach"] < steps)
        self.assertEqual([value["name"] for value in layer["values"]], ["g", "a"])
        for value in layer["values"]:
            self.assertEqual(value["count"], 3 * steps * 8)
            self.assertEqual(sum(value["counts"]), value["count"])
            self.assertEqual(len(value["edges"]), len(value["counts"]) + 1)
            self.assertTrue(value["min"] <= value["quantiles"]["0.05"] <= value["quantiles"]["0.5"]
                            <= value["quantiles"]["0.95"] <= value["max"])
            self.assertEqual(len(value["unit_means"]), 8)
            self.assertLessEqual({"fixed", "not_finite", "mean", "scale", "peaks", "peak_shares"}, value.keys())

    def test_options_limit_what_is_looked_at(self):
        path = self.write("experiment.json", SMALL)
        found = self.json_of(path, "--split", "valid", "--sequences", 2, "--steps", 9, "--bins", 7, "--projections", 3,
                             "--values", "a")
        self.assertEqual((found["split"], found["sequences"], found["steps"]), ("valid", 2, 9))
        layer, = found["layers"]
        self.assertEqual(layer["jacobian"]["method"], "random projections")
        self.assertNotIn("spectral", layer["jacobian"])
        self.assertEqual([(value["name"], len(value["counts"])) for value in layer["values"]], [("a", 7)])

    def test_what_follows_the_names_of_values_is_the_experiment(self):
        path = self.write("experiment.json", SMALL)
        out, _ = self.run_tool("analyze", "--values", "g,a", path)
        self.assertRegex(out, r"\n  g +mean .*; peaks [0-9.]+ \([0-9]+ %\)")

    def test_bounds_stand_beside_what_is_measured(self):
        path = self.write("experiment.json", SMALL)
        plain, = self.json_of(path)["layers"]
        found = self.json_of(path, "--bounds", "--projections", 1)
        layer, = found["layers"]
        bounds = layer.pop("bounds")
        layer["jacobian"]["projections"] = plain["jacobian"]["projections"]
        self.assertEqual(layer, plain)  # every row is followed, whatever --projections says
        jacobian, states = bounds["jacobian"], bounds["states"]
        self.check_curve(jacobian["row_sum"], found["steps"])
        self.assertIn("Proposition 3", jacobian["source"])
        self.assertTrue(all(map(lambda most, bound: most <= bound * (1 + 1e-12), jacobian["row_sum"]["max"], jacobian["bound"])))
        self.assertIn("Lemma 1", states["source"])
        state, = states["largest"]
        self.assertEqual((state["name"], state["bound"]), ("h", 2))
        self.assertTrue(0 < state["largest"] < 2)
        shown = self.run_tool("analyze", path, "--bounds")[0]
        for words in ("Bound of the Jacobian: Proposition 3", "  2-norm of h  ", "  Largest absolute entry of h "):
            self.assertIn(words, shown)
        self.assertNotIn("|h|", shown)
        other = self.write("lstm.json", changed(SMALL, model__layers=[{"cell": "lstm", "units": 4}]))
        bounds = self.json_of(other, "--bounds")["layers"][0]["bounds"]
        self.assertIsNone(bounds["jacobian"]["bound"])
        self.assertEqual([state["bound"] for state in bounds["states"]["largest"]], [None, None])
        self.assertIn("tau_gru, lem and unicornn", self.run_tool("analyze", other, "--bounds")[0])

    def test_a_run_is_looked_into_as_it_was_trained(self):
        self.train("run", experiment=CLASSIFIER)
        trained = self.json_of("run")
        fresh = self.json_of(self.write("fresh.json", CLASSIFIER))
        self.assertNotEqual(trained["layers"][0]["states"], fresh["layers"][0]["states"])
        self.assertNotIn("last_step_gradient", trained["layers"][0]["states"][0])
        self.assertEqual(trained, self.json_of("run", "--threads", 1))
        self.assertIn("Jacobian", self.run_tool("analyze", "run")[0])

    def test_tokens_are_looked_up_first(self):
        layer, = self.json_of(self.write("tokens.json", TOKENS))["layers"]
        self.assertEqual((layer["layer"], layer["name"]), (1, "leaky"))
        for lag in range(30):
            self.assertAlmostEqual(layer["jacobian"]["frobenius"]["mean"][lag], 0.5 ** lag, places=14)
            self.assertAlmostEqual(layer["states"][0]["norm"]["mean"][lag], 2 - 0.5 ** (29 - lag), places=14)
        around = {"layer": "bidirectional", "cell": {"cell": "gru", "units": 2}}
        both = changed(TOKENS, model__layers=[TOKENS["model"]["layers"][0], around])
        self.assertIn("bidirectional", self.run_tool("analyze", self.write("both.json", both), code=2)[1])

    def test_the_model_of_a_run_stays_as_it_was_trained(self):
        self.train("run", experiment=CLASSIFIER)
        self.assertIn("/model", self.run_tool("analyze", "run", "--set", "model.layers.0.units=5", code=2)[1])
        self.run_tool("analyze", "run", "--set", "data.test=2")

    def test_values_of_written_cells_go_by_their_equations(self):
        cell = {"weights": {"W": ["units", "units"], "U": ["units", "input"], "theta": ["units"]},
                "lags": {"theta": "9"}, "state": {"h": "units"},
                "step": ["gate = sigmoid(W @ h[-theta])", "h' = (1 - gate) * h + gate * tanh(U @ x)"], "output": "h'"}
        path = self.write("own.json", changed(SMALL, cells={"own": cell}, model__layers=[{"cell": "own", "units": 4}]))
        values = self.json_of(path)["layers"][0]["values"]
        self.assertEqual([(value["name"], value["fixed"]) for value in values], [("gate", False), ("theta", True)])
        self.assertEqual(values[1]["count"], 4)

    def test_charts_are_documents(self):
        path = self.write("experiment.json", SMALL)
        (self.folder / "there").mkdir()
        for plot, prefix in (("out/", "out/"), ("there", "there/"), ("p", "p-")):
            self.run_tool("analyze", path, "--sequences", 1, "--plot", plot)
            for name in ("gradients", "jacobians", "norms", "values-0-g"):
                root = xml.etree.ElementTree.parse(self.folder / f"{prefix}{name}.svg").getroot()
                self.assertTrue(root.tag.endswith("svg"))
                self.assertIn("small", "".join(root.itertext()))

    def test_what_cannot_be_looked_into_is_refused_in_one_message(self):
        path = self.write("experiment.json", SMALL)
        before = self.snapshot()
        for args, words in ((["--split", "tset"], ["tset", "test"]),
                            (["--set", "data.test=0"], ["test", "no sequences"]),
                            (["--values", "q"], ["'q'", "g, a"]),
                            (["--steps", "0"], ["--steps"]),
                            (["--bins", "2000000"], ["--bins", "10000"]),
                            (["--sequences", "x"], ["--sequences"]),
                            (["--plot", "experiment.json/x", "--sequences", "1"], ["experiment.json"])):
            with self.subTest(args):
                out, err = self.run_tool("analyze", path, *args, code=2)
                self.assertEqual((out, len(err.splitlines())), ("", 1), err)
                for word in words:
                    self.assertIn(word, err)
        self.run_tool("analyze", "gone.json", code=2)
        self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    main()
