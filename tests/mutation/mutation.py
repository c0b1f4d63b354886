#!/usr/bin/env python3
"""Plants faults in the sources, one at a time, and runs the quick tests that should find them. A fault that none finds is a line
that no test holds: it is named, and gets a test or is equivalent.

usage: mutation.py BUILD [--count N] [--seed S] [--only PREFIX] [--results FILE]

BUILD is a build folder of a clean checkout, whose sources are changed and restored. The same seed gives the same faults. Lines of
FILE (BUILD/mutations.tsv) are not tried again: verdict, file, line, what was there, what was planted, the test that found it.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import time

#: Sources by folder, and the tests that should find a fault in them, the fastest first.
AREAS = [
    ("ops/recurrence/", ["recurrence", "cells"]),
    ("ops/kernels/", ["kernels", "recurrence"]),
    ("data/time/", ["data", "cli_new_times", "cli_clocks", "time"]),
    ("data/table/", ["data", "cli_data", "malformed"]),
    ("data/series/", ["data", "cli_data", "cli_forecast", "cli_new"]),
    ("data/formats/", ["data", "malformed"]),
    ("core/io/", ["core", "data", "malformed"]),
    ("core/json/", ["core", "malformed"]),
]
#: The executable of a test, where it is one; other tests run the tool.
PROGRAMS = {name: f"lagtape_test_{name}" for name in ("core", "data", "cells", "kernels", "recurrence")}
#: What is replaced by what; a match is one place.
FAULTS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ 1\b", " + 2"), (r" - 1\b", ""), (r"(?<=[\w)\]]) \+ (?=[\w(])", " - "),
    (r"(?<=[\w)\]]) - (?=[\w(])", " + "), (r"(?<=[\w)\]]) \* (?=[\w(])", " + "), (r"(?<=[\w)\]]) / (?=[\w(])", " * "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"std::min\b", "std::max"), (r"std::max\b", "std::min"),
    (r"\.front\(\)", ".back()"), (r"\.back\(\)", ".front()"), (r"\bif \(!", "if ("), (r"\bif \((?=[\w.]+(\([^()]*\))?\))", "if (!"),
    (r"\bbreak;", "continue;"), (r" \+= ", " -= "), (r"(?<![\w.])0(?=[;,)])", "1"), (r"(?<![\w.])1(?=[;,)])", "0"),
    (r"^ +(?!return|break|continue|throw|const|auto|using|std::|int|double|float|bool|template)[\w.>\[\]-]+(\([^;{}]*\)|\+\+| [-+*|]?= [^;{}]+);$", ";"),
]
NO_CODE = re.compile(r'^\s*(//|#|/\*|\*|template|static_assert|case .*:$|\[\[|throw InputError|text_of\()|"')


def places(text):
    """(line number, columns, fault) of all places in a source where a fault can be planted: not in comments, texts and includes."""
    found = []
    for number, line in enumerate(text.splitlines()):
        if NO_CODE.search(line):
            continue
        code = line.split("//")[0]
        for fault, (pattern, with_what) in enumerate(FAULTS):
            found += [(number, match.span(), fault) for match in re.finditer(pattern, code)]
    return found


def planted(text, place):
    """The source with the fault, the line before and after."""
    number, (begin, end), fault = place
    lines = text.splitlines(keepends=True)
    before = lines[number]
    lines[number] = before[:begin] + FAULTS[fault][1] + before[end:]
    return "".join(lines), before.strip(), lines[number].strip()


def drawn(root, seed, count, only):
    """So many places, evenly over the areas and then over their files."""
    random_ = random.Random(seed)
    by_area = []
    for prefix, _ in AREAS:
        if prefix.startswith(only) or only.startswith(prefix):
            files = sorted(file for file in (root / prefix).rglob("*.cpp") if str(file.relative_to(root)).startswith(only))
            by_area.append([(file, place) for file in files for place in places(file.read_text())])
    chosen = []
    while len(chosen) < count and any(by_area):
        area = random_.choice([area for area in by_area if area])
        chosen.append(area.pop(random_.randrange(len(area))))
    return chosen


class Harness:
    def __init__(self, build, root):
        self.build, self.root = build, root

    def ninja(self, *targets):
        return subprocess.run(["ninja", "-C", self.build, *targets], capture_output=True, text=True).returncode == 0

    def verdict(self, file):
        """"killed" and by what, "no program" for what does not compile, or "survived"."""
        tests = next(tests for prefix, tests in AREAS if str(file).startswith(prefix))
        for test in tests:
            if not self.ninja(PROGRAMS.get(test, "lagtape_tool")):
                return ("no program", "") if test == tests[0] else ("killed", "the build")
            done = subprocess.run(["ctest", "--test-dir", self.build, "-R", f"^{test}$", "--timeout", "120"], capture_output=True, text=True)
            if done.returncode != 0:
                return "killed", test
        return "survived", ""

    def try_one(self, file, place):
        text = file.read_text()
        changed, before, after = planted(text, place)
        try:
            file.write_text(changed)
            verdict, by = self.verdict(file.relative_to(self.root))
        finally:
            file.write_text(text)
        return [verdict, str(file.relative_to(self.root)), str(place[0] + 1), before, after, by]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--results", type=pathlib.Path)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    cache = (build / "CMakeCache.txt").read_text()
    root = pathlib.Path(re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE).group(1))
    if subprocess.run(["git", "-C", root, "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True).stdout:
        sys.exit(f"{root} has changes: faults are planted in a clean checkout.")
    results = arguments.results or build / "mutations.tsv"
    known = [line.split("\t") for line in results.read_text().splitlines()] if results.exists() else []
    tried = {tuple(row[1:5]) for row in known}
    harness = Harness(build, root)
    with results.open("a") as out:
        for file, place in drawn(root, arguments.seed, arguments.count, arguments.only):
            _, before, after = planted(file.read_text(), place)
            if (str(file.relative_to(root)), str(place[0] + 1), before, after) in tried:
                continue
            begin = time.monotonic()
            row = harness.try_one(file, place)
            known.append(row)
            print("\t".join(row), file=out, flush=True)
            print(f"{row[0]:10} {row[1]}:{row[2]}  {row[3]}  ->  {row[4]}  {row[5]} ({time.monotonic() - begin:.0f} s)", flush=True)
    harness.ninja()
    counts = {verdict: sum(row[0] == verdict for row in known) for verdict in ("killed", "survived", "no program")}
    share = counts["killed"] / max(1, counts["killed"] + counts["survived"])
    print(f"{counts['killed']} killed, {counts['survived']} survived, {counts['no program']} no program: {share:.1%}")


if __name__ == "__main__":
    main()
