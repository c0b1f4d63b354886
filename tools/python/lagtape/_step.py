"""Records the step of a cell, and makes its definition for "cells"."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

from ._errors import InputError
from ._expression import Expression, Place, Text, call, expression_of
from ._lagtape import equation_functions

_NAME = re.compile(r"[^\W\d][\w.]*")
_DEEPEST = 50  # nested operations in an equation
_LEAVES = ("constant", "array", "hyper", "dimension", "input", "index", "state", "weight", "name")


class Input(Expression):
    """The input x [size] of a step."""

    @property
    def size(self) -> Expression:
        """The number of elements, for the shapes of weights."""
        return Expression("number", "dimension", (), "input")


class Equation(NamedTuple):
    """One line of a recorded cell, and the Python line that it comes from."""

    target: str
    text: Text
    place: Place

    def __str__(self) -> str:
        return f"{self.target} = {self.text}"


class Step:
    """Records a cell, as the argument `s` of its function. Provides the input, states and weights as values for Python's operators,
    and receives the states' next values. Sizes are numbers, options of the cell, `units` or `s.input.size`.

        >>> s = lagtape.Step()
        >>> h, W = s.state("h", 4), s.weight("W", (4, 4), init="zeros")
        >>> s.next(h, lagtape.tanh(W @ h))

    Raises InputError, to which `lagtape.cell` adds the line in the function.
    """

    def __init__(self) -> None:
        self._names: Dict[str, str] = {}  # the kind of each name, for messages
        self._hyper: Dict[str, Any] = {}
        self._weights: Dict[str, Any] = {}
        self._init: Dict[str, Any] = {}
        self._lags: Dict[str, Any] = {}
        self._states: Dict[str, Any] = {}
        self._state_values: Dict[str, Expression] = {}
        self._next: Dict[str, Expression] = {}
        self._derived: Dict[str, Expression] = {}
        self._reads: Dict[str, int] = {}
        self.input = Input("value", "input", (), "x")

    # The input of the cell.

    @property
    def index(self) -> Expression:
        """The number of the step, from 0."""
        return Expression("value", "index", (), "n")

    def state(self, name: str, shape: Any = ()) -> Expression:
        """A state, initially zero, with up to four dimensions, such as a scalar (), a vector n or (heads, n, n). h is its
        value before the step, and h[-k] its value k steps earlier; k consists of numbers, options and sizes, or is a
        trained lag."""
        self._declare(name, "state")
        self._states[name] = _shape_of(shape)
        self._state_values[name] = Expression("value", "state", (), name)
        return self._state_values[name]

    def weight(self, name: str, shape: Any = (), init: Any = None) -> Expression:
        """A trained weight: a matrix (out, in), one for each group (g, out, in), a vector n, or a scalar (). Its
        initial values are from U(-1/sqrt(units), 1/sqrt(units)) unless `init` is given: "zeros", a number, {"type":
        "uniform", "low": -1, "high": 1}."""
        self._declare(name, "weight")
        sizes = _shape_of(shape)
        self._weights[name] = sizes
        if init is not None:
            self._init[name] = init
        return Expression("matrix" if len(sizes) >= 2 else "value", "weight", (), name)

    def lag(self, name: str, shape: Any = (), *, largest: Any, init: Any = None) -> Expression:
        """A trained lag, in steps between 1 and `largest`: h[-theta] interpolates between two past states. One number for
        all units (), or one per unit."""
        weight = self.weight(name, shape, init)
        self._lags[name] = _size_of(largest)
        return weight

    def derived(self, name: str, value: Any, *, matrix: Optional[bool] = None) -> Expression:
        """A weight computed from other weights, once per batch. Matrices such as M - M.T are derived
        automatically."""
        self._declare(name, "derived weight")
        value = expression_of(value)
        self._derived[name] = value
        is_matrix = value.kind == "matrix" if matrix is None else matrix
        return Expression("matrix" if is_matrix else "value", "weight", (), name)

    def read(self, name: str, column: int) -> Expression:
        """A named input column, such as "dt"; s.input is then the other columns. "mask" is 1 where its column is positive;
        where the "reset" column is positive, states start again."""
        if name != "mask":
            self._declare(name, "column")
        if not isinstance(column, int) or isinstance(column, bool):
            raise InputError(f"a column is a whole number, -1 the last. Got {column!r}.")
        self._reads[name] = column
        return Expression("value", "input", (), name)

    # Random draws.

    def uniform(self, *shape: Any, once: bool = False, evaluate: Any = None) -> Expression:
        """Draws from [0, 1), at every step or once per sequence. Outside training: `evaluate`, by default the mean."""
        return self._draw("uniform", shape, once, evaluate)

    def normal(self, *shape: Any, once: bool = False, evaluate: Any = None) -> Expression:
        """Draws from N(0, 1), at every step or once per sequence. Outside training: `evaluate`, by default the mean."""
        return self._draw("normal", shape, once, evaluate)

    def mask(self, rate: Any, *shape: Any, once: bool = False) -> Expression:
        """Dropout: 0 with probability `rate`, else 1 / (1 - rate); 1 outside training."""
        return self._draw("mask", (rate, *shape), once, None)

    # The output of the cell.

    def next(self, state: Expression, value: Any) -> None:
        """Sets the value of a state after the step."""
        name = self._name_of(state, "next")
        if name in self._next:
            raise InputError(f"the next value of the state '{name}' is set twice.")
        self._next[name] = expression_of(value)
        if self._next[name].kind == "matrix":
            raise InputError(f"the next value of the state '{name}' is a matrix.")

    def next_of(self, state: Expression) -> Expression:
        """The value of a state after the step, once set."""
        name = self._name_of(state, "next_of")
        if name not in self._next:
            raise InputError(f"the next value of the state '{name}' is read before it is set.")
        return self._next[name]

    def _declare(self, name: Any, what: str) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(f"the name of a {what} is made of letters, digits, '_' and '.', a letter first. Got {name!r}.")
        if name in self._names:
            raise InputError(f"the name '{name}' is taken: it is a {self._names[name]}.")
        self._names[name] = what

    def _name_of(self, state: Any, method: str) -> str:
        for name, value in self._state_values.items():
            if value is state:
                return name
        raise InputError(f"{method} takes a state of this cell, as s.state(...) gave it. Got {state!r}.")

    def _draw(self, kind: str, shape: Iterable[Any], once: bool, evaluate: Any) -> Expression:
        name = f"{kind}_once" if once else kind
        draw = call(name, *shape, *(() if evaluate is None else (evaluate,)), kind="value")
        draw.fixed = False
        if evaluate is not None:
            draw.operation = "evaluated draw"  # the last operand is the value outside training
        return draw


def _size_of(size: Any) -> Any:
    """A dimension for JSON: an integer or a string."""
    e = expression_of(size)
    if e.kind != "number":
        raise InputError("a size is made of numbers, options and sizes.")
    text = str(Text(e, {}))
    return int(text) if text.isdigit() else text


def _shape_of(shape: Any, most: int = 4) -> List[Any]:
    sizes = [_size_of(size) for size in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    if len(sizes) > most:
        raise InputError(f"a shape has at most {most} dimensions. Got {len(sizes)}.")
    return sizes


class Recorded:
    """A recorded step as equations."""

    def __init__(self, step: Step, output: Tuple[Expression, ...], variables: Dict[str, Any], place: Place):
        missing = [name for name in step._states if name not in step._next]
        if missing:
            raise InputError(f"the state '{missing[0]}' has no next value: call s.next({missing[0]}, ...).")
        self._step, self._output = step, output
        self.place = place
        self._names: Dict[int, str] = {}
        self._taken = {*step._names, *step._hyper, "x", "n", "units", "input"}
        self._order: List[Expression] = []  # the equations' expressions, in order of creation
        self._uses: Dict[int, int] = {}
        for root in (*step._next.values(), *output):
            self._count(root)
        self._order.sort(key=lambda e: e.number)
        self._name(variables)
        self.derived = self._derived_weights()
        self.equations = self._equations()
        self.outputs = [self._text_of(e) for e in output]

    def entry(self) -> Dict[str, Any]:
        """The cell's definition for "cells"."""
        step = self._step
        parts = {
            "reads": step._reads, "hyper": step._hyper, "weights": step._weights, "init": step._init,
            "derived": {name: str(text) for name, (text, _) in self.derived.items()},
            "lags": step._lags, "state": step._states, "step": [str(equation) for equation in self.equations],
        }
        output = [str(text) for text in self.outputs]
        return {**{key: part for key, part in parts.items() if part}, "output": output[0] if len(output) == 1 else output}

    def _count(self, e: Expression) -> None:
        """Counts the uses of each expression that the roots need."""
        waiting = [e]
        while waiting:
            e = waiting.pop()
            self._uses[id(e)] = self._uses.get(id(e), 0) + 1
            if self._uses[id(e)] == 1:
                self._order.append(e)
                waiting.extend(e.operands)

    def _name(self, variables: Dict[str, Any]) -> None:
        """Names the expressions that become equations: next values of states, the function's variables, expressions used
        more than once, and deeply nested ones."""
        for state, value in self._step._next.items():
            if _is_computed(value):
                self._names.setdefault(id(value), f"{state}'")
        by_variable: Dict[int, str] = {}
        for variable, value in variables.items():
            if isinstance(value, Expression):
                by_variable.setdefault(id(value), variable)
        self._operators = {id(e.operands[0]) for e in self._order
                           if e.operation == "@" and e.kind == "value" and e.operands[0].operation not in _LEAVES and e.operands[0].fixed}
        depths: Dict[int, int] = {}  # of nested expressions in an equation
        for e in self._order:
            depth = 1 + max((depths[id(operand)] for operand in e.operands), default=0)
            is_equation = _is_computed(e) and (id(e) in by_variable or self._uses[id(e)] > 1 or depth > _DEEPEST)
            if (is_equation or id(e) in self._operators) and id(e) not in self._names:
                self._names[id(e)] = self._free_name(by_variable.get(id(e), "A" if e.kind == "matrix" else "v"))
            depths[id(e)] = 0 if id(e) in self._names else depth

    def _free_name(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self._taken or name in _FUNCTIONS:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name

    def _derived_weights(self) -> Dict[str, Tuple[Text, Place]]:
        explicit = [(value.number, name, value) for name, value in self._step._derived.items()]
        implicit = [(e.number, self._names[id(e)], e) for e in self._order if id(e) in self._operators]
        names = {id(e): name for _, name, e in implicit}
        return {name: (Text(e, names), e.place) for _, name, e in sorted(explicit + implicit, key=lambda entry: entry[0])}

    def _equations(self) -> List[Equation]:
        set_by = {id(value): state for state, value in reversed(list(self._step._next.items()))
                  if self._names.get(id(value)) == f"{state}'"}
        equations = [Equation(self._names[id(e)], Text(e, self._names), e.place) for e in self._order
                     if id(e) in self._names and id(e) not in self._operators]
        for state, value in self._step._next.items():
            if set_by.get(id(value)) != state:
                equations.append(Equation(f"{state}'", self._text_of(value), value.place))
        return equations

    def _text_of(self, e: Expression) -> Text:
        """The name of an expression, or its text if it has none."""
        return Text(_named(self._names[id(e)]) if id(e) in self._names else e, self._names)


def _is_computed(e: Expression) -> bool:
    """Whether a value is more than a name, a number or a state's past value."""
    return e.kind == "value" and e.operation not in _LEAVES and (e.operation != "lag" or e.operands[1].kind != "number")


def _named(name: str) -> Expression:
    return Expression("value", "name", (), name)


_FUNCTIONS = frozenset((*equation_functions(), "evaluate"))
