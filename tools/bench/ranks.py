"""The cost of a training update on 1 to 64 ranks: measured on this machine, and estimated beyond it.

usage: ranks.py TOOL EXPERIMENT.json [--ranks N ...] [--batch N] [--repeats N] [--json]

The tool must be built with MPI (-DLAGTAPE_MPI=ON); mpicxx compiles mpi/messages.cpp, which measures this machine's
messages through shared memory and through TCP loopback. For other networks, NETWORKS lists latency and bandwidth.

The model for the estimates: an update takes as long as the rank with the most slices of the batch. Then each piece of
the gradients, at most 64 KiB of one parameter, passes from rank to rank, each of which adds its slices, while the
previous rank works on the next piece; finally the last rank sends the sums to all, parameter by parameter, in a tree.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

PIECE = 65536
FLOAT = 4
MESSAGES = pathlib.Path(__file__).resolve().parent / "mpi/messages.cpp"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n"]
NETWORKS = {"10 GbE": {"latency_us": 30, "gb_per_second": 1.1}, "InfiniBand": {"latency_us": 1.5, "gb_per_second": 12}}
MODELLED = (1, 2, 4, 8, 16, 32, 64)


def train(tool, experiment, ranks):
    """Seconds per update of an experiment on this many ranks, with one thread each."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "experiment.json").write_text(json.dumps(experiment))
        command = [tool, "train", folder / "experiment.json", "--out", folder / "run", "--threads", "1", "--json", "--quiet"]
        if ranks > 1:
            command = [*MPIRUN, str(ranks), *command]
        summary = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return 1e-6 * summary["us_per_step"] * experiment["data"]["length"]


def inspected(tool, experiment):
    """The bytes in each parameter's gradient, and the number of slices in a batch."""
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "experiment.json"
        path.write_text(json.dumps(experiment))
        found = json.loads(subprocess.run([tool, "inspect", path, "--json"], capture_output=True, text=True, check=True).stdout)
    units = max(layer["units"] for layer in experiment["model"]["layers"])
    slices = math.ceil(experiment["train"]["batch"] / (16 if units <= 32 else 13))
    return [FLOAT * math.prod(parameter["shape"]) for parameter in found["parameters"]], slices + slices % 2


def messages(gradient_bytes):
    """Measures messages on this machine, through shared memory and through TCP."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "messages"
        subprocess.run(["mpicxx", "-O3", "-march=native", MESSAGES, "-o", program], check=True)
        measure = lambda *options: json.loads(subprocess.run([*MPIRUN, "2", *options, program, str(gradient_bytes)],
                                                             capture_output=True, text=True, check=True).stdout)
        return {"shared memory": measure(), "TCP, loopback": measure("--mca", "pml", "ob1", "--mca", "btl", "self,tcp")}


def modelled(compute, slices, tensors, ranks, network, adding):
    """Estimated seconds per update on this many ranks: for the slices, and for the messages."""
    own = math.ceil(slices / ranks)
    if ranks == 1:
        return compute, 0
    latency, second = 1e-6 * network["latency_us"], 1 / (1e9 * network["gb_per_second"])
    hops = [latency + size * (second + own / adding)
            for tensor in tensors for size in [PIECE] * (tensor // PIECE) + [tensor % PIECE] if size > 0]
    chain = sum(hops) + (ranks - 2) * max(hops)
    to_all = math.ceil(math.log2(ranks)) * sum(latency + tensor * second for tensor in tensors)
    return compute * own / slices, chain + to_all


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", type=pathlib.Path)
    parser.add_argument("experiment", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2], help="to measure; 1 is measured always")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--updates", type=int, default=4)
    parser.add_argument("--json", action="store_true", help="print numbers as JSON, for scripts")
    given = parser.parse_args()
    tool, experiment = given.tool.resolve(), json.loads(given.experiment.read_text())
    experiment["train"].update(batch=given.batch, epochs=given.updates)
    experiment["data"].update(train=given.batch, valid=1, test=1)
    tensors, slices = inspected(tool, experiment)
    networks = messages(sum(tensors))
    rounds = [{ranks: train(tool, experiment, ranks) for ranks in sorted({1, *given.ranks})} for _ in range(given.repeats)]
    measured = {ranks: statistics.median(one[ranks] for one in rounds) for ranks in rounds[0]}
    adding = 1e9 * networks["shared memory"]["adding_gb_per_second"]
    networks |= NETWORKS
    models = {ranks: {name: modelled(measured[1], slices, tensors, ranks, network, adding) for name, network in networks.items()}
              for ranks in sorted({*MODELLED, *measured})}
    if given.json:
        print(json.dumps({"slices": slices, "gradient_bytes": sum(tensors), "networks": networks, "measured": measured,
                          "models": models}))
        return
    print(f"batch {given.batch} in {slices} slices, {experiment['data']['length']} steps, gradients of {sum(tensors) / 1024:.0f} KiB in "
          f"{len(tensors)} parameters\n")
    for name, network in networks.items():
        print(f"- {name}: " + ", ".join(f"{value:.3g} {key}" for key, value in network.items()))
    print("\n| ranks | measured, ms | " + " | ".join(f"{name}: messages, ms | speed-up" for name in networks) + " |")
    print("|---" * (2 + 2 * len(networks)) + "|")
    for ranks, model in models.items():
        cells = [f"{1e3 * measured[ranks]:.1f}" if ranks in measured else ""]
        for compute, sent in model.values():
            cells += [f"{1e3 * sent:.3g}", f"{measured[1] / (compute + sent):.2f}"]
        print(f"| {ranks} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
