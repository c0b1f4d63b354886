"""Cells of papers, written as equations in an experiment: each has right gradients and learns.

What they need beyond a plain recurrence: outer products and a matrix that the step computes (fast weights, neural CDE), a
product of heads (sLSTM), conditions and the index of the step (clockwork RNN, a trained first state), steps whose length the
data give (liquid time constants), softplus (a selective state space), inputs of earlier steps (NARX).
"""

import json
import math
import unittest

from tool import ToolTest, main, slow

OSCILLATORS = {"a": "units", "s": "units", "B": ["units", "input"], "C": ["units", "units"], "D": ["units", "input"]}

CELLS = {
    # Schmidhuber 1992, Ba et al. 2016: a matrix that is written and read
    "fast_weights": {
        "hyper": {"decay": 0.95},
        "weights": {"K": ["units", "input"], "V": ["units", "input"], "Q": ["units", "input"], "b": ["units"]},
        "state": {"A": ["units", "units"]},
        "step": ["A' = decay * A + outer(V @ x, tanh(K @ x + b))"],
        "output": "tanh(A' @ (Q @ x + b))"},
    # Kidger et al. 2020: the state is driven by the path of the inputs, here one Euler step from input to input
    "neural_cde": {
        "weights": {"W": ["units * input", "units"], "c": ["units * input"], "first": ["units"]},
        "state": {"h": "units"},
        "step": ["s = where(n < 1, first, h)", "F = tanh(reshape(W @ s + c, units, input))",
                 "h' = s + F @ where(n < 1, 0 * x, x - x[-1])"],
        "output": "h'"},
    # Beck et al. 2024: exponential gates with a stabilizer, a normalizer, and a block-diagonal matrix of heads
    "slstm": {
        "hyper": {"heads": 2, "size": 4},
        "weights": {**{f"R_{gate}": ["heads", "size", "size"] for gate in "zifo"},
                    **{f"W_{gate}": ["heads * size", "input"] for gate in "zifo"}, **{f"b_{gate}": ["heads * size"] for gate in "zifo"}},
        "init": {"b_f": {"type": "constant", "value": 2}},
        "state": {"c": ["heads", "size"], "nu": ["heads", "size"], "h": ["heads", "size"], "m": ["heads", "size"]},
        "step": ["z = tanh(R_z @ h + reshape(W_z @ x + b_z, heads, size))", "i = R_i @ h + reshape(W_i @ x + b_i, heads, size)",
                 "f = R_f @ h + reshape(W_f @ x + b_f, heads, size)", "o = sigmoid(R_o @ h + reshape(W_o @ x + b_o, heads, size))",
                 "m' = maximum(f + m, i)", "keep = exp(f + m - m')", "write = exp(i - m')",
                 "c' = keep * c + write * z", "nu' = keep * nu + write", "h' = o * c' / nu'"],
        "output": "reshape(h', heads * size)"},
    # Koutnik et al. 2014: modules that are updated every 1, 2, 4 and 8 steps
    "clockwork": {
        "weights": {"W": ["units", "units"], "U": ["units", "input"], "b": ["units"]},
        "derived": {"period": "exp(0.6931471805599453 * floor(arange(units) / 2))"},
        "state": {"h": "units"},
        "step": ["h' = where(mod(n, period) < 0.5, tanh(W @ h + U @ x + b), h)"],
        "output": "h'"},
    # Hasani et al. 2021: time constants that depend on the input; the last input is the time since the step before
    "liquid": {
        "weights": {"W": ["units", "units"], "U": ["units", "input"], "b": ["units"], "A": ["units"], "w": ["units"]},
        "state": {"h": "units"},
        "step": ["dt = sum(slice(x, input - 1, input))", "f = sigmoid(W @ h + U @ x + b)",
                 "h' = (h + dt * f * A) / (1 + dt * (softplus(w) + f))"],
        "output": "h'"},
    # Gu and Dao 2023: a state space whose step, input and output depend on the input, four numbers for each channel
    "selective": {
        "weights": {"P": ["units", "input"], "D": ["units", "input"], "d": ["units"], "B": [4, "input"], "C": [4, "input"], "a": [4]},
        "state": {"S": ["units", 4]},
        "step": ["u = P @ x", "delta = softplus(D @ x + d)", "S' = exp(-1 * outer(delta, softplus(a))) * S + outer(delta * u, B @ x)"],
        "output": "S' @ (C @ x) + u"},
    # Lin et al. 1996: the inputs of some steps before, beside the state
    "narx": {
        "weights": {"W": ["units", "units"], "U": ["units", "input"], "U3": ["units", "input"], "U7": ["units", "input"], "b": ["units"]},
        "state": {"h": "units"},
        "step": ["h' = tanh(W @ h + U @ x + U3 @ x[-3] + U7 @ x[-7] + b)"],
        "output": "h'"},
    # Rusch and Rus 2024: forced oscillators, by the implicit (IM) and the symplectic (IMEX) step
    "linoss_im": {
        "weights": OSCILLATORS, "derived": {"A": "relu(a)", "dt": "sigmoid(s)"},
        "state": {"z": "units", "y": "units"},
        "step": ["z' = (z + dt * (B @ x - A * y)) / (1 + dt ** 2 * A)", "y' = y + dt * z'"],
        "output": "C @ y' + D @ x"},
    "linoss_imex": {
        "weights": OSCILLATORS, "derived": {"A": "relu(a)", "dt": "sigmoid(s)"},
        "state": {"z": "units", "y": "units"},
        "step": ["z' = z + dt * (B @ x - A * y)", "y' = y + dt * z'"],
        "output": "C @ y' + D @ x"},
    # Boyer et al. 2025: the same with trained damping
    "d_linoss": {
        "weights": {**OSCILLATORS, "g": "units"}, "derived": {"A": "relu(a)", "G": "relu(g)", "dt": "sigmoid(s)"},
        "state": {"z": "units", "y": "units"},
        "step": ["z' = (z + dt * (B @ x - A * y)) / (1 + dt * G)", "y' = y + dt * z'"],
        "output": "C @ y' + D @ x"},
    # Feng et al. 2024: gates that see the input alone
    "min_lstm": {
        "weights": {"F": ["units", "input"], "I": ["units", "input"], "H": ["units", "input"], "b": "units", "c": "units"},
        "state": {"h": "units"},
        "step": ["f = sigmoid(F @ x + b)", "i = sigmoid(I @ x + c)", "h' = (f * h + i * (H @ x)) / (f + i)"],
        "output": "h'"},
    # Hasani et al. 2022: the closed form of liquid time constants
    "cfc": {
        "weights": {"W": ["units", "input"], "U": ["units", "units"], "b": "units",
                    **{name: ["units", "units"] for name in "GKST"}},
        "state": {"h": "units"},
        "step": ["v = 1.7159 * tanh(0.666 * (W @ x + U @ h + b))", "gate = sigmoid(S @ v + T @ v)",
                 "h' = tanh(G @ v) * (1 - gate) + gate * tanh(K @ v)"],
        "output": "h'"},
}


