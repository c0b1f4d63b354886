"""torchrl's LSTM, whose loop over time `torch.compile` treats as one operation (`torch._higher_order_ops.scan`)."""

import peer  # before NumPy is loaded

import torch
import torchrl
from torchrl.modules.tensordict_module.rnn import LSTM

import torch_eager
from torch_nn_lstm import Lstm


class ScanLstm(Lstm, LSTM):
    def __init__(self, case, weights):
        super().__init__(case, weights, batch_first=False, use_scan=True)


def prepare(case, weights, x, target):
    layer = ScanLstm(case, weights)
    compiled = torch.compile(layer, dynamic=False, fullgraph=True)
    compiled.gradients = layer.gradients
    return torch_eager.Work(case, compiled, weights, x, target)


if __name__ == "__main__":
    peer.main(peer.Peer("torchrl, scan", f"{torchrl.__version__} in {torch.__version__}", ("lstm",), torch_eager.set_threads, prepare,
                        {"lstm": "torch.compile of a scan over steps"}))
