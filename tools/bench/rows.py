"""The rows of the speed table: what each one runs, what it is compared with, and the largest ratio allowed.

A row is a Row with `measure(runs) -> Measured`. `runs` is Runs below, the tool with the table's settings. If the tool rejects
an experiment, NotAvailable is raised with its message.
"""

import dataclasses
import json
import pathlib
import statistics
import subprocess


class NotAvailable(Exception):
    """This row cannot be measured here; the message explains why."""


@dataclasses.dataclass(frozen=True)
class Measured:
    lagtape: float
    beside: float  # the peer's or the other side's time
    ratio: float
    unit: str = "us"
    note: str = ""
    holds: bool = True  # whether the row's condition, other than the ratio, is met
    details: dict = dataclasses.field(default_factory=dict)  # the underlying runs, as the tool printed them


@dataclasses.dataclass(frozen=True)
class Row:
    work: str
    peer: str
    measure: callable
    limit: float | None = None
    aim: float | None = None
    at_least: bool = False  # the limit is a minimum


SHORT = 10  # multiplies the repeats if a pass takes only milliseconds, which other load can easily disturb


class Runs:
    """Runs the tool on experiments in one folder. Results of a `shared` `bench` run are kept for other rows that need them."""

    def __init__(self, tool, experiments, repeats, rounds, stream_steps):
        self.tool, self.experiments, self.repeats, self.rounds = tool, experiments, repeats, rounds
        self.stream_steps = stream_steps
        self.kept = {}

    def path(self, name):
        return self.experiments / f"{name}.json"

    def json_of(self, command, name, *args):
        done = subprocess.run([self.tool, command, self.path(name), "--json", *map(str, args)], capture_output=True, text=True)
        if done.returncode != 0:
            message = done.stderr.strip().replace(str(self.experiments) + "/", "") or "no message"
            raise NotAvailable(f"exit code {done.returncode}: {message}")
        return json.loads(done.stdout)

    def bench(self, name, *args):
        repeats = self.repeats * SHORT if name.endswith("_enso") else self.repeats
        return self.json_of("bench", name, "--repeats", repeats, *args)

    def stream(self, name):
        return self.bench(name, "--stream", "--steps", self.stream_steps)

    def shared(self, name, *args):
        if (name, args) not in self.kept:
            self.kept[name, args] = self.bench(name, *args)
        return self.kept[name, args]


def beside_lstm(name, *args):
    """oneDNN's LSTM, alternating with lagtape in one process."""
    def measure(runs):
        run = runs.bench(name, *args) if args else runs.shared(name)
        return Measured(run["total_us"]["median"], run["onednn_lstm_us"]["median"], run["ratio"], details={name: run})
    return measure


def product_rate(name):
    """The matrix products in a pass per unit of time, compared with the machine's peak. A pass has the forward step's products
    three times (forward, deltas, weight gradients), minus the deltas of the input, which are not needed."""
    def measure(runs):
        run, about = runs.shared(name), runs.json_of("inspect", name)
        layer, experiment = about["layers"][0], about["experiment"]
        inputs = 4 * 2 * experiment["model"]["layers"][0]["units"] * experiment["data"]["input"]
        flops = run["batch"] * (3 * layer["flops_per_step"] - inputs)
        rate = flops / run["total_us"]["median"] / 1e3
        return Measured(rate, run["peak_gflops"], rate / run["peak_gflops"], "Gflop/s", details={name: run})
    return measure


def median_ratio(pairs):
    return statistics.median(a / b for a, b in pairs)


def two_sides(runs, one, other):
    """Alternates the two sides, each a separate process, for several rounds: their medians and the median ratio."""
    pairs = []
    for _ in range(runs.rounds):
        pairs.append((runs.bench(*one), runs.bench(*other)))
    times = [tuple(side["total_us"]["median"] for side in pair) for pair in pairs]
    medians = [statistics.median(side) for side in zip(*times)]
    return Measured(*medians, median_ratio(times), details={" ".join(one): pairs[-1][0], " ".join(other): pairs[-1][1]})


def plan_beside_full(name, plan):
    return lambda runs: two_sides(runs, (name, "--plan", plan), (name, "--plan", "full"))


