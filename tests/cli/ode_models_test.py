"""Cells in continuous time as layers of models: moving lags, several steps for one of the data, times out of the data."""

import json
import math
import random
import shutil
import struct
import subprocess
import unittest

from tool import ToolTest, changed, main, slow

try:
    import numpy
    import onnxruntime

    MISSING = None
except ImportError as error:
    MISSING = f"not found: {error.name} (pip install onnxruntime numpy)"

RUNNER = """#include <stdio.h>
#include "model.c"
int main(void) {
  static model_state state;
  double in[model_INPUTS], out[model_OUTPUTS];
  model_init(&state);
  while (fread(in, sizeof(double), model_INPUTS, stdin) == model_INPUTS) {
    model_step(&state, in, out);
    fwrite(out, sizeof(double), model_OUTPUTS, stdout);
  }
  return 0;
}
"""


def lag(start=1.0):
    return {"start": start, "min": 0.5, "max": 3}


#: Where nothing is read from a table, rows hold one number that is not used.
FREE = {"params": {"a": 0.9, "tau": lag(1.137), "y0": 0.7}, "state": {"y": 1}, "history": {"y": "y0 + 0.1 * t"},
        "ode": ["dy = -a * y(t - tau) + 0.2 * cos(t)"], "solver": {"h": 0.125, "dt": 0.5}}
DRIVEN = {"params": {"a": 0.9, "tau": lag(1.137), "y0": 0.7}, "state": {"y": 1}, "input": "u", "history": {"y": "y0"},
          "ode": ["dy = -a * y(t - tau) + u"], "solver": {"h": 0.125, "dt": 0.5}}
BY_STATE = changed(DRIVEN, ode=["dy = -a * y(t - clamp(tau + 0.4 * y ^ 2, 0.5, 2)) + u"])
TWO_LAGS = changed(DRIVEN, params__s=lag(0.7213), ode=["dy = -a * y(t - tau) - 0.5 * tanh(y(t - s)) + u"])
VECTORS = {"params": {"tau": lag(0.9171), "z0": {"start": 0.3, "size": 2}}, "weights": {"W": [2, 2], "V": [2, 3]}, "init": {"W": "ones", "V": "ones"},
           "state": {"z": 2, "q": 3, "y": [1]}, "history": {"z": "z0", "q": "sin(t)", "y": 0.1}, "input": "u",
           "ode": ["dz = 0.1 * tanh(W @ z(t - tau)) - 0.2 * z + 0.1 * V @ q(t - 0.7) + sum(u)", "dq = 0.3 * cos(t) - 0.1 * q * sum(z(t - tau))",
                   "dy = -y(t - tau - 0.2)"],
           "output": "concat(z, q, y)", "solver": {"h": 0.25, "dt": 0.5}}
NEUTRAL = changed(DRIVEN, ode=["dy = 0.4 * dy(t - tau) - a * y + u"], history={"y": "y0 + 0.5 * t"})


