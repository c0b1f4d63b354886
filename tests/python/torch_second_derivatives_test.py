"""Derivatives of lagtape.torch.Recurrence beyond the first, forward mode and torch.func. Needs torch, which tools/setup.sh does not
install."""

import pytest
from torch_test import differentiable_cases, numbers, window_of

torch = pytest.importorskip("torch", reason="not run: torch is missing")

from lagtape.torch import LSTM, Recurrence
from torch import nn

EXACT = {"rtol": 1e-9, "atol": 1e-9}


def scalar(y, after):
    """A function of all outputs and windows that is not linear in any."""
    return sum((tensor.sin() * (1 + torch.arange(tensor.numel(), dtype=tensor.dtype).reshape(tensor.shape) / 7)).sum() for tensor in (y, *after))


def second_by_differences(value, tensors, directions, h=1e-4):
    """H v by central differences of gradients, of the eighth order."""
    def gradient(step):
        moved = [(t.detach() + step * d).requires_grad_() for t, d in zip(tensors, directions)]
        return torch.autograd.grad(value(*moved), moved)

    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    sums = [torch.zeros_like(t) for t in tensors]
    for k, weight in weights.items():
        for up, down, total in zip(gradient(k * h), gradient(-k * h), sums):
            total += weight * (up - down) / h
    return sums


def with_all_inputs(layer, at="every_step"):
    """A recurrence of f64, and a function of x, its window and its parameters."""
    width = layer["units"] if layer["cell"] == "s4d" else 2
    recurrence = Recurrence(layer, width, seed=1, at=at, dtype=torch.float64, threads=1).eval()
    x, window = numbers(3, 7, width).requires_grad_(), window_of(recurrence, 3)
    names = [name for name, _ in recurrence.named_parameters()]

    def outputs(x, *tensors):
        values = dict(zip(names, tensors[len(window):]))
        return torch.func.functional_call(recurrence, values, (x,), {"lengths": [7, 2, 5], "window": tensors[: len(window)]})

    return outputs, [x, *window, *recurrence.parameters()]


@pytest.mark.parametrize("layer", differentiable_cases())
def test_second_derivatives_of_every_cell_are_those_of_differences(layer):
    outputs, tensors = with_all_inputs(layer)
    directions = [numbers(*t.shape, seed=20 + i) / 4 for i, t in enumerate(tensors)]
    value = lambda *moved: scalar(*outputs(*moved))  # noqa: E731
    gradients = torch.autograd.grad(value(*tensors), tensors, create_graph=True)
    found = torch.autograd.grad(sum((g * d).sum() for g, d in zip(gradients, directions)), tensors)
    on_grid = layer.get("arithmetic") == "grid"  # states are rounded, which differences see the less, the larger their step is
    step = 2e-6 if layer["cell"] == "indrnn" else 1e-2 if on_grid else 1e-4  # kinks of relu are near
    wanted = second_by_differences(value, tensors, directions, step)
    scale = max(w.abs().max() for w in wanted)
    assert scale > 0.1
    for a, b in zip(found, wanted):
        assert (a - b).abs().max() < (1e-7 if on_grid else 1e-9) * scale


@pytest.mark.parametrize("layer", [{"cell": "tau_gru", "units": 3, "tau": 2}, {"cell": "exp_rnn", "units": 3}, {"cell": "lstm", "units": 2}],
                         ids=lambda layer: layer["cell"])
@pytest.mark.parametrize("at", ["every_step", "last_step", "mean"])
def test_gradgradcheck_passes(layer, at):
    outputs, tensors = with_all_inputs(layer, at)
    flat = lambda *moved: tuple(torch.cat([t.flatten() for t in group]) for group in ([r] for r in [outputs(*moved)[0], *outputs(*moved)[1]]))  # noqa: E731
    assert torch.autograd.gradgradcheck(flat, tuple(tensors), fast_mode=True, atol=1e-7, rtol=1e-6)


def lstm_beside_torchs():
    ours, theirs = LSTM(2, 3, batch_first=True, dtype=torch.float64), nn.LSTM(2, 3, batch_first=True, dtype=torch.float64)
    theirs.load_state_dict(ours.state_dict())
    return ours, theirs


def test_a_penalty_on_the_gradient_enters_the_gradient():
    results = []
    x = numbers(4, 6, 2)
    for module in lstm_beside_torchs():
        given = x.clone().requires_grad_()
        y = module(given)[0]
        (gradient,) = torch.autograd.grad(y.sum(), given, create_graph=True)
        (y.mean() + 10 * (gradient.norm() - 1) ** 2).backward()
        results.append([given.grad, *(p.grad for p in module.parameters())])
    for a, b in zip(*results):
        torch.testing.assert_close(a, b, **EXACT)
        assert a.abs().max() > 1e-3


def test_hessians_and_products_with_them_are_those_of_torchs_lstm():
    x, v = numbers(2, 4, 2), numbers(2, 4, 2, seed=3)
    functional = torch.autograd.functional
    results = []
    for module in lstm_beside_torchs():
        value = lambda given: module(given)[0].square().sum()  # noqa: B023,E731
        results.append([functional.hessian(value, x), functional.hvp(value, x, v)[1],
                        functional.vhp(value, x, v)[1], functional.jvp(value, x, v)[1], functional.jacobian(lambda given: module(given)[0], x),  # noqa: B023
                        torch.func.grad(value)(x)])
    for a, b in zip(*results):
        torch.testing.assert_close(a, b, **EXACT)
        assert a.abs().max() > 1e-3


