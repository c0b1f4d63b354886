"""Converts equations in NumPy notation to MathML, which browsers display without scripts or fonts."""

import ast
import html
import re

GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "tau": "τ", "eta": "η", "theta": "θ",
         "Lambda": "Λ", "sigma": "σ", "lambda_": "λ"}
SIGNS = {ast.Add: "+", ast.Sub: "−", ast.Mult: "⋅", ast.MatMult: "", ast.Mod: "mod"}
RANKS = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.MatMult: 2, ast.Div: 2, ast.Pow: 4}
PRIME = "__prime"


def name_of(text):
    """A name, with digits and text after an underscore as a subscript, and a prime as a superscript."""
    text, primed = (text[:-len(PRIME)], True) if text.endswith(PRIME) else (text, False)
    match = re.fullmatch(r"([A-Za-z]+)_(\w+)|([A-Za-z]+?)(\d+)|([A-Z])([a-z])", text)  # W_i, dt1, Wz
    base, below = [part for part in match.groups() if part] if match else (text, "")
    base = GREEK.get(base, base)
    plain = "" if len(base) == 1 else ' mathvariant="normal"'
    sign = f"<mi{plain}>{html.escape(base)}</mi>"
    if below:
        sign = f"<msub>{sign}<mtext>{html.escape(below)}</mtext></msub>"
    return f"<msup>{sign}<mo>′</mo></msup>" if primed else sign


def fenced(inner):
    return f'<mrow><mo stretchy="false">(</mo>{inner}<mo stretchy="false">)</mo></mrow>'


def binary(node, rank):
    kind = type(node.op)
    if kind not in RANKS:
        raise ValueError("an operator without a sign")
    own = RANKS[kind]
    if kind is ast.Div:
        return f"<mfrac><mrow>{of(node.left, 0)}</mrow><mrow>{of(node.right, 0)}</mrow></mfrac>"
    if kind is ast.Pow:
        return f"<msup><mrow>{of(node.left, 4)}</mrow><mrow>{of(node.right, 0)}</mrow></msup>"
    sign = SIGNS[kind]
    # A sum on the right of a minus keeps its brackets.
    inner = of(node.left, own) + (f"<mo>{sign}</mo>" if sign else "<mspace width='0.17em'/>") + of(node.right, own + 1)
    return fenced(inner) if own < rank else inner


def call(node):
    name = node.func.id
    inner = "<mo>,</mo>".join(of(argument, 0) for argument in node.args)
    if name == "sqrt":
        return f"<msqrt>{inner}</msqrt>"
    if name == "abs":
        return f"<mrow><mo>|</mo>{inner}<mo>|</mo></mrow>"
    if name == "floor":
        return f"<mrow><mo>⌊</mo>{inner}<mo>⌋</mo></mrow>"
    sign = "<mi>σ</mi>" if name == "sigmoid" else f'<mi mathvariant="normal">{name}</mi>'
    return sign + fenced(inner)


def of(node, rank):
    if isinstance(node, ast.BinOp):
        return binary(node, rank)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = "<mo>−</mo>" + of(node.operand, 2)
        return fenced(inner) if rank > 1 else inner
    if isinstance(node, ast.Name):
        return name_of(node.id)
    if isinstance(node, ast.Constant):
        return "<mi>i</mi>" if node.value == 1j else f"<mn>{node.value}</mn>"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return call(node)
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return f"<msup>{of(node.value, 4)}<mi>⊤</mi></msup>"
    if isinstance(node, ast.Attribute) and node.attr == "bias":
        return f"<msub><mi>b</mi>{of(node.value, 4)}</msub>"
    if isinstance(node, ast.Subscript):  # h[-tau]: the state tau steps earlier
        base = of(node.value, 4)
        return f"<msub>{base}<mrow>{of(node.slice, 0)}</mrow></msub>"
    raise ValueError(f"{type(node).__name__} has no sign")


def mathml(line):
    """The MathML of a line `name = expression`, or None for a sentence."""
    text = re.sub(r"(\w)'", rf"\1{PRIME}", line.strip())
    try:
        statement, = ast.parse(text).body
        if not isinstance(statement, ast.Assign):
            return None
        left, right = of(statement.targets[0], 0), of(statement.value, 0)
    except (SyntaxError, ValueError, AttributeError):
        return None
    return f'<math display="block"><mrow>{left}<mo>=</mo>{right}</mrow></math>'
