"""PyTorch's OpenMP threads, which share the processor with lagtape's threads."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any, Callable

import torch

SOFT = 1  # omp_pause_soft in OpenMP 5.0: keeps the program's settings, such as the number of threads

_forked = False  # a forked process has none of the threads that its OpenMP would wait for


def _after_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_after_fork)


def release_waiting_threads() -> None:
    """Ends the OpenMP threads that are waiting for work from this thread; OpenMP restarts them when needed.

    With as many threads as processors, GCC's OpenMP threads spin for a few milliseconds while waiting, and would compete
    with lagtape's threads at the start of each pass.
    """
    if torch.get_num_threads() > 1 and not _forked:
        _pause_function()(SOFT)


@functools.lru_cache(maxsize=None)
def _pause_function() -> Callable[[int], Any]:
    """omp_pause_resource_all from the OpenMP library that PyTorch has loaded, or a function that does nothing."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "libgomp" in line}
        loaded = sorted(paths, key=lambda path: not path.startswith(os.path.dirname(torch.__file__)))
        return ctypes.CDLL(loaded[0], mode=os.RTLD_NOLOAD).omp_pause_resource_all
    except (OSError, IndexError, AttributeError):  # another system, another OpenMP, or a version before 5.0
        return lambda kind: None
