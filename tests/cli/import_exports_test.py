"""lagtape import: modules of PyTorch as its two exporters write them, beside onnxruntime. Needs torch, onnx, onnxscript and
onnxruntime (2.13.0, 1.23.2, 0.7.2, 1.32.0), and is skipped without them.

The files stay in the folder that LAGTAPE_EXPORTS names, and are taken from there the next time."""

import contextlib
import io
import math
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

from tool import ToolTest, main, npy, npy_values, slow

try:
    import onnxruntime
    import torch
    from torch import nn
except ImportError:
    torch = None

WIDTH, UNITS, STEPS = 3, 6, 12

# Heads: what a module makes of the outputs [batch, time, units] and the last states [layers, batch, units].
HEADS = {
    "every step": lambda m, out, h: m.fc(out),
    "no head": lambda m, out, h: out,
    "last state": lambda m, out, h: m.fc(h[-1]),
    "last step": lambda m, out, h: m.fc(out[:, -1]),
    "last step of three axes": lambda m, out, h: m.fc(out[:, -1:, :]).squeeze(1),
    "first step": lambda m, out, h: m.fc(out[:, 0]),
    "mean": lambda m, out, h: m.fc(out.mean(1)),
    "mean, then two maps": lambda m, out, h: m.fc(torch.relu(m.wide(out.mean(dim=1)))),
    "largest": lambda m, out, h: m.fc(out.max(1).values),
    "largest by amax": lambda m, out, h: m.fc(out.amax(1)),
    "largest by pooling": lambda m, out, h: m.fc(nn.functional.adaptive_max_pool1d(out.transpose(1, 2), 1).squeeze(-1)),
    "mean by pooling": lambda m, out, h: m.fc(nn.functional.adaptive_avg_pool1d(out.transpose(1, 2), 1).squeeze(-1)),
    "sum": lambda m, out, h: m.fc(out.sum(1)),
    "both last states": lambda m, out, h: m.fc(torch.cat([h[-2], h[-1]], dim=1)),
    "states as one vector": lambda m, out, h: m.fc(h.permute(1, 0, 2).flatten(1)),
    "mean beside largest": lambda m, out, h: m.both(torch.cat([out.mean(1), out.amax(1)], 1)),
    "softmax": lambda m, out, h: torch.softmax(m.fc(h[-1]), dim=-1),
    "log softmax": lambda m, out, h: nn.functional.log_softmax(m.fc(out), dim=2),
    "sigmoid": lambda m, out, h: torch.sigmoid(m.fc(out[:, -1])),
    "two maps": lambda m, out, h: m.fc(torch.relu(m.wide(out))),
    "skip": lambda m, out, h: m.to_input(out) + m.x,
    "skip over the layer": lambda m, out, h: m.fc(out + m.wide_in(m.x)),
    "gate": lambda m, out, h: m.fc(out * torch.sigmoid(m.wide(out))),
    "layer norm": lambda m, out, h: m.fc(m.norm(out)),
    "batch norm": lambda m, out, h: m.fc(m.batch_norm(out.transpose(1, 2)).transpose(1, 2)),
    "batch norm of the last step": lambda m, out, h: m.fc(m.batch_norm(out[:, -1])),
    "convolution": lambda m, out, h: m.conv(out.transpose(1, 2)).transpose(1, 2),
    "flattened": lambda m, out, h: m.fc(out.reshape(-1, out.shape[-1])).view(out.shape[0], out.shape[1], -1),
    "leaky": lambda m, out, h: m.fc(nn.functional.leaky_relu(m.wide(out), 0.1)),
    "elu": lambda m, out, h: m.fc(nn.functional.elu(m.wide(out))),
    "gelu": lambda m, out, h: m.fc(nn.functional.gelu(m.wide(out))),
    "gelu by tanh": lambda m, out, h: m.fc(nn.functional.gelu(m.wide(out), approximate="tanh")),
    "silu": lambda m, out, h: m.fc(nn.functional.silu(m.wide(out))),
    "hard functions": lambda m, out, h: m.fc(nn.functional.hardtanh(m.wide(out)) + nn.functional.hardsigmoid(out)),
    "softplus and clamp": lambda m, out, h: nn.functional.softplus(m.fc(out)).clamp(0.2, 0.9),
    "scaled": lambda m, out, h: m.fc(out) * torch.tensor([2.0, 3.0]) + 0.5,
    "squeezed": lambda m, out, h: m.one(out).squeeze(-1),
    "squeezed last": lambda m, out, h: m.one(out[:, -1]).squeeze(-1),
}

