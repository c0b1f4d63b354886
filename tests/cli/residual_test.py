"""Networks that learn what a linear model or the value a season before leaves ("residual")."""

import datetime
import json
import math
import random
import struct
import subprocess
import unittest

from tool import ToolTest, changed, main, npy, npy_values, read_safetensors, rows_of, slow

try:
    import numpy
    import onnxruntime
    MISSING = ""
except ImportError as error:
    MISSING = f"not found: {error.name} (pip install onnxruntime numpy)"

SMALL = {
    "name": "small",
    "data": {"task": "series", "path": "own.csv", "target": ["v"], "residual": "linear", "window": 60},
    "model": {"layers": [{"cell": "gru", "units": 8}, {"cell": "lem", "units": 6}], "readout": {"at": "every_step"}},
    "optimizer": {"type": "adam", "lr": 0.003},
    "train": {"epochs": 1, "batch": 8},
}
STILL = {"optimizer__lr": 1e-30}  # a training that changes nothing
RUNNER = """#include <stdio.h>
#include "model.c"
int main(void) {
  static model_state state;
  float in[model_INPUTS], out[model_OUTPUTS];
  model_init(&state);
  while (fread(in, sizeof(float), model_INPUTS, stdin) == model_INPUTS) {
    model_step(&state, in, out);
    fwrite(out, sizeof(float), model_OUTPUTS, stdout);
  }
  return 0;
}
"""


