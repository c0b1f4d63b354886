"""lagtape.torch.LSTM, GRU and RNN in place of PyTorch's own."""

import copy
import itertools
import pickle

import pytest

import lagtape

torch = pytest.importorskip("torch", reason="not run: torch is missing")

from lagtape import torch as ours
from torch.nn.utils.rnn import PackedSequence, pack_sequence


def cases():
    for name, layers, bias, batch_first, both in itertools.product(("LSTM", "GRU", "RNN"), (1, 2), (True, False), (True, False), (False, True)):
        for options in ({}, {"nonlinearity": "relu"}) if name == "RNN" else ({},):
            options = {**options, "num_layers": layers, "bias": bias, "batch_first": batch_first, "bidirectional": both}
            yield pytest.param(name, options, id=f"{name}-{'-'.join(str(value) for value in options.values())}")


def pair(name, *sizes, **options):
    """PyTorch's layer and lagtape's with its parameters."""
    torch.manual_seed(3)
    theirs = getattr(torch.nn, name)(*sizes, **options)
    mine = getattr(ours, name)(*sizes, **options)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    mine.load_state_dict(theirs.state_dict())
    return theirs, mine


def first_states(module, rows, units=5):
    count = module.num_layers * (2 if module.bidirectional else 1)
    states = [torch.randn(count, *rows, units) for _ in range(2 if module.mode == "LSTM" else 1)]
    return tuple(states) if len(states) > 1 else states[0]


def results(module, x, hx):
    """The outputs, the last states, and the gradients of all that they depend on."""
    inputs = [x, *(hx if isinstance(hx, tuple) else [] if hx is None else [hx])]
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    given = None if hx is None else tuple(leaves[1:]) if isinstance(hx, tuple) else leaves[1]
    module.zero_grad()
    y, after = module(leaves[0], given)
    after = after if isinstance(after, tuple) else (after,)
    (y.sin().sum() + sum(state.square().sum() for state in after)).backward()
    return [y, *after, *(leaf.grad for leaf in leaves), *(p.grad for p in module.parameters())]


def assert_equal(mine, theirs, most=1e-6):
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs):
        assert a.shape == b.shape and b.abs().max() > 0
        assert (a - b).abs().max() <= most * max(1, b.abs().max()), (a - b).abs().max()


@pytest.mark.parametrize("name, options", list(cases()))
def test_outputs_states_and_gradients_are_those_of_pytorch(name, options):
    theirs, mine = pair(name, 3, 5, **options)
    x = torch.randn(4, 7, 3)
    rows = (4 if options["batch_first"] else 7,)
    for hx in (None, first_states(theirs, rows)):
        assert_equal(results(mine, x, hx), results(theirs, x, hx), 2e-6)
    one = torch.randn(7, 3)
    torch.manual_seed(4)
    hx = first_states(theirs, ())
    assert_equal(results(mine, one, hx), results(theirs, one, hx), 2e-6)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_packed_sequences_go_in_and_come_out(name, both, is_sorted):
    theirs, mine = pair(name, 3, 5, num_layers=2, bidirectional=both)
    lengths = (7, 5, 2) if is_sorted else (5, 7, 2)
    packed = pack_sequence([torch.randn(length, 3) for length in lengths], enforce_sorted=is_sorted)
    for hx in (None, first_states(theirs, (3,))):
        (a, after), (b, wanted) = mine(packed, hx), theirs(packed, hx)
        assert isinstance(a, PackedSequence) and torch.equal(a.batch_sizes, b.batch_sizes)
        assert (a.sorted_indices is None) == (b.sorted_indices is None) == is_sorted
        states = [list(state) if isinstance(state, tuple) else [state] for state in (after, wanted)]
        assert_equal([a.data, *states[0]], [b.data, *states[1]])


