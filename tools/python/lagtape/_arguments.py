"""Arguments on their way into the library."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Union

import numpy as np

from ._errors import InputError

Path = Union[str, "os.PathLike[str]"]


def path_of(path: Any) -> str:
    """A path as text. Raises InputError for anything else."""
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise InputError(f"expected a path. Got {type(path).__name__}.") from None
    if "\0" in text:
        raise InputError(f"a path has no zero byte. Got {text!r}.")
    return text_of(text, "a path")


def text_of(value: Any, name: str) -> str:
    """A text that is UTF-8. Raises InputError for anything else."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text. Got {value!r}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} must be UTF-8. Got {value!r}.") from None
    return value


def count_of(value: Any, name: str, call: str, least: int = 1, most: int = 2**40) -> int:
    """A whole number within bounds. Raises InputError for anything else, also for True and 2.0."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        limit = f" and at most {most}" if most < 2**40 else ""
        raise InputError(f"[{call}] {name} must be a whole number of at least {least}{limit}. Got {value!r}.")
    return int(value)


def real_of(value: Any, name: str, call: str) -> float:
    """A number. Raises InputError for anything else, also for True."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"[{call}] {name} must be a number. Got {value!r}.")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"[{call}] {name} must be a number that fits a float. Got one that is larger.") from None


def threads_of(threads: Optional[int]) -> int:
    """A number of threads; None: as many as the machine runs at once."""
    return min(os.cpu_count() or 1, 1024) if threads is None else count_of(threads, "threads", "threads", 1, 1024)


def json_of(value: Any) -> str:
    """An experiment, or a part of one, as JSON. Raises InputError for what JSON does not have."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the experiment: this cannot be JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Numbers, arrays and paths as what JSON has for them."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"Got {type(value).__name__}.")
