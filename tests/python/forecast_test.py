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
    for start in (450, -50, "-50"):
        assert np.array_equal(lt.forecast(runs[0], "wave.csv", "15", start=start)["prediction"], found["prediction"])


def test_future_inputs_come_from_a_file(tmp_path):
    rows = [f"2024-01-{1 + n // 24:02} {n % 24:02}:00,{np.sin(n / 5):.6f},{n % 3}" for n in range(500)]
    (tmp_path / "own.csv").write_text("\n".join(["t,wave,price", *rows]))
    data = {"task": "series", "path": "own.csv", "time": "t", "target": ["wave"], "future": ["price"], "window": 30}
    run = lt.train({**EXPERIMENT, "data": data})
    (tmp_path / "past.csv").write_text("\n".join(["t,wave,price", *rows[:452]]))
    for shift in (0, 1):
        after = [f"2024-01-{1 + n // 24:02} {n % 24:02}:00,{(n + shift) % 3}" for n in range(452, 500)]
        (tmp_path / f"next{shift}.csv").write_text("\n".join(["t,price", *after]))
    expected = lt.forecast(run, "own.csv", "2d", start=-48)
    found = lt.forecast(run, "past.csv", "2d", future=tmp_path / "next0.csv")
    assert found["prediction"].shape == (48, 1) and np.array_equal(found["prediction"], expected["prediction"])
    assert found["times"] == expected["times"]
    other = lt.forecast(run, "past.csv", 48, future="next1.csv")["prediction"]
    assert not np.array_equal(other, found["prediction"])
    with pytest.raises(lt.InputError, match='price is a "future" input and is not known'):
        lt.forecast(run, "past.csv", 48)


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
    (lambda run: lt.forecast("missing", "wave.csv", 5), "missing: cannot read"),
    (lambda run: lt.forecast("wave.json", "wave.csv", 0), "[forecast] steps must be a whole number of at least 1. Got 0."),
    (lambda run: lt.forecast(run, 3, 5), "expected a path or a DataFrame. Got int."),
    (lambda run: lt.forecast(run, "wave.csv", "soon"), "[forecast] steps: expected a number of steps, or a length of time"),
    (lambda run: lt.forecast("wave.json", "wave.csv", 2.5), "[forecast] steps must be a whole number of at least 1. Got 2.5."),
    (lambda run: lt.forecast("wave.json", "wave.csv", 5, start=[]), "[forecast] start must be a whole number"),
    (lambda run: lt.predict(3, [[1]]), "expected a path. Got int."),
])
def test_what_is_wrong_is_refused(trained, call, message):
    with pytest.raises(lt.InputError) as raised:
        call(trained)
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
    of_model = lt.predict(run.model(), "wave.csv")
    assert np.array_equal(of_model["prediction"], found["prediction"])
    with pytest.raises(lt.InputError, match="gone.csv"):
        lt.predict(run.path, "gone.csv")
