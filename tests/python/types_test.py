"""Types: the TypedDicts of experiments are those of the schema, wrong experiments and wrong uses of results are found by mypy."""

import copy
import importlib.util
import inspect
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import lagtape as lt
import pytest
from conftest import run_tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tools" / "python" / "lagtape"
WRONG = 200
RIGHT = [
    {"name": "a", "data": {"task": "mackey_glass", "train": 8, "length": 60}, "model": {"layers": [{"cell": "tau_gru", "units": 6, "tau": 3}],
     "readout": {"units": 1, "at": "every_step"}}, "loss": "mse", "metrics": ["rmse"], "optimizer": {"type": "adam", "lr": 0.01},
     "train": {"epochs": 2, "batch": 4}},
    {"name": "b", "data": {"task": "series", "path": "a.csv", "target": ["load"], "calendar": ["hour"], "window": 48, "horizon": 2},
     "model": {"layers": [{"layer": "linear", "units": 4}, {"cell": "gru", "units": 8}]}, "loss": {"type": "quantile", "levels": [0.1, 0.5, 0.9]},
     "schedule": {"type": "cosine", "warmup": 3}, "train": {"epochs": 3, "patience": 2, "memory": {"plan": "auto", "budget": "64MiB"}}},
    {"name": "c", "data": {"task": "adding", "fresh": True, "length": 100}, "model": {"layers": [{"cell": "lstm", "units": 4},
     {"layer": "dropout", "rate": 0.1}, {"cell": "dilated", "of": {"cell": "indrnn", "units": 4}, "dilations": [1, 2]}]},
     "optimizer": {"type": "sgd", "lr": 0.1, "momentum": 0.9}, "train": {"steps": 20, "evaluate_every": 5}},
]


def program(experiments):
    """A module with a variable of the type Experiment for each, and the first line of each."""
    lines, places = ["import lagtape as lt"], []
    for number, experiment in enumerate(experiments):
        places.append(len(lines) + 1)
        text = json.dumps(experiment, indent=1).replace("true", "True").replace("false", "False").replace("null", "None")
        lines += f"e{number}: lt.Experiment = {text}".splitlines()
    return "\n".join(lines) + "\n", places


def errors_of(text, folder):
    """The lines of a module in which mypy --strict finds errors, and what it says."""
    (folder / "lagtape").symlink_to(PACKAGE) if not (folder / "lagtape").exists() else None
    (folder / "wrong.py").write_text(text)
    (folder / "mypy.ini").write_text("[mypy-pandas.*]\nignore_missing_imports = True\n")  # whose types are a separate package
    environment = {**os.environ, "MYPYPATH": str(folder)}
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary", "wrong.py"], cwd=folder,
                          env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {int(line) for line in re.findall(r"^wrong\.py:(\d+): error", done.stdout, re.M)}, done.stdout


def places_in(value, path=()):
    """The paths of all objects in an experiment."""
    if isinstance(value, dict):
        yield path
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places_in(part, (*path, key))


def mutated(draw):
    """A right experiment with a wrong key, a value of a wrong type, or a name that is none; and what was done."""
    experiment = copy.deepcopy(draw.choice(RIGHT))
    place = draw.choice(list(places_in(experiment)))
    owner = experiment
    for key in place:
        owner = owner[key]
    key, kind = draw.choice(list(owner)), draw.choice(("key", "type", "name"))
    if kind == "key":
        wrong = "".join(draw.sample(key, len(key))) if len(set(key)) > 2 else f"{key}_of"
        while wrong in owner:
            wrong += "x"
        owner[wrong] = owner.pop(key)
    elif kind == "type" or not isinstance(owner[key], str) or key in ("name", "path", "budget"):  # any text is one
        owner[key] = {"a": 1} if not isinstance(owner[key], dict) else 3.5
    else:
        owner[key] += "_x"
    return experiment, f"{kind} at {'/'.join(map(str, (*place, key)))}"


needs_mypy = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="not run: mypy is missing")


def test_the_types_are_those_of_the_schema():
    made = subprocess.run([sys.executable, str(ROOT / "tools" / "python" / "experiment_types.py")], input=json.dumps(lt.schema()),
                          capture_output=True, text=True, check=True).stdout
    assert made == (PACKAGE / "experiments.pyi").read_text(), "lagtape schema | tools/python/experiment_types.py > .../experiments.pyi"
    assert lt.schema() == json.loads(run_tool("schema").stdout)


