"""Types of experiments. With an annotation, editors and type checkers complete keys and find wrong ones.

    experiment: lagtape.Experiment = {"name": "waves", "data": {"task": "mackey_glass"}, "model": {"layers": [...]}}

They are TypedDicts in experiments.pyi, generated from the experiments' JSON Schema. At run time they are dicts.
"""

from __future__ import annotations

from typing import Any, Dict


class OwnLayer(Dict[str, Any]):
    """A layer of your own cell, made by `Cell.layer`."""


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return dict
