"""Models of distributions, end to end: their parameters, quantiles and scores, and that no forecast knows the future."""

import datetime
import json
import math
import random
import shutil
import statistics
import unittest
import zipfile

from tool import ToolTest, changed, main, npy_values, read_safetensors, rows_of, slow

NORMAL = statistics.NormalDist()
LEVELS = [0.1, 0.5, 0.9]
METRICS = ["crps", "nll", "coverage", "pinball", "rmse"]
SERIES = {
    "name": "distribution",
    "data": {"task": "series", "path": "v.csv", "input": ["v"], "window": 40},
    "model": {"layers": [{"cell": "gru", "units": 6}], "readout": {"at": "every_step"}},
    "loss": "gaussian",
    "metrics": METRICS,
    "optimizer": {"type": "adam", "lr": 0.02},
    "train": {"epochs": 8, "batch": 8},
}


def counts(rows, seed=3, mean=6.0, dispersion=0.3):
    """Independent counts of a negative binomial distribution: Poisson's, whose means are of a gamma distribution."""
    draw, values = random.Random(seed), []
    for _ in range(rows):
        rate, product, count = draw.gammavariate(1 / dispersion, mean * dispersion), draw.random(), 0
        while product > math.exp(-rate):
            product *= draw.random()
            count += 1
        values.append(count)
    return values


def likelihood(loss, p, y):
    if loss == "gaussian":
        return math.log(p[1]) + ((y - p[0]) / p[1]) ** 2 / 2 + math.log(2 * math.pi) / 2
    if loss == "student_t":
        z, v = (y - p[0]) / p[1], p[2]
        return (math.lgamma(v / 2) - math.lgamma((v + 1) / 2) + math.log(v * math.pi) / 2 + math.log(p[1])
                + (v + 1) / 2 * math.log1p(z * z / v))
    r = 1 / p[1]
    return (math.lgamma(r) + math.lgamma(y + 1) - math.lgamma(r + y) - r * math.log(r / (r + p[0]))
            - y * math.log(p[0] / (r + p[0])))


def share_up_to(loss, p, steps=4000):
    """The distribution function at points that reach far, by sums of the density."""
    if loss == "negative_binomial":
        points, width = range(int(p[0] + 60 * math.sqrt(p[0] + p[1] * p[0] ** 2))), 1
    else:
        width = 60 * p[1] / steps
        points = [p[0] + width * (i + 0.5 - steps / 2) for i in range(steps)]
    share, shares = 0.0, []
    for y in points:
        share += width * math.exp(-likelihood(loss, p, y))
        shares.append((y + (0 if width == 1 else width / 2), share))
    return shares, width


def scores(loss, p, y):
    """The continuous ranked probability score and the quantiles of the levels."""
    shares, width = share_up_to(loss, p)
    crps = sum(width * (share - (at >= y)) ** 2 for at, share in shares)
    return crps, [next((at for at, share in shares if share >= level), shares[-1][0]) for level in LEVELS]


