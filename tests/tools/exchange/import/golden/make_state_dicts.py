"""Writes state_dicts as models keep them beside itself, dict_NAME.safetensors, and dict_outputs.safetensors: for each its
input NAME.x and PyTorch's output NAME.y.

usage: make_state_dicts.py        (torch 2.13.0, safetensors 0.8.0)
"""

import pathlib

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.utils import parametrizations

FOLDER = pathlib.Path(__file__).parent


class Cells(nn.Module):
    """A loop over the steps of cells one above the other, and a map."""

    def __init__(self, kind, count, **options):
        super().__init__()
        self.cells = nn.ModuleList(kind(2 if i == 0 else 3, 3, **options) for i in range(count))
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        states, outputs = [None] * len(self.cells), []
        for step in x.unbind(1):
            for i, cell in enumerate(self.cells):
                states[i] = cell(step, states[i])
                step = states[i][0] if isinstance(states[i], tuple) else states[i]
            outputs.append(self.fc(step))
        return torch.stack(outputs, 1)


class Layers(nn.Module):
    """A GRU and maps with a function between them."""

    def __init__(self, norm=lambda module, name="weight": module, function=torch.relu):
        super().__init__()
        self.rnn, self.function = norm(nn.GRU(2, 3, batch_first=True), "weight_hh_l0"), function
        self.head = nn.Sequential(norm(nn.Linear(3, 4)), nn.Identity(), norm(nn.Linear(4, 2)))

    def forward(self, x):
        return self.head[2](self.function(self.head[0](self.rnn(x)[0])))


class Blocks(nn.Module):
    """Eleven blocks of a recurrence and a map."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"rnn": nn.RNN(2 if i == 0 else 3, 3, batch_first=True), "fc": nn.Linear(3, 3)}) for i in range(11))

    def forward(self, x):
        for block in self.blocks:
            x = block["fc"](block["rnn"](x)[0])
        return x


def trained(model):
    """Some steps change what norms and averages keep beside the weights."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        model(torch.randn(2, 5, 2)).square().mean().backward()
        optimizer.step()
    return model


def averaged():
    model = Layers()
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.5))
    for _ in range(3):
        trained(model)
        average.update_parameters(model)
    return model, average


def both_copies():
    model, average = averaged()
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    return tensors | {f"ema_model.{name}": tensor for name, tensor in average.state_dict().items()}, average


def main():
    torch.manual_seed(56)
    old_norm, old_spectral = nn.utils.weight_norm, nn.utils.spectral_norm
    models = {"lstm_cell": Cells(nn.LSTMCell, 1), "gru_cells": Cells(nn.GRUCell, 12), "rnn_cell_no_bias": Cells(nn.RNNCell, 2, bias=False),
              "blocks": Blocks(), "weight_norm": Layers(old_norm), "parametrized_weight_norm": Layers(parametrizations.weight_norm),
              "spectral_norm": Layers(old_spectral), "parametrized_spectral_norm": Layers(parametrizations.spectral_norm),
              "gelu": Layers(function=nn.functional.gelu), "silu": Layers(function=nn.functional.silu)}
    dicts = {name: (trained(model).eval().state_dict(), model) for name, model in models.items()}
    dicts["averaged"] = (lambda average: (average.state_dict(), average.eval()))(averaged()[1])
    dicts["both_copies"] = both_copies()
    outputs = {}
    for name, (tensors, model) in dicts.items():
        save_file({key: tensor.clone() for key, tensor in tensors.items()}, FOLDER / f"dict_{name}.safetensors")
        x = torch.randn(7, 2)
        with torch.no_grad():
            outputs[f"{name}.x"], outputs[f"{name}.y"] = x, model.eval()(x[None])[0].clone()
    save_file(outputs, FOLDER / "dict_outputs.safetensors")


if __name__ == "__main__":
    main()
