"""The functions a step can use, under the names they have in equations (`lagtape.list("functions")`). The library
lists the element-wise ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ._expression import Expression, call
from ._lagtape import element_functions

__all__ = ["arange", "clip", "concat", "cumsum", "einsum", "expand", "expm", "eye", "gelu", "logsumexp", "matrix_transpose", "max", "mean", "min",
           "mod", "norm", "ones", "outer", "reshape", "roll", "silu", "sinc", "softmax", "softsign", "strict_upper", "sum", "transpose", "where",
           "zeros"]

Operand = Union[Expression, float]

if TYPE_CHECKING:
    def _of_one(a: Operand) -> Expression: ...
    def _of_two(a: Operand, b: Operand) -> Expression: ...

    abs = atan = cos = erf = exp = floor = log = relu = sigmoid = sign = sin = softplus = sqrt = stop = tanh = _of_one
    maximum = minimum = surrogate = _of_two
    __all__ += ["abs", "atan", "cos", "erf", "exp", "floor", "log", "maximum", "minimum", "relu", "sigmoid", "sign", "sin", "softplus",
                "sqrt", "stop", "surrogate", "tanh"]


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


def _along(name: str, a: Any, axis: Optional[int]) -> Expression:
    return call(name, a, *(() if axis is None else (axis,)), kind="value")


def sum(a: Any, axis: Optional[int] = None) -> Expression:
    """The sum along an axis, or of all elements.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.sum(H, 1)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return _along("sum", a, axis)


def mean(a: Any, axis: Optional[int] = None) -> Expression:
    """The mean along an axis, or of all elements.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.mean(H, 1)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return _along("mean", a, axis)


def max(a: Any, axis: Optional[int] = None) -> Expression:
    """The largest element along an axis, or overall. For two arrays, use maximum(a, b).

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.max(H, 1)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return _along("max", a, axis)


def min(a: Any, axis: Optional[int] = None) -> Expression:
    """The smallest element along an axis, or overall. For two arrays, use minimum(a, b).

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.min(H, 1)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return _along("min", a, axis)


def norm(a: Any, axis: Optional[int] = None) -> Expression:
    """sqrt(sum(a * a, axis)).

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.norm(H, 1)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return _along("norm", a, axis)


def logsumexp(a: Any, axis: Optional[int] = None) -> Expression:
    """log(sum(exp(a), axis)), after subtracting the largest number.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.logsumexp(H, 1)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return _along("logsumexp", a, axis)


def softmax(a: Any, axis: int = -1) -> Expression:
    """exp(a) / sum(exp(a), axis), after subtracting the largest number.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.softmax(H)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return _along("softmax", a, axis)


def cumsum(a: Any, axis: int = -1) -> Expression:
    """Cumulative sums along an axis.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.cumsum(H)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return _along("cumsum", a, axis)


def roll(a: Any, shift: int, axis: int = -1) -> Expression:
    """Moves elements forward along an axis; the last ones move to the start.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.roll(H, 1)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("roll", a, shift, axis, kind="value")


def clip(a: Any, low: Any, high: Any) -> Expression:
    """a limited to the range from low to high.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.clip(H, -1, 1)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("clip", a, low, high)


def silu(a: Any) -> Expression:
    """a * sigmoid(a).

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.silu(H)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("silu", a)


def gelu(a: Any) -> Expression:
    """a times the standard normal distribution function of a.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.gelu(H)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("gelu", a)


def softsign(a: Any) -> Expression:
    """a / (1 + |a|).

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.softsign(H)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("softsign", a)


def sinc(a: Any) -> Expression:
    """sin(pi a) / (pi a).

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.sinc(H)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("sinc", a)


def einsum(letters: str, *operands: Any) -> Expression:
    """Products of arrays whose axes are labeled with letters, summed over axes that the result lacks.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.einsum('ij,kj->ik', H, H)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("einsum", Expression("value", "constant", (), repr(letters)), *operands, kind="value")