class PaperCellsTest(ToolTest):
    def check_gradients_and_training(self, cells):
        """The recording: a sum of two sines at uneven times. Nothing that is learned would be a mean squared error of 1."""
        time, rows = 0.0, []
        for n in range(900):
            step = 0.5 + 0.4 * math.sin(1.7 * n)
            time += step
            rows.append(f"{math.sin(0.4 * time) + 0.5 * math.sin(1.1 * time):.6f},{step:.6f}")
        self.write("uneven.csv", "v,dt\n" + "\n".join(rows) + "\n")
        for name, cell in cells:
            with self.subTest(name):
                experiment = {"name": name, "data": {"task": "series", "path": "uneven.csv", "input": ["v", "dt"], "target": ["v"],
                                                        "window": 60, "normalize": False},
                              "cells": {name: cell}, "model": {"layers": [{"cell": name, "units": 8}], "readout": {"at": "every_step"}},
                              "optimizer": {"type": "adam", "lr": 0.01}, "train": {"epochs": 25, "batch": 8, "clip": 1}}
                path = self.write(f"{name}.json", experiment)
                self.assertLess(json.loads(self.run_tool("check", path, "--gradients", "--json")[0])["max_rel_error"], 1e-6)
                self.run_tool("train", path, "--quiet")
                self.assertLess(json.loads(self.run_tool("eval", f"runs/{name}-0", "--json")[0])["loss"], 0.2)

    def test_some_have_right_gradients_and_learn(self):
        self.check_gradients_and_training([*CELLS.items()][::3])

    @slow
    def test_each_has_right_gradients_and_learns(self):
        self.check_gradients_and_training(CELLS.items())


if __name__ == "__main__":
    main()
