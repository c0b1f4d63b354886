"""Forecasts and predictions by the names that the tool has for them."""

import csv
import json

import numpy as np
import pytest
from conftest import run_tool

import lagtape as lt

EXPERIMENT = {
    "name": "wave",
    "data": {"task": "series", "path": "wave.csv", "input": ["wave"], "window": 40},
    "model": {"layers": [{"cell": "gru", "units": 4}], "readout": {"at": "every_step"}},
    "train": {"epochs": 2, "batch": 4},
}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{n},{np.sin(n / 5):.6f}" for n in range(500)]
    (tmp_path / "wave.csv").write_text("\n".join(["n,wave", *rows]))
    (tmp_path / "wave.json").write_text(json.dumps(EXPERIMENT))


def test_a_forecast_is_the_tool_s():
    runs = [lt.train("wave.json", seed=seed) for seed in (1, 2)]
    run_tool("forecast", runs[0].path, "--input", "wave.csv", "--steps", 15, "--from", 450, "--output", "next.csv")
    with open("next.csv") as file:
        expected = [float(next(value for name, value in row.items() if "prediction" in name)) for row in csv.DictReader(file)]
    found = lt.forecast(runs[0], "wave.csv", 15, start="450")
    assert found["targets"] == ["wave"] and found["prediction"].shape == found["truth"].shape == (15, 1)
    assert np.allclose(found["prediction"][:, 0], expected, rtol=1e-6) and np.ptp(expected) > 0
    assert np.isfinite(found["truth"]).all() and "low" not in found
    several = lt.forecast(runs, "wave.csv", 15, start="450")
    assert (several["low"] <= several["high"]).all() and (several["low"] < several["high"]).any()
    assert np.isnan(lt.forecast(runs[0], "wave.csv", 15)["truth"]).all()


def test_predict_takes_runs_and_models(trained):
    x = np.linspace(0, 1, 20)[:, None]
    y = lt.predict(trained, x)
    assert np.array_equal(y, lt.predict(lt.load(trained), x)) and np.ptp(y) > 0


@pytest.mark.parametrize("call, message", [
    (lambda: lt.forecast("missing", "wave.csv", 5), "missing: cannot read"),
    (lambda: lt.forecast("wave.json", "wave.csv", 0), "[forecast] steps must be a whole number of at least 1. Got 0."),
    (lambda: lt.forecast("wave.json", 3, 5), "expected a path. Got int."),
    (lambda: lt.forecast("wave.json", "wave.csv", 5, start=3), "[forecast] start must be a text. Got 3."),
    (lambda: lt.predict(3, [[1]]), "expected a path. Got int."),
])
def test_what_is_wrong_is_refused(call, message):
    with pytest.raises(lt.InputError) as raised:
        call()
    assert str(raised.value).startswith(message)