def expand(a: Any, *shape: Any) -> Expression:
    """The array broadcast to a shape, as in NumPy.

        >>> H = lagtape.Step().state('h', (2, 4))
        >>> value = lagtape.expand(H, 3, 2, 4)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("expand", a, *_sizes(shape), kind="value")


def mod(a: Any, b: Any) -> Expression:
    """a - b * floor(a / b), which has the sign of b; also a % b.

        >>> s = lagtape.Step()
        >>> value = lagtape.mod(s.index, 4)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("mod", a, b)


def where(condition: Any, a: Any, b: Any) -> Expression:
    """b where the condition is 0, else a. Conditions are comparisons, such as h > 0, and have no gradient.

        >>> h = lagtape.Step().state('h', 4)
        >>> value = lagtape.where(h > 0, h, 0.1 * h)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("where", condition, a, b)


def outer(a: Any, b: Any) -> Expression:
    """The products of all pairs: [g] and [n] give [g, n].

        >>> s = lagtape.Step()
        >>> value = lagtape.outer(s.state('g', 2), s.state('h', 4))

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("outer", a, b, kind="value")


def reshape(a: Any, *shape: Any) -> Expression:
    """The same numbers in another shape: reshape(a, n), reshape(a, g, n).

        >>> h = lagtape.Step().state('h', 8)
        >>> value = lagtape.reshape(h, 2, 4)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("reshape", a, *_sizes(shape), kind="value")


def _sizes(shape: Any) -> Any:
    """The sizes, given separately or as a tuple."""
    return shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape


def concat(*parts: Any, axis: int = 0) -> Expression:
    """Arrays joined along an axis.

        >>> s = lagtape.Step()
        >>> value = lagtape.concat(s.state('h', 4), s.input)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("concat", *parts, *(() if axis == 0 else (axis,)), kind="value")


def transpose(a: Any, *axes: Any) -> Expression:
    """The axes in another order: transpose(a, 0, 2, 1). With at most two axes, the order can be omitted: also a.T.

        >>> W = lagtape.Step().weight('W', (4, 4))
        >>> value = lagtape.transpose(W)

    Raises InputError for unsupported shapes and kinds of values.
    """
    order = _sizes(axes)
    return call("transpose", a, *order, kind="value" if order else getattr(a, "kind", "value"))


def matrix_transpose(a: Any) -> Expression:
    """The array with its last two axes swapped; also a.mT.

        >>> S = lagtape.Step().state('S', (2, 4, 4))
        >>> value = lagtape.matrix_transpose(S)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("matrix_transpose", a, kind=getattr(a, "kind", "value"))


def zeros(*shape: Any) -> Expression:
    """An array of zeros.

        >>> value = lagtape.zeros(2, 4)

    Raises InputError for unsupported shapes.
    """
    return call("zeros", *_sizes(shape), kind="value")


def ones(*shape: Any) -> Expression:
    """An array of ones.

        >>> value = lagtape.ones(2, 4)

    Raises InputError for unsupported shapes.
    """
    return call("ones", *_sizes(shape), kind="value")


def expm(a: Any) -> Expression:
    """The matrix exponential.

        >>> W = lagtape.Step().weight('W', (4, 4))
        >>> value = lagtape.expm(W - W.T)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("expm", a, kind="matrix")


def eye(n: Any) -> Expression:
    """The identity matrix [n, n].

        >>> W = lagtape.Step().weight('W', (4, 4))
        >>> value = W + lagtape.eye(4)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("eye", n, kind="matrix")


def arange(n: Any) -> Expression:
    """The numbers 0 to n - 1, for derived weights.

        >>> s = lagtape.Step()
        >>> value = s.derived('tau', 1 + lagtape.arange(4))

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("arange", n, kind="value")


def strict_upper(v: Any, n: Any) -> Expression:
    """The matrix [n, n] with the elements of the vector v above its diagonal, row by row.

        >>> v = lagtape.Step().weight('v', 6)
        >>> value = lagtape.strict_upper(v, 4)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("strict_upper", v, n, kind="matrix")
