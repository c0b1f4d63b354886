"""How long files and functions may be."""

import re

MOST_FILE_LINES = 400
MOST_FUNCTION_LINES = 60

# Comments, texts, characters and directives, in which braces do not count.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
    re.DOTALL | re.MULTILINE,
)
TYPE = re.compile(r"(extern|namespace|class|struct|union|enum)\b[^()]*$")


def without_parentheses(text):
    while (inner := re.sub(r"\([^()]*\)", "()", text)) != text and "(" in re.sub(r"\(\)", "", inner):
        text = inner
    return re.sub(r"\([^()]*\)", "", text)


def opens_function(head):
    """Whether a brace after this text, outside of functions, is that of a function."""
    head = re.sub(r"^template\s*<[^{}]*?>\s*(?=[\w:~\[])", "", head.strip(), flags=re.DOTALL)
    return "(" in head and not TYPE.match(head) and "=" not in re.sub(r"operator\s*[=!<>]*=", "", without_parentheses(head))


def functions(text):
    """(line, lines of code, first words) of every function; blank lines, comments and directives do not count."""
    code = NO_CODE.sub(lambda m: "\n" * m[0].count("\n"), text)
    found, open_braces, begin, inside = [], [], 0, False
    for at, character in enumerate(code):
        if character == "{":
            head = code[begin:at]
            is_function = not inside and opens_function(head)
            open_braces.append(at - len(head.lstrip()) if is_function else None)
            inside = inside or is_function
        elif character == "}" and open_braces:
            start = open_braces.pop()
            if start is not None:
                inside = False
                if re.match(r"\s*[{,]", code[at + 1 : at + 80]):  # a member of the constructor's list: b_{2}
                    begin = start
                    continue
                body = code[start : at + 1]
                lines = sum(1 for line in body.splitlines() if line.strip())
                found.append((code.count("\n", 0, start) + 1, lines, " ".join(body.split("{")[0].split())[:70]))
        if character in "{};":
            begin = at + 1
    return found


def check_sizes(root, houses):
    breaches = []
    for house in houses:
        for path in sorted((root / house).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".py"):
                continue
            place = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            if text.count("\n") > MOST_FILE_LINES:
                breaches.append(f"{place}:1: {text.count(chr(10))} lines, {MOST_FILE_LINES} at most")
            if path.suffix != ".py":
                breaches += [
                    f"{place}:{line}: {lines} lines of code in one function, {MOST_FUNCTION_LINES} at most: {words}"
                    for line, lines, words in functions(text)
                    if lines > MOST_FUNCTION_LINES
                ]
    return breaches
