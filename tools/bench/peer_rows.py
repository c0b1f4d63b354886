"""Rows of the peers that a user would pick instead: the scripts in peers/, each with the first Python that has its library."""

import functools
import json
import pathlib
import statistics
import subprocess

from rows import LATENCY, Measured, NotAvailable, Row, SIZES, TAU, median_ratio

PEERS = pathlib.Path(__file__).resolve().parent / "peers"
SCRIPTS = {  # the library that a script needs, and the cells that it knows
    "torch_eager": ("torch", ("tau_gru", "lstm")),
    "torch_compile": ("torch", ("tau_gru", "lstm")),
    "torch_nn_lstm": ("torch", ("lstm",)),
    "jax_scan": ("jax", ("tau_gru", "lstm")),
}
NAMES = {"torch_eager": "PyTorch, eager", "torch_compile": "PyTorch, torch.compile", "torch_nn_lstm": "PyTorch, nn.LSTM",
         "jax_scan": "JAX, scan"}


@functools.cache
def python_with(library, pythons):
    """The first Python that imports the library and NumPy."""
    for python in pythons:
        tried = subprocess.run([python, "-c", f"import numpy, {library}"], capture_output=True)
        if tried.returncode == 0:
            return python
    raise NotAvailable(f"no Python with {library} and numpy among {', '.join(pythons)}")


def run_script(script, experiment, python, repeats, *args):
    command = [python, "-B", PEERS / f"{script}.py", experiment, "--repeats", str(repeats), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise NotAvailable(f"exit code {done.returncode}: {lines[-1]}")
    return json.loads(done.stdout)


def beside_script(script, name, pythons, repeats):
    def measure(runs):
        theirs = run_script(script, runs.path(name), python_with(SCRIPTS[script][0], pythons), repeats)
        ours = runs.shared(name)
        sides = [side["total_us"]["median"] for side in (ours, theirs)]
        return Measured(*sides, sides[0] / sides[1], note=f"{theirs['version']}. {theirs['note']}".rstrip(". "),
                        details={name: ours, script: theirs})
    return measure


def stream_beside_eigen(name, pythons):
    """In turn, as a step is short and the machine's speed drifts."""
    def measure(runs):
        python, pairs = python_with("numpy", pythons), []
        for _ in range(runs.rounds):
            theirs = run_script("eigen_stream", runs.path(name), python, runs.repeats, "--steps", runs.stream_steps)
            pairs.append((runs.stream(name), theirs))
        times = [(ours["stream_ns"]["median"], theirs["stream_ns"]["median"]) for ours, theirs in pairs]
        return Measured(*map(statistics.median, zip(*times)), median_ratio(times), "ns", note=pairs[-1][1]["version"],
                        details={name: pairs[-1][0], "eigen_stream": pairs[-1][1]})
    return measure


def inside_torch(name, pythons, repeats, beside):
    """lagtape as a module of PyTorch, in turn with lagtape's own training or with a peer's script."""
    def measure(runs):
        python, pairs = python_with("torch, lagtape", pythons), []
        for _ in range(runs.rounds):
            inside = run_script("torch_lagtape", runs.path(name), python, repeats)
            pairs.append((inside, run_script(beside, runs.path(name), python, repeats) if beside else runs.bench(name)))
        times = [tuple(side["total_us"]["median"] for side in pair) for pair in pairs]
        return Measured(*map(statistics.median, zip(*times)), median_ratio(times), note=pairs[-1][0]["version"],
                        details={"torch_lagtape": pairs[-1][0], beside or name: pairs[-1][1]})
    return measure


def peer_rows(pythons, repeats):
    result = [Row(f"stream, LSTM and read-out, units {units}", "Eigen, sizes compiled in",
                  stream_beside_eigen(f"stream_lstm_{units}", pythons), limit) for units, limit in LATENCY.items()]
    result.append(Row("first row inside PyTorch", "lagtape's own training",
                      inside_torch("tau_gru_psmnist", pythons, repeats, None), 1.1))
    result += [Row(f"tau-GRU, {SIZES[size]}, inside PyTorch", NAMES["torch_eager"],
                   inside_torch(f"tau_gru_{size}", pythons, repeats, "torch_eager"), 0.2) for size in SIZES]
    for size in SIZES:
        for cell in ("tau_gru", "lstm"):
            work = f"tau-GRU, {SIZES[size]}, tau {TAU[size]}" if cell == "tau_gru" else f"LSTM, {SIZES[size]}"
            result += [Row(work, NAMES[script], beside_script(script, f"{cell}_{size}", pythons, repeats))
                       for script, (_, cells) in SCRIPTS.items() if cell in cells]
    return result
