"""Cells written in Python: a function is called once, with values that record the operations on them."""

from __future__ import annotations

import functools
import inspect
import json
import sys
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, Mapping, Optional, Set, Tuple, Union, overload

from . import _lagtape
from ._arguments import count_of, json_of, text_of
from ._errors import InputError, Problem
from ._expression import Expression, Place
from ._step import Recorded, Step
from .experiments import OwnLayer

_cells: Dict[str, Cell] = {}


@overload
def cell(function: Callable[..., object]) -> Cell: ...


@overload
def cell(function: None = None, *, name: Optional[str] = None, static: Iterable[str] = ()) -> Callable[[Callable[..., object]], Cell]: ...


@overload
def cell(function: Callable[..., object], *, name: Optional[str] = None, static: Iterable[str] = ()) -> Cell: ...


def cell(function: Optional[Callable[..., object]] = None, *, name: Optional[str] = None,
         static: Iterable[str] = ()) -> Union[Cell, Callable[[Callable[..., object]], Cell]]:
    """Makes a cell from a function that defines one time step:

        >>> @lagtape.cell
        ... def leaky(s: lagtape.Step, units: lagtape.Expression, tau=10, leak=0.5):
        ...     h = s.state("h", units)
        ...     V, U = s.weight("V", (units, units)), s.weight("U", (units, s.input.size))
        ...     s.next(h, (1 - leak) * h + leak * lagtape.tanh(V @ h[-tau] + U @ s.input))
        ...     return s.next_of(h)
        >>> leaky.equations
        ["h' = (1 - leak) * h + leak * tanh(V @ h[-tau] + U @ x)"]

    The function is called immediately, to record it: `s` is a `Step`, `units` is the layer's size, and every other
    argument is a layer option with a numeric default. The function returns the layer's output, one value or several.
    Options with other defaults, and those named in `static`, are passed to the function unchanged.

    Experiments refer to the cell by name, {"cell": "leaky_delay", "units": 16, "tau": 20}, or by the function itself.
    Runs are saved with its equations, so the tool and C++ do not need Python. Raises InputError, which reports the
    line in the function.
    """
    if function is None:
        return lambda decorated: cell(decorated, name=name, static=static)
    if not callable(function) or not hasattr(function, "__code__"):
        raise InputError(f"[cell] expected a function. Got {function!r}.")
    name = text_of(function.__name__ if name is None else name, "[cell] name")
    if name in _built_in():
        raise InputError(f"[cell] the name '{name}' is taken by a built-in cell; give another, @lagtape.cell(name=...).")
    made = Cell(function, name, static)
    _cells[made.name] = made
    return made


@functools.lru_cache(maxsize=None)
def _built_in() -> FrozenSet[str]:
    return frozenset(entry["name"] for entry in json.loads(_lagtape.list())["cells"])


class Cell:
    """A recorded cell, made by `lagtape.cell`. Calling it calls the decorated function, for use inside another cell.

        >>> isinstance(leaky_delay, lagtape.Cell), leaky_delay.name
        (True, 'leaky_delay')
    """

    def __init__(self, function: Callable[..., Any], name: str, static: Iterable[str]):
        self.name = name
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self._function = function
        self._place = Place(function.__code__.co_filename, function.__code__.co_firstlineno)
        self._recorded: Dict[Tuple[Any, ...], Recorded] = {}
        self.hyper, self.static = self._options(set(static))
        self.record()

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._function(*arguments, **options)

    def layer(self, *, units: int, **options: object) -> OwnLayer:
        """A layer of this cell for an experiment's "layers", written so that editors and type checkers accept its options.

            >>> leaky_delay.layer(units=8, tau=20)["tau"]
            20
        """
        return OwnLayer({"cell": self, "units": units, **options})

    def __repr__(self) -> str:
        return f"<lagtape.Cell {self.name}>"

    def __reduce__(self) -> str:
        return self.__qualname__  # pickled like a function, by its name in its module

    @property
    def definition(self) -> Dict[str, object]:
        """The cell's definition, as it appears under "cells" in an experiment."""
        return self.record().entry()

    @property
    def equations(self) -> List[str]:
        """The cell's equations, one per line."""
        return [str(equation) for equation in self.record().equations]

    def program(self, units: int, input: int = 1, **options: Any) -> str:
        """The step program, as text, of a layer with these sizes: what `inspect` shows.

            >>> "tanh" in leaky_delay.program(units=4)
            True
        """
        given = with_cells({"model": {"layers": [{"cell": self, "units": units, **options}]}})
        try:
            return _lagtape.program(json_of(given["cells"]), json_of(given["model"]["layers"][0]), count_of(input, "input", "program"))
        except InputError as error:
            raise located(error) from None

    def record(self, **static: Any) -> Recorded:
        """The recorded step, with different values for the static options."""
        values = {**self.static, **static}
        key = tuple(sorted((name, repr(value)) for name, value in values.items()))
        if key not in self._recorded:
            self._recorded[key] = self._record(values)
        return self._recorded[key]

    def _options(self, static: Set[str]) -> Tuple[Dict[str, float], Dict[str, Any]]:
        """The defaults of the numeric options and of the static ones."""
        parameters = list(inspect.signature(self._function).parameters.values())
        if not parameters:
            raise self._error("its first argument is the step that it records with: def cell(s, units, ...).")
        hyper: Dict[str, float] = {}
        fixed: Dict[str, Any] = {}
        for parameter in parameters[1:]:
            if parameter.name == "units":
                continue
            default = parameter.default
            if default is parameter.empty or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise self._error(f"the option '{parameter.name}' needs a default.")
            is_number = isinstance(default, (int, float)) and not isinstance(default, bool)
            (hyper if is_number and parameter.name not in static else fixed)[parameter.name] = default
        unknown = static - set(fixed)
        if unknown:
            raise self._error(f"static names '{sorted(unknown)[0]}', which is no option of the function.")
        return hyper, fixed

    def _record(self, static: Mapping[str, Any]) -> Recorded:
        step = Step()
        step._hyper = dict(self.hyper)
        options = {name: Expression("number", "hyper", (), name) for name in self.hyper}
        names = list(inspect.signature(self._function).parameters)
        arguments = {"units": Expression("number", "dimension", (), "units")} if "units" in names[1:] else {}
        variables: Dict[str, Any] = {}
        try:
            with _variables_of(self._function.__code__, variables):
                returned = self._function(step, **arguments, **options, **static)
            output = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
            if returned is None or not output:
                raise InputError("it returns nothing; return what the layer gives on, such as s.next_of(h).")
            for value in output:
                if not isinstance(value, Expression):
                    raise InputError(f"it returns {value!r}; return what the layer gives on, such as s.next_of(h).")
            return Recorded(step, output, variables, self._place)
        except InputError as error:
            raise self._error(str(error), error) from None

    def _error(self, message: str, error: Optional[BaseException] = None) -> InputError:
        place = self._place
        traceback = error.__traceback__ if error is not None else None
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._place.file:
                place = Place(self._place.file, traceback.tb_lineno)
            traceback = traceback.tb_next
        return InputError(f"{place}: in the cell '{self.name}': {message}", file=place.file, line=place.line)


