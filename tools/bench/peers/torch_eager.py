"""The tau-GRU and the LSTM in PyTorch, step by step, as a careful user would write them: all input projections in one product,
`unbind` rather than indexing, products with the same operand stacked, sums inside `addmm`, subnormal numbers flushed. The delayed
product is also computed step by step: PyTorch users do not combine it over blocks of tau steps."""

import sys

import peer  # before NumPy is loaded

import torch
import torch.nn.functional as F


def tau_gru_step(h, delayed, x_present, x_delayed, W_present, W_delayed):
    """W_present [units, 3 units]: the columns of 1, 3, 4; W_delayed [units, units]: the columns of 2."""
    units = h.shape[1]
    present = torch.addmm(x_present, h, W_present)
    u = torch.tanh(present[:, :units])
    g, a = torch.sigmoid(present[:, units:]).chunk(2, 1)
    z = torch.tanh(torch.addmm(x_delayed, delayed, W_delayed))
    return torch.lerp(h, torch.addcmul(u, a, z), g)


def lstm_step(h, c, x, W):
    """W [units, 4 units]: the columns of i, f, o, g."""
    units = h.shape[1]
    gates = torch.addmm(x, h, W)
    i, f, o = torch.sigmoid(gates[:, :3 * units]).chunk(3, 1)
    g = torch.tanh(gates[:, 3 * units:])
    c = torch.addcmul(f * c, i, g)
    return o * torch.tanh(c), c


def tau_gru_block(h, delayed, x_present, x_delayed, W_present, W_delayed):
    """The states of several steps whose delayed states are already known."""
    states = []
    for inputs in zip(delayed, x_present.unbind(0), x_delayed.unbind(0)):
        h = tau_gru_step(h, *inputs, W_present, W_delayed)
        states.append(h)
    return states


def lstm_block(h, c, x, W):
    states = []
    for x_n in x.unbind(0):
        h, c = lstm_step(h, c, x_n, W)
        states.append(h)
    return states, c


class Cell(torch.nn.Module):
    """States [T, B, units] as a list, in blocks of at most `longest` steps. `order` is the order of the stacked gates."""

    order = ()

    def __init__(self, case, weights, block, longest):
        super().__init__()
        self.case, self.block, self.longest = case, block, longest
        for name in "WUb":
            stacked = torch.from_numpy(weights[name][list(self.order)]).flatten(0, 1)
            self.register_parameter(name, torch.nn.Parameter(stacked))

    def zeros(self, steps):
        """States before the first step. They have gradients like all others, so torch.compile needs no second version."""
        return list(torch.zeros(steps, self.case.batch, self.case.units, requires_grad=True).unbind(0))

    def gradients(self):
        back = [self.order.index(i) for i in range(4)]
        return {name: getattr(self, name).grad.unflatten(0, (4, -1))[back].numpy() for name in "WUb"}


class TauGru(Cell):
    order = (0, 2, 3, 1)

    def forward(self, x):
        split = [3 * self.case.units, self.case.units]
        size = min(self.case.tau + 1, self.longest)
        inputs = (part.split(size) for part in F.linear(x, self.U, self.b).split(split, 2))
        W_present, W_delayed = (part.t() for part in self.W.split(split, 0))
        states = self.zeros(self.case.tau + 1)
        for first, (x_present, x_delayed) in zip(range(0, self.case.steps, size), zip(*inputs)):
            delayed = states[first:first + size]
            states += self.block(states[-1], delayed, x_present, x_delayed, W_present, W_delayed)
        return states[self.case.tau + 1:]


class Lstm(Cell):
    order = (0, 1, 3, 2)

    def forward(self, x):
        h, c = self.zeros(2)
        W = self.W.t()
        states = []
        for x_block in F.linear(x, self.U, self.b).split(min(self.case.steps, self.longest)):
            block, c = self.block(h, c, x_block, W)
            states += block
            h = states[-1]
        return states


class Work:
    """A cell with a read-out and a loss."""

    def __init__(self, case, cell, weights, x, target):
        self.case, self.cell = case, cell
        self.V, self.c = (torch.nn.Parameter(torch.from_numpy(weights[name])) for name in "Vc")
        self.x, self.target = torch.from_numpy(x), torch.from_numpy(target)

    def loss(self):
        states = self.cell(self.x)
        if self.case.every_step and not torch.is_tensor(states):
            states = torch.stack(states)
        y = F.linear(states if self.case.every_step else states[-1], self.V, self.c)
        if self.case.loss == "mse":
            return F.mse_loss(y, self.target)
        return F.cross_entropy(y.flatten(0, -2), self.target.flatten())

    def forward(self):
        with torch.no_grad():
            return self.loss()

    def forward_and_backward(self):
        for parameter in (*self.cell.parameters(), self.V, self.c):
            parameter.grad = None
        loss = self.loss()
        loss.backward()
        return loss.detach()

    def read(self):
        loss = self.forward_and_backward().item()
        return loss, {**self.cell.gradients(), "V": self.V.grad.numpy(), "c": self.c.grad.numpy()}


CELLS = {"tau_gru": (TauGru, tau_gru_block), "lstm": (Lstm, lstm_block)}


def set_threads(threads):
    torch.set_flush_denormal(True)
    torch.set_num_threads(threads)


def prepare(case, weights, x, target, compiled=lambda block: block, longest=sys.maxsize):
    cell, block = CELLS[case.cell]
    return Work(case, cell(case, weights, compiled(block), longest), weights, x, target)


if __name__ == "__main__":
    peer.main(peer.Peer("torch eager", torch.__version__, ("tau_gru", "lstm"), set_threads, prepare,
                        {"tau_gru": "delayed products step by step"}))
