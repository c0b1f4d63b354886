"""Predictions for sequences, and forecasts that continue a recording."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _lagtape
from ._arguments import Path, count_of, known_arguments, path_of, real_of, text_of
from ._arrays import with_arrays
from ._errors import InputError
from ._given import Given, frame_like, is_frame, take
from ._model import Model, load
from ._results import Array, Forecast, HorizonScores, Prediction, Scores

Frame = TypeVar("Frame")
Trained = Union[Model, Path]


@overload
def predict(run: Trained, x: Path, *, threads: int = ...) -> Prediction: ...


@overload
def predict(run: Trained, x: Union[List[Array], Tuple[Array, ...]], *, threads: int = ...) -> List[Array]: ...


@overload
def predict(run: Trained, x: Array, *, threads: int = ...) -> Array: ...


@overload
def predict(run: Trained, x: Mapping[str, ArrayLike], *, threads: int = ...) -> Dict[str, Array]: ...


@overload
def predict(run: Trained, x: Frame, *, threads: int = ...) -> Frame: ...


@known_arguments
def predict(run: Trained, x: Any, *, threads: int = 1) -> object:
    """Calls `Model.predict` of a model or a run's model: outputs for x [T, input], [B, T, input] or a list of sequences.

    If x is the path of a recording like the training data (task "series"), returns the predictions along it, as
    `lagtape predict` does: a dict with the arrays prediction and truth [rows, targets] (NaN if unknown), plus levels
    and quantiles for a quantile model; the target names; the predicted rows (from 0), their times, and the horizon.
    For a DataFrame, returns a DataFrame with a column per target, indexed by time or row. Predictions are in the
    units of the data. For the task "sequences", returns a row per sequence in such a table, as a dict of columns or a
    DataFrame: the names, the prediction, class probabilities as p[fault], and the truth if the table has it.

        >>> lagtape.predict(wave, "wave.csv")["prediction"].shape
        (300, 1)
        >>> lagtape.predict(run, x).shape
        (4, 60, 1)

    Raises InputError for wrong shapes, wrong columns, and non-finite numbers.
    """
    model = _model_of(run)
    task = _data_of(model).get("task")
    if not (isinstance(x, (str, os.PathLike)) or (is_frame(x) and task in ("series", "sequences"))):
        return model.predict(x, threads=threads)
    taken = _recording(x, model)
    if task == "sequences":
        columns = _lagtape.predict_sequences(model._model, taken.path, count_of(threads, "threads", "predict", 1, 1024), taken.files)
        return frame_like(x, columns, [], None, "") if is_frame(x) else columns
    made = _lagtape.predict_recording(model._model, taken.path, count_of(threads, "threads", "predict", 1, 1024), taken.files)
    return _as_frame(made, x, taken) if is_frame(x) else made


@overload
def evaluate(run: Trained, split: str = ..., *, data: object = ..., horizon: None = None, season: int = ...,
             interval: Optional[float] = ..., confusion: bool = ..., frequency: str = ..., threads: int = ...) -> Scores: ...


@overload
def evaluate(run: Trained, split: str = ..., *, data: object = ..., horizon: Union[int, str], season: int = ...,
             interval: Optional[float] = ..., confusion: bool = ..., frequency: str = ..., threads: int = ...) -> HorizonScores: ...


@known_arguments
def evaluate(run: Trained, split: str = "test", *, data: object = None, horizon: Union[int, str, None] = None, season: int = 0,
             interval: Optional[float] = None, confusion: bool = False, frequency: str = "",
             threads: int = 1) -> Union[Scores, HorizonScores]:
    """A run's metrics on a split, as printed by `lagtape eval --json`: {"loss", "rmse", ...}.

    run        a run, or with `horizon` also a model
    split      train, valid, test, or all, which means every sequence of new data
    data       replaces the run's own data, as in `train`
    confusion  adds "confusion", an array [classes, classes] with a row per true class, and "classes"
    horizon    instead scores forecasts of a recording, up to this many steps or this length of time ("2d") ahead, against
               the last value, the value one season earlier, Theta and a ridge regression: {"origins", "targets": {NAME:
               {"rmse": [steps], ...}}, "best_baseline", "ratio", ...}, and how often intervals of probability
               `interval` contain the truth
    frequency  "any" accepts rows of any frequency

        >>> lagtape.evaluate(run)["rmse"] > 0
        True
        >>> lagtape.evaluate(wave, horizon=3)["targets"]["wave"]["rmse"].shape
        (3,)

    Raises InputError.
    """
    path, files = "", None
    if data is not None:
        taken = _taken(data, _model_of(run))
        path, files = taken.path if len(taken.paths) == 1 else json.dumps(taken.paths), taken.files
    split, frequency = text_of(split, "[evaluate] split"), text_of(frequency, "[evaluate] frequency")
    if horizon is None:
        threads = count_of(threads, "threads", "evaluate", 1, 1024)
        if isinstance(run, Model):
            raise InputError("[evaluate] metrics of a split need its run. Got a Model.")
        scores = with_arrays(json.loads(_lagtape.evaluate(path_of(run), split, path, frequency, bool(confusion), threads, files)))
        return Scores({**scores, "confusion": np.array(scores["confusion"])} if confusion else scores)
    if path.startswith("["):
        raise InputError("[evaluate] horizons are scored on one frame. Got several.")
    steps = horizon if isinstance(horizon, str) else str(count_of(horizon, "horizon", "evaluate"))
    level = None if interval is None else real_of(interval, "interval", "evaluate")
    season = count_of(season, "season", "evaluate", 0)
    made = with_arrays(json.loads(_lagtape.evaluate_horizons(_model_of(run)._model, text_of(steps, "horizon"), split, path, frequency, season,
                                                             level, files)))
    return cast(HorizonScores, made)


@overload
def forecast(run: Union[Trained, Sequence[Trained]], input: Path, steps: Union[int, str], *, start: Union[str, int] = ..., season: int = ...,
             paths: int = ..., future: object = ..., interval: Optional[float] = ..., series: Union[str, Sequence[str]] = ...) -> Forecast: ...


@overload
def forecast(run: Union[Trained, Sequence[Trained]], input: Mapping[str, ArrayLike], steps: Union[int, str], *,
             start: Union[str, int] = ..., season: int = ..., paths: int = ..., future: object = ..., interval: Optional[float] = ...,
             series: Union[str, Sequence[str]] = ...) -> Dict[str, Array]: ...


@overload
def forecast(run: Union[Trained, Sequence[Trained]], input: Frame, steps: Union[int, str], *, start: Union[str, int] = ...,
             season: int = ..., paths: int = ..., future: object = ..., interval: Optional[float] = ...,
             series: Union[str, Sequence[str]] = ...) -> Frame: ...


@known_arguments
def forecast(run: Union[Trained, Sequence[Trained]], input: Any, steps: Union[int, str], *, start: Union[str, int] = "",
             season: int = 0, paths: int = 200, future: object = None, interval: Optional[float] = None,
             series: Union[str, Sequence[str]] = ()) -> object:
    """Forecasts a recording from a model's own predictions, as `lagtape forecast` does.

    run     a run or model trained on a recording (task "series"); the forecasts of several are averaged
    input   the past: a file like the training data, or a DataFrame
    steps   the number of steps, or a length of time: "2d", "48h", "3 months"
    start   the time of the first prediction, or its row from 0, or -48: 48 rows before the end; by default the one after the
            last row
    season  steps per period, for the baselines of `lagtape forecast`; 0: a day, if rows have dates
    paths   paths drawn from a quantile model that is fed its own predictions; 0: it is fed the medians
    future  a file or DataFrame with the rows that follow and the experiment's "future" inputs, instead of rows at the
            end of input
    interval  the probability of an interval around each prediction, such as 0.9, from the errors of earlier forecasts in
            the rows of input after the training rows

    series  names of the series to forecast, if a table has many; by default all

    For a file, returns a dict: the arrays prediction [steps, targets], truth (NaN if unknown), past [rows, targets],
    low and high for several runs, lower and upper with an interval; for a quantile model, instead of these, levels
    and a list of arrays, quantiles, one per level; the target names, the times, and the season. With many series
    their rows are stacked, series contains the column or columns of their names, and there is no past. For a
    DataFrame, returns a DataFrame indexed by time: a column per target, with columns for quantiles and bounds next to
    it ("load_q0.9", "load_low"), and the columns of series names. Numbers are in the units of the data.

        >>> lagtape.forecast(wave, "wave.csv", 5)["prediction"].shape
        (5, 1)

    Raises InputError if a file does not fit the model or has too few rows.
    """
    made, taken = forecast_arrays(run, input, steps, start=start, season=season, paths=paths, future=future, interval=interval, series=series)
    return _as_frame(made, input, taken) if is_frame(input) else made


def forecast_arrays(run: Union[Trained, Sequence[Trained]], input: Any, steps: Union[int, str], *, start: Union[str, int] = "",
                    season: int = 0, paths: int = 200, future: object = None, interval: Optional[float] = None,
                    series: Union[str, Sequence[str]] = ()) -> Tuple[Forecast, Given]:
    """The dict that `forecast` returns for a file, even for a DataFrame, and the input as it was read."""
    length = steps if isinstance(steps, str) else str(count_of(steps, "steps", "forecast"))
    begin = start if isinstance(start, str) else str(count_of(start, "start", "forecast", -2**40))
    names = [series] if isinstance(series, str) else series
    if not isinstance(names, (list, tuple)):
        raise InputError(f"[forecast] series is a name, or a list of names. Got {series!r}.")
    models = [_model_of(one) for one in run] if isinstance(run, (list, tuple)) else [_model_of(cast(Trained, run))]
    if not models:
        raise InputError("[forecast] there is no run.")
    taken = _recording(input, models[0])
    future_path = ""
    if future is not None and not (isinstance(future, str) and not future):
        given = _recording(future, models[0], "future", taken.files)
        taken, future_path = taken._replace(files=given.files), given.path
    made = _lagtape.forecast([model._model for model in models], taken.path, text_of(length, "[forecast] steps"), text_of(begin, "[forecast] start"),
                             count_of(season, "season", "forecast", 0), count_of(paths, "paths", "forecast", 0), future_path,
                             None if interval is None else real_of(interval, "interval", "forecast"),
                             [text_of(str(one), "[forecast] series") for one in names], taken.files)
    return cast(Forecast, made), taken


def _model_of(run: Trained) -> Model:
    return run if isinstance(run, Model) else load(path_of(run))


def _data_of(model: Model) -> Dict[str, Any]:
    """The "data" section of a model's experiment; empty for an imported model."""
    experiment: Dict[str, Any] = json.loads(model._model.experiment)
    section: Dict[str, Any] = experiment.get("data", {})
    return section


