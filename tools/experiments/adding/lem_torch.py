"""LEM on the adding problem in PyTorch, from the paper's equations: an independent run to compare with `lem.json`.

usage: lem_torch.py LENGTH SEED UPDATES        prints the update and test MSE (200 new sequences) every 100 updates
"""

import sys

import torch

UNITS, BATCH, DT, RATE = 128, 50, 0.0242, 0.0026


def uniform(*shape):
    return torch.nn.Parameter((torch.rand(*shape) * 2 - 1) / UNITS**0.5)


class Lem(torch.nn.Module):
    """Has biases on the input and state maps, like the paper's code."""

    def __init__(self):
        super().__init__()
        self.v, self.v_bias = uniform(4 * UNITS, 2), uniform(4 * UNITS)
        self.w, self.w_bias = uniform(3 * UNITS, UNITS), uniform(3 * UNITS)
        self.wy, self.wy_bias = uniform(UNITS, UNITS), uniform(UNITS)
        self.readout = torch.nn.Parameter(torch.randn(1, UNITS) * (2 / UNITS)**0.5)
        self.readout_bias = uniform(1)

    def forward(self, x):
        linear = torch.nn.functional.linear
        y = z = torch.zeros(x.size(1), UNITS)
        for v in linear(x, self.v, self.v_bias):
            v1, v2, vz, vy = v.chunk(4, 1)
            w1, w2, wz = linear(y, self.w, self.w_bias).chunk(3, 1)
            dz, dy = DT * torch.sigmoid(v1 + w1), DT * torch.sigmoid(v2 + w2)
            z = (1 - dz) * z + dz * torch.tanh(vz + wz)
            y = (1 - dy) * y + dy * torch.tanh(vy + linear(z, self.wy, self.wy_bias))
        return linear(y, self.readout, self.readout_bias)[:, 0]


def sequences(length, count):
    numbers, marks, rows = torch.rand(length, count), torch.zeros(length, count), torch.arange(count)
    marks[torch.randint(0, length // 2, (count,)), rows] = 1
    marks[torch.randint(length // 2, length, (count,)), rows] = 1
    return torch.stack((numbers, marks), -1), (numbers * marks).sum(0)


def main():
    length, seed, updates = map(int, sys.argv[1:])
    torch.manual_seed(seed)
    model = Lem()
    adam = torch.optim.Adam(model.parameters(), lr=RATE)
    for update in range(1, updates + 1):
        x, target = sequences(length, BATCH)
        adam.zero_grad()
        torch.nn.functional.mse_loss(model(x), target).backward()
        adam.step()
        if update % 100 == 1:
            with torch.no_grad():
                x, target = sequences(length, 200)
                print(update, torch.nn.functional.mse_loss(model(x), target).item(), flush=True)


if __name__ == "__main__":
    main()
