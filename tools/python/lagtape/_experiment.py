"""Experiments: checked, described, analysed and trained, as the tool's commands do it."""

from __future__ import annotations

import builtins
import json
import os
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

import numpy as np

from . import _forecast, _lagtape
from ._arguments import Path, count_of, json_of, path_of, text_of, threads_of
from ._arrays import array_of, number_of, with_arrays
from ._cell import located, with_cells
from ._errors import THE_EXPERIMENT, InputError
from ._given import take
from ._model import Model, load
from ._progress import Progress

#: A file, a run, or an experiment as a dict, whose relative paths begin at the current folder.
Experiment = Union[Path, Mapping[str, Any]]
#: {"train.epochs": 3} or ["train.epochs=3"]
Changes = Union[Mapping[str, Any], List[str], None]


class Run:
    """A run folder: what a training left there."""

    def __init__(self, path: Path):
        self.path: str = path_of(path)
        if not os.path.isdir(self.path):
            raise InputError(f"{self.path}: there is no such run folder.")

    @property
    def experiment(self) -> Dict[str, Any]:
        """The experiment with every default; `lagtape.train` repeats it."""
        return self._read("experiment.json")

    @property
    def summary(self) -> Dict[str, Any]:
        """What is known of a finished run: params, best_epoch, valid, test, seconds, plan and so on."""
        return self._read("summary.json")

    @property
    def metrics(self) -> Dict[str, float]:
        """The metrics of the kept weights: valid_loss, test_loss, and the experiment's own beside them."""
        summary = self.summary
        return {f"{split}_{name}": number_of(value) for split in ("valid", "test") for name, value in summary[split].items()}

    @property
    def history(self) -> Dict[str, np.ndarray]:
        """Arrays with a number for each evaluation: epoch, step, train_loss, valid_loss, lr, seconds and so on. What
        an evaluation did not report is NaN."""
        with self._open("metrics.jsonl") as file:
            rows = [json.loads(line) for line in file if line.endswith("\n")]  # else the line of a run that was killed
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
        return {name: array_of(column) for name, column in columns.items()}

    def model(self) -> Model:
        """The model with the kept weights."""
        return load(self.path)

    def evaluate(self, split: str = "test", **options: Any) -> Dict[str, Any]:
        """The metrics of the kept weights on a split, or with `horizon` of forecasts: `lagtape.evaluate`."""
        return _forecast.evaluate(self, split, **options)

    def confusion(self, split: str = "test", **options: Any) -> np.ndarray:
        """Counts [classes, classes] with a row for each true class and a column for each predicted one."""
        return self.evaluate(split, confusion=True, **options)["confusion"]

    def predict(self, x: Any, **options: Any) -> Any:
        """Predictions of arrays, or along a recording: `lagtape.predict`."""
        return _forecast.predict(self, x, **options)

    def forecast(self, input: Any, steps: Union[int, str], **options: Any) -> Any:
        """The time after a recording: `lagtape.forecast`."""
        return _forecast.forecast(self, input, steps, **options)

    def report(self, output: Path) -> str:
        """Writes all about the run on one page: `lagtape.report`."""
        from . import _tool

        return _tool.report(self, output)

    def export(self, format: str, output: Path, **options: Any) -> str:
        """Writes the model for other programs: `lagtape.export`."""
        from . import _tool

        return _tool.export(self, format, output, **options)

    def _open(self, name: str) -> Any:
        file = os.path.join(self.path, name)
        try:
            return open(file, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{file}: cannot read: {error.strerror}", file=file) from None

    def _read(self, name: str) -> Dict[str, Any]:
        with self._open(name) as file:
            return json.load(file)

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<lagtape.Run {self.path}>"


def train(experiment: Experiment, *, data: Any = None, out: Optional[Path] = None, resume: bool = False, seed: Optional[int] = None,
          epochs: Optional[int] = None, set: Changes = None, row: Optional[str] = None,
          threads: Optional[int] = None, callback: Optional[Callable[[Dict[str, Any]], Any]] = None,
          progress: Optional[bool] = None) -> Run:
    """Trains an experiment into a run folder, by default runs/NAME-SEED, with the bits of `lagtape train`.

    experiment  a JSON file, or a dict; with `resume` also a run folder
    data        in place of data.path: a dict of arrays (train_x, train_y, valid_x, ... or x and y, for the task "arrays"), an
                array [rows, columns] or [series, rows, columns], a DataFrame of pandas, polars or pyarrow or a dict of
                columns, a list or a dict of several (a series each), or a path; also in the functions below
    resume      go on where the run in that folder was stopped, or start it
    seed, epochs, set   changes of the experiment: set={"train.batch": 16}
    row         which experiment of a file that has several, also in the functions below
    threads     by default as many as the machine runs at once; the bits do not depend on it
    callback    called after each evaluation with a dict: epoch, step, train_loss, valid_loss and so on
    progress    a line of progress; by default in a terminal and in a notebook

    Ctrl-C saves the state and raises KeyboardInterrupt; `resume=True` goes on with the same bits, also after an exception
    of the callback. Raises InputError before anything is written, and DivergenceError with the last good state kept.
    """
    if callback is not None and not callable(callback):
        raise InputError(f"[train] callback must be a function. Got {type(callback).__name__}.")
    if not isinstance(experiment, Mapping):
        path = path_of(experiment)
        if os.path.isdir(path):
            if not resume:
                raise InputError(f"{path}: is a folder. Give an experiment, or resume=True to resume the run there.")
            experiment, out = os.path.join(path, "experiment.json"), path if out is None else out
    more = {"train.epochs": _or_none(epochs, "epochs", "train", 0), "seed": _or_none(seed, "seed", "train", 0)}
    given = _given(experiment, set, row, data, more)
    listener = Progress(progress, callback)
    try:
        with listener:
            return Run(_lagtape.train(given, "" if out is None else path_of(out), bool(resume), threads_of(threads), listener))
    except InputError as error:
        raise located(_with_advice(error)) from None


def check(experiment: Experiment, *, data: Any = None, gradients: bool = False, elements: int = 8, projections: int = 2, set: Changes = None,
          row: Optional[str] = None, threads: Optional[int] = None) -> Dict[str, Any]:
    """Checks all that a training checks before its first step, data included: {"name", "params"}, and "notes" on what
    was found in the data's files.

    With `gradients`, compares the gradients of the whole model with central differences in f64, for up to `elements`
    elements and `projections` random directions of each parameter, and adds what `lagtape check --gradients --json`
    prints: ok, max_rel_error, worst and so on. Raises InputError with every error of the experiment.
    """
    options = _lagtape.ModelGradientOptions()
    options.elements = count_of(elements, "elements", "check")
    options.projections = count_of(projections, "projections", "check", 0)
    return _ask(experiment, lambda given: _lagtape.check(given, threads_of(threads), bool(gradients), options), set, row, data)


def inspect(experiment: Experiment, *, data: Any = None, set: Changes = None, row: Optional[str] = None,
            threads: Optional[int] = None) -> Dict[str, Any]:
    """Describes the model of an experiment or a run: params, layers with their steps, parameters, memory plans, and the
    experiment with every default."""
    return _ask(experiment, lambda given: _lagtape.inspect(given, threads_of(threads)), set, row, data)


def analyze(experiment: Experiment, *, data: Any = None, split: str = "test", sequences: int = 8, steps: int = 1000, projections: int = 32,
            bins: int = 50, values: Optional[List[str]] = None, set: Changes = None, row: Optional[str] = None,
            threads: Optional[int] = None) -> Dict[str, Any]:
    """Looks into the model of a run, or the untrained one of an experiment: how far back gradients reach, how large states
    are, how gates and time scales are distributed.

    What `lagtape analyze --json` prints, its curves over the lags [steps] and its histograms [bins] as arrays:
    result["layers"][0]["states"][0]["gradient"]["mean"].
    """
    options = _lagtape.AnalysisOptions()
    options.sequences, options.steps = count_of(sequences, "sequences", "analyze"), count_of(steps, "steps", "analyze")
    options.projections = count_of(projections, "projections", "analyze")
    options.bins = count_of(bins, "bins", "analyze", 1, 10000)
    options.values = _texts_of([] if values is None else values, "values", "analyze")
    split = text_of(split, "[analyze] split")
    text = _ask(experiment, lambda given: (_lagtape.analyze(given, split, threads_of(threads), options), []), set, row, data)
    return with_arrays(text)


def data(experiment: Experiment, *, data: Any = None, fresh: int = 1000, set: Changes = None, row: Optional[str] = None,
         threads: Optional[int] = None) -> Dict[str, np.ndarray]:
    """What the task generates or reads, as arrays in the task's own units: train_x [N, T, input], train_y [N, T, output] or
    [N, output] or classes [N], and so on for valid and test; padded, with train_lengths [N], where sequences differ in
    length. A training set that never ends gives its first `fresh` sequences."""
    fresh = count_of(fresh, "fresh", "data")
    try:
        return _lagtape.data(_given(experiment, set, row, data), fresh, threads_of(threads))
    except InputError as error:
        raise located(error) from None


def list(kind: Optional[str] = None, name: Optional[str] = None) -> Any:
    """What an experiment may name: all kinds as a dict of lists, the entries of one kind ("cells", "functions", "tasks",
    ...), or one entry: {"name", "summary", "source", "equations", "files", "options"}."""
    kinds = json.loads(_lagtape.list())
    if kind is None:
        return kinds
    entries = _named(kinds, kind, "kind")
    return entries if name is None else _named({entry["name"]: entry for entry in entries}, name, kind)


def _named(known: Mapping[str, Any], name: Any, rule: str) -> Any:
    if text_of(name, f"[list] {rule}") not in known:
        _lagtape.refuse_name(rule, name, builtins.list(known))
    return known[name]


def _given(experiment: Experiment, changes: Changes, row: Optional[str], data: Any = None, more: Mapping[str, Any] = {}) -> Any:
    files = None
    if data is not None:
        section = _data_section(experiment)
        taken = take(data, time=section.get("time"), is_table=section.get("task") in ("series", "sequences"))
        files = taken.files
        paths = taken.paths if len(taken.paths) > 1 else taken.path
        more = {**more, "data.path": json.dumps(paths)}
        if taken.task and "task" not in section and isinstance(experiment, Mapping):
            more["data.task"] = taken.task
        if taken.index and "time" not in section:
            more["data.time"] = json.dumps(taken.index)
    assignments = assignments_of(changes) + [f"{key}={value}" for key, value in more.items() if value is not None]
    if not isinstance(experiment, Mapping):
        return _lagtape.GivenExperiment(path_of(experiment), None, assignments, "" if row is None else text_of(row, "row"), files)
    if row is not None:
        raise InputError("row: goes with the path of a file that has several experiments. Got a dict.")
    return _lagtape.GivenExperiment(THE_EXPERIMENT, json_of(with_cells(experiment)), assignments, "", files)


def _data_section(experiment: Experiment) -> Mapping[str, Any]:
    """The object `data` of an experiment or a run. What is wrong with it, its reader says."""
    if not isinstance(experiment, Mapping):
        path = path_of(experiment)
        path = os.path.join(path, "experiment.json") if os.path.isdir(path) else path
        try:
            with open(path, encoding="utf-8") as file:
                experiment = json.loads(_lagtape.plain_json(file.read(), path))
        except (OSError, ValueError):
            return {}
    section = experiment.get("data") if isinstance(experiment, Mapping) else None
    return section if isinstance(section, Mapping) else {}


def _ask(experiment: Experiment, question: Callable[[Any], Any], changes: Changes, row: Optional[str],
         data: Any = None) -> Dict[str, Any]:
    try:
        text, found = question(_given(experiment, changes, row, data))
    except InputError as error:
        raise located(error) from None
    for warning in found:
        warnings.warn(warning, stacklevel=3)
    return json.loads(text)


def assignments_of(changes: Changes) -> List[str]:
    if changes is None:
        return []
    if isinstance(changes, Mapping):
        return [f"{text_of(key, 'a key of set')}={json_of(value)}" for key, value in changes.items()]
    return _texts_of(changes, "set", "set")


def _texts_of(values: Any, name: str, call: str) -> List[str]:
    if isinstance(values, str) or not isinstance(values, (builtins.list, tuple)):
        raise InputError(f"[{call}] {name} must be a list of texts. Got {values!r}.")
    return [text_of(value, f"[{call}] {name}") for value in values]


_ADVICE = {"exists": "Give another out, or resume=True to go on with that run.",
           "missing": "Give another out, and {\"train.init\": the folder} as set, to begin with these weights."}


def _with_advice(error: InputError) -> InputError:
    """The error with what to do, where it is the folder of the run that does not fit."""
    problem = error.problems[0]
    advice = _ADVICE.get(problem.rule)
    if advice is None or problem.file is None or problem.pointer is not None or not os.path.exists(problem.file):
        return error
    return InputError(f"{error} {advice}", [problem._replace(hint=advice)], file=error.file)


def _or_none(value: Optional[int], name: str, call: str, least: int) -> Optional[int]:
    return None if value is None else count_of(value, name, call, least)
