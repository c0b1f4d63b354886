"""Writes torch_00.safetensors to torch_29.safetensors beside itself, state_dicts of random PyTorch modules, and
torch_outputs.safetensors: for each its input 00.x [2, 9, input] and its output 00.y, computed in f64 from the rounded weights.

usage: make_torch.py        (torch 2.13.0, CPU; safetensors 0.8.0)
"""

import pathlib
import random

import torch
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parent
ROWS, STEPS, COUNT = 2, 9, 30
KINDS = [torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU]
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


class Chain(torch.nn.Module):
    """Modules one after another under their own names."""

    def __init__(self, parts):
        super().__init__()
        for name, module in parts:
            self.add_module(name, module)

    def forward(self, x):
        for module in self.children():
            x = module(x)
            if isinstance(x, tuple):
                x = x[0]
        return x


def recurrence(draw, kind, width):
    units = draw.randint(2, 6)
    both = draw.random() < 0.3
    module = kind(width, units, num_layers=draw.randint(1, 3), bias=draw.random() < 0.7, bidirectional=both,
                  batch_first=True)
    return module, units * (2 if both else 1)


def random_model(draw, number):
    width = draw.randint(1, 4)
    names = draw.choice([["rec", "lin"], ["0", "1"], ["encoder.gru", "head"], ["lstm", "fc"], [""]])
    module, inner = recurrence(draw, KINDS[number % 3], width)
    if names == [""]:
        return module, width
    parts = [(names[0], module)]
    if names[0] == "0" and draw.random() < 0.5:
        second, inner = recurrence(draw, KINDS[draw.randint(0, 2)], inner)
        parts.append(("1", second))
        names = ["0", "2"]
    if draw.random() < 0.9:
        parts.append((names[1], torch.nn.Linear(inner, draw.randint(1, 3), bias=draw.random() < 0.7)))
    flat = [(name.replace(".", "_"), module) for name, module in parts]
    return Chain(flat), width


def main():
    draw = random.Random(27)
    torch.manual_seed(27)
    outputs = {}
    for number in range(COUNT):
        model, width = random_model(draw, number)
        dtype = DTYPES[number // 3 % 4]
        model = model.to(torch.float64)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_((2 * parameter).to(dtype))  # larger than PyTorch's, so that gates open and close
        tensors = {name.replace("encoder_gru", "encoder.gru"): tensor.to(dtype).contiguous()
                   for name, tensor in model.state_dict().items()}
        save_file(tensors, FOLDER / f"torch_{number:02}.safetensors")
        x = torch.randn(ROWS, STEPS, width, dtype=torch.float64)
        with torch.no_grad():
            y = model(x)
        y = y[0] if isinstance(y, tuple) else y
        outputs |= {f"{number:02}.x": x, f"{number:02}.y": y.contiguous()}
    save_file(outputs, FOLDER / "torch_outputs.safetensors")


main()
