"""Errors in a cell written in Python are refused with the line of its function."""

import inspect
import re

import numpy as np
import pytest
from conftest import changed

import lagtape as lt


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def nothing(s, units):
    h = s.state("h", units)
    s.next(h, h)


def no_next(s, units):
    return s.state("h", units)


def compares(s, units, tau=1):
    h = s.state("h", units)
    s.next(h, h if tau > 3 else -h)  # here
    return h


def future(s, units):
    h = s.state("h", units)
    s.next(h, h[2])  # here
    return h


def wrong_operand(s, units):
    h = s.state("h", units)
    s.next(h, h + "1")  # here
    return h


def matrix_alone(s, units):
    h = s.state("h", units)
    s.next(h, s.weight("W", (units, units)) * 2)  # here
    return h


def taken_twice(s, units):
    h = s.state("h", units)
    s.weight("h", units)  # here
    return h


def returns_a_number(s, units):
    h = s.state("h", units)
    s.next(h, h)
    return 3


@pytest.mark.parametrize("function, message", [
    (nothing, "it returns nothing; return what the layer gives on, such as s.next_of(h)."),
    (no_next, "the state 'h' has no next value: call s.next(h, ...)."),
    (compares, "this value has no number while the cell is recorded, so that Python cannot ask whether it is true. For an option of the cell, "
               'name it in @lagtape.cell(static=["tau"]). For a choice at every step write lagtape.where(condition, a, b).'),
    (future, "h[-k] is h k steps before, and h itself that of k = 0; an element of it is h[..., 2], a part h[2:]. Got 2."),
    (wrong_operand, "expected a recorded value or a finite number. Got '1'."),
    (matrix_alone, "the next value of the state 'h' is a matrix."),
    (taken_twice, "the name 'h' is taken: it is a state."),
    (returns_a_number, "it returns 3; return what the layer gives on, such as s.next_of(h)."),
], ids=lambda value: getattr(value, "__name__", ""))
def test_what_cannot_be_recorded_is_refused_at_its_line(function, message):
    with pytest.raises(lt.InputError) as raised:
        lt.cell(function)
    line = line_of(function, "# here") if message.split()[0] not in ("it", "the") or function is matrix_alone or function is taken_twice \
        else line_of(function, "def ")
    assert str(raised.value) == f"{__file__}:{line}: in the cell '{function.__name__}': {message}"
    assert (raised.value.file, raised.value.line) == (__file__, line)


def wrong_sizes(s, units):
    h = s.state("h", units)
    W = s.weight("W", (units, s.input.size))
    drive = W @ s.input
    g = (lt.sigmoid(drive) +
         W @ h)  # here
    s.next(h, g)
    return h


def wrong_derived(s, units):
    h, M = s.state("h", units), s.weight("M", (units, 2))
    A = M + M.T  # here
    s.next(h, A @ h)
    return h


def unused(s, units, leak=0.5):
    h = s.state("h", units)
    s.next(h, -h)
    return h


@pytest.mark.parametrize("function", [wrong_sizes, wrong_derived, unused], ids=lambda value: value.__name__)
def test_sizes_that_do_not_fit_are_refused_at_their_line(function):
    made = lt.cell(function)
    experiment = changed(model={"layers": [{"cell": function.__name__, "units": 4}]})
    line = line_of(function, "# here") if function is not unused else line_of(function, "def ")
    for call in (lambda: lt.check(experiment), lambda: lt.train(experiment), lambda: lt.inspect(experiment), lambda: made.program(4, 3)):
        with pytest.raises(lt.InputError) as raised:
            call()
        assert str(raised.value).startswith(f"{__file__}:{line}: ") and (raised.value.file, raised.value.line) == (__file__, line)


def test_an_error_of_the_function_itself_is_left_as_it_is():
    def broken(s, units):
        return {}["nothing_of_that_name"]

    with pytest.raises(KeyError, match="nothing_of_that_name"):
        lt.cell(broken)


@pytest.mark.parametrize("value, message", [
    (lambda h: h.sum(), "a recorded value has no 'sum'; write lagtape.sum(a) or np.sum(a)"),
    (lambda h: np.fft.fft(h), "np.fft is no function of a step"),
    (lambda h: np.cbrt(h), "np.cbrt is no function of a step"),
    (lambda h: [h, h] + h, "a list of recorded values is no array; write lagtape.concat(a, b)."),
    (lambda h: h + np.array([np.inf]), "expected an array of finite numbers."),
])
def test_what_numpy_has_and_a_step_has_not_is_refused_by_name(value, message):
    def refused(s, units):
        h = s.state("h", units)
        s.next(h, value(h))
        return h

    with pytest.raises(lt.InputError, match=re.escape(message)):
        lt.cell(refused)


def test_what_is_no_cell_is_refused():
    for wrong in (3, print, "cell"):
        with pytest.raises(lt.InputError, match="expected a function"):
            lt.cell(wrong)
    with pytest.raises(lt.InputError, match="the name 'gru' is taken by a built-in cell"):
        lt.cell(nothing, name="gru")
    with pytest.raises(lt.InputError, match="name must be a text. Got 3."):
        lt.cell(nothing, name=3)
    with pytest.raises(lt.InputError, match="needs a default"):
        lt.cell(lambda s, units, tau: None)
    with pytest.raises(lt.InputError, match="its first argument is the step"):
        lt.cell(lambda: None)
    with pytest.raises(lt.InputError, match="static names 'taw'"):
        lt.cell(lambda s, units, tau=1: None, static=["taw"])
