"""Errors of forecasts by how far they look ahead, beside those of baselines."""

import json
import math
import random
import re
import statistics

from tool import ToolTest, changed, main, rows_of, slow

SMALL = {
    "name": "small",
    "data": {"task": "series", "path": "own.csv", "window": 20},
    "model": {"layers": [{"cell": "tau_gru", "units": 8, "tau": 12}], "readout": {"at": "every_step"}},
    "loss": "mse",
    "optimizer": {"type": "adam", "lr": 0.02},
    "train": {"epochs": 1, "batch": 8},
}


class HorizonsTest(ToolTest):
    @slow
    def test_horizons_are_scored_from_many_rows(self):
        numbers = [round(math.sin(2 * math.pi * n / 12) + 0.002 * n, 5) for n in range(400)]
        self.write("own.csv", "v\n" + "".join(f"{number}\n" for number in numbers))
        self.train("run", experiment=changed(SMALL, train__epochs=3))
        found = json.loads(self.run_tool("eval", "run", "--horizon", "1..6", "--season", "12", "--json")[0])
        origins = range(340, 395)  # rows of the test set with six of its rows from there on
        self.assertEqual(found["origins"], len(origins))
        squares = [[0.0] * 6 for _ in range(3)]
        for row in origins:
            self.write("past.csv", "v\n" + "".join(f"{number}\n" for number in numbers[:row]))
            predicted = rows_of(self.run_tool("forecast", "run", "--input", "past.csv", "--steps", "6")[0])
            for step in range(6):
                guesses = float(predicted[step]["prediction"]), numbers[row - 1], numbers[row - 12 + step]
                for sums, guess in zip(squares, guesses, strict=True):
                    sums[step] += (guess - numbers[row + step]) ** 2
        for key, sums in zip(("rmse", "persistence_rmse", "seasonal_rmse"), squares, strict=True):
            for value, total in zip(found["targets"]["v"][key], sums, strict=True):
                self.assertAlmostEqual(value, math.sqrt(total / len(origins)), places=6)
        self.assertIn("last value", self.run_tool("eval", "run", "--horizon", "3")[0])
        self.train("filled", experiment=changed(SMALL, data__input=["v"], data__missing="interpolate"))
        self.write("holes.csv", "v\n" + "".join("NA\n" if n == 396 else f"{1 if n < 396 else 5}\n" for n in range(400)))
        score = json.loads(self.run_tool("eval", "filled", "--data", "holes.csv", "--split", "all", "--horizon", "1", "--json")[0])
        self.assertEqual(score["origins"], 190)  # every other row from 20 on: 396 is among them, and 3 is not a truth there
        self.assertEqual(score["targets"]["v"]["persistence_rmse"], [0])
        self.run_tool("eval", "run", "--horizon", "6", "--season", "12", "--plot", "horizon.svg")
        picture = (self.folder / "horizon.svg").read_text()
        for words in ("model", "last value", "value 12 before", "Theta", "ridge", "steps ahead"):
            self.assertIn(words, picture)
        self.assertEqual(len(re.findall("<polyline", picture)), 5)
        self.assertIn("expected a number of steps", self.run_tool("eval", "run", "--horizon", "2..3", code=2)[1])

    def test_valid_time_spectrum_and_histogram_are_those_of_numpy(self):
        import numpy

        numbers = [3.7 * 0.5]
        for _ in range(150):  # a logistic map, smoothed
            numbers.append(round(3.7 * numbers[-1] / 3.7 * (1 - numbers[-1] / 3.7) * 3.7, 6))
        self.write("own.csv", "v\n" + "".join(f"{number}\n" for number in numbers))
        self.train("run", experiment=changed(SMALL, train__epochs=2))
        steps = 9
        found = json.loads(self.run_tool("eval", "run", "--horizon", str(steps), "--json")[0])
        target = found["targets"]["v"]
        origins = range(len(numbers) - steps - found["origins"] + 1, len(numbers) - steps + 1)
        truth = numpy.array([numbers[row : row + steps] for row in origins])
        model = []
        for row in origins:
            self.write("past.csv", "v\n" + "".join(f"{number}\n" for number in numbers[:row]))
            predicted = rows_of(self.run_tool("forecast", "run", "--input", "past.csv", "--steps", str(steps))[0])
            model.append([float(one["prediction"]) for one in predicted])
        model = numpy.array(model)
        wrong = numpy.abs(model - truth) > 0.4 * truth.std()
        valid = numpy.where(wrong.any(1), wrong.argmax(1), steps)
        self.assertAlmostEqual(target["valid_time"]["mean"], valid.mean(), 9)
        self.assertEqual((target["valid_time"]["median"], target["valid_time"]["throughout"]), (numpy.median(valid), (valid == steps).sum()))
        self.assertTrue(0 < valid.mean() < steps, valid)
        window = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(steps) / steps)

        def hellinger(a, b):
            return math.sqrt(1 - (numpy.sqrt(a * b) / math.sqrt(a.sum() * b.sum())).sum())

        powers, shares = [], []
        for rows, name in ((model, "model"), (truth, "truth")):
            powers.append((numpy.abs(numpy.fft.rfft((rows - rows.mean(1, keepdims=True)) * window, axis=1)) ** 2 / steps).mean(0))
            self.assertLess(numpy.abs(powers[-1] - target["spectrum"][name]).max(), 1e-5 * powers[-1].max())
            shares.append(numpy.histogram(numpy.clip(rows, truth.min(), truth.max()), 30, (truth.min(), truth.max()))[0] / rows.size)
            self.assertLess(numpy.abs(shares[-1] - target["histogram"][name]).sum(), 2.5 / rows.size)  # f32 at an edge
        self.assertLess(numpy.abs(numpy.fft.rfftfreq(steps) - target["spectrum"]["frequency"]).max(), 1e-12)
        self.assertAlmostEqual(target["spectrum"]["distance"], hellinger(powers[0][1:], powers[1][1:]), 5)
        self.assertAlmostEqual(target["histogram"]["distance"], hellinger(*shares), 2)
        self.assertGreater(target["histogram"]["distance"], 0.05)
        self.assertIn("valid for", self.run_tool("eval", "run", "--horizon", str(steps))[0])

    def test_horizons_are_scored_beside_baselines_with_a_verdict(self):
        """A linear recurrence with noise: a ridge regression of its lags is the best forecast, and 1 % of a training worse."""
        draw = random.Random(2)
        numbers = [0.0, 0.0]
        for _ in range(2000):
            numbers.append(round(1.6 * numbers[-1] - 0.9 * numbers[-2] + draw.gauss(0, 1), 6))
        self.write("own.csv", "v\n" + "".join(f"{number}\n" for number in numbers))
        self.train("run", experiment=SMALL)
        found = json.loads(self.run_tool("eval", "run", "--horizon", "3", "--json")[0])
        scores = found["targets"]["v"]
        for step, best in enumerate((1, math.hypot(1, 1.6), math.hypot(1, 1.6, 1.6 * 1.6 - 0.9))):
            self.assertAlmostEqual(scores["ridge_rmse"][step] / best, 1, delta=0.1)
            self.assertGreater(scores["theta_rmse"][step], 1.2 * best)
        overall = scores["overall"]
        self.assertEqual(list(overall), ["model", "persistence", "theta", "ridge"])
        self.assertAlmostEqual(overall["ridge"]["rmse"], math.sqrt(sum(rmse ** 2 for rmse in scores["ridge_rmse"]) / 3), places=9)
        self.assertAlmostEqual(overall["model"]["mae"], sum(scores["mae"]) / 3, places=9)
        self.assertEqual((found["best_baseline"], found["measure"], found["of_use"]), ("ridge", "rmse", False))
        self.assertAlmostEqual(found["ratio"], overall["model"]["rmse"] / overall["ridge"]["rmse"], places=9)
        text = self.run_tool("eval", "run", "--horizon", "3")[0]
        self.assertIn("\nThe model is of no use: a ridge regression does better.", text)
        self.assertNotIn("ridge", self.run_tool("eval", "run", "--horizon", "3", "--split", "all")[0])
        self.write("pattern.csv", "v\n" + "".join(f"{n % 7}\n" for n in range(400)))
        self.train("pattern", experiment=changed(SMALL, data__path="pattern.csv"))
        exact = json.loads(self.run_tool("eval", "pattern", "--horizon", "9", "--season", "7", "--json")[0])["targets"]["v"]["overall"]
        self.assertEqual(exact["seasonal"]["rmse"], 0)
        for key in ("theta", "ridge"):
            self.assertLess(exact[key]["rmse"], 1e-3)

    def test_a_line_over_missing_cells_does_not_reach_over_the_row_where_a_forecast_begins(self):
        def rows(later):
            return "v,p\n" + "".join(
                ("NA,NA" if 298 <= n < 300 else f"{n % 5},{n % 3}" if n < 298 else f"{later},{later}") + "\n" for n in range(400))
        self.write("own.csv", rows(7))
        self.train("run", experiment=changed(
            SMALL, data__target=["v"], data__past=["p"], data__missing="interpolate"))
        for later in (7, 1000):
            self.write(f"{later}.csv", rows(later))
        first, other = [self.run_tool("forecast", "run", "--input", f"{later}.csv", "--from", "300", "--steps", "1")[0].split("\n")[1]
                        for later in (7, 1000)]
        self.assertEqual(first.rsplit(",", 1)[0], other.rsplit(",", 1)[0])
        self.write("holes.csv", "v,p\n" + "".join("NA,0\n" if n == 397 else f"{1 if n < 397 else 5},0\n" for n in range(400)))
        score = json.loads(self.run_tool("eval", "run", "--data", "holes.csv", "--split", "all", "--horizon", "1", "--json")[0])
        self.assertAlmostEqual(score["targets"]["v"]["persistence_rmse"][0], math.sqrt((5 - 1) ** 2 / score["origins"]))  # of row 398

    @slow
    def test_intervals_contain_the_truth_as_often_as_they_say(self):
        """Noise around a wave that the model learns."""
        draw = random.Random(11)
        self.write("own.csv", "v\n" + "".join(
            f"{10 * math.sin(2 * math.pi * n / 24) + draw.gauss(0, 1):.4f}\n" for n in range(6000)))
        self.train("run", experiment=changed(SMALL, data__window=48, train__epochs=8))
        for level in (0.5, 0.9):
            found = json.loads(self.run_tool("eval", "run", "--horizon", "12", "--interval", str(level), "--json")[0])["targets"]["v"]
            interval = found["interval"]
            self.assertAlmostEqual(interval["coverage"], level, delta=0.02)
            self.assertAlmostEqual(interval["coverage"], sum(interval["coverage_by_step"]) / 12, places=9)
            self.assertEqual(interval["level"], level)
            self.assertGreater(interval["calibrations"], 400)
            normal = 2 * statistics.NormalDist().inv_cdf((1 + level) / 2)
            self.assertAlmostEqual(interval["width"] / normal, found["overall"]["model"]["rmse"], delta=0.1)
        self.assertRegex(self.run_tool("eval", "run", "--horizon", "2", "--interval", "0.9")[0],
                         r"from the errors of \d+ forecasts in the validation rows: \d\d\.\d % of the truth in intervals of 90 %")
        rows = rows_of(self.run_tool("forecast", "run", "--input", "own.csv", "--from", "-12", "--steps", "12", "--interval", "0.9",
                                     "--plot", "band.svg")[0])
        self.assertEqual(list(rows[0]), ["step", "prediction", "lower", "upper", "truth"])
        for row in rows:
            prediction, lower, upper = (float(row[key]) for key in ("prediction", "lower", "upper"))
            self.assertAlmostEqual(prediction - lower, upper - prediction, places=4)
            self.assertAlmostEqual(upper - lower, interval["width"], delta=1)
        self.assertIn("90 %", (self.folder / "band.svg").read_text())
        # Later rows decide nothing.
        lines = (self.folder / "own.csv").read_text().splitlines()
        self.write("other.csv", "\n".join(lines[:-12] + ["1e3"] * 12) + "\n")
        other = rows_of(self.run_tool("forecast", "run", "--input", "other.csv", "--from", "-12", "--steps", "12", "--interval", "0.9")[0])
        self.assertEqual([row["lower"] for row in rows], [row["lower"] for row in other])

    def test_intervals_of_several_series_are_as_wide_as_their_noise(self):
        draw = random.Random(14)
        self.write("own.csv", "id,v\n" + "".join(
            f"{name},{scale * draw.gauss(0, 1):.4f}\n" for name, scale in (("a", 1), ("b", 100)) for _ in range(1500)))
        self.train("run", experiment=changed(SMALL, data={"task": "series", "path": "own.csv", "series": ["id"], "target": ["v"], "window": 20}))
        rows = rows_of(self.run_tool("forecast", "run", "--input", "own.csv", "--steps", "3", "--interval", "0.9")[0])
        widths = {name: [float(row["upper"]) - float(row["lower"]) for row in rows if row["id"] == name] for name in "ab"}
        normal = 2 * statistics.NormalDist().inv_cdf(0.95)
        for name, scale in (("a", 1), ("b", 100)):
            self.assertEqual(len(widths[name]), 3)
            for width in widths[name]:
                self.assertAlmostEqual(width / normal / scale, 1, delta=0.25)

    def test_intervals_that_cannot_be_made_are_refused(self):
        draw = random.Random(12)
        self.write("own.csv", "v\n" + "".join(f"{draw.gauss(0, 1):.4f}\n" for n in range(400)))
        self.train("run", experiment=SMALL)
        for level in ("0", "1", "1.5"):
            self.refused(["--interval: expected a probability above 0 and below 1, such as 0.9, got " + level],
                         "eval", "run", "--horizon", "2", "--interval", level)
        message = "an interval of 0.99 needs at least 99 earlier forecasts whose truth is known"
        self.refused([message, "There are 59"], "eval", "run", "--horizon", "2", "--interval", "0.99")
        self.refused([message, "There are 0"], "forecast", "run", "--input", "own.csv", "--from", "100", "--steps", "2", "--interval", "0.99")
        self.run_tool("eval", "run", "--horizon", "2", "--interval", "0.9")
        for split in ("valid", "all"):
            self.refused(["--split " + split], "eval", "run", "--horizon", "2", "--interval", "0.9", "--split", split)

    def test_quantiles_are_widened_or_narrowed_to_an_interval(self):
        draw = random.Random(13)
        self.write("own.csv", "v\n" + "".join(f"{draw.gauss(0, 1):.4f}\n" for n in range(6000)))
        self.train("run", experiment=changed(SMALL, data__horizon=3, loss={"type": "quantile", "levels": [0.2, 0.5, 0.8]}))
        found = json.loads(self.run_tool("eval", "run", "--horizon", "3", "--interval", "0.9", "--json")[0])
        self.assertEqual(found["measure"], "mae")
        scores = found["targets"]["v"]
        self.assertAlmostEqual(scores["quantile_interval"]["level"], 0.6)
        self.assertAlmostEqual(scores["quantile_interval"]["coverage"], 0.6, delta=0.1)
        self.assertAlmostEqual(scores["interval"]["coverage"], 0.9, delta=0.02)
        self.assertGreater(scores["interval"]["width"], scores["quantile_interval"]["width"])
        model = scores["overall"]["model"]
        self.assertAlmostEqual(model["crps"], 2 * model["pinball"])
        normal = [statistics.NormalDist().pdf(statistics.NormalDist().inv_cdf(level)) for level in (0.2, 0.5, 0.8)]
        self.assertAlmostEqual(model["pinball"], sum(normal) / 3, delta=0.03)  # of the true quantiles


if __name__ == "__main__":
    main()
