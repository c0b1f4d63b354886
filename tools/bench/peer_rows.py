"""Rows for the peers that a user might choose instead: the scripts in peers/, each run by the first Python with its library."""

import functools
import json
import pathlib
import statistics
import subprocess

from rows import BF16, DEER_WORK, IN_BF16, LATENCY, Measured, NotAvailable, Row, SIZES, TAU, median_ratio, needs_bf16

PEERS = pathlib.Path(__file__).resolve().parent / "peers"
SCRIPTS = {  # the library that each script needs, and the cells it supports
    "torch_eager": ("torch", ("tau_gru", "lstm")),
    "torch_compile": ("torch", ("tau_gru", "lstm")),
    "torch_nn_lstm": ("torch", ("lstm",)),
    "torch_scan": ("torchrl, hoptorch", ("lstm",)),
    "jax_scan": ("jax", ("tau_gru", "lstm")),
}
NAMES = {"torch_eager": "PyTorch, eager", "torch_compile": "PyTorch, torch.compile", "torch_nn_lstm": "PyTorch, nn.LSTM",
         "torch_scan": "torchrl, compiled scan", "jax_scan": "JAX, scan"}


@functools.cache
def python_that(runs, pythons, what):
    """The first Python that runs a line without an error."""
    for python in pythons:
        if subprocess.run([python, "-c", runs], capture_output=True).returncode == 0:
            return python
    raise NotAvailable(f"no Python with {what} among {', '.join(pythons)}")


def python_with(library, pythons):
    """The first Python that imports the library and NumPy."""
    return python_that(f"import numpy, {library}", pythons, f"{library} and numpy")


def python_with_onednn(pythons):
    """The first Python in whose folders oneDNN is installed."""
    return python_that("import sys; open(sys.prefix + '/include/oneapi/dnnl/dnnl.hpp')", pythons, "oneDNN")


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
    """Alternates the two sides, because a step is short and the machine's speed drifts."""
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
    """lagtape as a PyTorch module, alternating with lagtape's own training or a peer's script."""
    def measure(runs):
        python, pairs = python_with("torch, lagtape", pythons), []
        for _ in range(runs.rounds):
            inside = run_script("torch_lagtape", runs.path(name), python, repeats)
            pairs.append((inside, run_script(beside, runs.path(name), python, repeats) if beside else runs.bench(name)))
        times = [tuple(side["total_us"]["median"] for side in pair) for pair in pairs]
        return Measured(*map(statistics.median, zip(*times)), median_ratio(times), note=pairs[-1][0]["version"],
                        details={"torch_lagtape": pairs[-1][0], beside or name: pairs[-1][1]})
    return measure


def beside_onednn3(name, pythons, key, settings):
    """oneDNN 3's LSTM, alternating with lagtape, which itself alternates with oneDNN 2.6. The note lists both versions' times."""
    def measure(runs):
        if settings:
            needs_bf16()
        python, pairs = python_with_onednn(pythons), []
        for _ in range(runs.rounds):
            theirs = run_script("onednn3_lstm", runs.path(name), python, runs.repeats)
            pairs.append((runs.bench(name, *settings), theirs))
        times = [(ours["total_us"]["median"], theirs[key]["median"]) for ours, theirs in pairs]
        older, newer = (statistics.median(side[key]["median"] for side in both) for both in zip(*pairs))
        return Measured(*map(statistics.median, zip(*times)), median_ratio(times),
                        note=f"oneDNN {pairs[-1][1]['version']}: {newer:.3g} us, {pairs[-1][0]['onednn_version']}: {older:.3g} us",
                        details={name: pairs[-1][0], "onednn3_lstm": pairs[-1][1]})
    return measure


def onednn3_rows(pythons):
    f32 = [(f"tau-GRU, {SIZES['psmnist']}, tau {TAU['psmnist']}", "tau_gru_psmnist"), (f"LSTM, {SIZES['psmnist']}", "lstm_psmnist")]
    bf16 = [(f"{work}, bf16", name) for work, name, _, _ in BF16 if "units 16" not in work]
    return [*(Row(work, "oneDNN 3, LSTM, same sizes", beside_onednn3(name, pythons, "onednn_lstm_us", ())) for work, name in f32),
            *(Row(work, "oneDNN 3, LSTM in bf16", beside_onednn3(name, pythons, "onednn_bf16_lstm_us", IN_BF16), 0.6)
              for work, name in bf16)]


