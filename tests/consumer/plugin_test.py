"""A plug-in that links the static libraries shows nothing of them, and leaves the process when it is closed.

usage: plugin_test.py PLUGIN WEIGHTS
"""

import ctypes
import math
import os
import subprocess
import sys

plugin, weights = map(os.path.abspath, sys.argv[1:])


def is_mapped():
    with open("/proc/self/maps") as maps:
        return plugin in maps.read()


def shown():
    """The dynamic symbols that the plug-in defines: its kind and its name."""
    lines = subprocess.run(["nm", "-DC", "--defined-only", plugin], capture_output=True, text=True, check=True).stdout
    return [tuple(line.split(maxsplit=2)[1:]) for line in lines.splitlines()]


symbols = shown()
assert ("T", "first_output") in symbols, symbols
unique = [name for kind, name in symbols if kind == "u"]
assert not unique, f"{len(unique)} unique symbols would keep the plug-in mapped: {unique[:5]}"
ours = [name for _, name in symbols if "lagtape" in name or "dnnl" in name or "archive_" in name or "xsimd" in name]
assert not ours, f"{len(ours)} symbols of lagtape and its dependencies are shown: {ours[:5]}"

library = ctypes.CDLL(plugin)
library.first_output.restype = ctypes.c_double
library.first_output.argtypes = [ctypes.c_char_p]
assert math.isfinite(library.first_output(weights.encode()))
assert is_mapped()
loader = ctypes.CDLL(None)
loader.dlclose.argtypes = [ctypes.c_void_p]
assert loader.dlclose(library._handle) == 0
assert not is_mapped(), "the plug-in is mapped after dlclose"
print(f"shows {len(symbols)} symbols of its own, and is gone after dlclose")
