"""Every public name of lagtape.torch has a docstring with an example, and the examples run."""

import lagtape
import numpy as np
import pytest
from docstrings_test import methods_of, run_example

torch = pytest.importorskip("torch", reason="not run: torch is missing")

import lagtape.torch  # noqa: E402


@pytest.mark.parametrize("name", lagtape.torch.__all__)
def test_the_examples_run(name, trained, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").symlink_to(trained)
    one = getattr(lagtape.torch, name)
    methods = {key: value for kind in one.__mro__ if kind.__module__.startswith("lagtape") for key, value in methods_of(kind).items()
               if value.__module__.startswith("lagtape")}
    if isinstance(vars(one).get("from_run"), classmethod):
        methods["from_run"] = one.from_run
    names = {"torch": torch, "lagtape": lagtape, "np": np, **{key: getattr(lagtape.torch, key) for key in lagtape.torch.__all__}}
    for place, text in [(name, one.__doc__), *((f"{name}.{key}", value.__doc__) for key, value in methods.items() if key != "extra_repr")]:
        assert text and text.strip(), place
        examples, failed = run_example(place, text, names)
        assert failed == 0, capsys.readouterr().out
        assert examples > 0, f"{place} has no example"
