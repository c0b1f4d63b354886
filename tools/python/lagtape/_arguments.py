"""Checks and converts arguments for the library."""

from __future__ import annotations

import functools
import inspect
import json
import os
from typing import Any, Callable, List, Mapping, Optional, TypeVar, Union, cast

import numpy as np

from . import _lagtape
from ._errors import InputError, Problem

Path = Union[str, "os.PathLike[str]"]
#: A file, a run, or an experiment as a dict, whose relative paths start at the current folder.
Experiment = Union[Path, Mapping[str, Any]]
#: {"train.epochs": 3} or ["train.epochs=3"]
Changes = Union[Mapping[str, Any], List[str], None]
Function = TypeVar("Function", bound=Callable[..., Any])

#: Argument names used by other libraries, and ours.
_ELSEWHERE = {"learning_rate": "lr", "learning_rate_init": "lr", "hidden_layer_sizes": "units", "max_iter": "epochs", "batch_size": "batch", "n_epochs": "epochs", "num_epochs": "epochs", "max_epochs": "epochs",
              "hidden_size": "units", "hidden_units": "units", "callbacks": "callback", "num_workers": "threads", "n_jobs": "threads",
              "random_state": "seed", "verbose": "progress", "horizon": "steps", "n": "steps", "x": "input"}


def known_arguments(function: Function) -> Function:
    """Makes a function raise InputError, with the nearest name, for an unknown argument."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*values: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                call = type(values[0]).__name__ if function.__name__ == "__init__" else function.__name__
                _refuse_argument(call, name, [one for one in known if one not in ("self", "cls")])
        return function(*values, **named)

    return cast(Function, checked)


def _refuse_argument(call: str, name: str, known: List[str]) -> None:
    meant = _ELSEWHERE.get(name)
    if meant not in known:
        _lagtape.refuse_name(f"argument of {call}", name, known)
    message = f"unknown argument of {call} {name!r}; did you mean {meant!r}? Known: {', '.join(known)}"
    raise InputError(message, [Problem(message, "unknown_name", found=name, expected=", ".join(known), nearest=meant)])


def path_of(path: Any) -> str:
    """A path as a string. Raises InputError for anything else."""
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise InputError(f"expected a path. Got {type(path).__name__}.") from None
    if "\0" in text:
        raise InputError(f"a path has no zero byte. Got {text!r}.")
    return text_of(text, "a path")


def text_of(value: Any, name: str) -> str:
    """A string that can be encoded as UTF-8. Raises InputError for anything else."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text. Got {value!r}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} must be UTF-8. Got {value!r}.") from None
    return value


def count_of(value: Any, name: str, call: str, least: int = 1, most: int = 2**40) -> int:
    """An integer within bounds. Raises InputError for anything else, including True and 2.0."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        limit = f" and at most {most}" if most < 2**40 else ""
        raise InputError(f"[{call}] {name} must be a whole number of at least {least}{limit}. Got {value!r}.")
    return int(value)


def real_of(value: Any, name: str, call: str) -> float:
    """A finite number. Raises InputError for anything else, including True."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"[{call}] {name} must be a number. Got {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"[{call}] {name} must be a number that fits a float. Got one that is larger.") from None
    if not np.isfinite(number):
        raise InputError(f"[{call}] {name} must be a finite number. Got {value!r}.")
    return number


def threads_of(threads: Optional[int]) -> int:
    """A number of threads; None means as many as the machine can run at once."""
    return min(os.cpu_count() or 1, 1024) if threads is None else count_of(threads, "threads", "threads", 1, 1024)


def json_of(value: Any) -> str:
    """An experiment, or part of one, as JSON. Raises InputError for values that JSON cannot represent."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the experiment: this cannot be JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Converts numbers, arrays and paths to JSON values."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"Got {type(value).__name__}.")


def assignments_of(changes: Changes) -> List[str]:
    if changes is None:
        return []
    if isinstance(changes, Mapping):
        return [f"{text_of(key, 'a key of set')}={json_of(value)}" for key, value in changes.items()]
    return texts_of(changes, "set", "set")


def texts_of(values: Any, name: str, call: str) -> List[str]:
    if isinstance(values, str) or not isinstance(values, (list, tuple)):
        raise InputError(f"[{call}] {name} must be a list of texts. Got {values!r}.")
    return [text_of(value, f"[{call}] {name}") for value in values]
