"""Expressions in a step, which operators record as equations (ops/recurrence/equations/equations.h)."""

from __future__ import annotations

import itertools
import math
from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Tuple

import numpy as np

from ._errors import InputError, Place as Place, place_of_caller
from ._lagtape import element_functions

_JUNCTION, _COMPARISON, _SUM, _TERM, _FACTOR, _ATOM = -1, 0, 1, 2, 3, 4  # how tightly an expression binds
_PLACE = "\0"  # stands for a number in the text of an index
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
_PRECEDENCE = {"and": _JUNCTION, "or": _JUNCTION, **{sign: _COMPARISON for sign in _COMPARISONS}, "+": _SUM, "-": _SUM, "*": _TERM, "/": _TERM, "%": _TERM, "@": _TERM}
_BINDS = {**_PRECEDENCE, "negate": _FACTOR, "**": _FACTOR}
_UFUNCS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "remainder": "%", "matmul": "@", "power": "**",
           "less": "<", "greater": ">", "less_equal": "<=", "greater_equal": ">=", "equal": "==", "not_equal": "!=", "logical_and": "and",
           "logical_or": "or"}
# NumPy's names of functions, such as "absolute" for abs.
_FUNCTION_UFUNCS = {getattr(np, name).__name__: name for name, _, _ in element_functions() if hasattr(np, name)}
_FUNCTION_UFUNCS.update({"arctan": "atan", "arctan2": "atan2", "conjugate": "conj"})
_FIXED_LEAVES = ("constant", "array", "hyper", "dimension", "weight")
_MOST_NUMBERS = 65536  # in an array
_numbers = itertools.count()


