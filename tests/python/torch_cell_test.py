"""Cells of Python inside PyTorch."""

import lagtape
import pytest

torch = pytest.importorskip("torch")
from lagtape.torch import Recurrence  # noqa: E402


def test_a_cell_of_python_takes_its_options_as_keywords():
    @lagtape.cell
    def leaky(s, units, tau=5):
        h, W, U = s.state("h", units), s.weight("W", (units, units)), s.weight("U", (units, s.input.size))
        s.next(h, 0.9 * h + 0.1 * lagtape.tanh(W @ h[-tau] + U @ s.input))
        return s.next_of(h)

    x = torch.linspace(-1, 1, 72, dtype=torch.float64).reshape(3, 12, 2)
    found = Recurrence(leaky, 2, units=4, tau=7, seed=1, dtype=torch.float64)
    same = Recurrence({"cell": leaky, "units": 4, "tau": 7}, 2, seed=1, dtype=torch.float64)
    other = Recurrence({"cell": leaky, "units": 4}, 2, seed=1, dtype=torch.float64)
    assert torch.equal(found(x)[0], same(x)[0])
    assert not torch.equal(found(x)[0], other(x)[0])