class DistributionTest(ToolTest):
    def write_series(self, values, name="v.csv"):
        self.write(name, "v\n" + "".join(f"{value}\n" for value in values))

    def waves(self, rows=3000, seed=5):
        draw = random.Random(seed)
        return [round(20 + 3 * math.sin(0.2 * n) + draw.gauss(0, 0.5), 4) for n in range(rows)]

    def parameters_and_targets(self, run):
        """The model's outputs for the test set, and the truth."""
        self.run_tool("data", "experiment.json", "--out", "all.npz")
        with zipfile.ZipFile(self.folder / "all.npz") as archive:
            archive.extract("test_x.npy", self.folder)
            targets = npy_values(archive.read("test_y.npy"))
        self.run_tool("predict", run, "--input", "test_x.npy", "--output", "y.npy")
        return npy_values((self.folder / "y.npy").read_bytes()), targets

    def test_metrics_are_those_of_the_parameters_that_are_predicted(self):
        for loss, width in (("gaussian", 2), ("student_t", 3), ("negative_binomial", 2)):
            with self.subTest(loss):
                self.write_series(counts(800) if loss == "negative_binomial" else self.waves(800))
                self.train(loss, experiment=changed(SERIES, loss=loss, train__epochs=2))
                found = json.loads(self.run_tool("eval", loss, "--json")[0])
                outputs, targets = self.parameters_and_targets(loss)
                rows = [outputs[i:i + width] for i in range(0, len(outputs), width)]
                self.assertEqual(len(rows), len(targets))
                sums = dict.fromkeys(METRICS, 0.0)
                for p, y in zip(rows, targets, strict=True):
                    crps, quantiles = scores(loss, p, y)
                    sums["nll"] += likelihood(loss, p, y) / len(rows)
                    sums["crps"] += crps / len(rows)
                    sums["coverage"] += (quantiles[0] <= y <= quantiles[-1]) / len(rows)
                    sums["pinball"] += sum(max(q * (y - value), (q - 1) * (y - value)) for q, value in zip(LEVELS, quantiles)) / 3 / len(rows)
                    sums["rmse"] += (p[0] - y) ** 2 / len(rows)
                self.assertAlmostEqual(found["nll"], sums["nll"], delta=1e-4)
                self.assertAlmostEqual(found["crps"] / sums["crps"], 1, delta=5e-3)
                self.assertAlmostEqual(found["pinball"] / sums["pinball"], 1, delta=1e-2)
                self.assertAlmostEqual(found["coverage"], sums["coverage"], delta=0.02)
                self.assertAlmostEqual(found["rmse"], math.sqrt(sums["rmse"]), places=3)

    def test_a_trained_model_is_near_the_best_that_is_possible(self):
        self.write_series(self.waves())
        self.train("run", experiment=changed(SERIES, train__epochs=20))
        found = json.loads(self.run_tool("eval", "run", "--json")[0])
        self.assertAlmostEqual(found["nll"], math.log(0.5) + math.log(2 * math.pi * math.e) / 2, delta=0.15)
        self.assertLess(found["crps"], 0.38)  # of the noise alone: 0.5 / root(pi) = 0.28, of a constant: 1.2
        self.assertGreater(found["crps"], 0.27)
        self.assertAlmostEqual(found["coverage"], 0.8, delta=0.07)

    def test_predictions_and_forecasts_have_the_mean_and_quantiles(self):
        self.write_series(self.waves())
        self.train("run", experiment=changed(SERIES, loss={"type": "gaussian", "levels": [0.05, 0.5, 0.8]}))
        self.run_tool("predict", "run", "--input", "v.csv", "--output", "y.csv", "--plot", "y.svg")
        rows = rows_of((self.folder / "y.csv").read_text())
        self.assertEqual(list(rows[0]), ["row", "horizon", "prediction", "q0.05", "q0.5", "q0.8", "truth"])
        for row in rows[:200]:
            scale = (float(row["q0.5"]) - float(row["q0.05"])) / NORMAL.inv_cdf(0.95)
            self.assertAlmostEqual(float(row["prediction"]), float(row["q0.5"]), places=4)
            self.assertAlmostEqual(float(row["q0.8"]), float(row["q0.5"]) + scale * NORMAL.inv_cdf(0.8), places=3)
        self.assertIn("<polygon", (self.folder / "y.svg").read_text())
        arguments = ("forecast", "run", "--input", "v.csv", "--steps", "30")
        drawn, alone = rows_of(self.run_tool(*arguments)[0]), rows_of(self.run_tool(*arguments, "--paths", "0")[0])
        self.assertEqual(list(drawn[0]), ["step", "prediction", "q0.05", "q0.5", "q0.8", "truth"])
        for row in drawn + alone:
            self.assertLess(float(row["q0.05"]), float(row["q0.5"]))
            self.assertLess(float(row["q0.5"]), float(row["q0.8"]))
        self.assertEqual(drawn, rows_of(self.run_tool(*arguments)[0]))
        self.assertGreater(float(drawn[-1]["q0.8"]) - float(drawn[-1]["q0.05"]),
                           float(alone[-1]["q0.8"]) - float(alone[-1]["q0.05"]))

    def test_counts_are_scaled_by_their_mean_and_checked_before_the_training(self):
        values = counts(1200)
        self.write_series(values)
        experiment = changed(SERIES, loss="negative_binomial")
        weights = self.train("run", experiment=experiment)
        kept = json.loads(read_safetensors(weights)[0]["__metadata__"]["experiment"])["loss"]["scale"]
        training = values[:840]
        self.assertAlmostEqual(kept[0], sum(training) / len(training), places=5)
        found = json.loads(self.run_tool("eval", "run", "--json")[0])
        best = sum(likelihood("negative_binomial", (6.0, 0.3), y) for y in values[-180:]) / 180
        self.assertAlmostEqual(found["nll"], best, delta=0.15)
        rows = rows_of(self.run_tool("forecast", "run", "--input", "v.csv", "--steps", "5")[0])
        for row in rows:
            self.assertAlmostEqual(float(row["prediction"]), 6, delta=2.5)
            self.assertEqual(float(row["q0.9"]) % 0.5, 0)
        self.run_tool("train", "run/experiment.json", "--out", "again", "--quiet")
        again = self.weights("again")
        self.assertEqual(read_safetensors(again)[1], read_safetensors(weights)[1])
        for wrong in ("2.5", "-1"):
            self.write_series([*values[:1150], wrong, *values[1151:]])
            path = self.write("experiment.json", experiment)
            self.refused([f"/loss: negative_binomial needs targets that are whole numbers from 0 on. Got {wrong} in the column 'v' at row 1150"], "check", path)
        self.write_series(values)
        for loss, words in (({"type": "negative_binomial", "scale": [1, 2]}, "/loss/scale: expected 1 numbers, one for each number of a target, got 2"),
                            ({"type": "negative_binomial", "scale": [0]}, "/loss: scale: expected numbers above 0, got 0"),
                            ({"type": "gaussian", "scale": [1]}, "/loss/scale: unknown key 'scale'"),
                            ({"type": "student_t", "levels": [0.5, 0.1]}, "/loss/levels: expected rising numbers")):
            with self.subTest(words):
                self.assertIn(words.split(": ", 1)[1], self.run_tool("check", self.write("e.json", changed(SERIES, loss=loss)), code=2)[1])

    def test_what_a_linear_model_leaves_has_a_distribution_around_it(self):
        self.write_series(self.waves())
        for loss in ("gaussian", "student_t"):
            whole = changed(SERIES, loss=loss, data__residual="linear", train__epochs=4)
            self.train(loss, experiment=whole)
            found = json.loads(self.run_tool("eval", loss, "--json")[0])
            self.assertLess(found["crps"], 0.4)
            self.assertAlmostEqual(found["coverage"], 0.8, delta=0.15)
            self.run_tool("predict", loss, "--input", "v.csv", "--output", "y.csv")
            for row in rows_of((self.folder / "y.csv").read_text()):
                self.assertLess(float(row["q0.1"]), float(row["q0.9"]))

    @slow
    def test_counts_of_many_series_have_the_scale_of_each(self):
        means = {"a": 2.0, "b": 40.0, "c": 900.0}
        rows = [(name, n, value) for name, mean in means.items() for n, value in enumerate(counts(300, mean=mean) if name != "c" else [
            round(20 * value) for value in counts(300, mean=45.0)])]
        self.write("v.csv", "id,t,v\n" + "".join(f"{name},{100 * n},{value}\n" for name, n, value in rows))
        own = changed(SERIES, loss="negative_binomial", data__series="id", data__time="t", data__time_format="seconds", data__target="v",
                      data__window=20, train__epochs=6)
        own["data"].pop("input")
        weights = self.train("own", experiment=own)
        units = json.loads(read_safetensors(weights)[0]["__metadata__"]["series"])["series"]
        found = json.loads(self.run_tool("eval", "own", "--json")[0])
        self.train("all", experiment=changed(own, data__normalize="all", data__normalize_target="all"))
        of_all = json.loads(self.run_tool("eval", "all", "--json")[0])
        for name, mean in means.items():
            values = [value for other, _, value in rows if other == name]
            self.assertEqual(units[name][2], 0)
            self.assertAlmostEqual(units[name][3] / (1 + statistics.mean(values[:210])), 1, delta=2e-3)
            self.assertLess(found["series"][name]["nll"], of_all["series"][name]["nll"] + 0.05)
        self.assertLess(found["nll"], of_all["nll"])
        # The score is that of the parameters of counts, and predictions and quantiles are counts.
        self.run_tool("predict", "own", "--input", "v.csv", "--output", "y.csv")
        predicted = rows_of((self.folder / "y.csv").read_text())
        for name, mean in means.items():
            near = [float(row["prediction"]) for row in predicted if row["id"] == name]
            self.assertAlmostEqual(statistics.mean(near) / mean, 1, delta=0.6)
        self.assertTrue(all(float(row[q]) == int(float(row[q])) for row in predicted for q in ("q0.1", "q0.9")))
        made = rows_of(self.run_tool("forecast", "own", "--input", "v.csv", "--steps", "3")[0])
        for row in made:
            self.assertGreater(float(row["q0.9"]), 0.3 * means[row["id"]])
            self.assertLess(float(row["q0.1"]), 2 * means[row["id"]])
        self.write("half.csv", "id,t,v\n" + "".join(f"{name},{100 * n},{value + (n == 60) / 2}\n" for name, n, value in rows))
        self.refused(["needs targets that are whole numbers from 0 on"], "eval", "own", "--data", "half.csv", "--split", "all")
        self.refused(["/loss/scale: each series has its own scale here"], "check",
                     self.write("e.json", changed(own, loss={"type": "negative_binomial", "scale": [3]})))

    def test_counts_of_many_series_may_have_one_scale(self):
        rows = [(name, value) for name, mean in (("a", 4.0), ("b", 40.0)) for value in counts(300, mean=mean)]
        self.write("v.csv", "id,v\n" + "".join(f"{name},{value}\n" for name, value in rows))
        whole = changed(SERIES, loss="negative_binomial", data__series="id", data__target="v", data__window=20, train__epochs=2)
        whole["data"].pop("input")
        weights = self.train("all", experiment=changed(whole, data__normalize_target="all"))
        scale = json.loads(read_safetensors(weights)[0]["__metadata__"]["experiment"])["loss"]["scale"]
        self.assertAlmostEqual(scale[0], 22, delta=4)
        self.train("none", experiment=changed(whole, data__normalize_target=False))
        found = [json.loads(self.run_tool("eval", run, "--json")[0])["nll"] for run in ("all", "none")]
        self.assertLess(found[0], 6)
        self.assertLess(found[0], found[1])

    @slow
    def test_absolute_errors_find_the_median(self):
        constant = changed(SERIES, metrics=[], model__readout__at="last_step", data__window=1, data__stride=1, data__past_target=False,
                           data__past=["w"], data__target=["v"], train__epochs=20)
        constant["data"].pop("input")
        self.write("v.csv", "v,w\n" + "".join(f"{1 if n % 3 else 10},{n % 2}\n" for n in range(900)))
        for loss, wanted in (("mae", 1), ("mse", 4)):
            self.train(loss, experiment=changed(constant, loss=loss))
            self.run_tool("predict", loss, "--input", "v.csv", "--output", "y.csv")
            predicted = [float(row["prediction"]) for row in rows_of((self.folder / "y.csv").read_text())]
            self.assertAlmostEqual(statistics.mean(predicted), wanted, delta=0.5)

    def test_exports_name_the_parameters(self):
        self.write_series(self.waves(400))
        self.train("run", experiment=changed(SERIES, loss="student_t", train__epochs=1))
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c")
        text = (self.folder / "model.c").read_text()
        for line in ("out[0]: mean of v[+1]\n", "out[1]: scale of v[+1]\n", "out[2]: dof of v[+1]\n"):
            self.assertIn(line, text)
        self.run_tool("export", "run", "--to", "onnx-step", "--output", "model.onnx")
        self.assertIn(b"Outputs: mean of v[+1], scale of v[+1], dof of v[+1].", (self.folder / "model.onnx").read_bytes())
        self.refused(["takes a model with an affine read-out"], "export", "run", "--to", "torch", "--output", "m.safetensors")


