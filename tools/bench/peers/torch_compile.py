"""The cells of torch_eager.py with `torch.compile`, in blocks of 16 steps: Dynamo unrolls a loop over time, and compiling 784 or
2000 steps, forward and backward, takes longer than users will wait; calling a single compiled step costs more than it saves."""

import functools

import peer  # before NumPy is loaded

import torch

import torch_eager

STEPS = 16

prepare = functools.partial(torch_eager.prepare, longest=STEPS,
                            compiled=functools.partial(torch.compile, dynamic=False, fullgraph=True))

if __name__ == "__main__":
    peer.main(peer.Peer("torch compile", torch.__version__, ("tau_gru", "lstm"), torch_eager.set_threads, prepare,
                        {"tau_gru": f"blocks of {STEPS} steps compiled; delayed products step by step",
                         "lstm": f"blocks of {STEPS} steps compiled"}))
