"""The rules of the tree: which folder may include which, where names of cells and of dependencies may stand, the order of
the engine's rooms (rooms.py), who knows the keys of an experiment (experiment_keys.py), that no code reads a message
(messages.py), that no function hides a declared one (clashes.py), and how long files and functions may be (sizes.py).

usage: structure.py tree ROOT | structure.py installed INCLUDE

Prints one line a breach, "FILE:LINE: RULE", and exits with 1 when there is any.
"""

import pathlib
import re
import sys

import clashes
import experiment_keys
import messages
import rooms
import sizes

# Folders depend only on those to their left: core <- ops <- cells <- optim <- tools, and core <- data <- tools.
MAY_INCLUDE = {
    "core": {"core"},
    "ops": {"core", "ops"},
    "cells": {"core", "ops", "cells"},
    "optim": {"core", "ops", "cells", "optim"},
    "data": {"core", "data"},
    "tools": {"core", "ops", "cells", "optim", "data", "tools"},
}
CELL_FREE = {"core", "ops"}
NAMES_ONEDNN = ("optim/onednn_product.cpp", "tools/bench/")
# Headers that take seconds to compile, and the only places that include them.
HEAVY = {"nlohmann/": "core/json/", "CLI/": "tools/cli/command_line.cpp", "doctest/": "tests/", "date/": "data/time/time_zone.cpp", "nanobind/": "tools/python/src/"}
DEPENDENCIES = ("nlohmann/", "xsimd/", "xbyak/", "dnnl", "oneapi/", "archive.h", "zlib.h", "sndfile.h", "archive_entry.h", "date/", "omp.h", "fmt/", "CLI/", "doctest/", "nanobind/")

# Folders that a user of the library never sees.
INSIDES = tuple(f"lagtape/ops/recurrence/{room}/" for room in ("derive", "schedule", "jit", "run", "oracle")) + (
    "lagtape/ops/kernels/", "lagtape/core/json/", "lagtape/tools/cli/")
# The names of the element-wise functions, which the steps of users are made of.
NO_INSIDES = ("lagtape/ops/kernels/element_functions.h", "lagtape/ops/kernels/element_names.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Functions that write or read a number as the locale of the host has it.
LOCALE = re.compile(r"\bo?stringstream\b|\b(strto(f|d|ld)|sto(f|d|ld)|atof)\(|printf\(.*%[-+ #0-9.*]*[aefg]\b", re.IGNORECASE)


def sources(root, folder):
    return sorted(p for p in (root / folder).rglob("*") if p.suffix in (".h", ".cpp"))


def lines(path):
    return enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)


def cells_of(root):
    """The cells by their structs, {"TauGru": "tau_gru", ...}: the entries TauGru::kEntry of the table kCells in cells.h."""
    registry = root / "cells" / "cells.h"
    if not registry.exists():
        return {}
    table = re.search(r"\bkCells\b.*?^};", registry.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    rows = re.findall(r"\b(\w+)::kEntry", table[0]) if table else []
    entry = re.compile(r'LayerEntry (\w+)::kEntry = \{\s*\.name = "([a-z0-9_]+)"')
    names = dict(found for path in sources(root, "cells") for found in entry.findall(path.read_text(encoding="utf-8")))
    return {row: names[row] for row in rows if row in names}


def include_breach(root, name, bracket, folder):
    """The error of one #include in a folder, or None."""
    if not name.startswith("lagtape/"):
        return "own headers are included as \"lagtape/...\"" if bracket == '"' else None
    target = name.removeprefix("lagtape/")
    if not (root / target).exists():
        return f"there is no {target}"
    house = target.split("/")[0]
    if house not in MAY_INCLUDE[folder]:
        return f"{folder} does not depend on {house}"
    return None


def check_tree(root):
    breaches = []
    cells = cells_of(root).values()
    if not cells:
        breaches.append("cells/cells.h:1: no table kCells of the cells' names")
    cell_word = re.compile(r"(?<![a-z0-9])(" + "|".join(cells) + r")(?![a-z0-9])", re.IGNORECASE)
    for folder in MAY_INCLUDE:
        for path in sources(root, folder):
            place = path.relative_to(root).as_posix()
            for number, line in lines(path):
                found = []
                include = INCLUDE.match(line)
                if include:
                    found.append(include_breach(root, include[2], include[1], folder))
                    found += [f"{header} is included in {home} alone" for header, home in HEAVY.items()
                              if include[2].startswith(header) and not place.startswith(home)]
                if folder in CELL_FREE and cells and cell_word.search(line):
                    found.append(f"{folder} knows no cell's name, and '{cell_word.search(line)[0]}' is one")
                if "dnnl" in line and not place.startswith(NAMES_ONEDNN):
                    found.append("oneDNN is named in " + " and ".join(NAMES_ONEDNN) + " alone")
                if LOCALE.search(line) and place != "core/text.cpp" and not place.startswith("tools/bench/"):
                    found.append("this follows the host's locale; text_of, fmt::format and from_chars do not")
                breaches += [f"{place}:{number}: {breach}" for breach in found if breach]
    return (breaches + experiment_keys.check_keys(root) + messages.check_messages(root) + rooms.check_rooms(root)
            + clashes.check_clashes(root) + sizes.check_sizes(root, [*MAY_INCLUDE, "tests"]))


def check_installed(include):
    breaches = []
    headers = sorted(include.rglob("*.h"))
    if not headers:
        breaches.append(f"{include}:0: no headers are installed")
    for path in headers:
        place = path.relative_to(include).as_posix()
        if place.startswith(INSIDES) and place not in NO_INSIDES:
            breaches.append(f"{place}:0: this header is no user's and must not be reached from lagtape.h")
        for number, line in lines(path):
            match = INCLUDE.match(line)
            if not match:
                continue
            if match[2].startswith(DEPENDENCIES):
                breaches.append(f"{place}:{number}: an installed header includes {match[2]} of a dependency")
            if match[2].startswith("lagtape/") and not (include / match[2]).exists():
                breaches.append(f"{place}:{number}: an installed header includes {match[2]}, which is not installed")
    return breaches


def main():
    what, root = sys.argv[1], pathlib.Path(sys.argv[2])
    breaches = {"tree": check_tree, "installed": check_installed}[what](root)
    print("\n".join(breaches) or f"{root}: in order")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
