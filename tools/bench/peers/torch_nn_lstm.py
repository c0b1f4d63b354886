"""PyTorch's own LSTM layer, `torch.nn.LSTM`."""

import peer  # before NumPy is loaded

import torch

import torch_eager


class Lstm:
    """Adapts a layer like nn.LSTM to the peers' cell. Returns its states [T, B, units]. The second bias stays
    zero."""

    def __init__(self, case, weights, **options):
        super().__init__(case.input, case.units, **options)
        own = {"weight_hh_l0": "W", "weight_ih_l0": "U", "bias_ih_l0": "b"}
        self.names = {name: parameter for parameter, name in own.items()}
        with torch.no_grad():
            for parameter, name in own.items():
                getattr(self, parameter).copy_(torch.from_numpy(weights[name]).flatten(0, 1))
            self.bias_hh_l0.zero_()

    def forward(self, x):
        return super().forward(x)[0]

    def gradients(self):
        return {name: getattr(self, parameter).grad.unflatten(0, (4, -1)).numpy() for name, parameter in self.names.items()}


class NnLstm(Lstm, torch.nn.LSTM):
    pass


def prepare(case, weights, x, target):
    return torch_eager.Work(case, NnLstm(case, weights), weights, x, target)


if __name__ == "__main__":
    peer.main(peer.Peer("torch nn.LSTM", torch.__version__, ("lstm",), torch_eager.set_threads, prepare))
