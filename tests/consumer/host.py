"""The same host in Python: host.py MODEL PLUGIN..."""

import _ctypes
import ctypes
import sys

model, *files = sys.argv[1:]
plugins = [ctypes.CDLL(file) for file in files]
outputs = []
for version, plugin in enumerate(plugins, 1):
    plugin.first_output.restype = ctypes.c_double
    outputs.append(plugin.first_output(model.encode()))
    assert plugin.plugin_version() == version, (version, plugin.plugin_version())
assert len(set(outputs)) == 1, outputs
for plugin in plugins:
    _ctypes.dlclose(plugin._handle)
with open("/proc/self/maps") as maps:
    mapped = maps.read()
for file in files:
    assert file not in mapped, f"{file} is still mapped after dlclose"
