"""Cells in continuous time: integrals over the past, and histories out of data."""

import json

from tool import ToolTest, main


def lag(start=1.0):
    return {"start": start, "min": 0.5, "max": 3}


#: A past that fades, over a window.
INTEGRAL = {"params": {"a": 0.7, "c": 0.4, "tau": lag(1.3), "y0": 1.2}, "state": {"y": 1}, "history": {"y": "y0"},
            "ode": ["dy = -a * integral(exp(-c * s) * y, 0, tau, points = 16) + 0.2 * cos(t)"], "output": "y", "solver": {"h": 0.0025}}
#: The same as an equation of one lag, since the integral has a derivative.
CHAIN = {"params": INTEGRAL["params"], "state": {"y": 1, "E": 1}, "history": {"y": "y0", "E": "y0 * (1 - exp(-c * tau)) / c"},
         "ode": ["dy = -a * E + 0.2 * cos(t)", "dE = y - exp(-c * tau) * y(t - tau) - c * E"], "output": "y", "solver": {"h": {"lag": "tau", "parts": 100}}}


class SolvePastTest(ToolTest):
    def solve(self, cell, times, *arguments):
        self.write("cell.json", cell)
        return json.loads(self.run_tool("solve", "cell.json", "--times", times, "--json", "--derivatives", *arguments)[0])

    def test_integrals_over_the_past(self):
        """Points are exact where the window is smooth, from t = tau on; before, the kink at t = 0 is in it."""
        found, exact = self.solve(INTEGRAL, "1,4,5,7"), self.solve(CHAIN, "1,4,5,7")
        for of in (lambda one: one["y"]["y"], *(lambda one, name=name: one["d"][name]["y"] for name in INTEGRAL["params"])):
            self.near(of(found)[1:], of(exact)[1:], 1e-7)
            self.near(of(found)[:1], of(exact)[:1], 1e-3)

    def test_points_and_weights_of_integrals(self):
        """Gauss's points are exact for polynomials: of y = t ^ 5 over the window by three of them."""
        history = {"params": {"tau": lag(1.5)}, "state": {"y": 1}, "history": {"y": "t ^ 5"}, "solver": {"h": 1 / 64}}
        for points, exact in ((3, True), (2, False)):
            cell = {**history, "ode": [f"dy = integral(y, 0.5, tau, points = {points})"]}
            # y(h) = the integral over t of ((t - 0.5)^6 - (t - tau)^6) / 6, while the window is before 0
            value = lambda tau: ((0.25 - 0.5) ** 7 - (-0.5) ** 7 - (0.25 - tau) ** 7 + (-tau) ** 7) / 42
            found = self.solve(cell, "0.25")
            error = abs(found["y"]["y"][0] - value(1.5))
            self.assertTrue(error < 1e-8 if exact else error > 1e-5, error)
            if exact:
                self.assertAlmostEqual(found["d"]["tau"]["y"][0], (value(1.5 + 1e-5) - value(1.5 - 1e-5)) / 2e-5, 6)
        weighted = {**history, "params": {"tau": lag(1.5), "w": {"start": 1, "size": 3}}}
        found = self.solve({**weighted, "ode": ["dy = integral(y, 0.5, tau, weights = w)"]}, "0.25")
        self.near(found["y"]["y"], [value(1.5)], 1e-8)
        self.near([sum(found["d"][f"w[{i}]"]["y"][0] for i in range(3))], found["y"]["y"], 1e-12)  # linear in the weights
        squares = self.solve({**history, "history": {"y": "1 + t"}, "ode": ["dy = integral(y ^ 2 * s, 0.5, tau)"]}, "0.25")
        exact = 1 + sum((sum((1 + t - s) ** 2 * s for s in [0.5 + (j + 0.5) / 2000 for j in range(2000)]) / 2000) for t in [(i + 0.5) / 800 for i in range(200)]) / 800
        self.near(squares["y"]["y"], [exact], 1e-7)

    def test_integrals_that_cannot_be(self):
        for text, words in (("integral(y, 0)", "integral(E, a, b)"), ("integral(z, 0.5, tau)", "'z' is a value at t"), ("integral(y, 0.5, tau, points = 0)", "1 to 64 points"),
                            ("integral(u, 0.5, tau)", "Make a state of it"), ("integral(integral(y, 1, 2), 0.5, tau)", "no integral within"), ("integral(y, 0, tau)", "largest h"),
                            ("integral(y, 0.5, tau, points = 2, weights = w)", "3 weights, 2 points"), ("integral(y, 0.5, tau, order = 2)", "points = k and weights = w")):
            cell = {"params": {"tau": lag(1.5), "w": {"start": 1, "size": 3}}, "state": {"y": 1}, "history": {"y": 1}, "input": "u",
                    "ode": ["z = y ^ 2", f"dy = {text} + 0 * z + 0 * sum(u) + 0 * sum(w)"], "solver": {"h": 0.0625}}
            self.write("cell.json", cell)
            self.refused([words], "solve", "cell.json", "--times", "1")
        self.write("e.json", {"name": "e", "data": {"task": "random", "length": 8, "input": 1, "output": 1, "train": 2}, "cells": {"c": {
            "state": {"h": 1}, "step": ["h' = integral(h, 0, 1) + x"], "output": "h'"}}, "model": {"layers": [{"cell": "c", "units": 1}]}, "loss": "mse",
            "optimizer": {"type": "adam", "lr": 0.01}, "train": {"epochs": 1}})
        self.refused(['of an "ode"'], "check", "e.json")

    def test_models_that_read_nothing_but_time(self):
        self.write("y.csv", "y\n" + "".join(f"{2.718281828 ** (-0.1 * k)}\n" for k in range(80)))
        cells = {"c": {"params": {"a": {"start": 0.5, "min": 0}, "y0": 1.2}, "state": {"y": 1}, "history": {"y": "y0"}, "ode": ["dy = -a * y"],
                       "output": "y", "solver": {"h": 0.5}}}
        experiment = {"name": "e", "data": {"task": "series", "path": "y.csv", "time": None, "input": [], "target": "y", "window": 8, "horizon": 0,
                                            "every_step": True, "normalize_target": False}, "cells": cells, "model": {"layers": [{"cell": "c"}], "readout": "none"},
                      "loss": "mse", "optimizer": {"type": "adam", "lr": 0.01}, "train": {"epochs": 2, "batch": 4, "precision": "f64"}}
        self.write("e.json", experiment)
        self.assertNotIn("carries no information", self.run_tool("train", "e.json", "--out", "run")[1])
        params = {row["name"]: row for row in json.loads(self.run_tool("inspect", "run", "--json")[0])["layers"]}
        self.assertTrue(params)
        self.run_tool("predict", "run", "--input", "y.csv", "--output", "p.csv")
        rows = [float(line.split(",")[2]) for line in (self.folder / "p.csv").read_text().split()[1:9]]
        ratio = rows[1] / rows[0]  # what is predicted decays, whatever the recording says
        for a, b in zip(rows, rows[1:]):
            self.assertAlmostEqual(b / a, ratio, 9)
        self.assertLess(ratio, 0.9)
        self.run_tool("forecast", "run", "--input", "y.csv", "--steps", "4")
        self.run_tool("eval", "run", "--horizon", "4")
        self.run_tool("check", "e.json", "--gradients")
        self.write("g.json", {**experiment, "model": {"layers": [{"cell": "gru", "units": 3}], "readout": {"at": "every_step"}}})
        self.run_tool("train", "g.json", "--out", "g")


if __name__ == "__main__":
    main()
