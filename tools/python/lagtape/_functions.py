"""The functions of a step, by the names that equations have for them (`lagtape.list("functions")`). The element-wise ones
are the library's own list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from ._expression import Expression, call
from ._lagtape import element_functions

__all__ = ["arange", "concat", "expm", "eye", "mean", "mod", "outer", "reshape", "strict_upper", "sum", "transpose", "where"]

if TYPE_CHECKING:
    def __getattr__(name: str) -> Callable[..., Expression]: ...


def _element_function(name: str, formula: str, operands: int) -> Callable[..., Expression]:
    def of_one(a: Any) -> Expression:
        return call(name, a)

    def of_two(a: Any, b: Any) -> Expression:
        return call(name, a, b)

    function = of_one if operands == 1 else of_two
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{formula}, element by element."
    return function


for _row in element_functions():
    globals()[_row[0]] = _element_function(*_row)
    __all__.append(_row[0])


def sum(a: Any) -> Expression:
    """The sum over the last axis: [n] to [], [g, n] to [g]."""
    return call("sum", a, kind="value")


def mean(a: Any) -> Expression:
    """The mean over the last axis: [n] to [], [g, n] to [g]."""
    return call("mean", a, kind="value")


def mod(a: Any, b: Any) -> Expression:
    """a - b * floor(a / b), which has the sign of b; also a % b."""
    return call("mod", a, b)


def where(condition: Any, a: Any, b: Any) -> Expression:
    """a where the condition is 1 and b where it is 0, as condition * a + (1 - condition) * b: both must be finite.
    Conditions are comparisons, such as h > 0, which pass no gradient on."""
    return call("where", condition, a, b)


def outer(a: Any, b: Any) -> Expression:
    """The products of all pairs: [g] and [n] to [g, n]."""
    return call("outer", a, b, kind="value")


def reshape(a: Any, *shape: Any) -> Expression:
    """The same numbers as a vector [n] or grouped as [g, n]: reshape(a, n), reshape(a, g, n)."""
    return call("reshape", a, *shape, kind="value")


def concat(*parts: Any) -> Expression:
    """Vectors and scalars one after the other."""
    return call("concat", *parts, kind="value")


def transpose(a: Any) -> Expression:
    """The transpose of a matrix; also a.T."""
    return call("transpose", a, kind="matrix")


def expm(a: Any) -> Expression:
    """The matrix exponential."""
    return call("expm", a, kind="matrix")


def eye(n: Any) -> Expression:
    """The identity matrix [n, n]."""
    return call("eye", n, kind="matrix")


def arange(n: Any) -> Expression:
    """The numbers 0 to n - 1, for derived weights."""
    return call("arange", n, kind="value")


def strict_upper(v: Any, n: Any) -> Expression:
    """The matrix [n, n] with the numbers of the vector v above its diagonal, row by row."""
    return call("strict_upper", v, n, kind="matrix")
