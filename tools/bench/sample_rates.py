"""Signal-to-noise ratios of streams at sample rates other than the model's own.

    python3 tools/bench/sample_rates.py TOOL RUN... [--own 48000] [--json]

Each run is an audio model with one input and one output. The sound is a chord of three sines (110, 329.6 and 1046.5 Hz,
0.1 each), which is known at every rate. The truth is the model's output at its own rate; the other rate's outputs are
compared with it at the instants they share, from 0.25 s to 1 s: 10 log10(sum truth^2 / sum difference^2) dB, with the
truth's mean subtracted from both. "unchanged" runs the model as is, "linear" and "cubic" are `predict --stream --rate`,
and "resampled" converts the sound to the model's rate and its output back (scipy.signal.resample_poly with a Kaiser
window, beta 14, 64 zero crossings per side). "exact" means that all bits are the same; "unstable" means that the tool
does not support the rate.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
from fractions import Fraction

try:
    import numpy as np
    from scipy.signal import firwin, resample_poly
except ImportError as error:
    sys.exit(f"sample_rates.py: needs NumPy and SciPy (apt-get install python3-scipy): {error}")

RATES = (32000, 44100, 72000, 88200, 96000, 192000)
TONES = (110, 329.6, 1046.5)
BEGIN, END = 0.25, 1.0


def chord(rate):
    t = np.arange(round(END * rate)) / rate
    return 0.1 * sum(np.sin(2 * math.pi * f * t) for f in TONES)


def resampled(x, up, down):
    crossings = 64
    count = 2 * crossings * max(up, down) + 1
    return resample_poly(x, up, down, window=firwin(count, 1 / max(up, down), window=("kaiser", 14)))


def outputs(tool, run, x, *args):
    """A run's outputs for x [T]; None if the tool fails."""
    with tempfile.TemporaryDirectory() as folder:
        there = pathlib.Path(folder)
        np.save(there / "x.npy", x[:, None])
        done = subprocess.run([tool, "predict", run, "--input", there / "x.npy", "--output", there / "y.npy", *args],
                              capture_output=True, text=True)
        if done.returncode == 2 and "is not stable" in done.stderr:
            return None
        if done.returncode != 0:
            sys.exit(done.stderr)
        return np.load(there / "y.npy")[:, 0].astype(np.float64)


def ratio(truth, other, own, rate):
    """The signal-to-noise ratio in dB at shared instants, or "exact" or "unstable"."""
    if other is None:
        return "unstable"
    step = Fraction(rate, own)
    a, b = truth[:: step.denominator], other[:: step.numerator]
    first = round(BEGIN * own / step.denominator)
    a, b = a[first:min(len(a), len(b))], b[first:min(len(a), len(b))]
    error = np.sum((a - b) ** 2)
    return 10 * math.log10(np.sum((a - a.mean()) ** 2) / error) if error else "exact"


def measure(tool, run, own):
    truth = outputs(tool, run, chord(own))
    for rate in RATES:
        x, step = chord(rate), Fraction(rate, own)
        kinds = {"unchanged": outputs(tool, run, x)}
        for kind in ("linear", "cubic"):
            kinds[kind] = outputs(tool, run, x, "--stream", "--rate", repr(rate / own), "--interpolation", kind)
        down = resampled(x, step.denominator, step.numerator)
        kinds["resampled"] = resampled(outputs(tool, run, down), step.numerator, step.denominator)
        yield {"run": pathlib.Path(run).name, "rate": rate,
               **{kind: ratio(truth, y, own, rate) for kind, y in kinds.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tool")
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--own", type=int, default=48000, help="the rate of the models")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [row for run in arguments.runs for row in measure(arguments.tool, run, arguments.own)]
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    kinds = ("unchanged", "linear", "cubic", "resampled")
    print("| model | rate | " + " | ".join(kinds) + " |\n|---|---|" + "---|" * len(kinds))
    for row in rows:
        shown = [row[kind] if isinstance(row[kind], str) else f"{row[kind]:.1f} dB" for kind in kinds]
        print(f"| {row['run']} | {row['rate'] / 1000:g} kHz | " + " | ".join(shown) + " |")


if __name__ == "__main__":
    main()
