"""Shared by the estimators: scikit-learn's conventions (without importing it), and training without a run
folder."""

from __future__ import annotations

import copy
import functools
import inspect
import json
import sys
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type, TypeVar

import numpy as np

from . import _lagtape
from ._arguments import count_of, real_of, text_of, threads_of
from ._card import card
from ._cell import Cell, located
from ._errors import Error, InputError
from ._experiment import _given, list as known
from ._model import Model, wrapped
from ._progress import Progress, callbacks_of, columns_of, learning_chart

Self = TypeVar("Self", bound="Estimator")


class NotFittedError(InputError, AttributeError):
    """`fit` has not been called yet. If scikit-learn is imported, this is also a scikit-learn NotFittedError."""


def not_fitted(estimator: Any, call: str) -> NotFittedError:
    message = f"[{call}] This {type(estimator).__name__} is not fitted yet. Call fit first."
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
    kind: Type[NotFittedError] = NotFittedError if theirs is None else type("NotFittedError", (NotFittedError, theirs), {})
    return kind(message)


class Estimator:
    """A model whose settings are attributes; `fit` trains it in memory. Learned attributes end with "_"."""

    model_: Model
    history_: Dict[str, np.ndarray]
    summary_: Dict[str, Any]

    @classmethod
    def _names(cls) -> List[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The settings by name, as given."""
        return {name: vars(self)[name] for name in self._names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes settings for the next `fit`. Raises InputError with the nearest name for an unknown setting."""
        names = self._names()
        for name in params:
            if text_of(name, "[set_params] a name") not in names:
                _lagtape.refuse_name(f"parameter of {type(self).__name__}", name, names)
        for name, value in params.items():
            setattr(self, name, value)
        return self

    @property
    def experiment(self) -> Any:
        """Before `fit`, the given settings; afterward, the experiment that ran, with every default, which
        `lagtape.train` can repeat."""
        return self.model_.experiment if self.__sklearn_is_fitted__() else vars(self)["experiment"]

    @experiment.setter
    def experiment(self, given: Any) -> None:
        vars(self)["experiment"] = given

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._changed())})"

    def _changed(self) -> List[Tuple[str, Any]]:
        """The settings that differ from the defaults."""
        defaults = inspect.signature(type(self).__init__).parameters
        return [(name, value) for name, value in self.get_params().items() if repr(value) != repr(defaults[name].default)]

    def _repr_html_(self) -> str:
        """The HTML card of the estimator in notebooks."""
        if not self.__sklearn_is_fitted__():
            return card(type(self).__name__, [*self._changed(), ("fitted", "no")])
        scores = [(f"valid_{name}", value) for name, value in self.summary_["valid"].items()]
        curve = learning_chart("", self.history_).svg(260, 110) if self.history_ else ""
        return card(type(self).__name__, [*self._changed(), ("model", repr(self.model_)), *scores], str(curve))

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=InputTags(three_d_array=True))

    def _fitted(self, call: str) -> Model:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self, call)
        return self.model_

    def _layers(self, tau: int) -> List[Dict[str, Any]]:
        """The cell's layers, with the delay `tau` if the cell needs one and none was given."""
        cell: Any = vars(self)["cell"]
        layer = dict(cell) if isinstance(cell, Mapping) else {"cell": cell}
        if not isinstance(layer.get("cell"), (str, Cell, Mapping)):
            raise InputError(f"[fit] cell must be the name of a cell, a function of lagtape.cell or a dict of a layer. Got {cell!r}.")
        layer.setdefault("units", count_of(vars(self)["units"], "units", "fit"))
        if vars(self)["tau"] is not None:
            layer.setdefault("tau", vars(self)["tau"])
        elif layer["cell"] in _cells_with_tau():
            layer.setdefault("tau", tau)
        return [dict(layer) for _ in range(count_of(vars(self)["layers"], "layers", "fit"))]

    def _base(self, tau: int) -> Dict[str, Any]:
        """The parts of the experiment that do not depend on the data."""
        mine = vars(self)
        train = {"epochs": count_of(mine["epochs"], "epochs", "fit", 0), "batch": count_of(mine["batch"], "batch", "fit"), "clip": 1}
        if self._validation() > 0 and mine["patience"] is not None:
            train["patience"] = count_of(mine["patience"], "patience", "fit")
        return {"name": type(self).__name__, "seed": _seed_of(mine["random_state"]), "model": {"layers": self._layers(tau)},
                "optimizer": {"type": "adam", "lr": real_of(mine["lr"], "lr", "fit")}, "train": train}

    def _validation(self) -> float:
        return share_of(vars(self)["validation"], "validation")

    def _train(self, experiment: Dict[str, Any], data: Any) -> None:
        """Trains the experiment with the user's changes, and stores the model and its learning curves."""
        mine = vars(self)
        changes = {} if mine["experiment"] is None else mine["experiment"]
        if not isinstance(changes, Mapping):
            raise InputError(f"[fit] experiment must be a dict, whose settings replace those of the estimator. Got {changes!r}.")
        rows: List[Dict[str, Any]] = []
        try:
            with Progress(mine["progress"], [rows.append, *callbacks_of(mine["callbacks"], "[fit] callbacks")]) as listener:
                made, summary = _lagtape.train_in_memory(_given(merged(experiment, changes), None, None, data), threads_of(mine["threads"]), listener)
        except InputError as error:
            raise located(error) from None
        self.model_, self.summary_ = wrapped(made), json.loads(summary)
        self.history_ = columns_of(rows)


def init_of(own: Any, base: Any) -> Any:
    """A constructor for another library's class `base` that accepts the settings of our estimator `own`."""
    signature = inspect.signature(own.__init__)

    def init(self: Any, *arguments: Any, **named: Any) -> None:
        bound = signature.bind(self, *arguments, **named)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if name != "self":
                setattr(self, name, value)
        base.__init__(self)

    init.__signature__ = signature  # type: ignore[attr-defined]
    return init


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Dict[str, Any]:
    """An experiment with changes. Objects are merged; everything else is replaced."""
    result = dict(base)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(base.get(key), Mapping)
        result[key] = merged(base[key], value) if both else copy.copy(value)
    return result


def flag_of(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"[fit] {name} is True or False. Got {value!r}.")
    return bool(value)


def share_of(value: Any, name: str) -> float:
    share = real_of(value, name, "fit")
    if not 0 <= share < 1:
        raise InputError(f"[fit] {name} is a share of the data, at least 0 and less than 1. Got {value!r}.")
    return share


@functools.lru_cache(maxsize=None)
def _cells_with_tau() -> Tuple[str, ...]:
    """The cells that need a delay called tau."""
    return tuple(cell["name"] for cell in known("cells") for option in cell["options"]
                 if option["key"] == "tau" and option.get("default") is None)


def _seed_of(random_state: Any) -> int:
    """The seed itself, or one drawn from a given generator, or from NumPy's global one for None."""
    if random_state is None:
        return int(np.random.randint(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return count_of(random_state, "random_state", "fit", 0)
