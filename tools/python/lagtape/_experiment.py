"""Checks, describes and analyzes experiments, like the tool's commands."""

from __future__ import annotations

import builtins
import json
import os
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Union, cast, overload

from . import _lagtape
from ._arguments import Changes, Experiment, assignments_of, count_of, json_of, known_arguments, path_of, text_of, texts_of, threads_of
from ._arrays import with_arrays
from ._cell import located, with_cells
from ._errors import THE_EXPERIMENT, InputError
from ._given import take
from ._results import Analysis, Array, CatalogueEntry, Check, Description


@known_arguments
def check(experiment: Experiment, *, data: object = None, gradients: bool = False, elements: int = 8, projections: int = 2,
          set: Changes = None, row: Optional[str] = None, threads: Optional[int] = None) -> Check:
    """Checks everything that training checks before its first step, including the data: {"name", "params", "memory"
    (bytes)}, and "notes" on what was found in the data files.

    With `gradients`, compares the whole model's gradients with central differences in f64, for up to `elements`
    elements and `projections` random directions per parameter, and adds what `lagtape check --gradients --json`
    prints: ok, max_rel_error, worst and so on.

        >>> lagtape.check(experiment)["params"]
        223

    Raises InputError with every error in the experiment.
    """
    options = _lagtape.ModelGradientOptions()
    options.elements = count_of(elements, "elements", "check")
    options.projections = count_of(projections, "projections", "check", 0)
    return cast(Check, _ask(experiment, lambda given: _lagtape.check(given, threads_of(threads), bool(gradients), options), set, row, data))


@known_arguments
def inspect(experiment: Experiment, *, data: object = None, set: Changes = None, row: Optional[str] = None,
            threads: Optional[int] = None) -> Description:
    """Describes the model of an experiment or a run: params, layers with their steps, parameters, memory plans (in
    bytes), and the experiment with every default.

        >>> [layer["name"] for layer in lagtape.inspect(experiment)["layers"]]
        ['tau_gru', 'readout']

    Raises InputError.
    """
    return cast(Description, _ask(experiment, lambda given: _lagtape.inspect(given, threads_of(threads)), set, row, data))


@known_arguments
def analyze(experiment: Experiment, *, data: object = None, split: str = "test", sequences: int = 8, steps: int = 1000,
            projections: int = 32, bins: int = 50, values: Optional[List[str]] = None, set: Changes = None, row: Optional[str] = None,
            threads: Optional[int] = None) -> Analysis:
    """Analyzes a run's model, or an experiment's untrained one: how far back gradients reach (in steps), how large
    states are, and how gates and time scales are distributed.

    Returns the output of `lagtape analyze --json`, with curves over lags [steps] and histograms [bins] as arrays.

        >>> reach = lagtape.analyze(run, sequences=2)["layers"][0]["states"][0]["gradient"]["mean"]
        >>> reach.shape
        (60,)

    Raises InputError.
    """
    options = _lagtape.AnalysisOptions()
    options.sequences, options.steps = count_of(sequences, "sequences", "analyze"), count_of(steps, "steps", "analyze")
    options.projections = count_of(projections, "projections", "analyze")
    options.bins = count_of(bins, "bins", "analyze", 1, 10000)
    options.values = texts_of([] if values is None else values, "values", "analyze")
    split = text_of(split, "[analyze] split")
    text = _ask(experiment, lambda given: (_lagtape.analyze(given, split, threads_of(threads), options), []), set, row, data)
    return cast(Analysis, with_arrays(text))