def deer_beside_jax(pythons, repeats):
    def measure(runs):
        theirs = run_script("jax_scan", runs.path("deer_gru"), python_with(SCRIPTS["jax_scan"][0], pythons), repeats, "--threads", 1)
        ours = runs.bench("deer_gru", "--threads", 1)
        times = [1e-3 * side["steps"] * side["forward_us"]["median"] for side in (ours, theirs)]
        return Measured(*times, times[0] / times[1], "ms", f"JAX {theirs['version']}", details={"deer_gru": ours, "jax_scan": theirs})
    return measure


def min_gru_rows(pythons, repeats):
    """The minimal GRU, alternating with lagtape's GRU, `nn.GRU` and PyTorch's scan of logarithms, all with 100 units."""
    def beside(cell):
        def measure(runs):
            pairs = [(runs.bench("min_gru_units_100"),
                      run_script("torch_min_gru", runs.path("min_gru_units_100"), python_with("torch", pythons), repeats, "--cell", cell)
                      if cell else runs.bench("gru_units_100")) for _ in range(runs.rounds)]
            times = [tuple(side["total_us"]["median"] for side in pair) for pair in pairs]
            return Measured(*map(statistics.median, zip(*times)), median_ratio(times), note=pairs[-1][1].get("version", ""),
                            details={"min_gru_units_100": pairs[-1][0], cell or "gru_units_100": pairs[-1][1]})
        return measure

    peers = (("lagtape's GRU", "", 0.5), ("PyTorch, nn.GRU", "nn_gru", 0.25), ("PyTorch, minGRU", "min_gru", None))
    return [Row("minGRU, units 100, batch 64, T 1000, 10 inputs", name, beside(cell), limit) for name, cell, limit in peers]


def gradbench(sizes, key, library, pythons):
    """lagtape's and a peer's gradient of GradBench's lstm, one right after the other on one core."""
    def measure(runs):
        program = pathlib.Path(runs.tool).with_name("lagtape_gradbench")
        if not program.exists():
            raise NotAvailable("not built: cmake --build --preset release --target lagtape_gradbench")
        python, (layers, characters) = python_with(library, pythons), sizes
        found = [run_script("gradbench", program, python, runs.repeats, "--layers", layers, "--characters", characters)
                 for _ in range(runs.rounds)]
        times = [(one["lagtape_us"]["median"], one[key]["median"]) for one in found]
        return Measured(*map(statistics.median, zip(*times)), median_ratio(times), details={"gradbench": found[-1]})
    return measure


def gradbench_rows(pythons):
    return [Row(f"GradBench lstm, {layers} layers, {characters} characters, f64, one core", name,
                gradbench((layers, characters), key, library, pythons))
            for layers, characters in ((2, 1024), (4, 4096))
            for name, key, library in (("C++ by hand, vectorised", "hand_us", "numpy"), ("JAX", "jax_us", SCRIPTS["jax_scan"][0]))]


def peer_rows(pythons, repeats):
    result = [Row(f"stream, LSTM and read-out, units {units}", "Eigen, sizes compiled in",
                  stream_beside_eigen(f"stream_lstm_{units}", pythons), limit) for units, limit in LATENCY.items()]
    result.append(Row("first row inside PyTorch", "lagtape's own training",
                      inside_torch("tau_gru_psmnist", pythons, repeats, None), 1.1))
    result += [Row(f"tau-GRU, {SIZES[size]}, inside PyTorch", NAMES["torch_eager"],
                   inside_torch(f"tau_gru_{size}", pythons, repeats, "torch_eager"), 0.2) for size in SIZES]
    result += [Row(f"{work}, {SIZES[size]}, inside PyTorch", NAMES[script], inside_torch(f"{cell}_{size}", pythons, repeats, script))
               for size in SIZES for work, cell, scripts in (("tau-GRU", "tau_gru", ("torch_compile",)),
                                                             ("LSTM", "lstm", ("torch_nn_lstm", "torch_eager", "torch_compile", "torch_scan")))
               for script in scripts]
    result += onednn3_rows(pythons)
    result.append(Row(DEER_WORK, NAMES["jax_scan"], deer_beside_jax(pythons, repeats)))
    result += min_gru_rows(pythons, repeats)
    result += gradbench_rows(pythons)
    for size in SIZES:
        for cell in ("tau_gru", "lstm"):
            work = f"tau-GRU, {SIZES[size]}, tau {TAU[size]}" if cell == "tau_gru" else f"LSTM, {SIZES[size]}"
            result += [Row(work, NAMES[script], beside_script(script, f"{cell}_{size}", pythons, repeats))
                       for script, (_, cells) in SCRIPTS.items() if cell in cells]
    return result
