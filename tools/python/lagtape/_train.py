"""Training into run folders, like `lagtape train`."""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional

from . import _lagtape
from ._arguments import Changes, Experiment, Path, count_of, json_of, known_arguments, path_of, real_of, threads_of
from ._cell import located
from ._errors import InputError
from ._experiment import _given, section_of
from ._progress import Progress, logger
from ._results import Callbacks
from ._run import Run


@known_arguments
def train(experiment: Experiment, *, data: object = None, out: Optional[Path] = None, resume: bool = False, seed: Optional[int] = None,
          epochs: Optional[int] = None, lr: Optional[float] = None, batch: Optional[int] = None, units: Optional[int] = None,
          set: Changes = None, row: Optional[str] = None, threads: Optional[int] = None, callback: Callbacks = None,
          progress: Optional[bool] = None) -> Run:
    """Trains an experiment into a run folder, by default runs/NAME-SEED. Results are bit-identical to `lagtape train`.

    experiment  a JSON file, or a dict; with `resume` also a run folder
    data        replaces data.path: a dict of arrays (train_x [N, T, input], train_y [N], [N, output] or [N, T, output], valid_x,
                ... or x and y, for the task "arrays"), an array [rows, columns] or [series, rows, columns], a pandas, polars
                or pyarrow DataFrame or a dict of columns, a list or dict of these (one series per entry), or a path. `check`
                and similar functions accept it too. Numbers are in the units of the data; the run scales them
    resume      continue a stopped run in that folder, or start it
    seed, epochs, lr, batch, units  changes to the experiment: its seed, train.epochs, optimizer.lr, train.batch (sequences per
                update), and the size of each recurrent layer
    set         other changes: {"train.clip": 1.0}
    row         which experiment to use if a file contains several, also in `check` and similar functions
    threads     by default as many as the machine can run at once; results do not depend on it
    callback    a function, or a list of them, called after each evaluation with a dict: epoch, step, train_loss, valid_loss and
                so on. One that returns True or raises `lagtape.Stop` ends training and keeps the result
    progress    show a progress line, and in a notebook a curve; by default in a terminal or a notebook

    `logging` messages under "lagtape" report the training and each evaluation. Ctrl-C saves the state and raises
    KeyboardInterrupt; `resume=True` continues with bit-identical results, even after an exception in the callback.

        >>> run = lagtape.train(experiment, epochs=2, lr=0.02, units=3, out="small", progress=False)
        >>> run.experiment["optimizer"]["lr"]
        0.02

    Raises InputError before writing anything, or DivergenceError, after which the last good state is kept.
    """
    if not isinstance(experiment, Mapping):
        path = path_of(experiment)
        if os.path.isdir(path):
            if not resume:
                raise InputError(f"{path}: is a folder. Give an experiment, or resume=True to resume the run there.")
            experiment, out = os.path.join(path, "experiment.json"), path if out is None else out
    given = _given(experiment, set, row, data, _changes(experiment, row, seed, epochs, lr, batch, units))
    listener = Progress(progress, callback)
    try:
        with listener:
            run = Run(_lagtape.train(given, "" if out is None else path_of(out), bool(resume), threads_of(threads), listener))
    except InputError as error:
        raise located(_with_advice(error)) from None
    logger.info("trained %s", run.path)
    return run


def _changes(experiment: Experiment, row: Optional[str], seed: Optional[int], epochs: Optional[int], lr: Optional[float],
             batch: Optional[int], units: Optional[int]) -> Dict[str, Any]:
    """The arguments that change an experiment, by the setting that they change."""
    changes: Dict[str, Any] = {}
    for name, key, value, least in (("epochs", "train.epochs", epochs, 0), ("seed", "seed", seed, 0), ("batch", "train.batch", batch, 1)):
        if value is not None:
            changes[key] = count_of(value, name, "train", least)
    if lr is not None:
        rate = real_of(lr, "lr", "train")
        has_optimizer = row is not None or section_of(experiment, "optimizer")
        changes.update({"optimizer.lr": rate} if has_optimizer else {"optimizer": json_of({"type": "adam", "lr": rate})})
    if units is not None:
        if row is not None:
            raise InputError("[train] units goes with one experiment. Got a row of several; use set={\"/model/layers/0/units\": ...}.")
        size = count_of(units, "units", "train")
        layers = section_of(experiment, "model").get("layers")
        for i, layer in enumerate(layers if isinstance(layers, (list, tuple)) else ()):
            place = f"/model/layers/{i}"
            while isinstance(layer, Mapping) and isinstance(layer.get("of"), Mapping):
                place, layer = f"{place}/of", layer["of"]
            if isinstance(layer, Mapping) and "cell" in layer:
                changes[f"{place}/units"] = size
    return changes


_ADVICE = {"exists": "Give another out, or resume=True to go on with that run.",
           "missing": "Give another out, and {\"train.init\": the folder} as set, to begin with these weights."}


def _with_advice(error: InputError) -> InputError:
    """Adds a hint to the error if the run folder is what does not match."""
    problem = error.problems[0]
    advice = _ADVICE.get(problem.rule)
    if advice is None or problem.file is None or problem.pointer is not None or not os.path.exists(problem.file):
        return error
    return InputError(f"{error} {advice}", [problem._replace(hint=advice)], file=error.file)
