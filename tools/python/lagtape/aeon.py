"""The classifier and the regressor as aeon estimators. Collections are [N, C, T] or lists of [C, T_i].

    from lagtape.aeon import SequenceClassifier
    SequenceClassifier("lstm", units=16, epochs=30).fit(X, y).predict(X)

They have the settings of `lagtape.SequenceClassifier` and `lagtape.SequenceRegressor`.
"""

from __future__ import annotations

from typing import Any, Dict, List

import numpy as np
from aeon.classification import BaseClassifier
from aeon.regression import BaseRegressor

from . import _sequence_models as own
from ._estimator import init_of

_TAGS = {"X_inner_type": ["np-list", "numpy3D"], "capability:multivariate": True, "capability:unequal_length": True,
         "algorithm_type": "deeplearning"}


def _steps_first(X: Any) -> Any:
    return X.transpose(0, 2, 1) if isinstance(X, np.ndarray) else [one.T for one in X]


class SequenceClassifier(BaseClassifier):
    """`lagtape.SequenceClassifier` with its settings."""

    _tags = _TAGS
    __init__ = init_of(own.SequenceClassifier, BaseClassifier)

    def _fit(self, X: Any, y: np.ndarray) -> SequenceClassifier:
        self.estimator_ = own.SequenceClassifier(**self.get_params()).fit(_steps_first(X), y)
        return self

    def _predict(self, X: Any) -> np.ndarray:
        return self.estimator_.predict(_steps_first(X))

    def _predict_proba(self, X: Any) -> np.ndarray:
        return self.estimator_.predict_proba(_steps_first(X))

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default") -> List[Dict[str, Any]]:
        return [{"units": 4, "epochs": 2, "threads": 1}]


class SequenceRegressor(BaseRegressor):
    """`lagtape.SequenceRegressor` with its settings."""

    _tags = _TAGS
    __init__ = init_of(own.SequenceRegressor, BaseRegressor)

    def _fit(self, X: Any, y: np.ndarray) -> SequenceRegressor:
        self.estimator_ = own.SequenceRegressor(**self.get_params()).fit(_steps_first(X), y)
        return self

    def _predict(self, X: Any) -> np.ndarray:
        return self.estimator_.predict(_steps_first(X))

    _get_test_params = SequenceClassifier._get_test_params
