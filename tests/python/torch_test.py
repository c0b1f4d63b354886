"""lagtape.torch: recurrences as modules of PyTorch. Needs torch, which tools/setup.sh does not install."""

import copy
import json
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import lagtape

torch = pytest.importorskip("torch", reason="not run: torch is missing")

from lagtape.torch import Recurrence

ROWS = pathlib.Path(__file__).parents[1] / "cells" / "rows"
LEAKY = {
    "leaky_delay": {
        "hyper": {"tau": 3, "leak": 0.5},
        "weights": {"W": ["units", "units"], "V": ["units", "units"], "U": ["units", "input"], "b": ["units"]},
        "state": {"h": "units"},
        "step": ["h' = (1 - leak) * h + leak * tanh(W @ h + V @ h[-tau] + (U @ x + b))"],
        "output": "h'",
    }
}


def cases():
    """The options of every built-in cell, as the tests of cells have them."""
    for row in sorted(ROWS.glob("*.json")):
        for options in json.loads(row.read_text())["options"]:
            layer = {"cell": row.stem, **options}
            if row.stem == "dilated":
                layer = {**options["of"], "dilations": options["dilations"]}
            if row.stem == "unicornn" or layer.get("arithmetic") == "grid":
                layer["arithmetic"] = "float"  # central differences see the grid
            yield pytest.param(layer, id=json.dumps(layer))


def differentiable_cases():
    """All but spikes, whose gradients are those of another function."""
    return [case for case in cases() if case.values[0]["cell"] != "lif"]


