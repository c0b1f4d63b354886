"""Converts arrays for the library, and from its JSON."""

from __future__ import annotations

from typing import Any, Dict, List

import numpy as np

from ._errors import InputError
from ._results import Array

DTYPES: Dict[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}


def numbers_of(x: Any, precision: str, call: str) -> Array:
    """x as a C-contiguous array of the given precision, "f32" or "f64"; x itself if it already is one. Raises
    InputError for anything but numbers."""
    dtype = DTYPES[precision]
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise InputError(f"[{call}] expected an array of numbers. {error}") from None
    if array.dtype.kind not in "iufb":
        raise InputError(f"[{call}] expected an array of numbers. Got {type(x).__name__} with elements {array.dtype}.")
    with np.errstate(over="ignore"):
        return np.require(array, dtype, ["C", "A"])


def number_of(value: Any) -> float:
    """A JSON number; null becomes NaN."""
    number: float = float("nan") if value is None else value
    return number


def array_of(column: List[Any]) -> Array:
    return np.array([number_of(value) for value in column])


def with_arrays(value: Any) -> Any:
    """Converts every list of numbers in JSON to an array."""
    if isinstance(value, dict):
        return {key: with_arrays(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    if all(one is None or isinstance(one, (int, float)) for one in value):
        return array_of(value)
    return [with_arrays(one) for one in value]
