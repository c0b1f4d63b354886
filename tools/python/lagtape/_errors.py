"""The exceptions of lagtape. A message of the library names its place as "FILE: /json/pointer: what is wrong", one line an
error; their parts are attributes."""

from __future__ import annotations

import re
from typing import List, NamedTuple, Optional

_POINTER = re.compile(r"(?P<file>.*?): (?P<pointer>/\S*): (?P<message>.*)")
_FILE = re.compile(r"(?P<file>[^\[\s][^:]*): (?P<message>.*)")
_SUGGESTION = re.compile(r"did you mean '([^']*)'")


class Problem(NamedTuple):
    """One error of a file or an experiment."""

    file: Optional[str]  #: the file, the folder or the experiment that it is in
    pointer: Optional[str]  #: the JSON Pointer, such as "/train/epochs"
    message: str
    suggestion: Optional[str]  #: the nearest valid name, where one is near


def _is_path(text: str) -> bool:
    return "/" in text or re.search(r"\.\w+$", text) is not None


def _problem_of(line: str) -> Problem:
    found = _SUGGESTION.search(line)
    suggestion = found[1] if found else None
    if match := _POINTER.fullmatch(line):
        return Problem(match["file"] if _is_path(match["file"]) else None, match["pointer"], match["message"], suggestion)
    match = _FILE.fullmatch(line)
    if match and _is_path(match["file"]):
        return Problem(match["file"], None, match["message"], suggestion)
    return Problem(None, None, line, suggestion)


class Error(Exception):
    """What lagtape raises."""


class InputError(Error, ValueError):
    """Something that was given is wrong: a file, an experiment, an array, a cell.

    errors      every error at once, each a Problem(file, pointer, message, suggestion)
    file        the file of the first, or None
    pointer     its JSON Pointer, or None
    suggestion  the nearest valid name, or None
    line        the line of a Python file that a cell was written in, or None
    """

    def __init__(self, message: str = "", *, file: Optional[str] = None, line: Optional[int] = None,
                 errors: Optional[List[Problem]] = None):
        super().__init__(message)
        self.errors = [_problem_of(one) for one in message.split("\n")] if errors is None else errors
        self.file = file if file is not None else self.errors[0].file
        self.line = line

    @property
    def pointer(self) -> Optional[str]:
        return self.errors[0].pointer

    @property
    def suggestion(self) -> Optional[str]:
        return self.errors[0].suggestion


class DivergenceError(Error, ArithmeticError):
    """Training gave a number that is not finite. The last good state is kept in the run's folder."""
