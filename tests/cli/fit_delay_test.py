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

    def fit(self, times, values, noise, seed, experiment=MACKEY_GLASS, name="readings.csv"):
        draw = random.Random(seed)
        self.write(name, "t,y\n" + "".join(f"{t!r},{y + draw.gauss(0, noise)!r}\n" for t, y in zip(times, values)))
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

    def test_errors(self):
        self.write("readings.csv", "t,y\n0,1\n1,2\n2,1\n1.5,3\n")
        self.write("e.json", MACKEY_GLASS)
        self.refused(["readings.csv", "times ascend"], "fit", "e.json")
        self.write("readings.csv", "t,y\n0,1\n1,2\n2,1\n")
        self.write("e.json", changed(MACKEY_GLASS, data__target="z"))
        self.refused(["unknown column 'z'"], "fit", "e.json")
        self.write("e.json", changed(MACKEY_GLASS, fit__force="dta"))
        self.refused(["/fit/force", "did you mean 'data'"], "fit", "e.json")

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
