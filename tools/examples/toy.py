"""A toy version of the engine, in NumPy: it records a step once, derives its adjoint program, moves the product of a delayed
state out of the time loop, and replays the rest over time. Terms are those of ops/recurrence; tests/python/toy_test.py
compares values and gradients with the engine's. It supports one sequence, one state, one lag and no biases."""

from typing import Dict, List, NamedTuple

import numpy as np

RUN = 16  # steps per run: input products and weight gradients are computed one run at a time


class Op(NamedTuple):
    """An operation in a step program, on values given by number."""

    kind: str
    a: int = -1
    b: int = -1
    weight: str = ""


# A value is a vector, or a matrix with a row per step, for which a product is one large product.
RULES = {
    "product": lambda W, a, b: a @ W.T,
    "transposed": lambda W, a, b: a @ W,
    "add": lambda W, a, b: a + b,
    "subtract": lambda W, a, b: a - b,
    "multiply": lambda W, a, b: a * b,
    "negate": lambda W, a, b: -a,
    "tanh": lambda W, a, b: np.tanh(a),
    "tanh_adjoint": lambda W, a, b: a * (1 - b * b),
}


class Value:
    """A value in the step being recorded."""

    def __init__(self, tape: "StepTape", number: int):
        self.tape, self.number = tape, number

    def __add__(self, other: "Value") -> "Value":
        return self.tape.record("add", self, other)

    def __sub__(self, other: "Value") -> "Value":
        return self.tape.record("subtract", self, other)

    def __mul__(self, other: "Value") -> "Value":
        return self.tape.record("multiply", self, other)


class StepTape:
    """Records one step as a straight-line program."""

    def __init__(self, lag: int):
        self.ops: List[Op] = []
        self.lag = lag
        self.x, self.h, self.past = (self.record(kind) for kind in ("input", "state", "lag"))

    def record(self, kind: str, a=None, b=None, weight: str = "") -> Value:
        self.ops.append(Op(kind, *(-1 if v is None else v.number for v in (a, b)), weight))
        return Value(self, len(self.ops) - 1)

    def product(self, weight: str, v: Value) -> Value:
        return self.record("product", v, weight=weight)

    def vector(self, weight: str) -> Value:
        return self.record("weight", weight=weight)

    def tanh(self, v: Value) -> Value:
        return self.record("tanh", v)


def delay_cell(lag: int) -> StepTape:
    """h' = h + r * (tanh(W @ h + V @ h[-lag] + U @ x) - h)"""
    s = StepTape(lag)
    u = s.tanh(s.product("W", s.h) + s.product("V", s.past) + s.product("U", s.x))
    s.next = s.h + s.vector("r") * (u - s.h)
    return s


def adjoint_program(step: StepTape):
    """Reverse mode over the recorded step. Returns the tape with the adjoint's operations after the step's, and each
    value's adjoint by number. The adjoint of h' is an input, like x."""
    tape = StepTape(step.lag)
    tape.ops = list(step.ops)
    adjoints = {step.next.number: tape.record("adjoint")}

    def to(operand: int, value: Value) -> None:
        adjoints[operand] = adjoints[operand] + value if operand in adjoints else value

    for number in reversed(range(len(step.ops))):
        op, d = step.ops[number], adjoints.get(number)
        a, b, y = (Value(tape, v) for v in (op.a, op.b, number))
        if op.kind == "product":
            to(op.a, tape.record("transposed", d, weight=op.weight))
        elif op.kind == "multiply":
            to(op.a, d * b)
            to(op.b, d * a)
        elif op.kind in ("add", "subtract"):
            to(op.a, d)
            to(op.b, d if op.kind == "add" else tape.record("negate", d))
        elif op.kind == "tanh":
            to(op.a, tape.record("tanh_adjoint", d, y))
    return tape, {number: d.number for number, d in adjoints.items()}


