"""An estimator that continues a table."""

from __future__ import annotations

import copy
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _forecast
from ._arguments import count_of, known_arguments, text_of
from ._errors import InputError
from ._estimator import Estimator, share_of
from ._given import cells_of, columns_of, is_frame
from ._results import HorizonScores
from ._sequence_models import r_squared
from ._sequences import numbers

_TAU = 24  # steps

#: One column or several, by label.
Names = Union[str, int, Tuple[Any, ...], Sequence[Any], None]


class Forecaster(Estimator):
    """Forecasts the continuation of a table with one or many series. Follows scikit-learn's conventions.

        >>> model = lagtape.Forecaster(units=4, window=24, epochs=2, progress=False).fit(columns, target="load")
        >>> model.predict(12)["load"].shape          # a frame, indexed by date, if the table is one
        (12,)
        >>> errors = model.backtest(4)               # 1 to 4 steps ahead, with those of simple methods
        >>> errors["targets"]["load"]["rmse"].shape
        (4,)

    cell          a cell's name ("tau_gru", "lstm", ...: `lagtape.list("cells")`), a `lagtape.cell` function, or a layer as a dict
    units         state size of each layer
    tau           delay in steps, for cells with a delay; by default 24, or the window if shorter
    window        steps per training sequence
    layers        number of layers
    horizon       steps from an input to its target; longer forecasts feed the model its own predictions
    calendar      inputs derived from dates: "hour" (of the day), "weekday", "year" (day of the year)
    epochs, batch, lr   maximum passes over the data, sequences per update, Adam's step size
    validation    fraction of the rows, at the end (before those of `test`), used to choose the weights to keep; 0: keep the last
    test          fraction of the rows, at the end, that `fit` leaves to `backtest`
    patience      stop after this many epochs without a new best on the validation rows; None: run all epochs
    random_state  a seed, a NumPy generator, or None. The same seed gives bit-identical results
    threads       by default as many as the machine can run at once; results do not depend on it
    progress      show a progress line; by default in a terminal or a notebook
    callbacks     a function, or a list of them, called after each epoch with its scores, like `callback` of `lagtape.train`
    experiment    experiment settings that override these: {"data": {"missing": "hold", "residual": "linear"}}

    Fitted attributes: model_ (a `lagtape.Model`), targets_, n_features_in_ and feature_names_in_ (the columns with
    roles), history_ and summary_ as in `lagtape.Run`; `experiment` is then the complete experiment that ran. The
    estimator keeps a copy of the table passed to `fit`, which `predict` continues.
    """

    targets_: List[str]
    n_features_in_: int
    feature_names_in_: np.ndarray

    @known_arguments
    def __init__(self, cell: Any = "tau_gru", units: int = 16, tau: Any = None, window: int = 168, *, layers: int = 1, horizon: int = 1,
                 calendar: Names = None, epochs: int = 100, batch: int = 16, lr: float = 0.01, validation: float = 0.15,
                 test: float = 0.0, patience: Optional[int] = 20, random_state: Any = 0, threads: Optional[int] = None,
                 progress: Optional[bool] = None, callbacks: Any = None, experiment: Any = None):
        self.cell, self.units, self.tau, self.window, self.layers = cell, units, tau, window, layers
        self.horizon, self.calendar, self.epochs, self.batch, self.lr = horizon, calendar, epochs, batch, lr
        self.validation, self.test, self.patience, self.random_state = validation, test, patience, random_state
        self.threads, self.progress, self.callbacks, self.experiment = threads, progress, callbacks, experiment

    def fit(self, df: Any, y: Any = None, *, target: Names = None, future: Names = None, past: Names = None, series: Names = None,
            time: Optional[str] = None) -> Forecaster:
        """Trains on a pandas, polars or pyarrow DataFrame, or a dict of columns.

        target  the columns to forecast, whose past is an input too; by default the only column without another role
        y       their values, if they are not columns of df (scikit-learn's second argument)
        future  columns known ahead: prices, holidays, weather forecasts
        past    columns known only until now
        series  the column or columns that name each row's series
        time    the column of times; by default a time index

        Raises InputError.
        """
        df, target = _with_targets(df, y, target)
        time = None if time is None else text_of(time, "[fit] time")
        names, columns, index = columns_of(df, time)
        given = {"target": target, "future": future, "past": past, "series": series}
        roles = {role: _names_of(of_role, role, names) for role, of_role in given.items()}
        _check_columns(names, columns, roles, time)
        if not roles["target"]:
            taken = {name for of_role in roles.values() for name in of_role} | {time, index}
            roles["target"] = [name for name in names if name not in taken]
            if len(roles["target"]) != 1:
                raise InputError(f"[fit] target: expected the columns to forecast. The table has {', '.join(names)}.")
        test, valid = share_of(self.test, "test"), self._validation()
        data: Dict[str, Any] = {"task": "series", **{role: of_role for role, of_role in roles.items() if of_role},
                                "window": count_of(self.window, "window", "fit"), "horizon": count_of(self.horizon, "horizon", "fit"),
                                "train": round(1 - valid - test, 9), "valid": valid, "test": test}
        if not roles["past"]:
            data["input"] = roles["target"]  # otherwise every column is an input
        if time is not None:
            data["time"] = time
        if self.calendar is not None:
            data["calendar"] = _names_of(self.calendar, "calendar", [])
        base = self._base(min(_TAU, data["window"]))
        base["model"]["readout"] = {"at": "every_step"}
        metric = "mase" if roles["series"] else "rmse"
        self._train({**base, "data": data, "loss": "mse", "metrics": [metric]}, df)
        self._data, self._roles, self._time = _copy_of(df), roles, time
        self.targets_ = roles["target"]
        self.feature_names_in_ = np.array([name for of_role in roles.values() for name in of_role], object)
        self.n_features_in_ = len(self.feature_names_in_)
        return self

    def predict(self, steps: Union[int, str], future: Any = None, *, df: Any = None, start: Union[str, int] = "",
                interval: Optional[float] = None, paths: int = 200, series: Sequence[str] = ()) -> Any:
        """The `steps` rows (or a length of time, "2d") that follow the table passed to `fit`: a frame indexed by date with
        a column per target, after the column of series names if there are many series.

        future    a frame of these rows with the `future` columns
        df        another table to continue, without training again
        start     the time of the first prediction or its row; -48 is 48 rows before the end; by default after the last row
        interval  the probability of an interval around each prediction, in the columns "load_lower" and "load_upper"
        paths     paths drawn from a quantile or distribution model
        series    the names of the series to forecast; by default all

        Raises InputError.
        """
        made = _forecast.forecast(self._fitted("predict"), self._table(df, "predict"), steps, start=start, paths=paths, future=future,
                                  interval=interval, series=series)
        return _with_labels(made, self._data)

    def predict_along(self, df: Any = None) -> Any:
        """A frame of predictions `horizon` rows ahead along the table, each from the true rows before it."""
        return _with_labels(_forecast.predict(self._fitted("predict_along"), self._table(df, "predict_along")), self._data)

    def backtest(self, steps: Union[int, str], df: Any = None, *, test: float = 0.15, interval: Optional[float] = None,
                 season: int = 0) -> HorizonScores:
        """Scores forecasts of 1 to `steps` steps from up to 200 of the last rows, which were not used in training: the
        result of `lagtape.evaluate` with `horizon`, {"targets": {"load": {"rmse": [steps], "persistence_rmse": [steps],
        "overall", ...}}, "best_baseline", "ratio", ...}. A "ratio" below 1 means that the model beats the best of last
        value, seasonal naive, Theta and ridge.

        An estimator whose `test` setting is not 0 is scored as is. Otherwise a copy is trained without the last `test`
        of the rows, and the estimator does not change. With `df`, the model is scored on all rows of that table.
        """
        model = self._fitted("backtest")
        if df is not None:
            return _forecast.evaluate(model, "all", data=self._table(df, "backtest"), horizon=steps, interval=interval, season=season)
        held = self
        if self.test == 0:
            if share_of(test, "test") == 0:
                raise InputError("[backtest] test must be more than 0, a share of the rows.")
            held = type(self)(**{**self.get_params(), "test": test}).fit(self._data, time=self._time, **self._roles)
        return _forecast.evaluate(held.model_, "test", data=held._data, horizon=steps, interval=interval, season=season)

    def score(self, df: Any, y: Any = None) -> float:
        """R squared of a forecast of all rows of df, which follow the rows passed to `fit`, averaged over targets and
        series. GridSearchCV with TimeSeriesSplit maximizes it."""
        model = self._fitted("score")
        df, _ = _with_targets(df, y, self.targets_)
        names, columns, _ = columns_of(df, self._time)
        _check_columns(names, columns, self._roles, self._time)
        for name in self.targets_:
            numbers(cells_of(columns[names.index(name)], name), f"column {name!r}", "score")
        keys = [np.asarray(columns[names.index(name)]) for name in self._roles["series"]]
        counts = np.unique(np.array(list(zip(*keys)), str), axis=0, return_counts=True)[1] if keys else np.array([len(columns[0])])
        if len(set(counts)) != 1:
            raise InputError(f"[score] each series must have as many rows. Got {counts.min()} to {counts.max()}.")
        steps = int(counts[0])
        made, _ = _forecast.forecast_arrays(model, _one_after_the_other(self._data, df, self._time), steps, start=-steps)
        truth, predicted = (made[part].reshape(-1, steps, len(self.targets_)) for part in ("truth", "prediction"))
        return float(np.mean([r_squared(*one) for one in zip(truth, predicted)]))

    def _table(self, df: Any, call: str) -> Any:
        if df is None:
            return self._data
        if not is_frame(df):
            raise InputError(f"[{call}] expected a DataFrame or a dict of columns. Got {type(df).__name__}.")
        names, columns, _ = columns_of(df, self._time)
        _check_columns(names, columns, self._roles, self._time)
        return df