def test_a_recurrence_takes_packed_sequences():
    recurrence = ours.Recurrence("tau_gru", 3, units=4, tau=2, seed=1)
    sequences = [torch.randn(length, 3) for length in (5, 7, 2)]
    y, window = recurrence(pack_sequence(sequences, enforce_sorted=False))
    alone = [recurrence(sequence.unsqueeze(0)) for sequence in sequences]
    assert isinstance(y, PackedSequence)
    rows = torch.nn.utils.rnn.unpack_sequence(y)
    for b, (own, after) in enumerate(alone):
        assert torch.equal(rows[b], own[0]) and torch.equal(window[0][:, b], after[0][:, 0])
    last = ours.Recurrence("tau_gru", 3, units=4, tau=2, seed=1, at="last_step")
    assert torch.equal(last(pack_sequence(sequences, enforce_sorted=False))[0], torch.cat([own[:, -1] for own, _ in alone]))


def test_dropout_between_layers_is_drawn_in_training_alone():
    for both in (False, True):
        theirs, mine = pair("LSTM", 3, 5, num_layers=2, dropout=0.5, bidirectional=both)
        x = torch.randn(4, 7, 3)
        assert_equal([mine.eval()(x)[0]], [theirs.eval()(x)[0]])
        drawn = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            drawn.append(mine.train()(x)[0])
        assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])


def test_it_travels_and_changes_precision():
    theirs, mine = pair("GRU", 3, 5)
    x = torch.randn(4, 7, 3)
    for same in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert torch.equal(same(x)[0], mine(x)[0])
    assert_equal([mine.double()(x.double())[0]], [theirs.double()(x.double())[0]], 1e-12)


def test_mistakes_are_explained():
    layer = ours.LSTM(3, 5)
    x = torch.randn(7, 4, 3)
    packed = pack_sequence([torch.randn(3, 3)])
    for call, message in (
        (lambda: ours.LSTM(3, 5, proj_size=2), r"\[torch\] LSTM: proj_size is not supported. Got 2; use torch.nn.LSTM"),
        (lambda: ours.LSTM(3, 5, 1, True, False, 0.0, False, 2), r"LSTM: proj_size"),
        (lambda: ours.GRU(3, 5, proj_size=2), r"GRU: proj_size"),
        (lambda: ours.RNN(3, 5, nonlinearity="sigmoid"), r"nonlinearity is 'tanh' or 'relu'. Got 'sigmoid'"),
        (lambda: ours.LSTM(3, 5, dtype=torch.float16), r"float32 and float64. Got torch.float16"),
        (lambda: layer(x.double()), r"input must be of the parameters' torch.float32. Got torch.float64"),
        (lambda: layer(x.numpy()), r"input must be a dense tensor on the CPU. Got ndarray"),
        (lambda: layer(x[:, :, :2]), r"LSTM: the input is \[T, B, 3\] or \[T, 3\]. Got \[7, 4, 2\]"),
        (lambda: layer(x[:0]), r"Got \[0, 4, 3\]"),
        (lambda: layer(x, torch.zeros(1, 4, 5)), r"the first states are 2 of \[1, 4, 5\]. Got \[1, 4, 5\]"),
        (lambda: layer(x, (torch.zeros(1, 7, 5),) * 2), r"the first states are 2 of \[1, 4, 5\]. Got \[1, 7, 5\], \[1, 7, 5\]"),
        (lambda: layer(x, (None, None)), r"a first state must be a dense tensor"),
        (lambda: ours.Recurrence("gru", 3, units=2)(packed, lengths=[3]), r"a PackedSequence has its own lengths"),
    ):
        with pytest.raises(lagtape.InputError, match=message):
            call()


def test_autocast_gives_the_layers_their_own_precision():
    layer, recurrence, x = ours.LSTM(2, 3, batch_first=True), ours.Recurrence("gru", 2, units=3), torch.randn(2, 5, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        below = torch.nn.Linear(2, 2)(x)
        assert below.dtype == torch.bfloat16
        outputs = [layer(below)[0], layer(below, (torch.zeros(1, 2, 3, dtype=torch.bfloat16),) * 2)[0], recurrence(below)[0]]
    for y, run in zip(outputs, (layer, layer, recurrence)):
        assert torch.equal(y, run(below.float())[0]) and y.dtype == torch.float32
    with pytest.raises(lagtape.InputError, match="must be of the parameters' torch.float32. Got torch.bfloat16"):
        layer(below)
    with pytest.raises(lagtape.InputError, match="must be a dense tensor on the CPU. Got one of torch.sparse_coo"):
        recurrence(x.to_sparse())
