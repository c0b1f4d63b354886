"""What a training costs on 1 to 64 ranks: measured on this machine, and by a model of compute and messages beyond it.

usage: ranks.py TOOL EXPERIMENT.json [--ranks N ...] [--batch N] [--latency US] [--bandwidth GB/s]

The tool is one with MPI (-DLAGTAPE_MPI=ON). The model: an update takes the time of the rank with the most slices of the
batch; then the gradients go from rank to rank in pieces of 64 KiB, each adding its slices, and from the last to all.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

PIECE = 65536


def train(tool, experiment, ranks):
    """The summary of a training of an experiment on so many ranks, one thread each."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "experiment.json").write_text(json.dumps(experiment))
        command = [tool, "train", folder / "experiment.json", "--out", folder / "run", "--json", "--quiet"]
        if ranks > 1:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *command]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def modelled(compute, slices, gradient_bytes, ranks, latency, bandwidth, adding):
    """Seconds of an update on so many ranks."""
    own = math.ceil(slices / ranks)
    pieces = math.ceil(gradient_bytes / PIECE)
    if ranks == 1:
        return compute
    hop = latency + min(PIECE, gradient_bytes) * (1 / bandwidth + own / adding)
    chain = (pieces + ranks - 1) * hop
    to_all = math.ceil(math.log2(ranks)) * (latency + gradient_bytes / bandwidth)
    return compute * own / slices + chain + to_all


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", type=pathlib.Path)
    parser.add_argument("experiment", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--latency", type=float, default=2, help="microseconds of a message")
    parser.add_argument("--bandwidth", type=float, default=10, help="GB/s of a link")
    parser.add_argument("--adding", type=float, default=5, help="GB/s at which a rank adds gradients")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--batch", type=int, default=128)
    given = parser.parse_args()
    tool, experiment = given.tool.resolve(), json.loads(given.experiment.read_text())
    experiment["train"].update(batch=given.batch, epochs=4)
    experiment["data"].update(train=given.batch, valid=1, test=1)
    steps, batch, slices = experiment["data"]["length"], given.batch, math.ceil(given.batch / 13)
    slices += slices % 2
    summaries = {ranks: [train(tool, experiment, ranks) for _ in range(given.repeats)] for ranks in given.ranks}
    measured = {ranks: 1e-6 * steps * statistics.median(one["us_per_step"] for one in of) for ranks, of in summaries.items()}
    gradient_bytes = 4 * summaries[given.ranks[0]][0]["params"]
    print(f"batch {batch} in {slices} slices, {steps} steps, gradients of {gradient_bytes / 1024:.0f} KiB; "
          f"latency {given.latency} us, {given.bandwidth} GB/s")
    print("| ranks | measured, ms an update | model, ms | model, speed-up |\n|---|---|---|---|")
    for ranks in sorted({*measured, 1, 2, 4, 8, 16, 32, 64}):
        model = modelled(measured[1], slices, gradient_bytes, ranks, given.latency * 1e-6, given.bandwidth * 1e9, given.adding * 1e9)
        own = f"{1e3 * measured[ranks]:.1f}" if ranks in measured else ""
        print(f"| {ranks} | {own} | {1e3 * model:.1f} | {measured[1] / model:.1f} |")


if __name__ == "__main__":
    main()
