"""lagtape train: the run folder, what may not change a bit, and what ends a training."""

import json
import math
import struct
import unittest

from tool import CLASSIFIER, EXPERIMENT, ToolTest, changed, main, read_safetensors, slow


class RunFolderTest(ToolTest):
    def test_training_leaves_the_files_of_a_run(self):
        self.train("run")
        self.assertEqual({path.name for path in (self.folder / "run").iterdir()},
                         {"experiment.json", "metrics.csv", "metrics.jsonl", "weights.safetensors", "checkpoint", "summary.json"})

    def test_a_line_of_metrics_an_epoch_and_a_summary(self):
        self.train("run")
        rows = [json.loads(line) for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()]
        self.assertEqual([row["epoch"] for row in rows], [1, 2, 3])
        for row in rows:
            self.assertLessEqual({"epoch", "step", "train_loss", "valid_rmse", "lr", "seconds"}, row.keys())
        self.assertLess(rows[-1]["train_loss"], 0.5 * rows[0]["train_loss"])

        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertLessEqual({"params", "best_epoch", "valid", "test", "seconds", "us_per_step", "peak_rss_bytes", "plan",
                              "version", "seed"}, summary.keys())
        self.assertEqual(summary["best_epoch"], min(rows, key=lambda row: row["valid_rmse"])["epoch"])

    def test_a_curve_of_the_test_set_decides_nothing(self):
        self.train("run")
        self.train("watched", "--set", "train.evaluate_test=true")
        plain, watched = ([json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]
                          for run in ("run", "watched"))
        for before, row in zip(plain, watched, strict=True):
            self.assertNotIn("test_rmse", before)
            self.assertNotEqual(row["test_rmse"], row["valid_rmse"])
            self.assertEqual({key: row[key] for key in before if key != "seconds"},
                             {key: before[key] for key in before if key != "seconds"})
        summary = json.loads((self.folder / "watched/summary.json").read_text())
        best = watched[summary["best_epoch"] - 1]
        self.assertEqual((best["test_rmse"], best["test_loss"]), (summary["test"]["rmse"], summary["test"]["loss"]))
        tensors = [read_safetensors((self.folder / run / "weights.safetensors").read_bytes())[1] for run in ("run", "watched")]
        self.assertEqual(tensors[0], tensors[1])
        # A run may continue with the curve, or without it.
        self.run_tool("train", "run", "--resume", "--quiet", "--set", "train.evaluate_test=true", "--set", "train.epochs=4")
        rows = [json.loads(line) for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()]
        self.assertEqual(["test_rmse" in row for row in rows], [False] * 3 + [True])
        self.run_tool("train", "run", "--resume", "--quiet", "--set", "train.evaluate_test=false", "--set", "train.epochs=5")

    @slow
    def test_norms_of_weights_are_those_of_the_file_and_change_nothing(self):
        self.train("run", "--set", "train.keep=last")
        self.train("watched", "--set", "train.keep=last", "--set", "train.weight_norms=true")
        plain, watched = ([json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]
                          for run in ("run", "watched"))
        self.assertFalse([key for key in plain[-1] if key.startswith("norm_")])
        header, buffer = read_safetensors((self.folder / "watched/weights.safetensors").read_bytes())
        self.assertEqual(buffer, read_safetensors((self.folder / "run/weights.safetensors").read_bytes())[1])
        names = [name for name in header if name != "__metadata__"]
        self.assertEqual({"norm_" + name for name in names}, {key for key in watched[-1] if key.startswith("norm_")})
        for name in names:
            begin, end = header[name]["data_offsets"]
            values = struct.unpack(f"<{(end - begin) // 4}f", buffer[begin:end])
            self.assertAlmostEqual(watched[-1]["norm_" + name], math.sqrt(sum(value * value for value in values)), 12)
            self.assertNotEqual(watched[0]["norm_" + name], watched[-1]["norm_" + name])
        table = (self.folder / "watched/metrics.csv").read_text().splitlines()[0].split(",")
        self.assertLessEqual({"norm_" + name for name in names}, set(table))
        self.run_tool("analyze", "watched", "--plot", "charts/")
        chart = (self.folder / "charts/weights.svg").read_text()
        self.assertEqual(chart.count("<polyline"), len(names))
        self.run_tool("report", "watched", "--output", "watched.html")
        self.assertIn("Norms of the parameters", (self.folder / "watched.html").read_text())
        self.run_tool("analyze", "run", "--plot", "plain/")
        self.assertFalse((self.folder / "plain/weights.svg").exists())

    def test_eval_gives_the_numbers_of_the_summary(self):
        self.train("run")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        for split in ("valid", "test"):
            out, _ = self.run_tool("eval", "run", "--split", split, "--json")
            self.assertEqual(json.loads(out)["rmse"], summary[split]["rmse"])

    def test_eval_tells_which_classes_were_taken_for_which(self):
        self.train("run", experiment=CLASSIFIER)
        found = json.loads(self.run_tool("eval", "run", "--confusion", "--json")[0])
        matrix = found["confusion"]
        self.assertEqual((len(matrix), sum(map(sum, matrix))), (3, 8))
        self.assertEqual(sum(matrix[i][i] for i in range(3)) / 8, found["accuracy"])
        lines = self.run_tool("eval", "run", "--confusion")[0].splitlines()
        self.assertEqual([[int(word) for word in line.split()[1:4]] for line in lines[3:]], matrix)
        self.assertEqual([float(line.split()[6]) for line in lines[3:]], [round(one["f1"], 4) for one in found["classes"]])
        self.train("real", "--set", "train.epochs=1")
        self.assertIn("real numbers", self.run_tool("eval", "real", "--confusion", code=2)[1])

    def test_eval_draws_the_prediction_over_the_truth(self):
        self.train("run")
        plain, _ = self.run_tool("eval", "run")
        self.assertEqual(self.run_tool("eval", "run", "--plot", "forecast.svg")[0], plain)
        lines = [line for line in (self.folder / "forecast.svg").read_text().splitlines() if line.startswith("<polyline")]
        truth, prediction = (line.split('points="')[1].split('"')[0].split() for line in lines)
        self.assertEqual((len(truth), len(prediction)), (500, 500))
        self.assertNotEqual(truth, prediction)

    def test_eval_draws_nothing_where_there_is_nothing_to_draw(self):
        self.train("run", experiment=CLASSIFIER)
        before = self.snapshot()
        self.assertIn("cross_entropy", self.run_tool("eval", "run", "--plot", "forecast.svg", code=2)[1])
        self.assertIn(".svg", self.run_tool("eval", "run", "--plot", "forecast.jpg", code=2)[1])
        self.assertEqual(self.snapshot(), before)

    def test_the_experiment_of_a_run_trains_the_same_weights(self):
        weights = self.train("run")
        self.run_tool("train", "run/experiment.json", "--out", "again", "--quiet")
        self.assertEqual(self.weights("again"), weights)
        self.assertEqual((self.folder / "again/experiment.json").read_bytes(),
                         (self.folder / "run/experiment.json").read_bytes())

    def test_a_run_without_a_name_is_called_after_experiment_and_seed(self):
        path = self.write("experiment.json", changed(EXPERIMENT, train__epochs=1))
        self.run_tool("train", path)
        self.run_tool("train", path, "--seed", 7)
        self.assertNotEqual(self.weights("runs/small-0"), self.weights("runs/small-7"))

    def test_set_changes_the_experiment_by_pointer_and_by_dots(self):
        path = self.write("experiment.json", EXPERIMENT)
        self.run_tool("train", path, "--out", "run", "--set", "/train/epochs=1", "--set", "optimizer.lr=0.02")
        saved = json.loads((self.folder / "run/experiment.json").read_text())
        self.assertEqual((saved["train"]["epochs"], saved["optimizer"]["lr"]), (1, 0.02))

    def test_an_existing_run_is_an_error_and_stays_as_it_is(self):
        self.train("run")
        before = self.snapshot()
        _, err = self.run_tool("train", "experiment.json", "--out", "run", code=2)
        self.assertIn("--resume", err)
        self.assertEqual(self.snapshot(), before)

    def test_progress_goes_to_stderr_and_quiet_silences_it(self):
        path = self.write("experiment.json", EXPERIMENT)
        _, err = self.run_tool("train", path, "--out", "loud")
        self.assertIn("rmse", err)
        _, err = self.run_tool("train", path, "--out", "silent", "--quiet")
        self.assertEqual(err, "")


