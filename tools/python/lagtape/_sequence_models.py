"""Estimators that predict one class, or numbers, for each sequence."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Dict, Optional

import numpy as np

from ._arguments import known_arguments, threads_of
from ._errors import InputError
from ._estimator import Estimator, flag_of
from ._sequences import Sequences, numbers, sequences_of, targets_of

_TAU = 10  # steps

_SETTINGS = """
    cell          a cell's name ("tau_gru", "lstm", ...: `lagtape.list("cells")`), a `lagtape.cell` function, or a layer as a dict
    units         state size of each layer
    tau           delay in steps, for cells with a delay; by default 10, or the longest sequence if shorter
    layers        number of layers
    epochs, batch, lr   maximum passes over the data, sequences per update, Adam's step size
    validation    fraction of the sequences passed to `fit` used to choose the weights to keep; 0: keep the last
    patience      stop after this many epochs without a new best on these; None: run all epochs
    normalize     scale inputs (and regression targets) by the mean and standard deviation of the training data
    random_state  a seed, a NumPy generator, or None. The same seed gives bit-identical results
    threads       by default as many as the machine can run at once; results do not depend on it
    progress      show a progress line; by default in a terminal or a notebook
    callbacks     a function, or a list of them, called after each epoch with its scores, like `callback` of `lagtape.train`
    sequence, time   in a long table, the columns with sequence names and with their order in time
    experiment    experiment settings that override these: {"optimizer": {"type": "sgd"}, "model": {"layers": [...]}}

    X is an array [N, T, C] or [N, T], a list of arrays [T_i, C], or a long DataFrame whose columns other than `sequence`,
    `time` and y are the inputs. Its sequences are in order of first appearance; without `sequence` it needs a two-level index.

    Fitted attributes: model_ (a `lagtape.Model`), n_features_in_ (C, or T for [N, T]), feature_names_in_ for a table,
    history_ and summary_ as in `lagtape.Run`; `experiment` is then the complete experiment that ran.
"""


class SequenceEstimator(Estimator):
    """The part shared by the classifier and the regressor."""

    n_features_in_: int

    @known_arguments
    def __init__(self, cell: Any = "tau_gru", units: int = 32, tau: Any = None, *, layers: int = 1, epochs: int = 100, batch: int = 16,
                 lr: float = 0.01, validation: float = 0.15, patience: Optional[int] = 20, normalize: bool = True, random_state: Any = 0,
                 threads: Optional[int] = None, progress: Optional[bool] = None, sequence: Optional[str] = None,
                 time: Optional[str] = None, callbacks: Any = None, experiment: Any = None):
        self.cell, self.units, self.tau, self.layers = cell, units, tau, layers
        self.epochs, self.batch, self.lr, self.validation, self.patience = epochs, batch, lr, validation, patience
        self.normalize, self.random_state, self.threads, self.progress = normalize, random_state, threads, progress
        self.sequence, self.time, self.callbacks, self.experiment = sequence, time, callbacks, experiment

    def _taken(self, X: Any, call: str, label: Optional[str]) -> Sequences:
        like = list(self.feature_names_in_) if call != "fit" and hasattr(self, "feature_names_in_") else None
        taken = sequences_of(X, call, sequence=self.sequence, time=self.time, label=label, like=like)
        if call != "fit" and taken.features != self.n_features_in_:
            raise InputError(f"[{call}] X has {taken.features} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                             "features as input.")
        return taken

    def _fit(self, taken: Sequences, y: np.ndarray, more: Dict[str, Any], y_name: Any) -> None:
        validation = self._validation()
        if validation > 0 and len(taken.x) == 1:
            raise InputError("[fit] X has n_samples=1, which leaves none for validation. validation=0 does without.")
        base = self._base(min(_TAU, max(len(one) for one in taken.x)))
        data = {"task": "arrays", "layout": "time_first", "train": 1 - validation, "valid": validation, "test": 0,
                "normalize": flag_of(self.normalize, "normalize")}
        self._train({**base, **more, "data": {**data, **more.get("data", {})}}, {**taken.arrays(), "y": y})
        self.n_features_in_ = taken.features
        vars(self).pop("feature_names_in_", None)
        if taken.columns is not None:
            self.feature_names_in_ = np.array(taken.columns, object)
        self._label = y_name if isinstance(y_name, str) else None

    def _outputs(self, X: Any, call: str) -> np.ndarray:
        """The model's outputs [N, output]."""
        model = self._fitted(call)
        x = self._taken(X, call, self._label).x
        return np.asarray(model.predict(x, threads=threads_of(self.threads)), np.float64)

    def _truth(self, X: Any, y: Any) -> np.ndarray:
        self._fitted("score")
        y = self._label if y is None else y
        return targets_of(y, self._taken(X, "score", y if isinstance(y, str) else self._label), "score")


