"""The rules of the documents: lengths, links and paths that lead somewhere, one version, and some words that .github/WORDS.md refuses.

usage: documents.py ROOT

Prints one line a breach, "FILE:LINE: RULE", and exits with 1 when there is any.
"""

import pathlib
import re
import sys

FIRST_PAGE_LINES, FIRST_PAGE_WIDTH = 130, 120
PROSE_WIDTH = 160

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
# A file or a folder of the tree, not a name to be filled in such as TASK/MODEL.json.
PATH = re.compile(r"(?:\.github|core|ops|cells|optim|data|tools|tests)/[a-z0-9_./-]*?(?:\.(?:h|cpp|py|md|sh|json|jsonl|txt|svg)|/)$")
# Some of what .github/WORDS.md refuses: turns of phrase, and British spelling. Not in code, quotes and that page itself.
REFUSED = re.compile(r"\b(for want of|whoever|(?:is|are) told|colours?|coloured|behaviours?|learnt|labelled|modelled|analys(?:ed|ing)|"
                     r"(?:normal|optim|standard|initial|discret|quant|vector|linear|penal|recogn)is(?:e|ed|es|er|ing|ation)s?)\b",
                     re.IGNORECASE)
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")
# Where the version is, CMakeLists.txt first.
VERSIONS = {"CMakeLists.txt": r"project\(\w+ VERSION ([0-9.]+)", "tools/version.h": r'kVersion = "([0-9.]+)"',
            "CITATION.cff": r"(?m)^version: ([0-9.]+)"}
GENERATED = re.compile(r"<!-- (end of )?table\b")


def pages(root):
    """The project's pages: not those of a build, or of a folder that is hidden, except for .github."""
    for path in sorted(root.rglob("*.md")):
        folders = path.relative_to(root).parts[:-1]
        if not any(folder == "build" or folder.startswith(".") and folder != ".github" for folder in folders):
            yield path


def anchors(text):
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def link_breach(page, target):
    """The error of a link's target, or None."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    path = page.parent / name if name else page
    if not path.exists():
        return f"a link to {target}, which is not there"
    if anchor and path.suffix == ".md" and anchor not in anchors(path.read_text(encoding="utf-8")):
        return f"a link to {target}, and that page has no such heading"
    return None


def path_breaches(root, page, line):
    for code in CODE.findall(line):
        for word in code.split():
            if PATH.match(word) and not (root / word).exists() and not (page.parent / word).exists():
                yield f"{word} is named, which is not there"


def is_prose(line):
    return bool(line.strip()) and not line.startswith(("|", "<!--", "!["))


def check_page(root, page):
    place = page.relative_to(root).as_posix()
    is_first = place == "README.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    if is_first and len(lines) > FIRST_PAGE_LINES:
        yield f"{place}:{len(lines)}: {len(lines)} lines, at most {FIRST_PAGE_LINES}"
    fenced = generated = False
    for number, line in enumerate(lines, start=1):
        marker = GENERATED.match(line)
        generated = not marker[1] if marker else generated
        fenced ^= line.strip().startswith("```")
        breaches = list(path_breaches(root, page, line))
        if not fenced:
            breaches += [breach for target in LINK.findall(line) if (breach := link_breach(page, target))]
            if place != ".github/WORDS.md":
                breaches += [f"'{word}', which .github/WORDS.md refuses" for word in REFUSED.findall(QUOTED.sub("", line))]
        widest = FIRST_PAGE_WIDTH if is_first else PROSE_WIDTH
        if len(line) > widest and (is_first or is_prose(line) and not generated):
            breaches.append(f"{len(line)} characters, at most {widest}")
        yield from (f"{place}:{number}: {breach}" for breach in breaches)


def version_breaches(root):
    """Files that say another version than CMakeLists.txt."""
    expected = None
    for name, pattern in VERSIONS.items():
        text = (root / name).read_text(encoding="utf-8") if (root / name).exists() else ""
        found = re.search(pattern, text)
        expected = expected or found and found[1]
        if found and found[1] != expected:
            yield f"{name}:{text[:found.start()].count(chr(10)) + 1}: version {found[1]}, and CMakeLists.txt says {expected}"


def check_documents(root):
    if not (root / "README.md").exists():
        return ["README.md:0: there is no first page"]
    return [*(breach for page in pages(root) for breach in check_page(root, page)), *version_breaches(root)]


def main():
    root = pathlib.Path(sys.argv[1])
    breaches = check_documents(root)
    print("\n".join(breaches) or f"{root}: the documents are in order")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