class KeptStateTest(ToolTest):
    def test_where_the_first_metric_is_no_number_the_loss_decides(self):
        """The area under the curve of one sequence, which has one class."""
        experiment = changed(CLASSIFIER, data__classes=2, data__valid=1, model__readout={"at": "last_step"}, metrics=["auc"],
                             loss="binary_cross_entropy", train__epochs=12, train__patience=4, optimizer__lr=0.05, seed=2)
        path = self.write("experiment.json", experiment)
        _, err = self.run_tool("train", path, "--out", "run")
        self.assertEqual(err.count("warning: auc is not finite on valid. While that lasts, the state with the smallest loss is kept"), 1)
        losses = [json.loads(line)["valid_loss"] for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()]
        best = losses.index(min(losses)) + 1
        self.assertGreater(best, 1)
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertEqual((summary["best_epoch"], len(losses)), (best, min(best + 4, 12)))

    def test_a_metric_that_is_infinitely_bad_decides_nothing(self):
        """A coefficient of determination where all targets of the validation set are equal."""
        values = [1 if 210 <= n < 255 else math.sin(n / 3) for n in range(300)]
        self.write("v.csv", "v\n" + "".join(f"{value:.4f}\n" for value in values))
        path = self.write("experiment.json", changed(EXPERIMENT, metrics=["r2"], train={"epochs": 20, "batch": 4}, optimizer__lr=0.02,
                                                     data={"task": "series", "path": "v.csv", "window": 16}))
        _, err = self.run_tool("train", path, "--out", "run")
        self.assertIn("warning: r2 is not finite on valid", err)
        losses = [json.loads(line)["valid_loss"] for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()]
        best = losses.index(min(losses)) + 1
        self.assertGreater(best, 1)
        self.assertEqual(json.loads((self.folder / "run/summary.json").read_text())["best_epoch"], best)


