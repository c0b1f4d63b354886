"""A thousand calls with random wrong arguments: each is refused with an exception of lagtape or works, and Python
continues."""

import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from conftest import EXPERIMENT

CALLS = 1000

ODD = [None, True, -1, 0, 1, 2**70, 1.5, float("nan"), float("inf"), "", "x", "\udc80", b"", b"\x00" * 64, [], {}, (), set(), object(), len,
       [[]], [[1], [1, 2]], {"a": 1}, [None], 1j, np.nan, np.array(1), np.zeros(0), np.zeros((0, 1)), np.zeros((2, 3, 4, 5)),
       np.zeros((3, 1), complex), np.array(["a"]), np.array([object()]), np.zeros((3, 1))[::-1], np.full((2, 1), 1e300),
       np.zeros((3, 1), np.int8), np.zeros((1, 1), ">f4"), np.zeros(3, "M8[s]"), range(3), memoryview(b"abcd"), Exception("x"),
       "train.epochs=1", {"train.epochs": 1}, "waves.json", {"name": 3}, "/", "run", "run/weights.safetensors"]


def odd_frames():
    """Tables that are wrong in some way, and one that is right; none where pandas is missing."""
    try:
        import pandas
    except ImportError:
        return []
    hours = pandas.date_range("2024-01-01", periods=60, freq="h")
    table = pandas.DataFrame({"a": np.sin(np.arange(60.0)), "b": np.arange(60.0) % 5}, index=hours)
    mixed = pandas.Index([hours[0].tz_localize("UTC"), *hours[1:]], dtype=object)
    return [table, table[:0], table[["a"]], table["a"], table.assign(a=np.nan), table.assign(a="x"), table.assign(b=[object()] * 60),
            table.assign(a=table["a"] + 1j), table.set_axis(mixed), table.set_axis(["a", "a"], axis=1), table.set_axis([0, 1], axis=1),
            pandas.concat([table, table]), table[::-1], table.set_axis(hours[:1].repeat(60)), pandas.DataFrame(), hours, hours[0], pandas.NaT,
            table.reset_index(), table.set_index("b", append=True), [table, table[:3]], {"one": table, "two": None}]


def calls(lt, model, stream):
    """Functions of one or two arguments, by name."""
    experiment = {**EXPERIMENT, "train": {"epochs": 1, "batch": 4}}
    return {
        "load": lambda a, b: lt.load(a),
        "predict": lambda a, b: model.predict(a),
        "predict_threads": lambda a, b: model.predict(a, threads=b),
        "stream": lambda a, b: model.stream(a),
        "Stream": lambda a, b: lt.Stream(a, b),
        "save": lambda a, b: model.save(a) if not isinstance(a, str) else None,
        "step": lambda a, b: stream.step(a),
        "block": lambda a, b: stream.block(a),
        "restore": lambda a, b: stream.restore(a),
        "window": lambda a, b: setattr(stream, "window", a),
        "check": lambda a, b: lt.check(a, set=b),
        "check_part": lambda a, b: lt.check({**experiment, random.choice(list(experiment)): a}),
        "check_layer": lambda a, b: lt.check({**experiment, "model": {"layers": [{"cell": a, "units": b}]}}),
        "check_cells": lambda a, b: lt.check({**experiment, "cells": {"mine": a}}),
        "check_data": lambda a, b: lt.check({**experiment, "data": {"window": 5}}, data=a),
        "check_columns": lambda a, b: lt.check({**experiment, "data": {"window": 5}}, data={"a": a, "b": b}),
        "check_arrays": lambda a, b: lt.check({**experiment, "data": {}}, data={"train_x": a, "train_y": b}),
        "inspect": lambda a, b: lt.inspect(a),
        "analyze": lambda a, b: lt.analyze("run", split=a, sequences=1, steps=5, values=b),
        "data": lambda a, b: lt.data("waves.json", fresh=a),
        "forecast": lambda a, b: lt.forecast(a, b, 3),
        "lt_predict": lambda a, b: lt.predict("run", a, threads=b),
        "list": lambda a, b: lt.list(a, b),
        "train": lambda a, b: lt.train(a, set=b, threads=1),
        "train_options": lambda a, b: lt.train({**experiment, "name": f"r{random.random()}"}, seed=a, epochs=b, threads=1),
        "train_settings": lambda a, b: lt.train({**experiment, "name": f"s{random.random()}"}, lr=a, units=b, threads=1),
        "train_callback": lambda a, b: lt.train({**experiment, "name": f"c{random.random()}"}, batch=a, callback=b, threads=1),
        "evaluate": lambda a, b: lt.evaluate("run", a, threads=b),
        "plot": lambda a, b: lt.Run("run").plot_gradient_reach(sequences=a, ax=b),
        "layer": lambda a, b: lt.check({**experiment, "model": {"layers": [lt.cell(lambda s, units: s.input, name="a").layer(units=a, tau=b)]}}),
        "cell": lambda a, b: lt.cell(a, name=b),
        "weight": lambda a, b: lt.cell(lambda s, units: s.weight(a, b)),
        "state": lambda a, b: lt.cell(lambda s, units: s.state("h", a)[b]),
        "next": lambda a, b: lt.cell(lambda s, units: s.next(a, b)),
        "function": lambda a, b: lt.cell(lambda s, units: lt.maximum(a, b) @ s.state("h", units)),
        "Run": lambda a, b: lt.Run(a).history,
    }


