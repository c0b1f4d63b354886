"""Recurrences in graphs of PyTorch (torch.compile, torch.export, ONNX), and in several processes."""

import os
import socket

import pytest

import lagtape

torch = pytest.importorskip("torch", reason="not run: torch is missing")

from lagtape.torch import LSTM, Recurrence
from torch import nn


class Model(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer = {"cell": lambda: Recurrence("tau_gru", 2, units=4, tau=3), "bounds": lambda: Recurrence("tau_gru", 2, units=4, tau={"max": 8}),
                      "two ways": lambda: LSTM(2, 2, batch_first=True, bidirectional=True),
                      "dropout": lambda: Recurrence([{"cell": "gru", "units": 4}, {"layer": "dropout", "rate": 0.5}], 2)}[kind]()
        self.readout = nn.Linear(4, 1)

    def forward(self, x):
        return self.readout(self.layer(x)[0])


def gradients(model, run, x):
    model.zero_grad()
    y = run(x)
    y.square().mean().backward()
    return [y.detach(), *(p.grad.clone() for p in model.parameters())]


@pytest.mark.parametrize("kind", ["cell", "bounds", "two ways"])
def test_a_compiled_model_has_one_operator_and_the_same_bits(kind):
    torch._dynamo.reset()
    torch.manual_seed(1)
    model, x = Model(kind), torch.randn(3, 9, 2)
    run = torch.compile(model, backend="aot_eager", fullgraph=True)
    results = gradients(model, model, x), gradients(model, run, x)
    assert all(torch.equal(a, b) and a.abs().max() > 0 for a, b in zip(*results))
    with torch.no_grad():
        assert torch.equal(run(x), model(x))


def test_draws_of_a_compiled_model_follow_the_generator():
    torch._dynamo.reset()
    model, x = Model("dropout"), torch.randn(3, 9, 2)
    run = torch.compile(model, backend="aot_eager", fullgraph=True)
    results = []
    for seed, call in ((1, run), (1, run), (1, model), (2, run)):
        torch.manual_seed(seed)
        results.append(call(x).detach())
    assert torch.equal(results[0], results[1]) and torch.equal(results[0], results[2]) and not torch.equal(results[0], results[3])


@pytest.mark.parametrize("kind, operators", [("cell", 1), ("two ways", 2)])
def test_an_exported_program_keeps_the_operator(kind, operators):
    model, x = Model(kind), torch.randn(3, 9, 2)
    program = torch.export.export(model, (x,))
    assert [str(node.target) for node in program.graph.nodes].count("lagtape.recurrence.default") == operators
    assert torch.equal(program.module()(x), model(x))


def test_the_operator_passes_the_checks_of_pytorch():
    recurrence = Recurrence("gru", 2, units=3, dtype=torch.float64)
    values = [p.detach().clone().requires_grad_() for p in recurrence.parameters()]
    x, window = torch.randn(2, 5, 2, dtype=torch.float64, requires_grad=True), torch.randn(1, 2, 3, dtype=torch.float64)
    arguments = (recurrence.engine.text, x, values, [window], None, None, None, [True, True, False])
    torch.library.opcheck(torch.ops.lagtape.recurrence.default, arguments,
                          test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))


def test_results_whose_graph_is_gone_are_freed():
    from lagtape.torch import _tokens

    recurrence = Recurrence("gru", 2, units=3)
    values, x = list(recurrence.parameters()), torch.randn(2, 5, 2)
    outputs = torch.ops.lagtape.recurrence(recurrence.engine.text, x, values, [], None, None, None, [True, False, False])
    assert len(_tokens._tokens) == 1
    copy = outputs[-1].clone()
    outputs[0].sum().backward()
    wanted = [p.grad.clone() for p in values]
    del outputs
    assert len(_tokens._tokens) == 0
    found = torch.ops.lagtape.recurrence_backward(recurrence.engine.text, x, [p.detach() for p in values], [], None, None, None,
                                                  [True, False, False], copy, [torch.ones(2, 5, 3), None])
    assert all(torch.equal(a, b) for a, b in zip(found, wanted))


def test_tracing_ends_with_what_to_do():
    x = torch.randn(3, 9, 2)
    for module in (Recurrence("gru", 2, units=3), LSTM(2, 3)):
        with pytest.raises(lagtape.InputError, match=r"torch.jit.trace cannot record (a Recurrence|LSTM). Use torch.export"):
            torch.jit.trace(module, (x,))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_onnx_of_a_recurrence_is_lagtapes_own(tmp_path):
    pytest.importorskip("onnxscript", reason="not run: onnxscript is missing")
    with pytest.raises(Exception, match="Write the ONNX file by lagtape"):
        torch.onnx.export(Recurrence("gru", 2, units=3), (torch.randn(3, 9, 2),), str(tmp_path / "m.onnx"))
    torch.onnx.export(LSTM(2, 3).eval(), (torch.randn(3, 9, 2),), str(tmp_path / "l.onnx"), verbose=False)
    import onnx

    assert "LSTM" in [node.op_type for node in onnx.load(tmp_path / "l.onnx").graph.node]


# ---- several processes ----


def steps(model, rows, updates=3):
    """Trains on some rows of a batch that all processes know."""
    generator = torch.Generator().manual_seed(7)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(updates):
        x = torch.randn(8, 9, 2, generator=generator)
        optimizer.zero_grad()
        model(x[rows]).square().mean().backward()
        optimizer.step()
    return [p.detach().clone() for p in model.parameters()]


def one_of_two(rank, port, file):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(1)
    found = steps(nn.parallel.DistributedDataParallel(Model("cell")), slice(4 * rank, 4 * rank + 4))
    torch.save(found, f"{file}{rank}")
    torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_train_as_one(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(one_of_two, (port, str(tmp_path / "found")), nprocs=2)
    torch.manual_seed(1)
    model = Model("cell")
    before = [p.detach().clone() for p in model.parameters()]
    wanted = steps(model, slice(0, 8))
    assert max((a - b).abs().max() for a, b in zip(before, wanted)) > 1e-3
    for rank in (0, 1):
        for a, b in zip(torch.load(tmp_path / f"found{rank}"), wanted):
            assert (a - b).abs().max() < 1e-6
