"""The ten cells of the page from_numpy.md: what the equations give is what the NumPy beside them gives."""

import json
import pathlib
import re

import numpy as np
import pytest

import lagtape as lt

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "tools/docs/from_numpy.md").read_text()
FIRST, *SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)


def block(language, text):
    return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL).group(1)


def states_of(cell, units):
    sizes = {"units": units, **cell.get("hyper", {})}
    size = {"units": units, "heads": sizes.get("heads", 1), "units / heads": units // sizes.get("heads", 1), "n_state": sizes.get("n_state")}
    shapes = {name: shape if isinstance(shape, list) else [shape] for name, shape in cell["state"].items()}
    return {name: np.zeros([size[one] for one in shape]) for name, shape in shapes.items()}


@pytest.mark.parametrize("section", SECTIONS, ids=[section.split("\n")[0] for section in SECTIONS])
def test_equations_give_what_numpy_gives(section, tmp_path):
    names = {}
    exec(block("python", FIRST), names)
    before = set(names)
    exec(block("python", section), names)
    (step,) = [names[name] for name in set(names) - before]
    ((name, cell),) = json.loads("{" + block("json", section) + "}")["cells"].items()
    run = lt.train({
        "name": "cell", "seed": 3, "data": {"task": "random", "length": 20, "input": 3, "output": 8, "every_step": True, "train": 4, "valid": 0, "test": 0},
        "model": {"layers": [{"cell": name, "units": 8}], "readout": "none"}, "cells": {name: cell}, "loss": "mse",
        "optimizer": {"type": "sgd", "lr": 1e-3}, "train": {"epochs": 1, "batch": 4, "precision": "f64"}}, out=tmp_path / "run")
    weights = {key.removeprefix("layers.0."): value for key, value in run.model().parameters.items()}
    x = np.random.default_rng(5).normal(size=(12, 3))
    states, expected = states_of(cell, 8), []
    for one in x:
        states, y = step(weights, states, one)
        expected.append(y)
    given = run.model().predict(x)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(given, expected, rtol=1e-12, atol=1e-12)


def test_there_are_ten():
    assert len(SECTIONS) == 10
