"""Writes loops and cells of PyTorch as its exporters write them beside itself, NAME.onnx, a checkpoint of torch.save, and
loop_outputs.safetensors: for each its input NAME.x and what PyTorch gives for it, NAME.y.

usage: make_loops.py        (torch 2.13.0, onnx 1.23.2, onnxscript 0.7.2, safetensors 0.8.0)
"""

import pathlib
import warnings
from typing import List

import onnx
import torch
from safetensors.torch import save_file
from torch import nn

FOLDER = pathlib.Path(__file__).parent


class Leaky(nn.Module):
    """A leaky unit in a loop of TorchScript, whose outputs are a list."""

    def __init__(self):
        super().__init__()
        self.of_state, self.of_input, self.fc = nn.Linear(4, 4), nn.Linear(3, 4), nn.Linear(4, 2)
        self.rate = nn.Parameter(torch.rand(4))

    def forward(self, x):
        h = torch.zeros(x.size(0), 4)
        outputs: List[torch.Tensor] = []
        for t in range(x.size(1)):
            h = h + self.rate * (torch.tanh(self.of_state(h) + self.of_input(x[:, t])) - h)
            outputs.append(h)
        return self.fc(torch.stack(outputs, 1))


class Cell(nn.Module):
    """An nn.LSTMCell in a loop of TorchScript, which exports it as an LSTM of one step."""

    def __init__(self):
        super().__init__()
        self.cell, self.fc = nn.LSTMCell(3, 4), nn.Linear(8, 2)

    def forward(self, x):
        h = torch.zeros(x.size(0), 4)
        c = torch.zeros(x.size(0), 4)
        for t in range(x.size(1)):
            h, c = self.cell(x[:, t], (h, c))
        return self.fc(torch.cat([h, c], 1))


class Scanned(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.fc = nn.GRUCell(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        from torch._higher_order_ops.scan import scan

        def step(h, of_step):
            h = self.cell(of_step, h)
            return h, h.clone()

        return self.fc(scan(step, torch.zeros(x.size(0), 4), x.transpose(0, 1), dim=0)[1].transpose(0, 1))


class Memory(nn.Module):
    """A head on the last memory of an LSTM of two layers in both directions."""

    def __init__(self):
        super().__init__()
        self.lstm, self.fc = nn.LSTM(3, 3, 2, batch_first=True, bidirectional=True), nn.Linear(12, 2)

    def forward(self, x):
        _, (h, c) = self.lstm(x)
        return self.fc(torch.cat([h[-2], h[-1], c[-2], c[-1]], 1))


def clear(graph):
    """Removes notes about sources, those of the graphs inside too."""
    graph.ClearField("value_info")
    for part in [graph, *graph.node, *graph.input, *graph.output, *graph.initializer]:
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                clear(attribute.g)


def main():
    warnings.simplefilter("ignore")
    torch.manual_seed(1)
    outputs = {}
    x = torch.randn(2, 12, 3)
    old = {"dynamo": False, "input_names": ["x"], "dynamic_axes": {"x": {0: "b", 1: "t"}}}
    new = {"dynamo": True, "dynamic_shapes": ({0: torch.export.Dim("b"), 1: torch.export.Dim("t")},), "external_data": False}
    for name, module, options in (("loop_leaky", torch.jit.script(Leaky()), old), ("loop_cell", torch.jit.script(Cell()), old),
                                  ("scan_cell", Scanned().eval(), new), ("memory_head", Memory().eval(), old)):
        path = FOLDER / f"{name}.onnx"
        torch.onnx.export(module, (x,), str(path), **options)
        model = onnx.load(path)
        clear(model.graph)
        path.write_bytes(model.SerializeToString())
        outputs[f"{name}.x"], outputs[f"{name}.y"] = x[0].clone(), module(x[:1])[0].detach().contiguous()
    # The head is defined before what it reads.
    module = nn.ModuleDict({"head": nn.Linear(4, 2), "rnn": nn.GRU(3, 4, batch_first=True)})
    module.rnn.half()
    torch.save({"epoch": 3, "model": module.state_dict(), "optimizer": torch.optim.Adam(module.parameters()).state_dict()},
               FOLDER / "checkpoint.pt")
    module.rnn.float()
    outputs["checkpoint.x"], outputs["checkpoint.y"] = x[0].clone(), module.head(module.rnn(x[:1])[0])[0].detach().contiguous()
    save_file(outputs, FOLDER / "loop_outputs.safetensors")


if __name__ == "__main__":
    main()
