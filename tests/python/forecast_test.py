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


def test_a_forecast_of_quantiles_has_one_array_for_each_level():
    run = lt.train({**EXPERIMENT, "loss": {"type": "quantile", "levels": [0.1, 0.5, 0.9]}}, out="quantiles")
    run_tool("forecast", run.path, "--input", "wave.csv", "--steps", 15, "--from", 450, "--output", "next.csv")
    found = lt.forecast(run, "wave.csv", 15, start="450")
    assert found["levels"] == [0.1, 0.5, 0.9] and len(found["quantiles"]) == 3 and "low" not in found
    with open("next.csv") as file:
        rows = list(csv.DictReader(file))
    for level, quantile in zip(found["levels"], found["quantiles"]):
        assert np.allclose(quantile[:, 0], [float(row[f"q{level}"]) for row in rows], rtol=1e-6)
    assert (found["quantiles"][0] < found["quantiles"][2]).all()
    assert np.array_equal(found["prediction"], found["quantiles"][1])
    medians = lt.forecast(run, "wave.csv", 15, start="450", paths=0)
    assert np.allclose(medians["quantiles"][0][0], found["quantiles"][0][0], rtol=0.05)  # of the first step
    assert not np.array_equal(medians["quantiles"][0][14], found["quantiles"][0][14])


def test_a_saved_model_names_no_folder(tmp_path):
    run = lt.train("wave.json", out="run")
    (tmp_path / "out").mkdir()
    lt.load(run).save("out/model.safetensors")
    assert str(tmp_path).encode() not in (tmp_path / "out/model.safetensors").read_bytes()


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


def test_predictions_along_a_recording_are_the_tool_s():
    run = lt.train("wave.json")
    run_tool("predict", run.path, "--input", "wave.csv", "--output", "along.csv")
    with open("along.csv") as file:
        rows = list(csv.DictReader(file))
    found = lt.predict(run.path, "wave.csv", threads=2)
    assert found["targets"] == ["wave"] and found["horizon"] == 1
    assert found["rows"] == [int(row["row"]) for row in rows]
    assert np.allclose(found["prediction"][:, 0], [float(row["prediction"]) for row in rows], rtol=1e-6)
    assert np.ptp(found["prediction"]) > 0
    truth = [float(row["truth"] or "nan") for row in rows]
    assert np.isnan(truth).sum() == 1 and np.allclose(found["truth"][:, 0], truth, rtol=1e-6, equal_nan=True)
    with pytest.raises(lt.InputError, match="give its run"):
        lt.predict(run.model(), "wave.csv")
    with pytest.raises(lt.InputError, match="gone.csv"):
        lt.predict(run.path, "gone.csv")