class _variables_of:
    """Collects the local variables of a function when it returns."""

    def __init__(self, code: Any, variables: Dict[str, Any]):
        self._code, self._variables = code, variables

    def __enter__(self) -> None:
        self._before = sys.getprofile()
        sys.setprofile(self._saw)

    def __exit__(self, *exception: Any) -> None:
        sys.setprofile(self._before)

    def _saw(self, frame: Any, event: str, argument: Any) -> None:
        if event == "return" and frame.f_code is self._code:
            self._variables.update(frame.f_locals)


def with_cells(experiment: Mapping[str, Any]) -> Dict[str, Any]:
    """The experiment with definitions of the cells in its layers, and with only what JSON can represent."""
    result, given = dict(experiment), experiment.get("cells", {})
    if not isinstance(given, Mapping) or not isinstance(experiment.get("model"), Mapping):
        return result
    cells = dict(given)
    result["model"] = {**experiment["model"], "layers": _layers(experiment["model"].get("layers"), cells)}
    if cells:
        result["cells"] = cells
    return result


def _layers(layers: Any, cells: Dict[str, Any]) -> Any:
    if isinstance(layers, (list, tuple)):
        return [_layer(layer, cells) if isinstance(layer, Mapping) else layer for layer in layers]
    return layers


def _layer(layer: Mapping[str, Any], cells: Dict[str, Any]) -> Dict[str, Any]:
    named = layer.get("cell")
    if isinstance(named, Mapping):
        return {**layer, "cell": _layer(named, cells)}
    if isinstance(named, str) and named not in cells:
        named = _cells.get(named, named)
    if not isinstance(named, Cell):
        return dict(layer)
    static = {name: layer[name] for name in named.static if name in layer}
    entry = named.record(**static).entry()
    name, count = named.name, 1
    while cells.get(name, entry) != entry:
        count += 1
        name = f"{named.name}_{count}"
    cells[name] = entry
    _recorded_as[name] = named.record(**static)
    return {**{key: value for key, value in layer.items() if key not in static}, "cell": name}


_recorded_as: Dict[str, Recorded] = {}  # by name in "cells"


def located(error: InputError) -> InputError:
    """A cell's error with the line of its function instead of an equation number."""
    for problem in error.problems:
        for name, recorded in _recorded_as.items():
            section, entry = _part_of_cell(problem, name)
            if section is not None:
                place = _place_in(recorded, section, entry or "", problem.column) or recorded.place
                return InputError(f"{place}: {error}", error.problems, file=place.file, line=place.line)
    return error


def _part_of_cell(problem: Problem, name: str) -> Tuple[Optional[str], Optional[str]]:
    """The section of the cell that contains the problem, and the entry there; "" for the whole section, None if the
    problem is elsewhere."""
    path = (problem.pointer or "").split("/")[1:]
    if path[:2] == ["cells", name]:
        section, entry = (path[2:] + ["", ""])[:2]
        return section, entry
    return ("", "") if problem.item == f"cell '{name}'" else (None, None)


def _place_in(recorded: Recorded, section: str, entry: str, column: Optional[int]) -> Optional[Place]:
    if column is None:
        return None
    if section == "derived":
        text, place, start = *recorded.derived[entry], 0
    elif section == "step":
        equation = recorded.equations[int(entry)]
        text, place, start = equation.text, equation.place, len(equation.target) + 3
    elif section == "output":
        text, place, start = recorded.outputs[0], recorded.place, 0
    else:
        return None
    expression = text.expression_at(column - 1 - start)
    return expression.place if expression is not None else place