class Layer:
    """A step with its schedule, which runs over time."""

    def __init__(self, step: StepTape):
        self.step, self.lag = step, step.lag
        self.tape, self.adjoints = adjoint_program(step)
        x, past = step.x.number, step.past.number
        self.products = [n for n, op in enumerate(step.ops) if op.kind == "product"]
        # Hoisting: products with the input are computed once per run, and with the delayed state once per delay block;
        # likewise for the products that give their adjoints. All other operations are replayed at every step.
        self.time_parallel = [n for n in self.products if step.ops[n].a == x]
        self.delay_parallel = [n for n in self.products if step.ops[n].a == past]
        late = {self.adjoints[x], self.adjoints[past]}
        assert all(self.tape.ops[n].kind == "transposed" for n in late), "x and h[-lag] are read by one product each"
        self.forward_ops = [n for n in range(len(step.ops)) if n not in self.time_parallel + self.delay_parallel]
        self.backward_ops = [n for n in range(len(step.ops), len(self.tape.ops)) if n not in late]

    def blocks(self, steps: int, first: int = 0):
        """(first, last + 1) of the delay blocks in each run: from any step, h[n - lag] is known for lag + 1 steps."""
        runs = [(run, min(run + RUN, steps)) for run in range(0, steps, RUN)]
        return [(run, [(n, min(n + self.lag + 1, run[1])) for n in range(*run, self.lag + 1)]) for run in runs]

    def replay(self, ops: List[int], values: Dict[int, np.ndarray], weights) -> None:
        for number in ops:
            op = self.tape.ops[number]
            if op.kind == "weight":
                values[number] = weights[op.weight]
            elif op.kind in RULES:
                values[number] = RULES[op.kind](weights.get(op.weight), values.get(op.a), values.get(op.b))

    def forward(self, weights, x, window):
        """The states h[-lag] .. h[T] and each step's values. `window`: h[-lag] .. h[0]; x: [T, input]."""
        h = np.concatenate([window, np.zeros((len(x), window.shape[1]))])
        saved: List[Dict[int, np.ndarray]] = []
        for (first, end), blocks in self.blocks(len(x)):
            in_run, in_block = {self.step.x.number: x[first:end]}, {}
            self.replay(self.time_parallel, in_run, weights)
            for begin, stop in blocks:
                in_block[self.step.past.number] = h[begin:stop]  # h[n - lag] is row n
                self.replay(self.delay_parallel, in_block, weights)
                for n in range(begin, stop):
                    values = {number: rows[n - first] for number, rows in in_run.items()}
                    values.update({number: rows[n - begin] for number, rows in in_block.items()})
                    values[self.step.h.number] = h[n + self.lag]
                    self.replay(self.forward_ops, values, weights)
                    h[n + self.lag + 1] = values[self.step.next.number]
                    saved.append(values)
        return h, saved

    def backward(self, weights, saved, dy):
        """The gradients of the weights, x and the window, from dL/dh' at each step [T, units]."""
        gradients = {name: np.zeros_like(w) for name, w in weights.items()}
        dh = np.concatenate([np.zeros((self.lag + 1, dy.shape[1])), dy])
        dx = np.zeros((len(dy), len(saved[0][self.step.x.number])))
        rows = lambda number, begin, stop: np.stack([saved[n][number] for n in range(begin, stop)])
        for (first, end), blocks in reversed(self.blocks(len(dy))):
            for begin, stop in reversed(blocks):
                for n in reversed(range(begin, stop)):
                    saved[n][self.adjoints[self.step.next.number]] = dh[n + self.lag + 1]
                    self.replay(self.backward_ops, saved[n], weights)
                    dh[n + self.lag] += saved[n][self.adjoints[self.step.h.number]]
                for number in self.delay_parallel:
                    dh[begin:stop] += rows(self.adjoints[number], begin, stop) @ weights[self.step.ops[number].weight]
            for number, op in enumerate(self.step.ops):
                if op.kind == "weight":
                    gradients[op.weight] += rows(self.adjoints[number], first, end).sum(axis=0)
                elif op.kind == "product":  # one large product sums the deltas of a run
                    gradients[op.weight] += rows(self.adjoints[number], first, end).T @ rows(op.a, first, end)
            for number in self.time_parallel:
                dx[first:end] += rows(self.adjoints[number], first, end) @ weights[self.step.ops[number].weight]
        return gradients, dx, dh[: self.lag + 1]