class NoiseTest(ToolTest):
    """Pure noise cannot be predicted: a model that beats the best constant has read the target."""
    ROWS = 2000

    def setUp(self):
        super().setUp()
        draw = random.Random(7)
        self.noise = [round(draw.gauss(5, 2), 4) for _ in range(self.ROWS)]
        other = [round(draw.gauss(0, 1), 4) for _ in range(self.ROWS)]
        gaps = [draw.random() < 0.15 for _ in range(self.ROWS)]
        columns = {"t": map(stamp, range(self.ROWS)), "v": self.noise, "w": other,
                   "g": ["" if gap else v for v, gap in zip(self.noise, gaps, strict=True)]}
        columns = {name: list(map(str, values)) for name, values in columns.items()}
        for file, names in (("v.csv", "tvw"), ("gaps.csv", "tgw"), ("told.csv", "tvg")):
            rows = zip(*(columns[name] for name in names), strict=True)
            self.write(file, "\n".join([",".join(names), *map(",".join, rows)]) + "\n")

    def pinball(self, quantiles, y):
        return sum(max(q * (y - value), (q - 1) * (y - value)) for q, value in zip(LEVELS, quantiles)) / len(LEVELS)

    def best_constant(self, values):
        ordered = sorted(values)
        best = [ordered[int(q * len(ordered))] for q in LEVELS]
        return statistics.mean(self.pinball(best, y) for y in values)

    def experiment(self, loss, layers=({"cell": "gru", "units": 4},), at="every_step", **data):
        whole = changed(SERIES, loss=loss, metrics=["pinball"], train__epochs=3, optimizer__lr=0.01, model__readout__at=at)
        whole["model"]["layers"] = list(layers)
        whole["data"] = {"task": "series", "path": "v.csv", "time": "t", "target": ["v"], "window": 20, "train": 0.4, "valid": 0.1,
                         "test": 0.5, **data}
        return whole

    def compare(self, whole):
        """The pinball losses of the evaluation, of predictions, and of forecasts, divided by those of the best constant."""
        self.train("run", experiment=whole)
        found = json.loads(self.run_tool("eval", "run", "--json")[0])["pinball"]
        self.run_tool("predict", "run", "--input", whole["data"]["path"], "--output", "y.csv")
        rows = [row for row in rows_of((self.folder / "y.csv").read_text()) if row["truth"]]
        quantiles = [[float(row[f"q{q}"]) for q in LEVELS] for row in rows]
        truths = [float(row["truth"]) for row in rows]
        ratios = {"eval": found / self.best_constant(self.noise[self.ROWS // 2:]),
                  "predict": statistics.mean(map(self.pinball, quantiles, truths)) / self.best_constant(truths)}
        quantiles, truths = [], []
        for origin in range(200, 1900, 100):
            rows = rows_of(self.run_tool("forecast", "run", "--input", whole["data"]["path"], "--from", stamp(origin), "--steps", "12",
                                         "--paths", "40")[0])
            quantiles += [[float(row[f"q{q}"]) for q in LEVELS] for row in rows if row["truth"]]
            truths += [float(row["truth"]) for row in rows if row["truth"]]
        ratios["forecast"] = statistics.mean(map(self.pinball, quantiles, truths)) / self.best_constant(truths)
        shutil.rmtree(self.folder / "run")
        return ratios

    @slow
    def test_no_setting_beats_the_best_constant(self):
        gru, wide = {"cell": "gru", "units": 4}, {"cell": "tau_gru", "units": 4, "tau": 3}
        for whole in (self.experiment("quantile"),
                      self.experiment("gaussian", horizon=2),
                      self.experiment("student_t", at="last_step"),
                      self.experiment("quantile", at="mean", horizon=3),
                      self.experiment("gaussian", [gru, {"layer": "layer_norm"}, wide], future=["w"]),
                      self.experiment("quantile", calendar=["hour"]),
                      self.experiment("gaussian", past_target=False, future=["w"]),
                      self.experiment("quantile", normalize=False, normalize_target=False, stride=1),
                      self.experiment("student_t", path="gaps.csv", target=["g"], missing="hold"),
                      self.experiment("quantile", path="gaps.csv", target=["g"], missing="mask"),
                      self.experiment("gaussian", [{"layer": "batch_norm"}, gru, {"layer": "dropout", "rate": 0.2}])):
            with self.subTest(json.dumps(whole)):
                for command, ratio in self.compare(whole).items():
                    self.assertGreater(ratio, 0.97, command)
                    self.assertLess(ratio, 1.5, command)

    def test_models_that_read_the_future_are_warned_of(self):
        both = {"layer": "bidirectional", "cell": {"cell": "gru", "units": 3}}
        for at, is_warned in (("every_step", True), ("last_step", False)):
            text = "".join(self.run_tool("check", self.write("e.json", self.experiment("quantile", [both], at))))
            self.assertEqual("rows after those that are predicted" in " ".join(text.split()), is_warned)

    @slow
    def test_what_is_told_is_found(self):
        told = self.experiment("gaussian", path="told.csv", future=["g"], missing="hold", past_target=False)
        told["train"]["epochs"] = 30
        self.train("run", experiment=told)
        found = json.loads(self.run_tool("eval", "run", "--json")[0])["pinball"]
        self.assertLess(found, 0.6 * self.best_constant(self.noise[self.ROWS // 2:]))


def stamp(hour):
    return f"{datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=hour):%Y-%m-%d %H:%M}"


if __name__ == "__main__":
    main()