class SequenceClassifier(SequenceEstimator):
    __doc__ = f"""Learns the class of each sequence. Has the interface of scikit-learn's classifiers.

        >>> model = lagtape.SequenceClassifier("lstm", units=4, epochs=2, progress=False).fit(X, y)    # X [N, T, C], y [N]
        >>> model.predict(X).shape, model.predict_proba(X).shape, model.classes_.tolist(), model.score(X, y) <= 1
        ((40,), (40, 2), [0, 1], True)
    {_SETTINGS}"""

    _estimator_type = "classifier"
    classes_: np.ndarray

    def fit(self, X: Any, y: Any) -> SequenceClassifier:
        """Trains. y [N]: classes (words or integers), or the name of a column in the table X. Raises InputError."""
        taken = self._taken(X, "fit", y if isinstance(y, str) else None)
        classes, codes = np.unique(_classes_in(targets_of(y, taken, "fit"), "fit"), return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"[fit] the classifier can't be trained with one class. y has {classes.tolist()[0]!r} alone.")
        self._fit(taken, codes, {"data": {"classes": len(classes)}, "loss": "cross_entropy", "metrics": ["accuracy"]}, y)
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The logits [N, classes]; for two classes, their difference [N]."""
        logits = self._logits(X, "decision_function")
        return logits if logits.shape[1] > 2 else logits[:, 1] - logits[:, 0]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities [N, classes], in the order of `classes_`."""
        logits = self._logits(X, "predict_proba")
        exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(exponents / exponents.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> np.ndarray:
        """The most likely classes [N]."""
        best = self._logits(X, "predict").argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The fraction of correctly classified sequences."""
        truth = _classes_in(self._truth(X, y), "score")
        return float(np.average(self.predict(X) == truth, weights=_weights_of(sample_weight, truth)))

    def _logits(self, X: Any, call: str) -> np.ndarray:
        outputs = self._outputs(X, call)
        return np.hstack([np.zeros_like(outputs), outputs]) if outputs.shape[1] == 1 else outputs  # for one logit

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags, tags.target_tags.required = "classifier", ClassifierTags(), True
        return tags


class SequenceRegressor(SequenceEstimator):
    __doc__ = f"""Learns one or more numbers for each sequence. Has the interface of scikit-learn's regressors.

        >>> model = lagtape.SequenceRegressor("gru", units=4, epochs=2, progress=False).fit(X, X[:, -1])    # y [N] or [N, outputs]
        >>> model.predict(X).shape
        (40, 2)
    {_SETTINGS}"""

    _estimator_type = "regressor"

    def fit(self, X: Any, y: Any) -> SequenceRegressor:
        """Trains. y [N] or [N, outputs]: numbers, or the name of a column in the table X. Raises InputError."""
        taken = self._taken(X, "fit", y if isinstance(y, str) else None)
        targets = _numbers_in(targets_of(y, taken, "fit"), "fit")
        self._fit(taken, targets, {"data": {"normalize_target": flag_of(self.normalize, "normalize")}, "loss": "mse", "metrics": ["rmse"]}, y)
        self._is_flat = targets.ndim == 1
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The predicted numbers, in the shape of y."""
        outputs = self._outputs(X, "predict")
        return outputs[:, 0] if self._is_flat else outputs

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R squared, averaged over the outputs."""
        truth = _numbers_in(self._truth(X, y), "score")
        return r_squared(truth, self.predict(X), _weights_of(sample_weight, truth))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.regressor_tags, tags.target_tags.required = "regressor", RegressorTags(), True
        tags.target_tags.multi_output = True
        return tags


def r_squared(truth: np.ndarray, predicted: np.ndarray, weights: Any = None) -> float:
    """1 - (squared errors) / (squared distances from the mean), averaged over columns; 1 or 0 for a constant."""
    errors = np.average((truth - predicted) ** 2, axis=0, weights=weights)
    spread = np.average((truth - np.average(truth, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(np.where(spread > 0, 1 - errors / spread, np.where(errors > 0, 0.0, 1.0))))


def _weights_of(given: Any, truth: np.ndarray) -> Optional[np.ndarray]:
    """Weights [N]. Raises InputError."""
    if given is None:
        return None
    weights = numbers(given, "sample_weight", "score")
    if weights.shape != truth.shape[:1] or weights.sum() <= 0:
        raise InputError(f"[score] sample_weight is [{len(truth)}], with a sum above 0. Got {list(weights.shape)} with {weights.sum()}.")
    return weights


def _classes_in(y: np.ndarray, call: str) -> np.ndarray:
    """Classes [N]. Raises InputError for numbers that are not classes, and for missing values."""
    if y.ndim == 2 and y.shape[1] == 1:
        kind = getattr(sys.modules.get("sklearn.exceptions"), "DataConversionWarning", UserWarning)
        warnings.warn("A column-vector y was passed when a 1d array was expected.", kind, stacklevel=4)
        y = y[:, 0]
    if y.ndim != 1:
        raise InputError(f"[{call}] y should be a 1d array, a class for each sequence. Got an array of shape {y.shape} instead.")
    if y.dtype.kind == "f":
        numbers(y, "y", call)
        if not (y == np.floor(y)).all():
            raise InputError(f"[{call}] Unknown label type: continuous. Classes are words or whole numbers. Got {y[y != np.floor(y)][0]}.")
    elif y.dtype.kind == "O":
        kinds = {type(one) for one in y}
        if not all(issubclass(kind, (str, int, np.integer, bool)) for kind in kinds) or (str in kinds and len(kinds) > 1):
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise InputError(f"[{call}] Unknown label type: classes are words or whole numbers, all of one kind, and none is missing. Got {names}.")
        y = y.astype(str) if str in kinds else y.astype(np.int64)
    elif y.dtype.kind not in "iubUS":
        raise InputError(f"[{call}] Unknown label type: classes are words or whole numbers. Got elements {y.dtype}.")
    return y


def _numbers_in(y: np.ndarray, call: str) -> np.ndarray:
    y = numbers(y, "y", call)
    if y.ndim > 2:
        raise InputError(f"[{call}] y is [N] or [N, outputs]. Got {list(y.shape)}. `lagtape.train` with arrays learns targets at every step.")
    return y
