"""Every public name has a docstring with an example, and the examples run."""

import doctest
import inspect
import os
import pathlib
import shutil

import lagtape as lt
import numpy as np
import pytest
from conftest import EXPERIMENT, changed

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "experiments"
WITHOUT_EXAMPLE = {"Experiment", "Fit", "Solution"}  # types of results and of dicts


def methods_of(one):
    """The public methods and properties of a class that the package defines."""
    return {name: value for name, value in vars(one).items() if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))}


def examples_of(name):
    """The docstrings of a public name and its methods."""
    one = getattr(lt, name)
    yield name, one.__doc__
    for method, value in methods_of(one).items() if inspect.isclass(one) and one.__module__.startswith("lagtape") else ():
        yield f"{name}.{method}", value.__doc__


@pytest.fixture(scope="module")
def names(tmp_path_factory, trained):
    """Names in the examples: a run of waves, one of a recording, a classifier, and a cell."""
    folder = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shutil.copytree(trained, "run")
        (folder / "wave.csv").write_text("wave\n" + "\n".join(f"{np.sin(n / 5):.6f}" for n in range(300)))
        recording = changed(name="wave", data={"task": "series", "path": "wave.csv", "target": ["wave"], "past_target": True, "window": 20})
        wave = lt.train(recording, progress=False)
        draw = np.random.default_rng(0)
        np.savez("arrays.npz", X=draw.normal(size=(40, 6, 2)), y=np.arange(40) % 2)
        classes = changed(name="classes", data={"task": "arrays", "path": "arrays.npz", "classes": 2}, loss="cross_entropy", metrics=["accuracy"],
                          model={"layers": [{"cell": "lstm", "units": 3}]})
        classifier = lt.train(classes, progress=False)

        @lt.cell
        def leaky_delay(s, units, tau=10, leak=0.5):
            h = s.state("h", units)
            V, U = s.weight("V", (units, units)), s.weight("U", (units, s.input.size))
            s.next(h, (1 - leak) * h + leak * lt.tanh(V @ h[-tau] + U @ s.input))
            return s.next_of(h)

        columns = {"load": np.sin(np.arange(400) / 4), "temp": draw.normal(size=400)}
        run = lt.Run("run")
        yield {"lagtape": lt, "os": os, "np": np, "run": run, "model": run.model(), "x": lt.data(EXPERIMENT)["test_x"], "experiment": EXPERIMENT, "wave": wave,
               "columns": columns, "X": draw.normal(size=(40, 6, 2)), "y": np.arange(40) % 2,
               "classifier": classifier, "leaky_delay": leaky_delay, "experiments": str(EXPERIMENTS)}


def run_example(name, text, names):
    test = doctest.DocTestParser().get_doctest(text, dict(names), name, None, 0)
    failed = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed
    return len(test.examples), failed


def test_an_example_that_is_wrong_fails(capsys):
    assert run_example("wrong", ">>> 1 + 1\n3\n", {}) == (1, 1) and "Expected" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", lt.__all__)
def test_the_examples_run(name, names, capsys):
    if name == "from_torch":
        pytest.importorskip("torch", reason="not run: torch is missing")
    found = 0
    for place, text in examples_of(name):
        assert text and text.strip(), place
        examples, failed = run_example(place, text, names)
        assert failed == 0, capsys.readouterr().out
        found += examples
    assert found > 0 or name in WITHOUT_EXAMPLE, f"{name} has no example"
