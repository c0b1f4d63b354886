"""The exceptions that lagtape raises. Their messages are for people; their problems have fields for programs."""

from __future__ import annotations

import os
import sys
from typing import List, NamedTuple, Optional

#: The file name in errors about an experiment given as a dict.
THE_EXPERIMENT = "the experiment"
_FOLDER = os.path.dirname(os.path.abspath(__file__))


class Place(NamedTuple):
    """A line in the user's file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def place_of_caller() -> Place:
    """The innermost line outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _FOLDER:
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


class Problem(NamedTuple):
    """One error in a file, an experiment or a call. Unknown fields are None.

        >>> lagtape.Problem("is missing", rule="missing", pointer="/model").rule
        'missing'
    """

    message: str  #: what is wrong, without the location
    rule: str = "other"  #: the broken rule: "unknown_name", "missing", "wrong_type", "out_of_range", "shape", ...
    file: Optional[str] = None  #: the file or the folder
    line: Optional[int] = None  #: from 1
    column: Optional[int] = None  #: from 1: the character in a line or equation, or the column of a table
    pointer: Optional[str] = None  #: the JSON Pointer of a setting, such as "/train/epochs"
    item: Optional[str] = None  #: a named part of the file, such as "tensor 'readout.W'"
    found: Optional[str] = None
    expected: Optional[str] = None
    hint: Optional[str] = None  #: what to do
    nearest: Optional[str] = None  #: the valid name that was probably meant

    @property
    def suggestion(self) -> Optional[str]:
        """The nearest valid name."""
        return self.nearest


class Error(Exception):
    """The base class of InputError and DivergenceError, raised itself when neither applies.

        >>> issubclass(lagtape.InputError, lagtape.Error) and issubclass(lagtape.InputError, ValueError)
        True
    """


class InputError(Error, ValueError):
    """Invalid input: a file, an experiment, an array, a cell.

    problems    all errors, each a Problem; `errors` is the same list
    file        the first problem's file, or None
    pointer     its JSON Pointer, or None
    suggestion  the nearest valid name, or None
    line        the line in the Python file that defines the cell, or None

        >>> try:
        ...     lagtape.check({**experiment, "optimizer": {"type": "adan"}})
        ... except lagtape.InputError as error:
        ...     print(error.pointer, error.suggestion)
        /optimizer/type adam
    """

    def __init__(self, message: str = "", problems: Optional[List[Problem]] = None, *, file: Optional[str] = None,
                 line: Optional[int] = None):
        super().__init__(message)
        given = problems or [Problem(message, file=file, line=line)]
        self.problems = [one._replace(file=None) if one.file == THE_EXPERIMENT else one for one in given]
        self.file = file if file is not None else self.problems[0].file
        self.line = line

    @property
    def errors(self) -> List[Problem]:
        """The same as `problems`."""
        return self.problems

    @property
    def pointer(self) -> Optional[str]:
        """The JSON Pointer of the first problem."""
        return self.problems[0].pointer

    @property
    def suggestion(self) -> Optional[str]:
        """The nearest valid name for the first problem."""
        return self.problems[0].nearest


class DivergenceError(Error, ArithmeticError):
    """Training produced a non-finite number. The last good state is kept in the run's folder.

        >>> try:
        ...     lagtape.train({**experiment, "optimizer": {"type": "sgd", "lr": 1e30}}, out="diverged", progress=False)
        ... except lagtape.DivergenceError:
        ...     print("smaller steps")
        smaller steps
    """
