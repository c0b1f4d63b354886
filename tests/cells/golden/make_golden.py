"""Writes rnn.json, lstm.json and gru.json beside itself: outputs and gradients of PyTorch's cells, in f64; and embedding.json,
batch_norm.json and bidirectional.json, those of its layers of whole sequences, on sequences of unequal length.

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


def named_parts(module, gates, suffix=""):
    """PyTorch stacks the gates of a weight: each part by its name here."""
    stacked = {"W{}": "weight_hh_l0", "W{}.bias": "bias_hh_l0", "U{}": "weight_ih_l0", "U{}.bias": "bias_ih_l0"}
    for form, name in stacked.items():
        tensor = getattr(module, name + suffix)
        for k, gate in enumerate(gates):
            yield form.format(gate), tensor, slice(k * UNITS, (k + 1) * UNITS)


def numbers(tensor):
    return tensor.detach().flatten().tolist()


def ramp_parameters(module):
    with torch.no_grad():
        for k, parameter in enumerate(module.parameters()):
            parameter.copy_(ramp(*parameter.shape, scale=0.9, phase=k))


def backward(outputs):
    weights = torch.cos(torch.arange(float(outputs.numel()))).reshape(outputs.shape)
    (outputs * weights).sum().backward()


def golden(module, gates, states):
    module = module(INPUT, UNITS, batch_first=True)
    ramp_parameters(module)
    x = ramp(ROWS, STEPS, INPUT, scale=1.5, phase=0.3).requires_grad_()
    initial = [ramp(1, ROWS, UNITS, scale=0.7, phase=k).requires_grad_() for k in range(len(states))]
    outputs, _ = module(x, initial[0] if len(states) == 1 else tuple(initial))
    backward(outputs)

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


LENGTHS = [6, 2, 4]


def own_steps():
    """Which of [rows, steps] are a sequence's own."""
    return torch.arange(max(LENGTHS)).expand(len(LENGTHS), -1) < torch.tensor(LENGTHS)[:, None]


def layer(x, outputs, parameters, gradients, **more):
    return {"torch": torch.__version__.split("+")[0], "lengths": LENGTHS, "x": numbers(x), "outputs": numbers(outputs),
            "parameters": {name: numbers(value) for name, value in parameters.items()},
            "gradients": {name: numbers(value) for name, value in gradients.items()}} | more


def embedding():
    tokens = torch.tensor([[1, 4, 0, 4, 6, 1], [2, 2, 0, 0, 0, 0], [0, 5, 1, 6, 0, 0]])
    module = torch.nn.Embedding(7, UNITS, padding_idx=0)
    ramp_parameters(module)
    with torch.no_grad():
        module.weight[0] = 0
    outputs = module(tokens) * own_steps()[..., None]
    backward(outputs)
    return layer(tokens, outputs, {"E": module.weight}, {"E": module.weight.grad})


def batch_norm():
    module = torch.nn.BatchNorm1d(UNITS)
    ramp_parameters(module)
    before = {"gain": module.weight.detach().clone(), "bias": module.bias.detach().clone(),
              "mean": module.running_mean.clone(), "variance": module.running_var.clone()}
    x = ramp(len(LENGTHS), max(LENGTHS), UNITS, scale=1.5, phase=0.3).requires_grad_()
    outputs = torch.zeros_like(x).masked_scatter(own_steps()[..., None].expand_as(x), module(x[own_steps()]))
    backward(outputs)
    gradients = {"x": x.grad, "gain": module.weight.grad, "bias": module.bias.grad}
    module.eval()
    evaluated = torch.zeros_like(x).masked_scatter(own_steps()[..., None].expand_as(x), module(x[own_steps()]))
    return layer(x, outputs, before, gradients, mean=numbers(module.running_mean),
                 variance=numbers(module.running_var), evaluated=numbers(evaluated))


def bidirectional():
    module = torch.nn.LSTM(INPUT, UNITS, batch_first=True, bidirectional=True)
    ramp_parameters(module)
    x = ramp(len(LENGTHS), max(LENGTHS), INPUT, scale=1.5, phase=0.3).requires_grad_()
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    outputs, (last, _) = module(packed)
    outputs = torch.nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)[0]
    backward(outputs)
    parameters, gradients = {}, {"x": x.grad}
    for direction, suffix in [("0.", ""), ("1.", "_reverse")]:
        for name, tensor, rows in named_parts(module, ["_i", "_f", "_g", "_o"], suffix):
            parameters[direction + name] = tensor[rows]
            gradients[direction + name] = tensor.grad[rows]
    return layer(x, outputs, parameters, gradients, last=numbers(torch.cat([last[0], last[1]], dim=1)))


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
write("embedding", embedding())
write("batch_norm", batch_norm())
write("bidirectional", bidirectional())
