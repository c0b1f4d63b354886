"""States that begin again inside a sequence."""

import os
import time

import pytest

import lagtape

torch = pytest.importorskip("torch", reason="not run: torch is missing")

from lagtape import torch as ours

LAYERS = {
    "lags": [{"cell": "tau_gru", "units": 4, "tau": 5}],
    "two layers": [{"cell": "lstm", "units": 4}, {"cell": "tau_gru", "units": 3, "tau": 4}],
    "three layers": [{"cell": "gru", "units": 5}, {"cell": "lem", "units": 4}, {"cell": "rnn", "units": 3}],
    "products of elements": [{"cell": "min_gru", "units": 4}, {"cell": "indrnn", "units": 4}, {"cell": "sru", "units": 3}],
    "oscillators": [{"cell": "cornn", "units": 4, "dt": 0.3, "gamma": 1.0, "epsilon": 0.5}, {"cell": "lstm", "units": 3}],
    "dilated": [{"cell": "gru", "units": 3, "dilations": [1, 4]}],
    "grid, without the draws of training": [{"cell": "unicornn", "units": 3, "layers": 2, "dt": 0.3}],
}
STEPS = 40


def mask(rows, steps=STEPS, share=0.1):
    generator = torch.Generator().manual_seed(2)
    return torch.rand(rows, steps, generator=generator) < share


@pytest.mark.parametrize("at", ["last_step", "mean"])
def test_what_is_read_once_a_row_is_of_its_pieces(at):
    recurrence = ours.Recurrence({"cell": "tau_gru", "units": 4, "tau": {"max": 6}}, 2, seed=1, dtype=torch.float64, at=at)
    x, reset, lengths = torch.randn(20, STEPS, 2, dtype=torch.float64), mask(20), [STEPS, *range(1, 20)]
    results = []
    for whole in (True, False):
        leaf = x.clone().requires_grad_()
        recurrence.zero_grad()
        if whole:
            y, _ = recurrence(leaf, lengths=lengths, reset=reset)
        else:
            rows = []
            for b, length in enumerate(lengths):
                cuts = [0, *(n for n in range(1, length) if reset[b, n]), length]
                parts = [(last - first, recurrence(leaf[b : b + 1, first:last])[0]) for first, last in zip(cuts, cuts[1:])]
                rows.append(parts[-1][1] if at == "last_step" else sum(n * part for n, part in parts) / length)
            y = torch.cat(rows)
        y.sin().sum().backward()
        results.append([y, leaf.grad, *(p.grad for p in recurrence.parameters())])
    assert reset[0].sum() > 2 and all(one.abs().max() > 0 for one in results[0])
    for a, b in zip(*results):
        assert (a - b).abs().max() <= 1e-12 * max(1, b.abs().max())


EQUATIONS = {"reads": {"reset": -1}, "weights": {"W": ["units", "units"], "V": ["units", "units"], "U": ["units", "input"]},
             "state": {"h": "units"}, "step": ["h' = 0.5 * h + tanh(W @ h + V @ h[-20] + U @ x)"], "output": "h'"}
TIMED = {"lags": {"cell": "tau_gru", "tau": 65}, "lstm": {"cell": "lstm"}, "equations": {"cell": "c"}}


@pytest.mark.skipif("LAGTAPE_TIMES" not in os.environ, reason="not run: a time, which a busy machine changes; LAGTAPE_TIMES=1 runs it")
@pytest.mark.parametrize("cell", list(TIMED))
@pytest.mark.parametrize("units, batch", [(16, 128), (64, 32), (128, 128)])
def test_a_reset_in_a_thousand_steps_costs_little(cell, units, batch):
    cells = {"c": EQUATIONS} if cell == "equations" else None
    recurrence = ours.Recurrence({**TIMED[cell], "units": units}, 2, cells=cells, seed=1, threads=1)
    x, reset = torch.randn(batch, 1000, 2), mask(batch, 1000, 0.001)
    plain, flagged = x.clone(), x.clone()
    plain[..., 1], flagged[..., 1] = 0, reset
    assert reset.sum() > batch / 4

    def seconds(x, **more):
        begin = time.thread_time()
        recurrence.zero_grad()
        recurrence(x, **more)[0].sum().backward()
        return time.thread_time() - begin

    with_resets = (lambda: seconds(flagged)) if cells else (lambda: seconds(x, reset=reset))
    pairs = [(with_resets(), seconds(plain)) for _ in range(25)][1:]
    ratio = min(a for a, _ in pairs) / min(b for _, b in pairs)
    print(f"{cell}, {units} units, {batch} rows: {ratio:.3f}")
    assert ratio < 1.05, ratio  # questions at every step took 1.09 to 1.5


def in_pieces(recurrence, x, reset, window, length):
    """A row's outputs and last window, from calls that begin and end at its resets."""
    cuts = [0, *(n for n in range(1, length) if reset[n]), length]
    pieces, start = [], None if reset[0] else window
    for first, last in zip(cuts, cuts[1:]):
        y, after = recurrence(x[:, first:last], window=start)
        pieces.append(y)
        start = None
    return torch.cat(pieces, 1), after


