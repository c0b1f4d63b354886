"""Writes rnn.json, lstm.json and gru.json beside itself: outputs and gradients of PyTorch's cells, in f64.

usage: make_golden.py        (torch 2.13.0, CPU)

The loss is the sum of outputs[b, n, i] * cos(k), k the row-major index. Parameters have lagtape's names.
"""

import json
import math
import pathlib

import torch

UNITS, INPUT, ROWS, STEPS = 4, 3, 2, 6

torch.set_default_dtype(torch.float64)


def ramp(*shape, scale, phase):
    """scale * sin(1.7 k + phase), k the row-major index."""
    count = math.prod(shape)
    return torch.tensor([scale * math.sin(1.7 * k + phase) for k in range(count)]).reshape(shape)


def named_parts(module, gates):
    """PyTorch stacks the gates of a weight: each part by its name here."""
    stacked = {"W{}": "weight_hh_l0", "W{}.bias": "bias_hh_l0", "U{}": "weight_ih_l0", "U{}.bias": "bias_ih_l0"}
    for form, name in stacked.items():
        tensor = getattr(module, name)
        for k, gate in enumerate(gates):
            yield form.format(gate), tensor, slice(k * UNITS, (k + 1) * UNITS)


def numbers(tensor):
    return tensor.detach().flatten().tolist()


def golden(module, gates, states):
    module = module(INPUT, UNITS, batch_first=True)
    with torch.no_grad():
        for k, parameter in enumerate(module.parameters()):
            parameter.copy_(ramp(*parameter.shape, scale=0.9, phase=k))
    x = ramp(ROWS, STEPS, INPUT, scale=1.5, phase=0.3).requires_grad_()
    initial = [ramp(1, ROWS, UNITS, scale=0.7, phase=k).requires_grad_() for k in range(len(states))]
    outputs, _ = module(x, initial[0] if len(states) == 1 else tuple(initial))
    weights = torch.cos(torch.arange(float(outputs.numel()))).reshape(outputs.shape)
    (outputs * weights).sum().backward()

    parts = list(named_parts(module, gates))
    values = {name: numbers(tensor[rows]) for name, tensor, rows in parts}
    gradients = {name: numbers(tensor.grad[rows]) for name, tensor, rows in parts}
    return {
        "torch": torch.__version__.split("+")[0],
        "units": UNITS, "input": INPUT, "rows": ROWS, "steps": STEPS,
        "parameters": values,
        "x": numbers(x),
        "initial": {state: numbers(value) for state, value in zip(states, initial)},
        "outputs": numbers(outputs),
        "gradients": gradients | {"x": numbers(x.grad)}
        | {state: numbers(value.grad) for state, value in zip(states, initial)},
    }


def write(name, content):
    lines = []
    for key, value in content.items():
        if isinstance(value, dict):
            entries = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            lines.append(f"  {json.dumps(key)}: {{\n{entries}\n  }}")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    path = pathlib.Path(__file__).with_name(name + ".json")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


write("rnn", golden(torch.nn.RNN, [""], ["h"]))
write("lstm", golden(torch.nn.LSTM, ["_i", "_f", "_g", "_o"], ["h", "c"]))
write("gru", golden(torch.nn.GRU, ["_r", "_z", "_n"], ["h"]))
