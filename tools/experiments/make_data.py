"""Writes TASK/data.npz for experiments with generated sequences: python3 tools/experiments/make_data.py [TASK ...]"""

import pathlib
import sys

import numpy as np

ROWS = {"train": 4000, "valid": 500, "test": 1000}


def one_hot(numbers, width):
    return np.eye(width, dtype=np.float32)[numbers]


def parity(random, rows):
    """Bits as +1 and -1; the target after each is the parity of the ones so far."""
    bits = random.integers(0, 2, (rows, 32))
    return (2 * bits - 1)[..., None], np.cumsum(bits, 1) % 2


def selective_copy(random, rows, letters=6, steps=40):
    """Letters 1 .. 8 at random places among blanks (0), to be recalled in order at marks (9)."""
    word = random.integers(1, 9, (rows, letters))
    x, y = np.zeros((rows, steps + letters), int), np.zeros((rows, steps + letters), int)
    for row in range(rows):
        x[row, np.sort(random.choice(steps, letters, replace=False))] = word[row]
    x[:, steps:], y[:, steps:] = 9, word
    return one_hot(x, 10), y


def recall(random, rows, pairs=6, keys=12):
    """Pairs of a key and a value, one per step, and then all keys in another order; the answers are the values, earlier 0."""
    x, y = np.zeros((rows, 2 * pairs, 2 * keys)), np.zeros((rows, 2 * pairs), int)
    for row in range(rows):
        key, value = random.choice(keys, pairs, replace=False), random.integers(0, keys, pairs)
        order = random.permutation(pairs)
        x[row, range(pairs), key] = x[row, range(pairs), keys + value] = x[row, range(pairs, 2 * pairs), key[order]] = 1
        y[row, pairs:] = 1 + value[order]
    return x, y


def uneven_times(random, rows, steps=40):
    """A sine with a random frequency at uneven times: its value and the time to the next reading, which is the target."""
    gaps = random.uniform(0.1, 1.9, (rows, steps))
    times = np.cumsum(gaps, 1)
    phase, rate = random.uniform(0, 2 * np.pi, (rows, 1)), random.uniform(0.5, 1.5, (rows, 1))
    value = lambda t: np.sin(rate * t + phase)
    return np.stack([value(times - gaps), gaps], 2), value(times)[..., None]


def spike_times(random, rows, channels=12, steps=50, classes=8):
    """One spike per channel; the times determine the class, as the order of arrival does for spoken digits."""
    wanted = np.random.default_rng(7).integers(4, steps - 10, (classes, channels))
    y = random.integers(0, classes, rows)
    times = wanted[y] + random.integers(-2, 3, (rows, channels)) + random.integers(0, 6, (rows, 1))
    x = np.zeros((rows, steps, channels))
    x[np.arange(rows)[:, None], times, np.arange(channels)] = 1
    return x, y


def first_letter(random, rows, steps=200):
    """Noise, with a letter in its first step that must be recalled after the last."""
    y = random.integers(0, 8, rows)
    x = 0.1 * random.standard_normal((rows, steps, 8))
    x[:, 0] += one_hot(y, 8)
    return x, y


def narma10(random, rows):
    """y[n+1] = 0.3 y[n] + 0.05 y[n] (y[n] + ... + y[n-9]) + 1.5 u[n-9] u[n] + 0.1, with u uniform in 0 .. 0.5: one sequence."""
    first, steps = 200, rows
    u = random.uniform(0, 0.5, first + steps)
    y = np.zeros(first + steps + 1)
    for n in range(9, first + steps):
        y[n + 1] = 0.3 * y[n] + 0.05 * y[n] * y[n - 9:n + 1].sum() + 1.5 * u[n - 9] * u[n] + 0.1
    return u[None, first:, None], y[None, first + 1:, None]


TASKS = {make.__name__: make for make in (parity, selective_copy, recall, uneven_times, spike_times, first_letter, narma10)}


def main():
    for name in sys.argv[1:] or TASKS:
        arrays, random = {}, np.random.default_rng(0)
        for part, rows in ROWS.items():
            x, y = TASKS[name](random, rows)
            arrays[f"{part}_x"], arrays[f"{part}_y"] = x if name == "narma10" else x.astype(np.float32), y
        np.savez_compressed(pathlib.Path(__file__).parent / name / "data.npz", **arrays)


if __name__ == "__main__":
    main()
