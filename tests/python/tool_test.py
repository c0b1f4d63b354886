"""The tool's other commands as functions: their results are the tool's, and errors are exceptions."""

import json

import lagtape as lt
import numpy as np
import pytest
from conftest import EXPERIMENT, run_tool

SMALL = {**EXPERIMENT, "train": {"epochs": 1, "batch": 4}}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_scores_are_those_that_the_tool_prints(trained):
    scores = json.loads(run_tool("eval", trained, "--split", "valid", "--json").stdout)
    assert lt.evaluate(trained, "valid") == lt.Run(trained).evaluate("valid") == scores and scores["rmse"] > 0


def test_a_run_counts_its_confusions():
    draw = np.random.default_rng(0)
    data = {"train_x": draw.normal(size=(40, 9, 2)), "train_y": draw.integers(0, 3, 40), "test_x": draw.normal(size=(10, 9, 2)),
            "test_y": np.array([0] * 7 + [1, 2, 2])}
    experiment = {"name": "c", "data": {"task": "arrays", "classes": 3}, "model": {"layers": [{"cell": "gru", "units": 3}]},
                  "loss": "cross_entropy", "metrics": ["accuracy"], "train": {"batch": 4, "epochs": 1}}
    run = lt.train(experiment, data=data, out="run")
    counts = run.confusion(data=data)
    assert counts.shape == (3, 3) and counts.sum(axis=1).tolist() == [7, 1, 2]
    assert run.evaluate(data=data)["accuracy"] == pytest.approx(np.trace(counts) / 10)
    assert run.evaluate("all", data=data)["loss"] != run.evaluate(data=data)["loss"]
    with pytest.raises(lt.InputError, match="given from memory"):
        run.evaluate()
    with pytest.raises(lt.InputError, match="takes 2 inputs per step"):
        run.evaluate(data={name: array[:, :, :1] if name.endswith("x") else array for name, array in data.items()})


def test_horizons_are_scored_beside_baselines():
    pandas = pytest.importorskip("pandas")
    wave = pandas.DataFrame({"wave": np.sin(np.arange(600) / 5)}, index=pandas.date_range("2024-01-01", periods=600, freq="h"))
    wave.rename_axis("time").to_csv("wave.csv")
    experiment = {"name": "wave", "data": {"window": 40, "target": ["wave"]}, "loss": "mse",
                  "model": {"layers": [{"cell": "gru", "units": 6}], "readout": {"at": "every_step"}}, "train": {"batch": 4, "epochs": 3}}
    run = lt.train(experiment, data=wave)
    scores = run.evaluate(horizon=6, data=wave)
    assert scores["targets"]["wave"]["rmse"].shape == (6,) and scores["best_baseline"] in ("ridge", "theta", "seasonal", "persistence")
    tool = json.loads(run_tool("eval", run.path, "--horizon", "6", "--data", "wave.csv", "--json").stdout)
    assert np.array_equal(scores["targets"]["wave"]["rmse"], tool["targets"]["wave"]["rmse"])
    assert lt.evaluate(run, horizon="6h", data="wave.csv")["ratio"] == scores["ratio"]


def test_searches_of_dicts_and_files_are_the_same():
    search = {"method": "random", "runs": 2, "ranges": {"/optimizer/lr": {"log_uniform": [1e-3, 1e-1]}}}
    found = lt.search({**search, "experiment": SMALL}, out="dict", jobs=1)
    with open("small.json", "w") as file:
        json.dump(SMALL, file)
    with open("search.json", "w") as file:
        json.dump({**search, "experiment": "small.json"}, file)
    again = lt.search("search.json", out="file", jobs=1)
    assert [(run["settings"], run["loss"]) for run in found["runs"]] == [(run["settings"], run["loss"]) for run in again["runs"]]
    assert len(lt.search("search.json", out="file", show=True)["runs"]) == 2


def test_runs_are_compared_reported_and_exported(trained):
    other = lt.train(SMALL, out="other", seed=3)
    assert "/train/epochs" in json.dumps(lt.compare(trained, other))
    assert "<html" in open(other.report("page.html")).read()
    assert "waves" in open(lt.Run(trained).export("c99", "waves.c", precision="f64")).read()
    lt.export(lt.load(trained), "c99", "of_model.c", precision="f64")
    assert open("of_model.c").read().split() == open("waves.c").read().replace("waves", "of_model").split()


def test_drafts_schemas_and_benchmarks_are_dicts():
    with open("load.csv", "w") as file:
        file.write("time,load\n" + "".join(f"2024-01-{1 + n // 24:02} {n % 24:02}:00,{np.sin(n / 3.8):.4f}\n" for n in range(700)))
    draft = lt.new("load.csv", "lstm", units=5)
    assert draft["model"]["layers"][0]["cell"] == "lstm" and lt.check(draft)["params"] > 0
    assert lt.schema()["properties"]["optimizer"]
    assert lt.bench(SMALL, repeats=1, threads=1)["total_us"]["median"] > 0


WRONG = [
    (lambda: lt.compare("a", "b"), "a: is not a run folder"),
    (lambda: lt.search({"experiment": SMALL}), r"\[search\] a search that is a dict needs `out`"),
    (lambda: lt.search({"experiment": SMALL, "runs": 2, "ranges": {"/optimizer/lx": {"uniform": [0, 1]}}}, out="s"), "lr"),
    (lambda: lt.search("search.json", jobs=0), r"\[search\] jobs must be a whole number of at least 1"),
    (lambda: lt.bench({**SMALL, "loss": "mxe"}), "mse"),
    (lambda: lt.export("nowhere", "c99", "x.c"), "nowhere: cannot read"),
    (lambda: lt.report("nowhere", "x.html"), "nowhere"),
    (lambda: lt.new("mackey_glas"), "mackey_glass"),
    (lambda: lt.table("nowhere"), "nowhere"),
    (lambda: lt.evaluate("nowhere"), "nowhere: cannot read"),
    (lambda: lt.evaluate("nowhere", 3), r"\[evaluate\] split must be a text"),
    (lambda: lt.evaluate("nowhere", horizon=0), r"\[evaluate\] horizon must be a whole number"),
]


@pytest.mark.parametrize("call, message", WRONG)
def test_what_is_wrong_is_refused(call, message):
    with pytest.raises(lt.InputError, match=message):
        call()


def test_problems_of_a_command_are_objects():
    with pytest.raises(lt.InputError) as error:
        lt.bench({**SMALL, "optimizer": {"type": "adan"}})
    assert (error.value.pointer, error.value.suggestion, error.value.problems[0].rule) == ("/optimizer/type", "adam", "unknown_name")
