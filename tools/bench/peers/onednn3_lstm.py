"""oneDNN 3's LSTM primitive, from this Python's packages (onednn3_lstm.cpp and the tool's sources for oneDNN 2.6).

    apt-get install g++; pip install onednn onednn-devel            # oneDNN 3.13, with oneTBB threads
    apt-get install g++; pip install onednn-cpu-gomp onednn-devel-cpu-gomp   # or oneDNN 3.2, with GCC OpenMP threads
    python3 onednn3_lstm.py EXPERIMENT.json [--repeats N]

prints one line of JSON: `peer`, `version`, `experiment`, `steps`, `batch`, `units`, `repeats`; and, with the same meaning as in
`lagtape bench --json`: `onednn_lstm_us`, `onednn_threads`, `onednn_bf16_lstm_us`, `onednn_bf16_threads` (the last two if the
processor has bf16 multiply instructions). The sizes are those of the experiment's first layer, whatever its cell. Results are
checked against f64 loops before anything is timed. Exit code 2, with a message, if oneDNN 3 is not found.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().with_suffix(".cpp")
ROOT = SOURCE.parents[3]
SHARED = ["tools/bench/onednn_lstm.cpp", "tools/bench/plain_lstm.cpp", "core/random.cpp", "core/error.cpp", "core/quote.cpp"]
PREFIX = pathlib.Path(sys.prefix)
THREADS = (1, 2)
KEYS = {"f32": "onednn", "bf16": "onednn_bf16"}


def refuse(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def sizes_of(experiment):
    data, units = experiment["data"], experiment["model"]["layers"][0].get("units")
    if data["task"] != "random" or units is None:
        refuse("expected the task `random` and a first layer with units.")
    return data["length"], experiment["train"]["batch"], data["input"], units


def compiled(folder):
    (folder / "lagtape").symlink_to(ROOT)
    program = folder / "onednn3_lstm"
    library = PREFIX / "lib"
    subprocess.run(["g++", "-std=c++20", "-O2", "-fopenmp", "-isystem", PREFIX / "include", f"-I{folder}", SOURCE,
                    *(ROOT / source for source in SHARED), "-o", program, f"-L{library}", f"-Wl,-rpath,{library}",
                    "-Wl,--allow-shlib-undefined", "-ldnnl"], check=True)
    return program


def environment(threads):
    """The packages' libraries and, if oneDNN runs on SYCL, its CPU device, which is in the same folder."""
    library = PREFIX / "lib"
    return {**os.environ, "OMP_NUM_THREADS": str(threads), "LD_LIBRARY_PATH": str(library), "ONEDNN_VERBOSE": "none",
            "ONEAPI_DEVICE_SELECTOR": "opencl:cpu", "OCL_ICD_FILENAMES": str(library / "libintelocl.so")}


def run(program, sizes, threads, repeats):
    """oneTBB uses as many threads as the process has processors."""
    processors = sorted(os.sched_getaffinity(0))[:threads]
    done = subprocess.run([program, *map(str, (*sizes, threads, repeats))], stdout=subprocess.PIPE, env=environment(threads),
                          preexec_fn=lambda: os.sched_setaffinity(0, processors))
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description="Times the LSTM of oneDNN 3.")
    parser.add_argument("experiment", type=pathlib.Path, help="experiment file of lagtape (JSON)")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    if not (PREFIX / "include/oneapi/dnnl/dnnl.hpp").exists():
        refuse(f"{PREFIX}: no oneDNN. pip install onednn onednn-devel")
    experiment = json.loads(args.experiment.read_text())
    sizes = sizes_of(experiment)
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(pathlib.Path(folder))
        runs = {threads: run(program, sizes, threads, args.repeats) for threads in THREADS}
    result = {"peer": "oneDNN", "version": runs[1]["version"], "experiment": experiment["name"], "steps": sizes[0],
              "batch": sizes[1], "units": sizes[3], "repeats": args.repeats}
    for precision, key in KEYS.items():
        medians = {threads: statistics.median(one[precision]) for threads, one in runs.items() if precision in one}
        if medians:
            best = min(medians, key=medians.get)
            times = runs[best][precision]
            result |= {f"{key}_lstm_us": {"median": medians[best], "min": min(times), "max": max(times)}, f"{key}_threads": best}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
