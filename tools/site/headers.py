"""The C++ and C reference, from the comments and declarations in the public headers."""

import re

DECLARED = re.compile(r"\b(?:struct|class|enum class|enum|concept|using|union)\s+(?:\w+\(.*?\)\s+)?(\w+)")
CALLED = re.compile(r"(operator[^\s(]+|~?\w+)\s*\(")
VALUE = re.compile(r"(\w+)\s*(?:=|;|\{|\[)")


def declaration_name(code):
    """The kind of a declaration: a type, a function or a constant."""
    code = re.sub(r"template\s*<[^;{]*?>\s*\n?", "", re.sub(r"//.*|/\*.*?\*/", "", code, flags=re.DOTALL if "/*" in code else 0))
    first = code.strip().split("\n")[0]
    match = DECLARED.match(first) or CALLED.search(code) or VALUE.search(first)
    return match[1] if match else None


def without_private(code):
    """A class as users see it, at one level: without anything after `private:`."""
    lines, hidden = [], False
    for line in code.split("\n"):
        if re.match(r" ?(private|protected):", line):
            hidden = True
        elif re.match(r" ?public:|\}", line):
            hidden = False
        if not hidden:
            lines.append(line)
    return re.sub(r"\n\n+(\};)", r"\n\1", "\n".join(lines))


def prose(comment):
    """Lines of a comment as Markdown: indented lines are verbatim."""
    out, code = [], []
    for line in [*comment, ""]:
        if line.startswith("    ") or (code and not line):
            code.append(line)
            continue
        if code:
            out += ["", "```text", *(each[2:] for each in code if each or each is not code[-1]), "```", ""]
            code = []
        out.append(line.strip().replace("<", "&lt;") if "`" not in line else line.strip())
    if code:
        out += ["", "```text", *(each for each in code), "```", ""]
    return "\n".join(out).strip()


def blocks(body):
    """(comment, code) for each declaration at the top level of a namespace, in order."""
    comment, code, depth = [], [], 0
    for line in [*body.split("\n"), ""]:
        stripped = line.strip()
        if depth == 0 and not code and stripped.startswith("///"):
            comment.append(stripped[3:].removeprefix(" "))
        elif depth == 0 and not stripped:
            if code:
                yield comment, "\n".join(code)
            comment, code = [], []
        else:
            code.append(line)
            depth += line.count("{") - line.count("}")


def header_section(name, text):
    inside = re.search(r"namespace lagtape \{\n(.*)\n\}  // namespace lagtape", text, re.DOTALL)
    lines = [f"## `{name}`", ""]
    for comment, code in blocks(inside[1] if inside else ""):
        name = declaration_name(code)
        # Forward declarations and what templates need are not part of the reference.
        if name is None or re.fullmatch(r"(?:(?:class|struct) \w+;\n?)+", code.strip()) or "namespace detail" in code:
            continue
        lines += [f"### {name}", "", prose(comment), "", "```cpp", without_private(code).strip("\n"), "```", ""]
    return lines if len(lines) > 2 else []


def headers_of(root, names):
    """The headers with these names; the header of all cells also adds each cell's own."""
    for name in names:
        text = (root / name).read_text(encoding="utf-8")
        yield name, text
        if name == "cells/cells.h":
            yield from headers_of(root, [each for each in included(text) if "/build/" not in each])


def included(text):
    return re.findall(r'#include "lagtape/(.+)"', text)


def cpp_pages(root):
    """(name, title, text) for each part of lagtape.h."""
    parts = re.split(r"^// ---- (.+?) ----$", (root / "tools/lagtape.h").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for number, (title, includes) in enumerate(zip(parts[1::2], parts[2::2]), start=1):
        title = re.sub(r"[:,] .*", "", title)
        lines = [f"# C++: {title}", "", "`#include <lagtape/lagtape.h>`; everything is in the namespace `lagtape`.", ""]
        for name, text in headers_of(root, included(includes)):
            lines += header_section(name, text)
        yield f"cpp_{number}", title, "\n".join(lines) + "\n"


def c_page(header):
    """The C header: each comment as text above its declaration."""
    text = header.read_text(encoding="utf-8")
    head, body = re.search(r"/\*(.*?)\*/(.*)", text, re.DOTALL).groups()
    unstarred = re.sub(r"^ ?\* ?", "", head, flags=re.MULTILINE).strip()
    lines = ["# C", "", unstarred, ""]
    body = re.search(r'extern "C" \{\n#endif\n(.*?)\n#ifdef __cplusplus', body, re.DOTALL)[1]
    for block in re.split(r"\n\n+", body.strip()):
        match = re.match(r"/\*(.*?)\*/\n(.*)", block, re.DOTALL)
        comment, code = match.groups() if match else ("", block)
        name = declaration_name(re.sub(r"typedef |LAGTAPE_API ", "", code))
        comment = re.sub(r"\n \* ?", "\n", comment).strip()
        lines += [f"## {name}" if name else "", "", comment, "", "```c", code.strip(), "```", ""]
    return "\n".join(lines) + "\n"
