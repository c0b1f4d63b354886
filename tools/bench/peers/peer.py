"""Shared by the peers' scripts: the experiment file, weights and data of the right sizes, the check, the timing, the
printed line.

    python3 PEER.py EXPERIMENT.json [--threads N] [--repeats N]

prints one line of JSON:

    peer, version        the peer, and its library's version
    experiment, cell, steps, batch, units, tau
    threads              the requested number, else the best of 1 and 2 (each in a separate process)
    repeats
    forward_us           {"median", "min", "max"}, microseconds per time step: the loss, keeping nothing for backward
    total_us             the same: the loss and the gradients of all weights (none of the input)
    backward_us          total_us minus the fastest forward, as in `lagtape bench`
    loss_error, gradient_error   against f64 loops and central differences, checked before anything is timed
    note                 how the peer was written, if that matters

Exit code 2, with a message, for an experiment that the peer does not support.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy only checks; its threads would spin and compete with the peer's

import numpy as np

import reference

THREADS = (1, 2)
WARM_UP = 2


@dataclasses.dataclass(frozen=True)
class Case:
    """The sizes of an experiment."""

    name: str
    cell: str  # "tau_gru", "lstm" or "gru"
    units: int
    tau: int  # 0 except for the tau-GRU
    steps: int
    batch: int
    input: int
    output: int  # numbers or classes
    every_step: bool
    readout: bool
    loss: str  # "mse" or "cross_entropy"


class Refused(Exception):
    """An experiment that these peers do not support."""


def read_case(path):
    experiment = json.loads(pathlib.Path(path).read_text())
    data, model = experiment["data"], experiment["model"]
    layer, *others = model["layers"]
    known = {"tau_gru": {"cell", "units", "tau"}, "lstm": {"cell", "units"}, "gru": {"cell", "units"}}.get(layer.get("cell"))
    if data["task"] != "random" or others or known is None or set(layer) != known:
        raise Refused("the peers know the task `random` and one layer, tau_gru (units, tau), lstm (units) or gru (units).")
    loss, at = experiment["loss"], model.get("readout", {"at": "every_step"})["at"]
    if loss not in ("mse", "cross_entropy") or at not in ("every_step", "last_step"):
        raise Refused("the peers know the losses mse and cross_entropy, read out at every_step or last_step.")
    return Case(name=experiment["name"], cell=layer["cell"], units=layer["units"], tau=layer.get("tau", 0),
                steps=data["length"], batch=experiment["train"]["batch"], input=data["input"],
                output=data["classes"] if loss == "cross_entropy" else data["output"], every_step=at == "every_step",
                readout="readout" in model, loss=loss)


def small(case):
    """The same work with few units and rows, and several delays long."""
    units = min(case.units, 6)
    return dataclasses.replace(case, units=units, tau=min(case.tau, 20), steps=64, batch=3,
                               output=case.output if case.readout else units)


def make_weights(case):
    rng = np.random.default_rng(0)
    d = case.units
    products = 3 if case.cell == "gru" else 4
    shapes = {"W": (products, d, d), "U": (products, d, case.input), "b": (4, d)}
    if case.readout:
        shapes |= {"V": (case.output, d), "c": (case.output,)}
    return {name: (rng.uniform(-1, 1, shape) / np.sqrt(d)).astype(np.float32) for name, shape in shapes.items()}


def make_data(case):
    """x [T, B, input] and the targets, normal numbers or classes."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((case.steps, case.batch, case.input)).astype(np.float32)
    places = (case.steps, case.batch) if case.every_step else (case.batch,)
    if case.loss == "cross_entropy":
        return x, rng.integers(0, case.output, places)
    return x, rng.standard_normal((*places, case.output)).astype(np.float32)


def checked(prepare, case, each):
    """The peer's work on a case, and its errors."""
    weights, (x, target) = make_weights(case), make_data(case)
    work = prepare(case, weights, x, target)
    found_loss, gradients = work.read()
    return work, reference.check(case, weights, x, target, found_loss, gradients, each)


def timing(times):
    return {"median": statistics.median(times), "min": min(times), "max": max(times)}


def measure(work, case, repeats):
    """Microseconds per time step, alternating forward and both passes."""
    def per_step(run):
        start = time.perf_counter()
        run()
        return 1e6 * (time.perf_counter() - start) / case.steps

    for _ in range(WARM_UP):
        work.forward()
        work.forward_and_backward()
    both = [(per_step(work.forward), per_step(work.forward_and_backward)) for _ in range(repeats)]
    forward, total = (timing(times) for times in zip(*both))
    backward = {name: value - forward["min"] for name, value in total.items()}
    return {"forward_us": forward, "backward_us": backward, "total_us": total}


def run(peer, case, threads, repeats):
    peer.set_threads(threads)
    small_errors = checked(peer.prepare, small(case), each=True)[1]
    work, errors = checked(peer.prepare, case, each=False)
    loss_error, gradient_error = (max(pair) for pair in zip(small_errors, errors))
    return {"peer": peer.name, "version": peer.version, "experiment": case.name, "cell": case.cell, "steps": case.steps,
            "batch": case.batch, "units": case.units, "tau": case.tau, "threads": threads, "repeats": repeats,
            **measure(work, case, repeats), "loss_error": loss_error, "gradient_error": gradient_error, "note": peer.notes.get(case.cell, "")}


def best(args):
    """The fastest number of threads; this script measures each in a fresh process."""
    results = []
    for threads in THREADS:
        command = [sys.executable, sys.argv[0], args.experiment, "--threads", str(threads), "--repeats", str(args.repeats)]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        child = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
        if child.returncode != 0:
            sys.exit(child.returncode)
        results.append(json.loads(child.stdout))
    return min(results, key=lambda result: result["total_us"]["median"])


@dataclasses.dataclass(frozen=True)
class Peer:
    """The part specific to a script. `prepare(case, weights, x, target)` returns an object with `forward()` and
    `forward_and_backward()`, which return when the work is done, and `read()`, which returns the loss and the gradients,
    named and shaped like the weights."""

    name: str
    version: str
    cells: tuple
    set_threads: callable
    prepare: callable
    notes: dict = dataclasses.field(default_factory=dict)  # by cell


def main(peer):
    parser = argparse.ArgumentParser(description=f"Times {peer.name} on the work of a lagtape experiment.")
    parser.add_argument("experiment", help="experiment file of lagtape (JSON)")
    parser.add_argument("--threads", type=int, help="default: the best of 1 and 2")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    try:
        case = read_case(args.experiment)
        if case.cell not in peer.cells:
            raise Refused(f"{peer.name} has no {case.cell}.")
        result = run(peer, case, args.threads, args.repeats) if args.threads else best(args)
    except Refused as refused:
        print(f"{args.experiment}: {refused}", file=sys.stderr)
        sys.exit(2)
    print(json.dumps(result))
