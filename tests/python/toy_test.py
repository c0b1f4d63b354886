"""The toy of tools/examples/toy.py gives the values and the gradients of the engine."""

import importlib.util
import json
import pathlib

import numpy as np
import pytest

from lagtape import _lagtape

TOY = pathlib.Path(__file__).resolve().parents[2] / "tools" / "examples" / "toy.py"
UNITS, INPUT, STEPS = 4, 3, 45  # three runs, of which the last is short


@pytest.fixture(scope="module")
def toy():
    spec = importlib.util.spec_from_file_location("toy", TOY)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def case(lag):
    """Weights, inputs, a window, and the gradients of the outputs."""
    random = np.random.default_rng(lag)
    weights = {"W": random.normal(size=(UNITS, UNITS)), "V": random.normal(size=(UNITS, UNITS)),
               "U": random.normal(size=(UNITS, INPUT)), "r": random.uniform(0.2, 0.9, size=UNITS)}
    return weights, *(random.normal(size=(rows, width)) for rows, width in ((STEPS, INPUT), (lag + 1, UNITS), (STEPS, UNITS)))


def results_of_toy(toy, lag, weights, x, window, dy):
    layer = toy.Layer(toy.delay_cell(lag))
    h, saved = layer.forward(weights, x, window)
    gradients, dx, dwindow = layer.backward(weights, saved, dy)
    return {"y": h[len(window):], "x": dx, "window": dwindow, **gradients}


def results_of_engine(lag, weights, x, window, dy):
    cell = {"weights": {"W": ["units", "units"], "V": ["units", "units"], "U": ["units", "input"], "r": ["units"]},
            "state": {"h": "units"}, "step": [f"h' = h + r * (tanh(W @ h + V @ h[-{lag}] + U @ x) - h)"], "output": "h'"}
    text = json.dumps({"cells": {"delay_cell": cell}, "model": {"layers": [{"cell": "delay_cell", "units": UNITS}]},
                       "train": {"memory": "full", "precision": "f64"}})
    recurrence = _lagtape.read_recurrence(text, INPUT, "every_step", 1)
    names = [name.rpartition(".")[2] for name, *_ in recurrence.parameters]
    held, y, _ = recurrence.forward([weights[name] for name in names], x[None], [], [window[:, None]], None, None, True, True, True)
    gradients, dx, dwindow = held.backward(dy[None], [])
    return {"y": y[0], "x": dx[0], "window": dwindow[0][:, 0], **dict(zip(names, gradients))}


def differences(a, b):
    """The largest difference of each result, relative to its largest entry."""
    assert a.keys() == b.keys()
    assert all(a[name].shape == b[name].shape and np.abs(b[name]).max() > 0.01 for name in a)
    return {name: np.abs(a[name] - b[name]).max() / np.abs(b[name]).max() for name in a}


@pytest.mark.parametrize("lag", [1, 6, 15, 60])
def test_values_and_gradients_are_those_of_the_engine(toy, lag):
    given = case(lag)
    found = differences(results_of_toy(toy, lag, *given), results_of_engine(lag, *given))
    assert set(found) == {"y", "x", "window", "W", "V", "U", "r"}
    assert max(found.values()) < 1e-12, found


def test_an_adjoint_that_is_wrong_is_seen(toy, monkeypatch):
    monkeypatch.setitem(toy.RULES, "tanh_adjoint", lambda W, a, b: a * (1 - b))
    given = case(6)
    found = differences(results_of_toy(toy, 6, *given), results_of_engine(6, *given))
    assert found["y"] < 1e-12 and all(found[name] > 1e-3 for name in ("x", "window", "W", "V", "U", "r"))


def test_no_product_of_the_input_or_of_the_delayed_state_is_left_in_the_time_loop(toy):
    layer = toy.Layer(toy.delay_cell(6))
    looped = [layer.tape.ops[n] for n in layer.forward_ops + layer.backward_ops]
    assert [op.weight for op in looped if op.kind in ("product", "transposed")] == ["W", "W"]
    assert [len(blocks) for _, blocks in layer.blocks(45)] == [3, 3, 2]  # 7 steps each, within runs of 16
