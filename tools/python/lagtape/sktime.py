"""The estimators as sktime estimators.

    from lagtape.sktime import Forecaster, SequenceClassifier
    Forecaster(window=48).fit(y, X=X, fh=[1, 2, 3]).predict(X=X_of_the_next_rows)

They have the settings of `lagtape.Forecaster`, whose `future` columns are X, and of `lagtape.SequenceClassifier`.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np
import pandas as pd
from sktime.classification.base import BaseClassifier
from sktime.forecasting.base import BaseForecaster, ForecastingHorizon

from . import _forecaster, _sequence_models as own
from ._estimator import init_of

_SMALL = {"units": 4, "epochs": 2, "threads": 1}


def _arrays(X: List[pd.DataFrame]) -> List[np.ndarray]:
    return [one.to_numpy() for one in X]


class SequenceClassifier(BaseClassifier):
    """`lagtape.SequenceClassifier` with its settings.

    >>> from lagtape.sktime import SequenceClassifier
    >>> SequenceClassifier("lstm", units=16)
    SequenceClassifier(cell='lstm', units=16)
    """

    _tags = {"X_inner_mtype": "df-list", "capability:multivariate": True, "capability:unequal_length": True,
             "capability:predict_proba": True, "capability:random_state": True}
    __init__ = init_of(own.SequenceClassifier, BaseClassifier)

    def _fit(self, X: List[pd.DataFrame], y: np.ndarray) -> SequenceClassifier:
        self.estimator_ = own.SequenceClassifier(**self.get_params()).fit(_arrays(X), y)
        return self

    def _predict(self, X: List[pd.DataFrame]) -> np.ndarray:
        return self.estimator_.predict(_arrays(X))

    def _predict_proba(self, X: List[pd.DataFrame]) -> np.ndarray:
        return self.estimator_.predict_proba(_arrays(X))

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> List[Dict[str, Any]]:
        return [_SMALL, {**_SMALL, "cell": "gru"}]


class Forecaster(BaseForecaster):
    """`lagtape.Forecaster` with its settings. X contains its `future` columns, so `predict` needs X for the following rows.

    >>> from lagtape.sktime import Forecaster
    >>> Forecaster(window=48)
    Forecaster(window=48)
    """

    _tags = {"y_inner_mtype": "pd.DataFrame", "X_inner_mtype": "pd.DataFrame", "capability:multivariate": True,
             "capability:exogenous": True, "capability:insample": False, "capability:random_state": True, "requires-fh-in-fit": False}
    _config = {"remember_data": True}  # which `update` extends
    __init__ = init_of(_forecaster.Forecaster, BaseForecaster)

    def _fit(self, y: pd.DataFrame, X: Optional[pd.DataFrame] = None, fh: Any = None) -> Forecaster:
        table = _joined(y, X)
        target, future = ([name for name in table.columns if name[0] == letter] for letter in "yx")
        self.estimator_ = _forecaster.Forecaster(**self.get_params()).fit(table, target=target, future=future)
        self._names = y.columns
        return self

    def _predict(self, fh: ForecastingHorizon, X: Optional[pd.DataFrame] = None) -> pd.DataFrame:
        rows = fh.to_relative(self.cutoff).to_numpy().astype(int) - 1
        steps = int(rows.max()) + 1
        future = None
        if X is not None and "x0" in self.estimator_.feature_names_in_:
            following = ForecastingHorizon(np.arange(1, steps + 1), is_relative=True, freq=self.cutoff).to_absolute_index(self.cutoff)
            future = _named(X.reindex(following).ffill().bfill(), "x")  # X may contain only the requested rows
        made = self.estimator_.predict(steps, future, df=_joined(self._y, self._X)).to_numpy()[rows]  # includes rows from `update`
        return pd.DataFrame(made, index=fh.to_absolute_index(self.cutoff), columns=self._names)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> List[Dict[str, Any]]:
        return [{**_SMALL, "window": 4, "validation": 0}, {**_SMALL, "window": 5, "validation": 0, "cell": "gru"}]


def _joined(y: pd.DataFrame, X: Optional[pd.DataFrame]) -> pd.DataFrame:
    """The targets y0, y1, ... and the inputs x0, x1, ... as one table."""
    return _named(y, "y") if X is None else pd.concat([_named(y, "y"), _named(X, "x")], axis=1)


def _named(table: pd.DataFrame, letter: str) -> pd.DataFrame:
    """The table with string names, and dates or no index."""
    made = table.set_axis([f"{letter}{i}" for i in range(table.shape[1])], axis=1)
    if isinstance(made.index, pd.PeriodIndex):
        return made.to_timestamp()
    return made if isinstance(made.index, pd.DatetimeIndex) else made.reset_index(drop=True)