class ResidualTest(ToolTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(4)
        numbers = [0.0, 0.0]
        for _ in range(4000):  # linear in its lags, and a small part that is not
            numbers.append(round(1.5 * numbers[-1] - 0.8 * numbers[-2] + 0.5 * math.sin(2 * numbers[-1]) + draw.gauss(0, 0.5), 5))
        self.write("own.csv", "v\n" + "".join(f"{number}\n" for number in numbers))

    def scores(self, run, steps="1"):
        return json.loads(self.run_tool("eval", run, "--horizon", steps, "--json")[0])["targets"]["v"]["overall"]

    def tensor(self, run, name):
        header, buffer = read_safetensors(self.weights(run))
        return buffer[slice(*header[name]["data_offsets"])]

    @slow
    def test_the_network_begins_as_the_ridge_regression(self):
        self.train("still", experiment=changed(SMALL, **STILL))
        begun = self.scores("still")
        self.assertAlmostEqual(begun["model"]["rmse"] / begun["ridge"]["rmse"], 1, delta=0.01)
        self.train("first", experiment=SMALL)
        self.assertLessEqual(self.scores("first")["model"]["rmse"], 1.01 * begun["ridge"]["rmse"])
        self.train("plain", experiment=changed(SMALL, data__residual="none"))
        self.assertGreater(self.scores("plain")["model"]["rmse"], 1.1 * begun["ridge"]["rmse"])
        # The weights are part of the file, are not trained, and count as no parameters.
        params = [json.loads(self.run_tool("inspect", run, "--json")[0])["params"] for run in ("first", "plain")]
        self.assertEqual(params[0], params[1])
        for name in ("layers.0.linear_A", "layers.0.linear_c"):
            first, later = (self.tensor(run, name) for run in ("still", "first"))
            self.assertEqual(first, later)
            self.assertTrue(any(first))
        self.train("once", experiment=changed(SMALL, model__readout__at="last_step", **STILL))
        once = self.scores("once")
        self.assertAlmostEqual(once["model"]["rmse"] / once["ridge"]["rmse"], 1, delta=0.01)

    @slow
    def test_the_network_learns_what_the_ridge_regression_leaves(self):
        self.train("run", experiment=changed(SMALL, train__epochs=30))
        scores = self.scores("run")
        self.assertLess(scores["model"]["rmse"], 0.95 * scores["ridge"]["rmse"])

    def test_streams_forecasts_and_exports_have_the_linear_model(self):
        self.train("run", experiment=changed(SMALL, train__epochs=3))
        values = [struct.unpack("f", struct.pack("f", random.Random(9).gauss(0, 2)))[0] for _ in range(150)]
        self.write("x.npy", npy((len(values), 1), values))
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy")
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "s.npy", "--stream")
        wanted = npy_values((self.folder / "y.npy").read_bytes())
        self.assertEqual(wanted, npy_values((self.folder / "s.npy").read_bytes()))
        self.assertGreater(max(map(abs, wanted)), 1)
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c")
        self.write("main.c", RUNNER)
        subprocess.run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "model", "-lm"], cwd=self.folder, check=True)
        done = subprocess.run(["./model"], cwd=self.folder, input=struct.pack(f"{len(values)}f", *values), capture_output=True, check=True)
        found = struct.unpack(f"{len(values)}f", done.stdout)
        self.assertLess(max(abs(a - b) for a, b in zip(found, wanted, strict=True)), 1e-4)
        self.refused(["The formats onnx and c99 take every layer"], "export", "run", "--to", "torch", "--output", "torch.safetensors")
        for form in ("onnx", "onnx-step"):
            self.run_tool("export", "run", "--to", form, "--output", f"{form}.onnx")
        # Forecasts read their own predictions through the lags too.
        rows = rows_of(self.run_tool("forecast", "run", "--input", "own.csv", "--from", "-5", "--steps", "5")[0])
        self.assertEqual(len({row["prediction"] for row in rows}), 5)
        self.run_tool("train", "run", "--resume", "--set", "train.epochs=4", "--quiet")
        self.assertIn("gradient", self.run_tool("check", self.write("e.json", SMALL), "--gradients")[0])

    @unittest.skipIf(MISSING, MISSING)
    def test_onnx_has_the_linear_model(self):
        self.train("run", experiment=changed(SMALL, train__epochs=3))
        x = numpy.random.default_rng(3).normal(size=(1, 130, 1)).astype(numpy.float32)
        numpy.save(self.folder / "x.npy", x)
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy")
        self.run_tool("export", "run", "--to", "onnx", "--output", "m.onnx")
        session = onnxruntime.InferenceSession(str(self.folder / "m.onnx"), providers=["CPUExecutionProvider"])
        found = session.run(None, {session.get_inputs()[0].name: x})[0]
        wanted = numpy.load(self.folder / "y.npy")
        self.assertGreater(abs(wanted).max(), 0.5)
        self.assertLess(abs(found.reshape(wanted.shape) - wanted).max(), 1e-4)

    @slow
    def test_the_value_a_season_before_is_the_beginning(self):
        draw = random.Random(6)
        first = datetime.datetime(2024, 1, 1)
        self.write("own.csv", "t,w,v\n" + "".join(
            f"{first + datetime.timedelta(hours=n):%Y-%m-%d %H:%M},{draw.gauss(0, 1):.3f},{10 * math.sin(n / 3.82) + draw.gauss(0, 1):.3f}\n"
            for n in range(1500)))
        for horizon in (1, 3, 24, 30):
            with self.subTest(horizon=horizon):
                self.train(f"run{horizon}", experiment=changed(
                    SMALL, data__residual="seasonal", data__time="t", data__past=["w"], data__horizon=horizon,
                    data__normalize_target=horizon != 3, **STILL))
                scores = json.loads(self.run_tool("eval", f"run{horizon}", "--horizon", str(horizon), "--json")[0])["targets"]["v"]
                # More than a season ahead the rows of the last one are not yet known to all steps.
                last = slice(max(0, horizon // 25 * 24), None)
                for model, seasonal in zip(scores["rmse"][last], scores["seasonal_rmse"][last], strict=True):
                    self.assertAlmostEqual(model, seasonal, delta=1e-3)

    def test_a_season_that_is_said_needs_no_times(self):
        draw = random.Random(6)
        self.write("own.csv", "v\n" + "".join(f"{10 * math.sin(math.tau * n / 30) + draw.gauss(0, 1):.3f}\n" for n in range(900)))
        season = changed(SMALL, data__residual="seasonal", data__season=30, data__window=40, **STILL)
        self.train("run", experiment=season)
        scores = json.loads(self.run_tool("eval", "run", "--horizon", "1", "--json")[0])["targets"]["v"]
        self.assertEqual(len(scores["seasonal_rmse"]), 1)
        self.assertAlmostEqual(scores["rmse"][0], scores["seasonal_rmse"][0], delta=1e-3)
        self.assertIn("the value 30 steps before", self.run_tool("forecast", "run", "--input", "own.csv", "--from", "-5", "--steps", "5")[1])
        self.refused(["/data/season"], "check", self.write("e.json", changed(season, data__season=-1)))

    def test_levels_begin_as_the_linear_model_each(self):
        self.train("run", experiment=changed(SMALL, loss={"type": "quantile", "levels": [0.1, 0.5, 0.9]}, **STILL))
        overall = json.loads(self.run_tool("eval", "run", "--horizon", "1", "--json")[0])["targets"]["v"]
        self.assertAlmostEqual(overall["overall"]["model"]["rmse"] / overall["overall"]["ridge"]["rmse"], 1, delta=0.01)
        self.assertAlmostEqual(overall["quantile_interval"]["width"], 0, delta=1e-5)

    def test_residuals_that_cannot_be_are_refused(self):
        def check(words, **changes):
            self.refused(words, "check", self.write("e.json", changed(SMALL, **changes)))

        check(["/data/residual: unknown value 'linaer'; did you mean 'linear'?"], data__residual="linaer")
        check(["/data/residual: \"seasonal\" needs the times of rows", "\"season\": 24 says", "\"time\": \"date\" names"], data__residual="seasonal")
        check(["/data/residual: a linear term goes with layers of single steps"], model__layers=[
            {"layer": "bidirectional", "cell": {"cell": "gru", "units": 4}}])
        first = datetime.datetime(2024, 1, 1)
        self.write("own.csv", "t,v\n" + "".join(f"{first + datetime.timedelta(hours=n):%Y-%m-%d %H:%M},{n % 24}\n" for n in range(900)))
        check(["/data/window: with \"residual\" a window has more than the 23 steps that the linear model looks back. Got 20."],
              data__residual="seasonal", data__time="t", data__window=20)
        self.write("years.csv", "t,v\n" + "".join(f"{1900 + n},{n % 5}\n" for n in range(120)))
        check(["/data/residual: \"seasonal\" needs times whose frequency has a season"], data__residual="seasonal", data__path="years.csv",
              data__time="t", data__time_format="%Y", data__window=20)
        self.write("two.csv", "t,v,w\n" + "".join(
            f"{first + datetime.timedelta(hours=n):%Y-%m-%d %H:%M},{n % 24},{n % 5}\n" for n in range(900)))
        check(["\"seasonal\" needs the past of v as an input"], data__residual="seasonal", data__path="two.csv", data__time="t",
              data__past_target=False, data__future=["w"])


if __name__ == "__main__":
    main()