# Heads on the last memory c of an LSTM, m.c [layers, batch, units], and further functions.
MEMORY_HEADS = {
    "memory": lambda m, out, h: m.fc(m.c[-1]),
    "state beside memory": lambda m, out, h: m.both(torch.cat([h[-1], m.c[-1]], 1)),
    "output times memory": lambda m, out, h: m.fc(out[:, -1] * torch.sigmoid(m.c[-1])),
}
FURTHER_HEADS = {
    "mean of layers": lambda m, out, h: m.fc(h.mean(0)),
    "first and last step": lambda m, out, h: m.both(torch.cat([out[:, 0], out[:, -1]], -1)),
    "last step without the mean": lambda m, out, h: m.fc(out[:, -1] - out.mean(1)),
    "mish": lambda m, out, h: m.fc(nn.functional.mish(m.wide(out))),
    "selu": lambda m, out, h: m.fc(nn.functional.selu(m.wide(out))),
    "hardswish": lambda m, out, h: m.fc(nn.functional.hardswish(m.wide(out))),
    "softsign": lambda m, out, h: m.fc(nn.functional.softsign(m.wide(out))),
    "shrinks": lambda m, out, h: m.fc(nn.functional.softshrink(m.wide(out), 0.1) + nn.functional.hardshrink(out, 0.1)),
    "glu": lambda m, out, h: nn.functional.glu(m.wide(out), -1),
    "normalized": lambda m, out, h: m.fc(nn.functional.normalize(out, dim=-1)),
    "norm": lambda m, out, h: m.fc(out) * out.norm(dim=-1, keepdim=True),
    "logsumexp": lambda m, out, h: m.fc(out) - torch.logsumexp(out, -1, keepdim=True),
    "powers": lambda m, out, h: m.fc(out) ** 3 + torch.rsqrt(m.fc(out).abs() + 1),
    "sine, tangent and others": lambda m, out, h: torch.sin(m.fc(out)) + torch.tan(m.fc(out)) * torch.atan(m.fc(out)),
    "where": lambda m, out, h: torch.where(m.fc(out) > 0, m.fc(out), torch.tensor(0.25)),
    "largest of numbers": lambda m, out, h: m.fc(out) - out.amax(-1, keepdim=True) + out.amin(-1, keepdim=True),
    "halves": lambda m, out, h: torch.cat(list(out.chunk(2, -1))[::-1], -1),
    "last input": lambda m, out, h: m.fc(out[:, -1]) + m.x[:, -1, :2],
}


