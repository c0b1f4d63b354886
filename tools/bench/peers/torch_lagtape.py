"""lagtape inside PyTorch: its recurrence as a module (lagtape.torch), with PyTorch's read-out and loss. lagtape must be
importable: `pip install ./tools/python`, or PYTHONPATH=build/release/python."""

import peer  # before NumPy is loaded

import torch
import torch.nn.functional as F

import lagtape
from lagtape.torch import Recurrence

LETTERS = {"tau_gru": "1234", "lstm": "ifgo"}  # for W[0], W[1], ... in the peers' weights


class Work:
    """A recurrence with a read-out and a loss. x and targets [T, B, ...] are [B, T, ...] here."""

    def __init__(self, case, weights, x, target):
        self.case = case
        options = {"tau": case.tau} if case.cell == "tau_gru" else {}
        at = "every_step" if case.every_step else "last_step"
        self.recurrence = Recurrence(case.cell, case.input, units=case.units, at=at, **options)
        self.parameters = {name.removeprefix("layers.0.").replace("__", "."): p for name, p in self.recurrence.named_parameters()}
        for number, letter in enumerate(LETTERS[case.cell]):
            self.of("W", letter, ".bias").data.zero_()  # lagtape has a bias per product, the peers have one for both
            for name in "WUb":
                self.of(name, letter).data = torch.from_numpy(weights[name][number].copy())
        self.V, self.c = (torch.nn.Parameter(torch.from_numpy(weights[name])) for name in "Vc")
        self.x = torch.from_numpy(x).transpose(0, 1).contiguous()
        self.target = torch.from_numpy(target)
        if case.every_step:
            self.target = self.target.transpose(0, 1).contiguous()

    def of(self, name, letter, suffix=""):
        """A gate's parameter: W1 in the tau-GRU, W_i in the LSTM; b is the bias of the input product."""
        matrix, suffix = ("U", ".bias") if name == "b" else (name, suffix)
        return self.parameters[f"{matrix}{'_' if self.case.cell == 'lstm' else ''}{letter}{suffix}"]

    def loss(self):
        y = F.linear(self.recurrence(self.x)[0], self.V, self.c)
        if self.case.loss == "mse":
            return F.mse_loss(y, self.target)
        return F.cross_entropy(y.flatten(0, -2), self.target.flatten())

    def forward(self):
        with torch.no_grad():
            return self.loss()

    def forward_and_backward(self):
        for parameter in (*self.recurrence.parameters(), self.V, self.c):
            parameter.grad = None
        loss = self.loss()
        loss.backward()
        return loss.detach()

    def read(self):
        loss, gradients = self.forward_and_backward().item(), {"V": self.V.grad.numpy(), "c": self.c.grad.numpy()}
        for name in "WUb":
            of_gates = [self.of(name, letter).grad for letter in LETTERS[self.case.cell]]
            gradients[name] = torch.stack(of_gates).numpy()
        return loss, gradients


def set_threads(threads):
    torch.set_flush_denormal(True)
    torch.set_num_threads(threads)


if __name__ == "__main__":
    peer.main(peer.Peer("lagtape in torch", f"{lagtape.__version__} in {torch.__version__}", ("tau_gru", "lstm"), set_threads, Work))
