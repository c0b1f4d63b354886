"""Plug-ins that link the static libraries show nothing of them, and leave a process when they are closed, also two versions in one,
and in hosts of C, C++ and Python.

usage: plugin_test.py FOLDER WEIGHTS
"""

import pathlib
import subprocess
import sys

folder, weights = map(lambda path: pathlib.Path(path).resolve(), sys.argv[1:])
plugins = [folder / name for name in ("libplugin.so", "libplugin_2.so")]
hosts = {"C": [folder / "host_c"], "C++": [folder / "host"], "Python": [sys.executable, "-B", pathlib.Path(__file__).with_name("host.py")]}

for plugin in plugins:
    lines = subprocess.run(["nm", "-D", "--defined-only", plugin], capture_output=True, text=True, check=True).stdout
    symbols = sorted(line.split(maxsplit=2)[2] for line in lines.splitlines())
    assert symbols == ["first_output", "plugin_version"], symbols


def complaint(host, files):
    done = subprocess.run([*hosts[host], weights, *files], capture_output=True, text=True)
    assert (done.returncode == 0) == (done.stderr == ""), done
    return done.stderr


for host in hosts:
    for files in (plugins[:1], plugins):
        said = complaint(host, files)
        assert said == "", f"a host in {host}: {said}"

# Without lagtape_plugin a plug-in shows names of std::, which keep it in the process of a host in C.
assert "still mapped" in complaint("C", [folder / "libplain.so"]), "the test cannot find a plug-in that stays"
print(f"shows {' and '.join(symbols)}, and is gone after dlclose from hosts in {', '.join(hosts)}")
