"""How many lines of C++ each folder may have.

usage: budget.py check ROOT | budget.py write ROOT

check: prints the lines of each folder beside those of the last tag and its line in budget.txt, and exits with 1 when a folder is
more than a tenth above its line, or has none. Whoever lets a folder grow changes its line in the same commit. write: writes
budget.txt anew from the tree.
"""

import pathlib
import subprocess
import sys

import rooms

FILE = "tests/structure/budget.txt"
MOST_GROWTH = 1.1


def lines_of_folders(root):
    lines = {}
    for path in rooms.sources(root):
        folder = rooms.folder_of(path.relative_to(root).as_posix())
        lines[folder] = lines.get(folder, 0) + path.read_text(encoding="utf-8").count("\n")
    return lines


def read_budget(text):
    return {folder: int(lines) for folder, lines in (line.split() for line in text.splitlines())}


def write_budget(lines):
    return "".join(f"{folder} {count}\n" for folder, count in sorted(lines.items()))


def breaches(lines, budget):
    for folder, count in sorted(lines.items()):
        if folder not in budget:
            yield f"{folder} has {count} lines and no line in {FILE}"
        elif count > MOST_GROWTH * budget[folder]:
            yield f"{folder} has grown to {count} lines, its line in {FILE} says {budget[folder]}"
    yield from (f"{FILE} has a line of {folder}, which is not there" for folder in sorted(set(budget) - set(lines)))


def git(root, *arguments):
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def tagged(root):
    """The last tag and the lines of its folders; empty without git or tags."""
    tag = git(root, "describe", "--tags", "--abbrev=0").strip()
    if not tag:
        return "", {}
    lines = {}
    counted = git(root, "grep", "-c", "", tag, "--", *(f"{house}/*.{end}" for house in rooms.HOUSES for end in ("h", "cpp")))
    for line in counted.splitlines():
        path, count = line.removeprefix(tag + ":").rsplit(":", 1)
        folder = rooms.folder_of(path)
        lines[folder] = lines.get(folder, 0) + int(count)
    return tag, lines


def table(lines, budget, tag, before):
    rows = [("folder", "lines", "budget", tag or "no tag")]
    for folder in sorted({*lines, *before}):
        rows.append((folder, *(str(counts.get(folder, "-")) for counts in (lines, budget, before))))
    rows.append(("all", *(str(sum(counts.values())) for counts in (lines, budget, before))))
    return "\n".join(f"{folder:34}{a:>8}{b:>8}{c:>10}" for folder, a, b, c in rows)


def main():
    what, root = sys.argv[1], pathlib.Path(sys.argv[2])
    lines = lines_of_folders(root)
    if what == "write":
        (root / FILE).write_text(write_budget(lines), encoding="utf-8")
        return 0
    budget = read_budget((root / FILE).read_text(encoding="utf-8"))
    print(table(lines, budget, *tagged(root)))
    found = list(breaches(lines, budget))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
