"""Histories of cells in continuous time out of data, and trained ones, beside closed forms."""

import json

from tool import ToolTest, changed, main


def lag(start=1.0):
    return {"start": start, "min": 0.5, "max": 2}


#: Until t = tau the solution is the integral of the history, and then that of it.
CELL = {"params": {"a": -0.8, "tau": lag(1.3)}, "state": {"y": 1}, "history": {"y": "observed"}, "ode": ["dy = a * y(t - tau)"], "output": "y",
        "solver": {"h": {"lag": "tau", "parts": 64}}}
TIMES = [-2, -1.7, -1.2, -0.9, -0.35, 0]
VALUES = [0.3, 0.9, 1.4, 0.8, 0.2, 0.5]


def hermite(times, values):
    """The pieces, as coefficients of powers of t less the begin, of the cubic with slopes of parabolas."""
    rise = [(values[i + 1] - values[i]) / (times[i + 1] - times[i]) for i in range(len(times) - 1)]
    slopes = []
    for i, t in enumerate(times):
        k = min(max(i, 1), len(times) - 2)
        slopes.append(rise[k - 1] + (rise[k] - rise[k - 1]) / (times[k + 1] - times[k - 1]) * (2 * t - times[k - 1] - times[k]))
    return [(t, w, [values[i], slopes[i], (3 * rise[i] - 2 * slopes[i] - slopes[i + 1]) / w, (slopes[i] + slopes[i + 1] - 2 * rise[i]) / w ** 2])
            for i, t in enumerate(times[:-1]) for w in [times[i + 1] - t]]


def integral(pieces, a, b):
    total = 0
    for begin, width, c in pieces:
        low, high = min(max(a - begin, 0), width), min(max(b - begin, 0), width)
        total += sum(k * (high ** (n + 1) - low ** (n + 1)) / (n + 1) for n, k in enumerate(c))
    return total


def natural(values, window):
    """Second derivatives at the knots of the natural spline, by elimination."""
    n, h = len(values), window / (len(values) - 1)
    rows = [[0.0] * (n + 1) for _ in range(n)]
    rows[0][0] = rows[-1][n - 1] = 1
    for j in range(1, n - 1):
        rows[j][j - 1: j + 2] = [1, 4, 1]
        rows[j][n] = 6 * (values[j - 1] - 2 * values[j] + values[j + 1]) / h ** 2
    for j in range(n):
        rows[j] = [x / rows[j][j] for x in rows[j]]
        for i in range(n):
            if i != j:
                rows[i] = [x - rows[i][j] * y for x, y in zip(rows[i], rows[j])]
    bends = [row[n] for row in rows]
    pieces = []
    for j in range(n - 1):
        slope = (values[j + 1] - values[j]) / h - h * (2 * bends[j] + bends[j + 1]) / 6
        pieces.append((-window + j * h, h, [values[j], slope, bends[j] / 2, (bends[j + 1] - bends[j]) / (6 * h)]))
    return pieces


def value_at(pieces, t):
    begin, _, c = [piece for piece in pieces if piece[0] <= t + 1e-12][-1]
    return sum(k * (t - begin) ** n for n, k in enumerate(c))