def _recording(data: Any, model: Model, name: str = "data", files: Optional[_lagtape.GivenFiles] = None) -> Given:
    """A recording for a model: a path, or a frame."""
    if isinstance(data, (str, os.PathLike)):
        return Given(files, [path_of(data)], "")
    if not is_frame(data):
        raise InputError(f"expected a path or a DataFrame. Got {type(data).__name__}.")
    return _taken(data, model, name, files)


def _taken(data: Any, model: Model, name: str = "data", files: Optional[_lagtape.GivenFiles] = None) -> Given:
    """Data for a model."""
    time = _data_of(model).get("time")
    time = time if isinstance(time, str) else None
    taken = take(data, time=time, name=name, files=files, is_table=_data_of(model).get("task") in ("series", "sequences"))
    return taken if taken.times else taken._replace(times=time or "")


def _as_frame(made: Mapping[str, Any], like: Any, taken: Given) -> Any:
    """Predictions as a frame of the input's library."""
    columns: Dict[str, np.ndarray] = {name: np.array(names) for name, names in made.get("series", {}).items()}
    for i, target in enumerate(made["targets"]):
        columns[target] = made["prediction"][:, i]
        for level, values in zip(made.get("levels", ()), made.get("quantiles", ())):
            columns[f"{target}_q{level:g}"] = values[:, i]
        for bound in ("low", "high", "lower", "upper"):
            if bound in made:
                columns[f"{target}_{bound}"] = made[bound][:, i]
    return frame_like(like, columns, made["times"], made.get("rows"), taken.times)