class FoundEarlyTest(ToolTest):
    def test_a_target_of_the_test_set_that_the_loss_cannot_have_is_found_before_the_first_step(self):
        self.write("v.csv", "x,y\n" + "".join(f"{n % 7},{n % 2 if n != 270 else 0.5}\n" for n in range(300)))
        path = self.write("experiment.json", changed(
            EXPERIMENT, metrics=["accuracy"], loss="binary_cross_entropy",
            data={"task": "series", "path": "v.csv", "window": 16, "input": ["x"], "target": ["y"], "normalize_target": False}))
        for command in (["check", path], ["train", path, "--out", "run"]):
            self.refused(["experiment.json: /loss: test: binary_cross_entropy needs targets that are 0 or 1. Got 0.5"], *command)

    def test_folders_of_a_series_of_seeds_are_looked_at_before_the_first_training(self):
        (self.folder / "run-2").mkdir()
        path = self.write("experiment.json", EXPERIMENT)
        self.refused(["run-2: exists already"], "train", path, "--seeds", 3, "--out", "run", "--quiet")


class SameBitsTest(ToolTest):
    def test_threads_change_no_bit(self):
        one = self.train("one", "--threads", 1)
        self.assertEqual(self.train("two", "--threads", 2), one)
        self.assertEqual(self.train("three", "--threads", 3), one)

    def test_memory_plans_change_no_bit_of_the_tensors(self):
        _, full = self.tensors("full")
        self.assertEqual(self.tensors("states")[1], full)

    def tensors(self, plan):
        return read_safetensors(self.train(plan, experiment=changed(EXPERIMENT, train__memory=plan)))

    def test_seeds_change_the_weights(self):
        self.assertNotEqual(self.train("zero"), self.train("one", "--seed", 1))


class DivergenceTest(ToolTest):
    def test_divergence_names_the_place_and_keeps_the_last_good_state(self):
        optimizer = {"type": "sgd", "lr": 1e30}
        path = self.write("experiment.json", changed(EXPERIMENT, optimizer=optimizer))
        _, err = self.run_tool("train", path, "--out", "run", "--quiet", code=3)
        self.assertRegex(err, r"epoch \d+.*step \d+")
        self.assertRegex(err, r"layers\.0\.|readout\.|loss")
        self.run_tool("eval", "run", "--json")


if __name__ == "__main__":
    main()
