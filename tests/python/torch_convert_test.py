"""Models of PyTorch as models of lagtape, and back."""

import ctypes
import json
import subprocess

import numpy as np
import pytest

import lagtape as lt
from conftest import run_tool

torch = pytest.importorskip("torch", reason="not run: torch is missing")

from lagtape import torch as ours
from torch import nn


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.layers, self.readout = nn.Embedding(11, 4), nn.GRU(4, 5, 2, batch_first=True), nn.Linear(5, 3)

    def forward(self, x):
        return self.readout(self.layers(self.table(x))[0][:, -1])


class BothWays(nn.Module):
    def __init__(self, reads_states):
        super().__init__()
        self.layer, self.readout, self.reads_states = nn.LSTM(2, 5, batch_first=True, bidirectional=True), nn.Linear(10, 3), reads_states

    def forward(self, x):
        y, (h, _) = self.layer(x)
        return self.readout(torch.cat([h[0], h[1]], 1) if self.reads_states else y[:, -1])


class Hidden(nn.Module):
    """A function in forward that is not a module."""

    def __init__(self):
        super().__init__()
        self.layer, self.one, self.two = nn.LSTM(2, 5, batch_first=True), nn.Linear(5, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.two(torch.relu(self.one(self.layer(x)[0])))


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrence = ours.Recurrence("tau_gru", 2, units=4, tau=3, at="last_step")
        self.readout = nn.Linear(4, 3)

    def forward(self, x):
        return self.readout(self.recurrence(x)[0])


class TokensOwn(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.recurrence, self.readout = nn.Embedding(9, 3), ours.Recurrence("lem", 3, units=4), nn.Linear(4, 2, bias=False)

    def forward(self, x):
        return self.readout(self.recurrence(self.table(x))[0])


def sequential():
    return nn.Sequential(nn.Embedding(9, 3), nn.LSTM(3, 4, batch_first=True), nn.Dropout(0.5), nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))


CASES = {
    "lstm": lambda: (nn.LSTM(2, 4), nn.Linear(4, 1)), "gru without biases": lambda: (nn.GRU(2, 4, bias=False), None),
    "rnn relu": lambda: (nn.RNN(2, 4, nonlinearity="relu"), nn.Linear(4, 1)), "f64": lambda: (nn.LSTM(2, 4).double(), nn.Linear(4, 1).double()),
    "two ways": lambda: (nn.LSTM(2, 4, num_layers=2, bidirectional=True, batch_first=True), nn.Linear(8, 2)),
    "two ways, states": lambda: (BothWays(True), None), "sequential": lambda: (sequential(), None), "tokens": lambda: (Tokens(), None),
    "drop-in": lambda: (ours.LSTM(2, 4, batch_first=True), nn.Linear(4, 1)), "own": lambda: (Own(), None), "own tokens": lambda: (TokensOwn(), None),
    "weight norm": lambda: (nn.Sequential(nn.LSTM(2, 4, batch_first=True), nn.utils.parametrizations.weight_norm(nn.Linear(4, 2))), None),
}


def outputs(module, readout, x):
    """PyTorch's outputs for x [B, T, width], or tokens [B, T]."""
    module.eval()
    turned = getattr(module, "batch_first", True) is False
    y = x.transpose(0, 1) if turned else x
    with torch.no_grad():
        for part in module if isinstance(module, nn.Sequential) else [module]:
            y = part(y)
            y = y[0] if isinstance(y, tuple) else y
        y = readout(y) if readout is not None else y
    return (y.transpose(0, 1) if turned else y).numpy()


@pytest.mark.parametrize("case", list(CASES))
def test_a_model_has_the_numbers_of_its_module(case, tmp_path):
    torch.manual_seed(5)
    module, readout = CASES[case]()
    module.train()
    model = lt.from_torch(module, readout=readout)
    assert module.training  # it is left as it was
    rng = np.random.default_rng(2)
    x = rng.integers(0, 9, (3, 20, 1)).astype(np.float32) if "tokens" in case or case == "sequential" else rng.normal(size=(3, 20, 2))
    x = x.astype(model.dtype)
    given = torch.from_numpy(x)
    wanted = outputs(module, readout, given[:, :, 0].long() if model.tokens else given)
    most = 1e-12 if case == "f64" else 1e-6
    assert np.ptp(wanted) > 1e-3 and np.abs(model.predict(x) - wanted).max() < most
    file = tmp_path / "m.safetensors"
    model.save(file)
    assert np.array_equal(lt.load(file).predict(x), model.predict(x))
    np.save(tmp_path / "x.npy", x)
    run_tool("predict", file, "--input", tmp_path / "x.npy", "--output", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), model.predict(x))


