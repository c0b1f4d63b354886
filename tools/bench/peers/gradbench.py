"""GradBench's `lstm` (from ADBench: recurrences without matrices, f64) in lagtape, compared with hand-written C++ and JAX, on
one core.

    cmake --build --preset release --target lagtape_gradbench
    apt-get install g++; pip install numpy jax
    python3 gradbench.py build/release/lagtape_gradbench [--layers 2] [--characters 1024] [--repeats N] [--text FILE]

The data follow the benchmark's rules (github.com/gradbench/gradbench, evals/lstm/data/gen_data.py): parameters and states are
uniform in [0, 1), and the sequence is the bits of a text's characters, as many as the largest character needs. The text is made
up here unless a file is given, and has the benchmark's 14 bits. Prints one line of JSON: `layers`, `characters`, `bits`,
`repeats`; `lagtape_us`, `hand_us`, `jax_us` {"median", "min", "max"}, microseconds for the gradient (by hand and in JAX this
includes the objective), and `objective_us` for only lagtape's objective; `versions`; and `errors`, the largest relative
difference of each from NumPy loops with complex-step gradients, checked before anything is printed. Without JAX, there is no
`jax_us`.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy only checks

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().with_name("gradbench_hand.cpp")
LARGEST_ERROR = 1e-9  # the largest difference allowed between f64 results


def made_up_text(characters, rng):
    """Lowercase letters, spaces and line breaks, and the apostrophe from the benchmark's own text, U+2019."""
    return "".join(rng.choice(list("etaoinshrdlu      \n\u2019"), characters - 1)) + "\u2019"


def problem(layers, characters, text):
    rng = np.random.default_rng(0)
    text = text[:characters] if text else made_up_text(characters, rng)
    if len(text) < characters:
        sys.exit(f"the text has {len(text)} characters, {characters} are needed.")
    bits = math.ceil(math.log2(max(map(ord, text))))
    return {"main_params": rng.random((2 * layers, 4 * bits)), "extra_params": rng.random((3, bits)),
            "state": rng.random((2 * layers, bits)),
            "sequence": np.array([[float(bit) for bit in bin(ord(letter))[2:].zfill(bits)] for letter in text])}


def scores(xp, carry, main, extra, bits, following):
    """A step in any array library: the layers' states and the next character's contribution to the sum."""
    x, after = bits * extra[..., 0, :], []
    for layer, (h, c) in enumerate(carry):
        (wf, wi, wo, wg), (bf, bi, bo, bg) = (xp.split(main[..., 2 * layer + k, :], 4, axis=-1) for k in range(2))
        f, i, o = (1 / (1 + xp.exp(-a)) for a in (x * wf + bf, h * wi + bi, x * wo + bo))
        c = c * f + i * xp.tanh(h * wg + bg)
        x = o * xp.tanh(c)
        after.append((x, c))
    y = x * extra[..., 1, :] + extra[..., 2, :]
    return after, (following * y).sum(-1) - following.sum(-1) * xp.log(2 + xp.exp(y).sum(-1))


