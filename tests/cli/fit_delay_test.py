"""`lagtape fit` of equations in continuous time: Mackey-Glass recovered from uneven, noisy readings."""

import json
import math
import random

from tool import ToolTest, changed, main, slow

TRUE = {"a": 0.2, "b": 0.1, "p": 10, "tau": 17, "y0": 0.9}
MACKEY_GLASS = {
    "name": "mg",
    "data": {"path": "readings.csv", "time": "t", "target": "y"},
    "cells": {"mackey_glass": {
        "params": {"a": {"start": 0.26, "min": 0}, "b": {"start": 0.13, "min": 0}, "p": {"start": 7, "min": 0},
                   "tau": {"start": 12, "min": 5, "max": 40}, "y0": {"start": 1, "min": 0}},
        "state": {"y": 1}, "history": {"y": "y0"},
        "ode": ["z = y(t - tau)", "dy = a * z / (1 + z ^ p) - b * y"], "output": "y",
        "solver": {"h": {"lag": "tau", "parts": 34}}}},
    "fit": {"force": "data"}}
#: Cramer-Rao bounds in % of the values at a noise of 0.01.
BOUNDS = {"a": 0.314, "b": 0.352, "p": 0.327, "tau": 0.0468, "y0": 0.102}


class DelayFitTest(ToolTest):
    def readings(self, count=200, end=300):
        """Times, and the states there without noise."""
        draw = random.Random(1)
        times = sorted(draw.uniform(0, end) for _ in range(count))
        self.write("times.csv", "t\n" + "".join(f"{t!r}\n" for t in times))
        self.write("solve.json", {key: value for key, value in MACKEY_GLASS.items() if key in ("name", "cells")})
        params = [word for name, value in TRUE.items() for word in ("--param", f"{name}={value}")]
        solved = json.loads(self.run_tool("solve", "solve.json", "--times", "times.csv", "--json", *params)[0])
        return times, solved["y"]["y"]

    def fit(self, times, values, noise, seed, experiment=MACKEY_GLASS, name="readings.csv", state="y"):
        draw = random.Random(seed)
        self.write(name, f"t,{state}\n" + "".join(f"{t!r},{y + draw.gauss(0, noise)!r}\n" for t, y in zip(times, values)))
        self.write("fit.json", experiment)
        return json.loads(self.run_tool("fit", "fit.json", "--json")[0])

    def test_mackey_glass_is_recovered_from_30_percent_off(self):
        times, values = self.readings()
        found = self.fit(times, values, 0.01, 7)
        self.assertLess(found["rmse"], 0.012)
        for name, row in found["params"].items():
            error = abs(row["estimate"] / TRUE[name] - 1) * 100
            self.assertLess(error, 4 * BOUNDS[name], name)
            self.assertLess(abs(row["standard_error"] / TRUE[name] * 100 / BOUNDS[name] - 1), 0.5, name)

    def test_files_share_params_and_have_their_own(self):
        rows = []
        for y0 in (0.5, 2.0):
            rows.append("t,y\n" + "".join(f"{t / 4},{y0 * math.exp(-0.7 * t / 4)!r}\n" for t in range(20)))
        self.write("one.csv", rows[0])
        self.write("two.csv", rows[1])
        self.write("fit.json", {
            "name": "decay", "data": {"path": ["one.csv", "two.csv"], "target": "y"}, "fit": {"own": ["y0"]},
            "cells": {"decay": {"params": {"rate": {"start": 1, "min": 0}, "y0": 1}, "state": {"y": 1}, "history": {"y": "y0"},
                                "ode": ["dy = -rate * y"], "output": "y", "solver": {"h": 0.05}}}})
        params = json.loads(self.run_tool("fit", "fit.json", "--json")[0])["params"]
        self.assertAlmostEqual(params["rate"]["estimate"], 0.7, 5)
        self.assertAlmostEqual(params["y0 of one.csv"]["estimate"], 0.5, 5)
        self.assertAlmostEqual(params["y0 of two.csv"]["estimate"], 2, 5)

    def test_shooting_finds_what_a_plain_fit_does_not(self):
        times, values = self.readings()
        found = [self.fit(times, values, 0.05, 7, changed(MACKEY_GLASS, fit=section)) for section in ({}, {"shoot": 10}, {"grow": [300]}, {"force": "data", "grow": 2})]
        self.assertGreater(found[0]["rmse"], 0.1)
        self.assertLess(found[1]["rmse"], 0.055)
        self.assertLess(abs(found[1]["params"]["tau"]["estimate"] / 17 - 1), 0.02)
        self.assertEqual(sorted(found[1]["params"]), sorted(TRUE))
        self.assertAlmostEqual(found[2]["rmse"], found[0]["rmse"], 6)  # the horizon is the whole, so the fit is the same
        self.assertAlmostEqual(found[3]["rmse"], found[1]["rmse"], 6)

    def test_growing_horizons_find_a_frequency(self):
        self.write("readings.csv", "t,x\n" + "".join(f"{t / 5},{math.cos(1.7 * t / 5)!r}\n" for t in range(300)))
        spring = {"name": "spring", "data": {"path": "readings.csv", "target": "x"},
                  "cells": {"spring": {"params": {"w": {"start": 1.3, "min": 0}}, "state": {"x": 1, "v": 1}, "history": {"x": 1, "v": 0},
                                       "ode": ["dx = v", "dv = -w ^ 2 * x"], "output": "x", "solver": {"h": 0.05}}}}
        for section, is_found in (({}, False), ({"grow": [3, 10, 30]}, True), ({"grow": 5}, True), ({"grow": True}, True), ({"shoot": 20}, True)):
            self.write("e.json", {**spring, "fit": section})
            found = json.loads(self.run_tool("fit", "e.json", "--json")[0])
            self.assertEqual(abs(found["params"]["w"]["estimate"] - 1.7) < 1e-4, is_found, (section, found["params"]))

    def levels(self, **section):
        """Two levels with errors of different sizes, of which one reading in three is missing: the means are known."""
        draw = random.Random(3)
        rows = [(draw.gauss(2, 0.1), draw.gauss(500, 40)) for _ in range(90)]
        self.write("levels.csv", "t,y,z,s\n" + "".join(f"{t},{y if t % 3 else ''},{z if t % 3 != 1 else ''},0.2\n" for t, (y, z) in enumerate(rows)))
        self.write("e.json", {"name": "levels", "data": {"path": "levels.csv", "target": ["y", "z"]}, "fit": section,
                              "cells": {"levels": {"params": {"c": 1, "d": 1}, "state": {"y": 1, "z": 1}, "history": {"y": "c", "z": "d"},
                                                   "ode": ["dy = 0 * y", "dz = 0 * z"], "output": "y", "solver": {"h": 1}}}})
        known = [[y for t, (y, _) in enumerate(rows) if t % 3], [z for t, (_, z) in enumerate(rows) if t % 3 != 1]]
        return json.loads(self.run_tool("fit", "e.json", "--json")[0]), known

    def test_missing_readings_and_targets_with_errors_of_their_own(self):
        for section, errors in (({}, None), ({"deviation": {"y": 0.1, "z": 40}}, (0.1, 40)), ({"deviation": {"z": 40, "y": "s"}}, (0.2, 40)),
                                ({"deviation": ["s", 20]}, (0.2, 20)), ({"deviation": 3}, (3, 3)), ({"deviation": "s"}, (0.2, 0.2))):
            found, known = self.levels(**section)
            for i, (name, readings) in enumerate(zip("cd", known)):
                row, n = found["params"][name], len(readings)
                mean = sum(readings) / n
                size = errors[i] if errors else math.sqrt(sum((r - mean) ** 2 for r in readings) / n)
                self.assertLess(abs(row["estimate"] - mean), 1e-6 * mean)
                self.assertLess(abs(row["standard_error"] / (size / math.sqrt(n)) - 1), 0.02 if not errors else 1e-9, (section, name))
            self.assertEqual(found["readings"], 120)
        found, known = self.levels()
        self.assertLess(abs(found["rmse_of"]["z"] / 40 - 1), 0.2)
        self.refused(["/fit/deviation", "unknown target 'x'"], "fit", "e.json", "--set", 'fit.deviation={"x": 1, "y": 1, "z": 1}')
        self.refused(["/fit/deviation", "no deviation of 'z'"], "fit", "e.json", "--set", 'fit.deviation={"y": 1}')
        self.refused(["unknown column 'w'"], "fit", "e.json", "--set", "fit.deviation=w")

    def test_charts_profiles_and_starts(self):
        self.write("one.csv", "t,y\n" + "".join(f"{t / 4},{2 * math.exp(-0.7 * t / 4) + 0.01 * math.sin(9 * t)!r}\n" for t in range(30)))
        cell = {"params": {"rate": {"start": 1, "min": 0}, "y0": {"start": 1, "min": 0}}, "state": {"y": 1}, "history": {"y": "y0"},
                "ode": ["dy = -rate * y"], "output": "y", "solver": {"h": 0.05}}
        self.write("e.json", {"name": "decay", "data": {"path": "one.csv", "target": "y"}, "cells": {"decay": cell},
                              "optimizer": {"type": "levenberg_marquardt"}, "fit": {"profile": ["rate"], "adam": 20, "lr": 0.05}})
        first = self.run_tool("fit", "e.json", "--json", "--plot", "charts")[0]
        found = json.loads(first)
        self.assertEqual(sorted(file.name for file in (self.folder / "charts").iterdir()), ["fit.svg", "profile-rate.svg", "residuals.svg"])
        for file in (self.folder / "charts").iterdir():
            self.assertIn("<svg", file.read_text())
        self.assertLess(abs(found["profiles"]["rate"]["low"] / found["params"]["rate"]["low"] - 1), 0.01)
        self.assertEqual(found["data"][0]["t"], [t / 4 for t in range(30)])
        self.write("first.json", first)
        again = json.loads(self.run_tool("fit", "e.json", "--json", "--start", "first.json", "--set", "fit.adam=0")[0])
        self.assertLess(again["steps"], found["steps"])
        self.assertAlmostEqual(again["params"]["rate"]["estimate"], found["params"]["rate"]["estimate"], 8)
        solved = json.loads(self.run_tool("solve", "e.json", "--fit", "first.json", "--times", "0.5", "--json")[0])
        self.assertAlmostEqual(solved["y"]["y"][0], found["data"][0]["fitted"][2], 12)
        self.write("two.csv", "t,y\n" + "".join(f"{t / 4},{3 * math.exp(-found['params']['rate']['estimate'] * t / 4)!r}\n" for t in range(5)))
        one = json.loads(self.run_tool("fit", "e.json", "--json", "--start", "first.json", "--set", "fit={}", "--set", 'fit.only=["y0"]',
                                       "--set", "data.path=two.csv")[0])
        self.assertEqual(list(one["params"]), ["y0"])
        self.assertAlmostEqual(one["params"]["y0"]["estimate"], 3, 6)
        self.refused(["/fit/only", "unknown param 'x0'"], "fit", "e.json", "--set", 'fit.only=["x0"]')
        self.refused(["nothing.json"], "solve", "e.json", "--times", "1", "--fit", "nothing.json")
        self.write("other.json", '{"params": {"x": {"estimate": 1}}}')
        self.refused(["no estimate of a param of this fit"], "fit", "e.json", "--start", "other.json")

    def test_a_network_in_the_right_side_is_fitted(self):
        # dy = -0.5 y + tanh(2 y(t - 1)) by four hidden units
        truth = {"params": {}, "state": {"y": 1}, "history": {"y": 0.3}, "ode": ["dy = -0.5 * y + tanh(2 * y(t - 1))"], "solver": {"h": 0.1}}
        self.write("truth.json", {key: value for key, value in truth.items() if value != {}})
        self.run_tool("solve", "truth.json", "--times", "0:12:0.2", "--output", "readings.csv")
        self.write("e.json", {"name": "hybrid", "data": {"path": "readings.csv", "target": "y"}, "fit": {"force": "data", "adam": 100},
                              "cells": {"hybrid": {"params": {"k": {"start": 1, "min": 0}}, "state": {"y": 1}, "history": {"y": 0.3},
                                                   "weights": {"W": [4, 1], "b": [4], "v": [1, 4]},
                                                   "ode": ["dy = -k * y + sum(v @ tanh(W @ y(t - 1) + b))"], "output": "y", "solver": {"h": 0.1}}}})
        found = json.loads(self.run_tool("fit", "e.json", "--json")[0])
        self.assertLess(found["rmse"], 2e-3)
        self.assertIn("W[3]", found["params"])

    def test_errors(self):
        self.write("readings.csv", "t,y\n0,1\n1,2\n2,1\n1.5,3\n")
        self.write("e.json", MACKEY_GLASS)
        self.refused(["readings.csv", "times ascend"], "fit", "e.json")
        self.write("readings.csv", "t,y\n0,1\n1,2\n2,1\n")
        self.write("e.json", changed(MACKEY_GLASS, data__target="z"))
        self.refused(["unknown column 'z'"], "fit", "e.json")
        self.write("e.json", changed(MACKEY_GLASS, fit__force="dta"))
        self.refused(["/fit/force", "did you mean 'data'"], "fit", "e.json")

    def test_a_state_of_another_alphabet_is_forced_in_the_same_way(self):
        times, values = self.readings(60, 100)
        cell = changed(MACKEY_GLASS["cells"]["mackey_glass"], state={"θ": 1}, history={"θ": "y0"}, output="θ",
                       ode=["z = θ (t - tau)", "dθ = a * z / (1 + z ^ p) - b * θ  # θ(t) itself"])
        greek = changed({**MACKEY_GLASS, "cells": {"mackey_glass": cell}}, data__target="θ")
        found = [self.fit(times, values, 0.01, 7, experiment, state=state)["params"]
                 for experiment, state in ((MACKEY_GLASS, "y"), (greek, "θ"))]
        self.assertEqual(found[0], found[1])

    @slow
    def test_intervals_cover_over_200_seeds(self):
        times, values = self.readings()
        found = [self.fit(times, values, 0.05, 1000 + seed) for seed in range(200)]
        good = [one for one in found if one["rmse"] < 0.06]
        self.assertGreaterEqual(len(good), 175)
        for name, true in TRUE.items():
            rows = [one["params"][name] for one in good]
            share = sum(row["low"] <= true <= row["high"] for row in rows) / len(rows)
            self.assertTrue(0.90 <= share <= 0.99, (name, share))
            rms = math.sqrt(sum((row["estimate"] / true - 1) ** 2 for row in rows) / len(rows)) * 100
            self.assertLessEqual(rms, 1.2 * 5 * BOUNDS[name], name)

    @slow
    def test_of_16_seeds_14_are_found_with_much_noise_and_all_with_little(self):
        times, values = self.readings()
        for noise, wanted in ((0.05, 14), (0.01, 16)):
            found = [self.fit(times, values, noise, 100 + seed) for seed in range(16)]
            good = [one for one in found if one["rmse"] < 1.2 * noise]
            self.assertGreaterEqual(len(good), wanted)
            for name, true in TRUE.items():
                errors = [(one["params"][name]["estimate"] / true - 1) * 100 for one in good]
                rms = math.sqrt(sum(error ** 2 for error in errors) / len(errors))
                self.assertLessEqual(rms, 1.2 * BOUNDS[name] * noise / 0.01, name)


if __name__ == "__main__":
    main()