@known_arguments
def data(experiment: Experiment, *, data: object = None, fresh: int = 1000, set: Changes = None, row: Optional[str] = None,
         threads: Optional[int] = None) -> Dict[str, Array]:
    """The task's data, as arrays in its original units: train_x [N, T, input], train_y [N, T, output] or
    [N, output] or classes [N], and likewise for valid and test. Sequences of different lengths are padded, with their
    lengths in train_lengths [N]. For an endless training set, returns the first `fresh` sequences.

        >>> lagtape.data(experiment)["test_x"].shape
        (4, 60, 1)

    Raises InputError.
    """
    fresh = count_of(fresh, "fresh", "data")
    try:
        return _lagtape.data(_given(experiment, set, row, data), fresh, threads_of(threads))
    except InputError as error:
        raise located(error) from None


@overload
def list() -> Dict[str, List[CatalogueEntry]]: ...


@overload
def list(kind: str) -> List[CatalogueEntry]: ...


@overload
def list(kind: str, name: str) -> CatalogueEntry: ...


@known_arguments
def list(kind: Optional[str] = None,
         name: Optional[str] = None) -> Union[Dict[str, List[CatalogueEntry]], List[CatalogueEntry], CatalogueEntry]:
    """The names that an experiment can use: a dict of lists for all kinds, the entries of one kind ("cells",
    "functions", "tasks", ...), or one entry: {"name", "summary", "source", "equations", "files", "options"}.

        >>> lagtape.list("cells", "lem")["options"][1]["key"]
        'dt'

    Raises InputError, which reports the nearest name.
    """
    kinds: Dict[str, List[CatalogueEntry]] = json.loads(_lagtape.list())
    if kind is None:
        return kinds
    entries: List[CatalogueEntry] = _named(kinds, kind, "kind")
    if name is None:
        return entries
    entry: CatalogueEntry = _named({one["name"]: one for one in entries}, name, kind)
    return entry


def _named(known: Mapping[str, Any], name: object, rule: str) -> Any:
    text = text_of(name, f"[list] {rule}")
    if text not in known:
        _lagtape.refuse_name(rule, text, builtins.list(known))
    return known[text]


def _given(experiment: Experiment, changes: Changes, row: Optional[str], data: Any = None, more: Mapping[str, Any] = {}) -> Any:
    files = None
    if data is not None:
        section = section_of(experiment, "data")
        taken = take(data, time=section.get("time"), is_table=section.get("task") in ("series", "sequences"))
        files = taken.files
        paths = taken.paths if len(taken.paths) > 1 else taken.path
        more = {**more, "data.path": json.dumps(paths)}
        if taken.task and "task" not in section and isinstance(experiment, Mapping):
            more["data.task"] = taken.task
        if taken.times and "time" not in section:
            more["data.time"] = json.dumps(taken.times)
    assignments = assignments_of(changes) + [f"{key}={value}" for key, value in more.items() if value is not None]
    if not isinstance(experiment, Mapping):
        return _lagtape.GivenExperiment(path_of(experiment), None, assignments, "" if row is None else text_of(row, "row"), files)
    if row is not None:
        raise InputError("row: goes with the path of a file that has several experiments. Got a dict.")
    return _lagtape.GivenExperiment(THE_EXPERIMENT, json_of(with_cells(experiment)), assignments, "", files)


def section_of(experiment: Experiment, name: str) -> Mapping[str, Any]:
    """A section of an experiment or a run, such as `data`. Errors in it are left to the code that reads it."""
    if not isinstance(experiment, Mapping):
        path = path_of(experiment)
        path = os.path.join(path, "experiment.json") if os.path.isdir(path) else path
        try:
            with open(path, encoding="utf-8") as file:
                experiment = json.loads(_lagtape.plain_json(file.read(), path))
        except (OSError, ValueError):
            return {}
    section = experiment.get(name) if isinstance(experiment, Mapping) else None
    return section if isinstance(section, Mapping) else {}


def _ask(experiment: Experiment, question: Callable[[Any], Any], changes: Changes, row: Optional[str],
         data: object = None) -> Any:
    try:
        text, found = question(_given(experiment, changes, row, data))
    except InputError as error:
        raise located(error) from None
    for warning in found:
        warnings.warn(warning, stacklevel=4)
    return json.loads(text)
