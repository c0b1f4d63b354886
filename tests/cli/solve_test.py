"""Cells in continuous time: `lagtape solve` beside closed forms, numbers of independent programs, and measured orders."""

import cmath
import json
import math
import struct
import zipfile

from tool import ToolTest, changed, main


def lag(start=1.0):
    return {"start": start, "min": 0.2, "max": 40}


LINEAR = {"params": {"a": -1, "tau": lag(), "c": 1}, "state": {"x": 1}, "history": {"x": "c"}, "ode": ["dx = a * x(t - tau)"],
          "solver": {"h": {"lag": "tau", "parts": 64}}}
LOTKA_VOLTERRA = {
    "params": {"alpha": 2.2, "beta": 1, "delta": 2, "gamma": 0.4, "lag": {"start": 0.1, "min": 0.01, "max": 1}, "x0": 1, "y0": 1},
    "state": {"x": 1, "y": 1}, "history": {"x": "x0", "y": "y0"},
    "ode": ["dx = (alpha - beta * y) * x(t - lag)", "dy = (delta * x - gamma) * y"], "solver": {"h": {"lag": "lag", "parts": 10}}}
MACKEY_GLASS = {
    "params": {"a": {"start": 0.2, "min": 0, "max": 2}, "b": {"start": 0.1, "scale": "log"}, "p": {"start": 10, "min": 1, "max": 30},
               "tau": {"start": 17, "min": 5, "max": 40}, "y0": 0.9},
    "state": {"y": 1}, "history": {"y": "y0"}, "ode": ["z = y(t - tau)", "dy = a * z / (1 + z ^ p) - b * y"],
    "output": "y", "solver": {"method": "rk4", "h": {"lag": "tau", "parts": 68}}}
#: x = sin t, with a lag by the state.
SMOOTH = {"params": {"a": 1, "tau": lag(), "c": 1}, "state": {"x": 1}, "history": {"x": "sin(t)"},
          "ode": ["dx = -a * x(t - clamp(tau + c * x ^ 2, 0.2, 9)) + cos(t) + sin(t - 1 - sin(t) ^ 2)"], "solver": {"h": 1 / 64}}
STATE = {"params": {"a": 1.2, "tau": lag(), "c": 0.5, "x0": 1}, "state": {"x": 1}, "history": {"x": "x0"},
         "ode": ["dx = -a * x(t - clamp(tau + c * x ^ 2, 0.2, 30))"], "solver": {"h": 1 / 64}}
DRIVEN = {"params": {"tau": lag(0.97)}, "state": {"x": 1}, "history": {"x": 0}, "input": "u", "ode": ["dx = -x(t - tau) + u"],
          "solver": {"h": {"lag": "tau", "parts": 64}}}
TWO_LAGS = {"params": {"a": -1, "b": 0.6, "r": lag(1), "s": lag(0.7)}, "state": {"y": 1}, "history": {"y": 1},
            "ode": ["dy = a * y(t - r) + b * y(t - s)"], "solver": {"h": {"lag": "r", "parts": 32}}}
NEUTRAL = {"params": {"c": 0.5, "tau": lag(0.9)}, "state": {"y": 1}, "history": {"y": "1 + t"}, "ode": ["dy = c * dy(t - tau)"],
           "solver": {"h": {"lag": "tau", "parts": 4}}}


def above(t):
    return t if t.real > 0 else 0


def linear(t, a, tau, c):
    return c * sum(a ** k * above(t - (k - 1) * tau) ** k / math.factorial(k) for k in range(int((t / tau).real) + 2))


def two_lags(t, a, b, r, s):
    def integral(t, more):
        return sum(math.comb(i + j, i) * a ** i * b ** j * above(t - i * r - j * s) ** (i + j + more) / math.factorial(i + j + more)
                   for i in range(9) for j in range(13) if (t - i * r - j * s).real > 0)
    return integral(t, 0) + a * (integral(t, 1) - integral(t - r, 1)) + b * (integral(t, 1) - integral(t - s, 1))


def driven(t, tau, times, values, hold):
    "Held inputs are steps, lines are kinks: the answers to one of them, added."
    def answer(t, more):
        return sum((-1) ** k * above(t - k * tau) ** (k + more) / math.factorial(k + more) for k in range(14) if (t - k * tau).real > 0)
    total, last = (0, 0) if hold else (values[0] * answer(t, 1), 0)
    for i, start in enumerate(times):
        if start >= t.real:
            break
        now = values[i] if hold else (values[i + 1] - values[i]) / (times[i + 1] - start) if i + 1 < len(times) else 0
        total, last = total + (now - last) * answer(t - start, 1 if hold else 2), now
    return total