@pytest.mark.parametrize("layers", list(LAYERS))
@pytest.mark.parametrize("memory", ["full", "states", "checkpoint"])
@pytest.mark.parametrize("rows, share", [(5, 0.1), (16, 0.02)])
def test_a_row_with_resets_is_its_pieces(layers, memory, rows, share):
    recurrence = ours.Recurrence(LAYERS[layers], 2, seed=1, dtype=torch.float64, memory=memory).eval()
    torch.manual_seed(4)
    x = torch.randn(rows, STEPS, 2, dtype=torch.float64)
    reset, lengths = mask(rows, share=share), [STEPS, 7, 31, STEPS, 1, *[STEPS] * 11][:rows]
    reset[4, 0], reset[0] = True, False
    assert reset[:, 1:].sum() > 5
    window = [0.5 * torch.randn_like(state) for state in recurrence.zero_window(rows)]
    results = []
    for whole in (True, False):
        leaf, start = x.clone().requires_grad_(), [state.clone().requires_grad_() for state in window]
        recurrence.zero_grad()
        if whole:
            y, after = recurrence(leaf, lengths=lengths, window=start, reset=reset)
            parts = [y[b : b + 1, : lengths[b]] for b in range(rows)]
            ends = [[state[:, b : b + 1] for state in after] for b in range(rows)]
        else:
            both = [in_pieces(recurrence, leaf[b : b + 1], reset[b], [state[:, b : b + 1] for state in start], lengths[b])
                    for b in range(rows)]
            parts, ends = zip(*both)
        (sum(part.sin().sum() for part in parts) + sum(state.square().sum() for end in ends for state in end)).backward()
        results.append([*parts, *(state for end in ends for state in end), leaf.grad, *(state.grad for state in start),
                        *(p.grad for p in recurrence.parameters())])
    assert results[0][0].abs().max() > 0 and results[0][10].abs().max() > 0
    for a, b in zip(*results):
        assert (a - b).abs().max() <= 1e-12 * max(1, b.abs().max()), (a - b).abs().max()
    with torch.no_grad():
        assert torch.equal(recurrence(x, lengths=lengths, window=window, reset=reset)[0][0], results[0][0][0])


def test_no_reset_is_the_plain_pass():
    recurrence = ours.Recurrence("tau_gru", 2, units=4, tau=5, seed=1)
    x = torch.randn(3, STEPS, 2)
    none, some = torch.zeros(3, STEPS, dtype=torch.bool), torch.zeros(3, STEPS, dtype=torch.bool)
    some[1, 20] = True
    assert (recurrence(x, reset=none)[0] - recurrence(x)[0]).abs().max() < 1e-6
    difference = (recurrence(x, reset=some)[0] - recurrence(x)[0]).abs().amax(2)
    assert difference[1, 20:].min() > 1e-6 > difference[[0, 2]].max() and difference[1, :20].max() < 1e-6


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_layers_in_place_of_pytorchs_begin_again(name, both, batch_first):
    torch.manual_seed(4)
    layer = getattr(ours, name)(2, 3, num_layers=1, bidirectional=both, batch_first=True)
    theirs = getattr(torch.nn, name)(2, 3, num_layers=1, bidirectional=both, batch_first=True)
    theirs.load_state_dict(layer.state_dict())
    layer.batch_first = batch_first
    x, reset = torch.randn(1, 12, 2), torch.zeros(1, 12, dtype=torch.bool)
    reset[0, [4, 9]] = True
    wanted = torch.cat([theirs(piece)[0] for piece in x.split([4, 5, 3], 1)], 1)
    y = layer(x if batch_first else x.transpose(0, 1), reset=reset if batch_first else reset.transpose(0, 1))[0]
    assert ((y if batch_first else y.transpose(0, 1)) - wanted).abs().max() < 1e-6 < wanted.abs().max()
    assert (layer(x[0], reset=reset[0])[0] - wanted[0]).abs().max() < 1e-6


def test_a_graph_takes_resets():
    torch._dynamo.reset()
    recurrence = ours.Recurrence("tau_gru", 2, units=4, tau=5, seed=1)
    x, reset = torch.randn(3, STEPS, 2), mask(3)
    run = torch.compile(recurrence, backend="aot_eager", fullgraph=True)
    assert torch.equal(run(x, reset=reset)[0], recurrence(x, reset=reset)[0])


def test_mistakes_are_explained():
    recurrence, x = ours.Recurrence("gru", 2, units=3), torch.randn(3, 5, 2)
    good = torch.zeros(3, 5, dtype=torch.bool)
    for call, message in (
        (lambda: recurrence(x, reset=good[:2]), r"reset must be a tensor of bool \[B, T\], here \[3, 5\]. Got torch.bool \[2, 5\]"),
        (lambda: recurrence(x, reset=good.float()), r"Got torch.float32 \[3, 5\]"),
        (lambda: recurrence(x, reset=good.numpy()), r"reset must be a dense tensor on the CPU. Got ndarray"),
        (lambda: ours.LSTM(2, 3)(x, reset=good[:2]), r"reset must be"),
        (lambda: ours.LSTM(2, 3)(torch.nn.utils.rnn.pack_sequence([x[0]]), reset=good), r"a PackedSequence has no reset"),
    ):
        with pytest.raises(lagtape.InputError, match=message):
            call()