def estimator_calls(lt):
    """Likewise, of the estimators: trainings and predictions of which a part is wrong."""
    small = {"units": 2, "epochs": 1, "threads": 1}
    x, y, table = np.arange(24.0).reshape(6, 4, 1) % 7, [0, 1, 1] * 2, {"a": np.sin(np.arange(60.0)), "b": np.arange(60.0) % 5}
    kinds = {"classifier": lt.SequenceClassifier, "regressor": lt.SequenceRegressor, "forecaster": lt.Forecaster}
    made = {name: kind(**small) for name, kind in kinds.items()}
    forecaster = lt.Forecaster(window=5, **small).fit(table, target="a")
    found = {"forecast": lambda a, b: forecaster.predict(a, b), "forecast_from": lambda a, b: forecaster.predict(2, start=a, interval=b),
             "forecast_of": lambda a, b: forecaster.predict(2, df=a, series=b), "along": lambda a, b: forecaster.predict_along(a),
             "backtest": lambda a, b: forecaster.backtest(a, b), "backtest_test": lambda a, b: forecaster.backtest(2, test=a, season=b),
             "forecast_score": lambda a, b: forecaster.score(a, b), "table": lambda a, b: made["forecaster"].fit(a, b),
             "roles": lambda a, b: made["forecaster"].set_params(window=5).fit(table, target=a, future=b),
             "time": lambda a, b: made["forecaster"].set_params(window=5).fit(table, target="a", series=a, time=b)}
    for name in "classifier", "regressor":
        fitted = kinds[name](**small).fit(x, y)
        found.update({f"{name}_x": lambda a, b, name=name: made[name].fit(a, y), f"{name}_y": lambda a, b, name=name: made[name].fit(x, a),
                      f"{name}_both": lambda a, b, name=name: made[name].fit(a, b), f"{name}_predict": lambda a, b, it=fitted: it.predict(a),
                      f"{name}_score": lambda a, b, it=fitted: it.score(x, a), f"{name}_weights": lambda a, b, it=fitted: it.score(x, y, a)})
    for name, kind in kinds.items():
        def set_any(a, b, kind=kind):
            settings = {**small, random.choice([one for one in kind._names() if one != "progress"]): a}
            kind(**settings).fit(table, target="a") if kind is lt.Forecaster else kind(**settings).fit(x, y)
        found[f"{name}_setting"] = set_any
        found[f"{name}_params"] = lambda a, b, kind=kind: kind().set_params(**{str(a): b})
    return found


def hammer(seed, which):
    import lagtape as lt

    random.seed(seed)
    model = lt.load("run")
    stream = model.stream()
    functions = calls(lt, model, stream) if which == "calls" else estimator_calls(lt)
    refused, worked = {}, {}
    odd = ODD if which == "calls" else ODD + 2 * odd_frames()
    for number in range(CALLS):
        name = random.choice(list(functions))
        a, b = random.choice(odd), random.choice(odd)
        try:
            functions[name](a, b)
            worked[name] = worked.get(name, 0) + 1
        except lt.Error as error:
            assert str(error), (name, a, b)
            refused[name] = refused.get(name, 0) + 1
        except BaseException as error:
            raise AssertionError(f"call {number} of seed {seed}: {name}({a!r}, {b!r})") from error
    stream.reset()
    print(json.dumps([refused, worked, float(stream.step(0.5)[0])]))


@pytest.mark.parametrize("which", ["calls", "estimators"])
def test_random_wrong_arguments_raise_and_crash_nothing(trained, tmp_path, which):
    (tmp_path / "waves.json").write_text(json.dumps(EXPERIMENT))
    os.symlink(trained, tmp_path / "run")
    results = []
    for seed in 1, 1:
        done = subprocess.run([sys.executable, "-W", "ignore", "-B", __file__, str(seed), which], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        results.append(json.loads(done.stdout))
    refused, worked, output = results[0]
    assert sum(refused.values()) + sum(worked.values()) == CALLS and sum(refused.values()) > CALLS / 2
    assert len(refused) >= (25 if which == "calls" else 20) and results[1][2] == output


if __name__ == "__main__":
    hammer(int(sys.argv[1]), sys.argv[2])