def numbers(*shape, seed=0, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def window_of(recurrence, rows):
    return [0.3 * numbers(*state.shape, seed=5 + i).requires_grad_() for i, state in enumerate(recurrence.zero_window(rows))]


def largest_difference(a, b):
    return (a - b).abs().max().item() / b.abs().max().item()


# ---- gradients ----


@pytest.mark.parametrize("layer", differentiable_cases())
def test_gradcheck_passes_for_every_cell_through_outputs_and_windows(layer):
    width = layer["units"] if layer["cell"] == "s4d" else 2
    recurrence = Recurrence(layer, width, seed=1, dtype=torch.float64, threads=1).eval()
    x = numbers(3, 7, width).requires_grad_()
    window = window_of(recurrence, 3)
    parameters = list(recurrence.parameters())

    def outputs(x, *tensors):
        y, after = recurrence(x, lengths=[7, 2, 5], window=tensors[: len(window)])
        return (y, *after)

    assert parameters or layer["cell"] == "echo_state"  # which trains none
    assert torch.autograd.gradcheck(outputs, (x, *window, *parameters), fast_mode=True, eps=1e-6, atol=1e-6, rtol=1e-5)


def test_gradcheck_fails_for_a_wrong_gradient():
    recurrence = Recurrence("gru", 2, units=4, seed=1, dtype=torch.float64)
    x = numbers(2, 5, 2).requires_grad_()

    def wrong(x):
        y, _ = recurrence(x)
        return y + 0.1 * (y - y.detach())

    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(wrong, (x,))


def shifted(tensor):
    """The same numbers in memory that begins as far from the start of a cache line as a number may."""
    memory = torch.empty(tensor.numel() + 16, dtype=tensor.dtype)
    first = (-memory.data_ptr() % 64) // tensor.element_size() + 1
    copy = memory[first : first + tensor.numel()].view(tensor.shape)
    copy.copy_(tensor.detach())
    assert copy.data_ptr() % 64 == tensor.element_size()
    return copy


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("layer", list(cases()))
def test_numbers_are_read_wherever_they_begin(layer, dtype):
    width = layer["units"] if layer["cell"] == "s4d" else 3
    x = numbers(5, 9, width, dtype=dtype)
    results = []
    for place in (torch.clone, shifted):
        recurrence = Recurrence(layer, width, seed=1, dtype=dtype).eval()
        for parameter in recurrence.parameters():
            parameter.data = place(parameter.data)
        given = place(x).requires_grad_()
        y, window = recurrence(given, window=[place(w) for w in window_of(recurrence, 5)] if dtype == torch.float64 else None)
        y.backward(place(torch.ones_like(y)))
        results.append([y, given.grad, *window, *(p.grad for p in recurrence.parameters())])
    assert results[0][1].abs().max() > 0
    assert all(torch.equal(a, b) for a, b in zip(*results))


@pytest.mark.parametrize("memory", ["auto", "full", "states", "checkpoint", {"plan": "auto", "budget": "4MiB"}])
def test_a_memory_plan_changes_no_bit(memory):
    results = []
    for plan in ("full", memory):
        recurrence = Recurrence([{"cell": "tau_gru", "units": 8, "tau": 5}, {"cell": "lstm", "units": 4}], 3, memory=plan, seed=2)
        x = numbers(40, 100, 3, dtype=torch.float32).requires_grad_()
        y, window = recurrence(x)
        (y.square().mean() + sum(w.square().sum() for w in window)).backward()
        results.append([y.detach(), x.grad, *window, *(p.grad for p in recurrence.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*results))
    assert results[0][1].abs().max() > 0


def test_a_reversible_plan_and_states_on_the_grid():
    results = []
    for plan in ("full", "reversible"):
        torch.manual_seed(4)
        layer = {"cell": "unicornn", "units": 6, "layers": 2, "dt": 0.3, "alpha": 1.0}
        recurrence = Recurrence(layer, 2, memory=plan, seed=2)
        x = numbers(5, 60, 2, dtype=torch.float32).requires_grad_()
        start = [w.requires_grad_() for w in recurrence.zero_window(5)]
        y, window = recurrence(x, window=start)
        assert {w.dtype for w in window} == {torch.float64}
        (y.mean() + sum(w.square().sum() for w in window)).backward()
        results.append([y.detach(), x.grad, *(w.grad for w in start), *(p.grad for p in recurrence.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*results))


def test_windows_carry_a_sequence_over_in_pieces_with_the_same_gradients():
    recurrence = Recurrence("leaky_delay", 2, cells=LEAKY, units=6, tau=9, seed=3, dtype=torch.float64)
    x = numbers(4, 30, 2).requires_grad_()
    whole, _ = recurrence(x)
    (expected,) = torch.autograd.grad(whole.square().sum(), x)
    pieces, window = [], None
    for piece in (x[:, :4], x[:, 4:17], x[:, 17:]):
        y, window = recurrence(piece, window=window)
        pieces.append(y)
    joined = torch.cat(pieces, 1)
    assert torch.equal(joined, whole)
    (gradient,) = torch.autograd.grad(joined.square().sum(), x)
    assert largest_difference(gradient, expected) < 1e-12


def test_a_cell_of_python_is_the_one_of_its_equations():
    @lagtape.cell
    def leaky_in_torch(s, units, tau=3, leak=0.5):
        h = s.state("h", units)
        W, V = s.weight("W", (units, units)), s.weight("V", (units, units))
        U, b = s.weight("U", (units, s.input.size)), s.weight("b", units)
        s.next(h, (1 - leak) * h + leak * lagtape.tanh(W @ h + V @ h[-tau] + (U @ s.input + b)))
        return s.next_of(h)

    x = numbers(2, 20, 2, dtype=torch.float32)
    written = Recurrence("leaky_delay", 2, cells=LEAKY, units=6, tau=9, seed=3)
    traced = Recurrence({"cell": leaky_in_torch, "units": 6, "tau": 9}, 2, seed=3)
    assert torch.equal(written(x)[0], traced(x)[0])


# ---- beside PyTorch ----


def lstm_pair(input_size=3, units=7):
    theirs = torch.nn.LSTM(input_size, units, batch_first=True)
    ours = Recurrence("lstm", input_size, units=units)
    state = ours.state_dict()
    for number, gate in enumerate("ifgo"):
        rows = slice(number * units, (number + 1) * units)
        for key in state:
            letter, _, kind = key.removeprefix("layers.0.").partition("_")
            if kind.split(".")[0] != gate:
                continue
            one = (theirs.bias_hh_l0, theirs.bias_ih_l0) if kind.endswith("bias") else (theirs.weight_hh_l0, theirs.weight_ih_l0)
            state[key] = one["WU".index(letter)][rows].detach().clone()
    ours.load_state_dict(state)
    return theirs, ours


def test_an_lstm_of_pytorch_with_the_same_weights_has_the_same_outputs_and_gradients():
    torch.manual_seed(0)
    theirs, ours = lstm_pair()
    x = numbers(5, 50, 3, dtype=torch.float32)
    results = []
    for module in (theirs, ours):
        own = x.clone().requires_grad_()
        y = module(own)[0]
        (y * numbers(*y.shape, seed=9, dtype=torch.float32)).sum().backward()
        results.append((y.detach(), own.grad))
    for a, b in zip(*reversed(results)):
        assert largest_difference(a, b) < 1e-5
    gradients = {name: p.grad for name, p in ours.named_parameters()}
    for number, gate in enumerate("ifgo"):
        rows = slice(number * 7, (number + 1) * 7)
        assert largest_difference(gradients[f"layers.0.W_{gate}"], theirs.weight_hh_l0.grad[rows]) < 1e-5
        assert largest_difference(gradients[f"layers.0.U_{gate}"], theirs.weight_ih_l0.grad[rows]) < 1e-5


def test_a_trained_model_is_loaded_by_the_names_of_its_file(trained):
    model = lagtape.load(trained)
    weights = {name: torch.tensor(value) for name, value in model.parameters.items()}
    recurrence = Recurrence("tau_gru", 1, units=6, tau=3)
    missing, unexpected = recurrence.load_state_dict(weights, strict=False)
    assert missing == [] and unexpected == ["readout.W", "readout.W.bias"]
    x = numbers(2, 20, 1, dtype=torch.float32)
    with torch.no_grad():
        y = torch.nn.functional.linear(recurrence(x)[0], weights["readout.W"], weights["readout.W.bias"])
    assert largest_difference(y, torch.from_numpy(model.predict(x.numpy()))) < 1e-5


# ---- a module among others ----


class Forecaster(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrence = Recurrence("tau_gru", 1, units=8, tau=4, seed=1)
        self.readout = torch.nn.Linear(8, 1)

    def forward(self, x):
        return self.readout(self.recurrence(x)[0])


def waves(count=32):
    phases = torch.linspace(0, 6, count).reshape(-1, 1)
    wave = torch.sin(phases + 0.3 * torch.arange(31))
    return torch.utils.data.TensorDataset(wave[:, :-1, None], wave[:, 1:, None])


def train(model, epochs=15, workers=0):
    """The loop of PyTorch's tutorials."""
    loader = torch.utils.data.DataLoader(waves(), batch_size=8, shuffle=True, num_workers=workers)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.5)
    criterion, losses = torch.nn.MSELoss(), []
    for _ in range(epochs):
        total = 0.0
        for x, target in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), target)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    return losses


@pytest.mark.slow
def test_a_loop_of_pytorch_trains_it_and_a_seed_repeats_it():
    runs = []
    for workers in (0, 0, 2):
        torch.manual_seed(3)
        runs.append(train(Forecaster(), workers=workers))
    assert runs[0][-1] < 0.1 * runs[0][0]
    assert runs[0] == runs[1]
    assert runs[2][-1] < 0.1 * runs[2][0]


def test_it_trains_with_torch_compile_around_it():
    torch.manual_seed(3)
    plain, compiled = Forecaster(), Forecaster()
    compiled.load_state_dict(plain.state_dict())
    x, target = waves(8)[:]
    gradients = []
    for model, run in ((plain, plain), (compiled, torch.compile(compiled, backend="aot_eager"))):
        torch.nn.functional.mse_loss(run(x), target).backward()
        gradients.append([p.grad for p in model.parameters()])
    for a, b in zip(*gradients):
        assert largest_difference(a, b) < 1e-5


def test_parameters_are_those_of_a_file_and_travel(tmp_path):
    layers = [{"cell": "unicornn", "units": 4, "layers": 2, "dt": 0.3}, {"cell": "gru", "units": 3}]
    recurrence = Recurrence(layers, 2).eval()
    names = [name for name, _ in recurrence.named_parameters()]
    assert [name.replace("__", ".") for name in names] == list(recurrence.state_dict()) == recurrence.names
    assert {"layers.0.1.V", "layers.0.1.V.bias", "layers.1.W_r.bias"} <= set(recurrence.names)
    assert all(isinstance(p, torch.nn.Parameter) for p in recurrence.parameters())
    x = numbers(2, 9, 2, dtype=torch.float32)
    expected = recurrence(x)[0]
    torch.save(recurrence.state_dict(), tmp_path / "state.pt")
    other = Recurrence(layers, 2).eval()
    assert not torch.equal(other(x)[0], expected)
    other.load_state_dict(torch.load(tmp_path / "state.pt"))
    for same in (other, copy.deepcopy(recurrence), pickle.loads(pickle.dumps(recurrence))):
        assert torch.equal(same(x)[0], expected)
    assert recurrence.double()(x.double())[0].dtype == torch.float64


def test_draws_follow_pytorchs_generator_and_stop_in_evaluation():
    recurrence = Recurrence([{"cell": "gru", "units": 6}, {"layer": "dropout", "rate": 0.5}], 2, seed=1)
    x = numbers(2, 9, 2, dtype=torch.float32)
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(recurrence(x)[0])
    assert torch.equal(results[0], results[1]) and not torch.equal(results[0], results[2])
    recurrence.eval()
    assert torch.equal(recurrence(x)[0], recurrence(x)[0])
    with torch.no_grad():
        assert torch.equal(recurrence(x)[0], recurrence(x)[0].detach())


def test_values_beyond_their_bounds_are_set_to_them():
    recurrence = Recurrence("tau_gru", 1, units=4, tau={"max": 8}, seed=1)
    x = numbers(1, 5, 1, dtype=torch.float32)
    bounded = [dict(recurrence.named_parameters())[name] for name in recurrence._bounds]
    assert bounded
    with torch.no_grad():
        bounded[0].fill_(1e6)
    recurrence(x)
    assert bounded[0].max() < 1e6


def test_several_passes_wait_at_a_time_and_one_is_used_twice():
    recurrence = Recurrence("lstm", 2, units=5, seed=1, dtype=torch.float64)
    x, z = numbers(3, 12, 2).requires_grad_(), numbers(4, 9, 2, seed=1).requires_grad_()
    first, second = recurrence(x)[0].sum(), recurrence(z)[0].square().sum()
    (dz,) = torch.autograd.grad(second, z)
    (dx,) = torch.autograd.grad(first, x, retain_graph=True)
    (again,) = torch.autograd.grad(first, x)
    assert torch.equal(dx, again)
    assert torch.equal(dz, torch.autograd.grad(recurrence(z)[0].square().sum(), z)[0])
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(first, x)


def test_a_tensor_that_is_not_dense_has_the_same_result():
    recurrence = Recurrence("gru", 2, units=5, seed=1)
    x = numbers(9, 3, 2, dtype=torch.float32).transpose(0, 1)
    assert not x.is_contiguous()
    assert torch.equal(recurrence(x)[0], recurrence(x.contiguous())[0])


# ---- mistakes ----


def test_mistakes_are_explained():
    recurrence = Recurrence("gru", 2, units=5)
    x = numbers(3, 4, 2, dtype=torch.float32)
    for call, message in (
        (lambda: Recurrence("gruu", 2, units=5), r"unknown cell 'gruu'; did you mean 'gru'\?"),
        (lambda: Recurrence("gru", 2), r"/model/layers/0/units"),
        (lambda: Recurrence("gru", 0, units=5), r"."),
        (lambda: Recurrence("gru", 2, units=5, memory="statess"), r"/train/memory: unknown plan 'statess'; did you mean 'states'"),
        (lambda: Recurrence("gru", 2, units=5, memory="reversible"), r"\[memory\] plan reversible"),
        (lambda: Recurrence("gru", 2, units=5, at="everystep"), r"unknown at 'everystep'; did you mean 'every_step'"),
        (lambda: Recurrence([{"layer": "bidirectional", "cell": {"cell": "gru", "units": 3}}], 2), r"takes whole sequences"),
        (lambda: Recurrence({"cell": "gru", "units": 5}, 2, tau=3), r"options as keywords go with a cell or its name"),
        (lambda: recurrence(x.double()), r"x must be of the parameters' torch.float32. Got torch.float64"),
        (lambda: recurrence(x.numpy()), r"x must be a dense tensor on the CPU. Got ndarray"),
        (lambda: recurrence(x.to("meta")), r"Got one on meta"),
        (lambda: recurrence(x[0]), r"x: expected f32 \[B, T, 2\]"),
        (lambda: recurrence(x[:, :, :1]), r"x: expected f32 \[B, T, 2\]"),
        (lambda: recurrence(x, lengths=[4, 4]), r"one for each of 3 rows"),
        (lambda: recurrence(x, lengths=[4, 4, 5]), r"lengths: expected 1 .. 4, got 5"),
        (lambda: recurrence(x, window=[x, x]), r"a window has 1 states. Got 2"),
        (lambda: recurrence(x, window=[x]), r"state 0 of the initial window"),
    ):
        with pytest.raises(lagtape.InputError, match=message):
            call()


def test_a_change_in_place_between_forward_and_backward_is_an_error():
    recurrence = Recurrence("gru", 2, units=5)
    y, _ = recurrence(numbers(3, 4, 2, dtype=torch.float32))
    with torch.no_grad():
        next(recurrence.parameters()).add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_importing_lagtape_does_not_import_torch():
    code = "import sys, lagtape; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
