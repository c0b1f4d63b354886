"""PyTorch's `nn.GRU`, and the minimal GRU in PyTorch as in its paper (the scan of logarithms in Appendix B), with the sizes of an
experiment with one `min_gru` or `gru` layer.

    python3 torch_min_gru.py EXPERIMENT.json --cell nn_gru|min_gru [--repeats N]

prints one line of JSON: version, note, total_us {"median", "min", "max"}, microseconds per time step for the loss and all weight
gradients, with 1 or 2 threads, whichever is faster. The scan is compared with a loop over time before it is timed.
"""

import argparse
import json
import pathlib
import statistics
import time

import torch
import torch.nn.functional as F

THREADS, WARM_UP = (1, 2), 2


class MinGru(torch.nn.Module):
    """Positive candidates, h[n+1] = (1 - z) h[n] + z g(a), as a cumulative sum and a cumulative logsumexp; h[0] = 0."""

    def __init__(self, inputs, units):
        super().__init__()
        self.maps = torch.nn.Linear(inputs, 2 * units)

    def forward(self, x):
        k, a = self.maps(x).chunk(2, dim=-1)
        log_g = torch.where(a >= 0, (F.relu(a) + 0.5).log(), -F.softplus(-a))
        kept = torch.cumsum(-F.softplus(k), dim=1)
        return (kept + torch.logcumsumexp(-F.softplus(-k) + log_g - kept, dim=1)).exp()

    def loop(self, x):
        k, a = self.maps(x).chunk(2, dim=-1)
        z, g = torch.sigmoid(k), torch.where(a >= 0, a + 0.5, torch.sigmoid(a))
        h, outputs = torch.zeros_like(g[:, 0]), []
        for n in range(x.shape[1]):
            h = (1 - z[:, n]) * h + z[:, n] * g[:, n]
            outputs.append(h)
        return torch.stack(outputs, dim=1)


class NnGru(torch.nn.GRU):
    def __init__(self, inputs, units):
        super().__init__(inputs, units, batch_first=True)

    def forward(self, x):
        return super().forward(x)[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("experiment", type=pathlib.Path)
    parser.add_argument("--cell", choices=("nn_gru", "min_gru"), required=True)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    experiment = json.loads(args.experiment.read_text())
    data, units = experiment["data"], experiment["model"]["layers"][0]["units"]
    torch.manual_seed(0)
    layer = (NnGru if args.cell == "nn_gru" else MinGru)(data["input"], units)
    readout = torch.nn.Linear(units, data["output"])
    x = torch.randn(experiment["train"]["batch"], data["length"], data["input"])
    target = torch.randn(*x.shape[:2], data["output"])
    if args.cell == "min_gru":
        with torch.no_grad():
            torch.testing.assert_close(layer(x[:2]), layer.loop(x[:2]), rtol=1e-3, atol=1e-4)

    def run():
        begin = time.perf_counter()
        layer.zero_grad(), readout.zero_grad()
        F.mse_loss(readout(layer(x)), target).backward()
        return 1e6 * (time.perf_counter() - begin) / data["length"]

    best = None
    for threads in THREADS:
        torch.set_num_threads(threads)
        times = [run() for _ in range(WARM_UP + args.repeats)][WARM_UP:]
        if best is None or statistics.median(times) < statistics.median(best):
            best = times
    total = {"median": statistics.median(best), "min": min(best), "max": max(best)}
    print(json.dumps({"version": torch.__version__, "note": "", "total_us": total}))


if __name__ == "__main__":
    main()