def net(kind, head, layers=1, both=False, time_first=False, prepare=None, bias=True, first=False):
    """A module of a recurrence, `prepare` before it, and a head."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            width = {"embedding": 4, "convolution": 5, "map": 4}.get(prepare, WIDTH)
            self.rnn = getattr(nn, kind)(width, UNITS, layers, batch_first=not time_first, bidirectional=both, bias=bias)
            count = UNITS * (2 if both else 1)
            if head == "last state" and both:
                count = UNITS
            if head == "states as one vector":
                count = UNITS * layers * (2 if both else 1)
            self.fc = nn.Linear(count, 2)
            self.one = nn.Linear(count, 1)
            self.both = nn.Linear(2 * count, 2)
            self.wide = nn.Linear(count, count)
            self.wide_in = nn.Linear(WIDTH, count)
            self.to_input = nn.Linear(count, WIDTH)
            self.norm = nn.LayerNorm(count)
            self.batch_norm = nn.BatchNorm1d(count)
            for values in (self.batch_norm.running_mean, self.batch_norm.running_var, self.batch_norm.weight):
                nn.init.uniform_(values, 0.5, 1.5)
            self.conv = nn.Conv1d(count, 2, 1)
            self.before = nn.Conv1d(WIDTH, 5, 1)
            self.map = nn.Linear(WIDTH, 4)
            self.table = nn.Embedding(11, 4)
            self.register_buffer("mean", torch.tensor([0.5, -1.0, 2.0]))
            self.register_buffer("scale", torch.tensor([2.0, 0.5, 3.0]))
            if first:
                self.h0 = nn.Parameter(torch.randn(layers, 1, UNITS))

        def forward(self, x):
            self.x = x
            if prepare == "normalization":
                x = (x - self.mean) / self.scale
            if prepare == "convolution":
                x = torch.relu(self.before(x.transpose(1, 2))).transpose(1, 2)
            if prepare == "map":
                x = torch.tanh(self.map(x))
            if prepare == "embedding":
                x = self.table(x)
            start = self.h0.expand(-1, x.shape[0], -1).contiguous() if first else None
            out, h = self.rnn(x, start)
            if kind == "LSTM":
                h, self.c = h
            return (HEADS | MEMORY_HEADS | FURTHER_HEADS)[head](self, out, h)

    return Net()


def two_recurrences(head):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.below, self.above = nn.LSTM(WIDTH, UNITS, batch_first=True), nn.GRU(UNITS + WIDTH, 5, batch_first=True)
            self.other, self.fc = nn.GRU(WIDTH, 4, batch_first=True), nn.Linear(9, 2)
            self.norm = nn.LayerNorm(UNITS)

        def forward(self, x):
            y, _ = self.below(x)
            y, _ = self.above(torch.cat([torch.relu(self.norm(y)), x], -1))
            z, _ = self.other(x)
            y = self.fc(torch.cat([y, z], -1))
            return y if head == "every" else y[:, -1]

    return Net()


def residual_stack():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inside = nn.Linear(WIDTH, UNITS)
            self.layers = nn.ModuleList(nn.LSTM(UNITS, UNITS, batch_first=True) for _ in range(3))
            self.norms = nn.ModuleList(nn.LayerNorm(UNITS) for _ in range(3))
            self.fc = nn.Linear(UNITS, 2)

        def forward(self, x):
            x = self.inside(x)
            for layer, norm in zip(self.layers, self.norms):
                x = x + layer(norm(x))[0]
            return self.fc(x)

    return Net()


def loop(kind, head):
    """A cell of PyTorch, or equations by hand, in a loop over the steps."""

    class Loop(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.Module() if kind == "leaky" else getattr(nn, kind)(WIDTH, UNITS)
            self.of_input, self.of_state, self.fc = nn.Linear(WIDTH, UNITS), nn.Linear(UNITS, UNITS, bias=False), nn.Linear(UNITS, 2)
            self.rate, self.norm = nn.Parameter(torch.rand(UNITS)), nn.LayerNorm(UNITS)

        def forward(self, x):
            h = c = torch.zeros(x.shape[0], UNITS)
            outputs = []
            for t in range(STEPS):
                if kind == "LSTMCell":
                    h, c = self.cell(x[:, t], (h, c))
                elif kind == "leaky":
                    h = h + self.rate * (torch.tanh(self.norm(self.of_input(x[:, t]) + self.of_state(h))) - h)
                else:
                    h = self.cell(x[:, t], h)
                outputs.append(h)
            return self.fc(h) if head == "last" else self.fc(torch.stack(outputs, 1))

    return Loop()


def modules():
    """Names, modules, and whether the input is whole numbers."""
    kinds = ["LSTM", "GRU", "RNN"]
    for number, head in enumerate(HEADS):
        both = head in ("both last states", "mean", "last step", "every step")
        yield head, lambda head=head, number=number, both=both: net(kinds[number % 3], head, 1 + number % 3, both)
    for kind in kinds:
        yield f"{kind}, last state, 3 layers", lambda kind=kind: net(kind, "last state", 3)
        yield f"{kind}, both directions, last step", lambda kind=kind: net(kind, "last step", 2, True)
        yield f"{kind}, time first", lambda kind=kind: net(kind, "every step", 2, time_first=True)
        yield f"{kind}, no bias", lambda kind=kind: net(kind, "every step", 2, bias=False)
    for prepare in ("normalization", "convolution", "map", "embedding"):
        yield f"{prepare} before", lambda prepare=prepare: net("GRU", "last state", prepare=prepare)
    yield "first state", lambda: net("GRU", "every step", 2, first=True)
    yield "two recurrences", lambda: two_recurrences("every")
    yield "two recurrences, last step", lambda: two_recurrences("last")
    yield "residual stack", lambda: residual_stack()
    for number, head in enumerate(MEMORY_HEADS):
        yield head, lambda head=head, number=number: net("LSTM", head, 1 + number % 2)
    for number, head in enumerate(FURTHER_HEADS):
        yield head, lambda head=head, number=number: net(kinds[number % 3], head, 1 + number % 3)
    for kind in ("LSTMCell", "GRUCell", "RNNCell", "leaky"):
        for head in ("every", "last"):
            yield f"loop of {kind}, {head}", lambda kind=kind, head=head: loop(kind, head)


FORMS = {"new, fixed": (True, False, 1), "new, dynamic": (True, True, 2), "old, fixed": (False, False, 1),
         "old, fixed batch of 2": (False, False, 2), "old, dynamic": (False, True, 2)}


def export(folder, number, name, make, form):
    """The file of a module, and its input and output for one sequence; a file NAME.txt with the reason where it fails."""
    dynamo, dynamic, batch = FORMS[form]
    torch.manual_seed(number)
    module = make().eval()
    time_first = "time first" in name
    shape = (STEPS, batch) if time_first else (batch, STEPS)
    x = torch.randint(0, 11, shape) if "embedding" in name else torch.randn(*shape, WIDTH)
    axes = {0: "t", 1: "b"} if time_first else {0: "b", 1: "t"}
    path = folder / f"{number:02d}_{form.replace(', ', '_').replace(' ', '_')}.onnx"
    if not path.exists():
        kept = {"dynamo": dynamo}
        if dynamic and dynamo:
            kept["dynamic_shapes"] = ({axis: torch.export.Dim(label) for axis, label in axes.items()},)
        elif dynamic:
            kept |= {"input_names": ["x"], "dynamic_axes": {"x": axes}}
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            torch.onnx.export(module, (x,), str(path), **kept)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    if dynamic and isinstance(session.get_inputs()[0].shape[0 if time_first else 1], str):
        x = x[:7, :1] if time_first else x[:1, :7]
    y = session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]
    row = x[:, 0] if time_first else x[0]
    y = y[:, 0] if time_first else y[0]
    return path, row.double().reshape(len(row), -1).tolist(), y.reshape(-1).tolist()


@unittest.skipIf(torch is None, "needs torch and onnxruntime")
class Exports(ToolTest):
    def test_a_module_keeps_the_outputs_of_onnxruntime(self):
        self.compare_all({"old, dynamic": FORMS["old, dynamic"]}, ["mean beside largest"])

    @slow
    def test_modules_keep_the_outputs_of_onnxruntime(self):
        self.compare_all(FORMS, [name for name, _ in modules()])

    def compare_all(self, forms, names):
        wrong, right = [], 0
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(os.environ.get("LAGTAPE_EXPORTS", temporary))
            for number, (name, make) in enumerate(modules()):
                for form in forms if name in names else ():
                    if "dynamic" in form and "loop of" in name:
                        continue  # its steps are written down one by one
                    message = self.compare(folder, number, name, make, form)
                    right += not message
                    if message:
                        wrong.append(f"{number:02d} {name} ({form}): {message}")
        print(f"{right} modules keep their outputs, {len(wrong)} do not")
        # The newer exporter writes a backward nn.RNN down step by step.
        self.assertEqual([text for text in wrong if "'node_flip': takes several steps" not in text], [])
        self.assertGreater(right, 0)

    def compare(self, folder, number, name, make, form):
        """Empty where the imported model gives what onnxruntime does, else what is wrong."""
        try:
            path, x, wanted = export(folder, number, name, make, form)
        except Exception as error:
            return f"is not exported: {type(error).__name__}: {str(error)[:200]}"
        self.setUp()
        flat = self.write("x.npy", npy((len(x), len(x[0])), [v for row in x for v in row]))
        for command in (("import", path, "--output", "run"), ("predict", "run", "--input", flat, "--output", "y.npy")):
            done = subprocess.run([self.tool, *map(str, command)], cwd=self.folder, capture_output=True, text=True)
            if done.returncode:
                return done.stderr.strip()
        got = npy_values((self.folder / "y.npy").read_bytes())
        if len(got) != len(wanted):
            return f"{len(got)} numbers, {len(wanted)} expected"
        worst = max((abs(a - b) if math.isfinite(a) else math.inf) for a, b in zip(got, wanted))
        return "" if worst < 1e-5 and max(map(abs, wanted)) > 1e-2 else f"differs by {worst:.2g}"


if __name__ == "__main__":
    main()
