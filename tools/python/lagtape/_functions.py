"""The functions of a step, by the names that equations have for them (`lagtape.list("functions")`). The element-wise ones
are the library's own list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Union

from ._expression import Expression, call
from ._lagtape import element_functions

__all__ = ["arange", "concat", "expm", "eye", "mean", "mod", "outer", "reshape", "strict_upper", "sum", "transpose", "where"]

Operand = Union[Expression, float]

if TYPE_CHECKING:
    def _of_one(a: Operand) -> Expression: ...
    def _of_two(a: Operand, b: Operand) -> Expression: ...

    abs = cos = erf = exp = floor = log = relu = sigmoid = sign = sin = softplus = sqrt = tanh = _of_one
    maximum = minimum = _of_two
    __all__ += ["abs", "cos", "erf", "exp", "floor", "log", "maximum", "minimum", "relu", "sigmoid", "sign", "sin", "softplus", "sqrt",
                "tanh"]


def _element_function(name: str, formula: str, operands: int) -> Callable[..., Expression]:
    def of_one(a: Any) -> Expression:
        return call(name, a)

    def of_two(a: Any, b: Any) -> Expression:
        return call(name, a, b)

    function = of_one if operands == 1 else of_two
    function.__name__ = function.__qualname__ = name
    given = ", ".join("ab"[:operands])
    function.__doc__ = (f"{formula}, element by element: of the shape of its operands, in a step of a cell.\n\n"
                        f"    >>> h = lagtape.Step().state('h', 4)\n    >>> h_next = lagtape.{name}({', '.join('h' * operands)})\n\n"
                        f"{given} are values of a step or numbers. Raises InputError for a matrix.")
    return function


for _row in element_functions():
    globals()[_row[0]] = _element_function(*_row)
    __all__.append(_row[0])


def sum(a: Any) -> Expression:
    """The sum over the last axis: [n] to [], [g, n] to [g].

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.sum(H)

    Raises InputError for other shapes and kinds of values.
    """
    return call("sum", a, kind="value")


def mean(a: Any) -> Expression:
    """The mean over the last axis: [n] to [], [g, n] to [g].

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.mean(H)

    Raises InputError for other shapes and kinds of values.
    """
    return call("mean", a, kind="value")


def mod(a: Any, b: Any) -> Expression:
    """a - b * floor(a / b), which has the sign of b; also a % b.

        >>> s = lagtape.Step()
        >>> value = lagtape.mod(s.index, 4)

    Raises InputError for other shapes and kinds of values.
    """
    return call("mod", a, b)


def where(condition: Any, a: Any, b: Any) -> Expression:
    """a where the condition is 1 and b where it is 0, as condition * a + (1 - condition) * b: both must be finite.
    Conditions are comparisons, such as h > 0, which pass no gradient on.

        >>> h = lagtape.Step().state('h', 4)
        >>> value = lagtape.where(h > 0, h, 0.1 * h)

    Raises InputError for other shapes and kinds of values.
    """
    return call("where", condition, a, b)


def outer(a: Any, b: Any) -> Expression:
    """The products of all pairs: [g] and [n] to [g, n].

        >>> s = lagtape.Step()
        >>> value = lagtape.outer(s.state('g', 2), s.state('h', 4))

    Raises InputError for other shapes and kinds of values.
    """
    return call("outer", a, b, kind="value")


def reshape(a: Any, *shape: Any) -> Expression:
    """The same numbers as a vector [n] or grouped as [g, n]: reshape(a, n), reshape(a, g, n).

        >>> h = lagtape.Step().state('h', 8)
        >>> value = lagtape.reshape(h, 2, 4)

    Raises InputError for other shapes and kinds of values.
    """
    return call("reshape", a, *shape, kind="value")


def concat(*parts: Any) -> Expression:
    """Vectors and scalars one after the other.

        >>> s = lagtape.Step()
        >>> value = lagtape.concat(s.state('h', 4), s.input)

    Raises InputError for other shapes and kinds of values.
    """
    return call("concat", *parts, kind="value")


def transpose(a: Any) -> Expression:
    """The transpose of a matrix; also a.T.

        >>> W = lagtape.Step().weight('W', (4, 4))
        >>> value = lagtape.transpose(W)

    Raises InputError for other shapes and kinds of values.
    """
    return call("transpose", a, kind="matrix")


def expm(a: Any) -> Expression:
    """The matrix exponential.

        >>> W = lagtape.Step().weight('W', (4, 4))
        >>> value = lagtape.expm(W - W.T)

    Raises InputError for other shapes and kinds of values.
    """
    return call("expm", a, kind="matrix")


def eye(n: Any) -> Expression:
    """The identity matrix [n, n].

        >>> W = lagtape.Step().weight('W', (4, 4))
        >>> value = W + lagtape.eye(4)

    Raises InputError for other shapes and kinds of values.
    """
    return call("eye", n, kind="matrix")


def arange(n: Any) -> Expression:
    """The numbers 0 to n - 1, for derived weights.

        >>> s = lagtape.Step()
        >>> value = s.derived('tau', 1 + lagtape.arange(4))

    Raises InputError for other shapes and kinds of values.
    """
    return call("arange", n, kind="value")


def strict_upper(v: Any, n: Any) -> Expression:
    """The matrix [n, n] with the numbers of the vector v above its diagonal, row by row.

        >>> v = lagtape.Step().weight('v', 6)
        >>> value = lagtape.strict_upper(v, 4)

    Raises InputError for other shapes and kinds of values.
    """
    return call("strict_upper", v, n, kind="matrix")