class Expression:
    """A value in a step being recorded, such as a state, a weight or `units`. It supports Python's operators.

        >>> h = lagtape.Step().state("h", 4)
        >>> isinstance(1 - 0.5 * h, lagtape.Expression)
        True

    It has no number yet, so it raises InputError when Python needs one. A node is a leaf with text, or an operation.

    kind    "number": computed only from numbers, hyper-parameters and sizes; "matrix": a weight [out, in], or a
            function of matrices; "value": everything else
    """

    def __init__(self, kind: str, operation: str, operands: Tuple[Expression, ...] = (), text: str = ""):
        self.kind, self.operation, self.operands, self.text = kind, operation, operands, text
        self.number = next(_numbers)  # in the order of creation
        # Whether it depends only on weights and numbers.
        self.fixed: bool = all(operand.fixed for operand in operands) if operands else operation in _FIXED_LEAVES
        self.place = place_of_caller()

    # Arithmetic.

    def __add__(self, other: Any) -> Expression:
        return _binary("+", self, other)

    def __radd__(self, other: Any) -> Expression:
        return _binary("+", other, self)

    def __sub__(self, other: Any) -> Expression:
        return _binary("-", self, other)

    def __rsub__(self, other: Any) -> Expression:
        return _binary("-", other, self)

    def __mul__(self, other: Any) -> Expression:
        return _binary("*", self, other)

    def __rmul__(self, other: Any) -> Expression:
        return _binary("*", other, self)

    def __truediv__(self, other: Any) -> Expression:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return _binary("/", other, self)

    def __mod__(self, other: Any) -> Expression:
        return _binary("%", self, other)

    def __rmod__(self, other: Any) -> Expression:
        return _binary("%", other, self)

    def __lt__(self, other: Any) -> Expression:
        return _binary("<", self, other)

    def __gt__(self, other: Any) -> Expression:
        return _binary(">", self, other)

    def __le__(self, other: Any) -> Expression:
        return _binary("<=", self, other)

    def __ge__(self, other: Any) -> Expression:
        return _binary(">=", self, other)

    def __matmul__(self, other: Any) -> Expression:
        return _binary("@", self, other)

    def __rmatmul__(self, other: Any) -> Expression:
        return _binary("@", other, self)

    def __neg__(self) -> Expression:
        return Expression(self.kind, "negate", (self,))

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return call("abs", self)

    def __floordiv__(self, other: Any) -> Expression:
        return call("floor", self / other)

    def __pow__(self, power: Any) -> Expression:
        return _binary("**", self, power)

    def __rpow__(self, base: Any) -> Expression:
        return _binary("**", base, self)

    def __and__(self, other: Any) -> Expression:
        return _binary("and", self, other)

    def __rand__(self, other: Any) -> Expression:
        return _binary("and", other, self)

    def __or__(self, other: Any) -> Expression:
        return _binary("or", self, other)

    def __ror__(self, other: Any) -> Expression:
        return _binary("or", other, self)

    def __invert__(self) -> Expression:
        return Expression("value", "==", (self, expression_of(0)))

    @property
    def real(self) -> Expression:
        """The real part of a complex value."""
        return call("real", self, kind="value")

    @property
    def imag(self) -> Expression:
        """The imaginary part of a complex value."""
        return call("imag", self, kind="value")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NoAttribute(f"a recorded value has no '{name}'; write lagtape.{name}(a) or np.{name}(a) where there is such a function.")

    @property
    def T(self) -> Expression:
        """The transpose, for at most two axes."""
        return call("transpose", self, kind=self.kind)

    @property
    def mT(self) -> Expression:
        """The array with its last two axes swapped."""
        return call("matrix_transpose", self, kind=self.kind)

    def __getitem__(self, index: Any) -> Expression:
        if self.operation in ("state", "input") and not isinstance(index, (slice, tuple)) and index is not None and index is not ...:
            if isinstance(index, (int, np.integer)) and index >= 0:
                raise InputError("{0}[-k] is {0} k steps before, and {0} itself that of k = 0; an element of it is {0}[..., {1}], "
                                 "a part {0}[{1}:]. Got {1}.".format(self.text, index))
            return Expression("value", "lag", (self, expression_of(index)))
        operands: List[Expression] = []

        def part(item: Any) -> str:
            if item is None or item is ...:
                return "None" if item is None else "..."
            if isinstance(item, slice):
                ends = [item.start, item.stop] + ([item.step] if item.step is not None else [])
                return ":".join("" if end is None else part(end) for end in ends)
            operands.append(expression_of(item))
            return _PLACE

        text = ", ".join(part(item) for item in (index if isinstance(index, tuple) else (index,)))
        return Expression("value", "part", (self, *operands), text)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from ._numpy_functions import called  # imported here because it imports this file

        return called(function.__name__, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and not options:
            if ufunc.__name__ in _UFUNCS:
                return _binary(_UFUNCS[ufunc.__name__], *inputs)
            if ufunc.__name__ == "negative":
                return -expression_of(inputs[0])
            if ufunc.__name__ == "square":
                return _binary("**", inputs[0], 2)
            if ufunc.__name__ == "logical_not":
                return ~expression_of(inputs[0])
            if ufunc.__name__ in _FUNCTION_UFUNCS:
                return call(_FUNCTION_UFUNCS[ufunc.__name__], *inputs)
        raise InputError(f"np.{ufunc.__name__} is no function of a step; `lagtape list functions` names them.")

    # Operations that a recorded value does not support because it has no number yet.

    def _refuse(self, what: str) -> NoReturn:
        name = f"'{self.text}'" if self.text else "this value"
        options = [e.text for e in (self, *self.operands) if e.operation == "hyper"]
        hint = f' For an option of the cell, name it in @lagtape.cell(static=["{options[0]}"]).' if options else ""
        if self.operation in _COMPARISONS:
            hint += " For a choice at every step write lagtape.where(condition, a, b)."
        raise InputError(f"{name} has no number while the cell is recorded, so that Python cannot {what}.{hint}")

    def __bool__(self) -> bool:
        self._refuse("ask whether it is true")

    def __float__(self) -> float:
        self._refuse("make it a float")

    def __int__(self) -> int:
        self._refuse("make it an int")

    __index__ = __int__

    def __eq__(self, other: Any) -> Any:
        self._refuse("compare it")

    __ne__ = __eq__

    def __iter__(self) -> Any:
        self._refuse("iterate over it")

    __len__ = __int__

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<recorded {self.kind} {self.text or self.operation}>"


def expression_of(value: Any) -> Expression:
    """A recorded value; a number becomes one. Raises InputError for anything else."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and math.isfinite(value):
        number = value.item() if isinstance(value, np.generic) else value
        constant = Expression("number", "constant", (), repr(abs(number)))
        return -constant if number < 0 else constant
    if isinstance(value, complex) and math.isfinite(abs(value)):
        return call("complex", value.real, value.imag, kind="value")
    if isinstance(value, (np.ndarray, list, tuple)):
        return _array_of(value)
    raise InputError(f"expected a recorded value or a finite number. Got {_described(value)}.")


def _array_of(value: Any) -> Expression:
    """An array of numbers, as written in an equation."""
    if any(isinstance(part, Expression) for part in (value if isinstance(value, (list, tuple)) else ())):
        raise InputError("a list of recorded values is no array; write lagtape.concat(a, b).")
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError("expected an array of numbers. Got rows of different lengths.") from None
    if array.dtype.kind not in "iufb" or not np.isfinite(array).all():
        raise InputError(f"expected an array of finite numbers. Got one of {array.dtype}.")
    if array.ndim == 0:
        return expression_of(array.item())
    if not 0 < array.size <= _MOST_NUMBERS:
        raise InputError(f"an array in a step has 1 to {_MOST_NUMBERS} numbers. Got {array.size}; make it a weight.")
    return Expression("value", "array", (), repr((array.astype(float) if array.dtype.kind == "f" else array.astype(int)).tolist()))


def _described(value: Any) -> str:
    text = repr(value)
    return text if isinstance(value, (int, float, str)) and len(text) < 60 else type(value).__name__


def _binary(sign: str, left: Any, right: Any) -> Expression:
    a, b = expression_of(left), expression_of(right)
    kinds = {a.kind, b.kind}
    if sign == "@":
        if a.kind == "number" or (a.kind == "value" and a.fixed and not a.operands and a.operation != "array"):
            raise InputError("left of @ there must be a matrix: a weight of two dimensions, or a value that is computed.")
        kind = "value" if a.kind == "value" else b.kind
    elif "matrix" in kinds:
        kind = "matrix"
    else:
        kind = "number" if kinds == {"number"} else "value"
    return Expression(kind, sign, (a, b))


def call(name: str, *arguments: Any, kind: Optional[str] = None) -> Expression:
    """A call of an equation function."""
    operands = tuple(expression_of(argument) for argument in arguments)
    kinds = {operand.kind for operand in operands}
    if kind is None:
        kind = "matrix" if "matrix" in kinds else "number" if kinds == {"number"} else "value"
    return Expression(kind, "call", operands, name)


class NoAttribute(InputError, AttributeError):
    """An attribute of NumPy arrays that recorded values do not have."""


class Span(NamedTuple):
    """The location of an expression in a text, and the position that messages point to."""

    begin: int
    end: int
    at: int
    expression: Expression


class Text:
    """An expression as the text of an equation. `names` contains the names of expressions set by other equations."""

    def __init__(self, expression: Expression, names: Dict[int, str]):
        self._names = names
        self._parts: List[str] = []
        self._length = 0
        self.spans: List[Span] = []
        self._write(expression, whole=True)

    def __str__(self) -> str:
        return "".join(self._parts)

    def expression_at(self, position: int) -> Optional[Expression]:
        """The expression to which a message about a position refers."""
        exact = [span for span in self.spans if span.at == position]
        around = [span for span in self.spans if span.begin <= position < span.end]
        found = min(exact or around, key=lambda span: span.end - span.begin, default=None)
        return found.expression if found else None

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _write(self, e: Expression, whole: bool = False) -> None:
        begin = at = self._length
        if not whole and id(e) in self._names:
            self._put(self._names[id(e)])
        elif e.operation in _PRECEDENCE:
            self._enclosed(e.operands[0], max(_PRECEDENCE[e.operation], _SUM))
            at = self._length + 1
            self._put(f" {e.operation} ")
            self._enclosed(e.operands[1], _PRECEDENCE[e.operation] + 1)
        elif e.operation == "negate":
            self._put("-")
            self._enclosed(e.operands[0], _FACTOR)
        elif e.operation == "**":
            self._enclosed(e.operands[0], _ATOM)
            at = self._length + 1
            self._put(" ** ")
            self._enclosed(e.operands[1], _ATOM)
        elif e.operation == "part":
            self._enclosed(e.operands[0], _ATOM + self._names.get(id(e.operands[0]), "").endswith("'"))  # h'[-1] is not a past value
            at = self._length
            self._put("[")
            texts = e.text.split(_PLACE)
            for text, operand in zip(texts, e.operands[1:]):
                self._put(text)
                self._write(operand)
            self._put(texts[-1] + "]")
        elif e.operation == "lag":
            self._write(e.operands[0])
            self._put("[")
            at = self._length
            self._write(e.operands[1])
            self._put("]")
        elif e.operation in ("call", "evaluated draw"):
            self._put(e.text + "(")
            for i, operand in enumerate(e.operands):
                last = i == len(e.operands) - 1
                self._put(", " if i > 0 else "")
                self._put("evaluate = " if last and e.operation == "evaluated draw" else "")
                self._write(operand)
            self._put(")")
        else:
            self._put(e.text)
        self.spans.append(Span(begin, self._length, at, e))

    def _enclosed(self, e: Expression, least: int) -> None:
        binds = _ATOM if id(e) in self._names else _BINDS.get(e.operation, _ATOM)
        if binds < least:
            self._put("(")
        self._write(e)
        if binds < least:
            self._put(")")
