"""Arrays on their way into the library."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from ._errors import InputError

DTYPES: Dict[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}


def numbers_of(x: Any, precision: str, call: str) -> np.ndarray:
    """x as a C-contiguous array in a precision, "f32" or "f64"; x itself where it is one. Raises InputError for
    anything but numbers."""
    dtype = DTYPES[precision]
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise InputError(f"[{call}] expected an array of numbers. {error}") from None
    if array.dtype.kind not in "iufb":
        raise InputError(f"[{call}] expected an array of numbers. Got {type(x).__name__} with elements {array.dtype}.")
    with np.errstate(over="ignore"):
        return np.require(array, dtype, ["C", "A"])