@pytest.mark.slow
@needs_mypy
def test_mypy_finds_200_wrong_experiments_and_none_in_right_ones(tmp_path):
    found, said = errors_of(program(RIGHT)[0], tmp_path)
    assert not found, said
    draw = random.Random(0)
    wrong = [mutated(draw) for _ in range(WRONG)]
    text, places = program([experiment for experiment, _ in wrong])
    found, said = errors_of(text, tmp_path)
    ends = [*places[1:], text.count("\n") + 1]
    missed = [what for (_, what), first, end in zip(wrong, places, ends) if not any(first <= line < end for line in found)]
    assert not missed, missed


USES = """
import lagtape as lt
import numpy as np
from numpy.typing import NDArray

run = lt.Run("run")
loss: float = run.evaluate("test")["loss"]
rmse: NDArray[np.float64] = run.evaluate(horizon=48)["targets"]["load"]["rmse"]
counts: NDArray[np.int64] = run.confusion()
y: NDArray[np.float32] = run.model().predict(np.zeros((3, 1)))
several = run.model().predict([np.zeros((3, 1))])
first: NDArray[np.float32] = several[0]
made = run.forecast("a.csv", 3)["prediction"]
params: int = lt.inspect(run)["params"]
name: str = lt.list("cells", "lem")["name"]
epochs = run.history["epoch"]

@lt.cell
def leaky(s: lt.Step, units: lt.Expression, tau: int = 10) -> lt.Expression:
    h = s.state("h", units)
    s.next(h, lt.tanh(s.weight("V", (units, units)) @ h[-tau] + s.weight("U", (units, s.input.size)) @ s.input))
    return s.next_of(h)

definition = leaky.definition
layer = leaky.layer(units=4, tau=3)
experiment: lt.Experiment = {"name": "own", "data": {"task": "mackey_glass"}, "model": {"layers": [layer]}}
lt.train(experiment, lr=0.1, callback=[lambda row: row["epoch"] > 3])
"""
WRONG_USES = """
run.evaluate("test")["loss"].append(1)
lt.inspect(run)["parmas"]
run.evaluate(horizon="2d")["target"]
lt.list("cells")["lem"]
run.summary["epochs"]
lt.train(experiment, epoch=3)
lt.tanhh(3)
leaky.equation
run.plot_learning(axes=None)
run.export("c99")
"""


@pytest.mark.slow
@needs_mypy
def test_results_have_types(tmp_path):
    found, said = errors_of(USES, tmp_path)
    assert not found, said
    found, said = errors_of(USES + WRONG_USES, tmp_path)
    first = USES.count("\n") + 1
    assert found == {first + i for i, line in enumerate(WRONG_USES.split("\n")) if line}, said


@pytest.mark.slow
@needs_mypy
def test_the_examples_of_the_documents_have_types(tmp_path):
    """The Python of python.md is clean under mypy --strict, and under pyright where that is installed."""
    text = (ROOT / "tools" / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) > 6
    found, said = errors_of("\n".join(blocks), tmp_path)
    assert not found, said
    path = os.pathsep.join([os.environ.get("PATH", ""), os.path.dirname(sys.executable)])
    pyright = shutil.which("pyright", path=path) or shutil.which("basedpyright", path=path)
    if pyright:
        (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "include": ["wrong.py"],
                                                                 "reportMissingTypeStubs": False, "reportUnknownMemberType": False,  # pandas has none
                                                                 "pythonVersion": "3.11"}))
        done = subprocess.run([pyright, "--pythonpath", sys.executable], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
@needs_mypy
def test_the_package_itself_is_clean(tmp_path):
    def said():
        done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", PACKAGE.parent / "pyproject.toml", "--no-error-summary", "lagtape"],
                              cwd=tmp_path, capture_output=True, text=True)
        return done.stdout + done.stderr

    shutil.copytree(PACKAGE, tmp_path / "lagtape")
    assert said() == ""
    (tmp_path / "lagtape" / "_run.py").open("a").write("\nwrong: int = Run.__name__\n")
    assert "_run.py" in said()


def test_no_public_result_is_any():
    """Nothing that is called from outside says of its result that it may be anything."""
    def annotations(one, name):
        if inspect.isfunction(one):
            yield name, one.__annotations__.get("return")
        elif isinstance(one, property):
            yield name, one.fget.__annotations__.get("return")
        elif inspect.isclass(one) and one.__module__.startswith("lagtape"):
            for key, value in vars(one).items():
                if not key.startswith("_"):
                    yield from annotations(value, f"{name}.{key}")

    found = dict(pair for name in lt.__all__ for pair in annotations(getattr(lt, name), name))
    assert len(found) > 60 and found["Run.history"] == "Dict[str, Array]"
    frames = {"Forecaster.predict", "Forecaster.predict_along"}  # of the library of the table that `fit` took
    vague = {name: of for name, of in found.items() if name not in frames and (of is None or re.search(r"\bAny\b", str(of)))}
    assert not vague
