"""Complex values and spikes in a step, under the names they have in equations."""

from __future__ import annotations

from typing import Any, Optional

from ._expression import Expression, call

__all__ = ["angle", "atan2", "complex", "conj", "imag", "real", "spike"]


def spike(u: Any, surrogate: str = "fast_sigmoid", slope: Optional[float] = None) -> Expression:
    """1 where u is positive, else 0, with the gradient of a surrogate: "fast_sigmoid", "sigmoid", "atan" or "triangle".

        >>> v = lagtape.Step().state('v', 4)
        >>> value = lagtape.spike(v - 1, 'atan', 2)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("spike", u, Expression("value", "constant", (), repr(str(surrogate))), *(() if slope is None else (slope,)), kind="value")


def atan2(y: Any, x: Any) -> Expression:
    """The angle of the point (x, y), like numpy.arctan2.

        >>> h = lagtape.Step().state('h', 4)
        >>> value = lagtape.atan2(h[:2], h[2:])

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("atan2", y, x)


def complex(a: Any, b: Any) -> Expression:
    """The complex value a + i b, which supports + - * / @, exp, log, abs, sums and indices. States are real: store its
    real and imaginary parts.

        >>> s = lagtape.Step()
        >>> z = lagtape.complex(s.state('h', 4), s.state('g', 4))
        >>> value = lagtape.real(z * z)

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("complex", a, b, kind="value")


def real(z: Any) -> Expression:
    """The real part.

        >>> h = lagtape.Step().state('h', 4)
        >>> value = lagtape.real(lagtape.complex(h, 2 * h))

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("real", z, kind="value")


def imag(z: Any) -> Expression:
    """The imaginary part.

        >>> h = lagtape.Step().state('h', 4)
        >>> value = lagtape.imag(lagtape.complex(h, 2 * h))

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("imag", z, kind="value")


def conj(z: Any) -> Expression:
    """The conjugate of a complex value.

        >>> h = lagtape.Step().state('h', 4)
        >>> value = lagtape.conj(lagtape.complex(h, 2 * h))

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("conj", z, kind="value")


def angle(z: Any) -> Expression:
    """The angle of a complex value, like numpy.angle.

        >>> h = lagtape.Step().state('h', 4)
        >>> value = lagtape.angle(lagtape.complex(h, 2 * h))

    Raises InputError for unsupported shapes and kinds of values.
    """
    return call("angle", z, kind="value")
