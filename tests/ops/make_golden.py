"""Writes golden.h: values and gradients of a handful of operations as PyTorch has them, in f64.

usage: make_golden.py > golden.h        (torch 2.13.0, CPU)
"""

import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def ramp(*shape, scale=1.0, phase=0.0):
    """Numbers that a reader can compute: scale * sin(1.7 i + phase), i the row-major index."""
    count = math.prod(shape)
    return torch.tensor([scale * math.sin(1.7 * i + phase) for i in range(count)]).reshape(shape).requires_grad_()


def emit(name, tensor):
    numbers = ", ".join(repr(x) for x in tensor.detach().flatten().tolist())
    print(f"inline const std::vector<double> k{name} = {{{numbers}}};")


def emit_case(name, inputs, result):
    """The inputs, the result and the gradients of the sum of its elements weighted 1, 2, 3, ..."""
    weights = torch.arange(1.0, result.numel() + 1).reshape(result.shape)
    gradients = torch.autograd.grad((result * weights).sum(), list(inputs.values()))
    for key, tensor in inputs.items():
        emit(f"{name}{key}", tensor)
    emit(f"{name}Value", result)
    for key, gradient in zip(inputs, gradients):
        emit(f"{name}{key}Grad", gradient)
    print()


print("#pragma once\n\n#include <vector>\n")
print(f"// Written by make_golden.py with PyTorch {torch.__version__.split('+')[0]}.\n")
print("// clang-format off\nnamespace lagtape::test::golden {\n")

logits = ramp(4, 3, scale=8)
emit_case("CrossEntropy", {"Logits": logits}, F.cross_entropy(logits, torch.tensor([2, 0, 1, 1])))

extremes = torch.tensor([-500.0, -30.0, -1.5, 0.0, 2.5, 30.0, 500.0]).requires_grad_()
bits = torch.tensor([0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0])
emit_case("BinaryCrossEntropy", {"Logits": extremes}, F.binary_cross_entropy_with_logits(extremes, bits))
emit_case("Softplus", {"X": extremes}, F.softplus(extremes, threshold=1000))

x, weight, bias = ramp(2, 2, 3), ramp(5, 3, phase=1), ramp(5, phase=2)
emit_case("Linear", {"X": x, "W": weight, "Bias": bias}, F.linear(x, weight, bias))

a, b = ramp(2, 1, 3, phase=0.3), ramp(4, 1, scale=2, phase=0.5)
emit_case("Broadcast", {"A": a, "B": b}, torch.tanh(a * b) / (2 + torch.sigmoid(a - b)) + torch.maximum(a, b))

print("}  // namespace lagtape::test::golden")
