"""The cost of calls from Python (a stream step, a block of steps and a prediction) compared with the same calls from C++
(`lagtape bench --stream`), on one thread, in one run.

usage: python_calls.py EXPERIMENT.json [--tool build/release/lagtape] [--rounds 5]

Needs the Python module: PYTHONPATH=build/release/python, or the installed package. Checks that results are
bit-identical before timing. Every figure is the minimum of many short measurements, so other load has little effect.
"""

import argparse
import json
import subprocess
import tempfile
import time

import numpy as np

import lagtape

STEPS = 1024


def seconds_of(call, count, repeats):
    """The minimum time of a call over `repeats` measurements of `count` calls each."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - started) / count)
    return min(times)


def measure(model, x):
    """Nanoseconds per step in single steps and in blocks, and microseconds per prediction."""
    stream = model.stream()
    expected = model.predict(x)
    if not np.array_equal(stream.block(x), expected) or np.ptp(expected) == 0:
        raise SystemExit("the stream's outputs differ from those of the batch")
    step, one = stream.step, x[0]
    return {"step_ns": 1e9 * seconds_of(lambda: step(one), 500, 200),
            "block_ns": 1e9 * seconds_of(lambda: stream.block(x), 1, 200) / STEPS,
            "predict_us": 1e6 * seconds_of(lambda: model.predict(x), 1, 200)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment")
    parser.add_argument("--tool", default="build/release/lagtape")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = lagtape.train(arguments.experiment, epochs=1, out=f"{folder}/run", progress=False)
        model = run.model()
    x = np.random.default_rng(0).random((STEPS, model.input_width)).astype(model.dtype)
    measure(model, x)
    rounds = []
    for _ in range(arguments.rounds):
        command = [arguments.tool, "bench", arguments.experiment, "--stream", "--steps", "2000", "--repeats", "200", "--json"]
        tool = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        rounds.append({**measure(model, x), "cpp_step_ns": tool["stream_ns"]["min"], "cpp_predict_us": tool["predict_us"]["min"]})
    found = {key: min(one[key] for one in rounds) for key in rounds[0]}
    if arguments.json:
        print(json.dumps(found))
        return
    print(f"step of a stream     {found['step_ns']:8.0f} ns from Python  {found['cpp_step_ns']:8.0f} ns from C++")
    print(f"a step of a block    {found['block_ns']:8.0f} ns from Python")
    print(f"predict {STEPS} steps   {found['predict_us']:8.1f} us from Python  {found['cpp_predict_us']:8.1f} us from C++")


if __name__ == "__main__":
    main()
