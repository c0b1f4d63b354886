"""clang-format finds nothing to change in the tree's C++.

usage: formatted.py ROOT

Exits with 77 where clang-format 14 is not found: other versions break lines elsewhere.
"""

import pathlib
import re
import shutil
import subprocess
import sys

VERSION = 14
SKIPPED = 77


def clang_format():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if path := shutil.which(name):
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(rf"version {VERSION}\.", version):
                return path
    return None


def breaches(program, files):
    """The places that clang-format would change, "FILE:LINE:COLUMN"."""
    done = subprocess.run([program, "--dry-run", *files], capture_output=True, text=True)
    found = re.findall(r"^(\S+:\d+:\d+): warning", done.stderr, re.MULTILINE)
    return found or ([done.stderr] if done.returncode else [])


def main():
    root = pathlib.Path(sys.argv[1])
    program = clang_format()
    if program is None:
        print(f"not run: clang-format {VERSION} is not found (Debian: clang-format)")
        return SKIPPED
    folders = ("core", "ops", "cells", "optim", "data", "tools", "tests")
    files = [path for folder in folders for path in sorted((root / folder).rglob("*")) if path.suffix in (".h", ".cpp")]
    found = breaches(program, files)
    print("\n".join(found[:50]) or f"{len(files)} files are formatted")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
