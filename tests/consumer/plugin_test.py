"""A plug-in that links the static libraries shows nothing of them, and leaves the process when it is closed.

usage: plugin_test.py HOST PLUGIN WEIGHTS
"""

import os
import subprocess
import sys

host, plugin, weights = map(os.path.abspath, sys.argv[1:])

lines = subprocess.run(["nm", "-DC", "--defined-only", plugin], capture_output=True, text=True, check=True).stdout
symbols = [tuple(line.split(maxsplit=2)[1:]) for line in lines.splitlines()]  # its kind and its name
assert ("T", "first_output") in symbols, symbols
unique = [name for kind, name in symbols if kind == "u"]
assert not unique, f"{len(unique)} unique symbols would keep the plug-in mapped: {unique[:5]}"
ours = [name for _, name in symbols if "lagtape" in name or "dnnl" in name or "archive_" in name or "xsimd" in name]
assert not ours, f"{len(ours)} symbols of lagtape and its dependencies are shown: {ours[:5]}"

done = subprocess.run([host, plugin, weights], capture_output=True, text=True)
assert done.returncode == 0, done.stderr
print(f"shows {len(symbols)} symbols, none of lagtape, and is gone after dlclose")
