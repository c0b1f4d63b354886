"""What a training tells while it runs."""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any, Callable, Dict, Optional

_BAR = 24  # characters


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


class Progress:
    """A line on stderr that is written anew: a bar with the time left, and the last evaluation. It is shown in terminals
    and notebooks, unless asked for otherwise."""

    def __init__(self, shown: Optional[bool], callback: Optional[Callable[[Dict[str, Any]], Any]]):
        self._shown = bool(shown) if shown is not None else _in_notebook() or sys.stderr.isatty()
        self._callback = callback
        self._first: Optional[int] = None
        self._started = 0.0
        self._evaluation = ""
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._width > 0:
            sys.stderr.write("\n")
            sys.stderr.flush()

    def stepped(self, epoch: int, step: int, steps: int, loss: float) -> None:
        """Called a few times a second, after step `step` of `steps`."""
        if not self._shown:
            return
        if self._first is None:
            self._first, self._started = step, time.monotonic()
        done = step - self._first
        left = (time.monotonic() - self._started) / done * (steps - step) if done else None
        bar = "#" * (step * _BAR // max(steps, 1))
        left_text = f"{_time_of(left)} left" if left is not None else ""
        self._write(f"[{bar:<{_BAR}}] epoch {epoch + 1}  loss {loss:.4g}  {left_text}  {self._evaluation}")

    def evaluated(self, text: str, kept: bool) -> bool:
        """Called after each evaluation with its line of metrics.jsonl. Whether the training ends here."""
        row = {name: float("nan") if value is None else value for name, value in json.loads(text).items()}
        valid = "  ".join(f"{name} {value:.4g}" for name, value in row.items() if name.startswith("valid_"))
        self._evaluation = valid + ("  *" if kept else "")
        if self._shown and self._width > 0:
            self._write(f"epoch {row['epoch']}  train_loss {row['train_loss']:.4g}  {self._evaluation}")
        return self._callback is not None and self._callback(row) is True

    def warned(self, text: str) -> None:
        """Called before the first step."""
        warnings.warn(text, stacklevel=3)

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)