class SolveHistoryTest(ToolTest):
    def solve(self, cell, times, *arguments):
        self.write("cell.json", cell)
        return json.loads(self.run_tool("solve", "cell.json", "--times", times, "--json", "--derivatives", *arguments)[0])

    def table(self, name, times, **columns):
        self.write(name, ",".join(["t", *columns]) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in zip(times, *columns.values())))

    def test_observed_histories(self):
        self.table("past.csv", [*TIMES, 0.5], y=[*VALUES, 9.0])  # what is after 0 is not a history
        pieces = hermite(TIMES, VALUES)
        value = lambda t, a=-0.8, tau=1.3: VALUES[-1] + a * integral(pieces, -tau, t - tau)
        found = self.solve(CELL, "-1.5,-0.2,0,0.5,1.1,1.25", "--history", "past.csv")
        for t, y in zip(found["t"], found["y"]["y"]):
            self.assertAlmostEqual(y, value_at(pieces, t) if t < 0 else value(t), 7)
        for i, t in enumerate(found["t"][3:], 3):
            self.assertAlmostEqual(found["d"]["a"]["y"][i], (value(t, a=-0.79) - value(t, a=-0.81)) / 0.02, 7)
            self.assertAlmostEqual(found["d"]["tau"]["y"][i], (value(t, tau=1.3 + 1e-5) - value(t, tau=1.3 - 1e-5)) / 2e-5, 5)
        # A file takes the place of another history.
        other = self.solve(changed(CELL, history={"y": 7}), "0.5,1.1", "--history", "past.csv")
        self.assertEqual(other["y"]["y"], found["y"]["y"][3:5])

    def test_histories_that_are_not_there(self):
        self.write("cell.json", CELL)
        self.refused(["/history/y", "there are no readings", "--history FILE"], "solve", "cell.json", "--times", "1")
        for times, values, words in ((TIMES[-1:], VALUES[-1:], ["at least 2 readings"]), ([-1, 0], [1, 1], ["the readings begin at t = -1"])):
            self.table("past.csv", times, y=values)
            self.refused(words, "solve", "cell.json", "--times", "1", "--history", "past.csv")
        self.table("past.csv", TIMES, Y=VALUES)
        self.refused(["unknown state 'Y'", "did you mean 'y'"], "solve", "cell.json", "--times", "1", "--history", "past.csv")
        for history, words in (({"y": {"train": False}}, "number or an expression"), ({"y": {"knots": 99}}, "/history/y/knots"), ({"y": "train", "knots": 0}, "/history/knots"),
                               ({"y": [1]}, '"observed" or "train"'), ({"z": "train"}, "unknown state 'z'")):
            self.write("cell.json", changed(CELL, history=history))
            self.refused([words], "solve", "cell.json", "--times", "1")

    def test_trained_histories(self):
        found = self.solve(changed(CELL, history={"y": {"start": 2}}), "1")
        self.assertAlmostEqual(found["y"]["y"][0], 2 * (1 - 0.8), 9)
        self.assertAlmostEqual(found["d"]["y.history"]["y"][0], 1 - 0.8, 9)
        knots = [0.4, 1.2, 0.9, -0.3, 0.6]
        pieces = natural(knots, 2)  # the window is the largest lag
        value = lambda t, values=knots, tau=1.3: values[-1] - 0.8 * integral(natural(values, 2), -tau, t - tau)
        assigned = [text for i, y in enumerate(knots) for text in ("--param", f"y.history[{i}]={y}")]
        for history in ({"y": {"train": True, "knots": 5}}, {"y": "train", "knots": 5}):
            found = self.solve(changed(CELL, history=history), "-1.9,-1.3,-0.4,0,0.6,1.3", *assigned)
            for t, y in zip(found["t"], found["y"]["y"]):
                self.assertAlmostEqual(y, value_at(pieces, t) if t < 0 else value(t), 7)
            for k in range(5):
                moved = [[y + d * (i == k) for i, y in enumerate(knots)] for d in (-0.5, 0.5)]
                for i in (4, 5):
                    self.assertAlmostEqual(found["d"][f"y.history[{k}]"]["y"][i], value(found["t"][i], moved[1]) - value(found["t"][i], moved[0]), 7)

    def test_fits_with_histories_out_of_data(self):
        """Readings before t = 0 are the history, those after it are scored; or the history is found."""
        pieces = hermite(TIMES, VALUES)
        cell = changed(CELL, params__a=-0.5, params__tau=lag(1.1))
        after = [0.1 + 0.15 * k for k in range(8)]
        scored = [VALUES[-1] - 0.8 * integral(pieces, -1.3, t - 1.3) for t in after]
        self.table("r.csv", [t + 10 for t in TIMES + after], y=VALUES + scored)
        experiment = {"name": "e", "data": {"path": "r.csv", "time": "t", "begin": 10, "target": "y"}, "cells": {"c": cell}}
        self.write("e.json", experiment)
        found = json.loads(self.run_tool("fit", "e.json", "--json")[0])["params"]
        self.assertEqual(sorted(found), ["a", "tau"])
        self.assertAlmostEqual(found["a"]["estimate"], -0.8, 5)
        self.assertAlmostEqual(found["tau"]["estimate"], 1.3, 5)
        self.write("e.json", changed(experiment, cells__c__history={"y": "train"}))
        self.refused(["times ascend from 0", "observed"], "fit", "e.json")
        self.write("e.json", changed(experiment, data__begin=13))
        self.refused(["no reading is after t = 0"], "fit", "e.json")
        self.write("e.json", changed(experiment, cells__c__state={"y": 1, "z": 1}, cells__c__history={"y": 1, "z": "observed"}, cells__c__ode=CELL["ode"] + ["dz = -z"]))
        self.refused(["the history of 'z' is observed", "column"], "fit", "e.json")
        # Two files of one equation, each with its own history, which starts from the first reading.
        exact = lambda c, t: c * (1 - 0.8 * t) if t <= 1.3 else c * (1 - 0.8 * t + 0.32 * (t - 1.3) ** 2)
        for name, c in (("a.csv", 2.0), ("b.csv", -1.0)):
            self.table(name, [0.2 * k for k in range(12)], y=[exact(c, 0.2 * k) for k in range(12)])
        self.write("e.json", changed(experiment, data={"path": ["a.csv", "b.csv"], "time": "t", "target": "y"}, cells__c__history={"y": "train"}))
        found = json.loads(self.run_tool("fit", "e.json", "--json")[0])["params"]
        self.assertEqual(sorted(found), ["a", "tau", "y.history of a.csv", "y.history of b.csv"])
        for name, value in (("a", -0.8), ("tau", 1.3), ("y.history of a.csv", 2), ("y.history of b.csv", -1)):
            self.assertAlmostEqual(found[name]["estimate"], value, 5)

    def test_a_fit_whose_lag_reaches_before_the_readings(self):
        "Values that were tried and have no solution are turned back, and said; a start that has none is an error that says what helps."
        pieces = hermite(TIMES, VALUES)
        after = [0.1 + 0.15 * k for k in range(8)]
        scored = [VALUES[-1] - 0.8 * integral(pieces, -1.3, t - 1.3) for t in after]
        self.table("r.csv", TIMES[2:] + after, y=VALUES[2:] + scored)  # from -1.2 on
        experiment = {"name": "e", "data": {"path": "r.csv", "time": "t", "target": "y"}, "cells": {"c": changed(CELL, params__tau=lag(0.8))}}
        self.write("e.json", experiment)
        found = json.loads(self.run_tool("fit", "e.json", "--json")[0])
        self.assertIn("tried have no solution: the readings begin at t = -1.2", " ".join(found["notes"]))
        self.assertTrue(0.8 < found["params"]["tau"]["estimate"] <= 1.2)
        self.write("e.json", changed(experiment, cells__c__params__tau=lag(1.5)))
        self.refused(["the readings begin at t = -1.2", "a later \"begin\""], "fit", "e.json")

    def test_models_train_histories(self):
        experiment = {"name": "e", "data": {"task": "random", "length": 24, "input": 1, "output": 1, "train": 2, "valid": 0, "test": 0},
                      "cells": {"c": changed(CELL, history={"y": {"knots": 4}}, solver={"h": 0.25}, input="u", ode=["dy = a * tanh(y(t - tau)) + sum(u)"])},
                      "model": {"layers": [{"cell": "c"}], "readout": {"at": "every_step"}}, "loss": "mse", "optimizer": {"type": "adam", "lr": 0.01},
                      "train": {"epochs": 1, "batch": 2, "precision": "f64"}}
        self.write("e.json", experiment)
        self.assertLess(json.loads(self.run_tool("check", "e.json", "--gradients", "--json")[0])["max_rel_error"], 1e-6)
        layers = json.loads(self.run_tool("inspect", "e.json", "--json")[0])["layers"]
        self.assertEqual(layers[0]["params"], 2 + 4)
        self.run_tool("train", "e.json", "--out", "run")
        self.assertEqual(json.loads((self.folder / "run/experiment.json").read_text())["cells"]["c"]["history"], {"y": {"knots": 4}})
        self.write("e.json", changed(experiment, cells__c__history={"y": "observed"}))
        self.refused(["/cells/c/history/y", "no observed history"], "check", "e.json")


if __name__ == "__main__":
    main()
