"""Predictions of sequences, and of the time after a recording."""

from __future__ import annotations

import os
from typing import Any, Dict, Optional, Sequence, Union

from . import _lagtape
from ._arguments import Path, count_of, path_of, text_of
from ._errors import InputError
from ._model import Model, load


def predict(run: Union[Model, Path], x: Any, *, threads: int = 1) -> Any:
    """`Model.predict` of a model, or of that of a run: outputs for x [T, input], [B, T, input] or a list of sequences.

    Where x is the path of a recording like that of the training (task "series"), the predictions along it, as of
    `lagtape predict`: a dict of the arrays prediction and truth [rows, targets] (NaN where it is not known), of a model of
    quantiles also levels and quantiles; the names of the targets; the rows that are predicted, from 0, their times, and the
    horizon. This takes a run, or a weights file. Raises InputError.
    """
    if isinstance(x, (str, os.PathLike)):
        if isinstance(run, Model):
            raise InputError("[predict] a recording is read as the run says that trained the model. Got a Model; give its run.")
        return _lagtape.predict_recording(path_of(run), path_of(x), count_of(threads, "threads", "predict", 1, 1024))
    return (run if isinstance(run, Model) else load(run)).predict(x, threads=threads)


def forecast(run: Union[Path, Sequence[Path]], input: Path, steps: Union[int, str], *, start: Union[str, int] = "",
             season: int = 0, paths: int = 200, future: Path = "",
             interval: Optional[float] = None) -> Dict[str, Any]:
    """Forecasts a recording from a model's own predictions, as `lagtape forecast` does.

    run     a run whose model was trained on a recording (task "series"); of several the forecast is their mean
    input   the past: a file like that of the training
    steps   their number, or a length of time: "2d", "48h", "3 months"
    start   the time of the first prediction, or its row from 0, or -48: 48 rows before the end; by default the one after the
            last row
    season  steps of a period, for what `lagtape forecast` compares with; 0: a day, where rows have dates
    paths   paths that are drawn from a model of quantiles as it reads its own predictions; 0: it reads the medians
    future  a file of the rows that follow, with the "future" inputs of the experiment, in place of rows at the end of input
    interval  the probability of an interval around each prediction, such as 0.9, from the errors of earlier forecasts in
            the rows of input after those of the training

    Gives the arrays prediction [steps, targets], truth (NaN where it is not known), past [rows, targets], and of several
    runs low and high, with an interval lower and upper; of a model of quantiles in their place the levels and a list of arrays, quantiles, one for each; the
    names of the targets, the times, and the season. Raises InputError.
    """
    runs = [path_of(one) for one in run] if isinstance(run, (list, tuple)) else [path_of(run)]
    length = steps if isinstance(steps, str) else str(count_of(steps, "steps", "forecast"))
    begin = start if isinstance(start, str) else str(count_of(start, "start", "forecast", -2**40))
    return _lagtape.forecast(runs, path_of(input), text_of(length, "[forecast] steps"), text_of(begin, "[forecast] start"),
                             count_of(season, "season", "forecast", 0), count_of(paths, "paths", "forecast", 0),
                             path_of(future) if future else "", None if interval is None else float(interval))