def plan_bytes_beside_full(name, plan):
    """As the planner counts them, with all threads."""
    def measure(runs):
        mebibytes = {side["name"]: side["bytes"] / 2**20 for side in runs.json_of("inspect", name)["plans"]}
        return Measured(mebibytes[plan], mebibytes["full"], mebibytes[plan] / mebibytes["full"], "MiB")
    return measure


def bf16_bytes_beside_f32(name, plan):
    def measure(runs):
        sides = [runs.json_of("inspect", name, *settings)["plans"] for settings in (IN_BF16, ())]
        mebibytes = [side["bytes"] / 2**20 for plans in sides for side in plans if side["name"] == plan]
        return Measured(*mebibytes, mebibytes[0] / mebibytes[1], "MiB")
    return measure


def written_beside_built_in(written, built_in):
    def measure(runs):
        programs = [runs.json_of("inspect", name)["layers"][0]["program"] for name in (written, built_in)]
        same = programs[0] == programs[1]
        measured = two_sides(runs, (written,), (built_in,))
        return dataclasses.replace(measured, holds=same, note="same printed program" if same else "programs differ")
    return measure


def needs_bf16():
    if "avx512_bf16" not in pathlib.Path("/proc/cpuinfo").read_text().split():
        raise NotAvailable("this processor has no avx512_bf16")


def bf16_beside_f32(name, *settings):
    """The same experiment in both precisions, if the processor has bf16 multiply instructions."""
    def measure(runs):
        needs_bf16()
        return two_sides(runs, (name, *settings, *IN_BF16), (name, *settings))
    return measure


def bf16_beside_lstm(name, key):
    """In bf16, compared with oneDNN's LSTM in f32 or bf16 (`key`), alternating in one process."""
    def measure(runs):
        needs_bf16()
        run = runs.shared(name, *IN_BF16)
        if key not in run:
            raise NotAvailable("oneDNN has no LSTM in bf16 here")
        times = run["total_us"]["median"], run[key]["median"]
        return Measured(*times, times[0] / times[1], details={name: run})
    return measure


def forward_beside(name, milliseconds):
    """All steps forward on one core, compared with a published time."""
    def measure(runs):
        run = runs.bench(name, "--threads", 1)
        found = 1e-3 * run["steps"] * run["forward_us"]["median"]
        return Measured(found, milliseconds, found / milliseconds, "ms", details={name: run})
    return measure


def stream(name, peer_ns):
    def measure(runs):
        run = runs.stream(name)
        found = run["stream_ns"]["median"]
        return Measured(found, peer_ns, found / peer_ns, "ns", details={name: run})
    return measure


def stream_weights(name, weights):
    """A stream with bf16 or int8 weights compared with an f32 stream, alternating in one process."""
    def measure(runs):
        run = runs.bench(name, "--stream", "--steps", runs.stream_steps, "--weights", weights)
        return Measured(run["weights_ns"]["median"], run["stream_ns"]["median"], run["weights_ratio"], "ns",
                        note=f"error {run['weights_error']:.1g}", details={name: run})
    return measure


def subnormal(name):
    def measure(runs):
        run = runs.bench(name, "--subnormal")
        return Measured(run["subnormal_us"]["median"], run["total_us"]["median"], run["subnormal_ratio"], details={name: run})
    return measure


SIZES = {"psmnist": "units 128, batch 128, T 784", "adding": "units 128, batch 50, T 2000", "enso": "units 16, batch 32, T 2000"}
TAU = {"psmnist": 65, "adding": 900, "enso": 20}
LSTM = "oneDNN LSTM, same sizes"
LATENCY = {16: 1.0, 32: 0.85, 64: 0.75, 128: 0.75}  # a stream's time divided by a peer's, by number of units
PAPER_MODELS = {"unicornn": "UnICORNN", "sru": "SRU", "indrnn": "IndRNN", "exp_rnn": "expRNN", "cornn": "coRNN"}
PAPER_STEPS = (1000, 2000)  # sequence lengths in UnICORNN's table of times per batch
RTNEURAL_NS = {16: 78, 32: 162, 64: 634, 128: 2578}  # measured earlier on one core; not run here
DEER_WORK = "GRU, 2 units, batch 16, T 10,000, forward, one core"
DEER_MS = 3.31  # DEER's time on a V100, as published by its authors (github.com/machine-discovery/deer, README.md)
IN_BF16 = ("--set", "train.precision=bf16")
BF16 = [("tau-GRU, first row", "tau_gru_psmnist", 0.68, 0.62), ("LSTM, units 128, batch 128", "lstm_psmnist", 0.68, 0.62),
        ("LEM, units 128, batch 128", "lem_psmnist", 0.68, 0.62), ("tau-GRU, units 16, batch 32, one thread", "tau_gru_enso", 1.0, None)]