class OdeModelsTest(ToolTest):
    def model(self, cell, **changes):
        return changed({"name": "e", "data": {"task": "random", "length": 24, "input": 1, "output": 1, "train": 2, "valid": 0, "test": 0},
                        "cells": {"c": cell}, "model": {"layers": [{"cell": "c"}], "readout": {"at": "every_step"}}, "loss": "mse",
                        "optimizer": {"type": "adam", "lr": 1e-300}, "train": {"epochs": 1, "batch": 2, "precision": "f64"}}, **changes)

    def predicted(self, cell, rows, name="run", train=True):
        "What a model whose read-out hands on the state says of a table's rows, after a step of training that changes nothing."
        if train:
            self.write("rows.csv", "u,gap,y\n" + "".join(f"{row[0]},{row[-1]},{row[0]}\n" for row in rows * 3))
            data = {"task": "series", "path": "rows.csv", "input": ["u", "gap"][:len(rows[0])], "target": "y", "window": 4, "every_step": True,
                    "normalize": False, "normalize_target": False}
            self.write("e.json", {**self.model(cell, model__readout__init={"W": "ones", "W.bias": "zeros"}), "data": data})
            shutil.rmtree(self.folder / name, ignore_errors=True)
            self.run_tool("train", "e.json", "--out", name)
        self.write("x.csv", "".join(",".join(map(str, row)) + "\n" for row in rows))
        self.run_tool("predict", name, "--input", "x.csv", "--output", "y.csv")
        return [float(line.split(",")[-1]) for line in (self.folder / "y.csv").read_text().split() if line[0] in "-0123456789"]

    def solve(self, cell, times, *arguments, **solver):
        solver = {key: value for key, value in {**cell["solver"], **solver}.items() if key != "dt"}
        self.write("cell.json", {**cell, "solver": solver})
        return json.loads(self.run_tool("solve", "cell.json", "--times", times, "--json", "--derivatives", *arguments)[0])

    @slow
    def test_gradients_are_exact(self):
        for name, cell in (("free", FREE), ("driven", DRIVEN), ("state", BY_STATE), ("two", TWO_LAGS), ("vectors", VECTORS), ("neutral", NEUTRAL)):
            for method in ("euler", "heun", "rk4"):
                for dense in ("hermite", "linear"):
                    with self.subTest(name=name, method=method, dense=dense):
                        self.write("e.json", self.model(changed(cell, solver__method=method, solver__dense=dense)))
                        found = json.loads(self.run_tool("check", "e.json", "--gradients", "--json")[0])
                        self.assertLess(found["max_rel_error"], 1e-7)

    @slow
    def test_models_predict_the_solution(self):
        "Breaks of a lag that depends on the state are not cut: its error, 4.8e-4, falls as h^2."
        u = [[math.sin(k)] for k in range(24)]
        self.write("u.csv", "time,u\n" + "".join(f"{0.5 * k},{math.sin(k)}\n" for k in range(24)))
        for name, cell, error in (("free", FREE, 4e-7), ("driven", DRIVEN, 2e-7), ("two", TWO_LAGS, 1e-6), ("state", BY_STATE, 1e-3), ("neutral", NEUTRAL, 1e-5)):
            with self.subTest(name=name):
                exact = self.solve(cell, "0.5:12:0.5", "--input", "u.csv", h=1 / 256)["y"]["y"]
                self.near(self.predicted(cell, u), exact, error)

    def test_histories_that_are_even_cost_nothing(self):
        "Steps with lags that are numbers: no step asks whether what it reads is before the start, and values are those of `solve`."
        u = [[math.sin(k)] for k in range(24)]
        self.write("u.csv", "time,u\n" + "".join(f"{0.5 * k},{math.sin(k)}\n" for k in range(24)))
        for ode in ("dy = -a * y(t - 1.1) + 0.3 * y(t - 1) + 0.2 * cos(t)", "dy = -a * y(t - 1.1) - 0.4 * y(t - 0.5) * y + u"):
            for history in ("y0", 0, "y0 + 0.1 * t"):
                for method in ("rk4", "heun", "euler"):
                    for h in (0.5, 0.25):
                        cell = {"params": {"a": 0.9, **({"y0": 0.7} if history else {})}, "state": {"y": 1}, "input": "u", "history": {"y": history}, "ode": [ode],
                                "solver": {"method": method, "h": h, "dt": 0.5, "breaks": "ignore"}}
                        with self.subTest(cell=cell):
                            exact = self.solve(cell, "0.5:12:0.5", "--input", "u.csv")["y"]["y"]
                            self.near(self.predicted(cell, u), exact, 1e-12)
                            asks = "where_positive" in self.run_tool("inspect", "run")[0]
                            if h == 0.5:  # a step of the data: between others the slope after a step is kept alone, which is no history's
                                self.assertEqual(asks, history == "y0 + 0.1 * t" or (history == "y0" and method == "euler"))

    def test_a_trained_lag_has_a_least_value(self):
        "Below it a read would find no step, and take the history in silence."
        self.write("e.json", self.model(changed(DRIVEN, params__tau={"start": 1.1, "max": 3})))
        self.refused(["/cells/c/ode", "least lag", "min", "0.125"], "check", "e.json")
        self.write("e.json", self.model(changed(DRIVEN, params__tau=lag())))
        self.run_tool("check", "e.json")

    def test_euler_has_the_bits_of_its_steps(self):
        for history in (0, "y0"):
            ode = {"params": {"a": 0.9, **({"y0": 0.7} if history else {})}, "state": {"y": 1}, "input": "u", "history": {"y": history}, "ode": ["dy = -a * y(t - 1) + u"],
                   "solver": {"method": "euler", "h": 0.25}}
            late, now = ("where(n > 4, y[-4], y0)", "where(n > 0, y, y0)") if history else ("y[-4]", "y")
            step = {"params": ode["params"], "state": {"y": 1}, "step": [f"y' = {now} + 0.25 * (-a * {late} + x)"], "output": "y'"}
            losses = []
            for name, one in (("step", step), ("ode", ode)):
                self.write("e.json", self.model(one, train__epochs=3, optimizer__lr=0.01, model__layers=[{"cell": "c", "units": 1}]))
                shutil.rmtree(self.folder / name, ignore_errors=True)
                self.run_tool("train", "e.json", "--out", name)
                losses.append(json.loads(self.run_tool("eval", name, "--split", "train", "--json")[0])["loss"])
            self.assertEqual(*losses)

    @slow
    def test_first_states_come_from_the_first_samples(self):
        "The first samples pull a spring's states to where they belong: a model of windows that begin anywhere, with a speed that is not read."
        q, v, rows = 1.0, 0.0, []
        for n in range(1500):
            u = math.sin(0.05 * n) + math.sin(0.013 * n * n % 6.28)
            for _ in range(10):
                dt, a = 0.02, -1.7 ** 2 * q - 0.15 * v + u
                q, v = q + dt * v, v + dt * a
            rows.append(f"{u:.6f},{q:.6f}\n")
        self.write("spring.csv", "u,q\n" + "".join(rows))
        errors = []
        for pull in ("where(t < 1.6, {} * (m - q), 0)", "0 * m * {}"):
            cell = {"params": {"w": {"start": 1.7, "train": False}, "c": {"start": 0.15, "train": False}, "g": 1, "k": 0.5}, "state": {"q": 1, "v": 1},
                    "reads": {"u": 0, "m": 1}, "history": {"q": 0, "v": 0}, "output": "q", "solver": {"h": 0.1, "dt": 0.2},
                    "ode": ["dq = v + " + pull.format("g"), "dv = -w ^ 2 * q - c * v + u + " + pull.format("k")]}
            data = {"task": "series", "path": "spring.csv", "time": None, "input": ["u", "q"], "target": "q", "window": 60, "stride": 15, "horizon": 0,
                    "every_step": True, "normalize": False, "normalize_target": False}
            self.write("e.json", self.model(cell, data=data, model__readout="none", optimizer__lr=0.1, train__epochs=20, train__batch=16))
            shutil.rmtree(self.folder / "spring", ignore_errors=True)
            self.run_tool("train", "e.json", "--out", "spring")
            errors.append(json.loads(self.run_tool("eval", "spring", "--json")[0])["loss"])
        self.assertLess(errors[0], errors[1] / 10, errors)
        self.write("e.json", self.model(changed(cell, reads={"u": 0, "reset": 1}), data=data))
        self.refused(["reset", "no resets"], "check", "e.json")

    @slow
    def test_histories_of_delays_come_from_the_first_samples(self):
        "Windows of a driven equation that reads 3 back: over the first 6 the state follows the readings, so that later reads find them."
        draw, u = random.Random(1), [0.0]
        for _ in range(2000):
            u.append(0.9 * u[-1] + 0.5 * draw.gauss(0, 1))
        self.write("u.csv", "t,u\n" + "".join(f"{0.5 * n},{x!r}\n" for n, x in enumerate(u)))
        truth = {"params": {"a": 1.1, "b": 0.3, "tau": lag(3)}, "state": {"y": 1}, "input": "u", "history": {"y": 0.2}, "solver": {"h": 0.05},
                 "ode": ["dy = -a * tanh(y(t - tau)) - b * y + u"]}
        truth["params"]["tau"]["max"] = 5
        y = self.solve(truth, "0:1000:0.5", "--input", "u.csv")["y"]["y"]
        self.write("d.csv", "u,m,y\n" + "".join(f"{u[n]!r},{y[n]!r},{y[n + 1]!r}\n" for n in range(2000)))
        data = {"task": "series", "path": "d.csv", "time": None, "input": ["u", "m"], "target": "y", "window": 60, "stride": 30, "horizon": 0, "every_step": True,
                "normalize": False, "normalize_target": False}
        errors = []
        for ode in ("dy = where(t < 6, 6 * (m - y), -a * tanh(y(t - tau)) - b * y + u)", "dy = -a * tanh(y(t - tau)) - b * y + u + 0 * m"):
            cell = {"params": {"a": 0.8, "b": 0.5, "tau": {"start": 2.4, "min": 1, "max": 5}}, "state": {"y": 1}, "reads": {"u": 0, "m": 1}, "history": {"y": 0},
                    "ode": [ode], "output": "y", "solver": {"h": 0.25, "dt": 0.5}}
            self.write("e.json", self.model(cell, data=data, model__readout="none", optimizer__lr=0.03, train__epochs=25, train__batch=16, train__precision="f32"))
            shutil.rmtree(self.folder / "delay", ignore_errors=True)
            self.run_tool("train", "e.json", "--out", "delay")
            errors.append(json.loads(self.run_tool("eval", "delay", "--json")[0])["loss"])
        self.assertLess(errors[0], errors[1] / 3, errors)

    @slow
    def test_bits_are_those_of_any_plan_and_any_threads(self):
        for cell in (DRIVEN, BY_STATE, NEUTRAL):
            weights = set()
            for plan in ("full", "states", {"plan": "checkpoint", "budget": "64MB"}):
                for threads in (1, 3):
                    self.write("e.json", self.model(cell, data__train=4, train__memory=plan, optimizer__lr=0.01))
                    shutil.rmtree(self.folder / "bits", ignore_errors=True)
                    self.run_tool("train", "e.json", "--out", "bits", "--threads", str(threads))
                    file = (self.folder / "bits/weights.safetensors").read_bytes()
                    weights.add(file[8 + struct.unpack("<Q", file[:8])[0]:])
            self.assertEqual(len(weights), 1)

    @slow
    @unittest.skipIf(MISSING, MISSING)
    def test_onnx_gives_the_same(self):
        rows = [[math.sin(k)] for k in range(24)]
        self.write("x.csv", "".join(f"{row[0]}\n" for row in rows))
        for cell in (FREE, DRIVEN, BY_STATE, TWO_LAGS, NEUTRAL, changed(DRIVEN, params__tau={"start": 1.137, "train": False})):
            self.write("e.json", self.model(cell, train__precision="f32"))
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            self.run_tool("train", "e.json", "--out", "run")
            self.run_tool("export", "run", "--to", "onnx", "--output", "m.onnx")
            self.run_tool("predict", "run", "--input", "x.csv", "--output", "y.csv")
            wanted = [float(line.split(",")[-1]) for line in (self.folder / "y.csv").read_text().split() if line[0] in "-0123456789"]
            session = onnxruntime.InferenceSession(str(self.folder / "m.onnx"), providers=["CPUExecutionProvider"])
            self.near(list(map(float, session.run(None, {"x": numpy.array([rows], numpy.float32)})[0].ravel())), wanted, 1e-5)

    def by_lag(self, cell, tau, step=2e-7):
        "The derivative of what is predicted by the lag, by differences."
        u = [[math.sin(k)] for k in range(24)]
        low, high = (self.predicted(changed(cell, params__tau=lag(tau + d)), u) for d in (-step, step))
        return [(b - a) / (2 * step) for a, b in zip(low, high)]

    def exact_by_lag(self, cell, tau, **solver):
        self.write("u.csv", "time,u\n" + "".join(f"{0.5 * k},{math.sin(k)}\n" for k in range(24)))
        return self.solve(changed(cell, params__tau=lag(tau)), "0.5:12:0.5", "--input", "u.csv", **solver)["d"]["tau"]["y"]

    def test_a_lag_of_whole_steps_of_the_data_has_its_derivative(self):
        "Breaks are at samples: a read there is from the step's own side, however little the lag moves. From one side alone it is 2e-2 off."
        self.near(self.by_lag(DRIVEN, 1.0), self.exact_by_lag(DRIVEN, 1.0, h={"lag": "tau", "parts": 64}), 1e-4)

    @slow
    def test_derivatives_by_the_lag_have_the_order_of_the_method(self):
        "Where the lag is whole steps, so that all reads are at points of the grid and in the middle between two."
        for cell in (FREE, DRIVEN):
            exact = self.exact_by_lag(cell, 1.0, h={"lag": "tau", "parts": 256})
            for method, order, within in (("euler", 1, 0.2), ("heun", 2, 0.1), ("rk4", 4, 0.1)):
                errors = [max(abs(a - b) for a, b in zip(self.by_lag(changed(cell, solver__method=method, solver__h=h), 1.0), exact)) for h in (0.125, 0.0625)]
                self.assertLess(abs(math.log2(errors[0] / errors[1]) - order), within, (method, errors))

    @slow
    def test_derivatives_by_the_lag_between_points_of_the_grid(self):
        "There the slopes of the cubics have errors of h^3, with a small factor."
        u = [[math.sin(k)] for k in range(24)]
        self.write("u.csv", "time,u\n" + "".join(f"{0.5 * k},{math.sin(k)}\n" for k in range(24)))
        for name, cell, method, order in (("free", FREE, "heun", 2), ("driven", DRIVEN, "rk4", 4)):
            errors = [0, 0]
            for tau in (1.06, 1.137, 1.21):  # what is left depends on where breaks divide the steps
                exact = self.solve(changed(cell, params__tau=lag(tau)), "0.5:12:0.5", "--input", "u.csv", h=1 / 256)["d"]["tau"]["y"]
                for k, h in enumerate((0.125, 0.03125)):
                    moved = [self.predicted(changed(cell, solver__method=method, solver__h=h, params__tau=lag(tau + d)), u) for d in (-1e-5, 1e-5)]
                    errors[k] = max(errors[k], *(abs((b - a) / 2e-5 - e) for a, b, e in zip(*moved, exact)))
            self.assertGreater(math.log(errors[0] / errors[1], 4), order - 0.8, errors)
            self.assertLess(errors[1], 2e-3 if order == 2 else 1e-6)

    def test_time_of_each_step_out_of_the_data(self):
        """Samples that are not even: inputs are held for their own time. Their jumps, read through a lag, are not cut here, so with an
        input the error falls as h^2 alone: 2.2e-4 (driven) and 4.3e-4 (state) at this h, 1.8e-5 and 5.2e-5 at a fourth of it."""
        times, t = [], 0
        for k in range(24):
            times.append(t)
            t += 0.3 + 0.4 * (k * 0.618 % 1)
        steps = [b - a for a, b in zip(times, times[1:] + [t])]
        rows = [[math.sin(k), step] for k, step in enumerate(steps)]
        self.write("u.csv", "time,u\n" + "".join(f"{a!r},{math.sin(k)!r}\n" for k, a in enumerate(times)))
        self.write("t.csv", "t\n" + "".join(f"{a!r}\n" for a in times[1:] + [t]))
        for name, cell, error in (("free", FREE, 1e-6), ("driven", DRIVEN, 5e-4), ("state", BY_STATE, 1e-3)):
            with self.subTest(name=name):
                given = changed(cell, solver__dt={"min": 0.25, "max": 0.75})
                exact = self.solve(cell, "t.csv", "--input", "u.csv", h=1 / 256)["y"]["y"]
                self.near(self.predicted(given, rows), exact, error)
                bad = [[row[0], 0.8 if k == 5 else row[1]] for k, row in enumerate(rows)]
                self.write("x.csv", "".join(",".join(map(str, row)) + "\n" for row in bad))
                self.refused(["nan in row 6"], "predict", "run", "--input", "x.csv", "--output", "y.csv")

    def test_inputs_are_lines(self):
        u = [[math.sin(k)] for k in range(24)]
        self.write("u.csv", f"time,u\n0,{math.sin(0)}\n" + "".join(f"{0.5 * (k + 1)},{math.sin(k)}\n" for k in range(24)))
        for cell in (DRIVEN, TWO_LAGS, changed(DRIVEN, params__tau={"start": 1.137, "train": False})):
            lines = changed(cell, solver__inputs="linear")
            exact = self.solve(lines, "0.5:12:0.5", "--input", "u.csv", h=1 / 256)["y"]["y"]
            self.near(self.predicted(lines, u), exact, 5e-6)

    @slow
    def test_streams_and_c_give_the_same(self):
        rows = [[math.sin(k), 0.3 + 0.4 * (k * 0.618 % 1)] for k in range(24)]
        for name, cell in (("free", FREE), ("state", BY_STATE), ("vectors", VECTORS), ("neutral", NEUTRAL), ("given", changed(BY_STATE, solver__dt={"min": 0.25, "max": 0.75})),
                           ("lines", changed(DRIVEN, solver__inputs="linear"))):
            with self.subTest(name=name):
                given = rows if name == "given" else [row[:1] for row in rows]
                whole = self.predicted(cell, given)
                self.run_tool("predict", "run", "--input", "x.csv", "--output", "stream.csv", "--stream")
                self.assertEqual((self.folder / "stream.csv").read_text(), (self.folder / "y.csv").read_text())
                self.run_tool("export", "run", "--to", "c99", "--output", "model.c", "--precision", "f64")
                self.write("main.c", RUNNER)
                made = subprocess.run(["cc", "-std=c99", "-O1", "-Wall", "-Werror", "main.c", "-o", "model", "-lm"], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual((made.returncode, made.stderr), (0, ""))
                numbers = [x for row in given for x in row]
                done = subprocess.run(["./model"], cwd=self.folder, input=struct.pack(f"{len(numbers)}d", *numbers), capture_output=True, check=True)
                self.near(list(struct.unpack(f"{len(done.stdout) // 8}d", done.stdout)), whole, 1e-11)


if __name__ == "__main__":
    main()
