"""PyTorch's OpenMP threads, which lagtape's own threads share the processor with."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any, Callable

import torch

SOFT = 1  # omp_pause_soft of OpenMP 5.0: settings of the program, such as numbers of threads, stay

_forked = False  # a forked process has none of the threads that its OpenMP would wait for


def _after_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_after_fork)


def release_waiting_threads() -> None:
    """Ends the OpenMP threads that wait for this thread's next work; OpenMP starts them again when there is some.

    With as many threads as processors, GCC's OpenMP threads wait by spinning for some milliseconds, and would share the
    processors with lagtape's threads at the beginning of each pass.
    """
    if torch.get_num_threads() > 1 and not _forked:
        _pause_function()(SOFT)


@functools.lru_cache(maxsize=None)
def _pause_function() -> Callable[[int], Any]:
    """omp_pause_resource_all of the OpenMP library that PyTorch has loaded; where there is none, nothing is done."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "libgomp" in line}
        loaded = sorted(paths, key=lambda path: not path.startswith(os.path.dirname(torch.__file__)))
        return ctypes.CDLL(loaded[0], mode=os.RTLD_NOLOAD).omp_pause_resource_all
    except (OSError, IndexError, AttributeError):  # another system, another OpenMP, or one before 5.0
        return lambda kind: None