def test_it_streams_and_is_exported_to_c_and_onnx(tmp_path):
    torch.manual_seed(5)
    module, readout = nn.LSTM(2, 4), nn.Linear(4, 1)
    file = tmp_path / "m.safetensors"
    model = lt.from_torch(module, readout=readout, normalization={"input": ([1, 2], [3, 4]), "output": (5, 6)})
    model.save(file)
    x = np.random.default_rng(2).normal(size=(30, 2)).astype(np.float32)
    wanted = outputs(module, readout, torch.from_numpy(((x - [1, 2]) / [3, 4]).astype(np.float32))[None])[0] * 6 + 5
    assert np.abs(model.predict(x) - wanted).max() < 6e-6
    assert np.array_equal(model.stream().block(x), model.predict(x))
    lt.export(file, "c99", tmp_path / "m.c")
    subprocess.run(["cc", "-O2", "-std=c99", "-shared", "-fPIC", "-o", tmp_path / "m.so", tmp_path / "m.c", "-lm"], check=True)
    library, state = ctypes.CDLL(str(tmp_path / "m.so")), ctypes.create_string_buffer(4096)
    library.m_init(state)
    found, out = [], (ctypes.c_float * 1)()
    for row in x:
        library.m_step(state, (ctypes.c_float * 2)(*row), out)
        found.append([out[0]])
    assert np.abs(np.array(found) - wanted).max() < 6e-6
    lt.export(file, "onnx", tmp_path / "m.onnx")
    session = pytest.importorskip("onnxruntime", reason="not run: onnxruntime is missing").InferenceSession(str(tmp_path / "m.onnx"))
    found = session.run(None, {session.get_inputs()[0].name: x[None]})[0]
    assert np.abs(found.reshape(wanted.shape) - wanted).max() < 6e-6


def test_a_recurrence_is_saved_and_comes_back(tmp_path):
    torch.manual_seed(5)
    recurrence, readout = ours.Recurrence([{"cell": "tau_gru", "units": 5, "tau": 4}, {"cell": "gru", "units": 3}], 2), nn.Linear(3, 4)
    file = tmp_path / "m.safetensors"
    recurrence.save(file, readout=readout, loss="cross_entropy", normalization={"input": ([0.5, 1], [2, 3])})
    model = lt.load(file)
    assert model.classes == 4 and json.loads(run_tool("inspect", file, "--json").stdout)["params"] == sum(
        p.numel() for p in [*recurrence.parameters(), *readout.parameters()])
    x = torch.randn(3, 20, 2)
    with torch.no_grad():
        wanted = readout(recurrence(x)[0]).numpy()
    given = (x.numpy() * [2, 3] + [0.5, 1]).astype(np.float32)
    assert np.abs(model.predict(given) - wanted).max() < 1e-6
    again, head = ours.Recurrence.from_run(file, readout=True, threads=1)
    with torch.no_grad():
        assert np.abs(head(again(x)[0]).numpy() - wanted).max() < 1e-6
    assert again.normalization == {"input": ([0.5, 1.0], [2.0, 3.0])}
    again.save(tmp_path / "n.safetensors", readout=head, loss="cross_entropy")
    assert np.array_equal(lt.load(tmp_path / "n.safetensors").predict(given), model.predict(given))


