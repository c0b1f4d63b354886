"""NumPy's functions applied to recorded values: equation functions under NumPy's names."""

from __future__ import annotations

from typing import Any, Callable, Dict

from . import _complex, _functions
from ._errors import InputError
from ._expression import call, expression_of

_NAMES = {"amax": "max", "amin": "min", "concatenate": "concat", "conjugate": "conj"}  # NumPy's names where they differ
_OPERATORS: Dict[str, Callable[..., Any]] = {
    "dot": lambda a, b: expression_of(a) @ b,
    "broadcast_to": lambda a, shape: call("expand", a, *(shape if isinstance(shape, (tuple, list)) else (shape,)), kind="value"),
    "hstack": lambda parts: _functions.concat(*parts),
}


def called(name: str, args: Any, kwargs: Any) -> Any:
    """Calls the function by its NumPy name. Raises InputError if a step has no such function."""
    name = _NAMES.get(name, name)
    known = _OPERATORS.get(name)
    for module in (_functions, _complex):
        if known is None and name in module.__all__:
            known = getattr(module, name)
    if known is None:
        raise InputError(f"np.{name} is no function of a step; `lagtape list functions` names them.")
    if name == "concat":
        return known(*args[0], **kwargs)
    try:
        return known(*args, **kwargs)
    except TypeError as error:
        raise InputError(f"np.{name} of a step: {error}.") from None