def test_batches_of_gradients_of_the_old_way_are_refused():
    recurrence = Recurrence("gru", 2, units=3, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="vectorize=True are not supported"):
        torch.autograd.functional.hessian(lambda given: recurrence(given)[0].square().sum(), numbers(2, 4, 2), vectorize=True)
    x = numbers(2, 4, 2).requires_grad_()
    y = recurrence(x)[0].sum((0, 2))
    with pytest.raises(RuntimeError, match="is_grads_batched=True"):
        torch.autograd.grad(y, x, torch.eye(4, dtype=torch.float64), is_grads_batched=True)


def test_forward_mode_and_transforms_agree_with_reverse_mode():
    recurrence = Recurrence("tau_gru", 2, units=3, tau=2, seed=1, dtype=torch.float64)
    x, v = numbers(2, 5, 2), numbers(2, 5, 2, seed=3)
    value = lambda given: recurrence(given)[0].square().sum()  # noqa: E731
    hessian = torch.autograd.functional.hessian(value, x)
    torch.testing.assert_close(torch.func.hessian(value)(x), hessian, **EXACT)
    torch.testing.assert_close(torch.func.jacrev(torch.func.grad(value))(x), hessian, **EXACT)
    torch.testing.assert_close(torch.func.jacfwd(torch.func.jacfwd(value))(x), hessian, **EXACT)
    torch.testing.assert_close(torch.func.jvp(torch.func.grad(value), (x,), (v,))[1], torch.einsum("abcdef,def->abc", hessian, v), **EXACT)
    rows = torch.stack([x, v, x + v])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(value))(rows), torch.stack([torch.func.grad(value)(row) for row in rows]), **EXACT)
    (gradient,) = torch.autograd.grad(value(x.requires_grad_()), x)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x.detach(), v)
        change = torch.autograd.forward_ad.unpack_dual(value(dual)).tangent
        with torch.no_grad():
            assert torch.equal(torch.autograd.forward_ad.unpack_dual(value(dual)).tangent, change)
    torch.testing.assert_close(change, (gradient * v).sum(), **EXACT)
    assert hessian.abs().max() > 0.01


def test_gradients_by_single_sequences_of_parameters():
    recurrence = Recurrence("lem", 2, units=3, seed=1, dtype=torch.float64)
    x = numbers(4, 5, 2)
    values = dict(recurrence.named_parameters())

    def value(parameters, sequence):
        return torch.func.functional_call(recurrence, parameters, (sequence[None],))[0].square().sum()

    each = torch.func.vmap(torch.func.grad(value), in_dims=(None, 0))(values, x)
    whole = torch.func.grad(lambda parameters: sum(value(parameters, row) for row in x))(values)
    for name, gradient in whole.items():
        assert each[name].shape == (4, *gradient.shape)
        torch.testing.assert_close(each[name].sum(0), gradient, **EXACT)


def test_third_derivatives_are_those_of_torchs_lstm():
    x, results = numbers(1, 3, 2), []
    for module in lstm_beside_torchs():
        given = x.clone().requires_grad_()
        derivative = module(given)[0].square().sum()
        for _ in range(3):
            (first,) = torch.autograd.grad(derivative, given, create_graph=True)
            derivative = first.sin().sum()
        results.append(first.detach())
    torch.testing.assert_close(*results, **EXACT)
    assert results[0].abs().max() > 1e-3


def test_second_derivatives_with_resets_lengths_dropout_and_all_plans():
    layers = [{"cell": "gru", "units": 4}, {"layer": "dropout", "rate": 0.3}, {"cell": "tau_gru", "units": 3, "tau": 3}]
    x, found = numbers(3, 30, 2), []
    reset = torch.rand(3, 30, generator=torch.Generator().manual_seed(1)) < 0.2
    for memory in ("full", "states", "checkpoint"):
        recurrence = Recurrence(layers, 2, seed=1, dtype=torch.float64, memory=memory)
        tensors = [x.clone().requires_grad_(), *recurrence.parameters()]

        def value(given, *_):
            torch.manual_seed(7)
            return scalar(*recurrence(given, lengths=[30, 4, 17], reset=reset))  # noqa: B023

        gradients = torch.autograd.grad(value(*tensors), tensors, create_graph=True)
        found.append(torch.autograd.grad(sum((g * g).sum() for g in gradients), tensors))
        (wanted,) = second_by_differences(value, tensors[:1], [gradients[0].detach()])
        (exact,) = torch.autograd.grad((torch.autograd.grad(value(*tensors), tensors[0], create_graph=True)[0] * gradients[0].detach()).sum(),
                                       tensors[0])
        assert (exact - wanted).abs().max() < 1e-8 * wanted.abs().max()
    for other in found[1:]:
        for a, b in zip(found[0], other):
            torch.testing.assert_close(a, b, **EXACT)
    assert found[0][0].abs().max() > 1e-3


def test_create_graph_changes_no_bit_of_the_gradient():
    recurrence = Recurrence("unicornn", 2, units=3, dt=0.3, seed=1).eval()
    x = numbers(2, 9, 2, dtype=torch.float32).requires_grad_()
    plain, with_graph = (torch.autograd.grad(recurrence(x)[0].sum(), x, create_graph=graph)[0] for graph in (False, True))
    assert torch.equal(plain, with_graph) and plain.abs().max() > 1e-5
    (second,) = torch.autograd.grad(with_graph.square().sum(), x)
    assert second.dtype == torch.float32 and second.abs().max() > 0


def test_compiled_graphs_refuse_what_they_do_not_have():
    recurrence = Recurrence("gru", 2, units=3)
    x = torch.randn(2, 5, 2, requires_grad=True)
    y = torch.ops.lagtape.recurrence(recurrence.engine.text, x, list(recurrence.parameters()), [], None, None, None, [True, True, False])[0]
    (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivatives.*Call the module itself"):
        gradient.sum().backward()
