"""Checks that the objects of a room define everything that its headers declare.

usage: declared.py CLANG NM INCLUDE OBJECTS

OBJECTS is a file with a line "ROOM OBJECT;OBJECT;..." for each room. Prints one line for each function and variable that a
header of a room declares and none of its objects defines, and exits with 1 when there is any, with 77 where CLANG is not found.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl", "CXXConversionDecl"}
SCOPES = {"NamespaceDecl", "CXXRecordDecl", "LinkageSpecDecl", "FriendDecl", "ClassTemplateDecl", "FunctionTemplateDecl"}


class Declarations:
    """Walks clang's tree of declarations, in which a place names its file only where that is another than the place before."""

    def __init__(self):
        self.file, self.in_class = "", False
        self.declared, self.defined = {}, set()  # of a key its file; keys

    def see_places(self, node):
        for key, value in node.items():
            if key == "file" and isinstance(value, str):
                self.file = value
            elif key in ("loc", "range", "begin", "end", "spellingLoc", "expansionLoc") and isinstance(value, dict):
                self.see_places(value)

    def skip(self, node):
        self.see_places(node)
        for child in node.get("inner", ()):
            self.skip(child)

    def walk(self, node, scope, in_template):
        self.see_places({"loc": node.get("loc", {})})
        file = self.file
        self.see_places({"range": node.get("range", {})})
        kind, name = node.get("kind"), node.get("name", "")
        if kind in FUNCTIONS or kind == "VarDecl":
            self.note(node, kind, scope + [name], file, in_template)
        elif kind == "FunctionTemplateDecl" and self.in_class:
            pass  # a member's template is a matter of the sources that use it
        elif kind in SCOPES:
            outside, self.in_class = self.in_class, self.in_class or kind == "CXXRecordDecl"
            inner = scope + [name] if kind in ("NamespaceDecl", "CXXRecordDecl") else scope
            for i, child in enumerate(node.get("inner", ())):
                # Behind a template's own declaration clang lists the types that it was made for.
                is_instance = kind.endswith("TemplateDecl") and i > 0 and any(
                    c.get("kind") in SCOPES | FUNCTIONS for c in node["inner"][:i])
                self.skip(child) if is_instance else self.walk(child, inner, in_template or kind.endswith("TemplateDecl"))
            self.in_class = outside
            return
        for child in node.get("inner", ()):
            self.skip(child)

    def note(self, node, kind, names, file, in_template):
        if node.get("isImplicit") or node.get("explicitlyDeleted") or node.get("explicitlyDefaulted") or node.get("pure"):
            return
        key = re.sub("<.*>", "", "::".join(names)) if in_template else node.get("mangledName")
        if kind == "VarDecl":
            has_body = node.get("storageClass") not in ("extern", "static") or "init" in node or node.get("inline") or node.get("constexpr")
        else:
            has_body = any(child.get("kind") == "CompoundStmt" or child.get("kind") == "CXXTryStmt" for child in node.get("inner", ()))
        if has_body:
            self.defined.add(key)
        elif key:
            self.declared.setdefault(key, (file, "::".join(names), in_template))


def declarations(clang, headers, include):
    """{symbol, or the name of a template: (file, name, whether it is of a template)} of what headers declare and do not define."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "headers.cpp")
        source.write_text("".join(f"#include <lagtape/{header}>\n" for header in headers))
        done = subprocess.run([clang, "-std=c++20", "-fsyntax-only", "-w", f"-I{include}", "-Xclang", "-ast-dump=json",
                               "-Xclang", "-ast-dump-filter=lagtape", source], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    decoder, found, at = json.JSONDecoder(), Declarations(), 0
    while (at := done.stdout.find("{", at)) >= 0:
        node, at = decoder.raw_decode(done.stdout, at)
        if node.get("kind") == "NamespaceDecl" and node.get("name") == "lagtape":
            found.walk(node, [], False)
        else:
            found.skip(node)
    return {key: value for key, value in found.declared.items() if key not in found.defined}


def headers_of(include, rooms):
    """The headers of rooms, except for those that sources include several times with other macros."""
    return [path.relative_to(include).as_posix() for room in rooms for path in sorted((include / room).glob("*.h"))
            if not path.name.endswith(".inc.h")]


def room_of(file):
    """.../include/lagtape/core/io/npy.h -> core/io"""
    return file.rsplit("lagtape/", 1)[1].rsplit("/", 1)[0] if "lagtape/" in file else ""


def defined_in(nm, objects):
    """The symbols that objects define, and the names of the functions among them without their arguments."""
    lines = subprocess.run([nm, "--defined-only", *objects], capture_output=True, text=True, check=True).stdout.splitlines()
    symbols = {line.split()[-1] for line in lines if len(line.split()) == 3}
    demangled = subprocess.run([nm, "--defined-only", "--demangle", *objects], capture_output=True, text=True, check=True).stdout
    return symbols, without_arguments(demangled)


def without_arguments(text):
    """The qualified names in a text of demangled symbols, without the arguments of templates and functions."""
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", text)) != text:
        text = shorter
    return set(re.findall(r"[\w:~]+=?", text))


def check_rooms(clang, nm, include, objects):
    rooms = dict(line.split(" ", 1) for line in pathlib.Path(objects).read_text().splitlines())
    declared = declarations(clang, headers_of(include / "lagtape", rooms), include)
    breaches, seen = [], 0
    for room, files in rooms.items():
        # CMake counts a precompiled header among the objects, and nm cannot read one.
        symbols, names = defined_in(nm, [file for file in files.split(";") if not file.endswith((".gch", ".pch"))])
        for key, (file, name, of_template) in declared.items():
            if room_of(file) == room:
                seen += 1
                if key not in (names if of_template else symbols):
                    breaches.append(f"{file.rsplit('lagtape/', 1)[1]}: {name} is declared, and no source of {room} defines it")
    return breaches, seen


def symbols(clang, include, rooms):
    """The declarations of the rooms' installed headers, except for templates."""
    found = declarations(clang, headers_of(include / "lagtape", rooms), include)
    return sorted(key for key, (file, _, of_template) in found.items() if not of_template and room_of(file) in rooms)


def program(names):
    """A program that has the addresses of all symbols, so that it is linked where all of them are defined."""
    lines = [f'extern "C" char symbol_{i} __asm__("{name}");' for i, name in enumerate(names)]
    addresses = ", ".join(f"&symbol_{i}" for i in range(len(names)))
    return "\n".join([*lines, f"char* const volatile all[] = {{{addresses}}};",
                      "int main() { return all[0] == nullptr; }", ""])


def main():
    clang, nm, include, objects = sys.argv[1:]
    if shutil.which(clang) is None:
        print(f"not run: {clang}, which reads the headers, is not found (Debian: clang)")
        return SKIPPED
    breaches, seen = check_rooms(clang, nm, pathlib.Path(include), objects)
    print("\n".join(breaches) or f"{seen} functions and variables are defined in the rooms that declare them")
    return 1 if breaches or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