def derivative(f, numbers, i):
    return f(*[complex(n, 1e-30 * (k == i)) for k, n in enumerate(numbers)]).imag / 1e-30


class SolveTest(ToolTest):
    def solve(self, cell, times, *arguments, **solver):
        self.write("cell.json", {**cell, "solver": {**cell["solver"], **solver}})
        return json.loads(self.run_tool("solve", "cell.json", "--times", times, "--derivatives", "--json", *arguments)[0])

    def near(self, found, expected, error):
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assertLessEqual(abs(a - b), error, (found, expected))

    def test_linear_equation_has_the_closed_form(self):
        times = [0.5, 2.5, 5, 10]
        found = self.solve(LINEAR, "0.5,2.5,5,10")
        self.near(found["y"]["x"], [linear(t, -1, 1, 1) for t in times], 9e-11)
        self.assertEqual(found["t"], times)
        for i, name in enumerate(("a", "tau", "c")):
            self.near(found["d"][name]["x"],
                      [derivative(lambda *p, t=t: linear(t, *p), [-1, 1, 1], i) for t in times], 3e-9)
        found = self.solve(LINEAR, "10", "--param", "tau=0.97", h=1 / 64)
        self.near(found["y"]["x"] + found["d"]["tau"]["x"], [0.009380915015564695, 0.2898547075901648], 2e-9)
        found = self.solve(LINEAR, "10", "--param", "tau=0.97", h=1 / 64, breaks="ignore")
        self.near([found["y"]["x"][0] - 0.009380915015564695], [2.53e-8], 1e-10)

    def test_lotka_volterra_has_the_numbers_of_its_discretisation(self):
        def sums(**solver):
            found = self.solve(LOTKA_VOLTERRA, "0:1:0.1", **solver)
            return [sum(found["y"]["x"] + found["y"]["y"])] + [sum(d["x"] + d["y"]) for d in found["d"].values()]
        self.near(sums(), [43.436542975802, 13.3907544136, -28.8459757862, 8.80419618458, -8.41074998319, -10.3685315598,
                           28.5303847703, 3.66857478851], 1e-10)
        self.near(sums(h={"lag": "lag", "parts": 20}), [43.436543040049015, 13.390754502692, -28.845975921144, 8.804196246198,
                                                        -8.410750011072, -10.368529288477, 28.530384887668, 3.668574723632], 1.5e-7)
        self.near(sums(h=0.01, breaks="ignore")[5:6], [-10.32536521498], 1e-10)
        self.near(sums(h=0.01)[5:6], [-10.368529288477], 2e-6)

    def test_mackey_glass(self):
        found = self.solve(MACKEY_GLASS, "100")
        self.near([found["y"]["y"][0]] + [d["y"][0] for d in found["d"].values()],
                  [0.93147098673538, -10.8397312337, 17.7982995418, -0.339713403782, -0.315393598268, 12.1725641883], 2e-10)

    def test_a_lag_by_the_state(self):
        found = self.solve(SMOOTH, "10")
        self.near(found["y"]["x"], [-0.54402106190965], 1e-12)
        self.near([d["x"][0] for d in found["d"].values()], [147.785859878, 130.198433953, 49.8633410533], 1e-9)
        self.near(self.solve(STATE, "1,2,5,10")["y"]["x"], [-0.2, -1.05741065642, 1.38753771520, 3.99773817], 2e-5)
        self.near([d["x"][0] for d in self.solve(STATE, "5")["d"].values()],
                  [7.359642956259, 2.143587195315, -0.0497113328695, 1.3378224034], 1e-9)

    def test_inputs_jump_on_their_own_side(self):
        times, values = [0.5 * k for k in range(21)], [math.sin(k * k) for k in range(21)]
        self.write("u.csv", "time,u\n" + "".join(f"{t},{u}\n" for t, u in zip(times, values)))
        for inputs in ("hold", "linear"):
            for tau in (0.97, 1.0, 1.0001):
                found = self.solve(DRIVEN, "9.8", "--input", "u.csv", "--param", f"tau={tau}", inputs=inputs)
                exact = lambda p: driven(9.8 + 0j, p, times, values, inputs == "hold")
                self.near(found["y"]["x"], [exact(tau + 0j).real], 1e-9)
                self.near(found["d"]["tau"]["x"], [derivative(exact, [tau], 0)], 5e-7)

    def test_inputs_that_do_not_cover_the_solution(self):
        self.write("cell.json", DRIVEN)
        for rows, times, words in (("t,u\n0.5,1\n1,2\n", "2", "begins at t = 0.5"), ("t,u\n0,1\n1,2\n", "2.01", "note: the input ends at t = 1 and keeps its last value up to t = 2.01."),
                                   ("t,u\n0,1\n1,2\n", "2", ""), ("t,u\n0.5,1\n1,2\n", "-1,0", "")):
            self.write("u.csv", rows)
            out, err = self.run_tool("solve", "cell.json", "--times", times, "--input", "u.csv", code=2 if "begins" in words else 0)
            self.assertIn(words, err)
            self.assertTrue(words or not err)
        named = {"params": {}, "state": {"x": 1}, "history": {"x": 0}, "reads": {"u": 0, "v": 1}, "ode": ["dx = u - 2 * v"], "solver": {"h": 0.5}}
        self.write("cell.json", named)
        self.write("u.csv", "t,u,v,w\n0,1,1,1\n1,1,1,1\n")
        self.assertIn("no equation reads these columns of the input: 'w'.", self.run_tool("solve", "cell.json", "--times", "1", "--input", "u.csv")[1])
        self.write("u.csv", "t,v,u\n0,1,1\n1,1,1\n")
        self.refused(["reads 'u' from column 0, and it is column 1", "order of \"reads\""], "solve", "cell.json", "--times", "1", "--input", "u.csv")
        self.write("cell.json", changed(named, reads={}, ode=["dx = -x"], state={"x": 1}))
        self.assertIn("note: no equation reads the input.", self.run_tool("solve", "cell.json", "--times", "1", "--input", "u.csv")[1])

    def test_two_lags_and_slopes_of_the_past(self):
        numbers = [-1, 0.6, 1, 0.7]
        for h in ({"lag": "r", "parts": 32}, {"lag": "s", "parts": 24}, 0.03):
            found = self.solve(TWO_LAGS, "4.9", h=h)
            self.near(found["y"]["y"], [two_lags(4.9 + 0j, *numbers).real], 1e-8)
            for i, name in enumerate(TWO_LAGS["params"]):
                self.near(found["d"][name]["y"], [derivative(lambda *p: two_lags(4.9 + 0j, *p), numbers, i)], 2e-6)
        found = self.solve(NEUTRAL, "4")
        tau, c, k = 0.9, 0.5, 4
        self.near(found["y"]["y"], [1 + sum(c ** (j + 1) * tau for j in range(k)) + c ** (k + 1) * (4 - k * tau)], 1e-14)
        self.near(found["d"]["tau"]["y"], [sum(c ** (j + 1) for j in range(k)) - k * c ** (k + 1)], 1e-13)

    def test_functions_of_time_and_histories_that_jump(self):
        for h in ({"lag": "tau", "parts": 20}, 0.03):
            cell = {"params": {"a": 0.9, "b": 1.1, "T": 1.234, "w": 2.3, "tau": lag(0.7)}, "state": {"y": 1}, "history": {"y": 0},
                    "ode": ["dy = where(t > T, b, 0) - a * y + 0 * w * y(t - tau)"], "solver": {"h": h}}
            numbers = [0.9, 1.1, 1.234]
            pulse = lambda a, b, T: b / a * (1 - cmath.exp(-a * (3 - T)))
            found = self.solve(cell, "1.2,3")
            self.near(found["y"]["y"], [0, pulse(*numbers).real], 1e-7)
            for i, name in enumerate(("a", "b", "T")):
                self.near(found["d"][name]["y"], [0, derivative(pulse, numbers, i)], 3e-7)
            # x = sign(sin(w t)), a square wave, until after its first fall at pi / w
            cell["ode"] = ["dy = b * sign(sin(w * t)) + a * floor(t / T) + 0 * y(t - tau)"]
            wave = lambda a, b, T, w: b * (2 * cmath.pi / w - 2.5) + a * ((2 * T - T) + 2 * (2.5 - 2 * T))
            numbers = [0.9, 1.1, 1.234, 2.3]
            found = self.solve(cell, "2.5")
            self.near(found["y"]["y"], [wave(*numbers).real], 1e-9)
            for i, name in enumerate(("a", "b", "T", "w")):
                self.near(found["d"][name]["y"], [derivative(wave, numbers, i)], 1e-7)
            cell = {"params": {"a": 0.9, "c": 0.3, "T": 0.37, "tau": lag(0.8)}, "state": {"x": 1}, "history": {"x": "where(t > -T, 1, c)"},
                    "ode": ["dx = a * x(t - tau)"], "solver": {"h": h}}
            jump = lambda a, c, T, tau: 1 + a * (c * (tau - T) + (0.6 - tau + T))
            numbers = [0.9, 0.3, 0.37, 0.8]
            found = self.solve(cell, "0.6")
            self.near(found["y"]["x"], [jump(*numbers)], 1e-9)
            for i, name in enumerate(("a", "c", "T", "tau")):
                self.near(found["d"][name]["x"], [derivative(jump, numbers, i)], 1e-7)

    def test_measured_orders_of_values_and_of_derivatives_by_the_lag(self):
        for method, order, parts in (("euler", 1, 64), ("heun", 2, 16), ("rk4", 4, 8)):
            for cell, name in ((LINEAR, "tau"), (LOTKA_VOLTERRA, "lag")):
                if cell is LOTKA_VOLTERRA and method == "euler":
                    continue
                self.write("cell.json", {**cell, "solver": {"method": method, "h": {"lag": name, "parts": parts}}})
                rows = json.loads(self.run_tool("solve", "cell.json", "--times", "1,2" if name == "lag" else "10", "--order", "--json")[0])
                for of in ("y", name):
                    self.assertLess(abs(rows["order"][of]["orders"][-1] - order), 0.2 if order == 1 else 0.1, (method, of, rows))

    def test_exponential_euler_is_exact_for_decay(self):
        cell = {"params": {"c": 3.0, "y0": 2}, "state": {"y": 1}, "history": {"y": "y0"}, "ode": ["dy = -c * y + 1.5"],
                "solver": {"method": "exponential_euler", "h": 0.25}}
        found = self.solve(cell, "1")
        exact = lambda c, y: y * (2.718281828459045 ** (-c)) + 1.5 / c * (1 - 2.718281828459045 ** (-c))
        self.near(found["y"]["y"], [exact(3.0, 2.0)], 1e-13)
        for i, name in enumerate(("c", "y0")):
            self.near(found["d"][name]["y"], [derivative(exact, [3.0, 2.0], i)], 1e-13)

    def test_vectors_and_weights(self):
        cell = {"params": {"k": {"start": 0.5, "size": 2}, "tau": lag()}, "state": {"v": 2}, "weights": {"W": [2, 2]},
                "init": {"W": "ones"}, "history": {"v": "k"}, "ode": ["dv = k - W @ v(t - tau)"], "solver": {"h": 0.2}}
        found = self.solve(cell, "0,1")
        self.assertEqual(sorted(found["d"]), ["k[0]", "k[1]", "tau"])
        self.near(found["y"]["v"][1], [0, 0], 1e-15)
        self.near(found["d"]["k[0]"]["v"][1], [1, -1], 1e-14)

    def test_derived_weights(self):
        "A spring by a matrix that params make: dy = A y, A = w J - g, has the solution exp(-g t) (cos, -sin)(w t)."
        cell = {"params": {"w": 1.3, "g": 0.2, "c": {"start": 0.5, "train": False}}, "constants": {"J": [[0, 1], [-1, 0]]}, "derived": {"A": "w * J - g * eye(2)", "B": "2 * A"},
                "state": {"y": 2}, "history": {"y": "slice(c * 2 * y0, 0, 2)"}, "ode": ["dy = 0.5 * B @ y"], "solver": {"h": 1 / 64}}
        cell["params"]["y0"] = {"size": 2, "start": 1}
        self.write("cell.json", cell)
        found = json.loads(self.run_tool("solve", "cell.json", "--times", "2", "--derivatives", "--json", "--param", "y0[1]=0")[0])
        decay, cosine, sine = math.exp(-0.4), math.cos(2.6), math.sin(2.6)
        for values, expected in ((found["y"]["y"], (decay * cosine, -decay * sine)), (found["d"]["g"]["y"], (-2 * decay * cosine, 2 * decay * sine)),
                                 (found["d"]["w"]["y"], (-2 * decay * sine, -2 * decay * cosine)), (found["d"]["y0[1]"]["y"], (decay * sine, decay * cosine))):
            self.near(values[0], expected, 1e-7)

    def test_numbers_times_a_matrix(self):
        "k * W @ v is k * (W @ v): a matrix times a number would be a derived weight."
        cell = {"params": {"k": 0.5, "tau": lag(0.9)}, "state": {"v": 2}, "weights": {"W": [2, 2]}, "init": {"W": "ones"}, "history": {"v": "cos(t)"},
                "solver": {"h": 0.1}}
        exact = self.solve({**cell, "ode": ["dv = -0.8 * (k * (W @ v(t - tau)))"]}, "0.4,2.1")
        for text in ("-0.8 * k * W @ v(t - tau)", "k * (-W) @ v(t - tau) * 0.8", "-(0.8 * W) @ (k * v(t - tau))"):
            found = self.solve({**cell, "ode": [f"dv = {text}"]}, "0.4,2.1")
            for of in (lambda one: one["y"], lambda one: one["d"]["k"], lambda one: one["d"]["tau"]):
                self.near([x for row in of(found)["v"] for x in row], [x for row in of(exact)["v"] for x in row], 1e-14)

    def test_the_cell_of_an_experiment_tables_and_charts(self):
        self.write("e.json", {"cells": {"mackey_glass": MACKEY_GLASS}})
        table = self.run_tool("solve", "e.json", "--times", "0:2:1")[0].splitlines()
        self.assertEqual(table[0], "t,y")
        self.assertEqual(table[1], "0,0.9")
        self.run_tool("solve", "e.json", "--times", "0:50:1", "--output", "y.csv", "--plot", "y.svg", "--derivatives")
        self.assertTrue((self.folder / "y.csv").read_text().startswith("t,y,dy/da,dy/db,dy/dp,dy/dtau,dy/dy0\n"))
        self.assertIn("<svg", (self.folder / "y.svg").read_text())
        self.write("times.csv", "t\n1\n2\n")
        self.assertEqual(self.run_tool("solve", "e.json", "--times", "times.csv")[0].splitlines()[1:], table[2:])

    def test_files_and_phases(self):
        self.write("e.json", {"cells": {"c": LOTKA_VOLTERRA}})
        self.run_tool("solve", "e.json", "--times", "0:1:0.5", "--derivatives", "--output", "y.json")
        printed = json.loads(self.run_tool("solve", "e.json", "--times", "0:1:0.5", "--derivatives", "--json")[0])
        self.assertEqual(json.loads((self.folder / "y.json").read_text()), printed)
        self.run_tool("solve", "e.json", "--times", "0:1:0.5", "--derivatives", "--output", "y.npz")
        with zipfile.ZipFile(self.folder / "y.npz") as archive:
            self.assertLess({"t.npy", "x.npy", "y.npy", "dx/dlag.npy"}, set(archive.namelist()))
            self.assertEqual(struct.unpack("<3d", archive.read("x.npy")[-24:]), tuple(printed["y"]["x"]))
        for phase in ("x,y", "y(t - lag),y", "x(t-0.25), y"):
            self.run_tool("solve", "e.json", "--times", "0:1:0.01", "--plot", "p.svg", "--phase", phase)
            chart = (self.folder / "p.svg").read_text()
            for axis in phase.split(","):
                self.assertIn(axis.strip(), chart)
        for words, phase in ((["unknown state 'z'"], "z,y"), (["unknown param 'lg'", "'lag'"], "y(t - lg),y"), (["two names"], "x"),
                             (["y(t - tau)"], "y(tau),x")):
            self.refused(words, "solve", "e.json", "--times", "1", "--plot", "p.svg", "--phase", phase)
        self.refused(["--plot"], "solve", "e.json", "--times", "1", "--phase", "x,y")

    def model(self, cell, **changes):
        """An experiment whose one layer is a cell, with a table of its solution."""
        return changed({"name": "e", "data": {"task": "random", "length": 40, "input": 1, "output": 1, "train": 2, "valid": 0, "test": 0},
                        "cells": {"c": cell}, "model": {"layers": [{"cell": "c"}], "readout": {"at": "every_step"}}, "loss": "mse",
                        "optimizer": {"type": "adam"}, "train": {"epochs": 1, "batch": 2, "precision": "f64"}}, **changes)

    def test_gradients_of_models_are_exact(self):
        cell = {"params": {"a": 1.5, "c": 0.4, "tau": {"start": 1.1, "train": False}}, "state": {"y": 1, "z": 2}, "input": "u",
                "weights": {"W": [2, 2]}, "history": {"y": "cos(c * t)", "z": "c"},
                "ode": ["dy = -a * y(t - tau) * sum(z(t - 2)) + u + sin(t)", "dz = 0.1 * tanh(W @ z(t - tau)) - 0.2 * sum(dy(t - 0.75)) * z"],
                "solver": {"h": 0.25, "breaks": "ignore"}}
        for method in ("euler", "heun", "rk4"):
            for dense in ("hermite", "linear"):
                one = changed(cell, solver__method=method, solver__dense=dense, init={"W": "ones"})
                self.write("e.json", self.model(one))
                found = json.loads(self.run_tool("check", "e.json", "--gradients", "--json")[0])
                self.assertLess(found["max_rel_error"], 1e-7)

    def test_a_model_predicts_the_solution(self):
        cell = {"params": {"a": 0.9, "y0": 0.5}, "hyper": {"tau": 1.1}, "state": {"y": 1}, "input": "u", "history": {"y": "y0 + 0.1 * t"},
                "ode": ["dy = -a * y(t - tau) + u * cos(t)"], "solver": {"h": 0.25, "breaks": "ignore"}}
        self.write("u.csv", "time,u\n" + "".join(f"{0.25 * k},{math.sin(k)}\n" for k in range(40)))
        self.write("x.csv", "".join(f"{math.sin(k)}\n" for k in range(40)))
        for method in ("euler", "heun", "rk4", "exponential_euler"):
            one = changed(cell, solver__method=method)
            if method == "exponential_euler":
                one["ode"] = ["dy = -a * y(t - tau) + u * cos(t) - a * y"]
            self.write("e.json", self.model(one, optimizer__lr=1e-300, model__readout__init={"W": "ones", "W.bias": "zeros"}))
            self.run_tool("train", "e.json", "--out", f"run-{method}")
            self.run_tool("predict", f"run-{method}", "--input", "x.csv", "--output", f"{method}.csv")
            predicted = [float(line.split(",")[-1]) for line in (self.folder / f"{method}.csv").read_text().split() if line[0] in "-0123456789"]
            found = self.solve(one, "0.25:10:0.25", "--input", "u.csv")["y"]["y"]
            self.near(predicted, found, 1e-12)
            self.run_tool("predict", f"run-{method}", "--input", "x.csv", "--output", "stream.csv", "--stream")
            self.assertEqual((self.folder / "stream.csv").read_text(), (self.folder / f"{method}.csv").read_text())
        neutral = changed(NEUTRAL, params={"c": 0.5, "tau": {"start": 1, "train": False}}, solver__h=0.25,
                          ode=["dy = c * dy(t - tau) - dy(t - 1.5) * y(t - 0.5)"])
        self.write("e.json", self.model(neutral, optimizer__lr=1e-300, model__readout__init={"W": "ones", "W.bias": "zeros"}))
        self.run_tool("train", "e.json", "--out", "run-neutral")
        self.run_tool("predict", "run-neutral", "--input", "x.csv", "--output", "n.csv")
        predicted = [float(line.split(",")[-1]) for line in (self.folder / "n.csv").read_text().split() if line[0] in "-0123456789"]
        self.near(predicted, self.solve(neutral, "0.25:10:0.25")["y"]["y"], 1e-12)
        step = changed(cell, solver__method="euler", history={"y": 0}, params={"a": 0.9}, hyper={"k": 4})
        step.update(step=["y' = y + 0.25 * (-a * y[-k] + x * cos(n * 0.25))"], output="y'")
        ode = changed(cell, solver__method="euler", history={"y": 0}, params={"a": 0.9}, hyper={}, ode=["dy = -a * y(t - 1) + u * cos(t)"])
        for key in ("ode", "history", "input", "solver"):
            del step[key]
        weights = []
        for name, one in (("step", step), ("ode", ode)):
            self.write("e.json", self.model(one, train__epochs=3, model__layers=[{"cell": "c", "units": 1}]))
            self.run_tool("train", "e.json", "--out", name)
            weights.append(json.loads(self.run_tool("eval", name, "--split", "train", "--json")[0])["loss"])
        self.assertEqual(*weights)

    def refuse(self, words, cell, *arguments):
        self.write("cell.json", cell)
        self.refused(words, "solve", "cell.json", "--times", "1", *arguments)

    def test_what_is_wrong_is_said(self):
        tau = lambda **keys: changed(LINEAR, params__tau=keys)
        ode = lambda *lines, **keys: changed({**LINEAR, "params": {"a": -1, "tau": lag(), "c": 1}}, ode=list(lines), **keys)
        for words, cell in (
                (["no upper bound", "max"], tau(start=1)),
                (["above 0"], tau(start=1, min=-1, max=3)),
                (["0.2", "largest h"], changed(LINEAR, solver__h=0.5)),
                (["history", "x"], {k: v for k, v in LINEAR.items() if k != "history"}),
                (["unknown state 'z'"], changed(LINEAR, history={"x": "c", "z": 1})),
                (["no history"], changed(LINEAR, history={})),
                (["t, params and numbers"], changed(LINEAR, history={"x": "c + x"})),
                (["dx"], ode("y = a * c * x(t - tau)")),
                (["dx is set twice"], ode("dx = a * x(t - tau)", "dx = c")),
                (["future"], ode("dx = a * x(t + 1) + tau * c")),
                (["x(t - tau)", "counts no steps"], ode("dx = a * x[-3] + tau * c")),
                (["no next value", "dx"], ode("x' = a * x(t - tau)")),
                (["euler", "method"], changed(LINEAR, solver__method="eulr")),
                (["parts", "1"], changed(LINEAR, solver__h__parts=0)),
                (["too often", "floor", "ignore"], ode("dx = a * x(t - tau) + c * floor(1e7 * t)")),
                (["unknown lag 'tu'", "tau"], changed(LINEAR, solver__h__lag="tu")),
                (["unknown lag 'a'", "tau", "/solver/h/lag"], changed(LINEAR, solver__h__lag="a")),
                (["h"], changed(LINEAR, solver={})),
                (["/history: expected of each state"], changed(LINEAR, history=["c"])),
                (["/ode: expected a list of equations"], ode()),
                (["/input", "the time", "such as u"], changed(LINEAR, input="t")),
                (["start"], tau(start=50, min=0.2, max=40)),
                (["log of", "dx", "t = ", "a = "], ode("dx = a * log(x(t - tau) - 2)"))):
            with self.subTest(words=words):
                self.refuse(words, cell)
        self.refuse(["unknown param 'tu'", "tau"], LINEAR, "--param", "tu=3")
        self.refuse(["input"], DRIVEN)
        self.write("cell.json", LINEAR)
        self.refused(["h: all steps", "memory"], "solve", "cell.json", "--times", "1e9")
        for words, cell, layer in ((["lagtape: e.json: /cells/c/solver:", "\"dt\": 1"], LINEAR, {}), (["/model/layers/0/arithmetic", "no states on the grid"], LINEAR, {"arithmetic": "grid"}),
                                   (["lagtape: e.json: /cells/c/history/x:", "no observed history"], changed(LINEAR, history={"x": "observed"}, ode=["dx = a * c * x(t - tau)"]), {}),
                                   (["levels", "too many breaks", "more than 256"], changed(LINEAR, ode=["dx = a * x(t - tau) + c * x(t - 1.3) + x(t - 2.7)"], solver={"h": 0.2, "levels": 40}), {})):
            self.write("e.json", self.model(cell, model__layers=[{"cell": "c", **layer}]))
            self.refused(words, "check", "e.json")
        self.write("cell.json", changed(LINEAR, ode="dx = a * x(t - tau)"))  # one equation is a text, as in a step
        self.run_tool("solve", "cell.json", "--times", "1")
        step = {"state": {"y": 1}, "step": ["y' = y(t - 3)"], "output": "y'"}
        self.write("cell.json", {"name": "e", "data": {"task": "random", "length": 5, "input": 1, "output": 1}, "cells": {"c": step},
                                 "model": {"layers": [{"cell": "c", "units": 1}]}, "loss": "mse", "optimizer": {"type": "adam"}})
        self.refused(["h[-k]"], "check", "cell.json")


if __name__ == "__main__":
    main()