def numpy_objective(data, main, extra):
    carry = [tuple(pair) for pair in data["state"].reshape(len(data["state"]) // 2, 2, -1)]
    total, sequence = 0, data["sequence"]
    for bits, following in zip(sequence, sequence[1:]):
        carry, score = scores(np, carry, main, extra, bits, following)
        total = total + score
    return -total / sequence[1:].size


def check(data, objective, gradient):
    """The largest error in the objective, and in the gradient along one direction per gate, bias and row."""
    main, extra = data["main_params"], data["extra_params"]
    bits = extra.shape[1]
    blocks = gradient.reshape(-1, bits)
    direction = np.random.default_rng(1).standard_normal(blocks.shape)
    each = (np.eye(len(blocks))[:, :, None] * direction).reshape(len(blocks), -1)
    step = 1e-30
    moved = numpy_objective(data, main + 1j * step * each[:, :main.size].reshape(-1, *main.shape),
                            extra + 1j * step * each[:, main.size:].reshape(-1, *extra.shape))
    along, expected = (blocks * direction).sum(1), moved.imag / step
    errors = np.abs(along - expected) / (np.linalg.norm(blocks, axis=1) + np.finfo(float).tiny)
    worst = max(float(errors.max()), float(abs(objective - moved[0].real) / abs(moved[0].real)))
    if not worst <= LARGEST_ERROR:
        raise ValueError(f"the result differs from NumPy's by {worst:.2g}: nothing was measured.")
    return worst


def summary(times):
    return {"median": statistics.median(times), "min": min(times), "max": max(times)}


def by_lagtape(program, data, repeats, folder):
    """The objective, the gradient, and both times in microseconds."""
    path = pathlib.Path(folder) / "lstm.json"
    path.write_text(json.dumps({**{name: value.tolist() for name, value in data.items()}, "min_runs": repeats + 2}))
    results = {}
    for function in ("objective", "jacobian"):
        done = subprocess.run([program, path, function], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(done.returncode)
        result, *timings = map(json.loads, done.stdout.splitlines())
        results[function] = result, [1e-3 * timing["nanoseconds"] for timing in timings[2:]]
    return results["objective"][0], np.array(results["jacobian"][0]), results["jacobian"][1], results["objective"][1]


def by_hand(data, layers, repeats, folder):
    program = pathlib.Path(folder) / "gradbench_hand"
    characters, bits = data["sequence"].shape
    if not program.exists():
        subprocess.run(["g++", "-std=c++17", "-Ofast", "-march=native", "-fopenmp-simd", f"-DBITS={bits}", SOURCE, "-o", program], check=True)
    done = subprocess.run([program, *map(str, (layers, characters, repeats))], capture_output=True, check=True,
                          input=b"".join(data[name].tobytes() for name in ("main_params", "extra_params", "state", "sequence")))
    numbers = np.frombuffer(done.stdout)
    return numbers[0], numbers[1:], [1e-3 * float(line) for line in done.stderr.split()]


class InJax:
    def __init__(self, jax, data):
        jax.config.update("jax_enable_x64", True)
        jnp, carry = jax.numpy, [tuple(pair) for pair in data["state"].reshape(len(data["state"]) // 2, 2, -1)]
        sequence = jnp.asarray(data["sequence"])

        def objective(main, extra):
            each = jax.lax.scan(lambda carry, pair: scores(jnp, carry, main, extra, *pair), carry, (sequence[:-1], sequence[1:]))[1]
            return -each.sum() / sequence[1:].size

        self.jax, self.arguments = jax, jax.device_put((data["main_params"], data["extra_params"]))
        self.work = jax.jit(jax.value_and_grad(objective, (0, 1)))

    def __call__(self, repeats):
        run = lambda: self.jax.block_until_ready(self.work(*self.arguments))
        (value, gradients), times = run(), []
        for _ in range(repeats):
            start = time.perf_counter()
            run()
            times.append(1e6 * (time.perf_counter() - start))
        return float(value), np.concatenate([np.asarray(g).ravel() for g in gradients]), times


def main():
    parser = argparse.ArgumentParser(description="Times GradBench's lstm by lagtape, by hand and in JAX.")
    parser.add_argument("program", help="lagtape_gradbench")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--characters", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--text", type=pathlib.Path, metavar="FILE", help="a text for the sequence, such as the benchmark's own")
    args = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])  # before JAX starts its threads
    data = problem(args.layers, args.characters, args.text.read_text(encoding="utf8") if args.text else "")
    try:
        import jax
    except ImportError:
        jax = None
    with tempfile.TemporaryDirectory() as folder:
        *lagtape, objective_times = by_lagtape(args.program, data, args.repeats, folder)
        found = {"lagtape": lagtape, "hand": by_hand(data, args.layers, args.repeats, folder)}
    if jax:
        found["jax"] = InJax(jax, data)(args.repeats)
    errors = {name: check(data, objective, gradient) for name, (objective, gradient, _) in found.items()}
    print(json.dumps({"layers": args.layers, "characters": args.characters, "bits": data["sequence"].shape[1],
                      "repeats": args.repeats, **{f"{name}_us": summary(times) for name, (_, _, times) in found.items()},
                      "objective_us": summary(objective_times), "errors": errors,
                      "versions": {"numpy": np.__version__, **({"jax": jax.__version__} if jax else {})}}))


if __name__ == "__main__":
    main()