def test_a_trained_run_is_trained_on_in_pytorch(trained):
    recurrence, readout = ours.Recurrence.from_run(trained, readout=True)
    model = lt.load(trained)
    x = np.random.default_rng(3).random((2, 30, 1)).astype(np.float32)
    sides = recurrence.normalization or {"input": ([0], [1]), "output": ([0], [1])}
    (mean, scale), (back_mean, back_scale) = (map(np.array, sides[side]) for side in ("input", "output"))
    y = readout(recurrence(torch.from_numpy(((x - mean) / scale).astype(np.float32)))[0])
    assert np.abs(y.detach().numpy() * back_scale + back_mean - model.predict(x)).max() < 1e-5
    y.square().mean().backward()
    assert all(p.grad.abs().max() > 0 for p in recurrence.parameters())


def test_mistakes_are_explained(tmp_path):
    linear = nn.Linear(4, 1)
    for call, message in (
        (lambda: lt.from_torch(3), r"\[from_torch\] expected a module of PyTorch. Got int"),
        (lambda: lt.from_torch(nn.LSTM(2, 4), readout=3), r"expected a module of PyTorch. Got int"),
        (lambda: lt.from_torch(nn.LSTM(2, 4), at="last"), r"unknown at 'last'; did you mean 'last_step'"),
        (lambda: lt.from_torch(nn.Sequential(nn.Conv1d(2, 2, 1), nn.LSTM(2, 4))), r"0 \(Conv1d\) has no counterpart. Supported: Recurrence"),
        (lambda: lt.from_torch(nn.LSTM(2, 4).half()), r"float32 or float64. Got torch.float16"),
        (lambda: lt.from_torch(nn.LSTM(2, 4, proj_size=3)), r"proj_size"),
        (lambda: lt.from_torch(nn.LSTM(2, 4), readout=nn.Linear(5, 1)), r"takes 5 numbers a step"),
        (lambda: lt.from_torch(nn.Sequential(nn.LSTM(2, 4), nn.LeakyReLU(0.5))), r"negative_slope must be 0.01. Got 0.5"),
        (lambda: lt.from_torch(linear), r"there is no recurrent layer"),
        (lambda: lt.from_torch(Hidden()), r"does not give the numbers of its parts one after the other, LSTM -> Linear -> Linear. They differ by"),
        (lambda: lt.from_torch(BothWays(False)), r"in two directions read h_n and not the outputs of the last step"),
        (lambda: lt.from_torch(nn.LSTMCell(2, 4)), r"cannot be compared|does not give the numbers"),
        (lambda: lt.from_torch(nn.LSTM(2, 4), normalization={"input": 3}), r"normalization: input is \(mean, scale\)"),
        (lambda: lt.from_torch(nn.LSTM(2, 4), normalization={"x": 3}), r"normalization is"),
        (lambda: lt.from_torch(nn.LSTM(2, 4), normalization={"input": ([1], [1])}), r"input"),
        (lambda: lt.from_torch(nn.LSTM(2, 4), loss="msee"), r"/loss: unknown loss 'msee'"),
        (lambda: lt.from_torch(ours.Recurrence("gru", 2, units=4), at="mean"), r"the Recurrence reads at 'every_step'. Got at='mean'"),
        (lambda: ours.Recurrence("gru", 2, units=4).save(tmp_path / "m", readout=nn.Linear(5, 1)), r"the readout takes 5 numbers, and the Recurrence gives 4"),
        (lambda: ours.Recurrence.from_run(tmp_path / "no"), r"no"),
    ):
        with pytest.raises(lt.InputError, match=message):
            call()


def test_layers_of_whole_sequences_are_left_to_pytorch(tmp_path):
    lt.from_torch(nn.LSTM(2, 4, bidirectional=True), readout=nn.Linear(8, 1)).save(tmp_path / "b.safetensors")
    with pytest.raises(lt.InputError, match="takes whole sequences"):
        ours.Recurrence.from_run(tmp_path / "b.safetensors")
