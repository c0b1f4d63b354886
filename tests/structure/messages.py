"""No code reads a message: an error carries problems (core/problem.h), and their text is for people.

Messages are passed on whole. In C++ these are what(), to_string and message_of of a problem, its statement and its hint; in
Python an exception's text, its args, and the message and the hint of a problem. None of them may be searched, compared,
split or rewritten, nor a variable that holds one, as any does that is called message."""

import ast
import re

HOUSES = ("core", "ops", "cells", "optim", "data", "tools")
# The text of a problem is made in the first; the second turns errors of the JSON library, which have texts alone, into
# problems.
EXEMPT = ("core/problem.cpp", "core/json/json_parse.cpp")

MESSAGE = r"(?:\w+(?:\.|->)what\(\)|\b(?:to_string|message_of)\(\w*[Pp]roblems?\w*\)|\bproblems?\b[\w().\[\]>-]*(?:\.|->)(?:statement|hint)\b)"
METHODS = r"(?:find|rfind|find_\w+|starts_with|ends_with|contains|substr|compare|replace|erase|remove_prefix|remove_suffix)"
WRAPPED = rf"(?:std::string(?:_view)?\s*[({{]\s*)?{MESSAGE}(?:\s*[)}}])?"
READ = re.compile(rf"{WRAPPED}\s*\.\s*{METHODS}\b|{WRAPPED}\s*[=!]=|[=!]=\s*{WRAPPED}|\b(?:strcmp|strncmp|strstr|regex_\w+)\s*\(\s*[^;]*{MESSAGE}")
HELD = re.compile(rf"\b(\w+)\s*(?:=|\(|{{)\s*{WRAPPED}\s*[;)}}]")

PYTHON_READS = {"find", "rfind", "index", "startswith", "endswith", "split", "rsplit", "splitlines", "partition", "rpartition",
                "replace", "count", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix",
                "search", "match", "fullmatch", "findall", "finditer", "sub"}


def cpp_breaches(text):
    """Numbers of lines that read a message."""
    held = {match[1] for match in HELD.finditer(text)} - {"return", "text_of", "report", "if", "throw"} | {"message"}
    found = {text.count("\n", 0, match.start()) + 1 for match in READ.finditer(text)}
    for name in held:
        for match in re.finditer(rf"\b{name}\s*\.\s*{METHODS}\b|\b{name}\s*[=!]=|[=!]=\s*{name}\b", text):
            found.add(text.count("\n", 0, match.start()) + 1)
    return sorted(found)


class PythonMessages(ast.NodeVisitor):
    """Collects the lines that read a message."""

    def __init__(self):
        self.errors, self.held, self.found = set(), set(), set()

    def visit_ExceptHandler(self, node):
        if node.name:
            self.errors.add(node.name)
        self.generic_visit(node)

    def visit_Assign(self, node):
        if self.is_message(node.value):
            self.held |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        self.generic_visit(node)

    def is_message(self, node):
        if isinstance(node, ast.Name):
            return node.id in self.held or node.id == "message"
        if isinstance(node, ast.Attribute):
            return node.attr in ("message", "hint", "args") and not isinstance(node.value, ast.Call)
        if isinstance(node, ast.JoinedStr):
            return any(isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name) and part.value.id in self.errors
                       for part in node.values)
        is_text = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr")
        return is_text and bool(node.args) and isinstance(node.args[0], ast.Name) and (
            node.args[0].id in self.errors or "error" in node.args[0].id)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and node.func.attr in PYTHON_READS:
            if any(self.is_message(part) for part in [node.func.value, *node.args]):
                self.found.add(node.lineno)
        self.generic_visit(node)

    def visit_Compare(self, node):
        if any(self.is_message(part) for part in [node.left, *node.comparators]):
            self.found.add(node.lineno)
        self.generic_visit(node)


def python_breaches(text):
    visitor = PythonMessages()
    visitor.visit(ast.parse(text))
    return sorted(visitor.found)


def check_messages(root):
    breaches = []
    for house in HOUSES:
        for path in sorted((root / house).rglob("*")):
            place = path.relative_to(root).as_posix()
            if path.suffix not in (".h", ".cpp", ".py") or place in EXEMPT or (path.suffix == ".py") != place.startswith("tools/python/lagtape/"):
                continue
            find = python_breaches if path.suffix == ".py" else cpp_breaches
            breaches += [f"{place}:{line}: no code reads a message; a problem's fields say what is wrong"
                         for line in find(path.read_text(encoding="utf-8"))]
    return breaches
