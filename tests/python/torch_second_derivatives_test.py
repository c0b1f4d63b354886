"""Second derivatives of lagtape.torch.Recurrence, which it does not have. Needs torch, which tools/setup.sh does not install."""

import pytest

torch = pytest.importorskip("torch", reason="not run: torch is missing")

from lagtape.torch import Recurrence


@pytest.mark.parametrize("loss", [lambda y: y.square().sum(), lambda y: y.sum()], ids=["square", "sum"])
def test_every_way_to_ask_for_second_derivatives_raises(loss):
    recurrence = Recurrence("tau_gru", 2, units=3, tau=2, dtype=torch.float64)
    x = torch.rand(2, 4, 2, dtype=torch.float64, requires_grad=True)
    y = recurrence(x)[0]
    (gradient,) = torch.autograd.grad(loss(y), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivatives"):
        (y.mean() + 10 * (gradient.norm() - 1) ** 2).backward()
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.functional.hessian(lambda x: loss(recurrence(x)[0]), x)
    weights = list(recurrence.parameters())
    of_weights = torch.autograd.grad(loss(recurrence(x)[0]), weights, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.grad(sum(g.sum() for g in of_weights), weights)
    plain = torch.autograd.grad(loss(recurrence(x)[0]), x)[0]
    assert torch.equal(plain, torch.autograd.grad(loss(recurrence(x)[0]), x, create_graph=True)[0])
    assert plain.abs().max() > 0.01
