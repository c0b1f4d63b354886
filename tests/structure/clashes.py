"""Functions that another source of their folder could call by mistake. The sources of a folder are compiled as one, so an
unnamed namespace hides nothing from the others, and a function in it can silently take the place of a declared one."""

import re

import rooms
import sizes

UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.DOTALL | re.MULTILINE)
# Sources that are compiled by themselves, one for each set of vector instructions.
ALONE = tuple(f"ops/kernels/{level}.cpp" for level in ("generic", "avx2", "avx512", "avx512_bf16", "avx512_vnni", "neon"))
# A free function: it begins a line, and has a type before its name.
FUNCTION = r"^(?!using|return|namespace|struct|class|enum|extern)(?:template <[^\n]*>\n)?[\w:][^\n;{}()=]*[&*\s](\w+)\(([^;{}]*?)\)[^;{}()]*"
DEFINED = re.compile(FUNCTION + r"\{", re.MULTILINE)
DECLARED = re.compile(FUNCTION + r"[;{]", re.MULTILINE)


def parameter_types(parameters):
    """("const Json &value, int n = 3") -> ("const Json&", "int")"""
    types, depth, begin = [], 0, 0
    for at, character in enumerate(parameters + ","):
        depth += (character in "<({[") - (character in ">)}]")
        if character == "," and depth == 0:
            types.append(parameters[begin:at].split("=")[0].strip())
            begin = at + 1
    return tuple(re.sub(r"\s*([&*<>,])\s*", r"\1", re.sub(r"(?<=[\w&*>]) ?(?<=[ &*>])\w+$", "", t)).strip() for t in types if t)


def functions(pattern, text):
    code = sizes.NO_CODE.sub(lambda m: "\n" * m[0].count("\n"), text)
    return [(m[1], parameter_types(m[2]), code.count("\n", 0, m.start(1)) + 1) for m in pattern.finditer(code)]


def hidden_functions(text):
    """(name, types, line) of those that only their source should know."""
    found = []
    for region in UNNAMED.finditer(text):
        first = text.count("\n", 0, region.start(1))
        found += [(name, types, first + line) for name, types, line in functions(DEFINED, region[1])]
    return found


def namespace_of(text):
    found = re.search(r"^namespace ([\w:]+) \{", text, re.MULTILINE)
    return found[1] if found else ""


def declarations(root):
    """{(name, types): [(header, its namespace)]} of all free functions of headers."""
    found = {}
    for path in rooms.sources(root):
        if path.suffix == ".h":
            text = path.read_text(encoding="utf-8")
            for name, types, _ in functions(DECLARED, text):
                found.setdefault((name, types), []).append((path.relative_to(root).as_posix(), namespace_of(text)))
    return found


def check_clashes(root):
    declared, hidden, breaches = declarations(root), {}, []
    level = {folder: i for i, folder in enumerate(rooms.folder_order(root))}
    for path in rooms.sources(root):
        place, folder = path.relative_to(root).as_posix(), rooms.folder_of(path.relative_to(root).as_posix())
        if path.suffix != ".cpp" or place in ALONE:
            continue
        text = path.read_text(encoding="utf-8")
        space = namespace_of(text)
        for name, types, line in hidden_functions(text):
            below = [header for header, around in declared.get((name, types), []) if f"{space}::".startswith(f"{around}::")
                     and level.get(rooms.folder_of(header), 0) <= level.get(folder, len(level))]
            other = hidden.setdefault((folder, space, name, types), place)
            if below or other != place:
                breaches.append(f"{place}:{line}: {name}({', '.join(types)}) is also in {(below or [other])[0]}: "
                                "sources of a folder are compiled as one")
    return breaches
