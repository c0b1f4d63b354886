"""Training progress: a line in terminals, a curve in notebooks, `logging` messages, and callbacks."""

from __future__ import annotations

import importlib
import json
import logging
import sys
import time
import warnings
from typing import Any, Dict, List, Optional

import numpy as np

from ._errors import InputError
from ._plots import Chart
from ._results import Callback, Callbacks, Evaluated

logger = logging.getLogger("lagtape")
_BAR = 24  # characters


class Stop(Exception):
    """A callback raises this to end training and keep the result. Returning True does the same.

        >>> def enough(row):
        ...     if row["valid_loss"] < 1e9:
        ...         raise lagtape.Stop
        >>> lagtape.train(experiment, epochs=50, out="stopped", callback=enough, progress=False).history["epoch"].tolist()
        [1]
    """


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


def _time_of(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole // 60 % 60:02}m"


class _Line:
    """A line on stderr that each update overwrites."""

    def __init__(self) -> None:
        self._width = 0

    def stepped(self, share: float, text: str) -> None:
        self._write(f"[{'#' * int(share * _BAR):<{_BAR}}] {text}")

    def evaluated(self, row: Evaluated, text: str) -> None:
        if self._width > 0:
            self._write(text)

    def close(self) -> None:
        if self._width > 0:
            sys.stderr.write("\n")
            sys.stderr.flush()

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)


class _LiveCurve:
    """A learning curve in a notebook, below a progress bar, redrawn after each evaluation."""

    def __init__(self) -> None:
        shown: Any = importlib.import_module("IPython.display")
        self._html = shown.HTML
        self._shown = shown.display(shown.HTML(""), display_id=True)
        self._rows: List[Evaluated] = []
        self._chart, self._bar, self._drawn = "", "", 0.0

    def stepped(self, share: float, text: str) -> None:
        self._bar = f"<progress value='{share:.4f}' max='1'></progress> <code>{text}</code>"
        if time.monotonic() - self._drawn > 0.5:
            self._draw()

    def evaluated(self, row: Evaluated, text: str) -> None:
        self._rows.append(row)
        self._chart = str(learning_chart("", columns_of(self._rows)).svg(420, 180))
        self._draw()

    def close(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        self._shown.update(self._html(f"<div>{self._bar}</div>{self._chart}"))


class Progress:
    """Follows training: shows progress (by default in terminals and notebooks), and calls the callbacks."""

    def __init__(self, shown: Optional[bool], callbacks: Callbacks):
        self._callbacks = callbacks_of(callbacks)
        is_shown = bool(shown) if shown is not None else _in_notebook() or sys.stderr.isatty()
        self._view = (_LiveCurve() if _in_notebook() else _Line()) if is_shown else None
        self._first: Optional[int] = None
        self._started = 0.0
        self._evaluation = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._view is not None:
            self._view.close()

    def stepped(self, epoch: int, step: int, steps: int, loss: float) -> None:
        """Called a few times a second, after step `step` of `steps`."""
        if self._view is None:
            return
        if self._first is None:
            self._first, self._started = step, time.monotonic()
        done = step - self._first
        left = (time.monotonic() - self._started) / done * (steps - step) if done else None
        left_text = f"{_time_of(left)} left" if left is not None else ""
        self._view.stepped(step / max(steps, 1), f"epoch {epoch + 1}  loss {loss:.4g}  {left_text}  {self._evaluation}")

    def evaluated(self, text: str, kept: bool) -> bool:
        """Called after each evaluation with its metrics.jsonl line. Returns whether training should stop."""
        row: Evaluated = {name: float("nan") if value is None else value for name, value in json.loads(text).items()}
        valid = "  ".join(f"{name} {value:.4g}" for name, value in row.items() if name.startswith("valid_"))
        self._evaluation = valid + ("  *" if kept else "")
        line = f"epoch {row['epoch']}  train_loss {row['train_loss']:.4g}  {self._evaluation}"
        logger.info("%s", line)
        if self._view is not None:
            self._view.evaluated(row, line)
        return any([_asks_to_stop(callback, row) for callback in self._callbacks])

    def warned(self, text: str) -> None:
        """Called before the first step."""
        warnings.warn(text, stacklevel=4)


def callbacks_of(callbacks: Any, name: str = "[train] callback") -> List[Callback]:
    """The callbacks as a list, given a list, a single function, or None. Raises InputError."""
    found: List[Callback] = list(callbacks) if isinstance(callbacks, (list, tuple)) else [] if callbacks is None else [callbacks]
    for one in found:
        if not callable(one):
            raise InputError(f"{name} must be a function, or a list of functions. Got {type(one).__name__}.")
    return found


def _asks_to_stop(callback: Callback, row: Evaluated) -> bool:
    try:
        answer = callback(row)
    except Stop:
        return True
    return answer is Stop or (isinstance(answer, (bool, np.bool_)) and bool(answer))


def columns_of(rows: List[Evaluated]) -> Dict[str, Any]:
    """Converts rows of numbers to an array per name, with NaN for missing values."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([float("nan") if row.get(name) is None else row[name] for row in rows]) for name in names}


def learning_chart(title: str, history: Dict[str, Any]) -> Chart:
    """The losses by epoch, or by step if the training set is endless."""
    epochs = history.get("epoch", np.zeros(0))
    over = "epoch" if len(epochs) < 2 or (np.diff(epochs) > 0).all() else "step"
    names = [name for name in ("train_loss", "valid_loss", "test_loss") if name in history]
    values = np.concatenate([history[name] for name in names]) if names else np.zeros(0)
    return Chart(title, over, "loss", [(name, history[over], history[name]) for name in names],
                 log=bool(len(values)) and bool((values[np.isfinite(values)] > 0).all()))
