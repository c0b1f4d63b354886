"""Losses with settings, end to end: the file, the training, and the messages about mistakes."""

import json
import math
import random
import unittest

from tool import CLASSIFIER, ToolTest, changed, main, read_safetensors, rows_of, slow

DEVIATION = 0.5
NOISE = {
    "name": "noise",
    "data": {"task": "series", "path": "noise.csv", "input": ["v"], "window": 50},
    "model": {"layers": [{"cell": "gru", "units": 8}], "readout": {"at": "every_step"}},
    "loss": {"type": "quantile", "levels": [0.1, 0.5, 0.9]},
    "metrics": ["pinball", "coverage", "mae"],
    "optimizer": {"type": "adam", "lr": 0.02},
    "train": {"epochs": 12, "batch": 8},
}


def noise(rows, seed=5):
    draw = random.Random(seed)
    return [3 * math.sin(0.2 * n) + draw.gauss(0, DEVIATION) for n in range(rows)]


class LossTest(ToolTest):
    def write_noise(self, name="noise.csv", rows=6000, seed=5):
        self.write(name, "v\n" + "".join(f"{value:.5f}\n" for value in noise(rows, seed)))

    def test_quantiles_cover_the_share_that_they_say(self):
        self.write_noise()
        self.train("run", experiment=NOISE)
        found = json.loads(self.run_tool("eval", "run", "--json", "--plot", "test.svg")[0])
        self.assertAlmostEqual(found["coverage"], 0.8, delta=0.07)
        self.assertLess(found["mae"], 0.55)  # of the noise alone: 0.4
        self.assertIn("<polygon", (self.folder / "test.svg").read_text())
        self.write_noise("new.csv", 2000, 6)
        self.run_tool("predict", "run", "--input", "new.csv", "--output", "y.csv", "--plot", "y.svg")
        rows = rows_of((self.folder / "y.csv").read_text())
        self.assertEqual(list(rows[0]), ["row", "horizon", "prediction", "q0.1", "q0.5", "q0.9", "truth"])
        known = [row for row in rows if row["truth"]][50:]
        inside = [float(row["q0.1"]) <= float(row["truth"]) <= float(row["q0.9"]) for row in known]
        self.assertAlmostEqual(sum(inside) / len(inside), 0.8, delta=0.07)
        widths = [float(row["q0.9"]) - float(row["q0.1"]) for row in known]
        self.assertAlmostEqual(sum(widths) / len(widths), 2 * 1.2816 * DEVIATION, delta=0.3)
        out = self.run_tool("forecast", "run", "--input", "new.csv", "--from", "1900", "--steps", "40", "--plot", "f.svg")[0]
        forecast = rows_of(out)
        self.assertEqual(list(forecast[0]), ["step", "prediction", "q0.1", "q0.5", "q0.9", "truth"])
        for row in forecast:
            self.assertLess(float(row["q0.1"]), float(row["q0.9"]))
            self.assertEqual(row["prediction"], row["q0.5"])
        picture = (self.folder / "f.svg").read_text()
        self.assertIn("q0.1 to q0.9", picture)
        self.assertIn("<polygon", picture)

    def test_quantiles_without_the_median_warn_of_what_is_predicted(self):
        self.write_noise(rows=600)
        experiment = self.write("e.json", changed(NOISE, loss__levels=[0.1, 0.8], train__epochs=1))
        _, err = self.run_tool("train", experiment, "--out", "run")
        self.assertIn("warning: the loss has no level 0.5: the prediction, and metrics such as rmse, are those of the level 0.8", err)
        self.run_tool("predict", "run", "--input", "noise.csv", "--output", "y.csv")
        self.assertTrue(all(row["prediction"] == row["q0.8"] for row in rows_of((self.folder / "y.csv").read_text())))

    @slow
    def test_intervals_of_a_forecast_grow_with_what_is_not_known(self):
        """An autoregression of coefficient 0.9 with normal noise of deviation 1, whose deviation is known h steps ahead."""
        def series(rows, seed):
            draw, value, values = random.Random(seed), 0.0, []
            for _ in range(rows):
                value = 0.9 * value + draw.gauss(0, 1)
                values.append(f"{value:.5f}\n")
            return "v\n" + "".join(values)

        self.write("noise.csv", series(8000, 1))
        self.write("new.csv", series(3000, 2))
        self.train("run", experiment=changed(NOISE, metrics=[], train__epochs=20, optimizer__lr=0.01, data__window=60))
        widths, inside, alone = [0.0] * 12, 0, [0.0] * 12
        origins = range(200, 2900, 90)
        for origin in origins:
            arguments = ("forecast", "run", "--input", "new.csv", "--from", origin, "--steps", "12")
            rows = rows_of(self.run_tool(*arguments)[0])
            for step, row in enumerate(rows):
                widths[step] += (float(row["q0.9"]) - float(row["q0.1"])) / len(origins)
                inside += float(row["q0.1"]) <= float(row["truth"]) <= float(row["q0.9"])
            for step, row in enumerate(rows_of(self.run_tool(*arguments, "--paths", "0")[0])):
                alone[step] += (float(row["q0.9"]) - float(row["q0.1"])) / len(origins)
        for step, width in enumerate(widths):
            known = 2 * 1.2816 * math.sqrt((1 - 0.81 ** (step + 1)) / (1 - 0.81))
            self.assertAlmostEqual(width / known, 1, delta=0.15)
        self.assertAlmostEqual(inside / 12 / len(origins), 0.8, delta=0.08)
        self.assertLess(alone[11], 0.6 * widths[11])  # around the path of the medians alone
        self.assertEqual(self.run_tool(*arguments), self.run_tool(*arguments))

    def test_the_pinball_loss_is_that_of_the_predictions(self):
        self.write_noise(rows=600)
        metrics = ["pinball", "coverage", "mae", "crps", "smape", "mase", "rmsse"]
        self.train("run", experiment=changed(NOISE, train__epochs=1, data__window=20, metrics=metrics))
        found = json.loads(self.run_tool("eval", "run", "--data", "noise.csv", "--split", "all", "--json")[0])
        sums, count = [0.0, 0.0, 0, 0.0, 0.0], 0
        values = [round(value, 5) for value in noise(600)]
        for first in range(0, 580, 20):
            self.write("x.csv", "v\n" + "".join(f"{value}\n" for value in values[first:first + 20]) + "NA\n")
            for step, row in enumerate(rows_of(self.run_tool("predict", "run", "--input", "x.csv", "--output", "-")[0])):
                truth = values[first + step + 1]
                rest = {level: truth - float(row[f"q{level}"]) for level in (0.1, 0.5, 0.9)}
                sums[0] += sum(max(level * r, (level - 1) * r) for level, r in rest.items())
                sums[1] += abs(rest[0.5])
                sums[2] += rest[0.1] >= 0 >= rest[0.9]
                sums[3] += 2 * abs(rest[0.5]) / (abs(truth) + abs(float(row["prediction"])))
                sums[4] += rest[0.5] ** 2
                count += 1
        self.assertEqual(count, 580)
        self.assertAlmostEqual(found["pinball"], sums[0] / 3 / count, places=4)
        self.assertAlmostEqual(found["mae"], sums[1] / count, places=4)
        self.assertAlmostEqual(found["coverage"], sums[2] / count, delta=0.01)
        self.assertAlmostEqual(found["crps"], 2 * sums[0] / 3 / count, places=4)
        self.assertAlmostEqual(found["smape"], sums[3] / count, places=4)
        changes = [b - a for a, b in zip(values, values[1:], strict=False)]  # no row trains: of all
        naive, square = (sum(abs(change) ** power for change in changes) / len(changes) for power in (1, 2))
        self.assertAlmostEqual(found["mase"], sums[1] / count / naive, places=4)
        self.assertAlmostEqual(found["rmsse"], math.sqrt(sums[4] / count / square), places=4)

    def test_naive_errors_are_those_of_the_training_rows(self):
        self.write_noise(rows=600)
        self.train("run", experiment=changed(NOISE, loss="mse", metrics=["mae", "mase"], train__epochs=1, data__window=20))
        found = json.loads(self.run_tool("eval", "run", "--json")[0])
        training = [round(value, 5) for value in noise(600)][:420]
        changes = [abs(b - a) for a, b in zip(training, training[1:], strict=False)]
        self.assertAlmostEqual(found["mase"], found["mae"] / (sum(changes) / len(changes)), places=6)
        random_task = {"task": "random", "length": 5, "input": 1, "output": 1}
        wrong = self.write("wrong.json", changed(NOISE, loss="mse", metrics=["mase"], data=random_task))
        self.refused(["/metrics/0: the metric mase divides errors by those of the seasonal naive forecast, which the task "
                      "series alone has."], "check", wrong)

    def test_huber_is_hardly_moved_by_outliers(self):
        values = [1.0 if n % 20 else 400.0 for n in range(1000)]
        self.write("noise.csv", "v\n" + "".join(f"{value}\n" for value in values))
        middles = {}
        for name, loss in (("mse", "mse"), ("huber", {"type": "huber", "delta": 0.01})):
            self.train(name, experiment=changed(NOISE, loss=loss, metrics=[], train__epochs=4, model__readout__at="last_step",
                                                data__window=1, data__stride=1, model__layers=[{"layer": "linear", "units": 1}]))
            self.write("x.csv", "1\n")
            middles[name] = float(self.run_tool("predict", name, "--input", "x.csv", "--output", "-")[0])
        self.assertLess(abs(middles["huber"] - 1), 8)
        self.assertGreater(abs(middles["mse"] - 1), 12)

    def test_weights_and_smoothing_are_in_the_loss_and_not_in_the_likelihood(self):
        loss = {"type": "cross_entropy", "class_weights": [1, 2, 0.5], "label_smoothing": 0.2}
        self.train("run", experiment=changed(CLASSIFIER, loss=loss, metrics=["cross_entropy", "perplexity", "bits_per_character"]))
        found = json.loads(self.run_tool("eval", "run", "--json")[0])
        self.run_tool("data", "experiment.json", "--out", "all.npz")
        self.run_tool("predict", "run", "--input", self.member("test_x"), "--output", "logits.npy")
        logits, targets = self.values("logits.npy"), self.values("test_y.npy")
        losses = likelihood = 0.0
        for i, target in enumerate(map(int, targets)):
            row = logits[3 * i:3 * i + 3]
            log_sum = math.log(sum(map(math.exp, row)))
            likelihood += log_sum - row[target]
            share = [0.2 / 3 + (0.8 if j == target else 0) for j in range(3)]
            losses += loss["class_weights"][target] * sum(p * (log_sum - z) for p, z in zip(share, row, strict=True))
        count = len(targets)
        self.assertAlmostEqual(found["loss"], losses / count, places=5)
        self.assertAlmostEqual(found["cross_entropy"], likelihood / count, places=5)
        self.assertAlmostEqual(found["perplexity"], math.exp(likelihood / count), places=5)
        self.assertAlmostEqual(found["bits_per_character"], likelihood / count / math.log(2), places=5)
        header, _ = read_safetensors(self.weights("run"))
        self.assertEqual(json.loads(header["__metadata__"]["experiment"])["loss"], loss)
        again = self.train("again", experiment=json.loads((self.folder / "run/experiment.json").read_text()))
        self.assertEqual(read_safetensors(again)[1], read_safetensors(self.weights("run"))[1])

    def test_balanced_weights_are_counted_in_the_training_set_alone(self):
        data = changed(CLASSIFIER, data__train=40)["data"]
        balanced = changed(CLASSIFIER, data=data, loss={"type": "cross_entropy", "class_weights": "balanced"}, metrics=["cross_entropy"])
        trained = self.train("run", experiment=balanced)
        self.run_tool("data", "experiment.json", "--out", "all.npz")
        self.member("train_y")
        targets = [int(target) for target in self.values("train_y.npy")]
        counts = [targets.count(c) for c in range(3)]
        self.assertNotEqual(min(counts), max(counts))
        weights = [len(targets) / (3 * count) for count in counts]
        header, buffer = read_safetensors(trained)
        for found, wanted in zip(json.loads(header["__metadata__"]["experiment"])["loss"]["class_weights"], weights, strict=True):
            self.assertAlmostEqual(found, wanted, places=12)
        self.assertEqual(json.loads((self.folder / "run/experiment.json").read_text())["loss"]["class_weights"], "balanced")
        given = changed(balanced, loss={"type": "cross_entropy", "class_weights": weights})
        self.assertEqual(read_safetensors(self.train("given", experiment=given))[1], buffer)
        self.assertNotEqual(read_safetensors(self.train("even", experiment=changed(balanced, loss="cross_entropy")))[1], buffer)
        self.run_tool("train", "run", "--resume", "--quiet", "--set", "train.epochs=2")
        self.assertEqual(read_safetensors(self.weights("run"))[1],
                         read_safetensors(self.train("longer", experiment=changed(balanced, train__epochs=2)))[1])
        self.assertEqual(*(json.loads(self.run_tool("eval", run, "--json")[0])["loss"] for run in ("run", "longer")))
        endless = changed(balanced, data={"task": "copy", "fresh": True}, train={"steps": 2}, metrics=[], model__readout={"at": "every_step"})
        self.assertIn("/loss/class_weights", self.run_tool("check", self.write("endless.json", endless), code=2)[1])

    def member(self, name):
        """Unpacks the arrays of all.npz beside it."""
        import zipfile
        with zipfile.ZipFile(self.folder / "all.npz") as archive:
            archive.extractall(self.folder)
        return f"{name}.npy"

    def values(self, name):
        import struct
        data = (self.folder / name).read_bytes()
        length = struct.unpack("<H", data[8:10])[0]
        kind = data[10:10 + length].decode().split("'descr': '")[1][:3]
        code = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}[kind]
        body = data[10 + length:]
        return struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body)

    def test_gradients_of_every_loss_agree_with_central_differences(self):
        classes = changed(CLASSIFIER, data__classes=2)
        binary = changed(classes, model__readout={"at": "last_step"})
        settings = {"class_weights": [0.5, 3], "label_smoothing": 0.1}
        self.write_noise(rows=400)
        for experiment in (changed(NOISE, loss={"type": "huber", "delta": 0.3}, metrics=[]), changed(NOISE),
                           changed(NOISE, loss={"type": "esr", "pre_emphasis": 0.85, "dc": 0.5}, metrics=[]),
                           changed(NOISE, loss="dc", metrics=["esr"]),
                           changed(classes, loss={"type": "cross_entropy", **settings}, model__readout={"at": "last_step"}),
                           changed(binary, loss={"type": "binary_cross_entropy", **settings})):
            with self.subTest(loss=experiment["loss"]):
                path = self.write("gradients.json", experiment)
                report = json.loads(self.run_tool("check", path, "--gradients", "--json")[0])
                self.assertLess(report["max_rel_error"], 1e-5)

    def test_wrong_settings_are_told_with_their_place(self):
        self.write_noise(rows=400)
        for experiment, words in (
                (changed(NOISE, loss={"type": "quantile", "levels": [0.5, 0.1]}), "/loss/levels: expected rising numbers, got 0.1 after 0.5"),
                (changed(NOISE, loss={"type": "quantile", "levels": [0, 0.5]}), "/loss/levels: expected numbers above 0 and below 1, got 0"),
                (changed(NOISE, loss={"type": "quantile", "levels": "many"}), "/loss/levels: expected a list of numbers"),
                (changed(NOISE, loss={"type": "quantile", "levels": []}), "/loss/levels: expected 1 to 99 levels, got 0"),
                (changed(NOISE, loss={"type": "huber", "delta": 0}), "/loss/delta: expected number > 0"),
                (changed(NOISE, loss={"type": "esr", "pre_emphasis": 1.5}, metrics=[]), "/loss/pre_emphasis: expected number >= 0 and <= 1"),
                (changed(NOISE, loss={"type": "esr", "dc": -1}, metrics=[]), "/loss/dc: expected number >= 0"),
                (changed(NOISE, loss={"type": "dc", "pre_emphasis": 0.5}, metrics=[]), "/loss/pre_emphasis: unknown key 'pre_emphasis'"),
                (changed(NOISE, loss="esr", metrics=[], model__readout__at="last_step"), "esr needs real targets at every step"),
                (changed(CLASSIFIER, loss="esr", metrics=[]), "/loss: esr needs real targets at every step. The data have 3 classes a target"),
                (changed(NOISE, loss={"type": "hubert"}), "/loss/type: unknown loss 'hubert'; did you mean 'huber'?"),
                (changed(NOISE, loss="qantile"), "/loss: unknown loss 'qantile'; did you mean 'quantile'?"),
                (changed(NOISE, loss={"type": "mse", "delta": 1}), "/loss/delta: unknown key 'delta'"),
                (changed(NOISE, loss={"delta": 1}), "/loss/type: is missing"),
                (changed(NOISE, loss={"type": ""}), "/loss/type: unknown loss ''"),
                (changed(NOISE, loss={"type": 3}), "/loss/type: expected string, got 3"),
                (changed(CLASSIFIER, metrics=["f1_3"]), "/metrics/0: f1_3: the data have 3 classes, from 0 to 2"),
                (changed(CLASSIFIER, metrics=["f1_01"]), "/metrics/0: unknown metric 'f1_01'"),
                (changed(CLASSIFIER, loss={"type": "cross_entropy", "class_weights": "even"}),
                 "/loss/class_weights: expected a list of numbers or \"balanced\", got \"even\""),
                (changed(NOISE, loss=3), "/loss: expected the name of a loss, or an object"),
                (changed(NOISE, metrics=["coverage", "mae"]), "/metrics/0: the first metric decides which state is best, which coverage does not tell"),
                (changed(NOISE, loss="mse"), "/metrics/0: the metric pinball does not go with the loss mse"),
                (changed(NOISE, model__readout={"at": "every_step", "units": 2}),
                 "/model/readout/units: the model gives 2 numbers, but the data have 1 a target with 3 levels each"),
                (changed(CLASSIFIER, loss={"type": "cross_entropy", "label_smoothing": 1}), "/loss/label_smoothing: expected a number from 0 on"),
                (changed(CLASSIFIER, loss={"type": "cross_entropy", "class_weights": [1, 2]}),
                 "/loss/class_weights: expected 3 numbers, one for each class, got 2"),
                (changed(CLASSIFIER, loss={"type": "cross_entropy", "class_weights": [0, 0, 0]}), "/loss/class_weights: expected a number above 0"),
                (changed(CLASSIFIER, loss={"type": "cross_entropy", "class_weights": [1, -1, 0]}), "/loss/class_weights: expected numbers >= 0, got -1")):
            with self.subTest(words):
                self.assertIn(words, self.run_tool("check", self.write("wrong.json", experiment), code=2)[1])

    def test_the_list_shows_settings(self):
        self.assertIn("label_smoothing", self.run_tool("list", "losses", "cross_entropy")[0])
        self.assertIn("[0.1,0.5,0.9]", "".join(self.run_tool("list", "losses", "quantile")[0].split()))

    def test_the_confusion_matrix_has_the_scores_of_each_class(self):
        self.train("run", experiment=changed(CLASSIFIER, train__epochs=5, metrics=[
            "f1", *(f"{key}_{c}" for key in ("f1", "precision", "recall") for c in range(3))]))
        found = json.loads(self.run_tool("eval", "run", "--confusion", "--json")[0])
        matrix, scores = found["confusion"], []
        for c in range(3):
            actual, predicted = sum(matrix[c]), sum(row[c] for row in matrix)
            for key, value in (("precision", predicted), ("recall", actual), ("f1", (actual + predicted) / 2)):
                wanted = matrix[c][c] / value if value else None
                self.assertEqual(found[f"{key}_{c}"], found["classes"][c][key])
                if wanted is None:
                    self.assertIsNone(found["classes"][c][key])
                else:
                    self.assertAlmostEqual(found["classes"][c][key], wanted)
            if actual + predicted:
                scores.append(2 * matrix[c][c] / (actual + predicted))
        self.assertAlmostEqual(found["f1"], sum(scores) / len(scores))
        self.assertIn("precision", self.run_tool("eval", "run", "--confusion")[0])


if __name__ == "__main__":
    main()
