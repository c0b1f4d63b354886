"""Solves equations in continuous time, like `lagtape solve`."""

from __future__ import annotations

import os
import tempfile
from typing import Dict, Mapping, Optional, Sequence, Tuple, TypedDict, Union

import numpy as np

from ._arguments import Changes, Path, known_arguments, path_of, text_of
from ._errors import InputError
from ._results import Array
from ._tool import _ask, _set, _write


class _Solved(TypedDict):
    t: Array
    y: Dict[str, Array]


class Solution(_Solved, total=False):
    """States over time, by name, and with `derivatives` their derivatives with respect to each param."""

    d: Dict[str, Dict[str, Array]]


@known_arguments
def solve(equations: Union[Path, Mapping[str, object]], times: Union[str, Sequence[float], Array], *,
          params: Optional[Mapping[str, float]] = None, input: Union[None, Path, Tuple[Array, Array]] = None,
          history: Optional[Path] = None, derivatives: bool = False, cell: str = "", set: Changes = None) -> Solution:
    """Solves a cell's equations in continuous time. With `derivatives`, also differentiates the solution with respect to every
    trained param, lag and history: {"t", "y": {state: values}, "d": {param: {state: values}}}, f64 arrays, exact for the
    discretization.

    equations    a file, or a dict: a cell with an "ode", or an experiment with such a cell
    times        numbers, or "0:10:0.1"
    params       values to use instead of those in the equations' params
    input        a table of times and inputs, or the pair (times [n], values [n] or [n, width])
    history      a table of readings up to t = 0: times, and a column per state with such a history
    cell         which cell, if there are several

        >>> decay = {"params": {"c": 2.0}, "state": {"y": 1}, "history": {"y": 1}, "ode": ["dy = -c * y"], "solver": {"h": 0.01}}
        >>> solved = lagtape.solve(decay, [0.5], derivatives=True)
        >>> round(float(solved["y"]["y"][0]), 6), round(float(solved["d"]["c"]["y"][0]), 6)
        (0.367879, -0.18394)

    Raises InputError.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = _write(folder, "equations.json", equations) if isinstance(equations, Mapping) else path_of(equations)
        options = ["--times", times if isinstance(times, str) else _table(folder, "times.csv", "t", times)]
        for name, value in (params or {}).items():
            options += ["--param", f"{text_of(name, 'a name of params')}={float(value)!r}"]
        if isinstance(input, tuple):
            options += ["--input", _table(folder, "input.csv", "t", *input)]
        elif input is not None:
            options += ["--input", path_of(input)]
        if history is not None:
            options += ["--history", path_of(history)]
        options += ["--derivatives"] * bool(derivatives) + (["--cell", cell] if cell else [])
        found = _ask("solve", file, *options, *_set(set))
    solved = Solution(t=np.asarray(found["t"], float), y=_arrays(found["y"]))
    if "d" in found:
        solved["d"] = {name: _arrays(of) for name, of in found["d"].items()}
    return solved


def _arrays(lists: Mapping[str, object]) -> Dict[str, Array]:
    return {name: np.asarray(values, float) for name, values in lists.items()}


def _table(folder: str, name: str, first: str, *columns: object) -> str:
    """Writes columns, or matrices of columns, to a table."""
    parts = [np.asarray(column, float) for column in columns]
    if any(len(part) != len(parts[0]) or part.ndim > 2 for part in parts if part.ndim) or any(part.ndim == 0 for part in parts):
        raise InputError(f"[solve] times and inputs have a row each. Got shapes {[part.shape for part in parts]}.")
    rows = np.column_stack(parts)
    file = os.path.join(folder, name)
    with open(file, "w", encoding="utf-8") as opened:
        opened.write(",".join([first] + [f"u{i}" for i in range(rows.shape[1] - 1)]) + "\n")
        opened.writelines(",".join(repr(float(number)) for number in row) + "\n" for row in rows)
    return file
