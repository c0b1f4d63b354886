"""The types of experiments, for editors and type checkers: with an annotation they complete keys and find wrong ones.

    experiment: lagtape.Experiment = {"name": "waves", "data": {"task": "mackey_glass"}, "model": {"layers": [...]}}

They are TypedDicts of experiments.pyi, generated from the JSON Schema of experiments. At run time they are dicts.
"""

from __future__ import annotations

from typing import Any, Dict


class OwnLayer(Dict[str, Any]):
    """A layer of your own cell, as `Cell.layer` makes it."""


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return dict