def bf16_rows():
    """Each model in bf16 compared with f32; with 128 units, also with oneDNN's LSTM in f32 and bf16."""
    result = []
    for work, name, limit, aim in BF16:
        settings = ("--threads", "1") if "one thread" in work else ()  # with two threads, times vary more than the precisions differ
        result.append(Row(f"{work}, bf16", "its own f32", bf16_beside_f32(name, *settings), limit, aim))
        if "units 16" not in work:
            result += [Row(f"{work}, bf16", LSTM, bf16_beside_lstm(name, "onednn_lstm_us")),
                       Row(f"{work}, bf16", "oneDNN LSTM in bf16", bf16_beside_lstm(name, "onednn_bf16_lstm_us"), 0.6)]
    result.append(Row("first row, full, bytes, bf16", "its own f32", bf16_bytes_beside_f32("tau_gru_psmnist", "full"), 0.65))
    return result


def rows():
    tau_gru = {"psmnist": (0.65, 0.60), "adding": (0.70, 0.65), "enso": (0.22, 0.17)}
    lstm = {"psmnist": 0.75, "adding": 0.80, "enso": 0.25}
    return [
        *(Row(f"tau-GRU, {SIZES[size]}, tau {TAU[size]}", LSTM, beside_lstm(f"tau_gru_{size}"), limit, aim)
          for size, (limit, aim) in tau_gru.items()),
        *(Row(f"LSTM, {SIZES[size]}", LSTM, beside_lstm(f"lstm_{size}"), limit) for size, limit in lstm.items()),
        Row(f"LEM, {SIZES['psmnist']}", LSTM, beside_lstm("lem_psmnist"), 0.80),
        Row(f"UnICORNN, 3 layers, {SIZES['psmnist']}, reversible", "oneDNN LSTM, one layer",
            beside_lstm("unicornn_psmnist", "--plan", "reversible"), 0.60, 0.45),
        *(Row(f"{name}, 2 layers, units 128, batch 128, T {steps}", "oneDNN LSTM, one layer", beside_lstm(f"{model}_{steps}"))
          for steps in PAPER_STEPS for model, name in PAPER_MODELS.items()),
        Row("first row, products over time", "sgemm, 2048 cubed", product_rate("tau_gru_psmnist"), 0.80, 0.88, at_least=True),
        Row("first row as equations in JSON", "built-in tau-GRU",
            written_beside_built_in("written_tau_gru_psmnist", "tau_gru_psmnist"), 1.05),
        Row("first row, states, time", "full", plan_beside_full("tau_gru_psmnist", "states"), 1.40),
        Row("first row, states, bytes", "full", plan_bytes_beside_full("tau_gru_psmnist", "states"), 0.25),
        Row("first row, checkpoint", "full", plan_beside_full("tau_gru_psmnist", "checkpoint"), 1.5),
        Row("UnICORNN, 3 layers, reversible", "full", plan_beside_full("unicornn_psmnist", "reversible"), 1.5),
        *bf16_rows(),
        Row(DEER_WORK, "DEER on a V100, printed", forward_beside("deer_gru", DEER_MS)),
        *(Row(f"stream, LSTM and read-out, units {units}", "RTNeural, earlier", stream(f"stream_lstm_{units}", ns), LATENCY[units])
          for units, ns in RTNEURAL_NS.items()),
        Row("first row, states and deltas subnormal", "ordinary values", subnormal("tau_gru_psmnist"), 1.1),
        *(Row(f"stream, LSTM and read-out, units {units}, {weights}", "its own f32",
              stream_weights(f"stream_lstm_{units}", weights), limit)
          for weights in ("bf16", "int8") for units, limit in ((64, 1.0), (128, 0.6))),
    ]