def _names_of(value: Names, role: str, names: List[str]) -> List[str]:
    """Names as strings. A table's labels may be numbers, or tuples if its columns have levels."""
    is_list = isinstance(value, list) or (isinstance(value, tuple) and str(value) not in names)
    labels: Any = [] if value is None else value if is_list else [value]
    if not all(isinstance(label, (str, int, np.integer, tuple)) and not isinstance(label, bool) for label in labels):
        raise InputError(f"[fit] {role} is the name of a column, or a list of names. Got {value!r}.")
    return [str(label) for label in labels]


def _with_labels(made: Any, table: Any) -> Any:
    """A pandas frame with the original labels of a table, which may not be strings."""
    labels = {str(label): label for label in table.columns if not isinstance(label, str)} if hasattr(table, "iloc") and hasattr(table, "columns") else {}
    return made.rename(columns=labels) if labels and hasattr(made, "rename") else made


def _check_columns(names: List[str], columns: List[Any], roles: Mapping[str, Any], time: Optional[str]) -> None:
    """Raises InputError if the table lacks columns or has no rows."""
    if len(names) == 0:
        raise InputError("[Forecaster] the table has no columns.")
    for name in [name for of_role in roles.values() for name in of_role] + ([time] if time else []):
        if name not in names:
            raise InputError(f"[Forecaster] the table has no column {name!r}. It has {', '.join(names)}.")
    if len(columns[0]) == 0:
        raise InputError("[Forecaster] the table has no rows.")


