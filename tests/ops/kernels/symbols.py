"""No source compiled for one SIMD level offers the linker code that another source could be given.

usage: symbols.py NM OBJECT...

A weak function (an inline one, or of a template) in the object of a level must carry that level or its instruction set in its
name. Prints the functions that do not, and exits with 1 when there are any, or when no such object was seen.
"""

import pathlib
import re
import subprocess
import sys

# The levels as they stand in demangled names: lagtape's own number, xsimd's name.
LEVELS = {
    "avx2.cpp.o": re.compile(r"\(lagtape::SimdLevel\)1\b|\bxsimd::avx2\b"),
    "avx512.cpp.o": re.compile(r"\(lagtape::SimdLevel\)2\b|\bxsimd::avx512"),
    "avx512_bf16.cpp.o": re.compile(r"\(lagtape::SimdLevel\)2\b|\bxsimd::avx512"),
    "avx512_vnni.cpp.o": re.compile(r"\(lagtape::SimdLevel\)2\b|\bxsimd::avx512"),
}


def strays(nm, path, own):
    listing = subprocess.run([nm, "--demangle", path], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        symbol = re.match(r"[0-9a-f]+ ([WV]) (.*)", line)
        if symbol and not own.search(symbol[2]) and not symbol[2].startswith("DW.ref."):
            yield symbol[2]


def main():
    nm, objects = sys.argv[1], sys.argv[2:]
    of_levels = [path for path in objects if pathlib.Path(path).name in LEVELS]
    found = [f"{path}: {name}" for path in of_levels for name in strays(nm, path, LEVELS[pathlib.Path(path).name])]
    print("\n".join(found) or f"{len(of_levels)} objects in order")
    return 1 if found or not of_levels else 0


if __name__ == "__main__":
    sys.exit(main())
