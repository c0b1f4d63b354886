"""Whoever links a library of lagtape can call everything that its headers declare.

usage: declared_test.py PREFIX CXX LIBRARY=ROOM,ROOM,... ...

Exits with 77 where clang++ is not found.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "structure"))
import declared  # noqa: E402

SKIPPED = 77


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **options).stdout


def link(compiler, program, library, environment, folder):
    """The linker's output for a program that links a library alone."""
    source = pathlib.Path(folder, "program.cpp")
    source.write_text(program)
    flags = run("pkg-config", "--libs", library, env=environment).split()
    done = subprocess.run([compiler, source, "-o", pathlib.Path(folder, "program"), *flags], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main():
    prefix, compiler, *libraries = sys.argv[1:]
    clang = shutil.which("clang++")
    if clang is None:
        print("not run: clang++, which reads the headers, is not found (Debian: clang)")
        return SKIPPED
    packages = next(pathlib.Path(prefix).rglob("lagtape-runtime.pc")).parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(packages)}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        # One that no library has is missed.
        assert "nobody" in link(compiler, declared.program(["_ZN7lagtape6nobodyEv"]), "lagtape-runtime", environment, folder)
        for library, rooms in (argument.split("=") for argument in libraries):
            symbols = declared.symbols(clang, pathlib.Path(prefix, "include"), rooms.split(","))
            missing = link(compiler, declared.program(symbols), library, environment, folder)
            print(f"{library}: {missing}" if missing else f"{library} has all {len(symbols)} functions and variables of its headers")
            failed += bool(missing) or not symbols
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
