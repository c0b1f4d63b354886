"""The package: what it imports, what it starts, and which Python it is written for."""

import ast
import json
import pathlib
import subprocess
import sys

import lagtape

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tools/python/lagtape").glob("*.py*"))


def after_import(name, expression):
    """The value of an expression in a fresh Python that has imported a module."""
    script = f"import {name}, os, sys, sysconfig, json; print(json.dumps({expression}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def packages_after(name):
    """The packages that are imported then and are not part of Python."""
    own = "sysconfig.get_path('stdlib')"
    files = f"((name.split('.')[0], getattr(module, '__file__', None) or {own}) for name, module in list(sys.modules.items()))"
    return set(after_import(name, f"[name for name, file in {files} if not file.startswith({own}) or 'site-packages' in file]"))


def test_importing_takes_in_numpy_alone():
    assert packages_after("lagtape") - packages_after("numpy") == {"lagtape"}


def test_importing_starts_no_thread():
    threads = "len(os.listdir('/proc/self/task'))"
    assert after_import("lagtape", threads) == after_import("numpy", threads)


def test_the_version_is_the_library_s():
    assert f"project(lagtape VERSION {lagtape.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_the_files_are_python_3_9():
    assert len(FILES) > 3
    for file in FILES:
        ast.parse(file.read_text(), file.name, feature_version=(3, 9))


def test_the_stub_names_what_the_extension_has():
    stub = ast.parse((ROOT / "tools/python/lagtape/_lagtape.pyi").read_text()).body
    named = {getattr(one, "name", None) or one.target.id for one in stub if not isinstance(one, (ast.Import, ast.ImportFrom))}
    assert named == {name for name in dir(lagtape._lagtape) if not name.startswith("__")}


def test_every_public_name_has_a_docstring():
    for name in lagtape.__all__:
        assert getattr(lagtape, name).__doc__, name


def test_the_extension_shows_its_one_function():
    done = subprocess.run(["nm", "-D", "--defined-only", lagtape._lagtape.__file__], capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["PyInit__lagtape"]
