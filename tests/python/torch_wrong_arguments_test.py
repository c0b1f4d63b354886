"""Random wrong arguments to the modules of PyTorch: each call is refused with an exception that says why, or works, and
Python continues."""

import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from wrong_arguments_test import ODD

torch = pytest.importorskip("torch", reason="not run: torch is missing")

CALLS = 1000


def odd():
    tensors = [torch.zeros(()), torch.zeros(0), torch.zeros(2, 3), torch.zeros(2, 5, 3), torch.zeros(2, 5, 2, dtype=torch.float64),
               torch.zeros(2, 5, 2, dtype=torch.int64), torch.full((2, 5, 2), float("nan")), torch.zeros(2, 0, 2), torch.zeros(0, 5, 2),
               torch.ones(2, 5, dtype=torch.bool), torch.zeros(5, 2, 2).transpose(0, 1), torch.zeros(2, 5, 2).requires_grad_(),
               torch.zeros(2, 5, 2, device="meta"), torch.zeros(2, 5, 2).to_sparse(), torch.zeros(2, 5, 2, dtype=torch.complex64),
               torch.nn.Linear(3, 1), torch.nn.LSTM(2, 3), torch.nn.utils.rnn.pack_sequence([torch.zeros(3, 2), torch.zeros(1, 2)]),
               [torch.zeros(1, 2, 3)], (torch.zeros(1, 2, 3), torch.zeros(1, 2, 3)), [torch.zeros(1, 2, 4)], torch.float16, torch.float64]
    return random.choice(ODD + 2 * tensors)


def calls():
    """Functions of two arguments, by name."""
    import lagtape
    from lagtape.torch import GRU, LSTM, RNN, Recurrence

    gru, lstm, lagged = Recurrence("gru", 2, units=3), LSTM(2, 3, batch_first=True), Recurrence("tau_gru", 2, units=3, tau=2)
    x = torch.zeros(2, 5, 2)
    layers = {"lstm_": LSTM, "gru_": GRU, "rnn_": RNN}
    found = {"x": lambda a, b: gru(a), "window": lambda a, b: gru(x, window=a), "lengths": lambda a, b: gru(x, lengths=a), "reset": lambda a, b: gru(x, reset=a),
             "two": lambda a, b: lagged(x, lengths=a, window=b), "lstm": lambda a, b: lstm(a), "states": lambda a, b: lstm(x, a),
             "made": lambda a, b: Recurrence(a, b), "units": lambda a, b: Recurrence("gru", 2, units=a), "tau": lambda a, b: Recurrence("tau_gru", 2, units=3, tau=a),
             "at": lambda a, b: Recurrence("gru", 2, units=3, at=a, memory=b), "cells": lambda a, b: Recurrence("mine", 2, units=3, cells=a),
             "dtype": lambda a, b: Recurrence("gru", 2, units=3, dtype=a, seed=b), "threads": lambda a, b: Recurrence("gru", 2, units=3, threads=a)(x),
             "from_torch": lambda a, b: lagtape.from_torch(a, readout=b), "from_run": lambda a, b: Recurrence.from_run(a, memory=b),
             "loss": lambda a, b: lagtape.from_torch(gru, readout=torch.nn.Linear(3, 1), loss=a, normalization=b),
             "save": lambda a, b: gru.save("saved.safetensors", readout=a, normalization=b), "zero_window": lambda a, b: gru.zero_window(a)}
    for name, kind in layers.items():
        found[name + "made"] = lambda a, b, kind=kind: kind(a, b)
        found[name + "layers"] = lambda a, b, kind=kind: kind(2, 3, num_layers=a, dropout=b)
    return found


def hammer(seed):
    import lagtape

    random.seed(seed)
    torch.manual_seed(seed)
    functions = calls()
    refused, worked = {}, {}
    for number in range(CALLS):
        name, a, b = random.choice(list(functions)), odd(), odd()
        try:
            functions[name](a, b)
            worked[name] = worked.get(name, 0) + 1
        except (lagtape.Error, TypeError, ValueError, RuntimeError) as error:  # the last three are PyTorch's own
            assert str(error), (name, a, b)
            refused[name] = refused.get(name, 0) + 1
        except BaseException as error:
            raise AssertionError(f"call {number} of seed {seed}: {name}({a!r}, {b!r})") from error
    from lagtape.torch import Recurrence

    print(json.dumps([refused, worked, float(Recurrence("gru", 2, units=3, seed=1)(torch.ones(1, 4, 2))[0].sum())]))


@pytest.mark.slow
def test_random_wrong_arguments_raise_and_crash_nothing(trained, tmp_path):
    os.symlink(trained, tmp_path / "run")
    done = subprocess.run([sys.executable, "-W", "ignore", "-B", __file__], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    refused, worked, output = json.loads(done.stdout)
    assert sum(refused.values()) + sum(worked.values()) == CALLS and sum(refused.values()) > CALLS / 2
    assert len(refused) > 20 and len(worked) > 5 and np.isfinite(output)


if __name__ == "__main__":
    hammer(1)
