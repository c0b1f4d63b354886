#!/usr/bin/env python3
"""Prints the golden table of optimizer_test.cpp: the documented formulas of torch.optim in NumPy, f64."""
import numpy as np

START = np.array([1.0, -0.5, 0.25, 2.0])
GRADIENTS = [
    np.array([0.1, -2.0, 0.0, 30.0]),
    np.array([-0.3, -1.0, 1e-4, -20.0]),
    np.array([0.7, 0.5, -1e-4, 10.0]),
]


def sgd(lr, momentum, weight_decay):
    w, buffer = START.copy(), None
    for g in GRADIENTS:
        g = g + weight_decay * w
        buffer = g if buffer is None else momentum * buffer + g
        w = w - lr * buffer
    return w


def adam(lr, weight_decay, decoupled, b1=0.9, b2=0.999, eps=1e-8):
    w, mean, square = START.copy(), np.zeros(4), np.zeros(4)
    for t, g in enumerate(GRADIENTS, start=1):
        if decoupled:
            w = w - lr * weight_decay * w
        else:
            g = g + weight_decay * w
        mean = b1 * mean + (1 - b1) * g
        square = b2 * square + (1 - b2) * g * g
        mean_hat, square_hat = mean / (1 - b1**t), square / (1 - b2**t)
        w = w - lr * mean_hat / (np.sqrt(square_hat) + eps)
    return w


def rmsprop(lr, weight_decay, alpha=0.99, eps=1e-8):
    w, square = START.copy(), np.zeros(4)
    for g in GRADIENTS:
        g = g + weight_decay * w
        square = alpha * square + (1 - alpha) * g * g
        w = w - lr * g / (np.sqrt(square) + eps)
    return w


for name, w in [
    ("sgd", sgd(0.1, 0.0, 0.0)),
    ("sgd, momentum 0.9, weight_decay 0.01", sgd(0.1, 0.9, 0.01)),
    ("adam", adam(0.01, 0.0, False)),
    ("adam, weight_decay 0.1", adam(0.01, 0.1, False)),
    ("adamw, weight_decay 0.1", adam(0.01, 0.1, True)),
    ("rmsprop", rmsprop(0.01, 0.0)),
    ("rmsprop, weight_decay 0.1", rmsprop(0.01, 0.1)),
]:
    print(f"{name}: " + ", ".join(f"{v:.17g}" for v in w))
