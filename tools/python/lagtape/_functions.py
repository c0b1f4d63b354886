"""The functions of a step, by the names that equations have for them (`lagtape.list("functions")`)."""

from __future__ import annotations

from typing import Any

from ._expression import Expression, call

__all__ = ["abs", "arange", "concat", "cos", "erf", "exp", "expm", "eye", "floor", "log", "maximum", "mean", "minimum", "mod",
           "outer", "relu", "reshape", "sigmoid", "sign", "sin", "softplus", "sqrt", "strict_upper", "sum", "tanh", "transpose",
           "where"]


def tanh(a: Any) -> Expression:
    """The hyperbolic tangent, element by element."""
    return call("tanh", a)


def sigmoid(a: Any) -> Expression:
    """1 / (1 + exp(-a)), element by element."""
    return call("sigmoid", a)


def softplus(a: Any) -> Expression:
    """log(1 + exp(a)), element by element."""
    return call("softplus", a)


def relu(a: Any) -> Expression:
    """a above 0, else 0, element by element."""
    return call("relu", a)


def erf(a: Any) -> Expression:
    """The error function, element by element."""
    return call("erf", a)


def exp(a: Any) -> Expression:
    """The exponential, element by element."""
    return call("exp", a)


def log(a: Any) -> Expression:
    """The natural logarithm, element by element."""
    return call("log", a)


def sqrt(a: Any) -> Expression:
    """The square root, element by element."""
    return call("sqrt", a)


def abs(a: Any) -> Expression:
    """The magnitude, element by element."""
    return call("abs", a)


def sin(a: Any) -> Expression:
    """The sine, element by element."""
    return call("sin", a)


def cos(a: Any) -> Expression:
    """The cosine, element by element."""
    return call("cos", a)


def sign(a: Any) -> Expression:
    """-1, 0 or 1, element by element."""
    return call("sign", a)


def minimum(a: Any, b: Any) -> Expression:
    """The smaller of a and b, element by element."""
    return call("minimum", a, b)


def maximum(a: Any, b: Any) -> Expression:
    """The larger of a and b, element by element."""
    return call("maximum", a, b)


def sum(a: Any) -> Expression:
    """The sum over the last axis: [n] to [], [g, n] to [g]."""
    return call("sum", a, kind="value")


def mean(a: Any) -> Expression:
    """The mean over the last axis: [n] to [], [g, n] to [g]."""
    return call("mean", a, kind="value")


def floor(a: Any) -> Expression:
    """The largest whole number that is not above a, element by element; it passes no gradient on."""
    return call("floor", a)


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