def _with_targets(df: Any, y: Any, target: Names) -> Any:
    """A table with the columns of y, and their names."""
    if not is_frame(df):
        raise InputError(f"[Forecaster] expected a DataFrame or a dict of columns. Got {type(df).__name__}.")
    if y is None:
        return df, target
    if not hasattr(df, "assign"):
        raise InputError(f"[Forecaster] y goes with a DataFrame of pandas. Got {type(df).__name__}; name its columns by target=.")
    names = _names_of(getattr(y, "name", None) if target is None else target, "target", []) or ["y"]
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise InputError(f"[Forecaster] y must be an array of numbers. {error}") from None
    values = values[:, None] if values.ndim == 1 else values
    if values.shape != (len(df), len(names)):
        raise InputError(f"[Forecaster] y: expected {[len(df), len(names)]}, a row for each of X. Got {list(values.shape)}.")
    return df.assign(**{name: values[:, i] for i, name in enumerate(names)}), names


def _copy_of(df: Any) -> Any:
    """A copy of the table. Polars and pyarrow tables never change, so they are not copied."""
    return copy.deepcopy(df) if isinstance(df, (Mapping, np.ndarray)) else df.copy() if hasattr(df, "iloc") else df


def _one_after_the_other(first: Any, second: Any, time: Optional[str]) -> Dict[str, Any]:
    """The columns of two tables, stacked."""
    tables = [dict(zip(*columns_of(table, time)[:2])) for table in (first, second)]
    return {name: np.concatenate([np.asarray(table[name]) for table in tables]) for name in tables[0] if name in tables[1]}
