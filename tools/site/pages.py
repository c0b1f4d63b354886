"""Assembles the input for MkDocs: the repository's pages at their own paths, and a reference.

usage: pages.py LAGTAPE FOLDER

The reference is generated from the schema, `lagtape list`, each command's --help, and the headers' comments. No numbers
are written here. A link to a source file leads to a page that shows it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import headers
import reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
LINK = re.compile(r"(\]\()([^)\s]+)(\))")  # the text may start on the previous line
FENCE = re.compile(r"^(\s*```)(\w+)( .+)?$")
LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".py": "python", ".c": "c", ".sh": "sh", ".json": "json", ".ipynb": "json"}


def is_page(path):
    folders = path.relative_to(ROOT).parts[:-1]
    hidden = any(folder.startswith(".") and folder != ".github" or folder in ("build", "ISSUE_TEMPLATE") for folder in folders)
    return not hidden and path.name != "PULL_REQUEST_TEMPLATE.md"


def place_of(path):
    """The location of a repository file in the site's pages folder. MkDocs skips hidden folders."""
    relative = path.relative_to(ROOT).as_posix().replace(".github/", "github/", 1)
    return pathlib.PurePosixPath(relative.lstrip("."))


class Pages:
    def __init__(self, docs):
        self.docs = docs
        self.shown = {}

    def write(self, place, text):
        path = self.docs / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def link(self, page, target):
        """The target in the site: for source files and folders, the pages that show them."""
        if re.match(r"[a-z]+:|#", target):
            return target
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve()
        if not path.exists() or not path.is_relative_to(ROOT):
            raise SystemExit(f"{page}: a link to {target}, which is not there")
        place = place_of(path)
        if path.is_dir() and (path / "README.md").exists():
            place = place / "README.md"
        elif path.suffix not in (".md", ".svg", ".png"):
            place = pathlib.PurePosixPath(f"files/{place}.md")
            self.shown[place] = path
        elif path.suffix != ".md":
            (self.docs / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self.docs / place)
        up = "../" * (len(place_of(page).parts) - 1)
        return f"{up}{place}" + (f"#{anchor}" if anchor else "")

    def convert(self, page):
        """A page in MkDocs Markdown: fences without marks, a blank line before a list."""
        lines, fenced = [], False
        for line in page.read_text(encoding="utf-8").splitlines():
            fence = FENCE.match(line)
            if line.strip().startswith("```"):
                fenced = not fenced
                line = fence[1] + fence[2] if fence else line
            elif not fenced:
                line = re.sub(LINK, lambda m: m[1] + self.link(page, m[2]) + m[3], line)
                before = lines[-1] if lines else ""
                starts = re.match(r"(-|\d+\.) ", line) and before.strip() and not re.match(r"(-|\d+\.) |\s", before)
                starts = starts or line.startswith("|") and before.strip() and not before.startswith(("|", "<!--"))
                lines += [""] if starts or before.startswith("<!--") and line.strip() else []
                # Python-Markdown nests by four spaces, GitHub by two.
                line = re.sub(r"^( {2,3})(?=- )", "    ", line)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def show_files(self):
        for place, path in self.shown.items():
            name = path.relative_to(ROOT).as_posix()
            if path.is_dir():
                names = sorted(child.name for child in path.iterdir())
                self.write(place, f"# {name}\n\n" + "\n".join(f"- `{child}`" for child in names) + "\n")
            else:
                text = path.read_text(encoding="utf-8")
                self.write(place, f"# {name}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n````\n")


def entries(indent, places):
    return "\n".join(f"{' ' * indent}- {json.dumps(title)}: {place}" for title, place in places)


def title_of(page):
    return re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)[1].replace("`", "")


def navigation(lists):
    """mkdocs.yml with each GENERATED replaced by its list of pages."""
    notes = [(page.parent.name, place_of(page)) for page in sorted(ROOT.glob("tools/experiments/*/NOTES.md"))]
    recipes = [(title_of(page), place_of(page)) for page in sorted(ROOT.glob("tools/docs/recipes/*.md"))]
    gallery = [("Gallery", "tools/docs/gallery/README.md")]
    folder = ROOT / "tools/docs/gallery"
    order = re.findall(r"^\| \[[^\]]*\]\((\w+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    gallery += [(title_of(folder / name), place_of(folder / name)) for name in order]
    lists = {**lists, "Notes": notes, "Recipes": recipes, "Gallery": gallery}
    text = (HERE / "mkdocs.yml").read_text(encoding="utf-8").replace("ROOT", ROOT.as_posix())
    return re.sub(r"^( +)- ([\w+ ]+): GENERATED$", lambda m: f"{m[1]}- {m[2]}:\n{entries(len(m[1]) + 4, lists[m[2]])}",
                  text, flags=re.MULTILINE)


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    pages = Pages(folder / "docs")
    for page in sorted(filter(is_page, ROOT.rglob("*.md"))):
        pages.write(place_of(page), pages.convert(page))
    pages.show_files()

    def ask(*words):
        wide = {**os.environ, "COLUMNS": "1000"}  # one equation per line
        return subprocess.run([tool, *words], check=True, capture_output=True, text=True, env=wide).stdout

    lists = {}
    for group, found in (("Experiments", reference.experiment_pages(json.loads(ask("schema")))), ("C++", headers.cpp_pages(ROOT))):
        for name, title, text in found:
            lists.setdefault(group, []).append((title, f"reference/{name}.md"))
            pages.write(f"reference/{name}.md", text)
    pages.write("reference/commands.md", reference.commands_page(ask))
    pages.write("reference/cells.md", reference.cells_page(ask, (ROOT / "CITATION.cff").read_text(encoding="utf-8")))
    pages.write("reference/python.md", reference.python_page(ROOT / "tools/python/lagtape/__init__.py"))
    pages.write("reference/c.md", headers.c_page(ROOT / "tools/c/c_api.h"))
    (folder / "docs/assets").mkdir()
    for name in ("iframe-worker.js", "site.css"):
        shutil.copy(HERE / name, folder / "docs/assets")
    (folder / "mkdocs.yml").write_text(navigation(lists), encoding="utf-8")


if __name__ == "__main__":
    main()
